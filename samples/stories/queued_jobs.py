"""The jobs of the cluster of queues: what runs, what waits, what was thrown out, what failed."""

from __future__ import annotations

from typing import Any

from cluster import REGISTRY, Cluster, Object, digest, owner_of

from stories.parts import condition
from stories.queues import API, RESOURCE

SPACE = "research"
TRAINER = f"{REGISTRY}/research/trainer:26.10"
RAY = f"{REGISTRY}/research/ray-ml:2.49.1"


def jobs(c: Cluster) -> None:
    """All of them, in the order of their age."""
    _runs(c)
    _ray_head_down(c)
    _waits(c)
    _never_fits(c)
    _thrown_out(c)
    _failed(c)
    _no_such_queue(c)
    _behind_a_dead_queue(c)


def _runs(c: Cluster) -> None:
    """A training that took more than its queue's own quota while the others left theirs."""
    begun = c.ago(days=2, hours=3)
    jobset = _jobset(c, "train-vit", "vision", pods=3, created=begun, suspended=False)
    jobset["status"] |= {"replicatedJobsStatus": [_replicated(ready=1, active=1)]}
    job = _child(c, jobset, pods=3, created=begun, status={"active": 3, "ready": 3, "startTime": begun})
    for index, node in enumerate(("heron-gpu-01", "heron-gpu-02", "heron-gpu-03")):
        c.pod(job, f"{index}-z{index}w4q", node, created=begun, gpus=8, status=c.running("trainer", TRAINER, begun))
    _workload(c, jobset, "vision", 3, _admitted("vision", 3, begun))


def _waits(c: Cluster) -> None:
    """Its queue has quota of its own, which another queue has borrowed and need not give back."""
    since = c.ago(hours=3, minutes=10)
    jobset = _jobset(c, "pretrain-lm", "language", pods=2, created=since, suspended=True)
    message = (
        f"couldn't assign flavors to pod set workers: insufficient unused quota for {RESOURCE} in flavor h100, 16 more needed"
    )
    _workload(c, jobset, "language", 2, _pending("WaitingForQuota", message, since, 2))


def _never_fits(c: Cluster) -> None:
    since = c.ago(hours=1, minutes=25)
    jobset = _jobset(c, "pretrain-xl", "language", pods=12, created=since, suspended=True)
    message = (
        f"couldn't assign flavors to pod set workers: insufficient quota for {RESOURCE} in flavor h100, previously considered podsets "
        "requests (0) + current podset request (96) > maximum capacity (40)"
    )
    _workload(c, jobset, "language", 12, _pending("ExceedsMaxQuota", message, since, 12))


def _thrown_out(c: Cluster) -> None:
    """Its image does not exist, so its pods are never ready in time, and Kueue takes the quota back again and again."""
    created, begun = c.ago(hours=4), c.ago(minutes=12)
    image = f"{REGISTRY}/research/align:26.11-rc1"
    jobset = _jobset(c, "align-rewards", "language", pods=1, created=created, suspended=False, image=image)
    jobset["status"] |= {"replicatedJobsStatus": [_replicated(ready=0, active=1)]}
    job = _child(c, jobset, pods=1, created=begun, status={"active": 1, "ready": 0, "startTime": begun}, image=image)
    words = f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = NotFound desc = {image}: not found'
    pod = c.pod(
        job,
        "0-p8s2v",
        "heron-gpu-05",
        created=begun,
        gpus=8,
        status=c.waiting("trainer", image, begun, "ImagePullBackOff", words),
    )
    c.event(
        pod,
        "Failed",
        f'Failed to pull image "{image}": {image}: not found',
        first=begun,
        last=c.ago(minutes=1),
        count=6,
        component="kubelet",
    )
    workload = _workload(c, jobset, "language", 1, _admitted("language", 1, begun))
    meta = workload["metadata"]
    words = f"Exceeded the PodsReady timeout {SPACE}/{meta['name']}"
    workload["status"]["conditions"] += [
        condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded", begun),
        condition("Evicted", "False", "QuotaReserved", f"Previously: {words}", begun),
        condition("Requeued", "True", "BackoffFinished", "The workload backoff was finished", begun),
    ]
    workload["status"] |= {
        "requeueState": {"count": 5},
        "schedulingStats": {"evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 5}]},
    }
    c.event(
        workload,
        "EvictedDueToPodsReadyTimeout",
        words,
        kind="Normal",
        first=c.ago(hours=3, minutes=20),
        last=c.ago(minutes=28),
        count=5,
        component="workload-controller",
    )


def _failed(c: Cluster) -> None:
    """One of its workers met a file that is cut, and it has no failure policy."""
    begun, end = c.ago(hours=2, minutes=30), c.ago(hours=2, minutes=4)
    jobset = _jobset(c, "bert-eval", "vision", pods=1, created=begun, suspended=False)
    words = "jobset failed due to one or more job failures (first failed job: bert-eval-workers-0)"
    jobset["status"] |= {
        "terminalState": "Failed",
        "conditions": [condition("Failed", "True", "FailedJobs", words, end)],
        "replicatedJobsStatus": [{"name": "workers", "ready": 0, "active": 0, "succeeded": 0, "failed": 1, "suspended": 0}],
    }
    over = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit", end)
    job = _child(c, jobset, pods=1, created=begun, status={"failed": 1, "startTime": begun, "conditions": [over]})
    status = c.running("trainer", TRAINER, begun, ready=False)
    status["phase"] = "Failed"
    status["containerStatuses"][0] |= {
        "started": False,
        "state": {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": begun, "finishedAt": end}},
    }
    pod = c.pod(job, "0-c5k7h", "heron-gpu-04", created=begun, gpus=8, status=status)
    c.log(pod, "trainer", "current", [
        (begun, "bert-eval: 412 shards"),
        (end, "bert-eval: reading /data/eval/shard-0398.arrow"),
        (end, "OSError: /data/eval/shard-0398.arrow: expected 268435456 bytes, got 91750400: the file is cut"),
    ])  # fmt: skip
    finished = condition("Finished", "True", "Failed", words, end)
    _workload(c, jobset, "vision", 1, {"conditions": [finished]})


def _ray_head_down(c: Cluster) -> None:
    """The head runs out of memory; status.state still says ready."""
    begun, since = c.ago(days=1, hours=2), c.ago(minutes=34)
    groups: list[Object] = [
        {"groupName": "gpu", "replicas": 1, "minReplicas": 1, "maxReplicas": 1, "template": _template(8, RAY, "ray-worker")}
    ]
    head: Object = {
        "metadata": {"labels": {}},
        "spec": {"containers": [{"name": "ray-head", "image": RAY, "resources": {"limits": {"memory": "8Gi"}}}]},
    }
    words = "containers with unready status: [ray-head]; ray-head: CrashLoopBackOff: back-off 5m0s restarting failed container=ray-head"
    cluster = c.add(
        {
            "apiVersion": "ray.io/v1", "kind": "RayCluster",
            "metadata": {"name": "asr-tuning", "namespace": SPACE, "generation": 2, "labels": {"kueue.x-k8s.io/queue-name": "speech"}},
            "spec": {"rayVersion": "2.49.1", "suspend": False, "headGroupSpec": {"rayStartParams": {}, "template": head}, "workerGroupSpecs": groups},
            "status": {
                "state": "ready", "observedGeneration": 2, "desiredWorkerReplicas": 1, "readyWorkerReplicas": 0, "availableWorkerReplicas": 1,
                "head": {"podName": "asr-tuning-head-6xq2m", "serviceName": "asr-tuning-head-svc"},
                "conditions": [
                    condition("HeadPodReady", "False", "CrashLoopBackOff", words, since),
                    condition("RayClusterProvisioned", "True", "AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time", begun),
                ],
            },
        },
        begun,
    )  # fmt: skip
    last = {"exitCode": 137, "reason": "OOMKilled", "startedAt": c.ago(minutes=4), "finishedAt": c.ago(minutes=2)}
    crash = "back-off 5m0s restarting failed container=ray-head pod=asr-tuning-head-6xq2m_research"
    status = c.waiting("ray-head", RAY, since, "CrashLoopBackOff", crash, restarts=9, last=last)
    _ray_pod(c, cluster, "asr-tuning-head-6xq2m", "headgroup", "heron-gpu-04", begun, status, head["spec"]["containers"][0])
    status = c.running("ray-worker", RAY, begun, ready=False)
    for one in status["conditions"][2:]:
        one["lastTransitionTime"] = c.ago(minutes=33)
    worker = groups[0]["template"]["spec"]["containers"][0]
    _ray_pod(c, cluster, "asr-tuning-gpu-worker-t5n8b", "gpu", "heron-gpu-04", begun, status, worker)
    _workload(c, cluster, "speech", 1, _admitted("speech", 1, begun))


def _ray_pod(
    c: Cluster, cluster: Object, name: str, group: str, node: str, created: str, status: Object, container: Object
) -> None:
    kind = "head" if group == "headgroup" else "worker"
    labels = {
        "ray.io/cluster": cluster["metadata"]["name"],
        "ray.io/node-type": kind,
        "ray.io/group": group,
        "ray.io/is-ray-node": "yes",
    }
    c.add(
        {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": SPACE, "labels": labels, "ownerReferences": [owner_of(cluster)]},
            "spec": {"containers": [dict(container)], "restartPolicy": "Always", "nodeName": node}, "status": status,
        },
        created,
    )  # fmt: skip


def _no_such_queue(c: Cluster) -> None:
    since = c.ago(minutes=48)
    job = c.add(
        {
            "apiVersion": "ray.io/v1", "kind": "RayJob",
            "metadata": {"name": "clean-transcripts", "namespace": SPACE, "labels": {"kueue.x-k8s.io/queue-name": "speach"}},
            "spec": {
                "entrypoint": "python clean.py", "suspend": True, "shutdownAfterJobFinishes": True,
                "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, "template": _template(1, RAY, "ray-head")}, "workerGroupSpecs": []},
            },
            "status": {"jobDeploymentStatus": "Suspended", "jobStatus": ""},
        },
        since,
    )  # fmt: skip
    _workload(
        c,
        job,
        "speach",
        1,
        {"conditions": [condition("QuotaReserved", "False", "Misconfigured", "LocalQueue speach doesn't exist", since)]},
        gpus=1,
    )


def _behind_a_dead_queue(c: Cluster) -> None:
    """A JobSet and the gated pods of a StatefulSet, behind a queue whose flavor somebody deleted."""
    since, words = c.ago(hours=6), "ClusterQueue batch is inactive"
    jobset = _jobset(c, "embed-catalogue", "batch", pods=2, created=since, suspended=True, namespace="nightly")
    _workload(c, jobset, "batch", 2, _pending("Suspended", words, since, 2))
    group = f"statefulset-vector-index-{digest('vector-index')[:5]}"
    marks = {"kueue.x-k8s.io/queue-name": "batch", "kueue.x-k8s.io/pod-group-name": group, "kueue.x-k8s.io/managed": "true"}
    template = _template(1, f"{REGISTRY}/nightly/indexer:4.2.0", "indexer")
    template["metadata"]["labels"] |= marks
    owner = c.add(
        {
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": "vector-index", "namespace": "nightly", "generation": 1, "labels": {"kueue.x-k8s.io/queue-name": "batch"}},
            "spec": {"replicas": 1, "serviceName": "vector-index", "selector": {"matchLabels": {"app": "indexer"}}, "template": template},
            "status": {"observedGeneration": 1, "replicas": 1, "currentReplicas": 1, "updatedReplicas": 1},
        },
        since,
    )  # fmt: skip
    gated = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
        "lastTransitionTime": since,
    }
    pod = c.pod(
        owner, "0", "", created=since, gpus=1, status={"phase": "Pending", "qosClass": "Burstable", "conditions": [gated]}
    )
    pod["metadata"]["labels"] |= marks | {"app": "indexer"}
    pod["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    status = _pending("Suspended", words, since, 1, gpus=1)
    _add_workload(c, "nightly", group, "batch", 1, status, since, 1, {"ownerReferences": [owner_of(pod)]})


def _template(gpus: int, image: str = TRAINER, name: str = "trainer") -> Object:
    amounts = {RESOURCE: str(gpus)}
    container = {"name": name, "image": image, "resources": {"requests": dict(amounts), "limits": dict(amounts)}}
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], "restartPolicy": "Never"}}


def _jobset(
    c: Cluster, name: str, queue: str, *, pods: int, created: str, suspended: bool, image: str = TRAINER, namespace: str = SPACE
) -> Object:
    template = {
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "template": _template(8, image),
        }
    }
    status: Object = {"restarts": 0}
    if suspended:
        status |= {"conditions": [condition("Suspended", "True", "SuspendedJobs", "jobset is suspended", created)]}
    return c.add(
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": namespace, "generation": 1, "labels": {"kueue.x-k8s.io/queue-name": queue}},
            "spec": {"suspend": suspended, "replicatedJobs": [{"name": "workers", "replicas": 1, "template": template}]}, "status": status,
        },
        created,
    )  # fmt: skip


def _replicated(*, ready: int, active: int) -> Object:
    return {"name": "workers", "ready": ready, "active": active, "succeeded": 0, "failed": 0, "suspended": 0}


def _child(c: Cluster, jobset: Object, *, pods: int, created: str, status: Object, image: str = TRAINER) -> Object:
    """The Job that the controller makes of a JobSet's only replicated job."""
    meta = jobset["metadata"]
    name = f"{meta['name']}-workers-0"
    prefix = "jobset.sigs.k8s.io"
    labels = {
        f"{prefix}/jobset-name": meta["name"], f"{prefix}/replicatedjob-name": "workers", f"{prefix}/job-index": "0",
        f"{prefix}/restart-attempt": "0", "batch.kubernetes.io/job-name": name, "job-name": name,
    }  # fmt: skip
    spec = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        "suspend": False,
        "backoffLimit": 0,
        "template": _template(8, image),
    }
    return c.add(
        {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": meta["namespace"], "labels": labels, "ownerReferences": [owner_of(jobset)]},
            "spec": spec, "status": status,
        },
        created,
    )  # fmt: skip


def _admitted(queue: str, pods: int, since: str) -> Object:
    assigned = {"name": "workers", "count": pods, "flavors": {RESOURCE: "h100"}, "resourceUsage": {RESOURCE: str(8 * pods)}}
    return {
        "admission": {"clusterQueue": queue, "podSetAssignments": [assigned]},
        "conditions": [
            condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}", since),
            condition("Admitted", "True", "Admitted", "The workload is admitted", since),
        ],
    }


def _pending(reason: str, message: str, since: str, pods: int, *, gpus: int = 8) -> Object:
    requests = [{"name": "workers", "resources": {RESOURCE: str(gpus * pods)}}]
    return {"conditions": [condition("QuotaReserved", "False", reason, message, since)], "resourceRequests": requests}


def _workload(c: Cluster, job: Object, queue: str, pods: int, status: Object, *, gpus: int = 8) -> Object:
    meta = job["metadata"]
    name = f"{job['kind'].lower()}-{meta['name']}-{meta['uid'][:5]}"
    marks = {"ownerReferences": [owner_of(job)], "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]}}
    return _add_workload(c, meta["namespace"], name, queue, pods, status, meta["creationTimestamp"], gpus, marks)


def _add_workload(
    c: Cluster, namespace: str, name: str, queue: str, pods: int, status: Object, created: str, gpus: int, marks: dict[str, Any]
) -> Object:
    pod_sets = [{"name": "workers", "count": pods, "template": _template(gpus)}]
    return c.add(
        {
            "apiVersion": API, "kind": "Workload",
            "metadata": {"name": name, "namespace": namespace, "finalizers": ["kueue.x-k8s.io/resource-in-use"], **marks},
            "spec": {"active": True, "queueName": queue, "priority": 0, "podSets": pod_sets}, "status": status,
        },
        created,
    )  # fmt: skip
