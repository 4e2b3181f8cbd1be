"""JobSets: states in the controller's order, counters of old and new controllers, order and dependencies."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts.jobset import sets
from analyzer.facts.values import Stored
from tests.facts.build import database


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-01T11:00:00Z"}


def jobset(spec: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "loom", "namespace": "mill"} | metadata,
        "spec": spec if spec is not None else {"replicatedJobs": [{"name": "warp"}]},
        "status": status if status is not None else {},
    }


def job(name: str, attempt: int = 0, status: Any = None) -> dict[str, Any]:
    labels = {"jobset.sigs.k8s.io/jobset-name": "loom", "jobset.sigs.k8s.io/restart-attempt": str(attempt)}
    metadata = {"name": name, "namespace": "mill", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "status": status or {}}


def controller(image: str) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "manager", "image": image}]}}
    metadata = {"name": "jobset-controller-manager", "namespace": "jobset-system"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": template}}


def one(*objects: dict[str, Any]) -> dict[str, Any]:
    con = database(objects)
    result = con.execute("SELECT * FROM jobsets")
    names = [column[0] for column in result.description or ()]
    row = result.fetchone()
    assert row is not None
    return dict(zip(names, row, strict=True))


READY = {"replicatedJobsStatus": [{"name": "warp", "ready": 1, "active": 1}]}


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (jobset(status={"conditions": [condition("Failed")]}, deletionTimestamp="2026-11-01T11:00:00Z"), "Deleting"),
        (jobset(status={"conditions": [condition("Completed"), condition("Failed")]}), "Failed"),
        (jobset(status={"terminalState": "Completed"}), "Completed"),
        (jobset(status=READY | {"conditions": [condition("Suspended", reason="SuspendedJobs")]}), "Suspended"),
        (jobset({"suspend": True}), "Suspended"),
        (jobset(status=READY | {"conditions": [condition("Suspended", "False", "ResumeJobs")]}), "Running"),
        (
            jobset(status=READY | {"conditions": [condition("RestartingJobSet"), condition("StartupPolicyInProgress")]}),
            "Restarting",
        ),
        (jobset(status={"conditions": [condition("StartupPolicyInProgress")]}), "Starting"),
        (jobset(status=READY), "Running"),
        (jobset(), "Pending"),
        (jobset(status={"restarts": 1}), "Restarting"),
        (jobset(status=READY | {"restarts": 1}), "Running"),
        (jobset(status={"restarts": 1, "conditions": [condition("RestartingJobSet", "False", "JobsReady")]}), "Pending"),
    ],
)
def test_the_state_is_the_first_that_applies(value: dict[str, Any], state: str) -> None:
    assert one(value)["state"] == state


def test_jobs_of_the_attempt_before_mean_that_it_restarts() -> None:
    row = one(jobset(status=READY | {"restarts": 2}), job("loom-warp-0", 1))
    assert (row["state"], row["message"]) == ("Restarting", "Jobs of an earlier attempt are still there")
    assert one(jobset(status=READY | {"restarts": 2}), job("loom-warp-0", 2))["state"] == "Running"


IGNORING = {"failurePolicy": {"maxRestarts": 3, "rules": [{"action": "RestartJobAndIgnoreMaxRestarts"}]}}
PLAIN = {"failurePolicy": {"maxRestarts": 3}}


@pytest.mark.parametrize(
    ("spec", "status", "image", "counted", "left"),
    [
        (PLAIN, {"restarts": 2}, None, 2, 1),
        (PLAIN, {"restarts": 2}, "registry.example/jobset:v0.5.2", 2, 1),
        (PLAIN, {"restarts": 2}, "registry.example/jobset:v0.10.1", 2, 1),
        (IGNORING, {"restarts": 2}, "registry.example/jobset:v0.10.1@sha256:00", 0, 3),
        (IGNORING, {"restarts": 2}, None, 0, 3),
        (IGNORING, {"restarts": 2, "restartsCountTowardsMax": 1}, None, 1, 2),
        (IGNORING, {"restarts": 2}, "registry.example/jobset:v0.5.2", 2, 1),
        (PLAIN, {"restarts": 9}, None, 9, 0),
        ({}, {"restarts": 0}, None, 0, None),
        ({"failurePolicy": {}}, {}, None, 0, 0),
    ],
)
def test_restarts_are_counted_as_the_controller_does(
    spec: dict[str, Any], status: dict[str, Any], image: str | None, counted: int, left: int | None
) -> None:
    row = one(jobset(spec, status), *([controller(image)] if image else []))
    assert (row["counted"], row["restarts_left"]) == (counted, left)


def test_controllers_of_two_versions_say_nothing() -> None:
    other = controller("registry.example/jobset:v0.12.0")
    other["metadata"] = {"name": "jobset-controller-manager", "namespace": "elsewhere"}
    assert one(jobset(), controller("registry.example/jobset:v0.5.0"), other)["controller_version"] is None
    assert one(jobset(), other)["controller_version"] == "0.12"


def groups(spec: dict[str, Any], *status: dict[str, Any]) -> dict[str, str | None]:
    con = database([jobset(spec, {"replicatedJobsStatus": list(status)})])
    return dict(con.execute("SELECT group_name, waits_for FROM jobset_groups ORDER BY idx").fetchall())


def test_what_groups_wait_for() -> None:
    depends = {
        "replicatedJobs": [
            {"name": "card"},
            {"name": "spin", "dependsOn": [{"name": "card", "status": "Complete"}]},
            {"name": "weave", "dependsOn": [{"name": "card", "status": "Ready"}]},
        ]
    }
    card = {"name": "card", "ready": 1, "active": 1}
    assert groups(depends, card) == {"card": None, "spin": "card to be complete", "weave": None}
    in_order = {
        "startupPolicy": {"startupPolicyOrder": "InOrder"},
        "replicatedJobs": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    }
    assert groups(in_order, {"name": "a", "active": 1}) == {"a": None, "b": "a to be ready", "c": "a to be ready"}


def edges(con: duckdb.DuckDBPyConnection) -> set[tuple[str, str]]:
    query = (
        "SELECT s.kind || '/' || s.name, d.kind || '/' || d.name FROM relations r JOIN objects s ON s.object_id = r.src "
        "JOIN objects d ON d.object_id = r.dst WHERE r.kind = 'part'"
    )
    return set(con.execute(query).fetchall())


def test_trouble_of_the_set_shows_in_its_jobs_and_their_pods() -> None:
    owned = job("loom-warp-0")
    owned["metadata"]["uid"] = "u1"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "loom-warp-0", "uid": "u1", "controller": True}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "mill", "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running"},
    }
    assert edges(database([jobset(), owned, pod])) == {("JobSet/loom", "Job/loom-warp-0"), ("Job/loom-warp-0", "Pod/p")}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
    max_leaves=6,
)
FIELDS = ["conditions", "restarts", "restartsCountTowardsMax", "replicatedJobsStatus", "terminalState", "replicatedJobs"]
FIELDS += ["failurePolicy", "startupPolicy", "suspend", "managedBy", "successPolicy"]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), values), st.dictionaries(st.sampled_from(FIELDS), values))
def test_any_shape_gives_a_row(spec: dict[str, Any], status: dict[str, Any]) -> None:
    read = sets.read(Stored(1, 0, "jobset.x-k8s.io", "JobSet", "mill", "loom", "", None, None, {"spec": spec, "status": status}))
    sets.settle(read, [], None, jobs_whole=True)
    assert sets.row(read)["state"]
    assert len(list(sets.group_rows(read))) == len(read.groups)
