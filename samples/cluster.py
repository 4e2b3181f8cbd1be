"""The builder of the samples: a cluster of invented objects, each as the API server would hold it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Object = dict[str, Any]

GPU_PRODUCT = "NVIDIA-H100-80GB-HBM3"
REGISTRY = "registry.larkfield.example"


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

    def node(
        self,
        name: str,
        *,
        gpus: int = 0,
        healthy: int | None = None,
        mig: tuple[str, str] | None = ("all-disabled", "success"),
        memory: str = "1056299240Ki",
        lost: timedelta | None = None,
        roles: tuple[str, ...] = (),
    ) -> Object:
        """A node. `healthy` of its GPUs can be used, `mig` is the layout asked for and its state (None: it has no MIG), `lost` how long its kubelet is silent."""
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        labels |= {f"node-role.kubernetes.io/{role}": "" for role in roles}
        amounts = {"cpu": "96", "memory": memory, "ephemeral-storage": "1841180136Ki", "pods": "110"}
        if gpus:
            labels |= {
                "nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(gpus), "nvidia.com/gpu.product": GPU_PRODUCT,
                "nvidia.com/gpu.memory": "81559", "feature.node.kubernetes.io/pci-10de.present": "true",
            }  # fmt: skip
            labels |= {} if mig is None else {
                "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "single",
                "nvidia.com/mig.config": mig[0], "nvidia.com/mig.config.state": mig[1],
            }  # fmt: skip
            amounts["nvidia.com/gpu"] = str(gpus)
        left = {} if healthy is None else {"nvidia.com/gpu": str(healthy)}
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
        return self.add(
            {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
                "status": {"capacity": amounts, "allocatable": amounts | left, "conditions": [*conditions, ready], "nodeInfo": info},
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
