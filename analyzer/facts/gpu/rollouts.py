"""Whether each part of the GPU Operator is rolled out, and what it waits for.

A part is found by the DaemonSet name that the operator gives it. A DaemonSet with update strategy OnDelete (driver, vGPU manager)
whose pods are only of an older revision waits for the upgrade controller to delete them: that is pending, not broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.gpu import chain
from analyzer.facts.gpu.chain import Operand
from analyzer.facts.gpu.components import Component, components, off, on
from analyzer.facts.gpu.operator_world import DaemonSet, World, world_of
from analyzer.facts.gpu.policies import Operator
from analyzer.facts.rows import insert_rows

MAX_NODES = 200
"""Nodes that a row lists."""


@dataclass(slots=True)
class Rollout:
    """One part with its state; the fields are those of table `gpu_components`."""

    component: Component
    state: str | None = None
    why: str = ""
    unknown: str | None = None
    trouble: str | None = None
    daemonsets: Sequence[DaemonSet] = ()
    pods: list[Operand] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    since: datetime | None = None
    bound: datetime | None = None

    @property
    def broken(self) -> list[Operand]:
        """Its pods that are not ready."""
        return [pod for pod in self.pods if not pod.ready]

    @property
    def missing_pods(self) -> int:
        """Pods that are not ready by the DaemonSet's count and that the bundle does not have."""
        short = sum(max(one.wanted - one.ready, 0) for one in self.daemonsets)
        return max(short - len(self.broken), 0)

    @property
    def waits(self) -> bool:
        """Nothing is wrong with it but that all its pods that are not ready wait for another part."""
        waiting = bool(self.broken) and all(pod.cause is not None for pod in self.broken)
        return self.trouble == "not-ready" and waiting and not self.missing_pods


def derive(con: duckdb.DuckDBPyConnection, operator: Operator) -> list[Rollout]:
    """Fills `gpu_components`, `gpu_operator_pods` and the components' rows of `states`.

    Needs `gpu_nodes`, `pods`, `containers`, `owners`, `controllers` and `coverage`.
    """
    policy = operator.active
    if policy is None:
        return []
    world = world_of(con, operator, policy)
    rollouts = [_judge(component, world) for component in components()]
    owner = {one.id: rollout.component.name for rollout in rollouts for one in rollout.daemonsets}
    owner |= {one.id: "driver" for one in world.daemonsets if one.of_driver}
    pods = chain.operands(con, owner)
    for rollout in rollouts:
        own = {one.id for one in rollout.daemonsets}
        rollout.pods = [pod for pod in pods if pod.daemonset_id in own]
        if rollout.state in {"Rolled out", "Not rolled out"}:
            _labels(rollout, world)
    chain.trace(pods, _absent(rollouts, world))
    for rollout in rollouts:
        _times(rollout, world)
    insert_rows(con, "gpu_operator_pods", (pod.row() for pod in pods))
    rows = [_row(rollout, world) for rollout in rollouts]
    insert_rows(con, "gpu_components", rows)
    con.execute(
        "INSERT INTO states SELECT NULL, 'nvidia.com', 'GpuOperatorComponent', '', name, state, NULL, message, since "
        "FROM gpu_components WHERE state IS NOT NULL ORDER BY name"
    )
    return rollouts


def _judge(component: Component, world: World) -> Rollout:
    """State and trouble of a part by the policy and its DaemonSets alone."""
    rollout = Rollout(component)
    spec, namespace = world.policy.spec, world.operator.namespace
    rollout.daemonsets = tuple(
        one
        for one in world.daemonsets
        if component.owns(one.name) and not one.of_driver and (namespace is None or one.namespace == namespace)
    )
    reason = off(component, spec, world.operator.release)
    if reason:
        return _not_expected(rollout, reason)
    rollout.why = on(component, spec)
    if world.no_nodes:
        return _not_expected(rollout, "there is no GPU node in the cluster")
    if component.crd and world.policy.uses_drivers:
        rollout.state, rollout.why = "See NVIDIADriver", "spec.driver.useNvidiaDriverCRD is true"
        if component.name == "driver" and not world.operator.drivers and world.drivers_listed and world.nodes:
            rollout.trouble = "no-driver"
        return rollout
    if not rollout.daemonsets:
        return _without(rollout, world)
    if not all(one.status for one in rollout.daemonsets):
        rollout.unknown = "its DaemonSet has no status in the bundle"
        return rollout
    rollout.trouble = next((trouble for one in rollout.daemonsets if (trouble := _trouble(one))), None)
    rollout.state = "Not rolled out" if rollout.trouble else "Rolled out"
    return rollout


def _not_expected(rollout: Rollout, why: str) -> Rollout:
    rollout.state, rollout.why = "Not expected", why
    return rollout


def _without(rollout: Rollout, world: World) -> Rollout:
    """A part that is asked for and has no DaemonSet."""
    if rollout.component.name == "mps-control-daemon" and not any(node.needs(rollout.component) for node in world.nodes):
        return _not_expected(rollout, "no GPU node is labelled nvidia.com/mps.capable=true, and older releases do not have it")
    if not world.nodes:
        rollout.unknown = "whether there are GPU nodes cannot be told: the bundle does not have all nodes"
    elif not world.listed:
        rollout.unknown = "the bundle does not have all DaemonSets of the operator's namespace"
    else:
        rollout.state, rollout.trouble = "Missing", "missing"
    return rollout


def _trouble(one: DaemonSet) -> str | None:
    """What is wrong with the rollout of a DaemonSet."""
    if one.ready < one.wanted:
        return "not-ready"
    if not one.observed:
        return "unseen"
    if one.updated < one.wanted:
        return "update-pending" if one.on_delete else "not-updated"
    return None


def _labels(rollout: Rollout, world: World) -> None:
    """GPU nodes that need the part and have no pod of it, for want of the deploy label or for another reason.

    It is only asked where the DaemonSet wants fewer pods than nodes need: other means than labels may place pods.
    """
    component = rollout.component
    needing = [node for node in world.nodes if node.needs(component) and component.name not in node.paused]
    if not world.pods_listed or sum(one.wanted for one in rollout.daemonsets) >= len(needing):
        return
    having = {pod.node for pod in rollout.pods}
    label = "device-plugin" if component.name == "mps-control-daemon" else component.name
    lacking = [node for node in needing if node.name not in having]
    rollout.unlabelled = [node.name for node in lacking if label not in node.deploy]
    rollout.left_out = [node.name for node in lacking if node.deploy.get(label) == "true"]
    if (rollout.unlabelled or rollout.left_out) and rollout.trouble in {None, "update-pending"}:
        rollout.state, rollout.trouble = "Not rolled out", "unlabelled" if rollout.unlabelled else "left-out"
    short = set(rollout.unlabelled) | set(rollout.left_out)
    rollout.bound = max((node.since for node in world.nodes if node.name in short and node.since), default=None)


def _absent(rollouts: Iterable[Rollout], world: World) -> dict[tuple[str, str], int]:
    """(part, node or *) → the object that should have brought a pod there and has not."""
    found: dict[tuple[str, str], int] = {}
    for rollout in rollouts:
        name = rollout.component.name
        if rollout.state == "Missing" or rollout.trouble == "no-driver":
            found[(name, "*")] = world.policy.item.object_id
        for node in (*rollout.unlabelled, *rollout.left_out):
            found[(name, node)] = rollout.daemonsets[0].id
    return found


def _times(rollout: Rollout, world: World) -> None:
    """Since when a part is not rolled out."""
    policy_since = world.policy.said.since if world.policy.said.state == "Not ready" else None
    if rollout.trouble == "not-ready":
        roots = [pod for pod in rollout.broken if pod.cause is None] or rollout.broken
        rollout.since = min((pod.since for pod in roots if pod.since), default=policy_since)
    elif rollout.trouble == "not-updated":
        # The newest pod is the last step that the update made.
        rollout.since = max((pod.created_at for pod in rollout.pods if pod.created_at), default=None)
    elif rollout.trouble in {"missing", "no-driver"}:
        rollout.since = policy_since
        times = [world.policy.item.created_at, max((node.since for node in world.nodes if node.since), default=None)]
        rollout.bound = max((at for at in times if at), default=None)


def _row(rollout: Rollout, world: World) -> dict[str, Any]:
    bad = next((one for one in rollout.daemonsets if _trouble(one)), None)
    shown = bad or next(iter(rollout.daemonsets), None)
    roots = [pod for pod in rollout.broken if pod.cause is None]
    waits_for = sorted({pod.cause_component for pod in rollout.broken if pod.cause_component})
    paused = [node.name for node in world.nodes if rollout.component.name in node.paused]
    upgrades = [f"{node.name} {node.upgrade_state}" for node in world.nodes if node.upgrade_state not in {None, "upgrade-done"}]
    row: dict[str, Any] = {
        "name": rollout.component.name,
        "operator_state": rollout.component.state,
        "policy_id": world.policy.item.object_id,
        "state": rollout.state,
        "unknown": rollout.unknown,
        "field": rollout.component.field,
        "why": rollout.why,
        "trouble": rollout.trouble,
        "waits": rollout.waits,
        "pods_missing": rollout.missing_pods > 0,
        "waits_for": waits_for,
        "daemonset_id": shown.id if shown else None,
        "namespace": shown.namespace if shown else world.operator.namespace,
        "daemonset": shown.name if shown else rollout.component.daemonset,
        "daemonsets": len(rollout.daemonsets),
        "on_delete": shown.on_delete if shown else None,
        "since": rollout.since,
        "not_before": rollout.bound,
        "pods": [_words(pod) for pod in (roots or rollout.broken)[:MAX_NODES]],
        "nodes": sorted({pod.node for pod in (roots or rollout.broken)})[:MAX_NODES],
        "unlabelled": rollout.unlabelled[:MAX_NODES],
        "left_out": rollout.left_out[:MAX_NODES],
        "paused": paused[:MAX_NODES],
        "upgrades": upgrades[:MAX_NODES] if rollout.component.crd else [],
    }
    if shown and shown.status:
        row |= {name: sum(getattr(one, name) for one in rollout.daemonsets) for name in ("wanted", "ready", "updated")}
    row["message"] = _message(rollout, row)
    return row


def _words(pod: Operand) -> str:
    told = pod.state + (f", {pod.reason}" if pod.reason else "")
    at = f", at init container {pod.container}" if pod.held else ""
    return f"{pod.name} on {pod.node} ({told}{at})"


def _message(rollout: Rollout, row: dict[str, Any]) -> str:
    """What the state was concluded from."""
    if rollout.unknown:
        return rollout.unknown
    if rollout.state in {"Not expected", "See NVIDIADriver"}:
        return rollout.why
    if rollout.state == "Missing":
        return f"{rollout.why}, and there is no DaemonSet {rollout.component.daemonset}"
    told = (
        f"DaemonSet {row['namespace']}/{row['daemonset']}: {row['ready']} of {row['wanted']} pods ready, {row['updated']} updated"
    )
    if rollout.waits:
        told += f"; waits for {', '.join(row['waits_for'])}"
    if rollout.trouble == "update-pending":
        told += "; the others are replaced when the upgrade controller deletes them"
    if rollout.unlabelled:
        told += f"; no label on {len(rollout.unlabelled)} nodes that need it"
    if rollout.left_out:
        told += f"; no pod on {len(rollout.left_out)} nodes that are labelled for it"
    return told
