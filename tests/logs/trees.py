"""Small bundles with logs, laid out as `oc adm inspect` writes them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Object = dict[str, Any]

_PLURALS = {
    ("", "Pod"): "core/pods",
    ("apps", "Deployment"): "apps/deployments",
    ("apps", "ReplicaSet"): "apps/replicasets",
    ("batch", "Job"): "batch/jobs",
    ("ray.io", "RayCluster"): "ray.io/rayclusters",
    ("ray.io", "RayJob"): "ray.io/rayjobs",
    ("ray.io", "RayService"): "ray.io/rayservices",
    ("argoproj.io", "Rollout"): "argoproj.io/rollouts",
    ("batch.volcano.sh", "Job"): "batch.volcano.sh/jobs",
    ("grove.io", "PodCliqueSet"): "grove.io/podcliquesets",
    ("nvidia.com", "DynamoGraphDeployment"): "nvidia.com/dynamographdeployments",
    ("ome.io", "InferenceService"): "ome.io/inferenceservices",
    ("serving.kserve.io", "InferenceGraph"): "serving.kserve.io/inferencegraphs",
    ("sparkoperator.k8s.io", "SparkApplication"): "sparkoperator.k8s.io/sparkapplications",
    ("kueue.x-k8s.io", "LocalQueue"): "kueue.x-k8s.io/localqueues",
    ("kueue.x-k8s.io", "Workload"): "kueue.x-k8s.io/workloads",
}


def thing(api: str, kind: str, name: str, owner: Object | None = None, namespace: str = "shop", **more: Any) -> Object:
    """An object; `labels` go to its metadata, everything else stands beside it."""
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{kind}-{namespace}-{name}",
        "labels": more.pop("labels", {}),
    }
    if owner:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [reference | {"uid": owner["metadata"]["uid"], "controller": True}]
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def pod(
    name: str,
    owner: Object | None = None,
    containers: Iterable[str] = ("app",),
    inits: Iterable[str] = (),
    restarts: Mapping[str, int] | None = None,
    waiting: Iterable[str] = (),
    **more: Any,
) -> Object:
    """A Pod with statuses of all its containers; those in `restarts` have ended once."""

    def status(container: str) -> Object:
        count = (restarts or {}).get(container, 0)
        state = {"waiting": {"reason": "ImagePullBackOff"}} if container in waiting else {"running": {}}
        last = {"lastState": {"terminated": {"exitCode": 1}}} if count else {}
        return {"name": container, "restartCount": count, "state": state, **last}

    one = thing("v1", "Pod", name, owner, **more)
    one["spec"] = {"containers": [{"name": it} for it in containers], "initContainers": [{"name": it} for it in inits]}
    one["status"] = {
        "phase": "Running",
        "containerStatuses": [status(it) for it in containers],
        "initContainerStatuses": [status(it) for it in inits],
    }
    return one


def write(root: Path, objects: Iterable[Object], logs: Mapping[str, str | bytes] | None = None) -> Path:
    """A bundle.

    Args:
        root: the folder to make.
        objects: what is in it; every kind that is there is a whole list of its namespace.
        logs: by `NS/POD/CONTAINER/current`, `…/previous`, `…/rotated/0.log.20260301-100000` (with `.gz` compressed), or with
            an ending of its own.
    """
    lists: dict[tuple[str, str], list[Object]] = {}
    for one in objects:
        group = one["apiVersion"].rpartition("/")[0]
        lists.setdefault((one["metadata"]["namespace"], _PLURALS[group, one["kind"]]), []).append(one)
    for (namespace, place), items in lists.items():
        file = root / "namespaces" / namespace / f"{place}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    nodes = root / "cluster-scoped-resources" / "core" / "namespaces" / "shop.yaml"
    nodes.parent.mkdir(parents=True, exist_ok=True)
    nodes.write_text('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "n"}}')
    (root / "timestamp").write_text("2026-03-01 12:00:00.0 +0000 UTC m=+0.1\n2026-03-01 12:05:00.0 +0000 UTC m=+300.1\n")
    for place, text in (logs or {}).items():
        namespace, name, container, rest = place.split("/", 3)
        ending = "" if ".log" in rest else ".log"
        file = root / "namespaces" / namespace / "pods" / name / container / container / "logs" / f"{rest}{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        file.write_bytes(gzip.compress(data) if rest.endswith(".gz") else data)
    return root
