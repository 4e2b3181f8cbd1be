"""GPU clusters: the map of the nodes, the GPU Operator, MIG, and the errors that logs tell. Nothing where there is no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.engine.sections import Section
from analyzer.overview.gpu import errors, health, mig, nodes, operator
from analyzer.overview.gpu.world import read
from analyzer.overview.marks import Marks

if TYPE_CHECKING:
    import duckdb


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """The sections that the bundle has something for, the map first."""
    world = read(con)
    found = [
        nodes.section(world, marks) if world else None,
        errors.section(con, marks),
        health.section(con, marks),
        operator.section(con, marks),
        mig.section(con, marks),
    ]
    return tuple(one for one in found if one is not None)
