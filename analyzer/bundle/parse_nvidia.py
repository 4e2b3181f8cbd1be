"""A report of `nvidia-bug-report.sh`: a log whose first lines say when, and by which clock, it was written.

It holds the serial numbers of machine, board and GPUs (dmidecode, nvidia-smi) and the hardware addresses of network cards, which
nothing here needs: they are masked before anything is kept of it. The host's name stays, since it says which node this is.
"""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, cast

from analyzer import times
from analyzer.bundle import logs
from analyzer.bundle.errors import CutEntry
from analyzer.bundle.host_clock import MONTHS, HostClock
from analyzer.bundle.job import Job
from analyzer.bundle.limits import KIB
from analyzer.bundle.parse_logs import read_log
from analyzer.bundle.sniff import Rejoined, head_of

HEAD_BYTES = 64 * KIB
"""How far the line with the date is looked for."""

# `date` in the C locale: Tue Jul 23 07:55:31 UTC 2024; in English ones: Tue 23 Jul 2024 07:55:31 AM UTC.
_TIME = rb"(?P<time>\d\d:\d\d:\d\d)"
_ZONE = rb"(?P<zone>[A-Z][A-Za-z]{1,5}|[+-]\d\d(?:\d\d)?)"
_DATES = (
    re.compile(rb"^Date:\s+\w{3} (?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) %b %b (?P<year>\d{4})\s*$" % (_TIME, _ZONE)),
    re.compile(
        rb"^Date:\s+\w{3} (?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2}) (?P<year>\d{4}) %b(?: (?P<half>AM|PM))? %b\s*$"
        % (_TIME, _ZONE)
    ),
)
_UTC = ("UTC", "GMT")
# The report prints how each file is listed, with the host's zone in numbers; those below /proc are as old as the listing.
_LISTED = re.compile(
    rb"^\*\*\* ls: \S+ +\d+ \S+ +\S+ +\d+ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{1,9})? ([+-]\d{4}) /proc/", re.MULTILINE
)
_NEAR = timedelta(minutes=30)
"""How far the listing's time may be from the date: with more between them it is another zone's, or no listing of this run."""
_FARTHEST = timedelta(hours=14)

_NUMBER = re.compile(
    # The machine's own UUID, as dmidecode prints it; those of GPUs stay.
    rb"((?:[Ss]erial [Nn]umber[ \t]{0,60}:?|(?:Asset Tag|Service Tag|\tUUID)[ \t]{0,60}:)[ \t]{0,60})[^\s:][^\n]*"
)
_HARDWARE_ADDRESS = re.compile(rb"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:])")
_MASK = b"[masked]"


def masked(text: bytes) -> bytes:
    """Lines without the numbers of machines and cards; there are as many lines as before."""
    return _HARDWARE_ADDRESS.sub(_MASK, _NUMBER.sub(rb"\1" + _MASK, text))


class _Masked(io.RawIOBase):
    """A stream of lines, masked; what it gives at once ends with a line, so it may be more or less than was asked for."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._rest = b""
        self._cut: CutEntry | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        """The next lines, masked; a line longer than a chunk comes in parts."""
        if self._cut:
            raise self._cut
        end = 0
        while not end:
            try:
                chunk = self._stream.read(-1 if size is None else size)
            except CutEntry as error:
                chunk, self._cut = b"", error
            self._rest += chunk
            end = len(self._rest) if not chunk or len(self._rest) >= 2 * logs.CHUNK_BYTES else self._rest.rfind(b"\n") + 1
            if not end and not chunk:
                break
        text, self._rest = self._rest[:end], self._rest[end:]
        if not text and self._cut:
            raise self._cut
        return masked(text)


def written_at(head: bytes) -> tuple[HostClock, int] | None:
    """When a report was written, and the line that says so; None where no line does, or nothing tells its zone."""
    for number, line in enumerate(head.split(b"\n"), 1):
        if line.startswith(b"Date:"):
            found = next((match for pattern in _DATES if (match := pattern.match(line))), None)
            clock = _clock({name: (value or b"").decode() for name, value in found.groupdict().items()}, head) if found else None
            return (clock, number) if clock else None
    return None


def _clock(part: dict[str, str], head: bytes) -> HostClock | None:
    local = _local(part)
    zone = part["zone"]
    if local is None:
        return None
    if zone in _UTC:
        offset: timedelta | None = timedelta()
    elif zone[0] in "+-":
        offset = _offset(zone.ljust(5, "0"))
    else:
        # The letters of a zone are those of several; the numbers that stand beside the files are not.
        offset = next((_offset(found[2].decode()) for found in _LISTED.finditer(head) if _near(found[1].decode(), local)), None)
    return HostClock(local - offset, offset) if offset is not None else None


def _local(part: dict[str, str]) -> datetime | None:
    hour, minute, second = (int(value) for value in part["time"].split(":"))
    if part.get("half"):
        hour = hour % 12 + (12 if part["half"] == "PM" else 0)
    if part["month"] not in MONTHS or not times.EARLIEST.year < int(part["year"]) < times.LATEST.year:
        return None
    try:
        return datetime(int(part["year"]), MONTHS.index(part["month"]) + 1, int(part["day"]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _offset(text: str) -> timedelta | None:
    """What `+0530` means; None for what is no zone of the world."""
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))
    return None if ahead > _FARTHEST else -ahead if text[0] == "-" else ahead


def _near(listed: str, local: datetime) -> bool:
    try:
        at = datetime.strptime(listed, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return False
    return abs(at - local) <= _NEAR


def read_report(job: Job, stream: BinaryIO) -> None:
    """Read a report as a log; where it is all that the input holds, its date is the time of the collection."""
    head = head_of(stream, HEAD_BYTES)
    told = written_at(head)
    if told and job.task.assignment.name:
        job.result.at, job.result.at_line = times.rfc3339(told[0].end), told[1]
    read_log(job, cast("BinaryIO", _Masked(Rejoined(head, stream).binary())), told[0] if told else None)
