"""One JSON value, read leniently and within limits."""

from __future__ import annotations

import json
from typing import Any

import orjson

from analyzer.bundle.limits import MAX_DOCUMENT_DEPTH

_BIG_DIGITS = 19


class BadJsonError(ValueError):
    """The text is no JSON. `line` (from 0) and `column` (from 0) say where, `reason` why, without any of the text."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def loads(text: bytes) -> Any:
    """The value of a JSON text. Integers beyond 64 bits, NaN and infinities are kept as their text.

    Raises:
        BadJsonError: the text is no JSON, or goes over a limit.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _loads_leniently(text)
    if text.count(b"{") + text.count(b"[") > MAX_DOCUMENT_DEPTH and _deep(value):
        raise BadJsonError(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels")
    return value


def _loads_leniently(text: bytes) -> Any:
    """The value by Python's own parser, which takes control characters, NaN, and integers of any size."""
    try:
        return json.loads(
            text.decode("utf-8", "replace"), strict=False, parse_constant=str, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise BadJsonError(error.msg, error.lineno - 1, error.colno - 1) from None
    except RecursionError:
        raise BadJsonError(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels") from None


def _integer(digits: str) -> int | str:
    if len(digits) > _BIG_DIGITS + 1:
        return digits
    number = int(digits)
    return number if -(1 << 63) <= number < 1 << 64 else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if abs(number) != float("inf") else digits


def _deep(value: Any) -> bool:
    """Whether containers are nested deeper than allowed, level by level."""
    level = [value]
    for _ in range(MAX_DOCUMENT_DEPTH + 1):
        inner: list[Any] = []
        for container in level:
            values = container.values() if container.__class__ is dict else container if container.__class__ is list else ()
            inner += [item for item in values if item.__class__ is dict or item.__class__ is list]
        if not inner:
            return False
        level = inner
    return True
