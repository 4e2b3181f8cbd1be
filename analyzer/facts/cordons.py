"""Who may have cordoned a node: the marks that upgrade controllers, autoscalers and drain tools leave on it.

`kubectl cordon` and `kubectl drain` themselves leave no mark. Names of labels, annotations and taints are those that
the tools document: Machine Config Operator, NVIDIA GPU Operator, kured, system-upgrade-controller, Cluster API,
cluster-autoscaler, Karpenter, node maintenance and fencing operators, the AWS node termination handler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analyzer.facts.values import mapping, mappings

_MCO = "machineconfiguration.openshift.io/"

_TAINTS = (
    ("ToBeDeletedByClusterAutoscaler", "the cluster autoscaler, which is about to remove the node"),
    ("karpenter.sh/disrupted", "Karpenter, which is about to remove the node"),
    ("karpenter.sh/disruption", "Karpenter, which is about to remove the node"),
    ("medik8s.io/drain", "a node maintenance request"),
    ("kubevirt.io/drain", "a node maintenance request"),
    ("aws-node-termination-handler/", "the AWS node termination handler"),
    ("node.cloudprovider.kubernetes.io/shutdown", "a shutdown of the machine at the cloud provider"),
)
_LABELS = (
    ("aws-node-termination-handler/", "the AWS node termination handler"),
    ("plan.upgrade.cattle.io/", "the system upgrade controller, which has worked on the node"),
)
_ANNOTATIONS = (
    ("weave.works/kured-reboot-in-progress", "kured, which is about to reboot the node"),
    ("kured.dev/reboot-in-progress", "kured, which is about to reboot the node"),
    ("cluster.x-k8s.io/pre-drain", "Cluster API, which is about to remove the machine"),
)
_GPU_UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
_GPU_IDLE = ("", "upgrade-done", "upgrade-required", "unknown")


@dataclass(frozen=True, slots=True)
class Hint:
    """What may have cordoned a node, in words, and the field that says so."""

    words: str
    path: str
    value: str


def explain(node: dict[str, Any]) -> Hint | None:
    """The mark on a cordoned Node that tells what may have cordoned it; None where there is none."""
    meta = mapping(node.get("metadata"))
    annotations, labels = mapping(meta.get("annotations")), mapping(meta.get("labels"))
    return (
        _machine_config(annotations)
        or _gpu_upgrade(labels)
        or _marked(annotations, _ANNOTATIONS, "metadata.annotations")
        or _tainted(mappings(mapping(node.get("spec")).get("taints")))
        or _marked(labels, _LABELS, "metadata.labels")
    )


def _machine_config(annotations: dict[str, Any]) -> Hint | None:
    """The Machine Config Operator: it asks for a drain (`drain-…`) until the node is asked to come back (`uncordon-…`)."""
    state = annotations.get(_MCO + "state")
    if isinstance(state, str) and state not in ("", "Done"):
        failed = state in ("Degraded", "Unreconcilable")
        words = "the Machine Config Operator, which " + ("could not update the node" if failed else "is updating the node")
        return Hint(words, _path(_MCO + "state"), state)
    desired = annotations.get(_MCO + "desiredDrain")
    if isinstance(desired, str) and desired.startswith("drain-"):
        return Hint("the Machine Config Operator, which wants to drain the node", _path(_MCO + "desiredDrain"), desired)
    return None


def _gpu_upgrade(labels: dict[str, Any]) -> Hint | None:
    state = labels.get(_GPU_UPGRADE)
    if isinstance(state, str) and state not in _GPU_IDLE:
        return Hint("the driver upgrade of the NVIDIA GPU Operator", f'metadata.labels["{_GPU_UPGRADE}"]', state)
    return None


def _marked(marks: dict[str, Any], known: tuple[tuple[str, str], ...], where: str) -> Hint | None:
    for start, words in known:
        for name, value in marks.items():
            if name.startswith(start):
                return Hint(words, f'{where}["{name}"]', str(value))
    return None


def _tainted(taints: list[dict[str, Any]]) -> Hint | None:
    for start, words in _TAINTS:
        for index, taint in enumerate(taints):
            key = taint.get("key")
            if isinstance(key, str) and key.startswith(start):
                return Hint(words, f"spec.taints[{index}].key", key)
    return None


def _path(annotation: str) -> str:
    return f'metadata.annotations["{annotation}"]'
