from __future__ import annotations

from typing import Any

import pytest

AI = {"gpu", "dra", "kueue", "jobset", "ray", "kserve", "ome", "order", "openshift", "lws", "train", "appwrapper", "volcano"}
AI |= {"network", "keda", "karpenter", "kai", "grove", "gateway", "dynamo"}
NODE = "objects: [{apiVersion: v1, kind: Node, metadata: {name: n, labels: {kubernetes.io/os: linux}}}]"


def reasons(report: Any) -> dict[str, str]:
    return {entry.code.split("/")[0]: entry.reason for entry in report.not_evaluated if entry.code.endswith("/*")}


def test_without_a_trace_there_is_one_entry_for_each_domain(write: Any, analyse: Any) -> None:
    pack = write({"kueue/Odd": "query: SELECT object_id FROM objects\nneeds: [Workload.kueue.x-k8s.io]"})
    report = analyse(f"{NODE}\nmissing: [Workload.kueue.x-k8s.io]", pack)
    assert set(reasons(report)) == AI
    assert reasons(report)["kueue"] == "no trace of kueue in this bundle"
    assert not report.findings
    assert not [entry for entry in report.not_evaluated if entry.code == "kueue/Odd"]
    assert "Workload" not in {row.kind for row in report.coverage.kinds}


def test_what_rules_of_a_present_domain_need_is_told(write: Any, analyse: Any) -> None:
    pack = write({"kueue/Odd": "query: SELECT object_id FROM objects\nneeds: [Workload.kueue.x-k8s.io]"})
    report = analyse(NODE.replace("kubernetes.io/os", "kueue.x-k8s.io/managed") + "\nmissing: [Workload.kueue.x-k8s.io]", pack)
    assert {row.kind: row.status for row in report.coverage.kinds}["Workload"] == "not-collected"


POD = "{apiVersion: v1, kind: Pod, metadata: {name: p%s}, spec: {%s}}"
EVENT = "{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet}}"
CRD = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: c}, spec: {group: ray.io}}"
ORDER = "{apiVersion: x.example/v1, kind: InferenceService, metadata: {name: i}, spec: {inferenceServiceClassName: c}}"
KSERVE = "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {predictor: {}}}"


@pytest.mark.parametrize(
    ("domain", "trace"),
    [
        ("gpu", "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {nvidia.com/gpu.present: 'true'}}}"),
        (
            "gpu",
            "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {feature.node.kubernetes.io/pci-10de.present: x}}}",
        ),
        ("gpu", "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {capacity: {nvidia.com/mig-1g.5gb: '7'}}}"),
        (
            "gpu",
            "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}",
        ),
        ("gpu", "{apiVersion: v1, kind: Pod, metadata: {name: gpu-operator-7d9}}"),
        ("kueue", "{apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}}"),
        ("kueue", "{apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: w}}"),
        ("jobset", EVENT),
        ("ray", POD % (", ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: r}]", "")),
        (
            "ray",
            "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: c}, spec: {group: ray.io}}",
        ),
        ("karpenter", "{apiVersion: v1, kind: Node, metadata: {name: n, finalizers: [karpenter.sh/termination]}}"),
        ("dra", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: gpu}]}}"),
        (
            "order",
            "{apiVersion: x.example/v1, kind: InferenceService, metadata: {name: i}, spec: {inferenceServiceClassName: c}}",
        ),
        ("openshift", "{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: c}}"),
        ("openshift", "{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: c}}"),
    ],
)
def test_a_trace_makes_a_domain_present(write: Any, analyse: Any, domain: str, trace: str) -> None:
    pack = write({f"{domain}/Odd": "query: SELECT object_id FROM objects WHERE false\nneeds: [Pod]"})
    assert set(reasons(analyse(f"objects: [{trace}]", pack))) == AI - {domain}


def test_a_domain_without_rules_is_told_honestly(write: Any, analyse: Any) -> None:
    case = "objects: [{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}}]"
    report = analyse(case, write({"pod/Odd": "query: SELECT object_id FROM objects WHERE false\nneeds: [Pod]"}))
    assert reasons(report)["ray"] == "ray is in this bundle, but this version has no rules for it"


def test_a_kserve_service_is_no_order(write: Any, analyse: Any) -> None:
    case = (
        "objects: [{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {predictor: {}}}]"
    )
    found = reasons(analyse(case, write({"pod/Odd": "query: SELECT object_id FROM objects WHERE false"})))
    assert "no trace" in found["order"]
    assert "no rules" in found["kserve"]


def test_a_packs_own_domain_always_runs(write: Any, analyse: Any) -> None:
    report = analyse(NODE, write({"acme/Odd": "query: SELECT object_id FROM objects\nneeds: [Node]"}))
    assert [finding.code for finding in report.findings] == ["acme/Odd"]
