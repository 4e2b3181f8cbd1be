"""A file of documents into its parts: finds out what the bytes are and hands them to who can read them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from analyzer.bundle.documents.events import BadYamlError, parse
from analyzer.bundle.documents.jsondoc import read_json
from analyzer.bundle.documents.jsonscan import scan
from analyzer.bundle.documents.jsonstream import read_values
from analyzer.bundle.documents.salvage import Budget
from analyzer.bundle.documents.shapes import Shapes
from analyzer.bundle.documents.source import BinaryError, Source
from analyzer.bundle.documents.split import body_start, documents
from analyzer.bundle.documents.yamldoc import read_yaml
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES, MIB
from analyzer.bundle.types import Hint, LogText, Part, Problem

_APPLE_DOUBLE = b"\x00\x05\x16\x07"
_MARKUP = re.compile(rb"\s*+<(?:!doctype|html|head|body|\?xml|!--|[a-z]+[\s>])", re.IGNORECASE)
_TITLE = re.compile(rb"<(title|h1)[^>]*>([^<]{1,200})<", re.IGNORECASE)
_JSON_START = re.compile(rb"\s*+[\[{]")
_JSON_NEXT = re.compile(rb"""\s*+(?:\{\s*+["}]|\[\s*+(?:["\[{\]\d-]|true|false|null))""")
_UNQUOTED_KEY = re.compile(rb"\s*+[\[{][\s\[{]*+[A-Za-z_]")
_TRIAL_BYTES = 16 * MIB
"""Up to this size, text that looks like JSON and is none is tried as YAML."""

_LOG_START = re.compile(rb"^==== START logs for container (\S+) of pod ([^\s/]+)/(\S+) ====[ \t]*\r?\n?", re.MULTILINE)
_LOG_END = re.compile(rb"==== END logs for container (\S+) of pod ([^\s/]+)/(\S+) ====")
_MARKER = b"==== START logs for container "


def read_documents(data: bytes, hint: Hint) -> Iterator[Part]:
    """Everything that a file of YAML or JSON holds, in its order.

    Never raises for what the file holds: what cannot be read becomes a `Problem`, and the rest is read all the same.
    The offsets of items are bytes of `data`. The text of an item of a YAML list includes its dash; so read again on its own
    it is a list of one.

    Args:
        data: the file's bytes.
        hint: what its path says about the objects in it.
    """
    if data.startswith(_APPLE_DOUBLE):
        return
    if len(data) > MAX_DOCUMENT_BYTES:
        yield Problem(f"more than {MAX_DOCUMENT_BYTES // MIB} MiB in one file of documents")
        return
    try:
        source = Source(data)
    except BinaryError:
        yield Problem("binary data, neither YAML nor JSON")
        return
    yield from source.problems
    shapes, budget = Shapes(source, hint), Budget()
    if _MARKER not in source.data:
        yield from _text(shapes, 0, len(source.data), budget)
        return
    position = 0
    for part, start, end, ended in _log_blocks(source):
        yield from _text(shapes, position, start, budget)
        yield part
        if not ended:
            yield Problem("cut: a log has no end mark", source.line(end))
        position = end
    yield from _text(shapes, position, len(source.data), budget)


def _log_blocks(source: Source) -> Iterator[tuple[LogText, int, int, bool]]:
    """The log blocks that `kubectl cluster-info dump` prints between its documents, with where each begins and ends,
    and whether it has its end mark.
    """
    data, position = source.data, 0
    ends: dict[tuple[bytes, ...], list[tuple[int, int]]] = {}
    for mark in _LOG_END.finditer(data):
        ends.setdefault(mark.groups(), []).append(mark.span())
    while found := _LOG_START.search(data, position):
        container, namespace, pod = found.groups()
        # A log without a line break at its end has the mark glued to its last line.
        marks = ends.get(found.groups(), [])
        index = bisect_left(marks, (found.end(), 0))
        if index < len(marks):
            end, after = marks[index]
        else:
            following = _LOG_START.search(data, found.end())
            end = after = following.start() if following else len(data)
        line = source.line(found.end())
        log = LogText(namespace.decode(), pod.decode(), container.decode(), line, data[found.end() : end])
        yield log, found.start(), after, index < len(marks)
        position = after


def _text(shapes: Shapes, start: int, end: int, budget: Budget) -> Iterator[Part]:
    """The parts of a stretch of the file without log blocks."""
    for first, last in documents(shapes.source.data, start, end):
        yield from _document(shapes, first, last, budget)


def _document(shapes: Shapes, start: int, end: int, budget: Budget) -> Iterator[Part]:
    """The parts of one YAML document, or of a text with JSON values."""
    data = shapes.source.data
    begin = start + body_start(data[start:end])
    if not data[begin:end].strip():
        return
    if _MARKUP.match(data, begin, end):
        yield from _markup(shapes, begin, end)
        return
    if not _JSON_START.match(data, begin, end):
        yield from read_yaml(shapes, start, end, budget)
        return
    parts = None if _UNQUOTED_KEY.match(data, begin, end) else read_json(shapes, begin, end)
    if parts is not None:
        yield from parts
    elif _JSON_NEXT.match(data, begin, end) and not _is_yaml(data, begin, end):
        yield from read_values(shapes, begin, end)
    else:
        yield from read_yaml(shapes, start, end, budget)


def _markup(shapes: Shapes, start: int, end: int) -> Iterator[Part]:
    """A page saved instead of what was asked for."""
    found = _TITLE.search(shapes.source.data, start, min(end, start + 65536))
    title = " ".join(found[2].decode("utf-8", "replace").split()) if found else ""
    yield Problem(f"HTML or XML instead of objects{': ' + title if title else ''}", shapes.source.line(start))


def _is_yaml(data: bytes, start: int, end: int) -> bool:
    """Whether a text that is no JSON is YAML in flow style all the same (trailing commas, words without quotes)."""
    if end - start > _TRIAL_BYTES:
        return False
    extent = scan(data, start, end)
    if extent.end < 0 or extent.damaged or data[extent.end : end].strip():
        return False
    try:
        parse(data[start:end])
    except BadYamlError:
        return False
    return True
