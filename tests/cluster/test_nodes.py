"""Nodes: states, marks of who cordoned them, GPUs; and the cluster as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.facts import conditions, cordons, coverage, nodes
from analyzer.facts.cluster import cluster_facts


def _node(name: str = "n1", ready: Any = "True", **parts: Any) -> dict[str, Any]:
    spec, metadata, status = parts.get("spec", {}), parts.get("metadata", {}), parts.get("status", {})
    status = {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2026-05-04T10:00:00Z"}], **status}
    return {"kind": "Node", "metadata": {"name": name, **metadata}, "spec": spec, "status": status}


CORDON = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unschedulable", "timeAdded": "2026-05-04T11:00:00Z"}]}


@pytest.mark.parametrize(
    ("node", "state", "hour"),
    [
        (_node(), "Ready", 10),
        (_node(ready="False"), "Not ready", 10),
        (_node(ready="Unknown"), "Unknown", 10),
        (_node(spec=CORDON), "Cordoned", 11),
        (_node(ready="False", spec=CORDON), "Not ready", 10),
        (_node(ready=None, spec=CORDON), "Unknown", 10),
    ],
)
def test_the_first_state_that_applies(make: Any, node: dict[str, Any], state: str, hour: int) -> None:
    con = make([node])
    nodes.derive(con)
    assert con.execute("SELECT state, since FROM nodes").fetchall() == [
        (state, datetime(2026, 5, 4, hour, tzinfo=UTC).replace(tzinfo=None))
    ]
    assert con.execute("SELECT kind, name, state FROM states").fetchall() == [("Node", "n1", state)]


def test_odd_nodes_are_no_error(make: Any) -> None:
    odd = [
        {"kind": "Node", "metadata": {"name": "bare"}},
        {"kind": "Node", "metadata": {"name": "b", "labels": []}, "spec": 1, "status": {"conditions": {"Ready": "True"}}},
        {
            "kind": "Node",
            "metadata": {"name": "c"},
            "spec": {"taints": ["x"]},
            "status": {"conditions": ["x", {"type": "Ready"}]},
        },
        {"apiVersion": "longhorn.io/v1", "kind": "Node", "metadata": {"name": "d"}},
    ]
    con = make(odd)
    nodes.derive(con)
    conditions.derive(con)
    assert con.execute("SELECT name, state, ready FROM nodes ORDER BY name").fetchall() == [
        ("b", "Unknown", None),
        ("bare", "Unknown", None),
        ("c", "Unknown", None),
    ]
    assert con.execute("SELECT name, idx, type FROM conditions").fetchall() == [("c", 1, "Ready")]


@pytest.mark.parametrize(
    ("node", "words", "path"),
    [
        ({"annotations": {"machineconfiguration.openshift.io/state": "Working"}}, "Machine Config", "openshift.io/state"),
        (
            {
                "annotations": {
                    "machineconfiguration.openshift.io/state": "Done",
                    "machineconfiguration.openshift.io/desiredDrain": "drain-rendered-worker-1",
                }
            },
            "drain the node",
            "desiredDrain",
        ),
        ({"labels": {"nvidia.com/gpu-driver-upgrade-state": "drain-required"}}, "NVIDIA", "upgrade-state"),
        ({"annotations": {"weave.works/kured-reboot-in-progress": "2026"}}, "kured", "kured"),
    ],
)
def test_what_may_have_cordoned_a_node(node: dict[str, Any], words: str, path: str) -> None:
    hint = cordons.explain({"metadata": node})
    assert hint is not None
    assert words in hint.words
    assert path in hint.path


def test_a_taint_of_the_autoscaler_is_a_mark_and_done_updates_are_none() -> None:
    hint = cordons.explain({"spec": {"taints": [{"key": "a"}, {"key": "ToBeDeletedByClusterAutoscaler"}]}})
    assert hint is not None
    assert hint.path == "spec.taints[1].key"
    done = {
        "annotations": {
            "machineconfiguration.openshift.io/state": "Done",
            "machineconfiguration.openshift.io/desiredDrain": "uncordon-rendered-worker-1",
        },
        "labels": {"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"},
    }
    assert cordons.explain({"metadata": done}) is None


@pytest.mark.parametrize(
    ("labels", "capacity", "gpu", "gpus"),
    [
        ({}, {"cpu": "4"}, False, 0),
        ({"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "8"}, {"nvidia.com/gpu": "32"}, True, 8),
        ({}, {"nvidia.com/gpu": "4"}, True, 4),
        ({}, {"nvidia.com/gpu": "0"}, False, 0),
        ({"nvidia.com/gpu.present": "true"}, {"nvidia.com/mig-1g.5gb": "7"}, True, None),
        ({"nvidia.com/gpu.present": "true"}, {}, True, None),
        ({"nvidia.com/gpu.count": "many"}, {"nvidia.com/gpu": ["x"]}, False, 0),
    ],
)
def test_gpus_of_a_node(make: Any, labels: dict[str, Any], capacity: dict[str, Any], gpu: bool, gpus: int | None) -> None:
    con = make([_node(metadata={"labels": labels}, status={"capacity": capacity})])
    nodes.derive(con)
    assert con.execute("SELECT gpu, gpus FROM nodes").fetchall() == [(gpu, gpus)]


def test_no_gpus_is_said_only_where_all_nodes_are_known(make: Any) -> None:
    for lists, counts in (([{"kind": "Node"}], (1, 0, 0)), ([], (1, None, None))):
        con = make([_node()], lists=lists)
        nodes.derive(con)
        coverage.derive(con)
        cluster = cluster_facts(con)
        assert (cluster.nodes, cluster.gpu_nodes, cluster.gpus) == counts
    empty = make()
    nodes.derive(empty)
    coverage.derive(empty)
    assert cluster_facts(empty).nodes is None


@pytest.mark.parametrize(
    ("objects", "documents", "version", "platform"),
    [
        (
            [_node(status={"nodeInfo": {"kubeletVersion": "v1.32.2+k3s1"}}, spec={"providerID": "k3s://n1"})],
            [],
            "Kubernetes v1.32.2+k3s1",
            "k3s",
        ),
        (
            [_node(status={"nodeInfo": {"kubeletVersion": "v1.31.4-eks-aeac579"}}, spec={"providerID": "aws:///eu/i-1"})],
            [],
            "Kubernetes v1.31.4-eks-aeac579",
            "EKS on AWS",
        ),
        ([_node()], [{"role": "cluster-version", "json": {"info": {"gitVersion": "v1.34.2"}}}], "Kubernetes v1.34.2", None),
        (
            [
                {
                    "apiVersion": "config.openshift.io/v1",
                    "kind": "ClusterVersion",
                    "status": {
                        "desired": {"version": "4.21.3"},
                        "history": [{"state": "Partial", "version": "4.21.3"}, {"state": "Completed", "version": "4.20.9"}],
                    },
                },
                {
                    "apiVersion": "config.openshift.io/v1",
                    "kind": "Infrastructure",
                    "status": {"platformStatus": {"type": "VSphere"}},
                },
            ],
            [],
            "OpenShift 4.20.9, updating to 4.21.3",
            "OpenShift on vSphere",
        ),
        (
            [
                _node(status={"nodeInfo": {"kubeletVersion": "v1.33.1"}}, spec={"providerID": "aws:///eu/i-1"}),
                {"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "dns"}},
            ],
            [],
            "Kubernetes v1.33.1",
            "OpenShift on AWS",
        ),
        ([], [], None, None),
    ],
)
def test_version_and_platform(make: Any, objects: Any, documents: Any, version: str | None, platform: str | None) -> None:
    con = make(objects, documents=documents)
    nodes.derive(con)
    coverage.derive(con)
    cluster = cluster_facts(con)
    assert (cluster.version, cluster.platform) == (version, platform)
