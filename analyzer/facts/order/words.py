"""The sentences about orders, in English and in Russian: `words.yaml` holds them, here their gaps are filled.

Values of a bundle are only ever put into the gaps, cut and on one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from functools import cache
from typing import Literal

from analyzer.facts.data import beside
from analyzer.facts.values import one_line

Language = Literal["en", "ru"]
Value = str | int | Fraction | datetime | list[str] | tuple[str, ...] | None
LANGUAGES: tuple[Language, ...] = ("en", "ru")
MAX_VALUE = 120
"""Characters of a name in a sentence."""
MAX_QUOTE = 400
"""Characters of a quoted text (`{message}`, `{words}`) in a sentence."""
LISTED = 5
"""Names of a list that a sentence has."""

_QUOTED = frozenset({"message", "words", "own"})
_GAP = re.compile(r"\{([a-z_]+)\}")
_AND: dict[Language, str] = {"en": " and ", "ru": " и "}
_MORE: dict[Language, str] = {"en": "{} more", "ru": "ещё {}"}
_NEVER: dict[Language, str] = {"en": "an unknown time", "ru": "неизвестно когда"}
_SINCE_NEVER = "неизвестного времени"
"""The same after the Russian word for `since`, which asks for another case."""
_UNITS = ((1024**4, "Ti"), (1024**3, "Gi"), (1024**2, "Mi"), (1024, "Ki"))


@cache
def sentences() -> dict[str, dict[Language, str]]:
    """All of them: id → language → text."""
    return beside(__file__, "words.yaml", dict[str, dict[Language, str]])


def say(name: str, values: Mapping[str, Value], language: Language) -> str:
    """The sentence of that id in a language, with its gaps filled."""
    text = sentences()[name][language]

    def fill(gap: re.Match[str]) -> str:
        value = values.get(gap[1])
        if value is None and language == "ru" and text.endswith("с ", 0, gap.start()):  # noqa: RUF001 - Russian
            return _SINCE_NEVER
        return shown(value, language, MAX_QUOTE if gap[1] in _QUOTED else MAX_VALUE)

    return _GAP.sub(fill, text)


def shown(value: Value, language: Language, limit: int = MAX_VALUE) -> str:
    """A value as it stands in a sentence: numbers in groups of three, sizes with their unit, lists with commas."""
    if isinstance(value, list | tuple):
        return _listed(value, language, limit)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S UTC")
    if value is None:
        return _NEVER[language]
    if isinstance(value, int):
        return f"{value:,}".replace(",", "," if language == "en" else " ")
    if isinstance(value, Fraction):
        return size(value)
    return cut(value, limit)


def cut(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters."""
    line = one_line(text, limit + 1)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def size(value: Fraction) -> str:
    """Bytes as a quantity such as 80Gi; what is no whole number of the unit has one decimal."""
    for unit, name in _UNITS:
        if value >= unit:
            amount = value / unit
            return f"{amount.numerator}{name}" if amount.denominator == 1 else f"{float(amount):.1f}{name}"
    return str(int(value))


def _listed(values: list[str] | tuple[str, ...], language: Language, limit: int) -> str:
    texts = [cut(str(value), limit) for value in values]
    if len(texts) > LISTED:
        texts = [*texts[: LISTED - 1], _MORE[language].format(len(texts) - LISTED + 1)]
    return ", ".join(texts) if len(texts) < 2 else f"{', '.join(texts[:-1])}{_AND[language]}{texts[-1]}"
