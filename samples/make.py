"""Write the sample bundles: `python samples/make.py` (a test holds the folders against this file).

Everything is invented. The stories are in the .md file beside each folder, what a report must say in the .expect.yaml.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
Object = dict[str, Any]

GPU_PRODUCT = "NVIDIA-H100-80GB-HBM3"
REGISTRY = "registry.larkfield.example"
LISTED = (
    ("v1", "ConfigMap", "configmaps"), ("v1", "Endpoints", "endpoints"), ("v1", "Event", "events"),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims"), ("v1", "Pod", "pods"),
    ("v1", "ReplicationController", "replicationcontrollers"), ("v1", "Secret", "secrets"), ("v1", "Service", "services"),
    ("apps/v1", "DaemonSet", "daemonsets"), ("apps/v1", "Deployment", "deployments"), ("apps/v1", "ReplicaSet", "replicasets"),
    ("apps/v1", "StatefulSet", "statefulsets"), ("batch/v1", "CronJob", "cronjobs"), ("batch/v1", "Job", "jobs"),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
)  # fmt: skip
CLUSTER_FOLDERS = {"Node": "nodes", "PersistentVolume": "persistentvolumes"}


@dataclass
class Cluster:
    """The objects and logs of one sample; `end` is when the collection ended."""

    name: str
    end: datetime
    objects: list[Object] = field(default_factory=list)
    logs: dict[tuple[str, str, str, str], str] = field(default_factory=dict)
    serial: int = 41000

    def ago(self, **parts: float) -> str:
        """A time before the end of the collection, RFC 3339."""
        return (self.end - timedelta(**parts)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def add(self, obj: Object, created: str) -> Object:
        """Give the object its uid, resourceVersion and creation time, and keep it."""
        self.serial += 7
        meta = obj["metadata"]
        where = f"{self.name}/{obj['kind']}/{meta.get('namespace', '')}/{meta['name']}"
        meta |= {
            "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, where)),
            "resourceVersion": str(self.serial),
            "creationTimestamp": created,
        }
        self.objects.append(obj)
        return obj

    def namespace(self, name: str) -> None:
        """A namespace 90 days old."""
        meta = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
        self.add({"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "status": {"phase": "Active"}}, self.ago(days=90))

    def node(self, name: str, *, gpus: int = 0, lost: timedelta | None = None, roles: tuple[str, ...] = ()) -> None:
        """A node; `lost` is how long ago its kubelet fell silent."""
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        labels |= {f"node-role.kubernetes.io/{role}": "" for role in roles}
        amounts = {"cpu": "96", "memory": "1056299240Ki", "ephemeral-storage": "1841180136Ki", "pods": "110"}
        if gpus:
            labels |= {
                "nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(gpus), "nvidia.com/gpu.product": GPU_PRODUCT,
                "nvidia.com/gpu.memory": "81559", "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "single",
                "nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "success",
                "feature.node.kubernetes.io/pci-10de.present": "true",
            }  # fmt: skip
            amounts["nvidia.com/gpu"] = str(gpus)
        taints = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}] if "control-plane" in roles else []
        beat = self.ago(seconds=70)
        status, reason, message, since = "True", "KubeletReady", "kubelet is posting ready status", self.ago(days=41)
        if lost:
            since = self.ago(seconds=lost.total_seconds())
            beat = self.ago(seconds=lost.total_seconds() + 42)
            status, reason, message = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
            taints += [
                {"key": "node.kubernetes.io/unreachable", "effect": e, "timeAdded": since} for e in ("NoSchedule", "NoExecute")
            ]
        conditions = [
            {
                "type": kind, "status": "Unknown" if lost else "False", "lastHeartbeatTime": beat,
                "lastTransitionTime": since, "reason": reason if lost else good, "message": message if lost else words,
            }
            for kind, good, words in (
                ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            )
        ]  # fmt: skip
        ready = {
            "type": "Ready",
            "status": status,
            "lastHeartbeatTime": beat,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
        info = {
            "kubeletVersion": "v1.33.4", "containerRuntimeVersion": "containerd://2.0.5", "osImage": "Ubuntu 24.04.3 LTS",
            "kernelVersion": "6.8.0-79-generic", "architecture": "amd64", "operatingSystem": "linux",
        }  # fmt: skip
        spec: Object = {"providerID": f"metal://{name}"} | ({"taints": taints} if taints else {})
        self.add(
            {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
                "status": {"capacity": amounts, "allocatable": dict(amounts), "conditions": [*conditions, ready], "nodeInfo": info},
            },
            self.ago(days=120),
        )  # fmt: skip

    def deployment(
        self, namespace: str, name: str, *, replicas: int, ready: int, image: str, since: str, **container: Any
    ) -> Object:
        """A Deployment with its ReplicaSet; the ReplicaSet is returned, for its pods."""
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name, "image": image, **container}]}}
        well = ready == replicas
        available = {
            "type": "Available", "status": "True" if well else "False",
            "reason": "MinimumReplicasAvailable" if well else "MinimumReplicasUnavailable",
            "message": "Deployment has minimum availability." if well else "Deployment does not have minimum availability.",
            "lastTransitionTime": since,
        }  # fmt: skip
        status: Object = {"observedGeneration": 3, "replicas": replicas, "updatedReplicas": replicas, "conditions": [available]}
        status |= {"readyReplicas": ready, "availableReplicas": ready} if ready else {}
        status |= {} if well else {"unavailableReplicas": replicas - ready}
        deployment = self.add(
            {
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}, "generation": 3},
                "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}, "status": status,
            },
            self.ago(days=60),
        )  # fmt: skip
        tag = hashlib.sha256(name.encode()).hexdigest()[:9]
        return self.add(
            {
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {
                    "name": f"{name}-{tag}", "namespace": namespace, "generation": 1,
                    "labels": {"app": name, "pod-template-hash": tag}, "ownerReferences": [owner_of(deployment)],
                },
                "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
                "status": {"observedGeneration": 1, "replicas": replicas} | ({"readyReplicas": ready, "availableReplicas": ready} if ready else {}),
            },
            self.ago(days=20),
        )  # fmt: skip

    def pod(self, owner: Object, suffix: str, node: str, *, created: str, status: Object, gpus: int = 0, **meta: Any) -> Object:
        """A pod of a controller, with the status given; scheduling and the simple parts are filled in."""
        template = owner["spec"]["template"]
        containers = [dict(container) for container in template["spec"]["containers"]]
        if gpus:
            containers[0]["resources"] = {"requests": {"nvidia.com/gpu": str(gpus)}, "limits": {"nvidia.com/gpu": str(gpus)}}
        spec: Object = {"containers": containers, "restartPolicy": "Always", "schedulerName": "default-scheduler"}
        spec |= {"nodeName": node} if node else {}
        labels = dict(owner["metadata"].get("labels") or template["metadata"]["labels"])
        return self.add(
            {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {
                    "name": f"{owner['metadata']['name']}-{suffix}", "namespace": owner["metadata"]["namespace"],
                    "labels": labels, "ownerReferences": [owner_of(owner)], **meta,
                },
                "spec": spec, "status": status,
            },
            created,
        )  # fmt: skip

    def daemonset(self, namespace: str, name: str, *, image: str, desired: int, ready: int) -> Object:
        """A DaemonSet of one container."""
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name, "image": image}]}}
        return self.add(
            {
                "apiVersion": "apps/v1", "kind": "DaemonSet",
                "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}, "generation": 1},
                "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, "updateStrategy": {"type": "RollingUpdate"}},
                "status": {
                    "observedGeneration": 1, "desiredNumberScheduled": desired, "currentNumberScheduled": desired,
                    "updatedNumberScheduled": desired, "numberReady": ready, "numberAvailable": ready, "numberMisscheduled": 0,
                } | ({"numberUnavailable": desired - ready} if ready < desired else {}),
            },
            self.ago(days=120),
        )  # fmt: skip

    def running(
        self, container: str, image: str, started: str, *, ready: bool = True, restarts: int = 0, lost: str = ""
    ) -> Object:
        """The status of a pod whose container runs; `lost` is when its node fell silent."""
        well = ready and not lost
        turned = lost or started
        return {
            "phase": "Running", "startTime": started, "qosClass": "Burstable",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": started},
                {"type": "Initialized", "status": "True", "lastTransitionTime": started},
                {"type": "ContainersReady", "status": "True" if ready else "False", "lastTransitionTime": started},
                {"type": "Ready", "status": "True" if well else "False", "lastTransitionTime": turned},
            ],
            "containerStatuses": [
                {
                    "name": container, "image": image, "imageID": f"{image.rsplit(':', 1)[0]}@sha256:{digest(image)}", "ready": ready,
                    "started": True, "restartCount": restarts, "state": {"running": {"startedAt": started}}, "lastState": {},
                }
            ],
        }  # fmt: skip

    def waiting(
        self, container: str, image: str, since: str, reason: str, message: str, *, restarts: int = 0, last: Object | None = None
    ) -> Object:
        """The status of a scheduled pod whose container waits."""
        unready = {
            "status": "False",
            "reason": "ContainersNotReady",
            "message": f"containers with unready status: [{container}]",
            "lastTransitionTime": since,
        }
        return {
            "phase": "Running" if restarts else "Pending", "startTime": since, "qosClass": "Burstable",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": since},
                {"type": "Initialized", "status": "True", "lastTransitionTime": since},
                {"type": "ContainersReady", **unready}, {"type": "Ready", **unready},
            ],
            "containerStatuses": [
                {
                    "name": container, "image": image, "imageID": f"{image.rsplit(':', 1)[0]}@sha256:{digest(image)}" if restarts else "",
                    "ready": False, "started": False, "restartCount": restarts,
                    "state": {"waiting": {"reason": reason, "message": message}}, "lastState": {"terminated": last} if last else {},
                }
            ],
        }  # fmt: skip

    def unschedulable(self, since: str, message: str) -> Object:
        """The status of a pod that the scheduler cannot place."""
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": since,
        }
        return {"phase": "Pending", "qosClass": "Burstable", "conditions": [condition]}

    def event(
        self,
        about: Object,
        reason: str,
        message: str,
        *,
        kind: str = "Warning",
        first: str,
        last: str,
        count: int,
        component: str,
    ) -> None:
        """An event about an object of the sample."""
        meta = about["metadata"]
        namespace = meta.get("namespace", "default")
        name = f"{meta['name']}.{digest(reason + message)[:16]}"
        ref = {"apiVersion": about["apiVersion"], "kind": about["kind"], "name": meta["name"], "uid": meta["uid"]}
        ref |= {"namespace": meta["namespace"]} if "namespace" in meta else {}
        self.add(
            {
                "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace}, "involvedObject": ref,
                "type": kind, "reason": reason, "message": message, "count": count, "firstTimestamp": first, "lastTimestamp": last,
                "source": {"component": component},
            },
            first,
        )  # fmt: skip

    def log(self, pod: Object, container: str, source: str, lines: Iterable[tuple[str, str]]) -> None:
        """A container log: lines of (time, text)."""
        meta = pod["metadata"]
        self.logs[meta["namespace"], meta["name"], container, source] = "".join(
            f"{at[:-1]}.104118203Z {text}\n" for at, text in lines
        )


def owner_of(obj: Object) -> Object:
    """An ownerReference to the object."""
    meta = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def digest(text: str) -> str:
    """64 hex digits that stay the same for the same text."""
    return hashlib.sha256(text.encode()).hexdigest()


# ---------------------------------------------------------------------------------------------------- writing


def write(root: Path, cluster: Cluster) -> None:
    """Write the cluster as `oc adm must-gather` would leave it."""
    shutil.rmtree(root, ignore_errors=True)
    top = root / "must-gather.local.5577006791947779410"
    image = top / "quay-io-larkfield-must-gather-sha256-4be1c4f09c7ad9a6fbd5e14aa2c7a3a5ce2a9a3ef3c1c0d9d1b7d0c5a1f0e2d3"
    start = cluster.end - timedelta(seconds=95)
    stamps = "".join(
        f"{at:%Y-%m-%d %H:%M:%S}.5 +0000 UTC m=+{mark}\n" for at, mark in ((start, "0.114"), (cluster.end, "95.114"))
    )
    for folder in (top, image):
        put(folder / "timestamp", stamps)
    put(image / "version", "larkfield/must-gather\n1.4.0\n")
    lists: dict[tuple[str, str, str], list[Object]] = {}
    namespaces = [obj["metadata"]["name"] for obj in cluster.objects if obj["kind"] == "Namespace"]
    for namespace in namespaces:
        for version, _, plural in LISTED:
            lists[namespace, version, plural] = []
    plurals = {kind: plural for _, kind, plural in LISTED}
    for obj in cluster.objects:
        meta, kind = obj["metadata"], obj["kind"]
        if kind == "Namespace":
            put(image / "namespaces" / meta["name"] / f"{meta['name']}.yaml", document(obj))
        elif kind in CLUSTER_FOLDERS:
            put(image / "cluster-scoped-resources" / "core" / CLUSTER_FOLDERS[kind] / f"{meta['name']}.yaml", document(obj))
        else:
            lists[meta["namespace"], obj["apiVersion"], plurals[kind]].append(obj)
        if kind == "Pod":
            put(image / "namespaces" / meta["namespace"] / "pods" / meta["name"] / f"{meta['name']}.yaml", document(obj))
    kinds = {plural: kind for _, kind, plural in LISTED}
    for (namespace, version, plural), items in lists.items():
        folder = version.split("/")[0] if "/" in version else "core"
        whole = {
            "apiVersion": version,
            "items": items,
            "kind": f"{kinds[plural]}List",
            "metadata": {"resourceVersion": str(cluster.serial + 1)},
        }
        put(image / "namespaces" / namespace / folder / f"{plural}.yaml", document(whole))
    for (namespace, pod, container, source), text in cluster.logs.items():
        put(image / "namespaces" / namespace / "pods" / pod / container / container / "logs" / f"{source}.log", text)


def put(path: Path, text: str) -> None:
    """Write one file, making its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


class _Plain(yaml.SafeDumper):
    """No anchors: every object is written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def document(obj: Object) -> str:
    """One YAML document, keys sorted as kubectl prints them."""
    return "---\n" + yaml.dump(obj, Dumper=_Plain, default_flow_style=False, sort_keys=True, width=160, allow_unicode=True)


# ---------------------------------------------------------------------------------------------------- the stories


def healthy() -> Cluster:
    """Nothing is wrong: three workers, a web shop, a finished job, one old restart."""
    c = Cluster("healthy", datetime(2026, 11, 12, 9, 30, tzinfo=UTC))
    for name in ("default", "kube-system", "orchard"):
        c.namespace(name)
    c.node("plum-cp-1", roles=("control-plane",))
    for number in (1, 2, 3):
        c.node(f"plum-{number}", roles=("worker",))
    image = f"{REGISTRY}/orchard/basket:7.2.0"
    owner = c.deployment("orchard", "basket", replicas=3, ready=3, image=image, since=c.ago(days=20))
    for number, suffix in ((1, "4kd2p"), (2, "9xw7q"), (3, "zz81m")):
        started = c.ago(days=9, hours=number)
        pod = c.pod(
            owner,
            suffix,
            f"plum-{number}",
            created=started,
            status=c.running("basket", image, started, restarts=1 if number == 2 else 0),
        )
        c.log(pod, "basket", "current", [(started, "basket 7.2.0 listens on :8080"), (c.ago(minutes=1), "GET /healthz 200")])
    agent_image = f"{REGISTRY}/kube-system/net-agent:1.19.1"
    agents = c.daemonset("kube-system", "net-agent", image=agent_image, desired=4, ready=4)
    for number, node in enumerate(("plum-cp-1", "plum-1", "plum-2", "plum-3")):
        c.pod(agents, f"q{number}v7c", node, created=c.ago(days=40), status=c.running("net-agent", agent_image, c.ago(days=40)))
    c.event(
        owner,
        "SuccessfulCreate",
        f"Created pod: {owner['metadata']['name']}-4kd2p",
        kind="Normal",
        first=c.ago(minutes=50),
        last=c.ago(minutes=50),
        count=1,
        component="replicaset-controller",
    )
    return c


def gpu_cluster() -> Cluster:
    """Twelve GPU nodes, one of them lost, and four more faults that have nothing to do with it."""
    c = Cluster("gpu-cluster", datetime(2026, 11, 12, 9, 30, tzinfo=UTC))
    for name in ("default", "kube-system", "gpu-operator", "chat", "search", "training"):
        c.namespace(name)
    for number in (1, 2, 3):
        c.node(f"lark-cp-{number}", roles=("control-plane",))
    gpu_nodes = [f"lark-gpu-{number:02d}" for number in range(1, 13)]
    for node in gpu_nodes:
        c.node(node, gpus=8, lost=timedelta(minutes=26) if node == "lark-gpu-07" else None, roles=("worker",))
    _operator(c, gpu_nodes)
    _chat(c)
    _search(c)
    _training(c)
    lost = next(obj for obj in c.objects if obj["kind"] == "Node" and obj["metadata"]["name"] == "lark-gpu-07")
    c.event(
        lost,
        "NodeNotReady",
        "Node lark-gpu-07 status is now: NodeNotReady",
        kind="Normal",
        first=c.ago(minutes=26),
        last=c.ago(minutes=26),
        count=1,
        component="node-controller",
    )
    return c


def _operator(c: Cluster, gpu_nodes: list[str]) -> None:
    image = f"{REGISTRY}/nvidia/k8s-device-plugin:v0.17.4"
    plugin = c.daemonset("gpu-operator", "nvidia-device-plugin-daemonset", image=image, desired=12, ready=11)
    for number, node in enumerate(gpu_nodes):
        lost = c.ago(minutes=26) if node == "lark-gpu-07" else ""
        status = c.running("nvidia-device-plugin-daemonset", image, c.ago(days=30), lost=lost)
        c.pod(plugin, f"m{number:02d}xt", node, created=c.ago(days=30), status=status)


def _chat(c: Cluster) -> None:
    """Inference: one replica was on the lost node, its replacement finds no free GPU."""
    image = f"{REGISTRY}/chat/vllm-server:0.11.2"
    server = c.deployment("chat", "llama-server", replicas=4, ready=3, image=image, since=c.ago(minutes=26))
    for suffix, node in (("b2k8w", "lark-gpu-01"), ("c6n4x", "lark-gpu-02"), ("d9p3z", "lark-gpu-03")):
        started = c.ago(days=6)
        c.pod(server, suffix, node, created=started, gpus=8, status=c.running("llama-server", image, started))
    gone = c.pod(
        server, "a7f5v", "lark-gpu-07", created=c.ago(days=6), gpus=8, deletionTimestamp=c.ago(minutes=20), deletionGracePeriodSeconds=30,
        status=c.running("llama-server", image, c.ago(days=6), lost=c.ago(minutes=26)),
    )  # fmt: skip
    message = (
        "0/15 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 11 Insufficient nvidia.com/gpu, "
        "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/15 nodes are available: "
        "11 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling."
    )
    waiting = c.pod(server, "t4r6j", "", created=c.ago(minutes=20), gpus=8, status=c.unschedulable(c.ago(minutes=20), message))
    c.event(
        waiting,
        "FailedScheduling",
        message,
        first=c.ago(minutes=20),
        last=c.ago(minutes=3),
        count=5,
        component="default-scheduler",
    )
    c.event(
        gone,
        "NodeNotReady",
        "Node is not ready",
        first=c.ago(minutes=26),
        last=c.ago(minutes=26),
        count=1,
        component="node-controller",
    )


def _search(c: Cluster) -> None:
    """A crash loop over a missing file, and an image tag that does not exist."""
    image = f"{REGISTRY}/search/tokenizer-api:3.4.0"
    api = c.deployment("search", "tokenizer-api", replicas=2, ready=0, image=image, since=c.ago(hours=3, minutes=12))
    for suffix, node, restarts in (("5h2mq", "lark-gpu-04", 41), ("8w7kd", "lark-gpu-05", 40)):
        begin, end = c.ago(minutes=2, seconds=31), c.ago(minutes=2, seconds=29)
        last = {
            "exitCode": 2,
            "reason": "Error",
            "startedAt": begin,
            "finishedAt": end,
            "containerID": f"containerd://{digest(suffix)}",
        }
        words = f"back-off 5m0s restarting failed container=tokenizer-api pod={api['metadata']['name']}-{suffix}_search"
        status = c.waiting(
            "tokenizer-api", image, c.ago(hours=3, minutes=12), "CrashLoopBackOff", words, restarts=restarts, last=last
        )
        pod = c.pod(api, suffix, node, created=c.ago(hours=3, minutes=13), status=status)
        c.log(pod, "tokenizer-api", "previous", [
            (begin, "tokenizer-api 3.4.0 starting"),
            (begin, "reading /models/vocab/merges.txt"),
            (end, "fatal: cannot open /models/vocab/merges.txt: no such file or directory"),
        ])  # fmt: skip
        c.log(pod, "tokenizer-api", "current", [(begin, "tokenizer-api 3.4.0 starting")])
        c.event(
            pod,
            "BackOff",
            f"Back-off restarting failed container tokenizer-api in pod {pod['metadata']['name']}_search",
            first=c.ago(minutes=58),
            last=c.ago(minutes=1),
            count=251,
            component="kubelet",
        )
    image = f"{REGISTRY}/search/embedder:2.0.0-rc9"
    embedder = c.deployment("search", "embedder", replicas=1, ready=0, image=image, since=c.ago(minutes=47))
    words = f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
    pod = c.pod(
        embedder,
        "6c4jf",
        "lark-gpu-06",
        created=c.ago(minutes=47),
        gpus=1,
        status=c.waiting("embedder", image, c.ago(minutes=47), "ImagePullBackOff", words),
    )
    c.event(
        pod,
        "Failed",
        f'Failed to pull image "{image}": not found',
        first=c.ago(minutes=46),
        last=c.ago(minutes=2),
        count=13,
        component="kubelet",
    )


def _training(c: Cluster) -> None:
    """A pod that asks for more GPUs than any node has, and one that was killed for memory earlier."""
    image = f"{REGISTRY}/training/trainer:25.10"
    sweep = c.deployment("training", "sweep-16gpu", replicas=1, ready=0, image=image, since=c.ago(hours=5))
    message = (
        "0/15 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 11 Insufficient nvidia.com/gpu, "
        "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/15 nodes are available: "
        "15 Preemption is not helpful for scheduling."
    )
    c.pod(sweep, "n8v2s", "", created=c.ago(hours=5), gpus=16, status=c.unschedulable(c.ago(hours=5), message))
    image = f"{REGISTRY}/training/dataset-cache:1.8.3"
    cache = c.deployment(
        "training",
        "dataset-cache",
        replicas=1,
        ready=1,
        image=image,
        since=c.ago(minutes=50),
        resources={"limits": {"memory": "16Gi"}},
    )
    status = c.running("dataset-cache", image, c.ago(minutes=52), restarts=3)
    status["containerStatuses"][0]["lastState"] = {
        "terminated": {
            "exitCode": 137,
            "reason": "OOMKilled",
            "startedAt": c.ago(hours=4),
            "finishedAt": c.ago(minutes=53),
            "containerID": f"containerd://{digest('cache')}",
        }
    }
    pod = c.pod(cache, "k2d7b", "lark-gpu-08", created=c.ago(days=3), status=status)
    c.log(
        pod,
        "dataset-cache",
        "previous",
        [(c.ago(hours=4), "cache: 16 shards"), (c.ago(minutes=53), "cache: loading shard 14 of 16 (1.1 GiB)")],
    )


STORIES = {"gpu-cluster": gpu_cluster, "healthy": healthy}


def main() -> int:
    """Write every sample anew; the folder to write to may be given."""
    base = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, story in STORIES.items():
        write(base / name, story())
    return 0


if __name__ == "__main__":
    sys.exit(main())
