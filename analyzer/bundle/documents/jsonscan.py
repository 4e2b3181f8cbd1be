"""Where JSON values lie in a text that no JSON parser takes: concatenated, cut, or broken in one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Text in quotes ends with its line at the latest: JSON has no line break there, so one bad quote spoils one line only.
_TOKEN = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+("?)|[{}\[\],]')
_ITEMS_VALUE = re.compile(rb"\s*:\s*\[")
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
        for token in _TOKEN.finditer(self.data, position, self.stop):
            first = self.data[token.start()]
            if first == _QUOTE:
                if not token[1]:
                    return token.start()
                if self.level < 0 and len(self.stack) == 1 and token[0] == b'"items"':
                    self.level = 2 if _ITEMS_VALUE.match(self.data, token.end(), self.stop) else -1
            elif first in b"{[":
                self.open(first, token)
            elif first != _COMMA:
                if not self.stack or self.stack[-1] != _CLOSES[first]:
                    return token.start()
                self.close(token)
                if not self.stack:
                    self.found.end = token.end()
                    return -1
        return -1

    def open(self, bracket: int, token: re.Match[bytes]) -> None:
        """A bracket opens."""
        self.stack.append(bracket)
        if len(self.stack) == 1 and bracket == _ARRAY:
            self.level = 1
        if len(self.stack) == self.level and self.found.array < 0:
            self.found.array = token.end()
        elif len(self.stack) == self.level + 1 and self.found.in_array:
            self.found.elements.append((token.start(), -1))

    def close(self, token: re.Match[bytes]) -> None:
        """The bracket that was opened last closes."""
        if self.found.in_array and len(self.stack) == self.level + 1:
            self.found.elements[-1] = (self.found.elements[-1][0], token.end())
        elif self.found.in_array and len(self.stack) == self.level:
            self.found.array_end = token.start()
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
