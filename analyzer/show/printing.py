"""A page of `triage show` on a terminal or into a pipe.

On a terminal lines wrap at its width, under their own indent, and have colours; into a pipe every item is one line without any
control sequence. Texts reach Rich as `Text`, never as markup, and every control character in them is made visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text as RichText

from analyzer.render.escape import one_line, plain
from analyzer.show.model import Fact, Item, Table, Text, Tone, View

_STYLE: Final[dict[Tone, str]] = {
    "": "",
    "error": "bold red",
    "warning": "yellow",
    "info": "blue",
    "good": "green",
    "dim": "dim",
    "bold": "bold",
}
_INDENT = 2
_NARROW = 24
"""Least width that a wrapped column gets, however narrow the terminal is."""
_ENDLESS = 1 << 30


class Pages(Console):
    """A console whose reader may leave early; Rich would end the program with a code of its own."""

    def on_broken_pipe(self) -> None:
        """Raises BrokenPipeError, which every command ends on alike."""
        raise BrokenPipeError


def print_view(view: View, console: Console) -> None:
    """Prints the page."""
    _line(console, view.title, tone="bold")
    _items(console, view.head, _INDENT)
    for section in view.sections:
        if section.items:
            console.print()
            _line(console, section.title, tone="bold")
            _items(console, section.items, _INDENT)


def _items(console: Console, items: Sequence[Item], indent: int) -> None:
    for kind, group in groupby(items, key=type):
        found = list(group)
        if kind is Fact:
            _facts(console, [one for one in found if isinstance(one, Fact)], indent)
            continue
        for one in found:
            if isinstance(one, Text):
                _line(console, one.text, indent + _INDENT * one.depth + one.columns, one.tone)
            elif isinstance(one, Table):
                _table(console, one, indent)


def _facts(console: Console, facts: Sequence[Fact], indent: int) -> None:
    labels = [plain(fact.label) for fact in facts]
    width = max(cell_len(label) for label in labels)
    for label, fact in zip(labels, facts, strict=True):
        lead = RichText(" " * indent) + RichText(f"{label}:", style="dim" if console.is_terminal else "")
        lead.append(" " * (width - cell_len(label) + 1))
        _wrapped(console, lead, RichText(plain(fact.text), style=_STYLE[fact.tone]), indent + width + 2)


def _table(console: Console, table: Table, indent: int) -> None:
    """Aligned columns; empty ones are left out, the last one wraps."""
    lines = [tuple(one_line(cell) for cell in row) for row in table.rows]
    kept = [at for at in range(len(table.head)) if any(row[at] for row in lines)]
    if not kept:
        return
    every = [tuple(table.head[at] for at in kept), *(tuple(row[at] for at in kept) for row in lines)]
    widths = [max(cell_len(row[at]) for row in every) for at in range(len(kept) - 1)]
    hang = indent + sum(width + 2 for width in widths)
    if console.is_terminal and console.width - hang < _NARROW:
        _stacked(console, every[0], every[1:], table.tones, indent)
        return
    for number, row in enumerate(every):
        tone: Tone = "dim" if number == 0 else table.tones[number - 1] if table.tones else ""
        lead = " " * indent + "".join(
            cell + " " * (width - cell_len(cell) + 2) for cell, width in zip(row[:-1], widths, strict=True)
        )
        _wrapped(console, RichText(lead, style=_STYLE[tone]), RichText(row[-1], style=_STYLE[tone]), hang)


def _stacked(console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], tones: Sequence[Tone], indent: int) -> None:
    """A table for which the terminal is too narrow: each row is a paragraph, its cells under their names but for the first."""
    for number, row in enumerate(rows):
        style = _STYLE[tones[number] if tones else ""]
        told = [f"{head[at]} {cell}" if at and head[at] else cell for at, cell in enumerate(row) if cell]
        _wrapped(console, RichText(" " * indent), RichText("  ".join(told), style=style), indent + _INDENT)


def _line(console: Console, text: str, indent: int = 0, tone: Tone = "") -> None:
    _wrapped(console, RichText(" " * indent), RichText(plain(text), style=_STYLE[tone]), indent)


def _wrapped(console: Console, lead: RichText, body: RichText, hang: int) -> None:
    """One paragraph after its lead; further rows stand under it, or a little in where that leaves no room."""
    if not console.is_terminal:
        _out(console, lead + body)
        return
    if console.width - hang < _NARROW:
        hang = min(hang, 2 * _INDENT)
        if lead.plain.strip():
            _out(console, lead)
            lead = RichText(" " * hang)
    width = max(_NARROW, console.width - hang)
    for row in body.wrap(console, width):
        row.rstrip()
        _out(console, lead + row)
        lead = RichText(" " * hang)


def _out(console: Console, text: RichText) -> None:
    text.rstrip()
    console.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)
