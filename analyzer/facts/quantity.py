"""Kubernetes quantities, exactly: `500m`, `1.5Gi`, `2e3`, `-1`, as in the grammar of apimachinery's `resource.Quantity`."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

MAX_LENGTH = 64
"""Longest text that is read as a quantity."""
MAX_EXPONENT = 64
"""Largest decimal exponent; the API itself keeps no more than 63 bits and nano parts."""

_QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]?|[eE][+-]?\d+)", re.ASCII)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def parse(text: object) -> Fraction | None:
    """The value of a quantity; None where the text is none.

    Args:
        text: as it stands in an object: text, or a whole number (JSON numbers are quantities too).
    """
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        return None
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    sign, digits, suffix = match.groups()
    value = -Fraction(digits) if sign == "-" else Fraction(digits)
    if suffix in _BINARY:
        return value * Fraction(1024 ** _BINARY[suffix])
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    return value * Fraction(f"1e{exponent}") if abs(exponent) <= MAX_EXPONENT else None


def amount(value: object) -> Fraction | None:
    """A quantity as it stands in an object, any JSON number too; an empty text is 0, as Kubernetes reads it."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        value = repr(value)
    return _amount(value) if isinstance(value, str) and len(value) <= MAX_LENGTH else None


@lru_cache(maxsize=20_000)
def _amount(text: str) -> Fraction | None:
    # The same few amounts stand in thousands of objects.
    return Fraction(0) if text == "" else parse(text)
