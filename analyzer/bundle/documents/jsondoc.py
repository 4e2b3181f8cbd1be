"""JSON text: lists item by item without ever holding them as one tree, and what a broken text still holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from analyzer.bundle.documents.jsonscan import Extent, close_cut, scan
from analyzer.bundle.documents.shapes import MAX_PROBLEMS, Piece, Shapes, error_text
from analyzer.bundle.limits import MAX_DOCUMENT_DEPTH, MAX_OBJECT_BYTES, MIB
from analyzer.bundle.types import Part, Problem

_SPACE = re.compile(rb"\s*+")
_SEPARATOR = re.compile(rb"[\s,]*+")
_ARRAY_OF_ITEMS = re.compile(rb'"items"\s*+:\s*+\[')
_BIG_DIGITS = 19
_INVALID_ESCAPE = re.compile(
    rb'"\s*:\s*((?:\*\*\*|@@)[^",\r\n]*?)(\s*[,}\r\n])|^(\s*)((?:\*\*\*|@@)[^",\r\n]*?)(\s*,?\r?)$', re.MULTILINE
)


class BadJsonError(ValueError):
    """The text is no JSON. `line` (from 0) and `column` (from 0) say where, `reason` why, without any of the text."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


class _List(msgspec.Struct):
    """A list's frame, its items left as they are."""

    items: list[msgspec.Raw] | None
    apiVersion: Any = None  # noqa: N815 - the name in the file
    kind: Any = None
    metadata: Any = None


_DECODE_LIST = msgspec.json.Decoder(_List).decode
_DECODE_ARRAY = msgspec.json.Decoder(list[msgspec.Raw]).decode


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


def read_json(shapes: Shapes, start: int, end: int) -> Iterator[Part] | None:
    """The parts of a text that is one proper JSON value; None where it is not."""
    data = shapes.source.data
    text = data if start == 0 and end == len(data) else data[start:end]
    begin = _skip(text, 0)
    try:
        if text[begin : begin + 1] == b"[":
            head: dict[str, Any] = {}
            raws = _DECODE_ARRAY(text)
            array = begin + 1
        else:
            frame = _DECODE_LIST(text)
            head = {key: getattr(frame, key) for key in ("apiVersion", "kind", "metadata") if getattr(frame, key) is not None}
            raws = frame.items or []
            array = -1
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
        return _one(shapes, text, start, begin)
    if not _is_object_list(shapes, head, raws):
        return _one(shapes, text, start, begin)
    spans = _places(text, raws, array)
    if spans is None:
        return None
    return shapes.listed(head, _elements(shapes, text, start, spans))


def _one(shapes: Shapes, text: bytes, start: int, begin: int) -> Iterator[Part] | None:
    """The parts of a text with one value that is no list of objects."""
    try:
        value = loads(text)
    except BadJsonError:
        return None
    if len(text) > MAX_OBJECT_BYTES and not shapes.is_list(value if isinstance(value, dict | list) else {}):
        return iter([Problem(f"an object of more than {MAX_OBJECT_BYTES // MIB} MiB", shapes.source.line(start + begin), 1)])
    return shapes.document(Piece(value, start + begin, start + len(text.rstrip())))


def _is_object_list(shapes: Shapes, head: dict[str, Any], raws: list[msgspec.Raw]) -> bool:
    """Whether it is a list of objects, by its frame and its first mapping."""
    first: list[Any] = []
    for raw in raws:
        if memoryview(raw)[:1] == b"{":
            try:
                first = [loads(bytes(raw))]
            except BadJsonError:
                return False
            break
    return shapes.is_list({**head, "items": first} if head else first)


def _places(text: bytes, raws: list[msgspec.Raw], array: int) -> list[tuple[int, int]] | None:
    """Where the elements lie: each begins where the separator after the last one ends."""
    arrays = [array] if array >= 0 else [found.end() for found in _ARRAY_OF_ITEMS.finditer(text)]
    if not raws:
        return []
    for position in arrays:
        places = []
        at = position
        for raw in raws:
            found = _SEPARATOR.match(text, at)
            at = found.end() if found else at
            piece = bytes(raw)
            if not text.startswith(piece, at):
                break
            places.append((at, at + len(piece)))
            at += len(piece)
        if len(places) == len(raws):
            return places
    return None


def _elements(shapes: Shapes, text: bytes, start: int, spans: list[tuple[int, int]]) -> Iterator[Piece | Problem]:
    """The elements of a list, each decoded when it is its turn."""
    for first, last in spans:
        piece = text[first:last]
        if len(piece) > MAX_OBJECT_BYTES:
            yield Problem(f"an object of more than {MAX_OBJECT_BYTES // MIB} MiB", shapes.source.line(start + first), 1)
            continue
        try:
            yield Piece(loads(piece), start + first, start + last)
        except BadJsonError as error:
            mended = _mend(piece)
            yield _problem(shapes, error, start + first, 1 if mended is None else 0, "" if mended is None else "mended: ")
            if mended is not None:
                yield Piece(mended, start + first, start + last, whole=False)


def _mend(piece: bytes) -> Any:
    """The value with the marks of redactors quoted; None where that does not help."""

    def quote(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return b'": ' + json.dumps(found[1].decode()).encode() + found[2]
        return found[3] + json.dumps(found[4].decode()).encode() + found[5]

    text = _INVALID_ESCAPE.sub(quote, piece)
    if text == piece:
        return None
    try:
        return loads(text)
    except BadJsonError:
        return None


def _problem(shapes: Shapes, error: BadJsonError, at: int, lost: int | None, note: str = "") -> Problem:
    line = shapes.source.line(at)
    nuls = " (the file holds NUL bytes)" if shapes.source.had_nuls else ""
    return Problem(f"{note}{error.reason} (column {error.column + 1}){nuls}", line + error.line, lost)


def _skip(text: bytes, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


# --- several values, cut or broken text ---------------------------------------------------------------------------------


def read_values(shapes: Shapes, start: int, end: int) -> Iterator[Part]:
    """The parts of a text with any number of JSON values, with anything between them."""
    data = shapes.source.data
    position = start
    troubles = 0
    while position < end:
        opening = _next_value(data, position, end)
        for problem in _between(shapes, position, end if opening < 0 else opening):
            troubles += 1
            if troubles <= MAX_PROBLEMS:
                yield problem
        if opening < 0:
            break
        extent = scan(data, opening, end)
        yield from _value(shapes, extent, end)
        position = extent.end if extent.end >= 0 else end
    if troubles > MAX_PROBLEMS:
        yield Problem(f"{troubles - MAX_PROBLEMS} further lines that are no JSON")


_VALUE_LINE = re.compile(rb"^[ \t]*[\[{]", re.MULTILINE)


def _next_value(data: bytes, position: int, end: int) -> int:
    """Where the next value begins: directly here, else at the beginning of a line."""
    at = _SEPARATOR.match(data, position, end)
    here = at.end() if at else position
    if data[here : here + 1] in (b"{", b"["):
        return here
    found = _VALUE_LINE.search(data, here, end)
    return found.end() - 1 if found else -1


def _between(shapes: Shapes, start: int, end: int) -> Iterator[Problem]:
    """Problems for lines between values that look like error messages; all other text there is skipped."""
    text = shapes.source.data[start:end]
    if not text.strip(b" \t\r\n,"):
        return
    at = start
    for line in text.splitlines(keepends=True):
        if line[:1].lower() == b"e" and (message := error_text(line.decode("utf-8", "replace"))):
            yield Problem(f"text between the documents: {message}", shapes.source.line(at))
        at += len(line)


def _value(shapes: Shapes, extent: Extent, stop: int) -> Iterator[Part]:
    """The parts of one value of the text."""
    data = shapes.source.data
    end = extent.end if extent.end >= 0 else stop
    if extent.end >= 0 and not extent.damaged:
        whole = read_json(shapes, extent.start, extent.end)
        if whole is not None:
            yield from whole
            return
    if extent.array < 0:
        yield from _broken_object(shapes, extent, end)
        return
    head = _head(data, extent, end)
    first = next((item for item in _first(data, extent)), None)
    if not shapes.is_list({**head, "items": [first] if first is not None else []} if head else [first]):
        yield from _broken_object(shapes, extent, end)
        return
    complete = extent.end >= 0 and not extent.damaged
    yield from shapes.listed(head, _scanned(shapes, extent, end), complete=complete)


def _first(data: bytes, extent: Extent) -> Iterator[Any]:
    for start, end in extent.elements:
        text = data[start:end] if end >= 0 else close_cut(data, start, len(data))
        try:
            yield loads(text)
        except BadJsonError:
            continue


def _scanned(shapes: Shapes, extent: Extent, stop: int) -> Iterator[Piece | Problem]:
    """The elements of a list that no parser takes as a whole."""
    data = shapes.source.data
    previous = extent.array
    for start, end in extent.elements:
        if data[previous:start].strip(b" \t\r\n,"):
            yield Problem("something between the elements of the list is no object", shapes.source.line(previous), 1)
        if end < 0:
            break
        yield from _elements(shapes, data, 0, [(start, len(data[:end].rstrip(b" \t\r\n,")) if end < 0 else end)])
        previous = end
    if extent.end >= 0:
        return
    if extent.damaged and (not extent.elements or extent.elements[-1][1] < 0):
        yield Problem(
            "brackets or quotes do not match; the rest of the list cannot be read", shapes.source.line(extent.damaged[-1])
        )
    else:
        last = len(data[:stop].rstrip())
        yield Problem("cut: the text ends in the middle of a list", shapes.source.line(last))
    if extent.elements and extent.elements[-1][1] < 0 and not extent.damaged:
        start = extent.elements[-1][0]
        closed = close_cut(data, start, stop)
        if closed:
            try:
                yield Piece(loads(closed), start, stop, whole=False, cut=True)
            except BadJsonError:
                return


def _head(data: bytes, extent: Extent, stop: int) -> dict[str, Any]:
    """The frame of a list without its items, as far as it can be read."""
    if data[extent.start : extent.start + 1] == b"[":
        return {}
    before = data[extent.start : extent.array]
    after = data[extent.array_end : stop] if extent.array_end >= 0 else b"]}"
    closed = close_cut(before + after, 0, len(before) + len(after)) if extent.end < 0 else b""
    for text in (before + after, closed, before + b"]}"):
        try:
            value = loads(text)
        except BadJsonError:
            continue
        if isinstance(value, dict):
            value.pop("items", None)
            return value
    return {}


def _broken_object(shapes: Shapes, extent: Extent, end: int) -> Iterator[Part]:
    """What an object that does not parse still holds."""
    data = shapes.source.data
    text = data[extent.start : end]
    try:
        loads(text)
        error = BadJsonError("no JSON")
    except BadJsonError as found:
        error = found
    mended = _mend(text)
    if mended is not None:
        yield _problem(shapes, error, extent.start, 0, "mended: ")
        yield from shapes.document(Piece(mended, extent.start, end, whole=False))
        return
    if extent.end >= 0 or extent.damaged:
        yield _problem(shapes, error, extent.start, 1)
        return
    yield Problem("cut: the text ends in the middle of an object", shapes.source.line(len(data[:end].rstrip())))
    closed = close_cut(data, extent.start, end)
    if not closed:
        return
    try:
        value = loads(closed)
    except BadJsonError:
        return
    if isinstance(value, dict) and "metadata" in value:
        for part in shapes.document(Piece(value, extent.start, end, whole=False, cut=True)):
            if getattr(part, "whole", True) is False:
                yield part
