"""Where JSON values lie in a text that no JSON parser takes: concatenated, cut, or broken in one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Text in quotes ends with its line at the latest: JSON has no line break there, so one bad quote spoils one line only.
_TOKEN = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+("?)|[{}\[\],]')
_ITEMS_VALUE = re.compile(rb"\s*:\s*\[")
_ELEMENT_INDENT = re.compile(rb"\[[ \t]*\r?\n([ \t]+)\{")
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


def scan(data: bytes, start: int, stop: int) -> Extent:
    """The extent of the value that begins with `{` or `[` at `start`.

    The elements of its list are found too: of a list at the root, or of `items` in a mapping at the root. After damage in one of
    them it goes on with the next, where the text is printed in lines: that begins with `{` at the same indentation.
    """
    found = Extent(start)
    stack = bytearray()
    level = -1
    position = start
    while position < stop:
        damage = -1
        for token in _TOKEN.finditer(data, position, stop):
            first = data[token.start()]
            if first == 0x22:
                if not token[1]:
                    damage = token.start()
                    break
                if level < 0 and len(stack) == 1 and token[0] == b'"items"' and _ITEMS_VALUE.match(data, token.end(), stop):
                    level = 2
            elif first in b"{[":
                stack.append(first)
                if len(stack) == 1 and first == 0x5B:
                    level = 1
                if len(stack) == level and found.array < 0:
                    found.array = token.end()
                elif len(stack) == level + 1 and found.array >= 0 and found.array_end < 0:
                    found.elements.append((token.start(), -1))
            elif first != 0x2C:
                if not stack or stack[-1] != _CLOSES[first]:
                    damage = token.start()
                    break
                if len(stack) == level + 1 and found.array_end < 0 and found.elements:
                    found.elements[-1] = (found.elements[-1][0], token.end())
                elif len(stack) == level and found.array >= 0 and found.array_end < 0:
                    found.array_end = token.start()
                stack.pop()
                if not stack:
                    found.end = token.end()
                    return found
        if damage < 0:
            return found
        found.damaged.append(damage)
        position = _next_element(data, found, damage, stop)
        if position < 0:
            return found
        del stack[level:]
    return found


def _next_element(data: bytes, found: Extent, damage: int, stop: int) -> int:
    """Where the next element begins after damage in one; -1 where that cannot be told."""
    if found.array < 0 or found.array_end >= 0:
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
        if first == 0x22:
            if not token[1]:
                break
            continue
        if first in b"{[":
            stack.append(first)
            continue
        if first != 0x2C:
            if not stack or stack[-1] != _CLOSES[first]:
                break
            stack.pop()
        safe = token.start() if first == 0x2C else token.end()
        closers = bytes(stack)
    if safe < 0:
        return b""
    return data[start:safe] + closers[::-1].translate(bytes.maketrans(b"{[", b"}]"))
