"""Versions of model formats and frameworks, and whether one satisfies another (OME's runtime selector)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_VERSION = re.compile(
    r"(?P<v>v?)(?P<numbers>(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){0,2})"
    r"(?:\.dev(?P<dev>\d{1,9}))?(?:-(?P<pre>[0-9A-Za-z.-]{1,64}))?(?:\+(?P<build>[0-9A-Za-z.-]{1,64}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Version:
    """Numbers (missing ones are 0), how many were written, whether a `v` stood before them, and what followed."""

    numbers: tuple[int, ...]
    precision: int
    prefixed: bool
    suffixes: tuple[str, str, str]

    @property
    def is_plain(self) -> bool:
        """Nothing follows the numbers."""
        return not any(self.suffixes)


@lru_cache(maxsize=4096)
def parse(text: str) -> Version | None:
    """A version of up to three numbers; None where the text is none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    numbers = tuple(int(part) for part in match["numbers"].split("."))
    suffixes = (match["dev"] or "", match["pre"] or "", match["build"] or "")
    return Version((*numbers, 0, 0)[:3], len(numbers), bool(match["v"]), suffixes)


def satisfies(runtime: str, model: str, operator: str) -> bool:
    """Whether the version that a runtime supports satisfies that of a model.

    Args:
        runtime: what the runtime lists.
        model: what the model has.
        operator: Equal (also where empty), GreaterThan or GreaterThanOrEqual: how the runtime's compares with the model's.
    """
    ours, theirs = parse(runtime), parse(model)
    if ours is None or theirs is None:
        return False
    if not (ours.is_plain and theirs.is_plain):
        return ours.numbers == theirs.numbers and ours.suffixes == theirs.suffixes
    if ours.precision != theirs.precision or ours.prefixed != theirs.prefixed:
        return False
    if operator == "GreaterThan":
        return ours.numbers > theirs.numbers
    if operator == "GreaterThanOrEqual":
        return ours.numbers >= theirs.numbers
    return ours.numbers == theirs.numbers
