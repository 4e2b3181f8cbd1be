"""Which pods' logs are wanted, and of which containers: seen while the pods go by, so that no list of them is held.

A pod counts as healthy where its phase is Running, all its containers are ready and none has failed within a day; or where it
has succeeded. (Fields as the kubelet writes them, `status.containerStatuses` and its two siblings.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from analyzer import times
from analyzer.collect.plan import LogRules, has_any, matches_any

RECENT = timedelta(days=1)
"""A container that failed longer ago and runs well since is no reason to take a pod's logs."""
OFTEN = 5
"""Restarts from which on a pod's logs are taken however long ago the last one was."""
MAX_PER_OWNER = 20
"""Unhealthy pods of one owner whose logs are taken: the last ones by name. They tell the same story."""
MAX_PODS = 20_000
"""Pods whose logs are taken at most."""

_STATUSES = (
    ("containerStatuses", False),
    ("initContainerStatuses", True),
    ("ephemeralContainerStatuses", False),
)
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, order=True)
class Wanted:
    """One log to fetch. Sorted as they are taken: unhealthy pods before operators, then by name."""

    rank: int
    namespace: str
    pod: str
    container: str
    previous: bool


@dataclass(slots=True)
class PodWatch:
    """Notes the pods whose logs are wanted while their list goes by.

    Attributes:
        now: the time that failures are measured from; the server's where it is known.
        healthy: how many pods' logs are not taken since nothing is wrong with them.
        crowded: how many are one too many of their owner; known after `wanted`.
        too_many: how many are beyond `MAX_PODS`.
        of_nodes: namespaces of pods whose names match the plan's `configmaps.of_nodes`.
    """

    rules: LogRules
    node_map_pods: tuple[str, ...]
    now: datetime
    healthy: int = 0
    crowded: int = 0
    too_many: int = 0
    of_nodes: set[str] = field(default_factory=set)
    _pods: dict[tuple[str, str], tuple[int, str, list[tuple[str, bool]]]] = field(default_factory=dict)

    def see(self, value: dict[str, Any]) -> None:
        """Looks at one pod."""
        metadata, status = value.get("metadata"), value.get("status")
        if not isinstance(metadata, dict) or not isinstance(status, dict):
            return
        namespace, name = metadata.get("namespace"), metadata.get("name")
        if not _is_name(namespace) or not _is_name(name):
            return
        if matches_any(self.node_map_pods, name):
            self.of_nodes.add(namespace)
        rank = 0 if not is_healthy(metadata, status, self.now) else 1 if self._ruled(namespace, name, metadata) else 2
        if rank == 2:
            self.healthy += 1
            return
        logs = list(_containers(status))
        if len(self._pods) >= MAX_PODS:
            self.too_many += 1
        elif logs:
            self._pods[namespace, name] = (rank, _owner(metadata) or name, logs)

    def forget(self) -> None:
        """Forgets all pods: their list begins anew."""
        self.healthy = self.too_many = 0
        self._pods.clear()

    def wanted(self) -> list[Wanted]:
        """The logs to fetch, in order. Also counts in `crowded` the pods that are one too many of their owner."""
        found: list[Wanted] = []
        per_owner: dict[tuple[str, str], int] = {}
        self.crowded = 0
        for (namespace, name), (rank, owner, logs) in sorted(self._pods.items(), reverse=True):
            if rank == 0:
                per_owner[namespace, owner] = count = per_owner.get((namespace, owner), 0) + 1
                if count > MAX_PER_OWNER:
                    self.crowded += 1
                    continue
            for container, again in logs:
                found.append(Wanted(rank, namespace, name, container, previous=False))
                if again:
                    found.append(Wanted(rank, namespace, name, container, previous=True))
        return sorted(found)

    def _ruled(self, namespace: str, name: str, metadata: dict[str, Any]) -> bool:
        labels = metadata.get("labels")
        return (
            matches_any(self.rules.pods, name)
            or matches_any(self.rules.namespaces, namespace)
            or has_any(self.rules.labels, labels if isinstance(labels, dict) else {})
        )


def is_healthy(metadata: dict[str, Any], status: dict[str, Any], now: datetime) -> bool:
    """Is nothing wrong with a pod, as far as its own status says."""
    phase = status.get("phase")
    if phase == "Succeeded":
        return True
    if phase != "Running" or metadata.get("deletionTimestamp"):
        return False
    for condition in _dicts(status.get("conditions")):
        if condition.get("type") in {"Ready", "ContainersReady"} and condition.get("status") != "True":
            return False
    return not any(_failed_lately(entry, now) for entry, _ in _entries(status))


def _failed_lately(entry: dict[str, Any], now: datetime) -> bool:
    waiting = _dict(_dict(entry.get("state")).get("waiting"))
    if waiting.get("reason") not in {None, "ContainerCreating", "PodInitializing"}:
        return True
    restarts = entry.get("restartCount")
    if isinstance(restarts, int) and restarts >= OFTEN:
        return True
    for state in ("state", "lastState"):
        ended = _dict(_dict(entry.get(state)).get("terminated"))
        if ended.get("exitCode") not in {None, 0}:
            finished = times.parse(ended.get("finishedAt"))
            if finished is None or now - finished <= RECENT:
                return True
    return False


def _containers(status: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The containers that have begun at least once, and whether they had a run before."""
    for entry, _ in _entries(status):
        name = entry.get("name")
        if not _is_name(name):
            continue
        state, last = _dict(entry.get("state")), _dict(entry.get("lastState"))
        restarts = entry.get("restartCount")
        again = bool(last.get("terminated")) or (isinstance(restarts, int) and restarts > 0)
        if entry.get("containerID") or again or state.get("running") or state.get("terminated"):
            yield name, again


def _entries(status: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    for part, init in _STATUSES:
        for entry in _dicts(status.get(part)):
            yield entry, init


def _owner(metadata: dict[str, Any]) -> str | None:
    owners = _dicts(metadata.get("ownerReferences"))
    controller = next((owner for owner in owners if owner.get("controller") is True), owners[0] if owners else {})
    uid = controller.get("uid")
    return uid if isinstance(uid, str) else None


def _is_name(value: object) -> TypeGuard[str]:
    """Could it be a name; anything else is neither put into a URL nor into a path."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
