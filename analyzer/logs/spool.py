"""Logs that cannot be printed as they come: masked already, one behind the other in one unnamed temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

MAX_BUFFER_BYTES = 1 << 20
MIN_BUFFER_BYTES = 1 << 12
ALL_BUFFERS_BYTES = 64 << 20
"""What the buffers of all logs that are read at the same time take together."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Where in the file one log lies."""

    start: int
    end: int


class Spool:
    """One file for any number of logs, so that merging them takes one file handle. A context that removes it."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by the context
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def add(self, pieces: Iterable[str]) -> Segment:
        """Appends a log; it ends with a line.

        Raises:
            OSError: the temporary folder is full.
        """
        start, last = self._end, b"\n"
        self._file.seek(start)
        for piece in pieces:
            data = piece.encode("utf-8", "replace")
            if data:
                self._end += self._file.write(data)
                last = data[-1:]
        if last != b"\n":
            self._end += self._file.write(b"\n")
        return Segment(start, self._end)

    def lines(self, segment: Segment, readers: int) -> Iterator[bytes]:
        """The lines of a log with their line feeds; one longer than the buffer comes in pieces without.

        Args:
            segment: what `add` gave.
            readers: how many logs are read at the same time.
        """
        size = max(MIN_BUFFER_BYTES, min(MAX_BUFFER_BYTES, ALL_BUFFERS_BYTES // max(1, readers)))
        at, rest = segment.start, b""
        while at < segment.end:
            self._file.seek(at)
            data = self._file.read(min(size, segment.end - at))
            if not data:
                break
            at += len(data)
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            for line in lines:
                yield line + b"\n"
            if len(rest) >= size:
                yield rest
                rest = b""
        if rest:
            yield rest
