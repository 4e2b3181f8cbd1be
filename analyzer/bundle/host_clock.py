"""The clock of a host: what its local times mean where a document says when, and in which zone, it was written.

Lines of syslog and journal have no zone, and mostly no year. Alone they cannot be dated. A report that a tool wrote on the same
host says both, and what it holds is older than it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from analyzer import times

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SLACK = timedelta(days=1)
"""How much later than the document a line may be: a log that is still written to, a clock that was set back."""

_MONTH = rb"(?P<month>%s)" % "|".join(MONTHS).encode()
_TIME = rb"(?P<time>\d\d:\d\d:\d\d)(?:\.\d{1,9})?"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        # syslog and journalctl: Nov 20 08:14:03 HOST PROGRAM:
        rb"(?:<\d{1,3}>)?%s (?P<day>[ \d]\d) %s \S" % (_MONTH, _TIME),
        # dmesg -T: [Fri Nov 20 08:14:03 2026]
        rb"(?:<\d{1,3}>|[a-z]{2,8} *:[a-z]{3,8} *: )?\[\w{3} %s (?P<day>[ \d]\d) %s (?P<year>\d{4})\]" % (_MONTH, _TIME),
        # Fabric manager: [Nov 20 2026 08:14:03]
        rb"\[%s (?P<day>[ \d]\d) (?P<year>\d{4}) %s\]" % (_MONTH, _TIME),
    )
)


@dataclass(frozen=True, slots=True)
class HostClock:
    """When a document was written (`end`, UTC) and how far its host's local time is ahead of UTC."""

    end: datetime
    offset: timedelta

    def time_of(self, line: bytes) -> datetime | None:
        """The time of a line that begins with a local time; None for other lines.

        A time without a year is in the year before the document was written.
        """
        found = next((match for form in _FORMS if (match := form.match(line))), None)
        if found is None:
            return None
        part = found.groupdict()
        month = MONTHS.index(found["month"].decode()) + 1
        for year in [int(part["year"])] if part.get("year") else [self.end.year, self.end.year - 1]:
            at = self._utc(year, month, int(found["day"]), found["time"].decode())
            if at is not None and (part.get("year") or at <= self.end + SLACK):
                return at
        return None

    def _utc(self, year: int, month: int, day: int, clock: str) -> datetime | None:
        hour, minute, second = (int(number) for number in clock.split(":"))
        try:
            at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC) - self.offset
        except (ValueError, OverflowError):
            return None
        return at if times.EARLIEST <= at <= times.LATEST else None
