"""Whose logs are meant: a pod, or the pods of any object that makes pods.

Pods are found down the owner references; where a bundle lacks what stands between (ReplicaSets), by the labels that the
controllers put on their pods, else by the workload's selector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import duckdb
import orjson

from analyzer.bundle.errors import UsageError
from analyzer.facts.selectors import selects
from analyzer.facts.values import flag, mapping, mappings, number, text
from analyzer.logs.model import ROLES, Container, NoLogError, Pod
from analyzer.store.lookup import Target

_RAY = frozenset({"RayCluster", "RayJob", "RayService", "RayCronJob"})
_NODE_TYPE = "ray.io/node-type"
_SUBMITTER = "ray-job-submitter"
"""Name of the container that submits a RayJob, in a pod of its own or (SidecarMode) in the head's (KubeRay)."""

_LABELS: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    ("batch", "Job"): (("batch.kubernetes.io/job-name",), ("job-name",)),
    ("jobset.x-k8s.io", "JobSet"): (("jobset.sigs.k8s.io/jobset-name",),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (("leaderworkerset.sigs.k8s.io/name",),),
    ("ray.io", "RayCluster"): (("ray.io/cluster",),),
    ("ray.io", "RayJob"): (("ray.io/originated-from-cr-name", "ray.io/originated-from-crd=RayJob"),),
    ("ray.io", "RayService"): (("ray.io/originated-from-cr-name", "ray.io/originated-from-crd=RayService"),),
    ("serving.kserve.io", "InferenceService"): (("serving.kserve.io/inferenceservice",),),
    ("serving.kserve.io", "LLMInferenceService"): (("app.kubernetes.io/name", "app.kubernetes.io/part-of=llminferenceservice"),),
    ("serving.kserve.io", "InferenceGraph"): (("serving.kserve.io/inferencegraph",),),
    ("ome.io", "InferenceService"): (("ome.io/inferenceservice",),),
    ("batch.volcano.sh", "Job"): (("volcano.sh/job-name",),),
    ("grove.io", "PodCliqueSet"): (("app.kubernetes.io/part-of", "app.kubernetes.io/managed-by=grove-operator"),),
    ("nvidia.com", "DynamoGraphDeployment"): (("nvidia.com/dynamo-graph-deployment-name",),),
    ("sparkoperator.k8s.io", "SparkApplication"): (("sparkoperator.k8s.io/app-name",),),
    ("serving.knative.dev", "Service"): (("serving.knative.dev/service",),),
    ("serving.knative.dev", "Revision"): (("serving.knative.dev/revision",),),
    ("trainer.kubeflow.org", "TrainJob"): (("jobset.sigs.k8s.io/jobset-name",),),
    ("workload.codeflare.dev", "AppWrapper"): (("workload.codeflare.dev/appwrapper",),),
}
"""Labels that the controllers of these kinds put on their pods: one with the object's name, the others with a fixed value."""
_LABELS |= {
    ("kubeflow.org", kind): (("training.kubeflow.org/job-name",),)
    for kind in ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob")
}

_CLUSTERS: dict[tuple[str, str], list[str]] = {
    ("ray.io", "RayJob"): ["$.status.rayClusterName"],
    ("ray.io", "RayService"): ["$.status.activeServiceStatus.rayClusterName", "$.status.pendingServiceStatus.rayClusterName"],
}
"""Where the status of these kinds names their RayClusters."""

_WITHOUT_PODS = frozenset(
    {("kueue.x-k8s.io", kind) for kind in (
        "ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor", "AdmissionCheck", "Topology", "WorkloadPriorityClass",
        "ProvisioningRequestConfig", "MultiKueueConfig", "MultiKueueCluster",
    )}
    | {("serving.kserve.io", kind) for kind in ("ServingRuntime", "ClusterServingRuntime", "TrainedModel")}
    | {("autoscaling.x-k8s.io", "ProvisioningRequest"), ("", "ConfigMap"), ("", "Secret"), ("", "Namespace")}
)  # fmt: skip
"""Kinds that never make pods."""

_BELOW = """
WITH RECURSIVE below(object_id, depth) AS (
    SELECT unnest($roots::BIGINT[]), 0
    UNION
    SELECT w.object_id, below.depth + 1 FROM owners w JOIN below ON w.owner_id = below.object_id WHERE below.depth < 12
)
SELECT DISTINCT o.name, o.json::VARCHAR FROM objects o JOIN below USING (object_id)
WHERE o.api_group = '' AND o.kind = 'Pod' AND o.namespace = $namespace ORDER BY o.name
"""


def the_pod(con: duckdb.DuckDBPyConnection, target: Target) -> Pod:
    """The pod that was found, also one that a newer input no longer has."""
    table = "gone_objects" if target.gone else "objects"
    row = con.execute(f"SELECT json::VARCHAR FROM {table} WHERE object_id = ?", [target.object_id]).fetchone()  # noqa: S608
    return _pod(target.namespace, target.name, row[0] if row else "{}")


def pods_of(con: duckdb.DuckDBPyConnection, target: Target, role: str | None = None) -> list[Pod]:
    """The pods of a workload, by name.

    Args:
        con: a database of ours.
        target: the workload.
        role: one of `ROLES`, for Ray objects: only the pods (of the submitter in the head's pod, only the container) of it.

    Raises:
        UsageError: the role is none, or the object is no Ray object.
        NoLogError: the bundle has no pod of it.
    """
    if role is not None:
        check_role(target, role)
    roots = [] if target.object_id is None else [target.object_id, *_stands_for(con, target)]
    rows = con.execute(_BELOW, {"roots": roots, "namespace": target.namespace}).fetchall()
    pods = {name: _pod(target.namespace, name, json) for name, json in rows}
    for pod in _labelled(con, target, found=bool(pods)):
        pods.setdefault(pod.name, pod)
    chosen = [pods[name] for name in sorted(pods)]
    if role is not None:
        chosen = _of_role(chosen, role)
    if not chosen:
        raise NoLogError(_no_pods(con, target, role))
    return chosen


def _stands_for(con: duckdb.DuckDBPyConnection, target: Target) -> list[int]:
    """Objects that it does not own, and whose pods are its own.

    Kueue's Workload has no pods: the job that it stands for does, and owns it (a pod of a group owns it too), or names it where
    it was made before the job. A RayJob may use a RayCluster that it did not make (clusterSelector); a RayService names its two.
    """
    if (target.group, target.kind) == ("kueue.x-k8s.io", "Workload"):
        query = (
            "SELECT owner_id FROM owners WHERE object_id = $id AND owner_id >= 0 UNION SELECT object_id FROM objects "
            "WHERE namespace = $space AND contains(json::VARCHAR, $mark) AND $name IN ("
            "json_extract_string(json, '$.metadata.labels.\"kueue.x-k8s.io/prebuilt-workload-name\"'), "
            "json_extract_string(json, '$.metadata.annotations.\"kueue.x-k8s.io/prebuilt-workload-name\"'))"
        )
        values = {"id": target.object_id, "space": target.namespace, "name": target.name, "mark": "prebuilt-workload-name"}
        return [row[0] for row in con.execute(query, values).fetchall()]
    paths = _CLUSTERS.get((target.group, target.kind))
    if not paths:
        return []
    query = (
        "SELECT c.object_id FROM objects o JOIN objects c ON c.api_group = 'ray.io' AND c.kind = 'RayCluster' "
        "AND c.namespace = o.namespace AND list_contains(json_extract_string(o.json, ?), c.name) WHERE o.object_id = ?"
    )
    return [row[0] for row in con.execute(query, [paths, target.object_id]).fetchall()]


def check_role(target: Target, role: str) -> None:
    """Ends with a UsageError where this object has no such role."""
    if role not in ROLES:
        raise UsageError(f"unknown role {role!r}: one of {', '.join(ROLES)}")
    if target.group != "ray.io" or target.kind not in _RAY:
        raise UsageError(f"--role is for RayCluster, RayJob and RayService, not for {target.kind}")


def _pod(namespace: str, name: str, json: str) -> Pod:
    value = orjson.loads(json)
    labels = mapping(mapping(value.get("metadata")).get("labels"))
    return Pod(namespace, name, {key: one for key, one in labels.items() if isinstance(one, str)}, tuple(_containers(value)))


def _containers(value: Mapping[str, Any]) -> Iterable[Container]:
    """Init containers, then the main ones, then ephemeral ones, each in the order of spec."""
    spec, status = mapping(value.get("spec")), mapping(value.get("status"))
    for one, other in (
        ("initContainers", "initContainerStatuses"),
        ("containers", "containerStatuses"),
        ("ephemeralContainers", "ephemeralContainerStatuses"),
    ):
        states = {text(item.get("name")): item for item in mappings(status.get(other))}
        for item in mappings(spec.get(one)):
            name = text(item.get("name"))
            if name:
                yield _container(name, states.get(name))


def _container(name: str, status: dict[str, Any] | None) -> Container:
    if status is None:
        return Container(name)
    restarts = number(status.get("restartCount"))
    ended = isinstance(mapping(status.get("lastState")).get("terminated"), dict)
    state = mapping(status.get("state"))
    waiting = ""
    if not restarts and not ended and isinstance(state.get("waiting"), dict) and not flag(status.get("started")):
        waiting = text(mapping(state.get("waiting")).get("reason")) or "waiting"
    return Container(name, known=True, restarts=restarts, ended=ended, waiting=waiting)


def _labelled(con: duckdb.DuckDBPyConnection, target: Target, *, found: bool) -> list[Pod]:
    """Pods that carry the workload's labels; those of its selector only where no owner leads to any."""
    wanted = _LABELS.get((target.group, target.kind), ())
    selector = {} if found else _selector(con, target)
    if not wanted and not selector:
        return []
    rows = con.execute(
        "SELECT name, json::VARCHAR FROM objects WHERE api_group = '' AND kind = 'Pod' AND namespace = ? ORDER BY name",
        [target.namespace],
    ).fetchall()
    pods = [_pod(target.namespace, name, json) for name, json in rows]
    return [
        pod
        for pod in pods
        if any(_carries(pod.labels, labels, target.name) for labels in wanted) or (selector and selects(selector, pod.labels))
    ]


def _carries(labels: Mapping[str, str], wanted: tuple[str, ...], name: str) -> bool:
    pairs = (one.partition("=") for one in wanted)
    return all(labels.get(key) == (value if sign else name) for key, sign, value in pairs)


def _selector(con: duckdb.DuckDBPyConnection, target: Target) -> dict[str, Any]:
    """spec.selector of a workload as a label selector; controllers of the first generation have a bare mapping."""
    if target.kind not in {
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "DeploymentConfig",
        "Rollout",
    }:
        return {}
    row = con.execute("SELECT json::VARCHAR FROM objects WHERE object_id = ?", [target.object_id]).fetchone()
    selector = mapping(mapping(orjson.loads(row[0]).get("spec")).get("selector")) if row else {}
    return {"matchLabels": selector} if target.kind in {"ReplicationController", "DeploymentConfig"} and selector else selector


def _of_role(pods: list[Pod], role: str) -> list[Pod]:
    if role != "submitter":
        node_type = "head" if role == "head" else "worker"
        return [pod for pod in pods if pod.labels.get(_NODE_TYPE) == node_type]
    own = [pod for pod in pods if not pod.labels.get(_NODE_TYPE)]
    return own or [replace(pod, only=_SUBMITTER) for pod in pods if any(one.name == _SUBMITTER for one in pod.containers)]


def _no_pods(con: duckdb.DuckDBPyConnection, target: Target, role: str | None) -> str:
    """Why there is no pod: an owner whose pods were all collected has none, else nobody can tell."""
    what = {"head": "head pod", "workers": "worker pod", "submitter": "submitter pod"}.get(role or "", "pod")
    thing = f"{target.kind} {target.name}"
    if (target.group, target.kind) in _WITHOUT_PODS:
        return f"not found: a {target.kind} makes no pods"
    if role == "submitter" and target.kind in {"RayCluster", "RayService"}:
        return f"not found: a {target.kind} has no submitter; a RayJob has"
    row = con.execute("SELECT status, scope, reason FROM coverage WHERE api_group = '' AND kind = 'Pod'").fetchone()
    status, scope, reason = row or ("not-collected", [], None)
    if status in {"complete", "absent"} and ("*" in scope or target.namespace in scope):
        return f"not found: {thing} has no {what} in this bundle{_off(con, target)}"
    return f"not collected: no {what} of {thing} is in this bundle ({reason or 'it does not have all pods'})"


def _off(con: duckdb.DuckDBPyConnection, target: Target) -> str:
    """Why that is as it should be, in brackets: it is suspended, stopped or scaled to zero."""
    row = con.execute("SELECT json::VARCHAR FROM objects WHERE object_id = ?", [target.object_id]).fetchone()
    value = orjson.loads(row[0]) if row else {}
    spec, status = mapping(value.get("spec")), mapping(value.get("status"))
    marks = mapping(mapping(value.get("metadata")).get("annotations"))
    if flag(spec.get("suspend")) or flag(mapping(spec.get("runPolicy")).get("suspend")) or status.get("phase") == "Suspended":
        return ": it is suspended"
    if (target.group, target.kind) == ("kueue.x-k8s.io", "Workload") and not mapping(status.get("admission")):
        return ": it is not admitted"
    if str(marks.get("serving.kserve.io/stop")).lower() == "true":
        return ": it is stopped"
    return ": it is scaled to zero" if number(spec.get("replicas")) == 0 else ""
