"""Times of a bundle: read alike in Python and in SQL, and none that cannot be reckoned with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from analyzer import times
from analyzer.facts import sql
from analyzer.render.timeline import _ticks, _window

from .build import database

HOUR = timedelta(hours=1)


def in_sql(text: str) -> datetime | None:
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    (found,) = con.execute(f"SELECT {sql.moment('t')} FROM (SELECT ? AS t)", [text]).fetchall()[0]
    return None if found is None else found.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", "infinity", "epoch", "2026-13-45T99:99:99Z", "2026-11-01",
    ],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    assert (times.parse(text), in_sql(text)) == (None, None)


@pytest.mark.parametrize("text", ["1970-01-01T00:00:00Z", "2026-11-01T14:00:00+02:00", "9999-12-29T23:59:59Z"])
def test_what_is_a_time(text: str) -> None:
    assert times.parse(text) == in_sql(text) is not None


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59", "0001-01-01T00:05:00", "2026-11-01T12:07:00"])
def test_a_timeline_at_the_end_of_time(end: str) -> None:
    at = datetime.fromisoformat(end).replace(tzinfo=UTC)
    start, tick = _window([], at)
    ticks = _ticks(start, at, tick)
    assert start <= at <= start + HOUR
    assert all(start < one < at and one.minute % 10 == 0 for one in ticks)
    assert len(ticks) in (0, 5, 6)


def test_an_owner_without_a_name_is_none() -> None:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "", "uid": "u"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "ownerReferences": [reference]}}
    assert database([pod]).execute("SELECT * FROM owners").fetchall() == []
