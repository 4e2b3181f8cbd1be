"""When each input was collected, and the moment that ages are measured at.

The first that exists counts: the format's own end time; the newest time that the cluster itself wrote down; nothing.
What a cluster writes down for other reasons (creationTimestamp, managedFields, certificates, spec) is never used: it
says nothing about the moment of the collection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import duckdb

from analyzer.facts import sql

SKEW = timedelta(hours=1)
"""A time later than every Lease and heartbeat by more than this is a wrong clock or a wrong date."""

NAME_WINDOW = timedelta(days=1)
"""How far the time in a name without a zone may be from the truth: zones go from -12 h to +14 h, and collecting takes time."""

ZONE_STEP = timedelta(minutes=15)
"""All zones are whole quarter hours from UTC."""

_NAME = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)[T_-]?(\d\d)[_:-]?(\d\d)(?:[_:-]?(\d\d))?(?!\d)")

_LEASE = "['$.spec.renewTime']"
_EVENT = (
    "['$.lastTimestamp', '$.eventTime', '$.series.lastObservedTime', '$.firstTimestamp', "
    "'$.deprecatedLastTimestamp', '$.deprecatedFirstTimestamp']"
)
# Times of conditions and of container states. Found in the text of the status in one go: a dozen JSON paths a Pod take
# ten times as long. A quoted text inside a message has backslashes before its quotes and does not match.
_POD = (
    "regexp_extract_all(json_extract(json, '$.status')::VARCHAR, "
    """'"(?:lastTransitionTime|lastProbeTime|startedAt|finishedAt)"\\s*:\\s*"([^"\\\\]*)"', 1)"""
)

_SOURCES = {
    "lease": "the newest renewal of a Lease",
    "heartbeat": "the newest heartbeat of a Node",
    "event": "the newest Event",
    "pod": "the newest condition or container state of a Pod",
    "log": "the newest line of a log",
}


@dataclass(frozen=True, slots=True)
class Clock:
    """When an input was collected (naive UTC) and where that stands, in words."""

    at: datetime | None
    source: str | None


def derive(con: duckdb.DuckDBPyConnection, as_of: datetime | None = None) -> None:
    """Fills `collected_at`, `collected_source` and `as_of` of every input.

    Args:
        con: the database, loaded.
        as_of: what ages are to be measured at instead of the collection time, aware or naive UTC.
    """
    inputs = con.execute("SELECT input, path, format_at, format_source FROM inputs ORDER BY input").fetchall()
    observed = any(format_at is None for _, _, format_at, _ in inputs)
    if observed:
        _collect_all(con)
    roots = con.execute("SELECT input, root FROM files WHERE root <> '' GROUP BY input, root ORDER BY length(root)").fetchall()
    for number, path, format_at, format_source in inputs:
        if format_at is not None:
            clock = Clock(format_at, format_source or "the format's own record")
        else:
            clock = _observed(con, number, _name_time([path, *(root for owner, root in roots if owner == number)]))
        con.execute("UPDATE inputs SET collected_at = ?, collected_source = ? WHERE input = ?", [clock.at, clock.source, number])
    if observed:
        con.execute("DROP TABLE clock_times")
    measure(con, as_of)


def measure(con: duckdb.DuckDBPyConnection, as_of: datetime | None = None) -> None:
    """Fills `as_of` of every input: the time given, aware or naive UTC, else the input's `collected_at`."""
    if as_of is not None and as_of.tzinfo is not None:
        as_of = as_of.astimezone(UTC).replace(tzinfo=None)
    con.execute("UPDATE inputs SET as_of = coalesce(?::TIMESTAMP, collected_at)", [as_of])


def _observed(con: duckdb.DuckDBPyConnection, number: int, name_at: datetime | None) -> Clock:
    """The end of a collection from the times that the cluster wrote down, and the time in the input's name.

    A name alone says nothing, because its zone is unknown. It bounds the times; and where no Lease tells the time to
    within seconds, the name, moved to the zone that agrees with the newest time, may be the later of the two.
    """
    beat = con.execute(
        "SELECT max(seen_at) FROM clock_times WHERE input = ? AND kind IN ('lease', 'heartbeat')", [number]
    ).fetchall()[0][0]
    if name_at is not None and beat is not None and abs(beat - name_at) > NAME_WINDOW:
        name_at = None
    latest = beat + SKEW if beat is not None else None
    found = None
    if name_at is not None:
        found = _newest(con, number, min(name_at + NAME_WINDOW, latest or datetime.max))  # noqa: DTZ901 - naive UTC
    found = found or _newest(con, number, latest)
    if found is None:
        return Clock(None, None)
    newest, kind = found
    if name_at is not None and kind != "lease" and abs(name_at - newest) <= NAME_WINDOW:
        moved = name_at + round((newest - name_at) / ZONE_STEP) * ZONE_STEP
        if moved > newest:
            return Clock(moved, f"the time in its name, in the zone that agrees with {_SOURCES[kind]}")
    return Clock(newest, _SOURCES[kind])


def _newest(con: duckdb.DuckDBPyConnection, number: int, latest: datetime | None) -> tuple[datetime, str] | None:
    """The newest time of an input that is not later than `latest`, and what kind of time it is."""
    row = con.execute(
        "SELECT seen_at, kind FROM clock_times WHERE input = $1 AND ($2::TIMESTAMP IS NULL OR seen_at <= $2) "
        "ORDER BY seen_at DESC, kind DESC LIMIT 1",
        [number, latest],
    ).fetchone()
    return (row[0], row[1]) if row else None


def _name_time(names: list[str]) -> datetime | None:
    """The first time without a zone in these names, looking only at the last part of each."""
    for name in names:
        found = _NAME.search(name.rstrip("/").rsplit("/", 1)[-1])
        if found:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            try:
                return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - its zone is not known
            except ValueError:
                continue
    return None


def _collect_all(con: duckdb.DuckDBPyConnection) -> None:
    """Puts every time that counts into the temporary table `clock_times`."""
    con.execute("CREATE OR REPLACE TEMP TABLE clock_times (input INTEGER, kind VARCHAR, seen_at TIMESTAMP)")
    _collect(con, "lease", "api_group = 'coordination.k8s.io' AND kind = 'Lease'", f"json_extract_string(json, {_LEASE})")
    beats = "json_extract_string(json, '$.status.conditions[*].lastHeartbeatTime')"
    _collect(con, "heartbeat", "api_group = '' AND kind = 'Node'", beats)
    _collect(con, "event", "api_group IN ('', 'events.k8s.io') AND kind = 'Event'", f"json_extract_string(json, {_EVENT})")
    _collect(con, "pod", "api_group = '' AND kind = 'Pod'", _POD)
    con.execute(
        "INSERT INTO clock_times SELECT * FROM ("
        "SELECT f.input, 'log', unnest([l.first_at, l.last_at]) AS seen_at FROM logs l JOIN files f USING (file_id)"
        ") WHERE seen_at IS NOT NULL"
    )


def _collect(con: duckdb.DuckDBPyConnection, kind: str, which: str, texts: str) -> None:
    """Keeps the times in `texts` (an SQL list of VARCHAR) of the objects that `which` chooses."""
    con.execute(
        f"""
        INSERT INTO clock_times
        SELECT * FROM (
            SELECT input, '{kind}', {sql.moment("text")} AS seen_at
            FROM (SELECT DISTINCT input, unnest({texts}) AS text FROM objects WHERE {which})
            WHERE text IS NOT NULL
        ) WHERE seen_at IS NOT NULL
        """  # noqa: S608 - SQL of our own, no value of a bundle
    )
