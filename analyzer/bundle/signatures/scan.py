"""One log searched for the words of signatures, piece by piece, in time linear in its length.

The automaton goes over whole chunks; only lines in which it finds a word are looked at one by one. Chunks are cut at line
ends: the last lines wait for the next chunk until what follows them is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from analyzer.bundle.formats.base import Place
from analyzer.bundle.host_clock import HostClock
from analyzer.bundle.limits import KIB
from analyzer.bundle.signatures.kept import Count, Hit, RawHit, Surroundings, masked
from analyzer.bundle.signatures.model import (
    CONTEXT_LINES,
    MASK_LINES,
    MAX_FIRST_HITS,
    MAX_KEY_LINES,
    MAX_LAST_HITS,
    MAX_LINE_BYTES,
    PIECE_OVERLAP_BYTES,
    RAW_LINE_BYTES,
    RAW_SIDE_BYTES,
)
from analyzer.bundle.signatures.scanner import Automaton, Scanner

_OVERLAPPING_BYTES = 16 * KIB
"""Up to this length all words of a line are found in one pass, beyond one by one: that bounds the list of matches."""

_WINDOW = 512
"""What is held around a match that stands so far in its line that the kept part of the line does not show it."""

_KEY = -1
_PART = b"(in a line of more than 1 MiB)"
_TOKEN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.-"

_Place = tuple[int, int, int]
"""A hit in the buffer: line of the file, start and end of the line in the buffer."""


@dataclass(slots=True)
class _Kept:
    """The hits of one signature so far."""

    hits: int = 0
    first_line: int = 0
    last_line: int = 0
    first: list[RawHit] = field(default_factory=list)
    last: deque[RawHit] = field(default_factory=lambda: deque(maxlen=MAX_LAST_HITS))


class LogScan:
    """The search in one log: `feed` it all, then take `hits` and `counts`."""

    def __init__(self, scanner: Scanner, automaton: Automaton, first_line: int = 1, clock: HostClock | None = None) -> None:
        """A search.

        Args:
            scanner: the signatures.
            automaton: what `Scanner.automaton_for` chose for this log.
            first_line: line of the file where the log starts.
            clock: that of the log's host, where one is known.
        """
        self._clock = clock
        self._scanner = scanner
        self._automaton = automaton
        owners = {index for group in automaton.owners for index in group if index != _KEY}
        self._below = max((scanner.signatures[index].below for index in owners), default=CONTEXT_LINES)
        self._buffer = b""
        self._at = 0  # where in the buffer the search goes on; what stands before it is kept for what surrounds a hit
        self._line = first_line  # the line of the file at that place
        self._first_line = first_line
        self._newlines = 0  # in all that was fed
        self._in_line = False  # whether that place is inside a line of which a part was searched
        self._aligned = True  # whether the buffer begins with a whole line
        self._ended = False
        self._kept: dict[int, _Kept] = {}
        # Lines that begin or end a private key, with whether one is open after them; older ones but the last are dropped.
        self._key_lines: list[int] = []
        self._key_open: list[bool] = []

    def feed(self, chunk: bytes, newlines: int | None = None) -> None:
        """The next bytes of the log; `newlines` is how many line feeds are in them, where that is known already."""
        self._newlines += chunk.count(b"\n") if newlines is None else newlines
        self._buffer += chunk
        end = self._ready()
        if end > self._at:
            self._search(end)
        elif len(self._buffer) - self._at >= 2 * MAX_LINE_BYTES:
            self._search_long()
        self._forget()

    def finish(self) -> None:
        """All was fed."""
        self._ended = True
        if self._at < len(self._buffer):
            self._search(len(self._buffer))
        self._buffer, self._at = b"", 0

    def hits(self) -> list[Hit]:
        """The hits that are kept, masked, by signature and line."""
        found = []
        for index, kept in self._by_id():
            name = self._scanner.signatures[index].id
            found += [masked(name, raw, self._clock) for raw in (*kept.first, *kept.last)]
        return found

    def counts(self) -> list[Count]:
        """How often each signature hit, by signature."""
        return [
            Count(
                self._scanner.signatures[index].id,
                kept.hits,
                len(kept.first) + len(kept.last),
                kept.first_line,
                kept.last_line,
            )
            for index, kept in self._by_id()
        ]

    def _by_id(self) -> list[tuple[int, _Kept]]:
        return sorted(self._kept.items(), key=lambda pair: self._scanner.signatures[pair[0]].id)

    def _ready(self) -> int:
        """Up to where the lines are whole and the ones that follow them are known."""
        end = self._buffer.rfind(b"\n", self._at) + 1
        for count in range(self._below):
            if end <= self._at:
                return self._at
            if count >= CONTEXT_LINES and len(self._buffer) - end > RAW_SIDE_BYTES:
                break  # no more is held of what follows a hit
            end = self._buffer.rfind(b"\n", self._at, end - 1) + 1
        return max(end, self._at)

    def _search_long(self) -> None:
        """Lines so long that what follows cannot be waited for, or a piece of one that has no end yet."""
        end = self._buffer.rfind(b"\n", self._at) + 1
        if end > self._at:
            self._search(end)
            return
        self._search(len(self._buffer), whole=False)
        self._at = len(self._buffer) - PIECE_OVERLAP_BYTES

    def _forget(self) -> None:
        """Drops what no hit to come is surrounded by."""
        keep = self._at
        if not self._in_line:
            low = max(0, self._at - RAW_SIDE_BYTES)
            for _ in range(MASK_LINES):
                found = self._buffer.rfind(b"\n", low, max(low, keep - 1))
                if found < 0:
                    keep = 0 if low == 0 and self._aligned else keep
                    break
                keep = found + 1
        if keep:
            self._buffer = self._buffer[keep:]
            self._at -= keep
            self._aligned = not self._in_line
        old = bisect_left(self._key_lines, self._line - MASK_LINES) - 1
        if old > 0:
            del self._key_lines[:old], self._key_open[:old]

    def _search(self, end: int, *, whole: bool = True) -> None:
        """Searches from where it stopped up to `end`; `whole` where that is the end of a line or of the log."""
        buffer, at = self._buffer, self._at
        pending: dict[int, list[_Place]] = {}
        line_end = at
        # A view, so that nothing is copied.
        for _, start, _ in self._automaton.finder.find_matches_as_indexes(memoryview(buffer)[at:end]):
            place = self._at + start
            if place < line_end:
                continue
            line_start = max(buffer.rfind(b"\n", at, place) + 1, at)
            self._line += buffer.count(b"\n", at, line_start)
            at = line_start
            line_end = buffer.find(b"\n", place, end)
            line_end = end if line_end < 0 else line_end
            self._look_at(buffer[line_start:line_end].removesuffix(b"\r"), (line_start, line_end), pending)
        # Few lines are left behind the end: they are counted sooner than the ones before it.
        self._line = self._first_line + self._newlines - buffer.count(b"\n", end)
        known: dict[tuple[int, int], Surroundings] = {}
        for index, places in pending.items():
            self._keep(index, places, known)
        self._in_line = not whole
        self._at = end

    def _look_at(self, text: bytes, place: tuple[int, int], pending: dict[int, list[_Place]]) -> None:
        """A line with a word in it: counts it for each signature that it is a hit of."""
        for index in self._owners(text):
            if index == _KEY:
                begin, end = text.rfind(b"-----BEGIN"), text.rfind(b"-----END")
                if begin != end:
                    self._key_lines.append(self._line)
                    self._key_open.append(begin > end)
                continue
            kept = self._kept.get(index)
            if kept and kept.last_line == self._line:
                continue  # in an earlier piece of the same line
            pattern = self._scanner.pattern(index, capture=False)
            if pattern is not None and not pattern.search(text):
                continue
            if kept is None:
                kept = self._kept[index] = _Kept(first_line=self._line)
            kept.hits += 1
            kept.last_line = self._line
            pending.setdefault(index, []).append((self._line, *place))

    def _owners(self, text: bytes) -> Iterable[int]:
        """The signatures one of whose words is in the line."""
        words, owners = self._automaton.words, self._automaton.owners
        if len(text) <= _OVERLAPPING_BYTES:
            matches = self._automaton.finder.find_matches_as_indexes(text, overlapping=True)
            if len(matches) == 1:
                return owners[matches[0][0]]
            found = {word for word, _, _ in matches}
        else:
            found = {number for number, word in enumerate(words) if word in text}
        return list(dict.fromkeys(owner for word in sorted(found) for owner in owners[word]))

    def _keep(self, index: int, places: list[_Place], known: dict[tuple[int, int], Surroundings]) -> None:
        """Keeps the hits of one chunk, but not those that later ones of the same chunk push out."""
        kept = self._kept[index]
        room = MAX_FIRST_HITS - len(kept.first)
        kept.first += [self._raw(index, place, known) for place in places[:room]]
        kept.last.extend(self._raw(index, place, known) for place in places[room:][-MAX_LAST_HITS:])

    def _raw(self, index: int, place: _Place, known: dict[tuple[int, int], Surroundings]) -> RawHit:
        line, start, end = place
        if self._in_line and start == self._at:
            # It begins in the middle of a line, maybe of a secret.
            return RawHit(line, Surroundings((), _PART, (), in_key=False), (), b"")
        below = self._scanner.signatures[index].below
        around = known.get((start, below))
        if around is None:
            # The same for all signatures that hit the line, but for those that want more of what follows.
            around = known[start, below] = self._surroundings(line, start, end, below)
        pattern = self._scanner.pattern(index, capture=True)
        if pattern is None or not pattern.groupindex:
            return RawHit(line, around, (), b"")
        text = self._buffer[start:end].removesuffix(b"\r")
        found: Any = pattern.search(text)
        named = found.groupdict() if found else {}
        fields = tuple((_text(name), value[:RAW_LINE_BYTES]) for name, value in named.items() if value is not None)
        window = text[max(0, found.start() - _WINDOW) : found.end() + _WINDOW] if found and found.end() > RAW_LINE_BYTES else b""
        return RawHit(line, around, fields, window[: RAW_LINE_BYTES + _WINDOW])

    def _surroundings(self, line: int, start: int, end: int, below: int) -> Surroundings:
        buffer = self._buffer
        low = max(0, start - RAW_SIDE_BYTES)
        before = buffer[low:start].split(b"\n")[:-1]
        if low or not self._aligned:
            before = before[1:]  # cut somewhere, maybe in a secret
        before = before[-MASK_LINES:]
        after = buffer[end + 1 : end + 1 + RAW_SIDE_BYTES].split(b"\n")
        if len(after) <= below and not (self._ended and end + 1 + RAW_SIDE_BYTES >= len(buffer)):
            after = after[:-1]  # likewise
        elif len(after) <= below and not after[-1]:
            after = after[:-1]  # the log ends with a line feed
        in_key = self._key_is_open(line - len(before))
        whole = (*map(_cut, before),), _cut(buffer[start:end]), (*map(_cut, after[:below]),)
        return Surroundings(*whole, in_key)

    def _key_is_open(self, line: int) -> bool:
        """Whether a private key that began before the line has not ended before it."""
        last = bisect_left(self._key_lines, line) - 1
        return last >= 0 and self._key_open[last] and line - self._key_lines[last] <= MAX_KEY_LINES


def search(scanner: Scanner, place: Place, path: str, format_name: str, data: bytes) -> tuple[list[Hit], list[Count]]:
    """The hits in a log that is in memory as a whole.

    Args:
        scanner: the signatures.
        place: where the log comes from.
        path: path of its file.
        format_name: the format of its bundle.
        data: the log.
    """
    automaton = scanner.automaton_for(place, path, format_name)
    if automaton is None:
        return [], []
    scan = LogScan(scanner, automaton)
    for start in range(0, len(data), MAX_LINE_BYTES):
        scan.feed(data[start : start + MAX_LINE_BYTES])
    scan.finish()
    return scan.hits(), scan.counts()


def _text(name: str | bytes) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _cut(line: bytes) -> bytes:
    """What is held of a line: not a part of a word, which might be the beginning of a secret."""
    if len(line) <= RAW_LINE_BYTES:
        return line.removesuffix(b"\r")
    return line[:RAW_LINE_BYTES].rstrip(_TOKEN) + "…".encode()
