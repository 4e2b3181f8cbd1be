"""The bytes of logs once more, one pass over each input, in the order in which they lie there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from analyzer.bundle.compression import decompressed
from analyzer.bundle.containers import open_container
from analyzer.bundle.errors import BundleError, CutEntry
from analyzer.bundle.limits import MIB
from analyzer.logs.model import Log
from analyzer.logs.originals import Original

_CHUNK_BYTES = MIB

Problem = Callable[[Log, str], None]
"""Told of a log that could not be read to its end, and why."""


def reread(original: Original, logs: Iterable[Log], problem: Problem) -> Iterator[tuple[Log, Iterator[bytes]]]:
    """The logs of one input, each with its bytes, which must be taken before the next one is asked for.

    Args:
        original: the input.
        logs: what to read, all of this input.
        problem: told of what could not be read; reading goes on with the next log.
    """
    by_index: dict[int, list[Log]] = {}
    for log in logs:
        index = log.index if original.indexes is None else original.indexes[log.path]
        by_index.setdefault(index, []).append(log)
    left = {log.log_id: log for own in by_index.values() for log in own}
    try:
        for index, stream in open_container(original.path).read(sorted(by_index)):
            text = decompressed(stream)
            at = _Lines(text)
            for log in sorted(by_index[index], key=lambda log: log.first_line):
                left.pop(log.log_id)
                yield log, _told(log, _all(text) if log.alone else at.block(log.first_line, log.bytes), problem)
    except (BundleError, OSError) as error:
        for log in left.values():
            problem(log, str(error))
        return
    for log in left.values():
        problem(log, "it is not in the bundle any more")


def _told(log: Log, chunks: Iterator[bytes], problem: Problem) -> Iterator[bytes]:
    try:
        yield from chunks
    except CutEntry as cut:
        problem(log, str(cut))
    except (BundleError, OSError) as error:
        problem(log, f"it cannot be read ({error})")


def _all(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK_BYTES):
        yield chunk


class _Lines:
    """Blocks of lines of one file, asked for in its order."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._line = 1
        self._held = b""

    def block(self, first_line: int, size: int) -> Iterator[bytes]:
        """`size` bytes from the start of a line on."""
        while self._line < first_line:
            data = self._next()
            if not data:
                return
            count = data.count(b"\n")
            if self._line + count < first_line:
                self._line += count
                continue
            at = 0
            while self._line < first_line:
                at = data.index(b"\n", at) + 1
                self._line += 1
            self._held = data[at:]
        while size > 0 and (data := self._next()):
            self._held = data[size:]
            data = data[:size]
            self._line += data.count(b"\n")
            size -= len(data)
            yield data

    def _next(self) -> bytes:
        data, self._held = self._held or self._stream.read(_CHUNK_BYTES), b""
        return data
