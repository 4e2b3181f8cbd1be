"""One YAML document read as a whole, and what a broken one still holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from analyzer.bundle.documents.events import BadYamlError, Parsed, parse
from analyzer.bundle.documents.salvage import Budget, at_end, cut_back, drop_last_null, repair
from analyzer.bundle.documents.shapes import Piece, Shapes
from analyzer.bundle.limits import MAX_OBJECT_BYTES, MIB
from analyzer.bundle.types import Part, Problem

_OBJECT_LINE = re.compile(rb"""^[ \t\-{"']*+(?:apiVersion|kind|items|metadata)["']?\s*:""", re.MULTILINE)
_FLOW = re.compile(rb"(?:---)?[ \t]*+[\[{]")
_SPACE = 0x20
_BREAK_ENDS = b"\n\r\x85\xa8\xa9"
"""Last bytes of all that YAML 1.1 takes for a line break."""

_DASH = re.compile(rb"(?:[ \t\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]|#[^\n]*)*+-")
_BLOCK_KEY = re.compile(rb"[A-Za-z]")


class Document:
    """A document that is being read."""

    def __init__(self, shapes: Shapes, text: bytes, start: int, begin: int, budget: Budget) -> None:
        self.shapes = shapes
        self.text = text
        self.start = start
        self.begin = begin
        self.budget = budget
        self.last = start + len(text) == len(shapes.source.data)
        self.ragged = self.last and not text.endswith(b"\n")

    # --- problems ---------------------------------------------------------------------------------------------------

    def problem(self, error: BadYamlError, at: int, lost: int | None, note: str = "") -> Problem:
        """A problem at an error in the text that begins at byte `at` of the document."""
        line = self.shapes.source.line(self.start + at)
        opened = f", begun in line {line + error.opened}" if error.opened != error.line else ""
        nuls = " (the file holds NUL bytes)" if self.shapes.source.had_nuls else ""
        return Problem(f"{note}{error.reason}{opened} (column {error.column + 1}){nuls}", line + error.line, lost)

    def cut(self, what: str) -> Problem:
        """The problem of a file that ends too early."""
        end = len(self.shapes.source.data.rstrip())
        return Problem(f"cut: the file ends in the middle of {what}", self.shapes.source.line(end))

    def list_cut(self, frame: dict[str, Any], *, without: int) -> bool:
        """Whether a list that Go printed (apiVersion, items, kind, metadata, in this order) lacks its end.

        Takes a kind that is cut away from the frame.

        Args:
            frame: the list, or what is around its items.
            without: how many keys come before `kind`.
        """
        if not self.last:
            return False
        after = list(frame)[without:]
        if not after:
            return True
        if after[0] != "kind":
            return False
        if self.ragged and not str(frame["kind"]).endswith("List"):
            if after == ["kind"]:
                del frame["kind"]
            return after == ["kind"]
        # Go prints `metadata: {}` where there is nothing in it, never a key without a value.
        lost = self.ragged if "metadata" not in frame else not isinstance(frame["metadata"], dict)
        return lost or _ends_in_null(frame.get("metadata", 0))

    # --- a document that is no list, or a list that cannot be taken apart ----------------------------------------------

    def single(self) -> Iterator[Part]:
        """The parts of the document, parsed as a whole."""
        try:
            parsed = parse(self.text, spans=self._may_be_list())
        except BadYamlError as error:
            yield from self._broken(error)
            return
        yield from self.whole(parsed)

    def _may_be_list(self) -> bool:
        """Whether there may be a list at the root, or `items` in a mapping at the root."""
        text, begin = self.text, self.begin
        return not _BLOCK_KEY.match(text, begin) or text.startswith(b"items", begin) or text.find(b"\nitems", begin) >= 0

    def whole(self, parsed: Parsed) -> Iterator[Part]:
        """The parts of a document that was parsed as a whole."""
        if parsed.empty:
            return
        value = parsed.value
        if isinstance(value, dict) and list(value)[:2] == ["apiVersion", "items"] and self.list_cut(value, without=2):
            yield self.cut("a list")
            yield from self._cut_list(unfinished=len(value) == 2)
            return
        if len(self.text) - self.begin > MAX_OBJECT_BYTES and not self.shapes.is_list(value or {}):
            yield Problem(f"an object of more than {MAX_OBJECT_BYTES // MIB} MiB", self.shapes.source.line(self.start), 1)
            return
        elements = self.spans(parsed, value) if parsed.spans else None
        if isinstance(value, dict) and not self.shapes.is_list(value) and self._breaks_off():
            yield self.cut("an object")
            yield from self._salvaged(cut_back(self.text), self.start + self.begin)
            return
        yield from self.shapes.document(self._piece(value), elements)

    def _breaks_off(self) -> bool:
        """Whether the last line is one that nobody ends a file with.

        Whatever writes the files of a known layout ends each with a line break. Elsewhere a line without one may be
        whole, but not if it has only its indentation, or a key or dash without what belongs to it.
        """
        if not self.ragged or _FLOW.match(self.text, self.begin):
            return False
        hint, line = self.shapes.hint, self.text[self.text.rfind(b"\n") + 1 :]
        return bool(hint.kind or hint.group) or not line.strip() or line.rstrip().endswith((b":", b"-"))

    def _piece(self, value: Any, *, whole: bool = True) -> Piece:
        return Piece(value, self.start + self.begin, self.start + len(self.text), whole)

    def spans(self, parsed: Parsed, value: Any) -> list[tuple[int, int]]:
        """Byte positions of the elements of a list; of the whole document for each where they are not known."""
        items = (value.get("items") if isinstance(value, dict) else value) or []
        if not isinstance(items, list):
            return []
        if len(parsed.spans) != len(items):
            return [(self.start + self.begin, self.start + len(self.text))] * len(items)
        return self._elements(parsed, parsed.spans)

    def _elements(self, parsed: Parsed, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The text of each element: with the dash of a block list, without what follows the element."""
        (begin, _), *places = self._bytes([(parsed.sequence, parsed.sequence), *spans])
        found = []
        for start, end in places:
            dash = _DASH.match(self.text, begin, start)
            if dash:
                start = self._line_of(dash.end() - 1)  # noqa: PLW2901
            begin = end
            found.append((self.start + start, self.start + start + len(self.text[start:end].rstrip())))
        return found

    def _line_of(self, dash: int) -> int:
        """Where the line of a dash begins, if there is nothing but spaces before the dash, else the dash itself."""
        start = dash
        while start and self.text[start - 1] == _SPACE:
            start -= 1
        return start if not start or self.text[start - 1] in _BREAK_ENDS else dash

    def _bytes(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Character positions as byte positions."""
        if self.text.isascii():
            return spans
        text, last, at, found = self.text.decode(), 0, 0, []
        for pair in spans:
            both = []
            for position in pair:
                at += len(text[last:position].encode()) if position >= last else -len(text[position:last].encode())
                last = position
                both.append(at)
            found.append((both[0], both[1]))
        return found

    def _broken(self, error: BadYamlError) -> Iterator[Part]:
        """What a document that does not parse still holds."""
        if not _OBJECT_LINE.search(self.text):
            yield from self._no_yaml(error)
            return
        mended = repair(self.text, error, self.budget)
        if mended is not None and not mended.empty:
            yield self.problem(error, 0, 0, "mended: ")
            yield from self.shapes.document(self._piece(mended.value, whole=False))
            return
        if _FLOW.match(self.text, self.begin):
            yield from self._broken_flow(error)
            return
        if not (self.last and at_end(self.text, error)):
            yield self.problem(error, 0, 1)
            return
        yield self.cut("an object or a list")
        if self._may_be_list():
            yield from self._cut_list(unfinished=True)
        else:
            yield from self._salvaged(cut_back(self.text), self.start + self.begin)

    def _salvaged(self, value: Any, at: int) -> Iterator[Part]:
        """The object that was salvaged, if enough of it is there."""
        if not isinstance(value, dict):
            return
        for part in self.shapes.document(Piece(value, at, self.start + len(self.text), whole=False, cut=True)):
            if not isinstance(part, Problem) and (getattr(part, "whole", True) is False):
                yield part

    def _broken_flow(self, error: BadYamlError) -> Iterator[Part]:
        """A flow collection (KYAML) that breaks off: the elements of its list that were complete."""
        cut = self.last and at_end(self.text, error)
        yield self.problem(error, 0, None, "cut: " if cut else "")
        yield from self._cut_list(unfinished=False)

    def _cut_list(self, *, unfinished: bool) -> Iterator[Part]:
        """The elements of a list that breaks off and cannot be taken apart at its lines; or the object, if it is no list.

        Args:
            unfinished: the last element may not be whole even though the parser saw its end.
        """
        text = self.text[: self.text.rfind(b"\n") + 1] if unfinished and self.ragged else self.text
        try:
            parsed = parse(text, spans=True)
        except BadYamlError as error:
            parsed = error.partial
        value = parsed.value
        items = value.get("items") if isinstance(value, dict) else value
        if isinstance(value, dict) and list(value) == ["apiVersion", "items"] and not items:
            yield from self.shapes.listed(value, [], complete=False)
            return
        if unfinished:
            drop_last_null(parsed.roots)
        if not isinstance(items, list) or not -1 <= len(items) - len(parsed.spans) <= 0:
            if unfinished:
                yield from self._salvaged(value, self.start + self.begin)
            return
        spans = [(start, end if end >= 0 else start) for start, end in parsed.spans[: len(items)]]
        places = self._elements(parsed, spans)
        pieces = [Piece(item, *place) for item, place in zip(items, places, strict=True)]
        if pieces and (unfinished or parsed.spans[len(items) - 1][1] < 0):
            last = pieces.pop()
            if unfinished:
                pieces.append(Piece(last.value, last.start, self.start + len(self.text), whole=False, cut=True))
        yield from self.shapes.listed(value if isinstance(value, dict) else {}, pieces, complete=False)

    def _no_yaml(self, error: BadYamlError) -> Iterator[Part]:
        """Text in which nothing looks like an object."""
        first = self.text[self.begin : self.begin + 1000].decode(errors="replace")
        line = self.shapes.source.line(self.start + self.begin)
        parts = list(self.shapes.text(first, line))
        yield from [part for part in parts if isinstance(part, Problem)] or [self.problem(error, 0, None, "no YAML: ")]


def _ends_in_null(value: Any) -> bool:
    """Whether the last thing in a value is a null: its key is there, its value was cut away."""
    while isinstance(value, dict) and value:
        value = value[next(reversed(value))]
    return value is None
