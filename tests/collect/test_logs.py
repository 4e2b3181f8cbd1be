"""Whose logs are taken, how much of them, and what they lose on the way."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import aiohttp.web
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.collect import plan as plans
from analyzer.collect.logs import LogLimits, _Tail
from analyzer.collect.pods import MAX_PER_OWNER, PodWatch, is_healthy

from .conftest import Collect
from .mock import Asked, Cluster, crashing, forever, obj, running, small, status

NOW = datetime(2026, 11, 1, 10, 0, tzinfo=UTC)
LIMITS = LogLimits(None, 10_000, 1 << 20)


def log_path(namespace: str, pod: str, container: str = "app", source: str = "current") -> str:
    return f"namespaces/{namespace}/pods/{pod}/{container}/{container}/logs/{source}.log"


def test_the_newest_part_is_kept(collect: Collect) -> None:
    cluster = small()
    lines = [f"2026-11-01T10:00:00Z line {number:06d}\n" for number in range(2000)]
    cluster.logs["team-b", "bad-1", "app", False] = "".join(lines).encode()
    with cluster.running():
        bundle = collect(cluster, logs=LogLimits(None, 10_000, 1 << 20))
    text = bundle.files[log_path("team-b", "bad-1")].decode()
    first, _, rest = text.partition("\n")
    entry = bundle.manifest["logs"][0]
    # The server was asked for the last 100 lines only, so that nobody knows how many there were.
    assert first == "[triage: at least 0 bytes before this line were left out]"
    assert rest == "".join(lines[-100:])
    assert (entry["outcome"], entry["leftOut"]) == ("truncated", None)


def test_bytes_that_were_left_out_are_told(collect: Collect) -> None:
    cluster = small()
    lines = [f"2026-11-01T10:00:00Z {'x' * 500} {number:06d}\n" for number in range(40)]
    cluster.logs["team-b", "bad-1", "app", False] = "".join(lines).encode()
    with cluster.running():
        bundle = collect(cluster, logs=LIMITS)
    first, _, rest = bundle.files[log_path("team-b", "bad-1")].decode().partition("\n")
    left = sum(map(len, lines)) - len(rest)
    assert first == f"[triage: {left} bytes before this line were left out]"
    assert rest == "".join(lines[-len(rest) // len(lines[0]) :])
    assert 9_000 < len(rest) <= 10_000
    assert bundle.manifest["logs"][0]["leftOut"] == left


def test_since_and_tail_are_asked_of_the_server(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster, logs=LogLimits(3600, 1 << 20, 1 << 24))
    asked = [request.params for request in cluster.requests if request.path.endswith("/log")]
    assert {"container": "app", "timestamps": "true", "tailLines": "10485", "sinceSeconds": "3600"} in asked
    assert {params.get("previous") for params in asked} == {None, "true"}
    assert bundle.manifest["options"]["since"] == "3600s"


def test_no_previous_run_is_no_error(collect: Collect) -> None:
    cluster = small()
    del cluster.logs["team-b", "bad-1", "app", True]
    with cluster.running():
        bundle = collect(cluster)
    assert [(log["previous"], log["outcome"]) for log in bundle.manifest["logs"]] == [(False, "ok"), (True, "none")]
    assert log_path("team-b", "bad-1", source="previous") not in bundle.files


def test_the_cap_of_all_logs(collect: Collect) -> None:
    cluster = small()
    cluster.resources["pods"] = [crashing(f"bad-{number}", "team-b") for number in range(8)]
    for number in range(8):
        cluster.logs.pop(("team-b", f"bad-{number}", "app", True), None)
        cluster.logs["team-b", f"bad-{number}", "app", False] = b"2026-11-01T10:00:00Z y\n" * 200
    with cluster.running():
        one = collect(cluster, logs=LogLimits(None, 50_000, 12_000))
        two = collect(cluster, logs=LogLimits(None, 50_000, 12_000))
    taken = [log["pod"] for log in one.manifest["logs"] if log["outcome"] == "ok"]
    assert taken == ["bad-0", "bad-1"]
    assert one.manifest["logs"] == two.manifest["logs"]
    assert {log["outcome"] for log in one.manifest["logs"]} == {"ok", "none", "skipped"}
    assert one.manifest["counts"]["logBytes"] <= 12_000


def test_refusals_and_broken_logs(collect: Collect) -> None:
    cluster = small()
    cluster.resources["pods"] = [crashing("bad-1", "team-b"), crashing("bad-2", "team-b"), crashing("bad-3", "team-b")]

    async def answer(asked: Asked) -> aiohttp.web.StreamResponse:
        if "bad-1" in asked.path:
            return status(403, 'pods "bad-1" is forbidden: cannot get resource "pods/log"')
        response = aiohttp.web.StreamResponse()
        if "bad-2" in asked.path:
            response.headers["Content-Length"] = "100"
        await response.prepare(asked.raw)
        await response.write(b"2026-11-01T10:00:00Z half a l")
        if "bad-3" in asked.path:
            await asyncio.sleep(20)
        assert asked.raw.transport is not None
        asked.raw.transport.abort()
        return response

    cluster.faults["log"] = [forever(answer)]
    with cluster.running():
        bundle = collect(cluster, request_timeout=1.0)
    assert [(log["pod"], log["outcome"]) for log in bundle.manifest["logs"] if not log["previous"]] == [
        ("bad-1", "forbidden"),
        ("bad-2", "truncated"),
        ("bad-3", "truncated"),
    ]
    assert bundle.files[log_path("team-b", "bad-2")] == b"2026-11-01T10:00:00Z half a l"


def test_no_logs(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster, logs=None)
    assert bundle.manifest["logs"] == []
    assert not [path for path in cluster.paths() if "/log" in path]


def test_logs_of_operators_and_of_all_their_containers(collect: Collect) -> None:
    pod = running("nvidia-mig-manager-x", "gpu-operator")
    started = {"state": {"terminated": {"exitCode": 0}}, "restartCount": 0, "containerID": "containerd://3"}
    pod["status"]["initContainerStatuses"] = [{"name": "toolkit-validation", "ready": True, **started}]
    pod["status"]["ephemeralContainerStatuses"] = [{"name": "debugger-1", **started}]
    cluster = Cluster().serve("namespaces", obj("a")).serve("nodes", obj("n")).serve("pods", pod, running("web", "team-a"))
    for container in ("app", "toolkit-validation", "debugger-1"):
        cluster.logs["gpu-operator", "nvidia-mig-manager-x", container, False] = f"{container} NUL \0 \xff\n".encode("latin-1")
    with cluster.running():
        bundle = collect(cluster)
    assert [log["container"] for log in bundle.manifest["logs"]] == ["app", "debugger-1", "toolkit-validation"]
    assert bundle.files[log_path("gpu-operator", "nvidia-mig-manager-x")].decode() == "app NUL \0 \ufffd\n"
    assert bundle.left_out("logs of pods") == 1


def test_secrets_in_logs_are_masked_and_a_cut_key_is_dropped(collect: Collect) -> None:
    cluster = small()
    key = [f"2026-11-01T10:00:00Z {'QUJD' * 16}\n" for _ in range(200)]
    end = "2026-11-01T10:00:00Z -----END RSA PRIVATE KEY-----\n2026-11-01T10:00:01Z Authorization: Bearer abcdefghijklmnop1234\n"
    text = "2026-11-01T10:00:00Z -----BEGIN RSA PRIVATE KEY-----\n" + "".join(key) + end
    cluster.logs["team-b", "bad-1", "app", False] = text.encode()
    with cluster.running():
        bundle = collect(cluster, logs=LIMITS)
    kept = bundle.files[log_path("team-b", "bad-1")].decode()
    assert "QUJD" not in kept
    assert "abcdefghijklmnop1234" not in kept
    assert "Authorization: " in kept
    assert bundle.manifest["redacted"]


def test_many_pods_of_one_owner_are_a_few(collect: Collect) -> None:
    cluster = small()
    owner = [{"uid": "job-uid", "kind": "Job", "name": "j", "controller": True}]
    cluster.resources["pods"] = [crashing(f"j-{number:03d}", "team-b", ownerReferences=owner) for number in range(50)]
    with cluster.running():
        bundle = collect(cluster)
    assert sorted({log["pod"] for log in bundle.manifest["logs"]}) == [
        f"j-{number:03d}" for number in range(50 - MAX_PER_OWNER, 50)
    ]
    assert bundle.left_out("logs of pods") == 30


def entry(**changes: Any) -> dict[str, Any]:
    return {"name": "app", "ready": True, "restartCount": 0, "state": {"running": {}}, "lastState": {}, **changes}


def ended(code: int, when: str) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "finishedAt": when}}


@pytest.mark.parametrize(
    ("status", "metadata", "healthy"),
    [
        ({"phase": "Running", "containerStatuses": [entry()]}, {}, True),
        ({"phase": "Succeeded"}, {}, True),
        ({"phase": "Pending"}, {}, False),
        ({"phase": "Failed"}, {}, False),
        ({}, {}, False),
        ({"phase": "Running"}, {"deletionTimestamp": "2026-11-01T09:00:00Z"}, False),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}, {}, False),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}, {}, True),
        ({"phase": "Running", "containerStatuses": [entry(state={"waiting": {"reason": "CrashLoopBackOff"}})]}, {}, False),
        ({"phase": "Running", "containerStatuses": [entry(lastState=ended(137, "2026-11-01T03:00:00Z"))]}, {}, False),
        ({"phase": "Running", "containerStatuses": [entry(lastState=ended(137, "2026-10-01T03:00:00Z"))]}, {}, True),
        (
            {"phase": "Running", "containerStatuses": [entry(lastState=ended(0, "2026-11-01T03:00:00Z"), restartCount=2)]},
            {},
            True,
        ),
        ({"phase": "Running", "containerStatuses": [entry(restartCount=5)]}, {}, False),
        ({"phase": "Running", "initContainerStatuses": [entry(state=ended(1, "2026-11-01T03:00:00Z"))]}, {}, False),
        ({"phase": "Running", "containerStatuses": "nonsense", "conditions": [3]}, {}, True),
    ],
)
def test_which_pods_are_healthy(status: dict[str, Any], metadata: dict[str, Any], healthy: bool) -> None:
    assert is_healthy(metadata, status, NOW) is healthy


@pytest.mark.parametrize(
    "value", [{}, {"metadata": 3}, {"metadata": {"name": "../x", "namespace": "a"}, "status": {}}, {"status": []}]
)
def test_pods_that_are_none(value: dict[str, Any]) -> None:
    watch = PodWatch(plans.load().logs, (), NOW)
    watch.see(value)
    assert watch.wanted() == []


@given(st.lists(st.binary(max_size=40).map(lambda text: text.replace(b"-", b"_")), max_size=30), st.integers(1, 60))
def test_the_tail_is_the_end(pieces: list[bytes], limit: int) -> None:
    tail = _Tail(limit)
    for piece in pieces:
        tail.add(piece)
    whole = b"".join(pieces)
    kept, left = tail.text(cut=False)
    assert whole.endswith(kept)
    assert len(kept) + left == len(whole)
    assert len(kept) <= limit or len(whole) <= limit
    assert left == 0 or len(kept) == limit or whole[left - 1 : left] == b"\n"
    assert bool(kept) == bool(whole)
