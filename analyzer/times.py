"""Times as the cluster writes them. Everything is UTC; what cannot be read is None, never an error."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d))(?:\s|\Z)"
)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""What lies before it is Go's zero time or a broken one: no time at all."""
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""What lies after it cannot be reckoned with: a day later there are no dates."""

_DURATION = re.compile(r"(\d+)\s*(ms|s|m|h|d)", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse(text: object) -> datetime | None:
    """A time with a zone, as a UTC datetime; None where the text is no such time, or one that nothing can have happened at.

    Reads RFC 3339 (`2026-08-18T13:06:00.5Z`) and Go's time.String (`2026-08-18 13:06:00.5 +0200 CEST m=+1.2`).
    """
    if not isinstance(text, str):
        return None
    found = _RFC3339.match(text.strip() + " ")
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, zone_hours, zone_minutes = found.groups()
    micro = int((fraction or "0").ljust(6, "0")[:6])
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59), micro, tzinfo=UTC)
        if sign:
            offset = timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
            moment = moment - offset if sign == "+" else moment + offset
    except (ValueError, OverflowError):
        return None
    return moment if EARLIEST <= moment <= LATEST else None


def rfc3339(moment: datetime | None) -> str | None:
    """RFC 3339 UTC with `Z`; microseconds only where there are any."""
    if moment is None:
        return None
    text = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return text + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "") + "Z"


def duration(text: str) -> timedelta:
    """A duration such as `5m`, `1h30m`, `14d`.

    Raises:
        ValueError: the text is no such duration.
    """
    rest, seconds = text.strip(), 0.0
    if not rest:
        raise ValueError("an empty duration")
    while rest:
        found = _DURATION.match(rest)
        if not found:
            raise ValueError(f"not a duration: {text!r}")
        seconds += int(found[1]) * _UNITS[found[2]]
        rest = rest[found.end() :].lstrip()
    return timedelta(seconds=seconds)


def age(seconds: float | None) -> str:
    """An age in words: `45 s`, `12 min`, `5 h 18 min`, `3 d 4 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 120:
        return f"{minutes} min"
    if hours < 48:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"


def between(moment: datetime | None, as_of: datetime | None) -> str:
    """How long before the end of the collection: `5 min`; empty where one of the two is unknown."""
    if moment is None or as_of is None:
        return ""
    return age(max(0.0, (as_of - moment).total_seconds()))
