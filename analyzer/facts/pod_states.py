"""The state of a Pod: the first of the catalogue's states that applies, since when, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from analyzer.facts import images

GRACE = timedelta(minutes=1)
"""A Pod that is still there from this long after its deletionTimestamp on is stuck (the grace period is over by then)."""

_REJECTED = frozenset(
    {
        "UnexpectedAdmissionError",
        "TopologyAffinityError",
        "SMTAlignmentError",
        "NodeAffinity",
        "NodePorts",
        "NodeName",
        "TaintToleration",
        "MatchNodeSelector",
        "PodFitsHostPorts",
        "HostPort",
        "NodeShutdown",
        "PodOSSelectorNodeLabelDoesNotMatch",
        "PodOSNotSupported",
        "PodFeatureUnsupported",
        "InvalidNodeInfo",
        "AppArmor",
        "SysctlForbidden",
        "SysctlUnsupported",
        "InsufficientResourceError",
    }
)
"""status.reason of pods that a kubelet refused to take (kubelet, pkg/kubelet/lifecycle and the admit handlers)."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a Pod."""

    status: str | None
    reason: str | None
    message: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Pod:
    """What the state of a Pod is told from."""

    node: str
    phase: str
    reason: str | None
    message: str | None
    started_at: datetime | None
    created_at: datetime | None
    deleted_at: datetime | None
    as_of: datetime | None
    gates: Sequence[str]
    conditions: Mapping[str, Condition]
    containers: Sequence[Mapping[str, Any]]
    config_holdup: str | None
    scheduling_event: str | None

    def condition(self, name: str) -> Condition:
        """The condition of that type; one without anything where there is none."""
        return self.conditions.get(name) or Condition(None, None, None, None)

    def false_since(self, name: str) -> datetime | None:
        """When that condition turned to False or Unknown; None where it is True or not there."""
        condition = self.condition(name)
        return condition.since if condition.status in {"False", "Unknown"} else None


@dataclass(frozen=True, slots=True)
class PodState:
    """A state, the cluster's reason and words, and when it began."""

    state: str
    reason: str | None
    message: str | None
    since: datetime | None


def rejected(reason: str | None) -> bool:
    """Whether status.reason of a failed Pod says that the kubelet did not admit it."""
    return reason is not None and (reason in _REJECTED or reason.startswith("OutOf"))


def is_ready(pod: Pod) -> bool:
    """Whether the Pod is ready: its condition, else (where there is none) all its containers."""
    condition = pod.condition("Ready")
    if condition.status is not None:
        return condition.status == "True"
    main = [row for row in pod.containers if row["type"] == "main"]
    return pod.phase == "Running" and bool(main) and all(row["ready"] for row in main)


def state_of(pod: Pod) -> PodState:
    """The first state of the catalogue that applies."""
    if pod.deleted_at is not None:
        stuck = pod.as_of is not None and pod.as_of - pod.deleted_at >= GRACE
        return PodState("Terminating stuck" if stuck else "Terminating", pod.reason, pod.message, pod.deleted_at)
    if pod.phase in {"Succeeded", "Failed", "Unknown"}:
        return _ended(pod)
    if not pod.node:
        return _without_node(pod)
    return _started(pod)


def _ended(pod: Pod) -> PodState:
    if pod.phase == "Unknown":
        since = pod.false_since("Ready")
        return PodState("Unknown", pod.reason, pod.message, since)
    ends = [row["finished_at"] for row in pod.containers if row["finished_at"] and row["type"] in {"main", "init"}]
    end = max(ends, default=None) or pod.false_since("Ready") or pod.started_at
    if pod.phase == "Succeeded":
        return PodState("Succeeded", pod.reason, pod.message, end)
    if pod.reason == "Evicted":
        evicted = pod.condition("DisruptionTarget").since or end
        return PodState("Evicted", pod.reason, pod.message, evicted)
    if rejected(pod.reason):
        return PodState("Rejected", pod.reason, pod.message, pod.started_at or end)
    worst = next((row for row in pod.containers if row["state"] == "terminated" and row["exit_code"]), None)
    reason, message = pod.reason, pod.message
    if worst is not None:
        reason, message = reason or worst["reason"], message or f"container {worst['container']}: {worst['end_words']}"
    return PodState("Failed", reason, message, end)


def _without_node(pod: Pod) -> PodState:
    scheduled = pod.condition("PodScheduled")
    since = pod.false_since("PodScheduled") or pod.created_at
    if pod.gates:
        return PodState("Gated", scheduled.reason or "SchedulingGated", "waits for " + ", ".join(pod.gates), since)
    reason = scheduled.reason if scheduled.status == "False" else None
    return PodState("Pending", reason, (scheduled.message if reason else None) or pod.scheduling_event, since)


def _started(pod: Pod) -> PodState:
    """The states of a Pod that has a node and is alive."""
    rows = [row for row in pod.containers if row["type"] != "ephemeral"]
    initialized = pod.condition("Initialized").status == "True"
    blocked = next((row for row in rows if _blocks(row, initialized=initialized)), None)
    if blocked is not None:
        since = pod.false_since("Initialized") or _unready_since(pod) or blocked["ended_at"]
        return PodState("Init failing", _end_reason(blocked), _ended_words(blocked), since)
    waiting = [row for row in rows if row["state"] == "waiting"]
    pull = next((row for row in waiting if row["reason"] in images.PULL_REASONS), None)
    if pull is not None:
        return PodState("Image pull failing", pull["reason"], pull["pull_message"], _unready_since(pod))
    config = next((row for row in waiting if row.get("config_kind")), None)
    if config is not None:
        return PodState("Config missing", config["reason"], config["message"], _unready_since(pod))
    if pod.config_holdup is not None:
        return PodState("Config missing", "FailedMount", pod.config_holdup, _unready_since(pod))
    return _without_image_trouble(pod, rows, waiting)


def _without_image_trouble(pod: Pod, rows: Sequence[Mapping[str, Any]], waiting: Sequence[Mapping[str, Any]]) -> PodState:
    """The last of the states: everything that its containers need is there."""
    loop = next((row for row in rows if row["looping"]), None)
    if loop is not None:
        since = pod.false_since("Ready") or loop["ended_at"]
        return PodState("Crash looping", _end_reason(loop), _ended_words(loop), since)
    if any(_unstarted(row) for row in rows) or not any(row["type"] == "main" for row in rows):
        first = next((row for row in waiting if row["reason"]), None)
        return PodState("Starting", first["reason"] if first else None, first["message"] if first else None, _unready_since(pod))
    ready = pod.condition("Ready")
    if not is_ready(pod):
        return PodState("Not ready", ready.reason, ready.message, ready.since)
    return PodState("Running", None, None, ready.since or pod.started_at)


def _blocks(row: Mapping[str, Any], *, initialized: bool) -> bool:
    """An init container that failed, or a sidecar that loops while the Pod still waits for it."""
    return bool(row["failing"]) and (row["type"] == "init" or (row["type"] == "sidecar" and not initialized))


def _unstarted(row: Mapping[str, Any]) -> bool:
    if row["type"] == "init":
        return False
    return row["state"] in {"waiting", "none"} or (row["state"] == "running" and row["started"] is False)


def _unready_since(pod: Pod) -> datetime | None:
    return pod.false_since("Ready") or pod.false_since("ContainersReady") or pod.started_at or pod.condition("PodScheduled").since


def _end_reason(row: Mapping[str, Any]) -> str | None:
    reason: str | None = row["reason"] if row["state"] in {"waiting", "terminated"} else row["end_reason"]
    return reason


def _ended_words(row: Mapping[str, Any]) -> str:
    return f"container {row['container']}: {row['end_words'] or row['message'] or 'it ends again and again'}"
