"""Sizes of memory in a message of the planner: how much is needed, and how much the largest accelerator has.

The wording differs between versions and languages, so only numbers with a unit are read. A refusal for want of memory needs
more than was found: of two sizes the larger is what is needed.
"""

from __future__ import annotations

import re
from fractions import Fraction

MAX_MESSAGE = 4_000
_SIZE = re.compile(
    r"(?<![\w.,-])(\d{1,15})(?:[.,](\d{1,6}))?\s?([KMGT\u041a\u041c\u0413\u0422])([i\u0438])?[B\u0411]?(?![^\W\d_])",
    re.IGNORECASE,
)
"""The last letters of each set are those of Russian units."""
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "\u043a": 1, "\u043c": 2, "\u0433": 3, "\u0442": 4}
_NEED = re.compile(r"need|requir|want|нуж|треб|необход", re.IGNORECASE)
_BEFORE = 40
"""Characters before a size in which a word says what it is."""


def needed_and_found(message: str) -> tuple[Fraction | None, Fraction | None]:
    """What is needed and the largest that was found, in bytes; None for what the message does not tell."""
    text = message[:MAX_MESSAGE]
    sizes, end = [], 0
    for match in _SIZE.finditer(text):
        sizes.append((_bytes(match), text[max(end, match.start() - _BEFORE) : match.start()]))
        end = match.end()
    different = sorted({value for value, _ in sizes})
    if len(different) == 2:
        return different[1], different[0]
    if len(different) == 1:
        return (different[0], None) if _NEED.search(sizes[0][1]) else (None, None)
    need = [value for value, before in sizes if _NEED.search(before)]
    return (need[0], None) if len(set(need)) == 1 else (None, None)


def _bytes(match: re.Match[str]) -> Fraction:
    whole, part, unit, binary = match.groups()
    base = 1024 if binary else 1000
    return Fraction(f"{whole}.{part or 0}") * Fraction(base ** _POWERS[unit.lower()])
