"""One YAML document: a list item by item wherever that is sure to give the same, everything else as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from analyzer.bundle.documents.events import BadYamlError, Parsed, parse
from analyzer.bundle.documents.salvage import Budget, at_end, cut_back, repair
from analyzer.bundle.documents.shapes import Piece, Shapes
from analyzer.bundle.documents.split import ListSplit, body_start, split_list
from analyzer.bundle.documents.yamlwhole import Document
from analyzer.bundle.limits import MAX_OBJECT_BYTES, MIB
from analyzer.bundle.types import Part, Problem

_BUFFERED_BYTES = 4 * MIB
"""Lists up to this size are read whole before their first item is handed over."""


def read_yaml(shapes: Shapes, start: int, end: int, budget: Budget) -> Iterator[Part]:
    """The parts of one document of `shapes.source`, at this place there."""
    text = shapes.source.data[start:end]
    begin = body_start(text)
    if begin == len(text):
        return
    document = Document(shapes, text, start, begin, budget)
    split = split_list(text)
    if split is None:
        yield from document.single()
    else:
        yield from _items(document, split)


def _items(document: Document, split: ListSplit) -> Iterator[Part]:
    """The parts of a list that can be taken apart at its lines."""
    listing = _Listing(document, split)
    if not listing.read_frame():
        yield from document.whole(listing.parsed or Parsed())
        return
    ready: list[Piece | Problem] = []
    pieces = listing.pieces()
    small = len(document.text) <= _BUFFERED_BYTES
    for piece in pieces:
        ready.append(piece)
        if not small and isinstance(piece, Piece):
            break
    if small and listing.parsed is not None:
        yield from document.whole(listing.parsed)
        return
    first = [piece.value for piece in ready if isinstance(piece, Piece)]
    if listing.cut or document.shapes.is_list({**listing.head, "items": first} if listing.head else first):
        yield from document.shapes.listed(listing.head, chain(ready, pieces), complete=not listing.cut)
    elif listing.try_whole():
        yield from document.whole(listing.parsed or Parsed())
    else:
        yield from (piece for piece in chain(ready, pieces) if isinstance(piece, Problem))


class _Listing:
    """A list that is being read item by item.

    `parsed` is set where the list could not be taken apart and was parsed as a whole; `broken` where that failed too.
    """

    def __init__(self, document: Document, split: ListSplit) -> None:
        self.document = document
        self.split = split
        self.head: dict[str, Any] = {}
        self.parsed: Parsed | None = None
        self.broken = False
        self.cut = False
        self.frame_problem: Problem | None = None

    def read_frame(self) -> bool:
        """Read what stands before and after the items. False where the list was parsed as a whole instead."""
        document, split = self.document, self.split
        head, head_error = self._mapping(0, split.head_end)
        tail, tail_error = self._mapping(split.tail_start, len(document.text))
        odd = not split.bare and (not head or next(reversed(head)) != "items" or head["items"] is not None)
        odd = odd or "items" in tail or "<<" in head or "<<" in tail or (split.bare and bool(head or tail))
        if (odd or head_error or tail_error) and self.try_whole():
            return False
        head.pop("items", None)
        printed = not split.bare and list(head) == ["apiVersion"]
        ended = tail_error is not None and document.last and at_end(document.text[split.tail_start :], tail_error)
        self.cut = bool(ended or (printed and not tail_error and document.list_cut(tail, without=0)))
        self.head = {**head, **tail}
        if self.cut:
            return True
        if head_error or tail_error:
            error, at = (head_error, 0) if head_error else (tail_error, split.tail_start)
            self.frame_problem = document.problem(error, at, None)  # type: ignore[arg-type]
        return True

    def _mapping(self, start: int, end: int) -> tuple[dict[str, Any], BadYamlError | None]:
        text = self.document.text[start:end]
        try:
            parsed = parse(text)
        except BadYamlError as error:
            value = cut_back(text) if self.document.last else error.partial.value
            return (value if isinstance(value, dict) else {}), error
        if parsed.empty or isinstance(parsed.value, dict):
            return parsed.value or {}, None
        return {}, BadYamlError("text where a key should be", 0, 0, 0, Parsed())

    def try_whole(self) -> bool:
        """Parse the whole document, once."""
        if self.parsed is None and not self.broken:
            try:
                self.parsed = parse(self.document.text, spans=True)
            except BadYamlError:
                self.broken = True
        return self.parsed is not None

    def pieces(self) -> Iterator[Piece | Problem]:
        """The items, and problems where one is broken."""
        document, starts = self.document, self.split.starts
        if self.frame_problem:
            yield self.frame_problem
        unfinished = self.cut and self.split.tail_start == len(document.text)
        for index, start in enumerate(starts):
            last = index == len(starts) - 1
            end = self.split.tail_start if last else starts[index + 1]
            if last and unfinished:
                break
            text = document.text[start:end]
            if len(text) > MAX_OBJECT_BYTES:
                yield Problem(f"an object of more than {MAX_OBJECT_BYTES // MIB} MiB", self._line(start), 1)
                continue
            try:
                value = parse(text).value
            except BadYamlError as error:
                if self.try_whole():
                    yield from self._rest(index)
                    return
                yield from self._broken(error, start, end, last=last)
                continue
            yield Piece(value[0], document.start + start, document.start + end)
        if self.cut:
            yield document.cut("a list")
        if unfinished:
            yield from self._unfinished(starts[-1])

    def _line(self, at: int) -> int:
        return self.document.shapes.source.line(self.document.start + at)

    def _rest(self, index: int) -> Iterator[Piece]:
        """The items from this one on, out of the document parsed as a whole."""
        parsed = self.parsed or Parsed()
        items = parsed.value["items"] if isinstance(parsed.value, dict) else parsed.value
        spans = self.document.spans(parsed, parsed.value)
        for item, (start, end) in list(zip(items, spans, strict=True))[index:]:
            yield Piece(item, start, end)

    def _broken(self, error: BadYamlError, start: int, end: int, *, last: bool) -> Iterator[Piece | Problem]:
        """One item that does not parse in a document that does not parse."""
        document = self.document
        text = document.text[start:end]
        at_file_end = last and document.last and end == len(document.text)
        mended = None if at_file_end and document.ragged else repair(text, error, document.budget)
        if mended is not None and isinstance(mended.value, list) and len(mended.value) == 1:
            yield document.problem(error, start, 0, "mended: ")
            yield Piece(mended.value[0], document.start + start, document.start + end, whole=False)
        elif at_file_end and at_end(text, error):
            yield document.cut("a list")
            yield from self._unfinished(start)
        else:
            yield document.problem(error, start, 1)

    def _unfinished(self, start: int) -> Iterator[Piece]:
        """The last item of a list that is cut, if it can be told what it is."""
        text = self.document.text[start:]
        value = cut_back(text)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            yield Piece(
                value[0], self.document.start + start, self.document.start + len(self.document.text), whole=False, cut=True
            )
