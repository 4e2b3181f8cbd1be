"""Small bundles in every layout, as a mapping of path to text, and what it takes to write and read them."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from analyzer.bundle.read import Parts, read_bundle

Files = dict[str, str | bytes]
IMAGE = "quay-io-acme-must-gather-sha256-0a1b2c3d"
END = "2026-08-18 13:06:40.000000001 +0000 UTC m=+40.1"
NONE = 'previous terminated container "brew" in pod "kettle-0" not found'


def meta(name: str, namespace: str = "", uid: str = "", **more: Any) -> dict[str, Any]:
    space = {"namespace": namespace} if namespace else {}
    return {"name": name, **space, "uid": uid or f"uid-{namespace}-{name}", "resourceVersion": "7", **more}


def pod(name: str, namespace: str = "teahouse", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, namespace),
        "spec": {"containers": [{"name": "brew", "image": "registry.example/brew:1"}]},
        "status": {"phase": "Running"},
        **more,
    }


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(name), "status": {"conditions": []}}


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta(name), "status": {"phase": "Active"}}


def crd(plural: str, group: str, kind: str) -> dict[str, Any]:
    names = {"kind": kind, "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": meta(f"{plural}.{group}"),
        "spec": {"group": group, "names": names, "scope": "Namespaced"},
    }


def to_yaml(value: Any, *, marker: bool = True) -> str:
    return ("---\n" if marker else "") + yaml.safe_dump(value, sort_keys=True)


def listed(kind: str, items: list[dict[str, Any]] | None, version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": f"{kind}List", "metadata": {"resourceVersion": "99"}, "items": items}


def inspected(prefix: str = "") -> Files:
    """What `oc adm inspect` writes: two namespaces, three pods, a log of a container that ran twice."""
    pods = [pod("kettle-0"), pod("kettle-1")]
    home = f"{prefix}namespaces/teahouse"
    logs = f"{home}/pods/kettle-0/brew/brew/logs"
    return {
        f"{prefix}cluster-scoped-resources/core/nodes/shelf-1.yaml": to_yaml(node("shelf-1")),
        f"{prefix}cluster-scoped-resources/core/nodes/shelf-2.yaml": to_yaml(node("shelf-2")),
        f"{prefix}cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions/leaves.tea.example.yaml": to_yaml(
            crd("leaves", "tea.example", "Leaf")
        ),
        f"{prefix}cluster-scoped-resources/config.openshift.io/clusteroperators.yaml": to_yaml(
            listed("ClusterOperator", [], "config.openshift.io/v1")
        ),
        f"{home}/teahouse.yaml": to_yaml(namespace("teahouse")),
        f"{home}/core/pods.yaml": to_yaml(listed("Pod", pods)),
        f"{home}/core/events.yaml": to_yaml(listed("Event", None)),
        f"{home}/pods/kettle-0/kettle-0.yaml": to_yaml(pods[0]),
        f"{logs}/current.log": "2026-08-18T13:05:00.123456789Z water on\n2026-08-18T13:06:00.5Z boiling\n",
        f"{logs}/current.insecure.log": "",
        f"{logs}/previous.log": "",
        f"{logs}/previous.insecure.log": "",
        f"{prefix}namespaces/cellar/cellar.yaml": to_yaml(namespace("cellar")),
        f"{prefix}namespaces/cellar/core/pods.yaml": to_yaml(listed("Pod", [pod("crate-0", "cellar")])),
    }


def must_gather(outer: str = "must-gather.local.7/", image: str = IMAGE) -> Files:
    inner = f"{outer}{image}/"
    return {
        f"{outer}timestamp": "2026-08-18 15:06:00.1 +0200 CEST m=+0.1\n2026-08-18 15:07:00.1 +0200 CEST m=+60.1\n",
        f"{outer}must-gather.logs": "[must-gather      ] OUT 2026-08-18T13:06:00Z using image registry.example/must-gather:1\n",
        f"{outer}event-filter.html": "<html></html>",
        f"{inner}timestamp": f"2026-08-18 13:06:00.1 +0000 UTC m=+0.1\n{END}\n",
        f"{inner}version": "openshift/must-gather\n4.20.4\n",
        f"{inner}gather.logs": f'Gathering data ...\n{NONE}\nerror: the server doesn\'t have a resource type "teapots"\n',
        f"{inner}etcd_info/endpoint_health.json": '[{"endpoint":"https://10.1.1.1:2379","health":true}]',
        f"{inner}monitoring/alerts.json": '{"data":{"alerts":[]}}',
        f"{inner}monitoring/prometheus/status/config.json": "{}",
        f"{inner}host_service_logs/masters/kubelet_service.log": "Aug 18 13:00:00 shelf-1 kubelet[1]: hello\n",
        **inspected(inner),
    }


def cluster_info(prefix: str = "") -> Files:
    def bare(kind: str, items: list[dict[str, Any]], version: str = "v1") -> str:
        stripped = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in items]
        return json.dumps(listed(kind, stripped, version), indent=4) + "\n"

    files: Files = {f"{prefix}nodes.json": bare("Node", [node("shelf-1")])}
    for space, pods in (("teahouse", [pod("kettle-0")]), ("kube-system", [])):
        files[f"{prefix}{space}/events.json"] = bare("Event", [])
        files[f"{prefix}{space}/replication-controllers.json"] = bare("ReplicationController", [])
        files[f"{prefix}{space}/services.json"] = bare("Service", [])
        for kind in ("DaemonSet", "Deployment", "ReplicaSet"):
            files[f"{prefix}{space}/{kind.lower()}s.json"] = bare(kind, [], "apps/v1")
        files[f"{prefix}{space}/pods.json"] = bare("Pod", pods)
    files[f"{prefix}teahouse/kettle-0/logs.txt"] = (
        "==== START logs for container rinse of pod teahouse/kettle-0 ====\nrinsed\n"
        "==== END logs for container rinse of pod teahouse/kettle-0 ====\n"
        "==== START logs for container brew of pod teahouse/kettle-0 ====\nwater on\nboiling\n"
        "==== END logs for container brew of pod teahouse/kettle-0 ====\n"
        "==== START logs for container pour of pod teahouse/kettle-0 ====\n"
        'Request log error: Get "https://10.0.0.1:10250": dial tcp: i/o timeout\n'
        "==== END logs for container pour of pod teahouse/kettle-0 ====\n"
    )
    return files


def stream() -> Files:
    """The same dump printed to the terminal."""
    files = cluster_info()
    names = ["events", "replication-controllers", "services", "daemonsets", "deployments", "replicasets", "pods"]
    order = ["nodes.json"]
    for space in ("kube-system", "teahouse"):
        order += [f"{space}/{name}.json" for name in names]
    return {"dump.json": "".join(str(files[name]) for name in order) + str(files["teahouse/kettle-0/logs.txt"])}


def support_bundle(prefix: str = "support-bundle-2026-08-18T15_06_40/") -> Files:
    base = f"{prefix}cluster-resources"
    leaf = {"apiVersion": "tea.example/v1", "kind": "Leaf", "metadata": meta("oolong", "teahouse")}
    return {
        f"{prefix}version.yaml": "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.119.1\n",
        f"{prefix}cluster-info/cluster_version.json": '{"info":{"gitVersion":"v1.34.2"},"string":"v1.34.2"}',
        f"{base}/nodes.json": json.dumps(listed("Node", [node("shelf-1")])),
        f"{base}/namespaces.json": json.dumps([namespace("teahouse")]),
        f"{base}/pods/teahouse.json": json.dumps([{k: v for k, v in pod("kettle-0").items() if k not in ("kind", "apiVersion")}]),
        f"{base}/events/teahouse.json": "null",
        f"{base}/services/teahouse.json": json.dumps(listed("Service", None)),
        f"{base}/limitranges/teahouse.json": "{}",
        f"{base}/custom-resources/leaves.tea.example/teahouse.json": json.dumps([leaf]),
        f"{base}/custom-resources/leaves.tea.example/teahouse.yaml": to_yaml([leaf], marker=False),
        f"{base}/pvcs-errors.json": json.dumps(
            {
                "teahouse": 'persistentvolumeclaims is forbidden: User "sa" cannot list resource "persistentvolumeclaims"'
                ' in API group "" in the namespace "teahouse"'
            }
        ),
        f"{base}/pods/logs/teahouse/kettle-0/brew.log": "water on\n",
        f"{base}/pods/logs/teahouse/kettle-0/brew-previous.log": "cold\n",
        f"{base}/pods/logs/teahouse/kettle-0/rinse-logs-errors.log": json.dumps({"error": NONE}),
        f"{prefix}collector-errors/etcd-error.json": json.dumps({"collector": "etcd", "error": "deadline exceeded"}),
    }


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def tar(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def read(tmp_path: Path, *inputs: Path, jobs: int = 2) -> Parts:
    number = len(list(tmp_path.glob("work-*")))
    work = tmp_path / f"work-{number}"
    work.mkdir()
    return read_bundle(inputs, work, jobs)


def table(parts: Parts, name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for path in parts.parts[name] for line in path.read_bytes().splitlines()]


def paths(parts: Parts) -> dict[int, str]:
    return {row["file_id"]: row["path"] for row in parts.files}


def file(parts: Parts, ending: str) -> dict[str, Any]:
    (row,) = [row for row in parts.files if row["path"].endswith(ending)]
    return dict(row)


def lists(parts: Parts) -> set[tuple[str, str, int, bool]]:
    """Kind, namespace, objects, complete of all lists."""
    return {(row["kind"], row["namespace"], row["objects"], row["complete"]) for row in table(parts, "part_lists")}


def names(parts: Parts, kind: str) -> list[str]:
    return sorted(row["name"] for row in table(parts, "part_objects") if row["kind"] == kind)


def columns(rows: Iterable[Mapping[str, Any]], *keys: str) -> set[tuple[Any, ...]]:
    return {tuple(row[key] for key in keys) for row in rows}
