"""Kueue in the GPU cluster: two GPU nodes' worth of quota, all of it taken, and a queue that nobody made."""

from __future__ import annotations

from cluster import REGISTRY, Cluster, Object, owner_of

from stories.parts import condition

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "research"
FLAVOR = "h100"
RESOURCE = "nvidia.com/gpu"


def queues(c: Cluster) -> None:
    """A pretraining job holds the whole quota, a second job waits for it, and a third names a queue with a typo."""
    _controller(c)
    c.add(
        {
            "apiVersion": API,
            "kind": "ResourceFlavor",
            "metadata": {"name": FLAVOR},
            "spec": {"nodeLabels": {"nvidia.com/gpu.present": "true"}},
        },
        c.ago(days=60),
    )
    _cluster_queue(c)
    c.add(
        {
            "apiVersion": API, "kind": "LocalQueue", "metadata": {"name": "team-blue", "namespace": "training"}, "spec": {"clusterQueue": QUEUE},
            "status": {
                "admittedWorkloads": 1, "reservingWorkloads": 1, "pendingWorkloads": 1,
                "conditions": [_condition("Active", "True", "Ready", "Can submit new workloads to clusterQueue", c.ago(days=60))],
                "flavorsReservation": [{"name": FLAVOR, "resources": [{"name": RESOURCE, "total": "16"}]}],
                "flavorsUsage": [{"name": FLAVOR, "resources": [{"name": RESOURCE, "total": "16"}]}],
            },
        },
        c.ago(days=60),
    )  # fmt: skip
    _pretrain(c)
    _finetune(c)
    _evaluation(c)


def _controller(c: Cluster) -> None:
    image = f"{REGISTRY}/kueue/kueue:v0.19.2"
    manager = c.deployment("kueue-system", "kueue-controller-manager", replicas=1, ready=1, image=image, since=c.ago(days=20))
    c.pod(
        manager, "x9d4k", "lark-gpu-02", created=c.ago(days=6), status=c.running("kueue-controller-manager", image, c.ago(days=6))
    )


def _cluster_queue(c: Cluster) -> None:
    used = [{"name": FLAVOR, "resources": [{"name": RESOURCE, "total": "16", "borrowed": "0"}]}]
    c.add(
        {
            "apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": QUEUE},
            "spec": {
                "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None",
                "resourceGroups": [{"coveredResources": [RESOURCE], "flavors": [{"name": FLAVOR, "resources": [{"name": RESOURCE, "nominalQuota": "16"}]}]}],
            },
            "status": {
                "admittedWorkloads": 1, "reservingWorkloads": 1, "pendingWorkloads": 1, "flavorsReservation": used, "flavorsUsage": used,
                "conditions": [_condition("Active", "True", "Ready", "Can admit new workloads", c.ago(days=60))],
            },
        },
        c.ago(days=60),
    )  # fmt: skip


def _pretrain(c: Cluster) -> None:
    begun = c.ago(hours=9)
    job = _job(c, "pretrain-7b", pods=2, gpus=8, created=c.ago(hours=9, minutes=1), queue="team-blue", suspended=False)
    for suffix, node in (("4bq8x", "lark-gpu-09"), ("tz2m6", "lark-gpu-10")):
        c.pod(job, suffix, node, created=begun, gpus=8, status=c.running("trainer", _image(), begun))
    status = {
        "admission": {
            "clusterQueue": QUEUE,
            "podSetAssignments": [{"name": "main", "count": 2, "flavors": {RESOURCE: FLAVOR}, "resourceUsage": {RESOURCE: "16"}}],
        },
        "conditions": [
            _condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {QUEUE}", begun),
            _condition("Admitted", "True", "Admitted", "The workload is admitted", begun),
        ],
    }
    _workload(c, job, "team-blue", pods=2, gpus=8, status=status)


def _finetune(c: Cluster) -> None:
    job = _job(c, "finetune-legal", pods=1, gpus=8, created=c.ago(hours=2, minutes=4), queue="team-blue", suspended=True)
    message = (
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed"
    )
    status = {
        "conditions": [_condition("QuotaReserved", "False", "WaitingForQuota", message, c.ago(hours=2, minutes=4))],
        "resourceRequests": [{"name": "main", "resources": {RESOURCE: "8"}}],
    }
    _workload(c, job, "team-blue", pods=1, gpus=8, status=status)


def _evaluation(c: Cluster) -> None:
    job = _job(c, "evaluation-suite", pods=1, gpus=1, created=c.ago(minutes=41), queue="team-bleu", suspended=True)
    message = "LocalQueue team-bleu doesn't exist"
    status = {"conditions": [_condition("QuotaReserved", "False", "Misconfigured", message, c.ago(minutes=41))]}
    _workload(c, job, "team-bleu", pods=1, gpus=1, status=status)


def _image() -> str:
    return f"{REGISTRY}/training/trainer:25.10"


def _template(gpus: int) -> Object:
    amounts = {RESOURCE: str(gpus)}
    container = {"name": "trainer", "image": _image(), "resources": {"requests": dict(amounts), "limits": dict(amounts)}}
    return {"metadata": {"labels": {"app": "trainer"}}, "spec": {"containers": [container], "restartPolicy": "Never"}}


def _job(c: Cluster, name: str, *, pods: int, gpus: int, created: str, queue: str, suspended: bool) -> Object:
    status: Object = {} if suspended else {"active": pods, "ready": pods, "startTime": created}
    if suspended:
        status = {"conditions": [_condition("Suspended", "True", "JobSuspended", "Job suspended", created)]}
    return c.add(
        {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "training", "labels": {"kueue.x-k8s.io/queue-name": queue}},
            "spec": {"parallelism": pods, "completions": pods, "suspend": suspended, "template": _template(gpus)}, "status": status,
        },
        created,
    )  # fmt: skip


def _workload(c: Cluster, job: Object, queue: str, *, pods: int, gpus: int, status: Object) -> None:
    meta = job["metadata"]
    c.add(
        {
            "apiVersion": API, "kind": "Workload",
            "metadata": {
                "name": f"job-{meta['name']}-{meta['uid'][:5]}", "namespace": "training", "ownerReferences": [owner_of(job)],
                "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]}, "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            },
            "spec": {"active": True, "queueName": queue, "priority": 0, "podSets": [{"name": "main", "count": pods, "template": _template(gpus)}]},
            "status": status,
        },
        meta["creationTimestamp"],
    )  # fmt: skip


def _condition(kind: str, status: str, reason: str, message: str, since: str) -> Object:
    return condition(kind, status, reason, message, since) | {"observedGeneration": 1}
