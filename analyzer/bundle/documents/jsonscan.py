"""Where JSON values lie in a text that no JSON parser takes: concatenated, cut, or broken in one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Text in quotes ends with its line at the latest: JSON has no line break there, so one bad quote spoils one line only.
_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\\n]++|\\[^\n])*+")*+(["{}\[\]])')
_TOKEN = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+("?)|[{}\[\],]')
_ITEMS_KEY = re.compile(rb'"items"[ \t\r\n]*+:[ \t\r\n]*+\Z')
_KEY_BYTES = 64
_ELEMENT_INDENT = re.compile(rb"\[[ \t]*\r?\n([ \t]+)\{")
_QUOTE, _COMMA, _ARRAY = b'",['
_CLOSES = {ord("}"): ord("{"), ord("]"): ord("[")}


@dataclass(slots=True)
class Extent:
    """One value at the top of the text.

    Attributes:
        start: where it begins.
        end: where it ends; -1 where it does not.
        array: where the elements of its list begin (after the `[`), -1 where it has no list.
        array_end: where the `]` of its list is; -1 where there is none.
        elements: (start, end) of the mappings and lists in its list; end is -1 for one that does not end.
        damaged: where brackets or quotes went wrong.
    """

    start: int
    end: int = -1
    array: int = -1
    array_end: int = -1
    elements: list[tuple[int, int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)

    @property
    def in_array(self) -> bool:
        """Whether the list has begun and not ended."""
        return self.array >= 0 and self.array_end < 0


def scan(data: bytes, start: int, stop: int) -> Extent:
    """The extent of the value that begins with `{` or `[` at `start`.

    The elements of its list are found too: of a list at the root, or of `items` in a mapping at the root. After damage in one of
    them it goes on with the next, where the text is printed in lines: that begins with `{` at the same indentation.
    """
    scanner = _Scanner(data, start, stop)
    position = start
    while position >= 0 and scanner.found.end < 0:
        damage = scanner.run(position)
        position = scanner.resume(damage) if damage >= 0 else -1
    return scanner.found


class _Scanner:
    """Follows brackets; `level` is how many are open at the elements of the list, -1 before it is known."""

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        self.data = data
        self.stop = stop
        self.found = Extent(start)
        self.stack = bytearray()
        self.level = -1

    def run(self, position: int) -> int:
        """Go on to the end of the value or of the text; where brackets or quotes go wrong, that place, else -1."""
        for token in _BRACKET.finditer(self.data, position, self.stop):
            at = token.start(1)
            first = self.data[at]
            if first == _QUOTE:
                # Text in quotes that goes to the end of all is cut, not damaged.
                return at if self.data.find(b"\n", at, self.stop) >= 0 else -1
            if first in b"{[":
                self.open(first, at)
                continue
            if not self.stack or self.stack[-1] != _CLOSES[first]:
                return at
            self.close(at)
            if not self.stack:
                self.found.end = at + 1
                return -1
        return -1

    def open(self, bracket: int, at: int) -> None:
        """A bracket opens."""
        depth = len(self.stack)
        if bracket == _ARRAY and self.level < 0:
            if depth == 0:
                self.level = 1
            elif depth == 1 and _ITEMS_KEY.search(self.data[max(self.found.start, at - _KEY_BYTES) : at]):
                self.level = 2
        self.stack.append(bracket)
        if depth + 1 == self.level and self.found.array < 0:
            self.found.array = at + 1
        elif depth == self.level and self.found.in_array:
            self.found.elements.append((at, -1))

    def close(self, at: int) -> None:
        """The bracket that was opened last closes."""
        if self.found.in_array and len(self.stack) == self.level + 1:
            self.found.elements[-1] = (self.found.elements[-1][0], at + 1)
        elif self.found.in_array and len(self.stack) == self.level:
            self.found.array_end = at
        self.stack.pop()

    def resume(self, damage: int) -> int:
        """After damage in an element of the list: where the next one begins, -1 where that cannot be told."""
        self.found.damaged.append(damage)
        position = _next_element(self.data, self.found, damage, self.stop)
        del self.stack[max(self.level, 0) :]
        return position


def _next_element(data: bytes, found: Extent, damage: int, stop: int) -> int:
    """Where the next element begins after damage in one; -1 where that cannot be told."""
    if not found.in_array:
        return -1
    indent = _ELEMENT_INDENT.match(data, found.array - 1, stop)
    if not indent or not found.elements:
        return -1
    element = b"\n" + indent[1] + b"{"
    following = data.find(element, damage, stop)
    start, end = found.elements[-1]
    if end < 0:
        found.elements[-1] = (start, -1 if following < 0 else following)
    return -1 if following < 0 else following + len(element) - 1


def close_cut(data: bytes, start: int, stop: int) -> bytes:
    """A JSON value that breaks off, closed after its last complete member; empty where there is none.

    A member counts only if a comma or a closing bracket follows it: a number or a word could go on.
    """
    stack = bytearray()
    safe, closers = -1, b""
    for token in _TOKEN.finditer(data, start, stop):
        first = data[token.start()]
        if first == _QUOTE:
            if not token[1]:
                break
            continue
        if first in b"{[":
            stack.append(first)
            continue
        if first != _COMMA:
            if not stack or stack[-1] != _CLOSES[first]:
                break
            stack.pop()
        safe = token.start() if first == _COMMA else token.end()
        closers = bytes(stack)
    if safe < 0:
        return b""
    return data[start:safe] + closers[::-1].translate(bytes.maketrans(b"{[", b"}]"))
