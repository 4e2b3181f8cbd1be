"""Sections as text, and findings to mark their rows with."""

from __future__ import annotations

import duckdb

from analyzer.engine.model import Finding, ObjectRef, Severity
from analyzer.engine.sections import Cell, Devices, Row, Section, Table
from analyzer.overview.marks import Marks


def finding(group: str, kind: str, namespace: str, name: str, severity: Severity = "error", number: str = "f1") -> Finding:
    """A finding about an object."""
    ref = ObjectRef(group, kind, namespace, name)
    return Finding(number, "made/Up", severity, ref, "t", "m", None, None, "cluster", "no", "observed")


def marks(*found: Finding) -> Marks:
    """Marks of these findings."""
    return Marks(found)


def _told(row: Row) -> list[str]:
    """The cells of a row: text, what stands below in brackets, `?` where it cannot be told."""
    return [f"{cell.text}{'?' if cell.kind == 'unknown' else ''}{f' ({cell.below})' if cell.below else ''}" for cell in row.cells]


def lines(table: Table) -> list[str]:
    """All rows of a table as lines, those that stand below others indented."""
    return ["  " * row.depth + " | ".join(_told(row)) for row in every(table)]


def named(sections: tuple[Section, ...], name: str) -> Section:
    """The section of that id."""
    return by_id(sections)[name]


def captioned(section: Section, start: str) -> Table:
    """The table whose caption starts so."""
    return next(table for table in section.tables if table.caption.startswith(start))


def run(con: duckdb.DuckDBPyConnection, section: Section) -> int:
    """Rows of the section's query."""
    return len(con.execute(section.query).fetchall())


def by_id(sections: tuple[Section, ...]) -> dict[str, Section]:
    """The sections by their id."""
    return {section.id: section for section in sections}


def every(table: Table) -> list[Row]:
    """All rows of a table, the folded ones too."""
    return [*table.rows, *table.folded]


def texts(table: Table) -> list[list[str]]:
    """The text of each cell, row by row."""
    return [[cell.text for cell in row.cells] for row in every(table)]


def row_of(table: Table, name: str) -> list[Cell]:
    """The cells of the row of that name."""
    (row,) = (row for row in every(table) if row.cells[0].text == name)
    return list(row.cells)


def drawn(cell: Cell) -> list[str]:
    """The slots that a cell draws."""
    return list(cell.drawing.slots) if isinstance(cell.drawing, Devices) else []
