"""A zip without its table of contents, which lies at the end and is what a cut takes first.

Each entry has a header of its own before its data, so the whole ones can be found from the front (PKWARE APPNOTE,
4.3.7 and 4.3.9).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from analyzer.bundle.limits import KIB, MAX_ENTRY_BYTES, MAX_RATIO, RATIO_FLOOR_BYTES
from analyzer.bundle.paths import clean_path
from analyzer.bundle.sources import Budget, Member
from analyzer.bundle.streams import EntryStream
from analyzer.bundle.types import Link
from analyzer.bundle.zips import ENCRYPTED

_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_OTHER_MAGICS = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06")
_DESCRIPTOR_MAGIC = b"PK\x07\x08"
_STORED, _DEFLATED = 0, 8
_ENCRYPTED_FLAG, _STREAMED, _UTF8 = 0x1, 0x8, 0x800
_UNKNOWN = 0xFFFFFFFF
_INPUT_BYTES = 64 * KIB


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry's data lies: its start, how many bytes it takes up (None: until deflate ends) and the method."""

    start: int
    length: int | None
    method: int


class _Found(NamedTuple):
    """An entry, why it is not read, and where the next one begins (None: that cannot be told)."""

    name: str
    size: int
    problem: str | None
    place: _Place
    next: int | None


class SalvagedZip:
    """A zip as a `Source` (see `analyzer.bundle.sources`), by its local headers."""

    def __init__(self, file: BinaryIO, length: int, budget: Budget) -> None:
        """Walk the zip in `file`, which can be seeked in and is `length` bytes long."""
        self.problem: str | None = None
        self.links: list[Link] = []
        self._file = file
        self._length = length
        self._budget = budget
        self._stream: EntryStream | None = None

    def members(self) -> Iterator[Member]:
        """See `Source`."""
        at: int | None = 0
        expanded = 0
        while at is not None:
            reached = at
            found = self._entry(at)
            if found is None:
                break
            at = found.next
            expanded += found.size
            if expanded > RATIO_FLOOR_BYTES and expanded > MAX_RATIO * self._length:
                self.problem = f"the zip expands to more than {MAX_RATIO} times its size; the rest is not read"
                return
            if not self._budget.expand(found.size):
                self.problem = self._budget.problem
                return
            if not found.name.endswith("/"):
                path, unsafe = clean_path(found.name)
                yield Member(path, found.size, unsafe or found.problem, found.place)
            if self._stream is not None:
                self._stream.expire()
        self.problem = f"cut: the zip has no table of contents; read up to byte {reached:,}"

    def open(self, member: Member) -> EntryStream:
        """See `Source`."""
        place = member.key
        if not isinstance(place, _Place):
            raise TypeError
        reader = _Inflated(self._file, place) if place.method == _DEFLATED else _Slice(self._file, place)
        self._stream = EntryStream(reader.read, None, reader.why)
        return self._stream

    def seekable(self, member: Member) -> BinaryIO | None:  # noqa: ARG002 - part of `Source`
        """Never: the entries are compressed."""
        return None

    def close(self) -> None:
        """Close the file below."""
        self._file.close()

    def _entry(self, at: int) -> _Found | None:
        """The entry at byte `at`."""
        self._file.seek(at)
        head = self._file.read(_LOCAL.size)
        if len(head) < _LOCAL.size or not head.startswith(_LOCAL_MAGIC):
            return None
        _, _, flags, method, _, _, _, packed, size, name_length, extra_length = _LOCAL.unpack(head)
        raw = self._file.read(name_length)
        extra = self._file.read(extra_length)
        if len(raw) < name_length or len(extra) < extra_length:
            return None
        name = _name(raw, utf8=bool(flags & _UTF8))
        packed, size = _zip64(extra, packed, size)
        start = at + _LOCAL.size + name_length + extra_length
        place = _Place(start, packed, method)
        streamed = bool(flags & _STREAMED) and packed == 0
        problem = None
        if flags & _ENCRYPTED_FLAG:
            problem = ENCRYPTED
        elif method not in {_STORED, _DEFLATED}:
            problem = f"compression method {method} of zip is not read"
        elif streamed and method == _DEFLATED:
            return self._streamed(name, _Place(start, None, method))
        elif streamed:
            problem = "its length is not known"
        elif size > MAX_ENTRY_BYTES:
            problem = f"it is larger than {MAX_ENTRY_BYTES:,} bytes"
        return _Found(name, size, problem, place, None if streamed else start + packed)

    def _streamed(self, name: str, place: _Place) -> _Found:
        """An entry whose length is written behind it: its data must be read to find the next one."""
        reader = _Inflated(self._file, place)
        size = 0
        while size <= MAX_ENTRY_BYTES and (data := reader.read(16 * _INPUT_BYTES)):
            size += len(data)
            if size > RATIO_FLOOR_BYTES and size > MAX_RATIO * self._length:
                return _Found(name, size, f"it expands to more than {MAX_RATIO} times its size", place, None)
        if reader.why() is not None or size > MAX_ENTRY_BYTES:
            return _Found(name, size, None, place, None)
        return _Found(name, size, None, place, self._behind_descriptor(place.start + reader.used))

    def _behind_descriptor(self, at: int) -> int:
        """Where the descriptor at `at` ends: with or without its magic, with sizes of 4 or of 8 bytes."""
        self._file.seek(at)
        data = self._file.read(28)
        first = 4 if data.startswith(_DESCRIPTOR_MAGIC) else 0
        for length in (first + 12, first + 20):
            if data[length : length + 4] in {_LOCAL_MAGIC, *_OTHER_MAGICS}:
                return at + length
        return at + first + 12


class _Slice:
    """The bytes of a stored entry."""

    def __init__(self, file: BinaryIO, place: _Place) -> None:
        self._file = file
        self._at = place.start
        self._left = place.length or 0

    def read(self, size: int, /) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(min(size, self._left))
        self._at += len(data)
        self._left -= len(data)
        return data

    def why(self) -> str | None:
        return f"cut: the zip ends early, at byte {self._at:,}" if self._left else None


class _Inflated:
    """The bytes of a deflated entry.

    Attributes:
        used: compressed bytes that belong to it, known once it has ended.
    """

    def __init__(self, file: BinaryIO, place: _Place) -> None:
        self._file = file
        self._at = place.start
        self._end = None if place.length is None else place.start + place.length
        self._object = zlib.decompressobj(-15)
        self._start = place.start
        self._problem: str | None = None
        self.used = 0

    def read(self, size: int, /) -> bytes:
        out = b""
        while not out and not self._object.eof and self._problem is None:
            data = self._object.unconsumed_tail
            if not data:
                want = _INPUT_BYTES if self._end is None else min(_INPUT_BYTES, self._end - self._at)
                self._file.seek(self._at)
                data = self._file.read(want)
                self._at += len(data)
                if not data:
                    self._problem = f"cut: the zip ends early, at byte {self._at:,}"
                    break
            try:
                out = self._object.decompress(data, size)
            except zlib.error:
                self._problem = f"damaged deflate data before byte {self._at:,}"
        if self._object.eof:
            self.used = self._at - self._start - len(self._object.unused_data)
        return out

    def why(self) -> str | None:
        return self._problem


def _name(raw: bytes, *, utf8: bool) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace") if utf8 else raw.decode("cp437")


def _zip64(extra: bytes, packed: int, size: int) -> tuple[int, int]:
    """The sizes, taken from the zip64 field where the header has no room for them."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + length]
        at += 4 + length
        if kind == 1:
            if size == _UNKNOWN and len(field) >= 8:
                size = int.from_bytes(field[:8], "little")
                field = field[8:]
            if packed == _UNKNOWN and len(field) >= 8:
                packed = int.from_bytes(field[:8], "little")
    return packed, size
