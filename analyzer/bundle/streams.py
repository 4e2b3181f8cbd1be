"""The streams that entries are read by: never longer than declared or allowed, and honest about an early end."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from analyzer.bundle.errors import BundleError, CutEntry
from analyzer.bundle.limits import MAX_ENTRY_BYTES, MIB

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES = 4 * MIB
"""How much is asked for at once: a declared size is not to be trusted with an allocation."""

READ_ERRORS = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile, BundleError)
"""What the readers below a stream raise on damaged input."""


class Readable(Protocol):
    """Anything that hands out its next bytes: at most `size`, fewer only at the end."""

    def read(self, size: int, /) -> bytes:
        """The next bytes."""


class EntryStream(io.RawIOBase):
    """One entry's bytes, in order. Read it in blocks: lines are not buffered here.

    Where the entry ends before its declared end, reads first give all that there is (a short read), and the read
    after that raises `CutEntry` instead of returning nothing.

    Attributes:
        given: bytes handed out so far.
    """

    def __init__(self, read: Callable[[int], bytes], size: int | None, reason: Callable[[], str | None] = lambda: None) -> None:
        """A stream over `read`.

        Args:
            read: gives the next bytes, at most as many as asked, fewer only at the end of what there is.
            size: declared size in bytes; None where only the end of the data tells.
            reason: why the data ended early, None where it did not (asked only at the end of the data).
        """
        super().__init__()
        self._read = read
        self._size = size
        self._left = MAX_ENTRY_BYTES if size is None else size
        self._reason = reason
        self._cut: str | None = None
        self.given = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes: `size` of them, all where it is negative, fewer only at the end.

        Raises:
            CutEntry: the entry was cut and all its bytes have been given.
        """
        want = self._left if size is None or size < 0 else min(size, self._left)
        if want == 0:
            self._check(asked=size != 0)
            return b""
        if want <= BLOCK_BYTES:
            data = self._pull(want)
        else:
            blocks = []
            while want > 0 and (block := self._pull(min(want, BLOCK_BYTES))):
                blocks.append(block)
                want = min(want - len(block), self._left)
            data = b"".join(blocks)
        if not data:
            self._check(asked=True)
        return data

    read1 = read

    def readall(self) -> bytes:
        """Everything that is left, see `read`."""
        return self.read(-1)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill `buffer`, see `read`."""
        view = memoryview(buffer).cast("B")
        data = self.read(min(len(view), BLOCK_BYTES))
        view[: len(data)] = data
        return len(data)

    def expire(self) -> None:
        """The place that this stream read from has moved on: nothing more comes from it."""
        self._left = 0
        self._cut = None
        self._size = 0

    def _pull(self, want: int) -> bytes:
        try:
            data = self._read(want)
        except READ_ERRORS as error:
            return self._end(_reason(error))
        self.given += len(data)
        self._left -= len(data)
        if len(data) < want and (self._size is not None or not data):
            reason = self._reason()
            if reason is None and self._size is not None:
                reason = f"cut: it ends after {self.given:,} of {self._size:,} bytes"
            self._end(reason)
        elif self._left == 0 and self._size is None:
            self._end(f"it is larger than {MAX_ENTRY_BYTES:,} bytes")
        return data

    def _end(self, reason: str | None) -> bytes:
        self._left = 0
        self._cut = reason
        return b""

    def _check(self, *, asked: bool) -> None:
        if asked and self._cut is not None:
            raise CutEntry(self._cut, self.given)


def _reason(error: Exception) -> str:
    """Why a read failed: the system's word, ours, or that of a decoder of damaged data."""
    text = one_line(error)
    if isinstance(error, BundleError) and text:
        return text
    return f"{'it cannot be read' if isinstance(error, OSError) else 'it is damaged'} ({text or type(error).__name__})"


def one_line(error: BaseException) -> str:
    """The message of an error in one line, without the path that an OSError would add."""
    text = (error.strerror or "") if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())


def as_binary(stream: EntryStream) -> BinaryIO:
    """`stream` under the type that the readers take."""
    return cast("BinaryIO", stream)


def read_all(stream: Readable, limit: int) -> tuple[bytes, str | None]:
    """Everything of an entry up to `limit` bytes, and why that is not all of it (None where it is)."""
    blocks: list[bytes] = []
    left = limit + 1
    problem: str | None = None
    try:
        while left > 0 and (block := stream.read(min(left, BLOCK_BYTES))):
            blocks.append(block)
            left -= len(block)
    except CutEntry as cut:
        problem = str(cut)
    data = blocks[0] if len(blocks) == 1 else b"".join(blocks)
    if left <= 0:
        return data[:limit], f"it is larger than {limit:,} bytes"
    return data, problem
