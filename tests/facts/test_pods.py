"""The state of a Pod, by the catalogue: the first that applies."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from .build import AT, database, one, rows

NOW = AT.replace(tzinfo=None)


def ago(**span: float) -> str:
    return (AT - timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def before(**span: float) -> datetime:
    return NOW - timedelta(**span)


def status(
    name: str = "app", *, restarts: int = 0, ready: bool = False, started: bool | None = None, **state: Any
) -> dict[str, Any]:
    """A container's status; `last` is its last termination, the other keyword its current state."""
    last = state.pop("last", None)
    value: dict[str, Any] = {"name": name, "ready": ready, "restartCount": restarts, "state": state}
    if last:
        value["lastState"] = {"terminated": last}
    if started is not None:
        value["started"] = started
    return value


def pod(phase: str = "Running", *, name: str = "p", meta: Any = None, spec: Any = None, **fields: Any) -> dict[str, Any]:
    declared = {"nodeName": "n", "containers": [{"name": "app", "image": "registry.example/app:1"}]} | (spec or {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "creationTimestamp": ago(hours=2)} | (meta or {}),
        "spec": declared,
        "status": {"phase": phase} | fields,
    }


def condition(kind: str, state: str, **span: float) -> dict[str, Any]:
    return {"type": kind, "status": state, "lastTransitionTime": ago(**span)}


def state_of(value: dict[str, Any], *others: dict[str, Any], at: datetime | None = AT) -> tuple[str, datetime | None]:
    row = one(database([value, *others], at=at), "SELECT state, since FROM pods WHERE name = 'p'")
    return row["state"], row["since"]


ENDED = {"exitCode": 1, "reason": "Error", "finishedAt": ago(minutes=2)}
RUNS = {"startedAt": ago(minutes=1)}
UNREADY = [condition("Ready", "False", minutes=30)]
INIT = {"initContainers": [{"name": "setup", "image": "registry.example/setup:1"}]}


CASES: list[tuple[dict[str, Any], str, datetime | None]] = [
    (pod(meta={"deletionTimestamp": ago(seconds=61)}), "Terminating stuck", before(seconds=61)),
    (pod(meta={"deletionTimestamp": ago(seconds=60)}), "Terminating stuck", before(seconds=60)),
    (pod(meta={"deletionTimestamp": ago(seconds=59)}), "Terminating", before(seconds=59)),
    (pod("Failed", meta={"deletionTimestamp": ago(hours=1)}, reason="Evicted"), "Terminating stuck", before(hours=1)),
    (
        pod("Succeeded", containerStatuses=[status(terminated={"exitCode": 0, "finishedAt": ago(hours=1)})]),
        "Succeeded",
        before(hours=1),
    ),
    (
        pod("Failed", reason="Evicted", conditions=[condition("DisruptionTarget", "True", hours=1)]),
        "Evicted",
        before(hours=1),
    ),
    (pod("Failed", reason="OutOfnvidia.com/gpu", startTime=ago(hours=1)), "Rejected", before(hours=1)),
    (pod("Failed", reason="UnexpectedAdmissionError", startTime=ago(hours=1)), "Rejected", before(hours=1)),
    (pod("Failed", reason="NodeShutdown", startTime=ago(hours=1)), "Rejected", before(hours=1)),
    (pod("Failed", reason="Terminated", startTime=ago(hours=1)), "Failed", before(hours=1)),
    (pod("Failed", containerStatuses=[status(terminated=ENDED)]), "Failed", before(minutes=2)),
    (pod("Unknown", conditions=[condition("Ready", "Unknown", hours=1)]), "Unknown", before(hours=1)),
    (pod("Pending", spec={"nodeName": "", "schedulingGates": [{"name": "a/b"}]}), "Gated", before(hours=2)),
    (
        pod("Pending", spec={"nodeName": None}, conditions=[condition("PodScheduled", "False", minutes=9)]),
        "Pending",
        before(minutes=9),
    ),
    (pod("Running", spec={"nodeName": ""}), "Pending", before(hours=2)),
    (
        pod(
            "Pending",
            spec=INIT,
            initContainerStatuses=[status("setup", terminated=ENDED)],
            conditions=[condition("Initialized", "False", minutes=7)],
        ),
        "Init failing",
        before(minutes=7),
    ),
    (
        pod(
            "Pending",
            spec=INIT,
            initContainerStatuses=[status("setup", waiting={"reason": "ImagePullBackOff"})],
            conditions=UNREADY,
        ),
        "Image pull failing",
        before(minutes=30),
    ),
    (
        pod("Pending", spec=INIT, initContainerStatuses=[status("setup", running=RUNS)], startTime=ago(minutes=4)),
        "Starting",
        before(minutes=4),
    ),
    (
        pod("Pending", conditions=UNREADY, containerStatuses=[status(waiting={"reason": "ErrImageNeverPull"})]),
        "Image pull failing",
        before(minutes=30),
    ),
    (
        pod(
            "Pending",
            conditions=UNREADY,
            containerStatuses=[status(waiting={"reason": "CreateContainerConfigError", "message": 'secret "s" not found'})],
        ),
        "Config missing",
        before(minutes=30),
    ),
    (
        pod(
            "Pending",
            conditions=UNREADY,
            containerStatuses=[status(waiting={"reason": "CreateContainerConfigError", "message": "runAsNonRoot"})],
        ),
        "Starting",
        before(minutes=30),
    ),
    (
        pod(conditions=UNREADY, containerStatuses=[status(restarts=1, waiting={"reason": "CrashLoopBackOff"}, last=ENDED)]),
        "Crash looping",
        before(minutes=30),
    ),
    (
        pod(
            conditions=[condition("Ready", "True", minutes=1)],
            containerStatuses=[status(restarts=3, ready=True, started=True, running=RUNS, last=ENDED)],
        ),
        "Crash looping",
        before(minutes=2),
    ),
    (
        pod("Pending", startTime=ago(minutes=3), containerStatuses=[status(waiting={"reason": "ContainerCreating"})]),
        "Starting",
        before(minutes=3),
    ),
    (pod(conditions=UNREADY, containerStatuses=[status(running=RUNS, started=False)]), "Starting", before(minutes=30)),
    (pod(conditions=UNREADY, containerStatuses=[status(running=RUNS, started=True)]), "Not ready", before(minutes=30)),
    (pod(conditions=UNREADY, containerStatuses=[status(running=RUNS)]), "Not ready", before(minutes=30)),
    (
        pod(conditions=[condition("Ready", "True", hours=1)], containerStatuses=[status(ready=True, running=RUNS)]),
        "Running",
        before(hours=1),
    ),
]


@pytest.fixture(scope="module")
def states() -> dict[str, tuple[str, datetime | None]]:
    """The state of every Pod of CASES, in one database."""
    pods = [value | {"metadata": value["metadata"] | {"name": f"p{number}"}} for number, (value, _, _) in enumerate(CASES)]
    return {row["name"]: (row["state"], row["since"]) for row in rows(database(pods), "SELECT name, state, since FROM pods")}


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number][1]}")
def test_state(states: dict[str, tuple[str, datetime | None]], number: int) -> None:
    assert states[f"p{number}"] == CASES[number][1:]


def looping(**changes: Any) -> dict[str, Any]:
    last = {"exitCode": 1, "finishedAt": ago(minutes=9, seconds=59)} | changes.pop("last", {})
    fields = {"restarts": 3, "ready": True, "started": True, "running": RUNS, "last": last} | changes
    return pod(conditions=[condition("Ready", "True", minutes=1)], containerStatuses=[status(**fields)])


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (looping(), "Crash looping"),
        (looping(restarts=2), "Running"),
        (looping(last={"finishedAt": ago(minutes=10, seconds=1)}), "Running"),
        (looping(last={"exitCode": 0}), "Crash looping"),
    ],
)
def test_a_loop_is_three_restarts_the_last_within_ten_minutes(value: dict[str, Any], state: str) -> None:
    assert state_of(value)[0] == state


def test_a_container_that_finished_for_good_does_not_loop() -> None:
    done = {"exitCode": 0, "reason": "Completed", "finishedAt": ago(minutes=1)}
    value = pod(spec={"restartPolicy": "OnFailure"}, conditions=UNREADY, containerStatuses=[status(restarts=5, terminated=done)])
    assert state_of(value)[0] == "Not ready"


def test_without_the_time_of_the_collection_only_what_needs_none_is_told() -> None:
    con = database([pod(meta={"deletionTimestamp": ago(days=1)})], at=None, derived=False)
    from analyzer.facts import conditions, events, owners, pods

    for module in (conditions, events, owners, pods):
        module.derive(con)
    assert one(con, "SELECT state FROM pods")["state"] == "Terminating"


def test_a_manifest_has_no_state() -> None:
    value = pod()
    del value["status"]
    con = database([value, pod(name="q") | {"status": {}}])
    assert rows(con, "SELECT * FROM pods") == []
    assert rows(con, "SELECT * FROM states") == []


def test_an_init_container_that_succeeded_in_the_end_blocks_nothing() -> None:
    done = status("setup", restarts=4, terminated={"exitCode": 0, "finishedAt": ago(minutes=1)}, last=ENDED)
    value = pod(
        "Pending", spec=INIT, initContainerStatuses=[done], containerStatuses=[status(waiting={"reason": "PodInitializing"})]
    )
    assert state_of(value)[0] == "Starting"


def test_an_init_container_that_is_tried_again_still_fails() -> None:
    again = status("setup", restarts=1, running=RUNS, last=ENDED)
    assert state_of(pod("Pending", spec=INIT, initContainerStatuses=[again]))[0] == "Init failing"


def test_an_init_container_lost_with_its_node_did_not_fail() -> None:
    lost = {"exitCode": 255, "reason": "Unknown", "finishedAt": ago(minutes=2)}
    again = status("setup", restarts=1, running=RUNS, last=lost)
    assert state_of(pod("Pending", spec=INIT, initContainerStatuses=[again]))[0] == "Starting"


def test_a_sidecar_that_loops_before_the_start_blocks_it_and_after_it_crashes() -> None:
    spec = {"initContainers": [{"name": "mesh", "restartPolicy": "Always"}]}
    loop = [status("mesh", restarts=9, waiting={"reason": "CrashLoopBackOff"}, last=ENDED)]
    waits = pod("Pending", spec=spec, initContainerStatuses=loop, conditions=[condition("Initialized", "False", hours=1)])
    assert state_of(waits)[0] == "Init failing"
    runs = pod(
        spec=spec,
        initContainerStatuses=loop,
        conditions=[condition("Initialized", "True", hours=1), *UNREADY],
        containerStatuses=[status(ready=True, running=RUNS)],
    )
    assert state_of(runs)[0] == "Crash looping"
    assert one(database([runs]), "SELECT type FROM containers WHERE container = 'mesh'")["type"] == "sidecar"


def test_an_ephemeral_container_changes_no_state() -> None:
    value = pod(
        spec={"ephemeralContainers": [{"name": "debug"}]},
        conditions=[condition("Ready", "True", hours=1)],
        containerStatuses=[status(ready=True, running=RUNS)],
        ephemeralContainerStatuses=[status("debug", waiting={"reason": "ImagePullBackOff"})],
    )
    assert state_of(value)[0] == "Running"


BROKEN: list[dict[str, Any]] = [
    {"containerStatuses": "none"},
    {"containerStatuses": [None, 3, {"name": 5}, {"name": "app", "state": []}]},
    {
        "containerStatuses": [
            {"name": "app", "restartCount": "many", "state": {"waiting": 1}, "lastState": {"terminated": {"exitCode": 2**40}}}
        ]
    },
    {"conditions": {"type": "Ready"}},
    {"conditions": [{"type": "Ready", "status": True, "lastTransitionTime": 12}]},
    {"startTime": "infinity", "reason": {"a": 1}},
    {"initContainerStatuses": [{"name": "app", "state": {"terminated": {"finishedAt": "9999-99-99T00:00:00Z"}}}]},
]


def test_fields_of_any_type_never_stop_the_rest() -> None:
    pods = [pod(name=f"p{number}", **broken) for number, broken in enumerate(BROKEN)]
    con = database([*pods, pod("Failed", name="good", reason="Evicted")])
    assert one(con, "SELECT state FROM pods WHERE name = 'good'")["state"] == "Evicted"
    assert len(rows(con, "SELECT * FROM pods")) == len(BROKEN) + 1


def test_pods_of_an_indexed_job_do_not_replace_each_other() -> None:
    def owned(name: str, index: int, created: str) -> dict[str, Any]:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "grid", "uid": "grid", "controller": True}
        labels = {"batch.kubernetes.io/job-completion-index": str(index)}
        return pod("Failed", name=name, meta={"ownerReferences": [owner], "creationTimestamp": created, "labels": labels})

    grid = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "grid", "namespace": "ns", "uid": "grid"}}
    con = database(
        [
            grid | {"status": {"active": 1, "succeeded": 1}},
            owned("first", 0, ago(hours=3)), owned("again", 0, ago(hours=1)), owned("other", 1, ago(hours=2)),
        ]
    )  # fmt: skip
    found = rows(con, "SELECT name FROM pods WHERE NOT replaced ORDER BY name")
    assert [row["name"] for row in found] == ["again", "other"]


def test_a_failed_pod_is_replaced_when_its_job_went_on() -> None:
    def owned(name: str, job: str, created: str) -> dict[str, Any]:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job, "controller": True}
        return pod("Failed", name=name, meta={"ownerReferences": [owner], "creationTimestamp": created})

    def job(name: str, **fields: int) -> dict[str, Any]:
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "ns", "uid": name},
            "status": fields,
        }

    con = database(
        [
            job("won", succeeded=1), owned("won-1", "won", ago(hours=1)),
            job("busy", active=1), owned("busy-1", "busy", ago(hours=1)),
            job("lost"), owned("lost-1", "lost", ago(hours=2)), owned("lost-2", "lost", ago(hours=1)),
            owned("gone-1", "gone", ago(hours=2)), owned("gone-2", "gone", ago(hours=1)),
            pod("Failed", name="alone"),
        ]
    )  # fmt: skip
    found = {row["name"]: row["replaced"] for row in rows(con, "SELECT name, replaced FROM pods")}
    assert [name for name, replaced in sorted(found.items()) if not replaced] == ["alone", "gone-2", "lost-2"]


def test_state_rows_for_every_pod() -> None:
    con = database([pod(), pod("Failed", name="q", reason="Evicted", message="low on memory")])
    found = rows(con, "SELECT kind, namespace, name, state, message FROM states WHERE kind = 'Pod' ORDER BY name")
    assert [(row["name"], row["state"], row["message"]) for row in found] == [
        ("p", "Starting", None),
        ("q", "Evicted", "low on memory"),
    ]
