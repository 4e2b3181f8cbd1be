"""A cluster of invented objects for the shell script: one of each thing that it treats in a way of its own."""

from __future__ import annotations

from typing import Any

from .api_server import Cluster

STARTED = {"running": {"startedAt": "2026-08-17T00:00:00Z"}}
SECRETS = (
    "hunter2pass",
    "pw12345",
    "abcdef123456",
    "c2VjcmV0dmFsdWU",
    "topsecret1",
    "abcdefghijklmnop123",
    "MIIabc",
    "apikey999x",
)


def obj(name: str, namespace: str = "", metadata: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    space = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, **space, **(metadata or {})}, **rest}


def pod(
    name: str, namespace: str, *, ready: bool = True, status: dict[str, Any] | None = None, owner: str = "", **spec: Any
) -> dict[str, Any]:
    state = {"name": "stir", "restartCount": 0, "ready": ready, "state": STARTED} | (status or {})
    conditions = [{"type": "Ready", "status": str(ready)}]
    found = {"phase": "Running", "conditions": conditions, "containerStatuses": [state]}
    owned = {"ownerReferences": [{"kind": "ReplicaSet", "name": owner, "controller": True}]} if owner else {}
    return obj(
        name, namespace, owned, spec={"containers": [{"name": "stir", "image": "registry.example/stir:1", **spec}]}, status=found
    )


def _managed(manager: str, **labels: dict[str, Any]) -> list[dict[str, Any]]:
    owned: dict[str, Any] = (
        {"f:metadata": {"f:labels": {"f:nvidia.com/mig.config": {}, "f:other": {}}}} if labels else {"f:status": {}}
    )
    return [
        {"manager": manager, "operation": "Update", "time": "2026-08-17T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": owned}
    ]


def kitchen() -> Cluster:
    found = Cluster()
    found.add("Namespace", "namespaces", obj("kube-system"), obj("soup"), obj("bare"), spaced=False)
    label = {"labels": {"nvidia.com/mig.config": "all"}, "managedFields": _managed("mig-manager", labels={})}
    found.add("Node", "nodes", obj("n1", metadata=label, status={"conditions": []}), spaced=False)
    crash = {
        "restartCount": 7,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1}},
    }
    env = [{"name": "DB_PASSWORD", "value": "hunter2pass"}, {"name": "URL", "value": "https://u:pw12345@db.example/x"}]
    found.add(
        "Pod",
        "pods",
        pod("ladle", "soup", ready=False, status=crash, env=env, args=["--token=abcdef123456", 'say "hi" \\ <b>\tü']),
        pod("spoon", "soup"),
        pod("gpu-operator-7f", "soup"),
    )
    found.add(
        "Secret",
        "secrets",
        obj("dough", "soup", type="Opaque", data={"key1": "c2VjcmV0dmFsdWU="}),
        obj("yeast", "bare", type="kubernetes.io/tls", data={"tls.key": "c2VjcmV0dmFsdWU="}),
    )
    found.add(
        "ConfigMap",
        "configmaps",
        obj("recipe", "soup", data={"conf": "password=topsecret1", "other": "x"}),
        obj("kueue-manager-config", "soup", data={"c.yaml": "a: 1\napiKey: apikey999x\n".replace("apiKey: ", "apiKey=")}),
        obj("by-label", "soup", {"labels": {"nvidia.com/node-name": "n1"}}, data={"z": "y"}),
        obj("no-data", "bare"),
    )
    found.add("Event", "events")
    schema = {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}, "served": True}
    names = {"kind": "Workload", "plural": "workloads"}
    crd = obj("workloads.kueue.x-k8s.io", spec={"group": "kueue.x-k8s.io", "names": names, "versions": [schema]})
    found.add("CustomResourceDefinition", "customresourcedefinitions", crd, group="apiextensions.k8s.io", spaced=False)
    found.add("Workload", "workloads", obj("w1", "soup", {"managedFields": _managed("kueue")}, spec={}), group="kueue.x-k8s.io")
    found.add("Widget", "widgets", obj("wheel", "soup"), group="example.com")
    found.add("Deployment", "deployments", group="apps")
    revisions = [
        obj("kept", "soup", {"annotations": {"ome.io/created-by": "x"}}, data={"a": {"b": 1}}, revision=1),
        obj("trimmed", "soup", data={"a": {"b": 1}}, revision=2),
    ]
    found.add("ControllerRevision", "controllerrevisions", *revisions, group="apps")
    found.add("StorageClass", "storageclasses", group="storage.k8s.io", spaced=False)
    found.logs = {
        ("soup", "ladle", "stir", False): (
            "2026-08-18T13:00:00Z Authorization: Bearer abcdefghijklmnop123\n2026-08-18T13:00:01Z password=hunter2pass ok\n"
            "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\n2026-08-18T13:00:02Z after\n"
        ),
        ("soup", "ladle", "stir", True): "2026-08-18T12:00:00Z boom at https://u:pw12345@db.example\n",
        ("soup", "gpu-operator-7f", "stir", False): "2026-08-18T12:00:00Z fine\n",
        ("soup", "spoon", "stir", False): "2026-08-18T12:00:00Z not wanted\n",
    }
    return found
