"""The cluster in tables as reports show it: limits applied, findings tied to their rows, columns with their look."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.engine.model import Finding, Report, Severity
from analyzer.engine.sections import FOLDED, SHOWN, Bar, Cell, Devices, Row, Table
from analyzer.render import words
from analyzer.render.drawings import LOOKS, PARTS, Cells, Strip, cells, strip
from analyzer.render.escape import clip, command_line, one_line

SECTIONS: Final = 20
TABLES: Final = 20
COLUMNS: Final = 12
NOTES: Final = 12
TEXT: Final = 400
"""Characters of a cell's line; a namespace with a name has 317 at most and is never cut."""
NOTE: Final = 600
DEPTH: Final = 4
"""Levels of rows that are indented further; deeper ones stand there too and say their level."""

_ID: Final = re.compile(r"[a-z][a-z-]{0,39}")
# Room for words where a page is narrowest and has columns still (769 px), in pixels: the table, what stands in it besides
# words, the space between columns; and how wide a character is at most in a usual word.
_WIDE: Final = 720
_TAKES: Final = {"c-gpu": 200, "c-bar": 143}
_GAP: Final = 15
_FINDING: Final = 90
_NAMES: Final = 128
_CHARACTER: Final = 7.5
_MANY: Final = 8
"""Columns from which on a table is set closer."""
_SHORT: Final = 12
"""Characters of a text that stays in one line."""
_NAME: Final = 28
"""Characters of a name that stays in one line where the page is wide."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as it is written down; `look` is how it is set and how its text may be broken."""

    text: str
    kind: str
    below: str
    cells: Cells | None
    strip: Strip | None
    look: str

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it: it does not apply."""
        return not (self.text or self.below or self.cells or self.strip)


@dataclass(frozen=True, slots=True)
class Mark:
    """The worst finding about a row: its words, and its row in the table of all findings, "" where that is beyond the limit."""

    severity: Severity
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row; `indent` is its level as far as it is drawn, `level` counts from 1."""

    cells: tuple[ShownCell, ...]
    mark: Mark | None
    indent: int
    level: int


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and how it is set."""

    title: str
    look: str


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table within the limits; `fold` says what stands in the closed part, `more` what is left out.

    `marked` and `fold_marked` tell whether a row of that part has a finding.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[ShownRow, ...]
    folded: tuple[ShownRow, ...]
    marked: bool
    fold: str
    fold_marked: bool
    more: str

    @property
    def many(self) -> bool:
        """Whether there are so many columns that they stand closer."""
        return len(self.columns) > _MANY


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section; `looks` and `parts` are the keys to its drawings, `worst` the severity of its worst row."""

    anchor: str
    title: str
    small: str
    tables: tuple[ShownTable, ...]
    notes: tuple[str, ...]
    command: str
    left_out: bool
    worst: Severity | None
    looks: tuple[tuple[str, str], ...]
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All sections; `more` says how many are left out."""

    sections: tuple[ShownSection, ...]
    more: str

    @property
    def drawn(self) -> bool:
        """Whether GPUs are drawn anywhere, so that their symbols are needed."""
        return any(section.looks for section in self.sections)


def sql_command(query: str) -> str:
    """`triage sql . "SELECT …"`, in one line that a POSIX shell reads as these three arguments, whatever the query holds."""
    text = command_line(" ".join(query.split()))
    quoted = f'"{text}"' if not re.search(r'["$`\\!]', text) else shlex.quote(text)
    return f"triage sql . {quoted}"


def _words(text: str, width: int) -> str:
    return clip(one_line(text), width)


def _fit(text: str, below: str, room: int) -> str:
    """`lw` where a word is so long that it may be broken anywhere, `nw` for one line, `nm` for one line on a wide page."""
    if any(len(word) > room for word in re.split(r"[\s-]", f"{text} {below}")):
        return "lw"
    return "nw" if len(text) <= min(room, _SHORT) and not below else "nm" if len(text) <= _NAME else ""


def _room(looks: Sequence[str], marked: bool) -> int:
    """Characters that a word of this table may have before it must be broken."""
    taken = sum(_TAKES.get(name, 0) for name in looks) + _FINDING * marked
    texts = sum(name not in _TAKES for name in looks)
    first = _NAMES if texts > 1 and len(looks) <= _MANY else 0
    pixels = (_WIDE - taken - first) / max(1, texts - (first > 0)) - _GAP
    return max(4, int(pixels / _CHARACTER))


def _cell(cell: Cell, column: str, room: int) -> ShownCell:
    drawing = cell.drawing
    text, below = _words(cell.text, TEXT), _words(cell.below, TEXT)
    mono = cell.kind == "machine" and not below
    return ShownCell(
        text=text,
        kind="" if mono else cell.kind,
        below=below,
        cells=cells(drawing) if isinstance(drawing, Devices) and drawing.slots else None,
        strip=strip(drawing) if isinstance(drawing, Bar) else None,
        look=" ".join(name for name in (column, _fit(text, below, room), "m" * mono) if name),
    )


def _look(column: list[Cell]) -> str:
    """How a column is set: one with drawings is as wide as they are, one of numbers and no words is set right."""
    if any(isinstance(cell.drawing, Devices) for cell in column):
        return "c-gpu"
    if any(isinstance(cell.drawing, Bar) for cell in column):
        return "c-bar"
    kinds = {cell.kind for cell in column if cell.text}
    return "r" if "number" in kinds and kinds <= {"number", "unknown"} else ""


def _table(table: Table, findings: Mapping[str, Finding], anchors: Mapping[str, str]) -> ShownTable:
    width = min(len(table.columns), COLUMNS)
    everything = table.rows[:SHOWN], (table.rows[SHOWN:] + table.folded)[:FOLDED]
    dropped = len(table.rows) + len(table.folded) - sum(map(len, everything))
    looks = [_look([row.cells[at] for part in everything for row in part if at < len(row.cells)]) for at in range(width)]
    marked = any(row.finding in findings for part in everything for row in part)
    room = _room(looks, marked)

    def shown(row: Row) -> ShownRow:
        finding = findings.get(row.finding or "")
        depth = max(0, row.depth)
        return ShownRow(
            cells=tuple(_cell(row.cells[at] if at < len(row.cells) else Cell(), looks[at], room) for at in range(width)),
            mark=Mark(finding.severity, _words(finding.title, 160), anchors.get(finding.id, "")) if finding else None,
            indent=min(depth, DEPTH),
            level=depth + 1,
        )

    open_rows, folded = (tuple(shown(row) for row in part) for part in everything)
    with_finding = sum(row.mark is not None for row in folded)
    fold = f"{words.number(len(folded))} more" + (f", {words.number(with_finding)} with a finding" if with_finding else "")
    more = [_words(table.more, 120)] if table.more else []
    more += [words.plural(dropped, "more row")] if dropped else []
    more += [words.plural(len(table.columns) - width, "more column")] if len(table.columns) > width else []
    titles = [_words(title, 60) for title in table.columns[:width]]
    columns = tuple(Column(title, f"{name} {_fit(title, '-', room)}".strip()) for title, name in zip(titles, looks, strict=True))
    return ShownTable(
        caption=_words(table.caption, 160),
        columns=columns,
        rows=open_rows,
        folded=folded,
        marked=any(row.mark for row in open_rows),
        fold=fold,
        fold_marked=with_finding > 0,
        more=", ".join(more),
    )


def _keys(tables: Iterable[ShownTable]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """The looks of GPUs and the parts of bars that occur in what is shown, each in the order of its key."""
    looks: set[str] = set()
    parts: set[str] = set()
    for table in tables:
        for row in (*table.rows, *table.folded):
            for cell in row.cells:
                if cell.cells:
                    looks |= cell.cells.looks
                if cell.strip:
                    parts |= cell.strip.parts
    return tuple(key for key in LOOKS.values() if key[0] in looks), tuple((part, PARTS[part]) for part in PARTS if part in parts)


def overview(report: Report, anchors: Mapping[str, str]) -> Overview:
    """The sections of a report within the limits.

    Args:
        report: the frozen result; every text in it may be hostile.
        anchors: id of a finding → id of its row in the table of all findings, for those that have one.
    """
    findings = {finding.id: finding for finding in report.findings}
    shown: list[ShownSection] = []
    taken: set[str] = set()
    for number, section in enumerate(report.overview[:SECTIONS], 1):
        name = section.id if _ID.fullmatch(section.id) and section.id not in taken else str(number)
        taken.add(name)
        tables = tuple(_table(table, findings, anchors) for table in section.tables[:TABLES])
        left = len(section.tables) - len(tables)
        notes = tuple(_words(text, NOTE) for text in section.notes[:NOTES])
        notes += (f"{words.plural(left, 'more table')} of this section.",) if left else ()
        notes += (f"{words.plural(len(section.notes) - NOTES, 'more note')}.",) if len(section.notes) > NOTES else ()
        marks = {row.mark.severity for table in tables for row in (*table.rows, *table.folded) if row.mark}
        looks, parts = _keys(tables)
        shown.append(
            ShownSection(
                anchor=f"cluster-{name}",
                title=_words(section.title, 80) or "Untitled",
                small=_words(section.small, 160),
                tables=tables,
                notes=notes,
                command=sql_command(section.query) if section.query.strip() else "",
                left_out=any(table.more for table in tables),
                worst=next((name for name in words.RANK if name in marks), None),
                looks=looks,
                parts=parts,
            )
        )
    rest = len(report.overview) - len(shown)
    return Overview(tuple(shown), words.plural(rest, "more section") if rest > 0 else "")
