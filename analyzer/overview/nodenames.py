"""Names of many alike things: in the order people read them, without the ending that all share, folded where rows are equal."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from analyzer.engine.sections import Cell, Row

_DIGITS = re.compile(r"(\d+)", re.ASCII)
_LONGEST_NUMBER = 18
"""Digits that are read as a number; longer runs are compared as text."""


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that puts `gpu-9` before `gpu-10`."""
    parts = _DIGITS.split(name)
    return tuple((0, int(part), "") if 0 < len(part) <= _LONGEST_NUMBER and part.isdecimal() else (1, 0, part) for part in parts)


def common_ending(names: Sequence[str]) -> str:
    """The ending from a dot on that all names share (`.hpc.example`); empty for a single name, or where there is none."""
    if len(set(names)) < 2:
        return ""
    tails = [name.split(".")[1:] for name in names]
    shared: list[str] = []
    for parts in zip(*(reversed(tail) for tail in tails), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "." + ".".join(reversed(shared)) if shared else ""


@dataclass(frozen=True, slots=True)
class Named:
    """A row with the name in its first cell. Rows of an equal `same` may stand as one; `alike` is that row, but for its name."""

    name: str
    row: Row
    same: Hashable
    alike: Row


def folded(rows: Iterable[Named], most: int, noun: str) -> list[Row]:
    """The rows; where there are more than `most`, equal ones as one (`gpu-101 … gpu-340 (212 nodes)`), never one with a finding.

    Args:
        rows: in the order wanted.
        most: so many rows need no folding.
        noun: what the rows are, in the plural.
    """
    listed = list(rows)
    if len(listed) <= most:
        return [one.row for one in listed]
    groups: dict[Hashable, list[Named]] = {}
    for number, one in enumerate(listed):
        key: Hashable = ("alone", number) if one.row.finding else ("same", one.same)
        groups.setdefault(key, []).append(one)
    return [_one(group, noun) for group in groups.values()]


def _one(group: list[Named], noun: str) -> Row:
    if len(group) == 1:
        return group[0].row
    names = sorted((one.name for one in group), key=natural)
    between = ", " if len(names) == 2 else " … "
    first: Cell = group[0].alike.cells[0]
    name = replace(first, text=f"{names[0]}{between}{names[-1]} ({len(names):,} {noun})")
    return replace(group[0].alike, cells=(name, *group[0].alike.cells[1:]))
