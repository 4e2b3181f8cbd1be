"""What an unquoted YAML scalar stands for, as sigs.k8s.io/yaml (goyaml.v2) reads it.

That is YAML 1.1: `yes`, `on` and `0644` are a boolean, a boolean and 420. Two deviations, both so that a value can always
be written as JSON: `.nan` and `.inf` stay text, and a float with an integral value becomes an integer, which is how Go
prints it. Timestamps stay text.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_CACHED_CHARS = 64
_CACHE_SIZE = 1 << 15
_MAX_NUMBER_CHARS = 400
_EXACT = 2.0**53

_INTEGER = re.compile(r"[-+]?(?:0[bB][01]+|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)\Z", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII)
_BASES = {"b": 2, "o": 8, "x": 16}

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"], True),
    **dict.fromkeys(["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"], False),
}
_NUMERIC_START = frozenset("0123456789+-.")


VALUES: dict[str, Scalar] = {}
"""What `plain` has found for short texts; the hot loop looks here first. A full one starts anew."""


def plain(text: str) -> Scalar:
    """The value of an unquoted scalar."""
    if text in VALUES:
        return VALUES[text]
    value = _resolve(text)
    if len(text) <= _CACHED_CHARS:
        if len(VALUES) >= _CACHE_SIZE:
            VALUES.clear()
        VALUES[text] = value
    return value


def key_text(value: Scalar) -> str:
    """A mapping key as JSON has it: always text."""
    if value.__class__ is str:
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _resolve(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START or len(text) > _MAX_NUMBER_CHARS:
        return text
    digits = text.replace("_", "")
    number = _integer(digits)
    if number is not None:
        return number
    if _FLOAT.match(digits):
        value = float(digits)
        if abs(value) == float("inf"):
            return text
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    return text


def _integer(digits: str) -> int | None:
    """The integer in Go's notations; None where it is none or does not fit into 64 bits."""
    if not _INTEGER.match(digits):
        return None
    bare = digits.lstrip("+-")
    base = 10
    if len(bare) > 1 and bare[0] == "0":
        base = _BASES.get(bare[1].lower(), 8)
        bare = bare[2:] if bare[1].lower() in _BASES else bare[1:]
    number = int(bare, base)
    if digits[0] == "-":
        number = -number
    return number if -(1 << 63) <= number < 1 << 64 else None
