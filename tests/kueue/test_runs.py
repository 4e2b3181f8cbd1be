"""Jobs of any kind that run to an end: state, tries, pods, the pod that failed first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.build import database, rows


def thing(api: str, kind: str, name: str, spec: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    own = {"name": name, "namespace": "mill", "uid": f"u-{name}"} | metadata
    return {"apiVersion": api, "kind": kind, "metadata": own, "spec": spec or {}, "status": status or {}}


def pod(name: str, owner: tuple[str, str, str], code: int | None, at: str = "2026-11-01T11:00:00Z") -> dict[str, Any]:
    api, kind, owned_by = owner
    reference = {"apiVersion": api, "kind": kind, "name": owned_by, "uid": f"u-{owned_by}", "controller": True}
    ended = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": at}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "mill", "ownerReferences": [reference]},
        "spec": {"nodeName": "n1", "containers": [{"name": "saw"}]},
        "status": {
            "phase": "Running" if code is None else "Failed",
            "conditions": [{"type": "Ready", "status": "True" if code is None else "False"}],
            "containerStatuses": [{"name": "saw", "ready": code is None, "state": {"running": {}} if code is None else ended}],
        },
    }


def runs(*objects: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows(database(objects), "SELECT * FROM job_runs")}


def test_a_job_names_the_pod_that_failed_first() -> None:
    owner = ("batch/v1", "Job", "cut")
    failed = {"failed": 2, "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}]}
    found = runs(
        thing("batch/v1", "Job", "cut", {"backoffLimit": 1}, failed),
        pod("cut-b", owner, 7, "2026-11-01T11:30:00Z"),
        pod("cut-a", owner, 3, "2026-11-01T11:00:00Z"),
        pod("cut-c", owner, None),
    )["cut"]
    assert (found["state"], found["reason"], found["over"]) == ("Failed", "BackoffLimitExceeded", True)
    assert (found["counted"], found["used"], found["allowed"]) == ("failed pods", 2, 1)
    assert (found["pods"], found["pods_ready"], found["pods_failed"]) == (3, 1, 2)
    assert (found["failed_pod"], found["failed_container"], found["failed_code"]) == ("cut-a", "saw", 3)


def test_a_pod_that_waits_has_not_failed() -> None:
    waits = pod("saw-0", ("kubeflow.org/v1", "PyTorchJob", "saw"), None)
    waits["spec"].pop("nodeName")
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    waits["status"] = {"phase": "Pending", "conditions": [refused]}
    gone = pod("axe-0", ("kubeflow.org/v1", "PyTorchJob", "axe"), 1)
    gone["status"] = {"phase": "Failed", "reason": "NodeLost"}
    jobs = [thing("kubeflow.org/v1", "PyTorchJob", name) for name in ("saw", "axe")]
    found = runs(*jobs, waits, gone)
    names = ("failed_pod", "failed_words", "stuck_pod", "stuck_words")
    assert [found["saw"][name] for name in names] == [None, None, "saw-0", "Pending (Unschedulable)"]
    assert [found["axe"][name] for name in names] == ["axe-0", "NodeLost", None, None]


def test_pods_count_for_every_job_above_them() -> None:
    found = runs(
        thing("trainer.kubeflow.org/v1alpha1", "TrainJob", "plank"),
        thing(
            "batch/v1",
            "Job",
            "plank-0",
            ownerReferences=[
                {
                    "apiVersion": "trainer.kubeflow.org/v1alpha1",
                    "kind": "TrainJob",
                    "name": "plank",
                    "uid": "u-plank",
                    "controller": True,
                }
            ],
        ),
        pod("plank-0-a", ("batch/v1", "Job", "plank-0"), 1),
    )
    assert [found[name]["failed_pod"] for name in ("plank", "plank-0")] == ["plank-0-a", "plank-0-a"]
    assert found["plank-0"]["parent"] == "TrainJob plank"


@pytest.mark.parametrize(
    ("api", "kind", "spec", "status", "tries"),
    [
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            {"runPolicy": {"backoffLimit": 4}},
            {"replicaStatuses": {"Master": {"failed": 1}, "Worker": {"failed": 2}}},
            ("failed pods", 3, 4),
        ),
        ("workload.codeflare.dev/v1beta2", "AppWrapper", {}, {"phase": "Resetting", "resettingCount": 2}, ("retries", 2, None)),
        ("batch.volcano.sh/v1alpha1", "Job", {"maxRetry": 3}, {"retryCount": 1}, ("retries", 1, 3)),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", {}, {}, (None, None, None)),
        (
            "kubeflow.org/v1",
            "MPIJob",
            {"runPolicy": 7},
            {"replicaStatuses": {"Worker": "x", "Launcher": {"failed": "1"}}},
            ("failed pods", 0, None),
        ),
    ],
)
def test_tries_are_counted_as_each_kind_counts_them(api: str, kind: str, spec: Any, status: Any, tries: tuple[Any, ...]) -> None:
    found = runs(thing(api, kind, "t", spec, status))["t"]
    assert (found["counted"], found["used"], found["allowed"]) == tries


def test_jobs_that_completed_are_left_out_without_a_queue() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
    found = runs(
        thing("batch/v1", "Job", "plain", {}, done),
        thing("batch/v1", "Job", "queued", {}, done, labels={"kueue.x-k8s.io/queue-name": "jugs"}),
        thing("batch/v1", "Job", "held", {"suspend": True}),
    )
    assert {name: row["state"] for name, row in found.items()} == {"queued": "Complete", "held": "Suspended"}
