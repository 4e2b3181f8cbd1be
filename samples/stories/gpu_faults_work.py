"""The work on the nodes of `gpu-faults`: who is hit by which fault, and who is not."""

from __future__ import annotations

from cluster import REGISTRY, Cluster, Object, digest, owner_of

from stories.parts import DRA, claim, request

DRIVER = "gpu.nvidia.com"
_CONTROL = "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
_NO_HELP = "preemption: 0/11 nodes are available: 11 Preemption is not helpful for scheduling."


def vision(c: Cluster) -> None:
    """A detector that is well, and OCR of which one container was restarted on the node with the changed driver."""
    image = f"{REGISTRY}/vision/detector:4.1.0"
    detector = c.deployment("vision", "detector", replicas=2, ready=2, image=image, since=c.ago(days=9))
    for suffix, node in (("m3h8p", "fen-gpu-03"), ("r7c2x", "fen-gpu-06")):
        c.pod(detector, suffix, node, created=c.ago(days=9), gpus=4, status=c.running("detector", image, c.ago(days=9)))
    image = f"{REGISTRY}/vision/ocr:2.7.3"
    since = c.ago(hours=2, minutes=55)
    ocr = c.deployment("vision", "ocr", replicas=2, ready=1, image=image, since=since)
    c.pod(ocr, "d4k9v", "fen-gpu-01", created=c.ago(days=9), gpus=1, status=c.running("ocr", image, c.ago(days=9)))
    words = (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
        "container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected "
        "mode as 'legacy'\nnvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown"
    )
    at = c.ago(minutes=2)
    last = {"exitCode": 128, "reason": "StartError", "message": words, "startedAt": "1970-01-01T00:00:00Z", "finishedAt": at}
    back_off = "back-off 5m0s restarting failed container=ocr pod=ocr-z6n1f_vision"
    status = c.waiting("ocr", image, since, "CrashLoopBackOff", back_off, restarts=37, last=last)
    c.pod(ocr, "z6n1f", "fen-gpu-04", created=c.ago(days=9), gpus=1, status=status)


def notebooks(c: Cluster) -> None:
    """A notebook waits for a MIG device of the layout that does not come."""
    image = f"{REGISTRY}/notebooks/lab:2026.10"
    since = c.ago(minutes=51)
    lab = c.deployment("notebooks", "lab-ines", replicas=1, ready=0, image=image, since=since)
    message = f"0/11 nodes are available: {_CONTROL}, 8 Insufficient nvidia.com/mig-1g.10gb. {_NO_HELP}"
    pod = c.pod(lab, "w8s5b", "", created=since, status=c.unschedulable(since, message))
    wanted = {"nvidia.com/mig-1g.10gb": "1"}
    pod["spec"]["containers"][0]["resources"] = {"requests": dict(wanted), "limits": dict(wanted)}
    c.event(pod, "FailedScheduling", message, first=since, last=c.ago(minutes=1), count=11, component="default-scheduler")


def training(c: Cluster) -> None:
    """A job loses its GPU, and each further pod of it is refused by the kubelet of that node, until the job gives up."""
    image = f"{REGISTRY}/training/moe:1.12"
    failed = c.ago(hours=2, minutes=15)
    template = {
        "metadata": {"labels": {"batch.kubernetes.io/job-name": "pretrain-moe"}},
        "spec": {"containers": [{"name": "pretrain-moe", "image": image}], "restartPolicy": "Never"},
    }
    job = c.add(
        {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pretrain-moe", "namespace": "training", "generation": 1},
            "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 6, "template": template},
            "status": {
                "failed": 7, "startTime": c.ago(hours=19),
                "conditions": [
                    {
                        "type": kind, "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": failed,
                        "message": "Job has reached the specified backoff limit",
                    }
                    for kind in ("FailureTarget", "Failed")
                ],
            },
        },
        c.ago(hours=19),
    )  # fmt: skip
    lost_at = c.ago(hours=2, minutes=25, seconds=57)
    ended = {"exitCode": 1, "reason": "Error", "startedAt": c.ago(hours=19), "finishedAt": c.ago(hours=2, minutes=25, seconds=51)}
    first = c.pod(job, "h2v6r", "fen-gpu-05", created=c.ago(hours=19), gpus=4, status=_ended("pretrain-moe", image, ended))
    first["spec"]["restartPolicy"] = "Never"
    c.log(first, "pretrain-moe", "current", [
        (c.ago(hours=2, minutes=26, seconds=4), "step 48210 loss 2.1174"),
        (lost_at, "RuntimeError: CUDA error: unspecified launch failure"),
    ])  # fmt: skip
    words = (
        "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown desc = error getting list "
        "of preferred allocation devices: unable to retrieve list of available devices: error creating nvml.Device 3: nvml: GPU is lost, "
        "which is unexpected"
    )
    for number, suffix in enumerate(("b9x3d", "c5m7k", "f8q2j", "n4w6t", "p7z1g", "t3y8s")):
        at = c.ago(hours=2, minutes=25, seconds=40 - 10 * (2**number - 1))
        status: Object = {
            "phase": "Failed",
            "reason": "UnexpectedAdmissionError",
            "message": f"Pod was rejected: {words}",
            "startTime": at,
        }
        pod = c.pod(job, suffix, "fen-gpu-05", created=at, gpus=4, status=status)
        pod["spec"]["restartPolicy"] = "Never"


def _ended(container: str, image: str, ended: Object) -> Object:
    """The status of a pod whose only container ended with an error."""
    state = {"terminated": ended | {"containerID": f"containerd://{digest(container)}"}}
    return {
        "phase": "Failed", "startTime": ended["startedAt"], "qosClass": "BestEffort",
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": ended["startedAt"]},
            {"type": "Ready", "status": "False", "reason": "PodFailed", "lastTransitionTime": ended["finishedAt"]},
        ],
        "containerStatuses": [
            {
                "name": container, "image": image, "imageID": f"{image}@sha256:{digest(image)}", "ready": False, "started": False,
                "restartCount": 0, "state": state, "lastState": {},
            }
        ],
    }  # fmt: skip


def research(c: Cluster) -> None:
    """Eight devices in two slices, all of them held by two workers; an evaluation server gets none."""
    _devices(c)
    for name, count in (("four-gpus", 4), ("one-gpu", 1)):
        c.add(
            {
                "apiVersion": DRA, "kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": "research"},
                "spec": {"spec": {"devices": {"requests": [request("gpus", DRIVER, count)]}}},
            },
            c.ago(days=12),
        )  # fmt: skip
    image = f"{REGISTRY}/research/rlhf:0.9.1"
    worker = c.deployment("research", "rlhf-worker", replicas=2, ready=2, image=image, since=c.ago(hours=26))
    for suffix, node in (("g2l5h", "fen-dra-01"), ("v9b4n", "fen-dra-02")):
        pod = c.pod(worker, suffix, node, created=c.ago(hours=26), status=c.running("rlhf-worker", image, c.ago(hours=26)))
        _claim(c, pod, "four-gpus", 4, node)
    image = f"{REGISTRY}/research/eval-server:1.3.0"
    since = c.ago(minutes=84)
    server = c.deployment("research", "eval-server", replicas=1, ready=0, image=image, since=since)
    message = f"0/11 nodes are available: {_CONTROL}, 8 cannot allocate all claims. still not schedulable, {_NO_HELP}"
    pod = c.pod(server, "q6d3f", "", created=since, status=c.unschedulable(since, message))
    _claim(c, pod, "one-gpu", 1, "")
    c.event(pod, "FailedScheduling", message, first=since, last=c.ago(minutes=1), count=18, component="default-scheduler")


def _devices(c: Cluster) -> None:
    """The driver, its class and its slices."""
    image = f"{REGISTRY}/nvidia/dra-driver-gpu:v25.8.0"
    plugin = c.daemonset("nvidia-dra-driver-gpu", "nvidia-dra-driver-gpu-kubelet-plugin", image=image, desired=2, ready=2)
    select = {"cel": {"expression": f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"}}
    c.add(
        {"apiVersion": DRA, "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {"selectors": [select]}}, c.ago(days=60)
    )
    for number, node in enumerate(("fen-dra-01", "fen-dra-02")):
        status = c.running("nvidia-dra-driver-gpu-kubelet-plugin", image, c.ago(days=30))
        c.pod(plugin, f"j{number}c8x", node, created=c.ago(days=30), status=status)
        devices = [
            {
                "name": f"gpu-{index}",
                "attributes": {
                    "type": {"string": "gpu"}, "uuid": {"string": f"GPU-7a6b5c4d-{number}{index}00-4e3f-9a8b-c7d6e5f4a3b{index}"},
                    "productName": {"string": "NVIDIA H100 80GB HBM3"}, "driverVersion": {"version": "580.95.5"},
                },
                "capacity": {"memory": {"value": "81559Mi"}},
            }
            for index in range(4)
        ]  # fmt: skip
        holder = next(obj for obj in c.objects if obj["kind"] == "Node" and obj["metadata"]["name"] == node)
        meta = {"name": f"{node}-{DRIVER}-x4k7{number}", "ownerReferences": [owner_of(holder)]}
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
        c.add({"apiVersion": DRA, "kind": "ResourceSlice", "metadata": meta, "spec": spec}, c.ago(days=30))


def _claim(c: Cluster, pod: Object, template: str, count: int, node: str) -> None:
    """The claim that was made from a template for a pod: allocated on a node, or not."""
    meta = pod["metadata"]
    name = f"{meta['name']}-gpus-{digest(meta['name'])[:5]}"
    pod["spec"]["containers"][0]["resources"] = {"claims": [{"name": "gpus"}]}
    allocation: Object | None = None
    if node:
        results = [{"request": "gpus", "driver": DRIVER, "pool": node, "device": f"gpu-{index}"} for index in range(count)]
        where = {"key": "metadata.name", "operator": "In", "values": [node]}
        allocation = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [where]}]}}
    claim(c, pod, name, template, request("gpus", DRIVER, count), allocation)
