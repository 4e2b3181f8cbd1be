"""What the pods of the GPU Operator wait for, node by node.

The parts of a node depend on one another: driver → container toolkit → validator → device plugin and the others. Each waits in
an init container of a known name until the one before it has left its mark (NVIDIA/gpu-operator, assets/state-*). So an init
container that has not ended names the layer that is broken, and of all pods of a node that wait only the first is a fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

VALIDATOR, SANDBOX_VALIDATOR = "operator-validator", "sandbox-validator"
LAYERS: Mapping[str, str] = {
    "driver-validation": "driver",
    "nvidia-fs-validation": "driver",
    "toolkit-validation": "container-toolkit",
    "cuda-validation": VALIDATOR,
    "plugin-validation": "device-plugin",
    "vfio-pci-validation": "vfio-manager",
    "vgpu-manager-validation": "vgpu-manager",
    "vgpu-devices-validation": "vgpu-device-manager",
    "cc-manager-validation": "cc-manager",
    "mofed-validation": "network-operator",
}
"""Init container → the part whose work it waits for."""
MAX_STEPS = 6
"""Longest chain of parts that is followed."""

_HELD = {"Starting", "Init failing"}
"""States of pods that have not got beyond their init containers."""
_WORKLOADS = ("nvidia-cuda-validator", "nvidia-device-plugin-validator")
"""Pods that the validator starts as a test; they belong to no part of their own."""

_PODS = """
SELECT p.object_id, p.name, p.node, w.owner_id, p.state, p.reason, p.ready, coalesce(p.ready_since, p.created_at), p.created_at,
    c.container, c.started_at
FROM pods p
JOIN owners w ON w.object_id = p.object_id AND w.owner_kind = 'DaemonSet' AND w.owner_id IS NOT NULL
LEFT JOIN (
    SELECT object_id, arg_min(container, idx) AS container, arg_min(started_at, idx) AS started_at FROM containers
    WHERE type = 'init' AND NOT (state = 'terminated' AND coalesce(exit_code, 1) = 0) GROUP BY object_id
) c ON c.object_id = p.object_id
WHERE p.phase NOT IN ('Succeeded', 'Failed') AND p.deleted_at IS NULL AND list_contains($daemonsets, w.owner_id)
ORDER BY p.node, p.object_id
"""


@dataclass(slots=True)
class Operand:
    """A pod of a part of the operator. `cause` is the object that it waits for, None where it is the first that is broken."""

    pod_id: int
    name: str
    node: str
    component: str
    daemonset_id: int
    state: str
    reason: str | None
    ready: bool
    since: datetime | None
    created_at: datetime | None
    container: str | None
    cause: int | None = None
    cause_component: str | None = None

    @property
    def held(self) -> bool:
        """It waits in an init container."""
        return not self.ready and self.state in _HELD and self.container is not None

    @property
    def layer(self) -> str | None:
        """The part that its init container waits for."""
        return LAYERS.get(self.container or "") if self.held else None

    def row(self) -> dict[str, Any]:
        """Its row of `gpu_operator_pods`."""
        return {
            "object_id": self.pod_id,
            "node": self.node,
            "component": self.component,
            "daemonset_id": self.daemonset_id,
            "ready": self.ready,
            "since": None if self.ready else self.since,
            "container": self.container if self.held else None,
            "layer": self.layer,
            "cause_id": self.cause,
            "cause_component": self.cause_component,
        }


def operands(con: duckdb.DuckDBPyConnection, components: Mapping[int, str]) -> list[Operand]:
    """The pods of these DaemonSets (object id → part)."""
    found = []
    for row in con.execute(_PODS, {"daemonsets": list(components)}).fetchall():
        pod_id, name, node, daemonset, state, reason, ready, since, created, container, started = row
        if node and not name.startswith(_WORKLOADS):
            since = started if state == "Starting" and started is not None else since
            found.append(
                Operand(
                    pod_id, name, node, components[daemonset], daemonset, state, reason, bool(ready), since, created, container
                )
            )
    return found


def trace(pods: Iterable[Operand], absent: Mapping[tuple[str, str], int]) -> None:
    """Sets of each pod what it waits for in the end.

    Args:
        pods: all pods of the parts.
        absent: (part, node) → the object that should have brought a pod of this part there and has not; node "*" for all.
    """
    broken: dict[tuple[str, str], Operand] = {}
    for pod in pods:
        if not pod.ready:
            broken.setdefault((pod.component, pod.node), pod)
    held: dict[str, list[Operand]] = defaultdict(list)
    for pod in broken.values():
        held[pod.node].append(pod)
    for node_pods in held.values():
        for pod in node_pods:
            pod.cause, pod.cause_component = _root(pod, broken, absent)


def _root(
    pod: Operand, broken: Mapping[tuple[str, str], Operand], absent: Mapping[tuple[str, str], int]
) -> tuple[int | None, str | None]:
    """The first broken link of a pod's chain, as object and part."""
    at, seen = pod, {pod.component}
    for _ in range(MAX_STEPS):
        following = _next(at, broken, absent, seen)
        if isinstance(following, int):
            return following, at.layer
        if following is None:
            break
        seen.add(following.component)
        at = following
    return (None, None) if at is pod else (at.pod_id, at.component)


def _next(
    pod: Operand, broken: Mapping[tuple[str, str], Operand], absent: Mapping[tuple[str, str], int], seen: set[str]
) -> Operand | int | None:
    layer = pod.layer
    if layer is None:
        return None
    for name in _before(layer, pod.component):
        other = broken.get((name, pod.node))
        if other is not None and name not in seen:
            return other
    gone = absent.get((layer, pod.node), absent.get((layer, "*")))
    return gone if layer != pod.component else None


def _before(layer: str, component: str) -> Iterator[str]:
    """The parts that may keep a layer from being ready, the nearest first: its own, then the validator that marks it ready."""
    yield layer
    if layer in {"driver", "container-toolkit"} and component not in {VALIDATOR, "container-toolkit"}:
        yield "driver"
        yield VALIDATOR
    if layer in {"vfio-manager", "vgpu-manager", "vgpu-device-manager", "cc-manager"} and component != SANDBOX_VALIDATOR:
        yield SANDBOX_VALIDATOR
