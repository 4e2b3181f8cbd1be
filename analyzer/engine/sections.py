"""The cluster as tables for the reports: sections of rows of cells, with small drawings. Plain data, as frozen as the report.

A section holds what its domain's facts say, in words that need no code. It knows nothing of HTML or Markdown, and nothing of
DuckDB: a domain's module makes it from the tables, the renderers write it down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SHOWN: Final = 30
"""Rows of a table that stand open; what has a finding comes first."""
FOLDED: Final = 120
"""Rows below them that stand folded; what goes beyond is a count and the query that lists it."""
DRAWN: Final = 64
"""GPUs of a node that are drawn."""

Slot = Literal["allocated", "free", "cordoned", "blocked", "lost", "mig", "mig-failed", "unknown"]
"""What one GPU of a node is doing. `free` needs complete lists of pods and nodes (with DRA: of claims and slices), else
`unknown`; `cordoned` takes no new pod though nothing holds it; `blocked` is wanted by nothing that could get it."""


@dataclass(frozen=True, slots=True)
class Devices:
    """The GPUs of a node, one slot each, as a drawing; the row's words say the same."""

    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """Quota of one resource in one flavor, as a drawing: all in one unit, `scale` being the right end.

    Bars of one resource share their scale. None is "nothing says": then that part is not drawn. `reserved` counts what is
    borrowed too; `borrowed` is the part of it above the nominal quota; `offered` is what nodes of the flavor offer.
    """

    scale: float
    nominal: float | None
    reserved: float | None
    borrowed: float | None = None
    used: float | None = None
    offered: float | None = None


CellKind = Literal["words", "machine", "number", "unknown"]
"""How a cell looks: plain words, what a machine wrote or reads (a name, a quoted message), a number, or "cannot tell"."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, a second line in a quieter tone, and a drawing where there is one.

    An empty text means "does not apply"; what cannot be told is `unknown("why")`.
    """

    text: str = ""
    kind: CellKind = "words"
    below: str = ""
    drawing: Devices | Bar | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row: as many cells as its table has columns, the first one its name.

    `finding` is the id of the worst finding about its object; `depth` indents it below the rows before it.
    """

    cells: tuple[Cell, ...]
    finding: str | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Attributes:
        caption: what the rows are, for those who do not see the page.
        columns: the headings; those of numbers are set right by their cells' kind.
        rows: stand open, what has a finding first.
        folded: stand in a closed part below.
        more: what is left out besides, in words with its number; empty where nothing is.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    folded: tuple[Row, ...] = ()
    more: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One subject of the cluster.

    Attributes:
        id: its anchor, `[a-z-]+`, unique in a report.
        title: its heading.
        small: a few words beside the heading (`2 nodes, 16 GPUs`).
        tables: at least one, but where they could not be made and a note says so.
        notes: sentences below: what cannot be told and why, how to read the rows.
        query: the statement that lists all of it, for `triage sql`; empty where there is none.
    """

    id: str
    title: str
    small: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    query: str = ""


def words(text: str, below: str = "") -> Cell:
    """A cell of plain words."""
    return Cell(text, "words", below)


def machine(text: str, below: str = "") -> Cell:
    """A cell of what a machine wrote or reads: a name, a code, a quoted message."""
    return Cell(text, "machine", below)


def number(text: str | int, below: str = "") -> Cell:
    """A cell of a number, set right."""
    return Cell(str(text), "number", below)


def unknown(why: str, below: str = "") -> Cell:
    """A cell whose value cannot be told; `why` is shown in its own look (`cannot tell`, `not collected`)."""
    return Cell(why, "unknown", below)
