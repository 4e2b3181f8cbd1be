"""A sample as `kubectl cluster-info dump --output-directory` leaves it."""

from __future__ import annotations

import json
from pathlib import Path

from cluster import Cluster, Object
from files import put

LISTS = (
    ("v1", "Event", "events"), ("v1", "ReplicationController", "replication-controllers"), ("v1", "Service", "services"),
    ("apps/v1", "DaemonSet", "daemonsets"), ("apps/v1", "Deployment", "deployments"), ("apps/v1", "ReplicaSet", "replicasets"),
    ("v1", "Pod", "pods"),
)  # fmt: skip


def write(root: Path, cluster: Cluster) -> None:
    """Write the cluster: `nodes.json`, seven lists a namespace, one `logs.txt` a pod. Its items have no kind of their own."""
    put(root / "nodes.json", _list("v1", "Node", [obj for obj in cluster.objects if obj["kind"] == "Node"]))
    namespaces = [obj["metadata"]["name"] for obj in cluster.objects if obj["kind"] == "Namespace"]
    for namespace in namespaces:
        held = [obj for obj in cluster.objects if obj["metadata"].get("namespace") == namespace]
        for version, kind, name in LISTS:
            items = [obj for obj in held if (obj["apiVersion"], obj["kind"]) == (version, kind)]
            put(root / namespace / f"{name}.json", _list(version, kind, items))
        for pod in (obj for obj in held if obj["kind"] == "Pod"):
            put(root / namespace / pod["metadata"]["name"] / "logs.txt", _logs(pod, cluster))


def _list(version: str, kind: str, items: list[Object]) -> str:
    bare = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in items]
    whole = {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "5120"}, "items": bare}
    return json.dumps(whole, indent=4) + "\n"


def _logs(pod: Object, cluster: Cluster) -> str:
    meta = pod["metadata"]
    blocks = []
    for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
        where = f"container {container['name']} of pod {meta['namespace']}/{meta['name']}"
        text = cluster.logs.get((meta["namespace"], meta["name"], container["name"], "current"))
        if text is None:
            waiting = (
                f'container "{container["name"]}" in pod "{meta["name"]}" is waiting to start: trying and failing to pull image'
            )
            text = f"Request log error: {waiting}\n"
        blocks.append(f"==== START logs for {where} ====\n{text}==== END logs for {where} ====\n")
    return "".join(blocks)
