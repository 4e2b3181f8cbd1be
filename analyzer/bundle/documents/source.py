"""The bytes of a file as clean UTF-8, with the way back to the bytes as they lie in the file."""

from __future__ import annotations

import re
from bisect import bisect_right

from analyzer.bundle.types import Problem

_MAX_RUNS = 100_000
"""Runs of NUL or invalid bytes beyond which a file is no text but binary data."""

_WIDE = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UTF8_BOM = b"\xef\xbb\xbf"
_NULS = re.compile(rb"\x00+")
_ESCAPED = re.compile("[\udc80-\udcff]+")


class BinaryError(ValueError):
    """The bytes are no text in any encoding that is known here."""


class _Shifts:
    """Where positions of two versions of a text differ, and by how much."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.shifts: list[int] = []

    def add(self, start: int, shift: int) -> None:
        """From `start` (new version) on, the old position is the new one plus `shift`."""
        self.starts.append(start)
        self.shifts.append(shift)

    def old(self, position: int) -> int:
        index = bisect_right(self.starts, position) - 1
        return position + self.shifts[index] if index >= 0 else position


class Source:
    """A file's text. `data` is valid UTF-8 without NUL bytes and without a byte order mark.

    `problems` says what had to be replaced to make it so. `had_nuls` tells that NUL bytes were dropped, which is worth
    a word only where a document turns out to be broken.
    """

    def __init__(self, raw: bytes) -> None:
        self.problems: list[Problem] = []
        self.had_nuls = False
        self._bom = 0
        self._wide = ""
        self._shifts: list[_Shifts] = []
        self._line_at = (0, 1)
        self._wide_at = (0, 0)
        self.data = self._decode(raw)

    def origin(self, position: int) -> int:
        """The byte offset in the file for a position in `data`."""
        if self._wide:
            return self._bom + self._wide_origin(position)
        for shifts in reversed(self._shifts):
            position = shifts.old(position)
        return position + self._bom

    def line(self, position: int) -> int:
        """The line (from 1) of a position in `data`. Cheap for positions near the one asked for last."""
        last, line = self._line_at
        if position >= last:
            line += self.data.count(b"\n", last, position)
        else:
            line -= self.data.count(b"\n", position, last)
        self._line_at = (position, line)
        return line

    def _wide_origin(self, position: int) -> int:
        last, offset = self._wide_at
        low, high = min(last, position), max(last, position)
        width = len(self.data[low:high].decode("utf-8", "replace").encode(self._wide))
        offset += width if position >= last else -width
        self._wide_at = (position, offset)
        return offset

    def _decode(self, raw: bytes) -> bytes:
        for mark, encoding in _WIDE:
            if raw.startswith(mark):
                self._bom, self._wide = len(mark), encoding
                text = raw[len(mark) :].decode(encoding, "replace")
                return text.replace("\0", " ").encode("utf-8", "replace")
        if raw.startswith(_UTF8_BOM):
            self._bom = len(_UTF8_BOM)
            raw = raw[len(_UTF8_BOM) :]
        if b"\0" in raw:
            raw = self._drop_nuls(raw)
        if raw.isascii():
            return raw
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return self._replace_invalid(raw)
        return raw

    def _drop_nuls(self, raw: bytes) -> bytes:
        shifts, dropped = _Shifts(), 0
        for count, run in enumerate(_NULS.finditer(raw)):
            if count >= _MAX_RUNS:
                raise BinaryError
            start = run.start() - dropped
            dropped += run.end() - run.start()
            shifts.add(start, dropped)
        self.had_nuls = True
        self._shifts.append(shifts)
        return raw.replace(b"\0", b"")

    def _replace_invalid(self, raw: bytes) -> bytes:
        text = raw.decode("utf-8", "surrogateescape")
        shifts, pieces = _Shifts(), []
        last = position = grown = bad = 0
        for count, run in enumerate(_ESCAPED.finditer(text)):
            if count >= _MAX_RUNS:
                raise BinaryError
            before = text[last : run.start()].encode()
            width = run.end() - run.start()
            if not count:
                first_line = before.count(b"\n") + 1
            position += len(before)
            # Each invalid byte becomes U+FFFD, three bytes. Positions inside the run map to its first byte, near enough.
            shifts.add(position, -grown)
            position += 3 * width
            grown += 2 * width
            shifts.add(position, -grown)
            pieces += [before, "\ufffd".encode() * width]
            bad += width
            last = run.end()
        pieces.append(text[last:].encode())
        self._shifts.append(shifts)
        self.problems.append(Problem(f"{bad} bytes are no UTF-8 and were replaced", first_line, 0))
        return b"".join(pieces)
