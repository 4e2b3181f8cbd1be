"""One file that is no archive: a manifest, a log, a stream, plain or compressed. It is its own only entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from analyzer.bundle.limits import MAX_ENTRY_BYTES
from analyzer.bundle.paths import clean_path
from analyzer.bundle.sources import Member
from analyzer.bundle.streams import EntryStream
from analyzer.bundle.types import Link


class SingleSource:
    """A single file as a `Source` (see `analyzer.bundle.sources`)."""

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        size: int,
        *,
        compressed: bool = False,
        why_ended: Callable[[], str | None] = lambda: None,
    ) -> None:
        """An entry `name` with what `file` gives.

        Args:
            name: the file's own name.
            file: at its start; of a compressed file the decompressed stream.
            size: of the file as it lies there, in bytes.
            compressed: whether `size` says nothing about the length of the content.
            why_ended: what cut `file` short.
        """
        self.problem: str | None = None
        self.links: list[Link] = []
        self._name = name
        self._file = file
        self._size = size
        self._compressed = compressed
        self._why_ended = why_ended

    def members(self) -> Iterator[Member]:
        """See `Source`."""
        path, problem = clean_path(self._name)
        if problem is None and self._size > MAX_ENTRY_BYTES:
            problem = f"it is larger than {MAX_ENTRY_BYTES:,} bytes"
        yield Member(path, self._size, problem)

    def open(self, member: Member) -> EntryStream:
        """See `Source`."""
        return EntryStream(self._file.read, None if self._compressed else member.size, self._why_ended)

    def seekable(self, member: Member) -> BinaryIO | None:  # noqa: ARG002 - part of `Source`
        """Never: it is read from front to back."""
        return None

    def close(self) -> None:
        """Close the file."""
        self._file.close()
