"""Hits as they are kept: masked, cleaned and cut, with what stands around them.

Only what is kept is masked, so that a log is read at the speed of the search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer import times
from analyzer.bundle.host_clock import HostClock
from analyzer.bundle.logs import short_line, time_of
from analyzer.bundle.signatures.model import CONTEXT_LINES
from analyzer.bundle.text import clean
from analyzer.redact import mask_text, placeholder

# A line of a key: base64 after nothing, or after a time and other words that stand before every line of a log.
_KEY_LINE = re.compile(r"(?P<front>(?:.{0,200}[\s\]|:])?)(?P<key>[A-Za-z0-9+/=_-]{16,})\s*\Z")
_KEY_REST = re.compile(r"(?P<front>(?:.{0,200}\s)?)(?P<key>[A-Za-z0-9+/=]{1,80})\s*\Z")
_KEY_BEGIN, _KEY_END, _KEY_MARK = "-----BEGIN", "-----END", "PRIVATE KEY"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The bytes of a line and of the lines around it. `in_key` tells that a private key is open where they begin."""

    before: tuple[bytes, ...]
    line: bytes
    after: tuple[bytes, ...]
    in_key: bool


@dataclass(frozen=True, slots=True)
class RawHit:
    """A hit before masking. `fields` are what the named groups matched; `window` is what stands around the match.

    The window is empty where the kept part of the line shows the match.
    """

    line: int
    around: Surroundings
    fields: tuple[tuple[str, bytes], ...]
    window: bytes


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of a signature: the line (of the file, from 1) with what stands around it. `at` is RFC 3339 UTC or None."""

    signature: str
    line: int
    at: str | None
    text: str
    before: str
    after: str
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Count:
    """How many lines of a log a signature hit, how many of them are kept, and where the first and the last one is."""

    signature: str
    hits: int
    kept: int
    first_line: int
    last_line: int


def masked(signature: str, raw: RawHit, clock: HostClock | None = None) -> Hit:
    """The hit as it is kept; `clock` is that of the log's host, where one is known."""
    around = raw.around
    lines = [clean(line) for line in (*around.before, around.line, *around.after)]
    shown = _masked_lines(_without_key(lines, is_open=around.in_key))
    at = len(around.before)
    hit = shown[at]
    seen = mask_text(clean(raw.window)) if raw.window else hit
    return Hit(
        signature,
        raw.line,
        times.rfc3339(time_of(around.line, clock)),
        short_line(hit),
        "\n".join(short_line(line) for line in shown[max(0, at - CONTEXT_LINES) : at]),
        "\n".join(short_line(line) for line in shown[at + 1 :]),
        {name: _field(value, seen) for name, value in raw.fields},
    )


def _without_key(lines: list[str], *, is_open: bool) -> list[str]:
    """The lines with those masked that belong to a private key; `is_open` tells that one is open where they begin."""
    kept: list[str] = []
    words = 1
    for line in lines:
        begin, end = line.rfind(_KEY_BEGIN), line.rfind(_KEY_END)
        if is_open and end >= 0:
            kept.append(placeholder("private-key", line))
            is_open = begin > end
        elif is_open:
            found = _KEY_LINE.match(line)
            if found:
                words = len(line.split())
            elif len(line.split()) == words:
                # Its last line may be short, but has as much in front as the others.
                found = _KEY_REST.match(line)
            kept.append(found["front"] + placeholder("private-key", found["key"]) if found else line)
        elif begin > end and _KEY_MARK in line[begin:]:
            kept.append(line[:begin] + placeholder("private-key", line[begin:]))
            is_open = True
        else:
            # A key that begins and ends here has signs of its own.
            kept.append(line)
    return kept


def _masked_lines(lines: list[str]) -> list[str]:
    """Each line masked, also where a secret goes over several lines."""
    text = "\n".join(lines)
    whole = mask_text(text)
    if whole == text:
        return lines
    told = whole.split("\n")
    if len(told) == len(lines):
        return told
    # A secret of several lines became one placeholder: a line that is not left as it is alone was part of it.
    left = set(told)
    alone = [mask_text(line) for line in lines]
    return [own if own in left else placeholder("secret", line) for own, line in zip(alone, lines, strict=True)]


def _field(value: bytes, line: str) -> str:
    """A field as far as the masked line shows it."""
    text = clean(value)
    for shown in (text, mask_text(text)):
        if shown in line:
            return short_line(shown)
    return placeholder("secret", text)
