"""When a bundle was collected: the rules of the contract, one by one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.facts import clock


def _utc(day: int, hour: int, minute: int = 0, second: int = 0, micro: int = 0) -> datetime:
    """A moment of May 2026 as the tables hold it."""
    return datetime(2026, 5, day, hour, minute, second, micro, tzinfo=UTC).replace(tzinfo=None)


def _clock(con: Any, as_of: datetime | None = None) -> list[tuple[Any, ...]]:
    clock.derive(con, as_of)
    return con.execute("SELECT collected_at, collected_source, as_of FROM inputs ORDER BY input").fetchall()  # type: ignore[no-any-return]


def _lease(renewed: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"renewTime": renewed}, **more}


def _node(heartbeat: str) -> dict[str, Any]:
    return {"kind": "Node", "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": heartbeat}]}}


def _event(**times: Any) -> dict[str, Any]:
    return {"kind": "Event", **times}


def _pod(**status: Any) -> dict[str, Any]:
    return {"kind": "Pod", "status": status}


def test_the_formats_own_time_wins_over_everything(make: Any) -> None:
    con = make([_lease("2026-05-04T11:00:00Z")], inputs=[{"format_at": _utc(4, 10), "format_source": "its stamp"}])
    assert _clock(con) == [(_utc(4, 10), "its stamp", _utc(4, 10))]


@pytest.mark.parametrize(
    ("objects", "source"),
    [
        ([_lease("2026-05-04T10:00:00.5Z"), _node("2026-05-04T09:59:00Z")], "Lease"),
        ([_node("2026-05-04T10:00:00.5Z"), _event(lastTimestamp="2026-05-04T09:00:00Z")], "heartbeat"),
        ([_event(lastTimestamp="2026-05-04T10:00:00.5Z")], "Event"),
        ([_event(eventTime="2026-05-04T10:00:00.5Z")], "Event"),
        ([_event(eventTime="2026-05-04T08:00:00Z", series={"lastObservedTime": "2026-05-04T12:00:00.5+02:00"})], "Event"),
        ([_pod(conditions=[{"type": "Ready", "lastTransitionTime": "2026-05-04T10:00:00.5Z"}])], "Pod"),
        ([_pod(containerStatuses=[{"state": {"running": {"startedAt": "2026-05-04T10:00:00.5Z"}}}])], "Pod"),
        ([_pod(initContainerStatuses=[{"lastState": {"terminated": {"finishedAt": "2026-05-04T10:00:00.5Z"}}}])], "Pod"),
    ],
)
def test_the_newest_time_that_the_cluster_wrote_down(make: Any, objects: list[dict[str, Any]], source: str) -> None:
    [(at, words, as_of)] = _clock(make(objects))
    assert at == as_of == _utc(4, 10, 0, 0, 500_000)
    assert source in words


def test_a_log_line_counts(make: Any) -> None:
    con = make(logs=[{"first_at": _utc(4, 9), "last_at": _utc(4, 10)}])
    assert _clock(con)[0][:2] == (_utc(4, 10), "the newest line of a log")


def test_what_is_far_later_than_the_beats_is_left_out(make: Any) -> None:
    con = make(
        [
            _lease("2026-05-04T10:00:00Z"),
            _event(lastTimestamp="2026-05-04T11:00:01Z"),
            _pod(conditions=[{"type": "Ready", "lastTransitionTime": "2026-05-04T10:59:59Z"}]),
        ]
    )
    assert _clock(con)[0][0] == _utc(4, 10, 59, 59)


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "Pod", "metadata": {"creationTimestamp": "2026-05-04T10:00:00Z"}, "status": {}},
        {"kind": "Pod", "spec": {"activeUntil": "2026-05-04T10:00:00Z"}, "status": {"startTime": "2026-05-04T10:00:00Z"}},
        {"kind": "ConfigMap", "data": {"conditions": "2026-05-04T10:00:00Z"}},
        _event(lastTimestamp=None, eventTime="never", metadata={"creationTimestamp": "2026-05-04T10:00:00Z"}),
        _event(lastTimestamp="infinity"),
        _pod(message='the last was {"startedAt":"2026-05-04T10:00:00Z"}'),
        _event(lastTimestamp="2026-05-04T10:00:00"),
        _event(lastTimestamp="2026-55-04T10:00:00Z"),
        _event(lastTimestamp={"a": 1}),
        {
            "apiVersion": "longhorn.io/v1",
            "kind": "Node",
            "status": {"conditions": [{"lastHeartbeatTime": "2026-05-04T10:00:00Z"}]},
        },
    ],
)
def test_other_times_say_nothing(make: Any, odd: dict[str, Any]) -> None:
    assert _clock(make([odd])) == [(None, None, None)]


def test_a_name_alone_says_nothing(make: Any) -> None:
    assert _clock(make(inputs=[{"path": "/x/support-bundle-2026-05-04T10_00_00.tar.gz"}])) == [(None, None, None)]


def test_a_name_moved_by_quarter_hours_is_the_later_of_two_that_agree(make: Any) -> None:
    con = make([_node("2026-05-04T10:03:00Z")], files=[{"root": "support-bundle-2026-05-04T15_35_10"}])
    [(at, source, _)] = _clock(con)
    assert at == _utc(4, 10, 5, 10)
    assert "name" in source


def test_a_name_that_is_earlier_leaves_the_clusters_time(make: Any) -> None:
    con = make([_lease("2026-05-04T19:06:18Z")], inputs=[{"path": "support-bundle-2026-05-04T14_05_31.tar.gz"}])
    assert _clock(con)[0][:2] == (_utc(4, 19, 6, 18), "the newest renewal of a Lease")


def test_a_name_keeps_wrong_dates_out_where_nothing_beats(make: Any) -> None:
    con = make(
        [_event(lastTimestamp="2031-01-01T00:00:00Z"), _event(lastTimestamp="2026-05-04T10:00:00Z")],
        inputs=[{"path": "dump-20260504-100100"}],
    )
    assert _clock(con)[0][0] == _utc(4, 10, 1)


def test_a_name_of_another_day_than_the_beats_is_no_time(make: Any) -> None:
    con = make([_lease("2026-05-04T10:00:00Z")], inputs=[{"path": "export-2024-01-01T00_00_00"}])
    assert _clock(con)[0][0] == _utc(4, 10)


def test_a_name_that_fits_no_time_at_all_is_left_out(make: Any) -> None:
    con = make([_event(lastTimestamp="2026-05-04T10:00:00Z")], inputs=[{"path": "case-20240101-1200"}])
    assert _clock(con)[0][0] == _utc(4, 10)


def test_a_lease_is_exact_enough_without_the_name(make: Any) -> None:
    con = make([_lease("2026-05-04T10:03:00Z")], inputs=[{"path": "support-bundle-2026-05-04T10_05_00"}])
    assert _clock(con)[0][0] == _utc(4, 10, 3)


def test_each_input_has_its_own_clock_and_as_of_overrides_both(make: Any) -> None:
    objects = [_lease("2026-05-04T10:00:00Z"), _lease("2026-05-05T10:00:00Z", _file=1)]
    con = make(objects, files=[{}, {"input": 1}], inputs=[{}, {}])
    given = datetime(2026, 5, 6, 12, tzinfo=UTC)
    rows = _clock(con, given)
    assert [row[0] for row in rows] == [_utc(4, 10), _utc(5, 10)]
    assert {row[2] for row in rows} == {_utc(6, 12)}
