"""JSON text that is not one proper value: several values, anything between them, cut or broken ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from analyzer.bundle.documents.jsondoc import SEPARATOR, elements, mend, problem, read_json
from analyzer.bundle.documents.jsonscan import Extent, close_cut, scan
from analyzer.bundle.documents.jsonvalue import BadJsonError, loads
from analyzer.bundle.documents.shapes import MAX_PROBLEMS, Piece, Shapes
from analyzer.bundle.documents.words import error_text
from analyzer.bundle.types import Part, Problem


def read_values(shapes: Shapes, start: int, end: int) -> Iterator[Part]:
    """The parts of a text with any number of JSON values, with anything between them."""
    data = shapes.source.data
    position = start
    troubles = 0
    while position < end:
        opening = _next_value(data, position, end)
        for trouble in _between(shapes, position, end if opening < 0 else opening):
            troubles += 1
            if troubles <= MAX_PROBLEMS:
                yield trouble
        if opening < 0:
            break
        extent = scan(data, opening, end)
        yield from _value(shapes, extent, end)
        position = extent.end if extent.end >= 0 else end
    if troubles > MAX_PROBLEMS:
        yield Problem(f"{troubles - MAX_PROBLEMS} further lines that are no JSON")


_VALUE_LINE = re.compile(rb"^[ \t]*[\[{]", re.MULTILINE)
_OBJECT_INSIDE = re.compile(rb"\{\s{0,8}\"(?:apiVersion|kind|metadata|items|spec|status)\"\s{0,8}:")
"""What an object begins with in the middle of a line, behind another one."""


def _next_value(data: bytes, position: int, end: int) -> int:
    """Where the next value begins: directly here, else at the beginning of a line, or on this line as objects begin."""
    at = SEPARATOR.match(data, position, end)
    here = at.end() if at else position
    if data[here : here + 1] in (b"{", b"["):
        return here
    line_end = data.find(b"\n", here, end)
    inside = _OBJECT_INSIDE.search(data, here, line_end if line_end >= 0 else end)
    if inside:
        return inside.start()
    found = _VALUE_LINE.search(data, here, end)
    return found.end() - 1 if found else -1


def _between(shapes: Shapes, start: int, end: int) -> Iterator[Problem]:
    """Problems for lines between values that look like error messages, and for what stands between values of one line.

    All other text there is skipped.
    """
    text = shapes.source.data[start:end]
    if not text.strip(b" \t\r\n,"):
        return
    if (
        b"\n" not in text
        and start > 0
        and shapes.source.data[start - 1 : start] in (b"}", b"]")
        and end < len(shapes.source.data)
    ):
        yield Problem("something between two values of one line is no object", shapes.source.line(start))
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
        yield from elements(shapes, data, 0, [(start, len(data[:end].rstrip(b" \t\r\n,")) if end < 0 else end)])
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
        yield from shapes.document(Piece(loads(text), extent.start, end))
    except BadJsonError as found:
        error = found
    else:
        return
    mended = mend(text)
    if mended is not None:
        yield problem(shapes, error, extent.start, 0, "mended: ")
        yield from shapes.document(Piece(mended, extent.start, end, whole=False))
        return
    if extent.end >= 0 or extent.damaged:
        yield problem(shapes, error, extent.start, 1)
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
