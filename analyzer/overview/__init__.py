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

    Args:
        con: the database with all facts.
        findings: what the rules found.
    """
    from importlib import import_module

    marks = Marks(findings)
    found: list[Section] = []
    for name in _SUBJECTS:
        make: Maker = import_module(f"{__name__}.{name}").sections
        found.extend(make(con, marks))
    return tuple(found)
