"""JSON text: lists item by item without ever holding them as one tree, and what a broken text still holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.bundle.documents.jsonvalue import BadJsonError, loads
from analyzer.bundle.documents.shapes import Piece, Shapes
from analyzer.bundle.limits import MAX_OBJECT_BYTES, MIB
from analyzer.bundle.types import Part, Problem

_SPACE = re.compile(rb"\s*+")
SEPARATOR = re.compile(rb"[\s,]*+")
_ARRAY_OF_ITEMS = re.compile(rb'"items"\s*+:\s*+\[')
_INVALID_ESCAPE = re.compile(
    rb'"\s*:\s*((?:\*\*\*|@@)[^",\r\n]*?)(\s*[,}\r\n])|^(\s*)((?:\*\*\*|@@)[^",\r\n]*?)(\s*,?\r?)$', re.MULTILINE
)


_SMALL_BYTES = MIB
"""Up to this size, text that msgspec takes for broken is tried with Python's own parser as a whole."""


class _List(msgspec.Struct):
    """A list's frame, its items left as they are."""

    items: list[msgspec.Raw] | None
    apiVersion: Any = None  # noqa: N815 - the name in the file
    kind: Any = None
    metadata: Any = None


_DECODE_LIST = msgspec.json.Decoder(_List).decode
_DECODE_ARRAY = msgspec.json.Decoder(list[msgspec.Raw]).decode


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
    except (msgspec.ValidationError, RecursionError):
        return _one(shapes, text, start, begin)
    except msgspec.DecodeError:
        # Cut or broken, or with NaN in it: not worth a tree of all that goes before.
        return _one(shapes, text, start, begin) if len(text) <= _SMALL_BYTES else None
    if not _is_object_list(shapes, head, raws):
        return _one(shapes, text, start, begin)
    spans = _places(text, raws, array)
    if spans is None:
        return None
    return shapes.listed(head, elements(shapes, text, start, spans))


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
        if bytes(memoryview(raw)[:1]) == b"{":
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
            found = SEPARATOR.match(text, at)
            at = found.end() if found else at
            piece = bytes(raw)
            if not text.startswith(piece, at):
                break
            places.append((at, at + len(piece)))
            at += len(piece)
        if len(places) == len(raws):
            return places
    return None


def elements(shapes: Shapes, text: bytes, start: int, spans: list[tuple[int, int]]) -> Iterator[Piece | Problem]:
    """The elements of a list, each decoded when it is its turn."""
    for first, last in spans:
        piece = text[first:last]
        if len(piece) > MAX_OBJECT_BYTES:
            yield Problem(f"an object of more than {MAX_OBJECT_BYTES // MIB} MiB", shapes.source.line(start + first), 1)
            continue
        try:
            yield Piece(loads(piece), start + first, start + last)
        except BadJsonError as error:
            mended = mend(piece)
            yield problem(shapes, error, start + first, 1 if mended is None else 0, "" if mended is None else "mended: ")
            if mended is not None:
                yield Piece(mended, start + first, start + last, whole=False)


def mend(piece: bytes) -> Any:
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


def problem(shapes: Shapes, error: BadJsonError, at: int, lost: int | None, note: str = "") -> Problem:
    """The problem of a value that begins at `at`."""
    line = shapes.source.line(at)
    nuls = " (the file holds NUL bytes)" if shapes.source.had_nuls else ""
    return Problem(f"{note}{error.reason} (column {error.column + 1}){nuls}", line + error.line, lost)


def _skip(text: bytes, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
