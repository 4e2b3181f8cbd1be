"""A sample as `oc adm must-gather` leaves it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from cluster import Cluster, Object
from files import document, put

KUEUE = "kueue.x-k8s.io/v1beta2"
DRA = "resource.k8s.io/v1"
LISTED = (
    ("v1", "ConfigMap", "configmaps"), ("v1", "Endpoints", "endpoints"), ("v1", "Event", "events"),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims"), ("v1", "Pod", "pods"),
    ("v1", "ReplicationController", "replicationcontrollers"), ("v1", "Secret", "secrets"), ("v1", "Service", "services"),
    ("apps/v1", "DaemonSet", "daemonsets"), ("apps/v1", "Deployment", "deployments"), ("apps/v1", "ReplicaSet", "replicasets"),
    ("apps/v1", "StatefulSet", "statefulsets"), ("batch/v1", "CronJob", "cronjobs"), ("batch/v1", "Job", "jobs"),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"), (KUEUE, "LocalQueue", "localqueues"), (KUEUE, "Workload", "workloads"),
    (DRA, "ResourceClaim", "resourceclaims"), (DRA, "ResourceClaimTemplate", "resourceclaimtemplates"),
)  # fmt: skip
CLUSTER_LISTED = (
    ("nvidia.com/v1", "ClusterPolicy", "clusterpolicies"),
    (KUEUE, "AdmissionCheck", "admissionchecks"), (KUEUE, "ClusterQueue", "clusterqueues"), (KUEUE, "Cohort", "cohorts"),
    (KUEUE, "ResourceFlavor", "resourceflavors"), (KUEUE, "Topology", "topologies"),
    (DRA, "DeviceClass", "deviceclasses"), (DRA, "ResourceSlice", "resourceslices"),
)  # fmt: skip
CLUSTER_FOLDERS = {"Node": "nodes", "PersistentVolume": "persistentvolumes"}


def write(root: Path, cluster: Cluster) -> None:
    """Write the cluster as `oc adm must-gather` would leave it."""
    top = root / "must-gather.local.5577006791947779410"
    image = top / "quay-io-larkfield-must-gather-sha256-4be1c4f09c7ad9a6fbd5e14aa2c7a3a5ce2a9a3ef3c1c0d9d1b7d0c5a1f0e2d3"
    start = cluster.end - timedelta(seconds=95)
    stamps = "".join(
        f"{at:%Y-%m-%d %H:%M:%S}.5 +0000 UTC m=+{mark}\n" for at, mark in ((start, "0.114"), (cluster.end, "95.114"))
    )
    for folder in (top, image):
        put(folder / "timestamp", stamps)
    put(image / "version", "larkfield/must-gather\n1.4.0\n")
    for obj in cluster.objects:
        meta, kind = obj["metadata"], obj["kind"]
        if kind == "Namespace":
            put(image / "namespaces" / meta["name"] / f"{meta['name']}.yaml", document(obj))
        elif kind in CLUSTER_FOLDERS:
            put(image / "cluster-scoped-resources" / "core" / CLUSTER_FOLDERS[kind] / f"{meta['name']}.yaml", document(obj))
        elif kind == "Pod":
            put(image / "namespaces" / meta["namespace"] / "pods" / meta["name"] / f"{meta['name']}.yaml", document(obj))
    _write_lists(image, cluster)
    for (namespace, pod, container, source), text in cluster.logs.items():
        put(image / "namespaces" / namespace / "pods" / pod / container / container / "logs" / f"{source}.log", text)


def _write_lists(image: Path, cluster: Cluster) -> None:
    """A list a kind and namespace, empty ones too; of Kueue and of devices only where the cluster has such objects."""
    served = {obj["apiVersion"] for obj in cluster.objects}
    held: dict[tuple[str, str, str], list[Object]] = {}
    for obj in cluster.objects:
        held.setdefault((obj["metadata"].get("namespace", ""), obj["apiVersion"], obj["kind"]), []).append(obj)
    namespaces = [obj["metadata"]["name"] for obj in cluster.objects if obj["kind"] == "Namespace"]
    places = [(namespace, image / "namespaces" / namespace, LISTED) for namespace in namespaces]
    for namespace, folder, listed in (*places, ("", image / "cluster-scoped-resources", CLUSTER_LISTED)):
        for version, kind, plural in listed:
            if version not in {KUEUE, DRA} or version in served:
                whole = {
                    "apiVersion": version,
                    "items": held.get((namespace, version, kind), []),
                    "kind": f"{kind}List",
                    "metadata": {"resourceVersion": str(cluster.serial + 1)},
                }
                group = version.split("/")[0] if "/" in version else "core"
                put(folder / group / f"{plural}.yaml", document(whole))
