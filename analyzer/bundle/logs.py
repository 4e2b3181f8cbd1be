"""Logs: counted and dated as they stream by, with their last lines kept.

A log is never held in memory whole. Of each one stay its size, its lines, its first and last time and its tail
(limits `TAIL_LINES`, `TAIL_BYTES`), secrets masked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from analyzer import times
from analyzer.bundle.host_clock import HostClock
from analyzer.bundle.limits import KIB, MIB, TAIL_BYTES, TAIL_LINES
from analyzer.bundle.text import clean, clean_text
from analyzer.redact import mask_text

CHUNK_BYTES = MIB
"""A log is read in pieces of this size."""

WINDOW_BYTES = 64 * KIB
"""The end of a log that is looked at for its tail and its last time."""

SHOWN_LINE_BYTES = 2 * KIB
"""One line of a stored tail; the rest of a longer one is left out."""

DATED_LINES = 200
"""Lines at each end of a log that are searched for a time."""

_RFC3339 = re.compile(
    rb"\s*(?:\[pod/[^\]\s]{1,600}\]\s)?"
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\s?(?:Z|[+-]\d\d:?\d\d))(?:\s|\Z|[\"'\]])"
)
# Structured lines (zap, logrus, slog): the key says that it is the time of the line.
_KEYED = re.compile(
    rb"(?:\A|[\"{\s])(?:ts|time|timestamp|@timestamp)\"?\s?[:=]\s?\"?"
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)|\d{10}(?:\.\d+)?)"
)
_KEYED_WITHIN = 512
_BEGIN, _END = b"-----BEGIN", b"-----END"


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What is kept of a log. Lines count from 1 in the log itself; times are RFC 3339 UTC or None."""

    bytes: int
    lines: int
    first_at: str | None
    last_at: str | None
    tail: str
    tail_line: int


class LogCounter:
    """Takes a log piece by piece (`feed`) and tells what is kept of it (`summary`). `clock` is its host's, where one is known."""

    def __init__(self, clock: HostClock | None = None) -> None:
        self._clock = clock
        self._bytes = 0
        self._newlines = 0
        self._head = b""
        self._window = b""

    def feed(self, chunk: bytes) -> int:
        """The next bytes of the log; gives how many line feeds are in them."""
        self._bytes += len(chunk)
        newlines = chunk.count(b"\n")
        self._newlines += newlines
        if len(self._head) < WINDOW_BYTES:
            self._head += chunk[: WINDOW_BYTES - len(self._head)]
        if len(chunk) >= WINDOW_BYTES:
            self._window = chunk[-WINDOW_BYTES:]
        else:
            self._window = (self._window + chunk)[-WINDOW_BYTES:]
        return newlines

    def summary(self) -> LogSummary:
        """What is kept, once all was fed."""
        lines = self._newlines + (1 if self._window and not self._window.endswith(b"\n") else 0)
        head = self._head.split(b"\n")[:DATED_LINES]
        last = self._window.split(b"\n")[-DATED_LINES:]
        tail, count = self._tail()
        return LogSummary(
            bytes=self._bytes,
            lines=lines,
            first_at=times.rfc3339(next((at for line in head if (at := time_of(line, self._clock))), None)),
            last_at=times.rfc3339(next((at for line in reversed(last) if (at := time_of(line, self._clock))), None)),
            tail=tail,
            tail_line=max(1, lines - count + 1),
        )

    def _tail(self) -> tuple[str, int]:
        """The stored tail and how many lines it has."""
        window = self._window
        if self._bytes > len(window):
            # The window starts in the middle of a line, maybe of a secret: that piece is not shown.
            cut = window.find(b"\n")
            window = window[cut + 1 :] if 0 <= cut < len(window) - 1 else b"(a line of more than 64 KiB)"
        lines = window.removesuffix(b"\n").split(b"\n")
        start = max(0, len(lines) - TAIL_LINES)
        used = sum(min(len(line), SHOWN_LINE_BYTES) + 1 for line in lines[start:])
        while used > TAIL_BYTES and start < len(lines) - 1:
            used -= min(len(lines[start]), SHOWN_LINE_BYTES) + 1
            start += 1
        return _masked(lines, start)


def _masked(lines: list[bytes], start: int) -> tuple[str, int]:
    """The lines from `start` on, masked, and how many they were; a key block that began earlier is masked from there."""
    first = start
    before = b"\n".join(lines[:start])
    opened = before.rfind(_BEGIN)
    if opened > before.rfind(_END):
        first = before.count(b"\n", 0, opened)
    text = mask_text(clean(b"\n".join(lines[first:])))
    kept = text.split("\n")[-(len(lines) - start) :] if first < start else text.split("\n")
    shown = [short_line(line) for line in kept][-TAIL_LINES:]
    count = len(lines) - start
    while len(shown) > 1 and sum(len(line.encode()) + 1 for line in shown) > TAIL_BYTES:
        shown.pop(0)
        count -= 1
    return "\n".join(shown), count


def short_line(line: str) -> str:
    """One line as it is kept: cut to `SHOWN_LINE_BYTES`."""
    data = line.encode("utf-8", "replace")
    return line if len(data) <= SHOWN_LINE_BYTES else clean_text(data[: SHOWN_LINE_BYTES - 3].decode("utf-8", "ignore")) + "…"


def time_of(line: bytes, clock: HostClock | None = None) -> datetime | None:
    """The time of a log line, where it has one with a zone, or one of the host whose clock is given.

    Read are the RFC 3339 stamp that the container runtime and `kubectl logs --timestamps` put before the line (with
    `--prefix` behind the name of the pod), and the time field of structured lines (seconds since 1970 are UTC). klog's
    `I0102 15:04:05` has no year and no zone and is left alone.
    """
    found = _RFC3339.match(line)
    if found:
        return times.parse(found[1].decode("ascii").replace(" +", "+").replace(" -", "-").replace(" Z", "Z"))
    if clock and (at := clock.time_of(line)):
        return at
    if b"time" not in line[:_KEYED_WITHIN] and b"ts" not in line[:_KEYED_WITHIN]:
        return None
    found = _KEYED.search(line[:_KEYED_WITHIN])
    if not found:
        return None
    text = found[1].decode("ascii")
    if text[4] == "-":
        return times.parse(text)
    return datetime.fromtimestamp(float(text), UTC)
