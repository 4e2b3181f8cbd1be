"""What domains add: Kueue's quota, waiting list, pod sets and queue of a job; the GPUs of a Node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from tests.facts.build import database

from .pages import page, section, thing

WAITS = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed"
)  # fmt: skip


def workload(name: str, at: str, **status: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": "4"}}}]}
    return thing(
        "kueue.x-k8s.io/v1beta1", "Workload", name, "lab", metadata={"uid": f"w-{name}", "creationTimestamp": at},
        spec={"queueName": "team", "active": True, "podSets": [{"name": "main", "count": 2, "template": {"spec": pod}}]},
        status=status or {"conditions": [
            {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": WAITS, "lastTransitionTime": at}]},
    )  # fmt: skip


OBJECTS = [
    thing("kueue.x-k8s.io/v1beta1", "ResourceFlavor", "h100"),
    thing("kueue.x-k8s.io/v1beta1", "ClusterQueue", "main",
          spec={"cohort": "all", "queueingStrategy": "BestEffortFIFO", "resourceGroups": [
              {"coveredResources": ["nvidia.com/gpu"], "flavors": [
                  {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "4"}]}]}]},
          status={"pendingWorkloads": 2, "admittedWorkloads": 1, "reservingWorkloads": 1,
                  "conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "Can admit new workloads"}],
                  "flavorsReservation": [{"name": "h100", "resources": [
                      {"name": "nvidia.com/gpu", "total": "10", "borrowed": "2"}]}],
                  "flavorsUsage": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "10"}]}]}),
    thing("kueue.x-k8s.io/v1beta1", "LocalQueue", "team", "lab", spec={"clusterQueue": "main"},
          status={"pendingWorkloads": 2, "conditions": [{"type": "Active", "status": "True", "reason": "Ready"}]}),
    workload("job-later", "2026-11-01T11:00:00Z"),
    workload("job-first", "2026-11-01T10:00:00Z"),
    thing("batch/v1", "Job", "train", "lab", spec={"suspend": True},
          metadata={"uid": "j-1", "labels": {"kueue.x-k8s.io/queue-name": "team"}}),
    thing("v1", "Node", "g1",
          metadata={"labels": {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "Some-GPU-80GB",
                               "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559", "nvidia.com/mig.capable": "true",
                               "nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}},
          status={"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "7"},
                  "conditions": [{"type": "Ready", "status": "True"}]}),
]  # fmt: skip


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with database(OBJECTS) as con:
        yield con


def test_a_cluster_queue_has_its_quota_beside_its_use(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "cq/main"), "Quota")
    assert lines[1].split("  ")[0] == "flavor"
    assert lines[2].split() == ["h100", "nvidia.com/gpu", "8", "10", "2", "125", "%", "10", "4"]
    assert "By its status: 2 pending, 1 reserving, 1 admitted" in section(page(con, "cq/main"), "Queue")


@pytest.mark.parametrize("name", ["cq/main", "lq/team"])
def test_a_queue_lists_who_waits_oldest_first(con: duckdb.DuckDBPyConnection, name: str) -> None:
    lines = section(page(con, name), "Waiting (2 workloads, oldest first)")
    assert [line.split()[0].removeprefix("lab/") for line in lines[2:4]] == ["job-first", "job-later"]
    assert "insufficient unused quota" in lines[2]
    assert "2 h" in lines[2]
    con.execute("UPDATE coverage SET status = 'partial' WHERE kind = 'Workload'")
    assert "others may wait too" in page(con, name)
    con.execute("UPDATE coverage SET status = 'complete' WHERE kind = 'Workload'")


def test_a_workload_says_why_it_waits_and_what_it_asks_for(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "workload/job-first")
    queue = section(text, "In the queue")
    assert any(line.startswith("Cluster queue:") and line.endswith("main") for line in queue)
    assert any(line.startswith("Waits:") and line.endswith("for 2 h, since 10:00:00") for line in queue)
    assert f'"{WAITS}"' in text
    assert section(text, "Pod sets")[2].split() == ["main", "2", "nvidia.com/gpu", "8", "none", "yet"]


def test_a_job_has_its_queue(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "job/train"), "Queue")
    assert "Queue:    team" in lines
    assert "Workload: there is none" in lines
    assert section(page(con, "node/g1"), "Queue") == []


def test_a_node_without_labels_has_the_gpus_that_a_driver_publishes() -> None:
    attributes = {"type": {"string": "gpu"}, "productName": {"string": "FOX-9"}, "driverVersion": {"version": "580.1.2"}}
    gpus = [{"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}} for number in (0, 1)]
    pool = {"name": "g9", "generation": 1, "resourceSliceCount": 2}
    spec = {"driver": "gpu.nvidia.com", "nodeName": "g9", "pool": pool, "devices": gpus}
    bare = thing("v1", "Node", "g9", status={"capacity": {"cpu": "8"}})
    text = page(database([bare, thing("resource.k8s.io/v1", "ResourceSlice", "s", spec=spec)]), "node/g9")
    lines = section(text, "GPUs")
    assert lines[1].endswith("at least 2 FOX-9, 81,920 MiB each")
    assert lines[2].endswith("driver 580.1.2")
    assert lines[3].endswith("DRA driver gpu.nvidia.com, by whose devices the model is told: the node is not labelled")
    assert any(line.startswith("gpu-0") for line in section(text, "Devices"))
    assert any(line.startswith("Publishes devices in:") for line in section(text, "Linked to"))


def test_a_node_whose_mig_layout_changes_says_who_changes_it() -> None:
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/mig.capable": "true", "nvidia.com/mig.config": "all-1g.10gb"}
    node = thing("v1", "Node", "g7", metadata={"labels": labels | {"nvidia.com/mig.config.state": "pending"}})
    manager = thing(
        "v1", "Pod", "nvidia-mig-manager-m1q7w", "gpu-operator",
        spec={"nodeName": "g7", "containers": [{"name": "nvidia-mig-manager", "image": "r.example/mig:1"}]},
        status={"phase": "Running"},
    )  # fmt: skip
    lines = section(page(database([node, manager]), "node/g7"), "GPUs")
    assert "MIG manager:  Pod gpu-operator/nvidia-mig-manager-m1q7w" in lines
    assert not any(line.startswith("MIG manager") for line in section(page(database([node]), "node/g7"), "GPUs"))


def test_a_node_has_its_gpus(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "node/g1")
    lines = section(text, "GPUs")
    assert any(line.endswith("8 Some-GPU-80GB, 81,559 MiB each") for line in lines)
    assert any(line.startswith("MIG state:") and '"failed"' in line for line in lines)
    assert section(text, "GPU resources")[2].split() == [
        "nvidia.com/gpu",
        "8",
        "7",
        "cannot",
        "tell:",
        "pods",
        "were",
        "not",
        "collected",
        "whole",
    ]
