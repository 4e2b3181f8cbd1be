"""Ray's facts: states of both generations of operators, retries, worker counts, what a job waits for, what pages show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts.ray import clusters, groups, jobs, services
from analyzer.facts.values import Stored
from tests.facts.build import database, rows
from tests.show.pages import page, section

AT = "2026-11-01T11:00:00Z"


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": AT}


def item(kind: str, spec: Any, status: Any) -> Stored:
    return Stored(1, 0, "ray.io", kind, "bay", "reef", "u", None, None, {"metadata": {}, "spec": spec, "status": status})


@pytest.mark.parametrize(
    ("spec", "status", "state"),
    [
        ({}, {}, "Pending"),
        ({}, {"jobDeploymentStatus": "Initializing"}, "Pending"),
        ({}, {"jobDeploymentStatus": "Waiting"}, "Pending"),
        ({}, {"jobDeploymentStatus": "WaitForDashboard"}, "Pending"),
        ({}, {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, "Running"),
        ({}, {"jobDeploymentStatus": "Running", "jobStatus": "SUCCEEDED"}, "Running"),
        ({}, {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "Succeeded"),
        ({}, {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "Stopped"),
        ({"suspend": True}, {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "Succeeded"),
        ({}, {"jobDeploymentStatus": "Complete", "jobStatus": "FAILED"}, "Failed"),
        ({}, {"jobDeploymentStatus": "Retrying"}, "Retrying"),
        ({"suspend": True}, {}, "Suspended"),
        ({}, {"jobDeploymentStatus": "Suspending"}, "Suspended"),
        ({}, {"jobDeploymentStatus": "FailedJobDeploy"}, "Failed"),
        ({}, {"jobDeploymentStatus": "ValidationFailed"}, "Failed"),
        ({"backoffLimit": 2}, {"jobDeploymentStatus": "Failed", "failed": 2, "reason": "AppFailed"}, "Retrying"),
        ({"backoffLimit": 2}, {"jobDeploymentStatus": "Failed", "failed": 3, "reason": "AppFailed"}, "Failed"),
        ({"backoffLimit": 2}, {"jobDeploymentStatus": "Failed", "failed": 1, "reason": "DeadlineExceeded"}, "Failed"),
        (
            {"backoffLimit": 2},
            {"jobDeploymentStatus": "Failed", "failed": 1, "reason": "JobStatusCheckTimeoutExceeded"},
            "Failed",
        ),
        ({}, {"jobDeploymentStatus": "Failed", "failed": 1, "reason": "AppFailed"}, "Failed"),
    ],
)
def test_the_state_of_a_job(spec: dict[str, Any], status: dict[str, Any], state: str) -> None:
    assert jobs.read(item("RayJob", spec, status)).state == state


def test_attempts_are_counted_from_one() -> None:
    again = jobs.read(item("RayJob", {"backoffLimit": 2}, {"jobDeploymentStatus": "Retrying", "failed": 1}))
    assert (again.attempt, again.attempts) == (2, 3)
    over = jobs.read(item("RayJob", {"backoffLimit": 2}, {"jobDeploymentStatus": "Failed", "failed": 3}))
    assert (over.attempt, over.attempts) == (3, 3)


BOTH = {"activeServiceStatus": {"rayClusterName": "a"}, "pendingServiceStatus": {"rayClusterName": "b"}}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, "Not ready"),
        ({"serviceStatus": "Running"}, "Ready"),
        ({"serviceStatus": "Restarting"}, "Not ready"),
        (BOTH | {"serviceStatus": "Running"}, "Upgrading"),
        (BOTH | {"conditions": [condition("Ready"), condition("UpgradeInProgress", "False")]}, "Ready"),
        ({"conditions": [condition("Ready")]}, "Ready"),
        ({"conditions": [condition("Ready", "False", "ZeroServeEndpoints")]}, "Not ready"),
        ({"conditions": [condition("Ready", "False", "InitializingTimeout"), condition("UpgradeInProgress")]}, "Failed"),
        ({"conditions": [condition("Ready", "False", "SuspendInProgress")]}, "Suspended"),
        (
            {"conditions": [condition("RollbackInProgress"), condition("UpgradeInProgress"), condition("Ready")]},
            "Rollback in progress",
        ),
    ],
)
def test_the_state_of_a_service(status: dict[str, Any], state: str) -> None:
    assert services.read(item("RayService", {}, status)).state == state


@pytest.mark.parametrize(
    ("group", "autoscaling", "wanted", "limits"),
    [
        ({"replicas": 2, "minReplicas": 3, "maxReplicas": 5}, False, 3, "3"),
        ({"replicas": 9, "maxReplicas": 5}, False, 5, "5"),
        ({"replicas": 2, "numOfHosts": 4}, False, 8, "2"),
        ({"replicas": 2, "suspend": True}, False, 0, "2"),
        ({"minReplicas": 1, "maxReplicas": 2147483647}, True, 1, "at least 1, no upper limit"),
        ({"replicas": 1}, True, 1, "at least 0, no upper limit"),
        ({"replicas": 1, "minReplicas": 1, "maxReplicas": 4}, True, 1, "1 to 4"),
        ({"replicas": 2147483647, "numOfHosts": 2147483647}, False, 2147483647, "2147483647"),
        ({"replicas": "many"}, False, 0, "0"),
    ],
)
def test_wanted_workers(group: dict[str, Any], autoscaling: bool, wanted: int, limits: str) -> None:
    (found,) = groups.read_groups({"enableInTreeAutoscaling": autoscaling, "workerGroupSpecs": [group]})
    assert (found.wanted, found.limits) == (wanted, limits)


def pod(name: str, role: str, group: str, *, ready: bool, **metadata: Any) -> dict[str, Any]:
    labels = {"ray.io/cluster": "reef", "ray.io/node-type": role, "ray.io/group": group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "bay", "labels": labels} | metadata,
        "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
        "status": {
            "phase": "Running",
            "conditions": [condition("Ready", "True" if ready else "False")],
            "containerStatuses": [{"name": "c", "ready": ready, "restartCount": 0, "state": {"running": {"startedAt": AT}}}],
        },
    }


def ray(kind: str, name: str, spec: Any, status: Any, **metadata: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "bay"} | metadata
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


WORLD = [
    ray("RayCluster", "reef", {"workerGroupSpecs": [{"groupName": "fish", "replicas": 2}]},
        {"state": "ready", "conditions": [condition("HeadPodReady"), condition("RayClusterProvisioned")]}),
    pod("reef-head", "head", "headgroup", ready=False),
    pod("reef-w1", "worker", "fish", ready=True),
    pod("reef-w2", "worker", "fish", ready=True, deletionTimestamp=AT),
    ray("RayService", "dive",
        {"serveConfigV2": "applications:\n- name: fins\n  args:\n    depth: 3\n"},
        {"activeServiceStatus": {"rayClusterName": "reef", "applicationStatuses": {"fins": {
            "status": "RUNNING", "serveDeploymentStatuses": {"Kick": {"status": "UNHEALTHY", "message": "replica died"}}}}},
         "numServeEndpoints": 0, "conditions": [condition("Ready", "False", "ZeroServeEndpoints", "none")]}),
    ray("RayJob", "swim", {"entrypoint": "python swim.py", "clusterSelector": {"ray.io/cluster": "reef"}},
        {"jobDeploymentStatus": "Initializing", "rayClusterName": "reef", "startTime": AT}, uid="j1"),
]  # fmt: skip


def test_counts_edges_and_words_of_a_small_world() -> None:
    con = database(WORLD)
    (cluster,) = rows(con, "SELECT * FROM ray_clusters")
    assert (cluster["state"], cluster["head_told"], cluster["workers_wanted"], cluster["workers_ready"]) == (
        "Head not ready",
        "pod",
        2,
        1,
    )
    (group,) = rows(con, "SELECT * FROM ray_groups")
    assert (group["pods"], group["ready"], group["missing"]) == (1, 1, 1)
    edges = rows(
        con,
        "SELECT r.kind, s.name AS src, d.name AS dst FROM relations r JOIN objects s ON s.object_id = r.src "
        "JOIN objects d ON d.object_id = r.dst WHERE r.kind IN ('ray', 'head', 'part')",
    )
    told = {(edge["kind"], edge["src"], edge["dst"]) for edge in edges}
    assert {("head", "reef-head", "reef"), ("ray", "reef", "dive"), ("ray", "reef", "swim"), ("part", "dive", "reef")} <= told
    assert ("part", "reef", "reef-w1") in told
    assert ("part", "reef", "reef-head") not in told
    (job,) = rows(con, "SELECT * FROM ray_jobs")
    assert "head pod reef-head is not ready" in job["waits_for"]
    assert "1 of 2 workers are ready" in job["waits_for"]


def test_pages() -> None:
    con = database(WORLD)
    cluster = section(page(con, "raycluster/reef", "bay"), "Cluster")
    assert any("it stays so when pods fail" in line for line in cluster)
    assert any("reef-head" in line and "not ready" in line for line in cluster)
    assert any("1 of 2" in line for line in section(page(con, "raycluster/reef", "bay"), "Worker groups"))
    service = page(con, "rayservice/dive", "bay")
    assert any("replica died" in line for line in section(service, "Serve applications"))
    assert any("depth: 3" in line for line in section(service, "Serve config"))
    assert "python swim.py" in page(con, "rayjob/swim", "bay")


def test_pages_of_sets() -> None:
    labels = {"leaderworkerset.sigs.k8s.io/name": "choir", "leaderworkerset.sigs.k8s.io/group-index": "0"}
    leader = pod("choir-0", "head", "x", ready=False)
    leader["metadata"]["labels"] = labels | {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
    choir = ray(
        "LeaderWorkerSet", "choir", {"replicas": 1, "leaderWorkerTemplate": {"size": 2}}, {"conditions": [condition("Available")]}
    )
    choir["apiVersion"] = "leaderworkerset.x-k8s.io/v1"
    failed = [condition("Failed", "True", "ReachedMaxRestarts", "no more (first failed job: loom-warp-0)")]
    loom = ray(
        "JobSet", "loom", {"failurePolicy": {"maxRestarts": 1}, "replicatedJobs": [{"name": "warp"}]},
        {"restarts": 1, "conditions": failed},
    )  # fmt: skip
    loom["apiVersion"] = "jobset.x-k8s.io/v1alpha2"
    owner = {"kind": "JobSet", "name": "loom", "uid": "u-loom", "apiVersion": loom["apiVersion"], "controller": True}
    loom["metadata"]["uid"] = "u-loom"
    first = ray("Job", "loom-warp-0", {}, {"conditions": [condition("Failed", "True", "BackoffLimitExceeded", "limit")]})
    first |= {"apiVersion": "batch/v1", "metadata": first["metadata"] | {"uid": "u-warp", "ownerReferences": [owner]}}
    first["metadata"]["labels"] = {"jobset.sigs.k8s.io/jobset-name": "loom", "jobset.sigs.k8s.io/restart-attempt": "1"}
    end = {"terminated": {"exitCode": 4, "reason": "Error", "message": "shuttle is stuck"}}
    dead = pod("loom-warp-0-0", "", "x", ready=False)
    dead["metadata"] |= {"labels": {}, "ownerReferences": [owner | {"kind": "Job", "name": "loom-warp-0", "uid": "u-warp"}]}
    dead["status"] = {"phase": "Failed", "containerStatuses": [{"name": "c", "state": end}]}
    con = database([choir, leader, loom, first, dead])
    assert any("1 group not whole" in line for line in section(page(con, "leaderworkerset/choir", "bay"), "Groups"))
    shown = page(con, "jobset/loom", "bay")
    assert any("1 of 1 used, 0 left" in line for line in section(shown, "Restarts"))
    assert any("loom-warp-0" in line for line in section(shown, "Failed first"))
    assert 'Its last message: "shuttle is stuck"' in section(shown, "Failed first")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "conditions",
    "state",
    "head",
    "workerGroupSpecs",
    "suspend",
    "jobDeploymentStatus",
    "jobStatus",
    "failed",
    "backoffLimit",
]
FIELDS += ["activeServiceStatus", "pendingServiceStatus", "serviceStatus", "numServeEndpoints", "desiredWorkerReplicas"]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), values), st.dictionaries(st.sampled_from(FIELDS), values))
def test_any_shape_has_a_state(spec: dict[str, Any], status: dict[str, Any]) -> None:
    cluster = clusters.read(item("RayCluster", spec, status))
    clusters.settle(cluster, [], pods_whole=True)
    assert clusters.row(cluster)["state"]
    job = jobs.read(item("RayJob", spec, status))
    assert jobs.row(job, None, None)["state"]
    service = services.read(item("RayService", spec, status))
    services.blame(service, {"reef": cluster}, whole=False)
    assert services.rows(service, {})["state"]
    assert len(list(services.application_rows(service))) == len(service.applications)


def ended_submitter(kind: str, at: str, job_status: str = "RUNNING") -> dict[str, Any]:
    owner = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "dive", "uid": "u-dive", "controller": True}
    status = {"jobDeploymentStatus": "Running", "jobStatus": job_status}
    con = database(
        [
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayJob",
                "metadata": {"name": "dive", "namespace": "bay", "uid": "u-dive"},
                "status": status,
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "dive", "namespace": "bay", "ownerReferences": [owner]},
                "status": {"conditions": [{"type": kind, "status": "True", "lastTransitionTime": at}]},
            },
        ]
    )
    (row,) = rows(con, "SELECT * FROM ray_jobs")
    return row | {"page": page(con, "rayjob/dive", "bay")}


def test_a_job_that_is_said_to_run_while_its_submitter_ended_long_ago() -> None:
    row = ended_submitter("Complete", "2026-11-01T09:00:00Z")
    assert (row["state"], row["submitter_end"]) == ("Running", "Complete")
    (line,) = [line for line in section(row["page"], "Job") if line.startswith("It may be over:")]
    assert "its submitter ended (Complete) 3 h before" in line
    assert line.endswith('while the status still says "RUNNING"')
    assert ended_submitter("Failed", "2026-11-01T09:00:00Z")["submitter_end"] == "Failed"


def test_a_submitter_that_ended_just_now_or_with_its_job_contradicts_nothing() -> None:
    assert ended_submitter("Complete", "2026-11-01T11:57:00Z")["submitter_end"] is None
    assert ended_submitter("Complete", "2026-11-01T09:00:00Z", "SUCCEEDED")["submitter_end"] is None
    assert ended_submitter("SuccessCriteriaMet", "2026-11-01T09:00:00Z")["submitter_end"] is None
