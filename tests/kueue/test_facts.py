"""Kueue's tables: states, quota over cohort trees, places in a queue, jobs and edges, of both API versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.facts.build import database

OLD, NEW = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
ALL = [("kueue.x-k8s.io", kind) for kind in ("ClusterQueue", "LocalQueue", "Cohort", "Workload", "ResourceFlavor", "Topology")]


def kueue(kind: str, name: str, spec: Any = None, status: Any = None, version: str = NEW, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name} | metadata,
        "spec": spec if spec is not None else {},
        "status": status if status is not None else {},
    }


def queue(name: str, *, cohort: str | None = None, version: str = NEW, **quota: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "hot", "resources": [{"name": "cpu"} | quota]}]}]
    }
    if cohort:
        spec["cohort" if version == OLD else "cohortName"] = cohort
    return kueue("ClusterQueue", name, spec, active(), version)


def active(status: str = "True", reason: str = "Ready", message: str = "m") -> dict[str, Any]:
    return {"conditions": [condition("Active", status, reason, message)]}


def condition(kind: str, status: str, reason: str = "", message: str = "", at: str = "2026-11-01T11:00:00Z") -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def workload(name: str, *conditions: dict[str, Any], version: str = NEW, spec: Any = None, **metadata: Any) -> dict[str, Any]:
    space = metadata.pop("namespace", "pottery")
    return kueue(
        "Workload", name, spec or {"queueName": "jugs"}, {"conditions": list(conditions)}, version, namespace=space, **metadata
    )


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return con.execute(query).fetchall()


def states(objects: Sequence[dict[str, Any]]) -> dict[str, str]:
    con = database(objects, lists=ALL)
    return dict(rows(con, "SELECT name, state FROM states WHERE api_group = 'kueue.x-k8s.io'"))


def test_the_order_of_states() -> None:
    admitted = (condition("QuotaReserved", "True"), condition("Admitted", "True"))
    evicted = condition("Evicted", "True", "Preempted", "Preempted to accommodate a workload (UID: u) due to x")
    waits = condition("QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor hot, 1 more needed")
    found = states(
        [
            workload("deleting", condition("Finished", "True", "Succeeded"), deletionTimestamp="2026-11-01T11:00:00Z"),
            workload("finished", condition("Finished", "True", "Succeeded"), spec={"active": False}),
            workload("deactivated", *admitted, spec={"active": False}),
            workload("deactivated-by-eviction", condition("Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded")),
            workload(
                "admitted",
                *admitted,
                condition("Evicted", "False", "QuotaReserved", "Previously: Exceeded the PodsReady timeout"),
            ),
            workload("stopping", *admitted, evicted),
            workload("again", waits, evicted),
            workload("checks", condition("QuotaReserved", "True"), condition("Admitted", "False", "UnsatisfiedChecks")),
            workload("inadmissible", condition("QuotaReserved", "False", "ExceedsMaxQuota", "x")),
            workload("held", condition("QuotaReserved", "False", "AdmissionGated", "Admission is gated by: x")),
            workload("group", waits, condition("WaitingForReplacementPods", "True")),
            workload("zero", condition("QuotaReserved", "False", "OnHold", "")),
            workload("pending", waits),
            workload("fresh"),
        ]
    )
    assert found == {
        "deleting": "Deleting",
        "finished": "Finished",
        "deactivated": "Deactivated",
        "deactivated-by-eviction": "Deactivated",
        "admitted": "Admitted",
        "stopping": "Evicted",
        "again": "Evicted",
        "checks": "Waiting for admission checks",
        "inadmissible": "Inadmissible",
        "held": "Held",
        "group": "Held",
        "zero": "Held",
        "pending": "Pending",
        "fresh": "Pending",
    }


@pytest.mark.parametrize(
    ("cluster_queue", "reason", "state"),
    [
        (active(), "Suspended", "Held"),
        (active("False", "FlavorNotFound"), "Suspended", "Held"),
        (active("False", "FlavorNotFound"), "Inadmissible", "Inadmissible"),
        (active("False", "FlavorNotFound"), "Pending", "Inadmissible"),
        (active("False", "Stopped"), "Inadmissible", "Held"),
        (active("False", "Stopped"), "Pending", "Held"),
        (active(), "Pending", "Pending"),
    ],
)
def test_behind_a_queue_that_is_called_inactive(cluster_queue: Any, reason: str, state: str) -> None:
    found = states(
        [
            kueue("ClusterQueue", "kiln", {}, cluster_queue),
            kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, active(), namespace="pottery"),
            workload("w", condition("QuotaReserved", "False", reason, "ClusterQueue kiln is inactive")),
        ]
    )
    assert found["w"] == state


def test_queues() -> None:
    found = states(
        [
            kueue("ClusterQueue", "stop-policy", {"stopPolicy": "Hold"}, active()),
            kueue("ClusterQueue", "going", {}, active("False", "Terminating")),
            kueue("ClusterQueue", "told-nothing", {}),
            kueue("LocalQueue", "orphan", {"clusterQueue": "gone"}, namespace="a"),
            kueue("LocalQueue", "stopped", {"clusterQueue": "stop-policy", "stopPolicy": "HoldAndDrain"}, namespace="a"),
            kueue("LocalQueue", "below", {"clusterQueue": "going"}, active("False", "ClusterQueueIsInactive"), namespace="a"),
        ]
    )
    assert found == {
        "stop-policy": "Stopped",
        "going": "Terminating",
        "orphan": "Orphaned",
        "stopped": "Stopped",
        "below": "Inactive",
    }


def test_an_orphan_needs_a_complete_list_or_kueues_word() -> None:
    con = database(
        [kueue("LocalQueue", "q", {"clusterQueue": "gone"}, active(), namespace="a")], lists=[("kueue.x-k8s.io", "LocalQueue")]
    )
    assert rows(con, "SELECT state FROM kueue_queues") == [("Active",)]


def capacities(objects: Sequence[dict[str, Any]]) -> dict[str, str | None]:
    con = database(objects, lists=ALL)
    return dict(rows(con, "SELECT name, capacity FROM kueue_quota WHERE kind = 'ClusterQueue'"))


@pytest.mark.parametrize("version", [OLD, NEW])
def test_capacity_in_a_cohort(version: str) -> None:
    found = capacities(
        [
            queue("alone", nominalQuota="5", borrowingLimit="9", version=version),
            queue("free", cohort="clay", nominalQuota="4", version=version),
            queue("limited", cohort="clay", nominalQuota="2", borrowingLimit="1500m", version=version),
            queue("keeps", cohort="clay", nominalQuota="10", lendingLimit="3", version=version),
            queue("empty", cohort="clay", nominalQuota="", version=version),
        ]
    )
    # The cohort has 4 + 2 + 3; what `keeps` does not lend it has for itself.
    assert found == {"alone": "5", "free": "9", "limited": "3500m", "keeps": "16", "empty": "9"}


def test_capacity_cannot_be_told() -> None:
    circle = [kueue("Cohort", "clay", {"parentName": "glaze"}), kueue("Cohort", "glaze", {"parentName": "clay"})]
    assert capacities([*circle, queue("q", cohort="clay", nominalQuota="1")]) == {"q": None}
    assert capacities([queue("q", cohort="clay", nominalQuota="1"), queue("other", cohort="clay", nominalQuota="odd")]) == {
        "q": None,
        "other": None,
    }


def test_a_deep_tree_and_a_circle_below_it_end() -> None:
    chain = [kueue("Cohort", f"c{n}", {"parentName": f"c{n + 1}"}) for n in range(3_000)]
    assert capacities([*chain, queue("q", cohort="c0", nominalQuota="1")]) == {"q": "1"}


def test_positions_go_by_priority_then_time() -> None:
    waits = condition("QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor hot, 1 more needed")
    evicted = condition("Evicted", "True", "PodsReadyTimeout", "x", "2026-11-01T11:30:00Z")
    preempted = condition("Evicted", "True", "Preempted", "x", "2026-11-01T11:30:00Z")
    early, late = "2026-11-01T09:00:00Z", "2026-11-01T10:00:00Z"
    con = database(
        [
            queue("kiln", nominalQuota="5"),
            kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, active(), namespace="pottery"),
            workload("late", waits, creationTimestamp=late),
            workload("requeued", waits, evicted, creationTimestamp=early),
            workload("preempted", waits, preempted, creationTimestamp=early),
            workload("high", waits, creationTimestamp=late, spec={"queueName": "jugs", "priority": 10}),
            workload("runs", condition("QuotaReserved", "True"), condition("Admitted", "True"), creationTimestamp=early),
        ],
        lists=ALL,
    )
    found = rows(con, "SELECT name FROM workloads WHERE position IS NOT NULL ORDER BY position")
    assert found == [("high",), ("preempted",), ("late",), ("requeued",)]


def test_requests_of_a_template() -> None:
    template = {
        "spec": {
            "overhead": {"cpu": "100m"},
            "initContainers": [
                {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                {"name": "peak", "resources": {"requests": {"cpu": "4", "memory": "1Gi"}}},
            ],
            "containers": [
                {"name": "a", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3", "memory": "512Mi"}}},
                {"name": "b", "resources": {"requests": {"cpu": "500m"}}},
            ],
        }
    }
    con = database(
        [workload("w", spec={"queueName": "q", "podSets": [{"name": "main", "count": 2, "template": template}]})], lists=ALL
    )
    # An init container of 4 beside the sidecar is more than the containers and the sidecar; the overhead is on top.
    assert rows(con, "SELECT resource, amount, source FROM workload_pod_sets ORDER BY resource") == [
        ("cpu", "10200m", "template"),
        ("memory", "2Gi", "template"),
    ]


def test_recorded_requests_come_first() -> None:
    one = workload("w", spec={"queueName": "q", "podSets": [{"name": "main", "count": 2}]})
    one["status"] = {"resourceRequests": [{"name": "main", "resources": {"cpu": 3, "example.com/wheel": "1e3"}}]}
    con = database([one], lists=ALL)
    assert rows(con, "SELECT resource, amount, source, path FROM workload_pod_sets ORDER BY resource") == [
        ("cpu", "3", "status", 'status.resourceRequests[0].resources["cpu"]'),
        ("example.com/wheel", "1000", "status", 'status.resourceRequests[0].resources["example.com/wheel"]'),
    ]


@pytest.mark.parametrize(
    "assignment",
    [
        {
            "levels": ["rack", "node"],
            "domains": [{"values": ["r1", "n-7.lan"], "count": 2}, {"values": ["r1", "n-8.lan"], "count": 1}],
        },
        {
            "levels": ["rack", "node"],
            "slices": [
                {
                    "domainCount": 2,
                    "valuesPerLevel": [
                        {"universal": "r1"},
                        {"individual": {"prefix": "n-", "suffix": ".lan", "roots": ["7", "8"]}},
                    ],
                    "podCounts": {"individual": [2, 1]},
                }
            ],
        },
    ],
)
def test_assigned_domains_of_both_versions(assignment: dict[str, Any]) -> None:
    one = workload("w", condition("QuotaReserved", "True"), spec={"queueName": "q", "podSets": [{"name": "main", "count": 3}]})
    one["status"]["admission"] = {
        "clusterQueue": "kiln",
        "podSetAssignments": [
            {"name": "main", "flavors": {"cpu": "hot"}, "resourceUsage": {"cpu": "3"}, "topologyAssignment": assignment}
        ],
    }
    con = database([one], lists=ALL)
    assert rows(con, "SELECT flavor, domain_count, domains FROM workload_pod_sets") == [
        ("hot", 2, ["r1/n-7.lan (2 pods)", "r1/n-8.lan (1 pod)"])
    ]


def test_evictions_of_old_versions_by_their_traces() -> None:
    ran = workload("ran", condition("QuotaReserved", "True"), condition("Admitted", "True"))
    ran["status"]["accumulatedPastExexcutionTimeSeconds"] = 90
    con = database(
        [
            ran,
            workload(
                "was",
                condition("QuotaReserved", "True"),
                condition("Evicted", "False", "QuotaReserved", "Previously: Preempted to x"),
            ),
            workload("never", condition("QuotaReserved", "True"), condition("Evicted", "False", "QuotaReserved", "")),
        ],
        lists=ALL,
    )
    assert dict(rows(con, "SELECT name, evictions FROM workloads")) == {"ran": 1, "was": 1, "never": 0}


def test_edges_from_the_flavor_to_the_pod() -> None:
    con = database(
        [
            kueue("Topology", "halls"),
            kueue("ResourceFlavor", "hot", {"topologyName": "halls"}),
            kueue("Cohort", "clay"),
            queue("kiln", cohort="clay", nominalQuota="1"),
            kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, active(), namespace="pottery"),
            workload("job-jug-0a1b2", namespace="pottery", labels={"kueue.x-k8s.io/job-uid": "uj"}),
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "jug", "namespace": "pottery", "uid": "uj"}},
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "jug-x",
                    "namespace": "pottery",
                    "ownerReferences": [
                        {"apiVersion": "batch/v1", "kind": "Job", "name": "jug", "uid": "uj", "controller": True}
                    ],
                },
                "spec": {"containers": []},
                "status": {"phase": "Pending"},
            },
        ],
        lists=ALL,
    )
    found = rows(
        con,
        "SELECT s.kind, d.kind, r.kind FROM relations r JOIN objects s ON s.object_id = r.src "
        "JOIN objects d ON d.object_id = r.dst WHERE r.kind IN ('flavor', 'cohort', 'queue', 'workload') ORDER BY ALL",
    )
    assert found == [
        ("ClusterQueue", "LocalQueue", "queue"),
        ("Cohort", "ClusterQueue", "cohort"),
        ("Job", "Pod", "workload"),
        ("LocalQueue", "Workload", "queue"),
        ("ResourceFlavor", "ClusterQueue", "flavor"),
        ("Topology", "ResourceFlavor", "flavor"),
        ("Workload", "Job", "workload"),
    ]


def test_one_job_with_several_workloads_has_the_newest_that_is_not_finished() -> None:
    marks: dict[str, Any] = {"labels": {"kueue.x-k8s.io/job-uid": "uj"}, "namespace": "pottery"}
    con = database(
        [
            workload("first", condition("Finished", "True", "Succeeded"), creationTimestamp="2026-11-01T11:50:00Z", **marks),
            workload("second", creationTimestamp="2026-11-01T10:00:00Z", **marks),
            workload("third", creationTimestamp="2026-11-01T11:00:00Z", **marks),
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "jug", "namespace": "pottery", "uid": "uj"}},
        ],
        lists=ALL,
    )
    assert rows(con, "SELECT w.name, j.joined_by FROM kueue_jobs j JOIN workloads w ON w.object_id = j.workload_id") == [
        ("third", "uid")
    ]


WORDS = """
    spec status conditions type reason message podSets name count minCount template containers resources requests
    cpu resourceGroups flavors nominalQuota borrowingLimit lendingLimit coveredResources cohort cohortName
    parentName admission podSetAssignments resourceUsage admissionChecks state schedulingStats evictions
    requeueState active queueName clusterQueue stopPolicy total flavorsReservation resourceRequests
    reclaimablePods topologyRequest parameters kind initContainers overhead
"""
FIELDS = st.sampled_from(WORDS.split())
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.text(max_size=8),
    st.sampled_from(["main", "hot", "cpu", "kiln", "1Gi"]),
)
ODD = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(FIELDS, inner, max_size=5)),
    max_leaves=25,
)


SHAPES = st.lists(st.tuples(st.sampled_from([kind for _, kind in ALL]), ODD, ODD), min_size=20, max_size=60)


@settings(max_examples=6, deadline=None)
@given(SHAPES)
def test_objects_of_any_shape_are_read(values: list[tuple[str, Any, Any]]) -> None:
    objects = [
        {"apiVersion": NEW, "kind": kind, "metadata": {"name": f"n{i}", "namespace": "pottery"}, "spec": spec, "status": status}
        for i, (kind, spec, status) in enumerate(values)
    ]
    con = database(objects, lists=ALL)
    assert rows(con, "SELECT count(*) FROM workloads") == [(sum(kind == "Workload" for kind, _, _ in values),)]


def test_requests_of_the_pod_as_a_whole() -> None:
    # What the pod asks for as a whole takes the place of the sum; its own limit counts only where no container asks.
    template = {
        "spec": {
            "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "9", "memory": "8Gi", "example/fan": "1"}},
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
        }
    }
    spec = {"queueName": "jugs", "podSets": [{"name": "main", "count": 2, "template": template}]}
    con = database([workload("w", spec=spec)], lists=ALL)
    assert rows(con, "SELECT resource, amount FROM workload_pod_sets ORDER BY resource") == [
        ("cpu", "6"),
        ("example/fan", "2"),
        ("memory", "2Gi"),
    ]
