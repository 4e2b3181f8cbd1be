"""The cluster in a ticket: of each section only the rows with a finding, and where all of it is. A ticket wants causes."""

from __future__ import annotations

import re
from typing import Final

from analyzer.engine.model import Report
from analyzer.render import words
from analyzer.render.escape import clip, md_code, md_text
from analyzer.render.overview import Mark, ShownRow, ShownSection, ShownTable, overview

ROWS: Final = 5
TEXT: Final = 300
COMMAND: Final = 120
"""Characters of a command that a ticket shows; a longer one stands in report.html."""
_FIGURE: Final = re.compile(r"[\d.,/ ]*\d[\d.,/ ]*[A-Za-z%]{0,3}(?: \d+ ?[a-z]{1,3})?")
"""A number, an age or a share: as a single word, it says nothing without its heading."""


def cluster_blocks(report: Report) -> tuple[str, ...]:
    """Pieces of Markdown, each of which may be dropped from the end on; none where the report has no tables.

    Args:
        report: the frozen result; every text in it may be hostile.
    """
    shown = overview(report, {})
    blocks = [block for section in shown.sections if (block := _section(section))]
    quiet = [_name(section) for section in shown.sections if not section.worst]
    if quiet:
        head = "" if blocks else "## Cluster\n\n"
        blocks.append(f"{head}Without a finding: {', '.join(quiet)}; see report.html.")
    return tuple(blocks)


def _name(section: ShownSection) -> str:
    return md_text(section.title) + (f" ({md_text(section.small)})" if section.small else "")


def _section(section: ShownSection) -> str:
    marked = [(row.mark, row, table) for table in section.tables for row in (*table.rows, *table.folded) if row.mark is not None]
    if not marked:
        return ""
    marked.sort(key=lambda found: words.RANK[found[0].severity])
    rows = [_row(*found) for found in marked[:ROWS]]
    rest = len(marked) - len(rows)
    where = f"report.html, or {md_code(section.command)}" if 0 < len(section.command) <= COMMAND else "report.html"
    rows.append(f"- {words.number(rest)} more with a finding; all rows: {where}" if rest else f"- All rows: {where}")
    return f"## Cluster: {_name(section)}\n\n" + "\n".join(rows)


def _row(mark: Mark, row: ShownRow, table: ShownTable) -> str:
    name, *cells = row.cells
    head = md_code(name.text) if name.text else md_text(mark.title)
    if name.below:
        head += f" ({md_text(name.below)})"
    says = []
    for column, cell in zip(table.columns[1:], cells, strict=True):
        text = ", ".join(part for part in (cell.text, cell.below) if part)
        if text:
            bare = cell.kind == "unknown" or (cell.text and " " not in cell.text) or _FIGURE.fullmatch(cell.text) is not None
            says.append(f"{_within(column.title)} {text}" if bare else text)
    return f"- {words.SEVERITY[mark.severity]}: {head}" + (f": {md_text(clip('; '.join(says), TEXT))}" if says else "")


def _within(title: str) -> str:
    """A heading within a sentence: `Ready pods` is small there, `GPUs` is not."""
    return title.lower() if title[1:].islower() else title
