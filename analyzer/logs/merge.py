"""Several logs as one, by the times of their lines."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from analyzer import times
from analyzer.bundle.logs import time_of

_HEAD_BYTES = 512
"""How much of a line is looked at for its time."""

_ISO = re.compile(
    rb"[\s\[(\"']{0,4}(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,:](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?(?![\d:])"
)
_KLOG = re.compile(rb"[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s")
_PYTHON = re.compile(rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d)-(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s")
"""vLLM's log lines: level, month and day, time."""


class Clock:
    """Tells the time of a line as bytes that sort by time: `YYYY-mm-ddTHH:MM:SS.fraction` in UTC.

    Args:
        collected: the end of the collection, for times without a year.
    """

    def __init__(self, collected: datetime | None) -> None:
        self._year = collected.year if collected else None
        self._month = collected.month if collected else 12

    def of(self, line: bytes) -> bytes | None:
        """The time of a line; None where it has none. A time without zone is taken for UTC, which is what containers have."""
        found = _ISO.match(line)
        if found:
            year, month, day, clock, fraction, zone = found.groups()
            if zone in (None, b"Z"):
                return b"%b-%b-%bT%b.%b" % (year, month, day, clock, fraction or b"")
            moment = times.parse((b"%b-%b-%bT%b%b" % (year, month, day, clock, zone)).decode("ascii"))
            return sortable(moment, fraction or b"") if moment else None
        short = _KLOG.match(line) or _PYTHON.match(line)
        if short and self._year is not None:
            month, day, clock, fraction = short.groups()
            # What is later in the year than the collection was written in the year before.
            year = self._year - (int(month) > self._month)
            return b"%04d-%b-%bT%b.%b" % (year, month, day, clock, fraction or b"")
        moment = time_of(line[:_HEAD_BYTES]) if line[:1] in b"{tl" or b"=" in line[:80] else None
        return sortable(moment) if moment else None


def sortable(moment: datetime, fraction: bytes | None = None) -> bytes:
    """A moment as `Clock.of` gives it."""
    digits = b"%06d" % moment.microsecond if fraction is None else fraction
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode("ascii") + digits


def merged(logs: Sequence[Iterable[bytes]], firsts: Sequence[bytes], clock: Clock) -> Iterator[tuple[int, bytes]]:
    """The lines of several logs by time, those of one log in its own order.

    A line without a time stays behind the line before it, and one that is given in pieces stays together.

    Args:
        logs: for each log its lines with their line feeds, or pieces of a line without.
        firsts: for each log the time that its lines before the first timed one count as.
        clock: tells the times.

    Yields:
        Number of the log, and the line (or piece).
    """
    readers = [iter(log) for log in logs]
    heap: list[tuple[bytes, int, bytes]] = []
    for number, reader in enumerate(readers):
        line = next(reader, None)
        if line is not None:
            heap.append((clock.of(line) or firsts[number], number, line))
    heapq.heapify(heap)
    while heap:
        _, number, line = heapq.heappop(heap)
        yield number, line
        for following in readers[number]:
            at = clock.of(following) if line.endswith(b"\n") else None
            line = following
            if at is not None and heap and (at, number) > heap[0][:2]:
                heapq.heappush(heap, (at, number, line))
                break
            yield number, line
