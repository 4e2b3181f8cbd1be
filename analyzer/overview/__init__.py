"""What the cluster holds, domain by domain, as tables for the reports: one module a subject, made from the facts.

A module has `sections(con, marks)`: it reads its domain's tables and gives the sections of its subject, none where the bundle
has nothing of it. It reads facts, never objects' JSON; it says `cannot tell` where a list is not complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Section
from analyzer.overview.marks import Marks

if TYPE_CHECKING:
    import duckdb

    from analyzer.engine.model import Finding

    Maker = Callable[[duckdb.DuckDBPyConnection, Marks], tuple[Section, ...]]

_SUBJECTS: Final[tuple[str, ...]] = ("gpu", "dra", "queues", "jobs", "ray", "serving")
"""The modules, in the order in which the report shows them."""


def overview(con: duckdb.DuckDBPyConnection, findings: Iterable[Finding]) -> tuple[Section, ...]:
    """All sections that the bundle has something for.

    A subject whose tables hold what its module cannot show costs its sections, and one says so in their place.

    Args:
        con: the database with all facts.
        findings: what the rules found.
    """
    from importlib import import_module

    marks = Marks(findings)
    found: list[Section] = []
    for name in _SUBJECTS:
        make: Maker = import_module(f"{__name__}.{name}").sections
        try:
            found.extend(make(con, marks))
        except Exception as error:  # noqa: BLE001 - the findings stand without these tables: one must not cost the report
            found.append(_failed(name, error))
    return tuple(found)


def _failed(name: str, error: Exception) -> Section:
    """What stands where the sections of a subject could not be made."""
    why = str(error).splitlines()
    note = f"These tables could not be made, which is a fault of this tool: {type(error).__name__}{f': {why[0]}' if why else ''}"
    return Section(f"{name}-failed", f"Tables of subject {name}", "not made", (), (note,))
