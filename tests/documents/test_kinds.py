"""The table of kinds."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.bundle.kinds import RESOURCES, Resource, by_file_name, by_kind, by_plural, learn


def test_groups_keep_equal_names_apart() -> None:
    assert by_kind("Node", "") == Resource("", "Node", "nodes", namespaced=False)
    longhorn = by_kind("Node", "longhorn.io")
    assert longhorn is not None
    assert longhorn.namespaced
    assert by_plural("inferenceservices", "ome.io") != by_plural("inferenceservices", "serving.kserve.io")
    assert by_plural("pods", "metrics.k8s.io") == Resource("metrics.k8s.io", "PodMetrics", "pods", namespaced=True)


def test_upper_and_lower_case_are_alike() -> None:
    assert by_plural("Pods", "") == by_kind("pod", "") == by_file_name("PODS")


def test_names_without_a_group_mean_the_built_in_kind() -> None:
    expected = {
        "events": "",
        "deployments": "apps",
        "jobs": "batch",
        "ingresses": "networking.k8s.io",
        "workloads": "scheduling.k8s.io",
    }
    assert {name: getattr(by_file_name(name), "group", None) for name in expected} == expected
    assert by_file_name("gadgets") is None


@pytest.mark.parametrize(
    ("kind", "group", "plural"),
    [
        ("Endpoints", "", "endpoints"),
        ("Ingress", "networking.k8s.io", "ingresses"),
        ("NetworkPolicy", "networking.k8s.io", "networkpolicies"),
        ("StorageClass", "storage.k8s.io", "storageclasses"),
        ("DNS", "config.openshift.io", "dnses"),
        ("Proxy", "config.openshift.io", "proxies"),
        ("ClusterPolicy", "nvidia.com", "clusterpolicies"),
        ("Topology", "kueue.x-k8s.io", "topologies"),
        ("Gateway", "networking.istio.io", "gateways"),
        ("Prometheus", "monitoring.coreos.com", "prometheuses"),
        ("NetworkAttachmentDefinition", "k8s.cni.cncf.io", "network-attachment-definitions"),
    ],
)
def test_plurals(kind: str, group: str, plural: str) -> None:
    resource = by_kind(kind, group)
    assert resource is not None
    assert resource.plural == plural


def test_no_resource_is_there_twice() -> None:
    assert len({(resource.kind, resource.group) for resource in RESOURCES}) == len(RESOURCES)
    assert len({(resource.plural, resource.group) for resource in RESOURCES}) == len(RESOURCES)


def crd(**spec: Any) -> dict[str, Any]:
    return {"spec": {"group": "example.com", "names": {"kind": "Gadget", "plural": "gadgets"}, "scope": "Cluster", **spec}}


def test_custom_resources_are_learnt() -> None:
    assert learn(crd()) == Resource("example.com", "Gadget", "gadgets", namespaced=False)
    assert learn(crd(scope="Namespaced")) == Resource("example.com", "Gadget", "gadgets", namespaced=True)


@pytest.mark.parametrize(
    "broken", [{}, {"spec": None}, {"spec": []}, crd(group=5), crd(names=None), crd(names={"kind": "X"}), crd(names={"kind": 1})]
)
def test_broken_definitions_teach_nothing(broken: dict[str, Any]) -> None:
    assert learn(broken) is None
