"""Quantities in the one form that Kubernetes prints them in (apimachinery's `resource.Quantity`).

A custom resource keeps the spelling of its author, so that `8192Mi` stands in a bundle where OME's command says `8Gi`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MAX_LENGTH = 256
"""Longest text that is read as a quantity."""
MAX_EXPONENT = 64
"""Largest exponent that is read; the API keeps 63 bits and nano parts."""

_TEXT = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+|)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO = Fraction(1, 10**9)
_MAX = 2**63 - 1
_EXACT_DIGITS = 18
_BINARY_DIGITS = 15
_SMALL = 1024


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and the family of suffixes that it was written with: `SI`, `binary` or `exponent`."""

    value: Fraction
    family: str

    def __str__(self) -> str:
        """The canonical form: the largest suffix of the family with a whole number before it."""
        if not self.value:
            return "0"
        sign = "-" if self.value < 0 else ""
        size = abs(self.value)
        if self.family == "binary" and size >= _SMALL and size.denominator == 1:
            return sign + _binary(size.numerator)
        return sign + _decimal(size, exponent=self.family == "exponent")


def parse(text: object) -> Quantity | None:
    """A quantity from what stands in an object; None where that is none.

    Args:
        text: text, or a number (JSON numbers are read as quantities too); None is 0, as Go reads a null.
    """
    if text is None:
        return Quantity(Fraction(0), "SI")
    if isinstance(text, float):
        text = str(int(text)) if text.is_integer() and abs(text) < _MAX else repr(text)
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text) if abs(text) <= _MAX else "1E"
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        return None
    return parse_text(text.strip())


@lru_cache(maxsize=4096)
def parse_text(text: str) -> Quantity | None:
    """As `parse`, of a text that may not have white space around it."""
    match = _TEXT.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    sign, whole, part, suffix = match[1], match[2].lstrip("0"), match[3] or "", match[4]
    if not (match[2] or part):
        return None
    digits, scale = int(whole + part or "0"), len(part)
    family, factor = "SI", Fraction(1)
    if suffix in _BINARY[1:]:
        power = 10 * _BINARY.index(suffix)
        family, factor = "binary", Fraction(2**power)
        exact = not part and len(whole) <= _BINARY_DIGITS - power * 3 // 10 - 1
    else:
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        if abs(exponent) > MAX_EXPONENT:
            return None
        family = "SI" if suffix in _DECIMAL else "exponent"
        factor = Fraction(10) ** exponent
        exact = len(whole) + scale <= _EXACT_DIGITS and exponent - scale >= _DECIMAL["n"]
    value = Fraction(digits, 10**scale) * factor
    if not exact:
        # What is smaller than nano is rounded up, what is larger than 63 bits is cut.
        value = min(Fraction(-(-value // _NANO)) * _NANO, Fraction(_MAX))
        family = "SI" if family == "binary" and 0 < value < 1 else family
    return Quantity(-value if sign == "-" else value, family)


def _binary(number: int) -> str:
    power = 0
    while number % _SMALL == 0 and power < len(_BINARY) - 1:
        number //= _SMALL
        power += 1
    return f"{number}{_BINARY[power]}"


def _decimal(size: Fraction, *, exponent: bool) -> str:
    """The largest exponent that is a multiple of three and leaves a whole number."""
    power = 0
    while size.denominator != 1:
        size, power = size * 1000, power - 3
    number = size.numerator
    while number % 1000 == 0 and (exponent or power < max(_SUFFIX)):
        number, power = number // 1000, power + 3
    if exponent:
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_SUFFIX[power]}"
