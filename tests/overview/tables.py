"""What the tests of the cluster's tables share: findings, and a section as lists of texts."""

from __future__ import annotations

from analyzer.engine.model import Finding, ObjectRef
from analyzer.engine.sections import Cell, Devices, Row, Section, Table


def finding(kind: str, name: str, *, group: str = "", namespace: str = "", severity: str = "error") -> Finding:
    """A finding about one object."""
    return Finding(
        id=f"f-{name}",
        code="gpu/HardwareFault",
        severity=severity,  # type: ignore[arg-type]
        object=ObjectRef(group, kind, namespace, name),
        title="title",
        message="message",
        since=None,
        age_seconds=None,
        owner="hardware",
        waiting="no",
        basis="observed",
    )


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
