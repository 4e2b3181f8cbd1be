"""The small drawings in the cells of the cluster's tables: GPUs of a node, and quota, as plain geometry.

Laid out here, not in the browser. A drawing repeats what its row says in words, so readers without sight miss nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Final

from analyzer.engine.sections import DRAWN, Bar, Devices, Slot

CELL: Final = 18
"""Side of a GPU's cell, in pixels."""
STEP: Final = 23
"""From one cell to the next."""
IN_ROW: Final = 8
"""Cells in a row: most nodes have eight GPUs or fewer, and a row of eight fits a phone."""
FULL: Final = 99.0
"""Percent of the width that the scale of a bar takes, so that a tick at its end is not cut."""

LOOKS: Final[dict[Slot, tuple[str, str]]] = {
    "allocated": ("ga", "allocated"),
    "free": ("gf", "free"),
    "cordoned": ("gc", "free, node cordoned"),
    "blocked": ("gb", "free, but no pod gets it"),
    "lost": ("gl", "lost"),
    "mig": ("gm", "split by MIG"),
    "mig-failed": ("gx", "MIG change failed"),
    "unknown": ("gu", "cannot tell"),
}
"""The symbol and the words of each slot, in the order of the key."""

PARTS: Final[dict[str, str]] = {
    "used": "used",
    "reserved": "reserved",
    "borrowed": "of it borrowed",
    "nominal": "nominal",
    "offered": "what the nodes offer",
}
"""The parts of a bar and their words, in the order of the key."""


RUNS: Final = (8, 4, 2, 1)
"""Equal cells beside one another are one symbol: `ga8`, `ga4`, `ga2`, `ga`. Most nodes are one or two of them."""


@dataclass(frozen=True, slots=True)
class Cells:
    """GPUs of a node: how large the drawing is in pixels, its symbols as (x, y, name), and how many GPUs are not drawn."""

    width: int
    height: int
    symbols: tuple[tuple[int, int, str], ...]
    more: int

    @property
    def looks(self) -> set[str]:
        """The symbols of single GPUs that occur in it."""
        return {name.rstrip("0123456789") for _, _, name in self.symbols}


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a bar: from `x`, so wide, both in percent with two decimals."""

    part: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A bar: its spans, and its ticks as (part, x in percent)."""

    spans: tuple[Span, ...]
    ticks: tuple[tuple[str, str], ...]

    @property
    def parts(self) -> set[str]:
        """The parts that occur in it."""
        return {span.part for span in self.spans} | {part for part, _ in self.ticks}


def cells(devices: Devices) -> Cells:
    """Where the cell of each of the first `DRAWN` GPUs stands; a slot that is none of ours is `unknown`."""
    names = [LOOKS[look(slot)][0] for slot in devices.slots[:DRAWN]]
    symbols: list[tuple[int, int, str]] = []
    for start in range(0, len(names), IN_ROW):
        row, at = names[start : start + IN_ROW], 0
        while at < len(row):
            run = next(size for size in RUNS if row[at : at + size] == [row[at]] * size)
            symbols.append((at * STEP, start // IN_ROW * STEP, row[at] if run == 1 else f"{row[at]}{run}"))
            at += run
    rows = -(-len(names) // IN_ROW)
    return Cells(_side(min(len(names), IN_ROW)), _side(rows), tuple(symbols), max(0, len(devices.slots) - DRAWN))


def _side(count: int) -> int:
    return max(0, count - 1) * STEP + CELL


def look(slot: Slot) -> Slot:
    """The slot itself, or `unknown` where there is no such look."""
    return slot if slot in LOOKS else "unknown"


def _amount(value: float | None, scale: float) -> float | None:
    """A value within the scale, None where it says nothing."""
    return None if value is None or not isfinite(value) or value < 0 else min(value, scale)


def strip(bar: Bar) -> Strip:
    """Where the parts of a bar stand. What is missing, negative or no number is not drawn; without a scale nothing is."""
    if not isfinite(bar.scale) or bar.scale <= 0:
        return Strip((), ())
    spans: list[Span] = []
    ticks: list[tuple[str, str]] = []
    reserved, borrowed = _amount(bar.reserved, bar.scale), _amount(bar.borrowed, bar.scale)
    used = _amount(bar.used, bar.scale)

    def percent(value: float) -> str:
        return f"{value / bar.scale * FULL:.2f}"

    if reserved:
        spans.append(Span("reserved", "0.00", percent(reserved)))
        if borrowed:
            above = min(borrowed, reserved)
            spans.append(Span("borrowed", percent(reserved - above), percent(above)))
    if used:
        spans.append(Span("used", "0.00", percent(used)))
    for name, value in (("offered", bar.offered), ("nominal", bar.nominal)):
        amount = _amount(value, bar.scale)
        # A tick beyond the end would lie about where it stands.
        if amount is not None and value == amount:
            ticks.append((name, percent(amount)))
    return Strip(tuple(spans), tuple(ticks))
