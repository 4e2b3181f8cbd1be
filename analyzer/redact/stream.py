"""Masking a text of any length in bounded memory: what `mask_text` does, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from analyzer.redact.keyblocks import KeyBlocks
from analyzer.redact.text import mask_text

BATCH_CHARS = 1 << 21
"""Characters that are masked at once."""

SEAM_CHARS = 1 << 16
"""What is looked at on both sides of a cut, to see that no secret lies across it."""

MAX_BATCH_CHARS = 8 << 20
"""Where no good cut is found within so many characters, the text is cut at the end of a line all the same."""

_TRIES = 8
_FEW_LINES = 64

_STAMP = re.compile(r"(?:\[[^\]\n]{1,300}\] )?\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?")
"""What a container runtime and `kubectl logs --timestamps --prefix` put before a line."""


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
            yield _masked(held[:cut])
            held = held[cut:]
    held += keys.finish()
    while held:
        cut = (_cut(held) if len(held) > MAX_BATCH_CHARS else 0) or len(held)
        yield _masked(held[:cut])
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
    """The last beginning of a line before `end` that is not indented, of a text without lines the last blank; 0 for neither.

    An indented line may belong to a block whose name stands far above.
    """
    at = text.rfind("\n", 0, max(end, 0)) + 1
    if not at:
        return text.rfind(" ", 0, max(end, 0)) + 1
    while at and _is_indented(text, at):
        at = text.rfind("\n", 0, at - 1) + 1
    return at


def _is_indented(text: str, at: int) -> bool:
    """Does the line that begins at `at` begin with a blank or an end of line, behind its time."""
    stamp = _STAMP.match(text, at)
    at = stamp.end() if stamp else at
    return text[at : at + 1].isspace()


def _is_seam(text: str, at: int) -> bool:
    """Is the masked text the same with and without a cut here."""
    before, after = text[max(0, at - SEAM_CHARS) : at], text[at : at + SEAM_CHARS]
    return _bare(before + after) == _bare(before) + _bare(after)


def _split(text: str) -> tuple[list[str], list[str]]:
    """The lines of a text: the times before them, and what stands behind."""
    lines = text.split("\n")
    ends = [found.end() if found else 0 for found in map(_STAMP.match, lines)]
    return [line[:end] for line, end in zip(lines, ends, strict=True)], [
        line[end:] for line, end in zip(lines, ends, strict=True)
    ]


def _bare(text: str) -> str:
    """The text masked, without the times before its lines."""
    return mask_text("\n".join(_split(text)[1]))


def _masked(text: str) -> str:
    """The text masked as if there were no times before its lines: a block of YAML has its indentation, a name begins its line."""
    stamps, lines = _split(text)
    plain = "\n".join(lines)
    bare = mask_text(plain)
    if len(plain) == len(text):
        return bare
    return text if bare == plain else _stamped(stamps, lines, bare.split("\n"))


def _stamped(stamps: list[str], lines: list[str], masked_lines: list[str]) -> str:
    """The masked lines with the times of those that they were; of lines that became one, the first one's."""
    if len(lines) != len(masked_lines):
        half = _half(lines) if len(lines) > _FEW_LINES else 0
        if half:
            whole = [stamp + line for stamp, line in zip(stamps, lines, strict=True)]
            return _masked("\n".join(whole[:half]) + "\n") + _masked("\n".join(whole[half:]))
        stamps = (_kept if len(lines) <= _FEW_LINES else _kept_outside)(stamps, lines, masked_lines)
    return "\n".join(stamp + line for stamp, line in zip(stamps, masked_lines, strict=True))


def _half(lines: list[str]) -> int:
    """A line near the middle before which the lines can be cut in two; 0 where there is none."""
    for step in range(_TRIES):
        at = len(lines) // 2 + (1 << step) - 1
        if at >= len(lines) - 1:
            break
        if _is_indented(lines[at], 0):
            continue
        before, after = "\n".join(lines[max(0, at - _FEW_LINES) : at]) + "\n", "\n".join(lines[at : at + _FEW_LINES])
        if _is_seam(before + after, len(before)):
            return at
    return 0


def _kept(stamps: list[str], plain: list[str], masked_lines: list[str]) -> list[str]:
    """For each masked line its stamp, where there are fewer lines than there were."""
    kept: list[str] = []
    for _, start, _, first, last in SequenceMatcher(None, plain, masked_lines, autojunk=False).get_opcodes():
        own = stamps[start : start + last - first]
        kept += own + [""] * (last - first - len(own))
    return kept


def _kept_outside(stamps: list[str], plain: list[str], masked_lines: list[str]) -> list[str]:
    """The same in linear time for many lines: those between the first and the last that were masked lose their times."""
    most, first, last = min(len(plain), len(masked_lines)), 0, 0
    while first < most and plain[first] == masked_lines[first]:
        first += 1
    while last < most - first and plain[-1 - last] == masked_lines[-1 - last]:
        last += 1
    return stamps[:first] + [""] * (len(masked_lines) - first - last) + stamps[len(stamps) - last :]
