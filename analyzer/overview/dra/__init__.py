"""Dynamic Resource Allocation: drivers with their pools, every device and who holds it, every claim and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.engine.sections import Section
from analyzer.overview.dra import claims, devices
from analyzer.overview.marks import Marks

if TYPE_CHECKING:
    import duckdb


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """Devices first, then claims; none where the bundle has no slice and no claim."""
    found = (devices.section(con, marks), claims.section(con, marks))
    return tuple(one for one in found if one is not None)
