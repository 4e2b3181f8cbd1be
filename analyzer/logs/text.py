"""The bytes of a log as text that can be shown: decoded, control characters harmless, secrets masked, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.bundle.limits import MIB
from analyzer.bundle.text import clean
from analyzer.redact.stream import masked

PIECE_BYTES = MIB
"""A line longer than this is passed on in pieces."""

_WITHIN_BYTES = 4096
"""How far back from its end a piece of such a line is cut at a blank, so that no word is torn."""


def shown(chunks: Iterable[bytes]) -> Iterator[str]:
    """A log as it is printed, in pieces of some MB at most; nothing but what is unsafe or secret is changed.

    Args:
        chunks: its bytes, in pieces of any length.
    """
    return masked(_cleaned(chunks))


def _cleaned(chunks: Iterable[bytes]) -> Iterator[str]:
    """Pieces that end with a line, so that neither a character nor an escape sequence is cut in two."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            parts.append(chunk[:cut])
            yield clean(b"".join(parts))
            parts, size = [], 0
        if cut < len(chunk):
            parts.append(chunk[cut:])
            size += len(chunk) - cut
        if size >= PIECE_BYTES:
            line = b"".join(parts)
            end = _end(line)
            yield clean(line[:end])
            parts, size = [line[end:]], len(line) - end
    if size:
        yield clean(b"".join(parts))


def _end(line: bytes) -> int:
    """Where a line that goes on is cut: behind a blank, else before the first byte of a character."""
    blank = line.rfind(b" ", len(line) - _WITHIN_BYTES) + 1
    if blank:
        return blank
    end = len(line) - 1
    while end > len(line) - 4 and line[end] & 0xC0 == 0x80:
        end -= 1
    return end
