"""Text in UTF-16, as PowerShell's `>` writes what a command prints: read as the same text in UTF-8."""

from __future__ import annotations

import codecs

from analyzer.bundle.streams import Readable

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CHUNK = 1 << 16


def encoding_of(head: bytes) -> str | None:
    """The encoding that the first bytes announce, None for any other text. UTF-32 is not read."""
    return None if head.startswith(codecs.BOM_UTF32_LE) else _MARKS.get(head[:2])


class Recoded:
    """A stream of UTF-16, given as UTF-8 without its mark; what is no UTF-16 becomes U+FFFD."""

    def __init__(self, source: Readable, encoding: str) -> None:
        """Reads the mark off the source."""
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._held = b""
        self._ended = False
        source.read(2)

    def read(self, size: int, /) -> bytes:
        """The next bytes: as many as asked, fewer only at the end."""
        while len(self._held) < size and not self._ended:
            piece = self._source.read(_CHUNK)
            self._ended = not piece
            self._held += self._decoder.decode(piece, self._ended).encode("utf-8", "replace")
        data, self._held = self._held[:size], self._held[size:]
        return data
