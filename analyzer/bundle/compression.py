"""Compressed streams: gzip, xz, zstd and bzip2, told by their first bytes, read with bounded memory.

All four are driven by one loop, so that several members in a row, padding, trailing junk, a cut and a bomb are
treated alike whatever the format.
"""

from __future__ import annotations

import bz2
import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

import zstandard
from isal import igzip_lib

from analyzer.bundle.errors import BundleError
from analyzer.bundle.limits import KIB, MAX_RATIO, MAX_WINDOW_BYTES, MIB, RATIO_FLOOR_BYTES
from analyzer.bundle.streams import EntryStream, Readable, as_binary, one_line
from analyzer.bundle.utf16 import Recoded, encoding_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from analyzer.bundle.sources import Budget

_INPUT_BYTES = 64 * KIB
_OUTPUT_BYTES = MIB
_STEP_BYTES = 16 * KIB
"""Most that is asked of a decompressor at once: where it meets damage it keeps back what it made in that step."""

_ZSTD_SLICE_BYTES = KIB
"""zstandard's object knows no output limit: 1 KiB of input holds at most 256 blocks of 128 KiB, so 32 MiB come at once."""

HEAD_BYTES = 8
"""First bytes that `codec_of` wants to see."""


class Decompressor(Protocol):
    """The interface of `bz2.BZ2Decompressor`, which lzma and isal share."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes without further input."""

    @property
    def unused_data(self) -> bytes:
        """Input behind the end of the member."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Output for this input, at most `max_length` bytes of it now."""


class _Zstd:
    """A zstd frame under that interface."""

    def __init__(self) -> None:
        self._object = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
        self._input = b""
        self._at = 0
        self._output = b""
        self.eof = False
        self.unused_data = b""

    @property
    def needs_input(self) -> bool:
        return not self._output and self._at >= len(self._input) and not self.eof

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data:
            self._input = self._input[self._at :] + data
            self._at = 0
        while not self._output and not self._object.eof and self._at < len(self._input):
            piece = self._input[self._at : self._at + _ZSTD_SLICE_BYTES]
            self._at += len(piece)
            self._output = self._object.decompress(piece)
        out = self._output if max_length < 0 else self._output[:max_length]
        self._output = self._output[len(out) :]
        if self._object.eof and not self._output and not self.eof:
            self.eof = True
            self.unused_data = self._object.unused_data + self._input[self._at :]
        return out


@dataclass(frozen=True, slots=True)
class Codec:
    """A compression format.

    Attributes:
        name: as people write it.
        magic: what a member begins with; any of these.
        start: makes a decompressor for one member.
    """

    name: str
    magic: tuple[bytes, ...]
    start: Callable[[], Decompressor]


CODECS = (
    Codec("gzip", (b"\x1f\x8b",), lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)),
    Codec("xz", (b"\xfd7zXZ\x00",), lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_WINDOW_BYTES + 16 * MIB)),
    Codec("zstd", (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + i]) + b"\x2a\x4d\x18" for i in range(16))), _Zstd),
    Codec("bzip2", (b"BZh",), bz2.BZ2Decompressor),
)
_IGZIP_ERROR = cast("type[Exception]", igzip_lib.IsalError)
_DAMAGE = (_IGZIP_ERROR, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError, MemoryError)


def codec_of(head: bytes) -> Codec | None:
    """The compression that these first bytes announce."""
    for codec in CODECS:
        if head.startswith(codec.magic):
            return codec
    return None


class Expanded(io.RawIOBase):
    """The decompressed bytes of a stream. It ends where the data ends, is damaged or grows too much.

    Attributes:
        problem: why it ended early; None while it goes on and after a proper end.
        produced: uncompressed bytes so far.
    """

    def __init__(self, source: Readable, codec: Codec, budget: Budget | None = None) -> None:
        """Decompress `source`, which stands at the first byte of `codec`'s data; count against `budget`."""
        super().__init__()
        self._source = source
        self._codec = codec
        self._budget = budget
        self._member: Decompressor | None = codec.start()
        self._consumed = 0
        self.produced = 0
        self.problem: str | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill `buffer` with what comes next; 0 at the end, whatever the reason for it."""
        view = memoryview(buffer).cast("B")
        try:
            data = self._next(min(len(view), _STEP_BYTES))
        except _DAMAGE as error:
            said = one_line(error) or type(error).__name__
            data = self._stop(f"damaged {self._codec.name} data before byte {self._consumed:,} ({said})")
        except BundleError as error:
            data = self._stop(str(error))
        view[: len(data)] = data
        return len(data)

    def _next(self, want: int) -> bytes:
        data = b""
        while not data and self._member is not None:
            given = b""
            if self._member.needs_input:
                given = self._source.read(_INPUT_BYTES)
                self._consumed += len(given)
                if not given:
                    return self._stop(f"cut: the {self._codec.name} data ends early, after byte {self._consumed:,}")
            data = self._member.decompress(given, want)
            if self._member.eof:
                self._member = self._following(self._member.unused_data)
        self.produced += len(data)
        if self._budget is not None and not self._budget.expand(len(data)):
            return self._stop(self._budget.problem or "")
        if self.produced > RATIO_FLOOR_BYTES and self.produced > MAX_RATIO * self._consumed:
            return self._stop(f"it expands to more than {MAX_RATIO} times its size; the rest is not read")
        return data

    def _following(self, rest: bytes) -> Decompressor | None:
        """The next member behind a finished one. Zeros are padding; anything else that is no member is junk."""
        rest = rest.lstrip(b"\0")
        while len(rest) < HEAD_BYTES and (more := self._source.read(_INPUT_BYTES)):
            self._consumed += len(more)
            rest = (rest + more).lstrip(b"\0")
        if not rest.startswith(self._codec.magic):
            return None
        self._source = _Pushed(rest, self._source)
        self._consumed -= len(rest)
        return self._codec.start()

    def _stop(self, problem: str) -> bytes:
        self._member = None
        self.problem = problem
        return b""


class _Pushed:
    """Bytes that were read too far, before the rest."""

    def __init__(self, head: bytes, rest: Readable) -> None:
        self._head = head
        self._rest: Readable = rest._rest if isinstance(rest, _Pushed) and not rest._head else rest  # noqa: SLF001

    def read(self, size: int, /) -> bytes:
        if not self._head:
            return self._rest.read(size)
        data, self._head = self._head[:size], self._head[size:]
        return data


def expanded(source: Readable, codec: Codec, budget: Budget | None = None) -> tuple[io.BufferedReader, Expanded]:
    """The decompressed stream, buffered, and the reader below it that knows why it ended."""
    raw = Expanded(source, codec, budget)
    return io.BufferedReader(raw, _OUTPUT_BYTES), raw


def decompressed(stream: Readable) -> BinaryIO:
    """The content of a compressed entry (a rotated log, `.gz`), or of a plain one as it is; the bytes decide.

    Text in UTF-16 is given as UTF-8.

    Args:
        stream: the entry's stream, at its start.

    Returns:
        A stream with the limits of an entry: it raises `CutEntry` after the last byte that could be had.
    """
    head = _head(stream)
    codec = codec_of(head)
    source = _Pushed(head, stream)
    if codec is None:
        encoding = encoding_of(head)
        plain: Readable = Recoded(source, encoding) if encoding else source
        return as_binary(EntryStream(plain.read, None))
    buffered, raw = expanded(source, codec)
    return as_binary(EntryStream(buffered.read, None, lambda: raw.problem))


def _head(stream: Readable) -> bytes:
    """The first bytes of a stream; a stream that is cut within them gives what it has."""
    head = b""
    try:
        while len(head) < HEAD_BYTES and (more := stream.read(HEAD_BYTES - len(head))):
            head += more
    except BundleError:
        return head
    return head
