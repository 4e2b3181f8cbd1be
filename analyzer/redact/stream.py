"""Masking a text of any length in bounded memory: what `mask_text` does, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.redact.keyblocks import KeyBlocks
from analyzer.redact.text import mask_text

BATCH_CHARS = 1 << 20
"""Characters that are masked at once."""

SEAM_CHARS = 1 << 15
"""What is looked at on both sides of a cut, to see that no secret lies across it."""

MAX_BATCH_CHARS = 8 << 20
"""Where no good cut is found within so many characters, the text is cut at the end of a line all the same."""

_TRIES = 8


def masked(pieces: Iterable[str]) -> Iterator[str]:
    """The text with secrets replaced by placeholders.

    Args:
        pieces: the text in pieces of any length, without escape sequences and control characters.

    Yields:
        The masked text in pieces of at most about `MAX_BATCH_CHARS` characters.
    """
    keys = KeyBlocks()
    held = ""
    for piece in pieces:
        held += keys.feed(piece)
        while len(held) >= BATCH_CHARS + SEAM_CHARS:
            cut = _cut(held)
            if not cut:
                break
            yield mask_text(held[:cut])
            held = held[cut:]
    held += keys.finish()
    while held:
        cut = (_cut(held) if len(held) > MAX_BATCH_CHARS else 0) or len(held)
        yield mask_text(held[:cut])
        held = held[cut:]


def _cut(text: str) -> int:
    """Where to cut the text in two that can be masked apart; 0 where more of it has to be seen first."""
    end = len(text) - SEAM_CHARS
    first = at = _boundary(text, end)
    for step in range(_TRIES):
        if not at:
            break
        if _is_seam(text, at):
            return at
        at = _boundary(text, at - 1 - (64 << step))
    return first or end if len(text) >= MAX_BATCH_CHARS else 0


def _boundary(text: str, end: int) -> int:
    """The last end of a line before `end`, of a text without lines the last blank; 0 where there is neither."""
    if end <= 0:
        return 0
    return text.rfind("\n", 0, end) + 1 or text.rfind(" ", 0, end) + 1


def _is_seam(text: str, at: int) -> bool:
    """Is the masked text the same with and without a cut here."""
    before, after = text[max(0, at - SEAM_CHARS) : at], text[at : at + SEAM_CHARS]
    return mask_text(before + after) == mask_text(before) + mask_text(after)
