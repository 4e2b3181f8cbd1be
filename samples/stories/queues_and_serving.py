"""A cohort whose quota is lent out, jobs that stand behind it for reasons of their own, and models that do not come up."""

from __future__ import annotations

from datetime import UTC, datetime

from cluster import REGISTRY, Cluster

from stories import queued_jobs, serving_models
from stories.parts import condition
from stories.queues import API, RESOURCE

FLAVOR = "h100"
QUOTAS = {"vision": (16, 24), "language": (16, 8), "speech": (8, 8)}
"""ClusterQueue → its own GPUs, and how many are reserved."""


def story() -> Cluster:
    """Six GPU nodes without the GPU Operator, three queues of one cohort and one beside it, JobSets, a Ray cluster, KServe."""
    c = Cluster("queues-and-serving", datetime(2026, 11, 18, 14, 0, tzinfo=UTC))
    for name in (
        "default",
        "kube-system",
        "kueue-system",
        "jobset-system",
        "ray-system",
        "kserve",
        "research",
        "nightly",
        "serving",
    ):
        c.namespace(name)
    for number in (1, 2, 3):
        c.node(f"heron-cp-{number}", roles=("control-plane",))
    for number in range(1, 7):
        c.node(f"heron-gpu-{number:02d}", gpus=8, mig=None, roles=("worker",))
    for namespace, name, tag, node in (
        ("kueue-system", "kueue-controller-manager", "kueue/kueue:v0.19.2", "heron-cp-1"),
        ("jobset-system", "jobset-controller-manager", "jobset/jobset:v0.11.1", "heron-cp-1"),
        ("ray-system", "kuberay-operator", "kuberay/operator:v1.6.0", "heron-cp-3"),
    ):
        image = f"{REGISTRY}/{tag}"
        manager = c.deployment(namespace, name, replicas=1, ready=1, image=image, since=c.ago(days=30))
        c.pod(manager, "k6t9p", node, created=c.ago(days=30), status=c.running(name, image, c.ago(days=30)))
    _queues(c)
    queued_jobs.jobs(c)
    serving_models.models(c)
    return c


def _queues(c: Cluster) -> None:
    flavor = {"spec": {"nodeLabels": {"nvidia.com/gpu.present": "true"}}}
    c.add({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}, **flavor}, c.ago(days=60))
    for name, (nominal, reserved) in QUOTAS.items():
        used = {"name": RESOURCE, "total": str(reserved), "borrowed": str(max(0, reserved - nominal))}
        holding = [{"name": FLAVOR, "resources": [used]}]
        waiting = 2 if name == "language" else 0
        _cluster_queue(c, name, FLAVOR, nominal, {
            "admittedWorkloads": 1, "reservingWorkloads": 1, "pendingWorkloads": waiting, "flavorsReservation": holding, "flavorsUsage": holding,
            "conditions": [condition("Active", "True", "Ready", "Can admit new workloads", c.ago(days=60))],
        }, "research")  # fmt: skip
        _local_queue(
            c,
            "research",
            name,
            name,
            waiting,
            1,
            condition("Active", "True", "Ready", "Can submit new workloads to clusterQueue", c.ago(days=60)),
        )
    words = "Can't admit new workloads: references missing ResourceFlavor(s): a100-spot."
    inactive = condition("Active", "False", "FlavorNotFound", words, c.ago(hours=7))
    _cluster_queue(c, "batch", "a100-spot", 16, {
        "admittedWorkloads": 0, "reservingWorkloads": 0, "pendingWorkloads": 2, "flavorsReservation": [], "flavorsUsage": [], "conditions": [inactive],
    }, None)  # fmt: skip
    closed = condition("Active", "False", "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue", c.ago(hours=7))
    _local_queue(c, "nightly", "batch", "batch", 2, 0, closed)


def _cluster_queue(c: Cluster, name: str, flavor: str, nominal: int, status: dict[str, object], cohort: str | None) -> None:
    quota = {"name": flavor, "resources": [{"name": RESOURCE, "nominalQuota": str(nominal)}]}
    c.add(
        {
            "apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {
                "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None",
                "preemption": {"reclaimWithinCohort": "Never", "withinClusterQueue": "LowerPriority"},
                "resourceGroups": [{"coveredResources": [RESOURCE], "flavors": [quota]}],
            } | ({"cohortName": cohort} if cohort else {}),
            "status": status,
        },
        c.ago(days=60),
    )  # fmt: skip


def _local_queue(
    c: Cluster, namespace: str, name: str, queue: str, pending: int, admitted: int, active: dict[str, object]
) -> None:
    c.add(
        {
            "apiVersion": API, "kind": "LocalQueue", "metadata": {"name": name, "namespace": namespace}, "spec": {"clusterQueue": queue},
            "status": {"admittedWorkloads": admitted, "reservingWorkloads": admitted, "pendingWorkloads": pending, "conditions": [active]},
        },
        c.ago(days=60),
    )  # fmt: skip
