"""Where the documents of a YAML file and the items of a YAML list lie, by looking at lines only.

Cutting a list at lines is right whenever each piece is YAML on its own. A scanner reads from left to right, and its state
at the start of an item is the same in the file and alone: block context, indentation of the list. A token can only reach over the
start of the next item if it is quoted text or a flow collection, and then the piece alone does not end properly. So the
caller parses each piece alone and takes any failure as "cannot be cut".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKER = re.compile(rb"(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_NO_CONTENT = re.compile(rb"(?:(?:[ \t]*(?:#[^\n]*)?|%[^\n]*)(?:\r?\n|\Z))*+")
_INTRO = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*(?:#[^\n]*)?\r?\n)*+")
_ITEMS = re.compile(rb"^items:[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*+( *)-(?=[ \t\r\n]|\Z)", re.MULTILINE)
_DASH = re.compile(rb"( *)-(?=[ \t\r\n]|\Z)")
_OTHER_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""What YAML 1.1 takes for a line break besides LF and CRLF; text with it is not cut at lines."""


@dataclass(frozen=True, slots=True)
class ListSplit:
    """A block list taken apart; all positions are byte offsets in the text.

    The head is what stands before the first item (empty for a bare list), the tail what follows the last.
    """

    head_end: int
    starts: tuple[int, ...]
    tail_start: int
    bare: bool


def documents(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The documents of a YAML stream as (start, end); a `---` line belongs to the document after it, `...` to none."""
    begin = start
    for at, after in _markers(data, start, end):
        directives = data[at : at + 1] == b"-" and _only_directives(data, begin, at)
        if at > begin and not directives:
            yield begin, at
        if not directives:
            begin = after if data[at : at + 1] == b"." else at
    if begin < end:
        yield begin, end


def _markers(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where `---` and `...` stand at the beginning of a line, and where they end."""
    if data[start : start + 3] in (b"---", b"...") and _MARKER.match(data, start, end):
        yield start, start + 3
    found = {mark: data.find(mark, start, end) for mark in (b"\n---", b"\n...")}
    while any(position >= 0 for position in found.values()):
        at, mark = min((position, mark) for mark, position in found.items() if position >= 0)
        found[mark] = data.find(mark, at + 1, end)
        if _MARKER.match(data, at + 1, end):
            yield at + 1, at + 4


def body_start(text: bytes) -> int:
    """Where a document's content begins, after its `---` line, blank lines and comments."""
    found = _INTRO.match(text)
    return found.end() if found else 0


def split_list(text: bytes) -> ListSplit | None:
    """The items of a block list at the root, or of the list `items` of a mapping at the root; None where there is none."""
    begin = body_start(text)
    dash = _DASH.match(text, begin)
    if dash:
        head_end, first, indent = begin, begin, len(dash[1])
    else:
        found = _ITEMS.search(text, begin)
        if not found:
            return None
        first, indent = found.start(1), len(found[1])
        head_end = first
    if _OTHER_BREAK.search(text) if (b"\r" in text or not text.isascii()) else False:
        return None
    starts = [first]
    tail = len(text)
    # A line that is indented no deeper than the dashes; tabs never begin one of those, and comments do not count.
    for line in re.compile(rb"\n {0,%d}[^ \t\r\n#]" % indent).finditer(text, first):
        at = line.start() + 1
        last = line.end() - 1
        if last - at == indent and text[last : last + 1] == b"-" and text[last + 1 : last + 2] in b" \t\r\n":
            starts.append(at)
        else:
            tail = at
            break
    return ListSplit(head_end, tuple(starts), tail, bare=bool(dash))


def _only_directives(data: bytes, start: int, end: int) -> bool:
    """Whether a stretch holds `%` directives and nothing else: they belong to the document that follows."""
    found = _NO_CONTENT.match(data, start, end)
    return found is not None and found.end() == end and re.compile(rb"^%", re.MULTILINE).search(data, start, end) is not None
