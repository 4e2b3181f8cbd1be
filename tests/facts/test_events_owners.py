"""Events of both APIs, owners, controllers, endpoints, webhooks, and the last words of logs."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.facts.log_ends import telling, words

from .build import database, one, rows
from .test_containers import event
from .test_pods import ENDED, RUNS, ago, before, pod, status

UID = "6f1a2b3c-0000-4000-8000-000000000001"
OTHER = "6f1a2b3c-0000-4000-8000-000000000002"


def test_the_newer_api_is_read_like_the_older() -> None:
    value = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "ns"},
        "regarding": {"kind": "Pod", "namespace": "ns", "name": "p", "uid": UID, "apiVersion": "v1"},
        "note": "words",
        "type": "Warning",
        "reason": "Odd",
        "eventTime": ago(minutes=30),
        "series": {"count": 7, "lastObservedTime": ago(minutes=3)},
        "reportingController": "ctl",
    }
    row = one(database([pod(meta={"uid": UID}), value]), "SELECT * FROM events")
    assert (row["message"], row["times"], row["component"], row["about_id"]) == ("words", 7, "ctl", 0)
    assert (row["first_at"], row["last_at"]) == (before(minutes=30), before(minutes=3))


@pytest.mark.parametrize(
    ("fields", "minutes"),
    [
        ({"lastTimestamp": ago(minutes=2), "eventTime": ago(minutes=9)}, 2),
        ({"lastTimestamp": None, "eventTime": ago(minutes=9)}, 9),
        ({"lastTimestamp": None}, 50),
        ({"lastTimestamp": "no time", "eventTime": 5}, 50),
    ],
)
def test_when_an_event_was_seen_last(fields: dict[str, Any], minutes: int) -> None:
    value = event("Odd", "words") | fields
    value["metadata"]["creationTimestamp"] = ago(minutes=50)
    assert one(database([value]), "SELECT last_at FROM events")["last_at"] == before(minutes=minutes)


@pytest.mark.parametrize(
    ("uid", "joined"),
    [(UID, True), (OTHER, False), ("", True), ("p", True), ("0123456789abcdef0123456789abcdef", True)],
)
def test_an_event_about_an_earlier_pod_of_the_same_name_is_not_about_this_one(uid: str, joined: bool) -> None:
    value = event("Odd", "words")
    value["involvedObject"]["uid"] = uid
    con = database([pod(meta={"uid": UID}), value])
    assert one(con, "SELECT about_id FROM events")["about_id"] == (0 if joined else None)


def test_one_event_seen_through_both_apis_counts_once() -> None:
    value = event("Odd", "words")
    value["metadata"]["uid"] = UID
    twin = {**value, "apiVersion": "events.k8s.io/v1", "regarding": value["involvedObject"], "note": "words"}
    assert len(rows(database([value, twin]), "SELECT * FROM events")) == 1


def owned(kind: str, name: str, *, by: tuple[str, str] | None = None, group: str = "apps/v1", **fields: Any) -> dict[str, Any]:
    references = (
        [{"apiVersion": "x/v1", "kind": by[0], "name": by[1], "uid": f"{by[0]}-{by[1]}", "controller": True}] if by else []
    )
    metadata = {"name": name, "namespace": "ns", "uid": f"{kind}-{name}", "ownerReferences": references}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, **fields}


def test_the_workload_of_a_pod_ends_at_its_deployment() -> None:
    con = database(
        [
            owned("Windmill", "w", group="example.com/v1"),
            owned("Deployment", "d", by=("Windmill", "w")),
            owned("ReplicaSet", "r", by=("Deployment", "d")),
            owned("Pod", "p", by=("ReplicaSet", "r"), group="v1", status={"phase": "Running"}),
        ]
    )
    row = one(con, "SELECT t.owner_kind, t.owner_name FROM top_owners t JOIN objects o USING (object_id) WHERE o.name = 'p'")
    assert row == {"owner_kind": "Deployment", "owner_name": "d"}
    assert one(con, "SELECT owner_key FROM pods")["owner_key"] == "Deployment ns/d"


def test_an_owner_that_was_not_collected_still_has_its_name() -> None:
    con = database([owned("Pod", "p", by=("ReplicaSet", "r"), group="v1", status={"phase": "Running"})])
    assert one(con, "SELECT owner_id, owner_kind, owner_name FROM pods") == {
        "owner_id": None,
        "owner_kind": "ReplicaSet",
        "owner_name": "r",
    }


def test_a_circle_of_owners_ends() -> None:
    con = database([owned("A", "a", by=("B", "b"), group="x/v1"), owned("B", "b", by=("A", "a"), group="x/v1")])
    assert len(rows(con, "SELECT * FROM top_owners")) == 2


def test_a_static_pod_has_no_workload() -> None:
    con = database([owned("Pod", "p", by=("Node", "n"), group="v1", status={"phase": "Running"})])
    assert rows(con, "SELECT * FROM top_owners") == []


def test_what_controllers_want_and_have() -> None:
    con = database(
        [
            owned("Deployment", "d", spec={"replicas": 3}, status={"replicas": 3, "readyReplicas": 1}),
            owned("StatefulSet", "s", spec={}, status={"replicas": 1}),
            owned("DaemonSet", "n", spec={}, status={"desiredNumberScheduled": 4, "numberReady": 2, "currentNumberScheduled": 4}),
            owned("Deployment", "manifest", spec={"replicas": 3}),
        ]
    )
    found = rows(con, "SELECT name, wanted, ready FROM controllers ORDER BY name")
    assert [tuple(row.values()) for row in found] == [("d", 3, 1), ("n", 4, 2), ("s", 1, 0)]


def test_ready_addresses_behind_a_service() -> None:
    slices = [
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": f"a-{i}", "namespace": "ns", "labels": {"kubernetes.io/service-name": "a"}},
            "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": ready}}],
        }
        for i, ready in enumerate([True, False, None])
    ]
    endpoints = [
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": name, "namespace": "ns"},
            "subsets": [{"notReadyAddresses": [{"ip": "192.0.2.9"}]}],
        }
        for name in ("a", "b")
    ]
    found = rows(
        database([*slices, *endpoints]), "SELECT service, kind, ready, not_ready FROM service_endpoints ORDER BY service"
    )
    assert [tuple(row.values()) for row in found] == [("a", "EndpointSlice", 2, 1), ("b", "Endpoints", 0, 1)]


def test_a_failed_call_is_tied_to_its_configuration_and_to_what_it_stops() -> None:
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "c"},
        "webhooks": [{"name": "w.example", "clientConfig": {"service": {"namespace": "ns", "name": "s"}}}],
    }
    con = database([configuration, pod(), event("FailedCreate", 'failed calling webhook "w.example": connection refused')])
    row = one(con, "SELECT webhook, configuration_id, object_id, cause FROM webhook_failures")
    assert row == {"webhook": "w.example", "configuration_id": 0, "object_id": 1, "cause": "refused"}
    assert rows(con, "SELECT src, dst FROM relations WHERE kind = 'webhook'") == [{"src": 0, "dst": 1}]
    assert one(con, "SELECT failure_policy, service FROM webhooks") == {"failure_policy": "Fail", "service": "s"}


def test_failed_calls_are_found_far_from_the_end_of_a_log_and_the_newest_of_each_webhook_counts() -> None:
    lines = [f'2026-11-01T11:{n:02d}:00Z failed calling webhook "w.example": attempt {n}: connection refused' for n in range(5)]
    lines += ["quiet"] * 500 + ['failed calling webhook \\\\\\"other.example\\\\\\": no endpoints available'] + ["quiet"] * 500
    con = database([], logs=[{"namespace": "ns", "pod": "p", "container": "app", "text": "\n".join(lines)}])
    times = "strftime(first_at, '%H:%M') AS first, strftime(last_at, '%H:%M') AS last"
    assert rows(con, f"SELECT webhook, line, cause, {times} FROM webhook_failures ORDER BY line") == [
        {"webhook": "w.example", "line": 5, "cause": "refused", "first": "11:00", "last": "11:04"},
        {"webhook": "other.example", "line": 506, "cause": "no-endpoints", "first": None, "last": None},
    ]


def test_a_failed_call_in_a_log_has_the_line_of_its_file() -> None:
    lines = [f"line {i}" for i in range(80)] + [
        '2026-11-01T11:59:00Z err="failed calling webhook \\"w.example\\": context deadline exceeded"'
    ]
    con = database([], logs=[{"namespace": "ns", "pod": "p", "container": "app", "text": "\n".join(lines)}])
    assert one(con, "SELECT webhook, line, cause FROM webhook_failures") == {
        "webhook": "w.example",
        "line": 81,
        "cause": "timeout",
    }


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["starting", "error: no such key", "bye"], 1),
        (["starting", "going on"], 1),
        (["panic: runtime error: index out of range", "goroutine 1 [running]:", "main.main()", "\t/src/main.go:7 +0x1d"], 0),
        (["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "ValueError: bad leaf"], 2),
        (["E1101 11:59:00.000 1 main.go:7] stopped", "I1101 11:59:01.000 1 main.go:9] done"], 0),
    ],
)
def test_which_line_of_a_log_tells_most(lines: list[str], told: int) -> None:
    assert telling(lines) == told


def test_words_of_a_line_come_without_its_time() -> None:
    assert words("2026-11-01T11:59:00.123456789Z  level=fatal   msg=x") == "level=fatal msg=x"
    assert words("[pod/p/app] 2026-11-01T11:59:00Z gone") == "gone"


def test_the_last_lines_of_a_failing_container_are_kept_with_their_numbers() -> None:
    text = "\n".join([f"line {i}" for i in range(1, 70)] + ["fatal: out of tea", "", *[f"after {i}" for i in range(6)], ""])
    crash = pod(containerStatuses=[status(restarts=9, waiting={"reason": "CrashLoopBackOff"}, last=ENDED)])
    con = database([crash], logs=[{"namespace": "ns", "pod": "p", "container": "app", "source": "previous", "text": text}])
    found = rows(con, "SELECT line, text, telling FROM log_ends ORDER BY line")
    assert [(row["line"], row["text"]) for row in found] == [
        (70, "fatal: out of tea"),
        *[(73 + i, f"after {i + 1}") for i in range(5)],
    ]
    assert [row["line"] for row in found if row["telling"]] == [70]


def test_a_healthy_container_has_no_last_words() -> None:
    runs = pod(containerStatuses=[status(ready=True, running=RUNS)])
    con = database([runs], logs=[{"namespace": "ns", "pod": "p", "container": "app", "text": "error: old"}])
    assert rows(con, "SELECT * FROM log_ends") == []
