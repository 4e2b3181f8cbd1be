"""A sample as `triage collect` leaves it, unpacked (docs/bundle-format.md)."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cluster import Cluster, Object
from files import put

KUEUE, SERVING = "kueue.x-k8s.io", "serving.kserve.io"
KINDS = (
    ("", "v1", "ConfigMap", "configmaps", True), ("", "v1", "Event", "events", True), ("", "v1", "Namespace", "namespaces", False),
    ("", "v1", "Node", "nodes", False), ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True), ("", "v1", "Pod", "pods", True),
    ("", "v1", "Service", "services", True), ("apps", "v1", "DaemonSet", "daemonsets", True), ("apps", "v1", "Deployment", "deployments", True),
    ("apps", "v1", "ReplicaSet", "replicasets", True), ("apps", "v1", "StatefulSet", "statefulsets", True), ("batch", "v1", "Job", "jobs", True),
    ("autoscaling.x-k8s.io", "v1", "ProvisioningRequest", "provisioningrequests", True),
    ("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", True),
    (KUEUE, "v1beta2", "AdmissionCheck", "admissionchecks", False), (KUEUE, "v1beta2", "ClusterQueue", "clusterqueues", False),
    (KUEUE, "v1beta2", "Cohort", "cohorts", False), (KUEUE, "v1beta2", "LocalQueue", "localqueues", True),
    (KUEUE, "v1beta2", "ResourceFlavor", "resourceflavors", False), (KUEUE, "v1beta2", "Topology", "topologies", False),
    (KUEUE, "v1beta2", "Workload", "workloads", True),
    ("ray.io", "v1", "RayCluster", "rayclusters", True), ("ray.io", "v1", "RayJob", "rayjobs", True), ("ray.io", "v1", "RayService", "rayservices", True),
    (SERVING, "v1alpha1", "ClusterServingRuntime", "clusterservingruntimes", False), (SERVING, "v1alpha1", "ServingRuntime", "servingruntimes", True),
    (SERVING, "v1beta1", "InferenceService", "inferenceservices", True), (SERVING, "v1alpha2", "LLMInferenceService", "llminferenceservices", True),
    ("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    ("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    ("apiregistration.k8s.io", "v1", "APIService", "apiservices", False),
    ("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", False),
)  # fmt: skip
"""What was asked for: group, version, kind, plural, whether it is in namespaces."""
NOT_SERVED = (
    ("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies"),
    ("nvidia.com", "v1alpha1", "NVIDIADriver", "nvidiadrivers"),
)
"""What was asked for and the cluster does not know."""


Kinds = tuple[tuple[str, str, str, str, bool], ...]


def write(root: Path, cluster: Cluster, kinds: Kinds = KINDS) -> None:
    """Write the cluster as `triage collect` would leave it; `kinds` is what was asked for and served."""
    begin = cluster.end - timedelta(seconds=41)
    texts = {"version": "bundle-triage\n0.1.0\n", "timestamp": f"{_stamp(begin)}\n{_stamp(cluster.end)}\n"}
    requests = []
    for group, version, kind, plural, spaced in kinds:
        held: dict[str, list[Object]] = {}
        for obj in cluster.objects:
            if (obj["apiVersion"], obj["kind"]) == (f"{group}/{version}" if group else version, kind):
                held.setdefault(obj["metadata"].get("namespace", ""), []).append(obj)
        for namespace, items in held.items() if spaced else [("", held.get("", []))]:
            where = f"namespaces/{namespace}" if spaced else "cluster-scoped-resources"
            texts[f"{where}/{group or 'core'}/{plural}.yaml"] = _list(group, version, kind, items, cluster.serial)
        requests.append(
            {
                "resource": plural, "group": group, "version": version, "kind": kind, "namespaced": spaced, "namespace": "*" if spaced else "",
                "outcome": "ok", "status": 200, "message": "", "pages": 1, "objects": sum(map(len, held.values())),
            }
        )  # fmt: skip
    requests += [
        {
            "resource": plural, "group": group, "version": version, "kind": kind, "namespaced": False, "namespace": "",
            "outcome": "not-served", "status": 404, "message": "the server could not find the requested resource", "pages": 0, "objects": 0,
        }
        for group, version, kind, plural in NOT_SERVED
    ]  # fmt: skip
    logs = []
    for (namespace, pod, container, source), text in cluster.logs.items():
        texts[f"namespaces/{namespace}/pods/{pod}/{container}/{container}/logs/{source}.log"] = text
        logs.append(
            {
                "namespace": namespace, "pod": pod, "container": container, "previous": source == "previous", "outcome": "ok",
                "bytes": len(text.encode()), "leftOut": 0, "message": "",
            }
        )  # fmt: skip
    for path, text in texts.items():
        put(root / "triage-bundle" / path, text)
    put(
        root / "triage-bundle" / "triage-manifest.json",
        json.dumps(_manifest(cluster, begin, requests, logs, texts), indent=1) + "\n",
    )


def _manifest(
    cluster: Cluster, begin: datetime, requests: list[dict[str, Any]], logs: list[dict[str, Any]], texts: dict[str, str]
) -> Object:
    system = next(obj for obj in cluster.objects if obj["kind"] == "Namespace" and obj["metadata"]["name"] == "kube-system")
    started, ended = _stamp(begin), _stamp(cluster.end)
    return {
        "format": "triage.bundle/v1", "tool": {"name": "bundle-triage", "version": "0.1.0", "collector": "python"}, "redaction": "full",
        "started": started, "ended": ended, "serverStarted": started, "serverEnded": ended,
        "cluster": {"uid": system["metadata"]["uid"], "version": "v1.33.4", "platform": "linux/amd64"}, "scope": {"namespaces": None},
        "options": {"includeSecretKeys": False, "since": None, "maxLogBytes": 10485760, "maxTotalLogBytes": 1073741824, "include": [], "as": None},
        "interrupted": False, "requests": sorted(requests, key=lambda one: (one["group"], one["resource"])),
        "logs": sorted(logs, key=lambda one: (one["namespace"], one["pod"], one["container"], one["previous"])),
        "leftOut": [{"what": "metadata.managedFields", "why": "large, and no rule reads it", "count": len(cluster.objects)}], "redacted": {},
        "counts": {
            "objects": sum(one["objects"] for one in requests), "files": len(texts), "logs": len(logs), "logBytes": sum(one["bytes"] for one in logs),
        },
        "files": [
            {"path": path, "bytes": len(text.encode()), "sha256": hashlib.sha256(text.encode()).hexdigest()} for path, text in sorted(texts.items())
        ],
    }  # fmt: skip


def _list(group: str, version: str, kind: str, items: list[Object], serial: int) -> str:
    """One object a line, as the collector writes a list."""
    head = {
        "apiVersion": f"{group}/{version}" if group else version,
        "kind": f"{kind}List",
        "metadata": {"resourceVersion": str(serial + 1)},
    }
    lines = ",\n".join(json.dumps(item, separators=(",", ":"), sort_keys=True, ensure_ascii=False) for item in items)
    return f'{json.dumps(head, separators=(",", ":"))[:-1]},"items":[\n{lines}\n]}}\n'


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
