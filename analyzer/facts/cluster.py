"""The cluster as a whole: which one it is, its version, what it runs on, how many nodes and GPUs."""

from __future__ import annotations

import re
from collections import Counter

import duckdb
import orjson

from analyzer.engine.model import Cluster
from analyzer.facts.values import mapping, text

_PROVIDERS = {
    "aws": "AWS",
    "azure": "Azure",
    "gce": "Google Cloud",
    "openstack": "OpenStack",
    "vsphere": "vSphere",
    "ibm": "IBM Cloud",
    "ibmcloud": "IBM Cloud",
    "oci": "Oracle Cloud",
    "digitalocean": "DigitalOcean",
    "hcloud": "Hetzner Cloud",
    "linode": "Linode",
    "baremetalhost": "bare metal",
    "metal3": "bare metal",
    "kind": "kind",
    "k3s": "",
    "rke2": "",
    "nutanix": "Nutanix",
    "kubevirt": "KubeVirt",
}
"""Scheme of spec.providerID → its cloud; an empty word where the scheme only repeats the distribution."""

_DISTRIBUTIONS = (
    (re.compile(r"\+k3s"), "k3s"),
    (re.compile(r"\+rke2"), "RKE2"),
    (re.compile(r"-eks-"), "EKS"),
    (re.compile(r"-gke\."), "GKE"),
    (re.compile(r"\+k0s"), "k0s"),
    (re.compile(r"\+vmware"), "Tanzu"),
)
_OPENSHIFT = {
    "BareMetal": "bare metal",
    "GCP": "Google Cloud",
    "None": "",
    "External": "",
    "VSphere": "vSphere",
    "IBMCloud": "IBM Cloud",
}


def cluster_facts(con: duckdb.DuckDBPyConnection) -> Cluster:
    """The cluster, read off `nodes` and `coverage`: GPU counts are 0 only where the list of Nodes is complete."""
    uid = con.execute(
        "SELECT max(uid) FROM objects WHERE api_group = '' AND kind = 'Namespace' AND name = 'kube-system' AND uid <> ''"
    ).fetchall()[0][0]
    if uid is None:
        told = "SELECT max(json_extract_string(json, '$.cluster.uid')) FROM documents WHERE role = 'triage-manifest'"
        uid = con.execute(told).fetchall()[0][0] or None
    count, gpu_nodes, gpus, unknown = con.execute(
        "SELECT count(*), count(*) FILTER (gpu), sum(gpus), count(*) FILTER (gpu AND gpus IS NULL) FROM nodes"
    ).fetchall()[0]
    status = con.execute("SELECT status FROM coverage WHERE api_group = '' AND kind = 'Node'").fetchall()
    whole = bool(status) and status[0][0] in ("complete", "absent")
    openshift = _openshift_version(con)
    return Cluster(
        uid=uid,
        version=openshift or _kubernetes_version(con),
        platform=_platform(con, is_openshift=_is_openshift(con)),
        nodes=count if count or whole else None,
        gpu_nodes=gpu_nodes if gpu_nodes or whole else None,
        gpus=None if unknown or not (gpus or whole) else int(gpus or 0),
    )


def _is_openshift(con: duckdb.DuckDBPyConnection) -> bool:
    """Only OpenShift has these, and a bundle may lack its ClusterVersion."""
    rows = con.execute(
        "SELECT count(*) FROM objects WHERE api_group = 'config.openshift.io' "
        "AND kind IN ('ClusterVersion', 'ClusterOperator', 'Infrastructure')"
    ).fetchall()
    return bool(rows[0][0])


def _openshift_version(con: duckdb.DuckDBPyConnection) -> str | None:
    rows = con.execute(
        "SELECT json -> '$.status' FROM objects WHERE api_group = 'config.openshift.io' AND kind = 'ClusterVersion' LIMIT 1"
    ).fetchall()
    if not rows:
        return None
    status = mapping(orjson.loads(rows[0][0]) if rows[0][0] else None)
    history = status.get("history")
    runs = [mapping(item) for item in history] if isinstance(history, list) else []
    done = next((text(item.get("version")) for item in runs if item.get("state") == "Completed"), None)
    target = text(mapping(status.get("desired")).get("version"))
    if done and target and done != target:
        return f"OpenShift {done}, updating to {target}"
    return f"OpenShift {done or target}" if done or target else "OpenShift"


def _kubernetes_version(con: duckdb.DuckDBPyConnection) -> str | None:
    """The API server's own word, else what most kubelets run."""
    for (document,) in con.execute("SELECT json FROM documents WHERE role = 'cluster-version' ORDER BY file_id").fetchall():
        value = mapping(orjson.loads(document))
        found = text(value.get("gitVersion")) or text(mapping(value.get("info")).get("gitVersion"))
        found = found or text(mapping(value.get("serverVersion")).get("gitVersion"))
        if found:
            return f"Kubernetes {found}"
    kubelets = Counter(
        row[0] for row in con.execute("SELECT kubelet FROM nodes WHERE kubelet IS NOT NULL ORDER BY name").fetchall()
    )
    return f"Kubernetes {kubelets.most_common(1)[0][0]}" if kubelets else None


def _platform(con: duckdb.DuckDBPyConnection, *, is_openshift: bool) -> str | None:
    """The distribution and the cloud, as far as nodes and OpenShift's Infrastructure say."""
    distribution = "OpenShift" if is_openshift else _distribution(con)
    cloud = _infrastructure(con) if is_openshift else None
    if cloud is None:
        schemes = Counter(
            row[0]
            for row in con.execute(
                "SELECT split_part(json_extract_string(json, '$.spec.providerID'), '://', 1) FROM objects "
                "WHERE api_group = '' AND kind = 'Node' AND contains(json_extract_string(json, '$.spec.providerID'), '://') "
                "ORDER BY name"
            ).fetchall()
        )
        cloud = _PROVIDERS.get(schemes.most_common(1)[0][0], "") if schemes else ""
    return " on ".join(word for word in (distribution, cloud) if word) or None


def _infrastructure(con: duckdb.DuckDBPyConnection) -> str | None:
    rows = con.execute(
        "SELECT coalesce(json_extract_string(json, '$.status.platformStatus.type'), "
        "json_extract_string(json, '$.status.platform')) FROM objects "
        "WHERE api_group = 'config.openshift.io' AND kind = 'Infrastructure' LIMIT 1"
    ).fetchall()
    name: str | None = rows[0][0] if rows else None
    return _OPENSHIFT.get(name, name) if name else None


def _distribution(con: duckdb.DuckDBPyConnection) -> str | None:
    for (kubelet,) in con.execute("SELECT kubelet FROM nodes WHERE kubelet IS NOT NULL ORDER BY name").fetchall():
        for pattern, name in _DISTRIBUTIONS:
            if pattern.search(kubelet):
                return name
    rows = con.execute(
        "SELECT count(*) FILTER (contains(json::VARCHAR, 'kubernetes.azure.com/')) FROM objects "
        "WHERE api_group = '' AND kind = 'Node'"
    ).fetchall()
    return "AKS" if rows[0][0] else None
