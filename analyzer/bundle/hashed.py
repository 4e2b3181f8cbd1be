"""The digest of a file, taken while it is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import BinaryIO, cast

from analyzer.bundle.errors import BundleError
from analyzer.bundle.limits import MIB
from analyzer.bundle.streams import Readable


class Hashed:
    """A stream that keeps the SHA-256 of what goes through it."""

    def __init__(self, stream: Readable) -> None:
        """A stream over the raw bytes of a file, at its start."""
        self._stream = stream
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, as of the stream below.

        Raises:
            CutEntry: as the stream below.
        """
        data = self._stream.read(size)
        self._hash.update(data)
        return data

    def binary(self) -> BinaryIO:
        """This stream under the type that the readers take; they only read."""
        return cast("BinaryIO", self)

    def digest(self, tick: Callable[[], None]) -> str | None:
        """The SHA-256 of the whole file in hex, reading what is left of it; None where the file is cut.

        Args:
            tick: called now and then to show progress.
        """
        try:
            while self.read(MIB):
                tick()
        except (BundleError, OSError, EOFError):
            return None
        return self._hash.hexdigest()
