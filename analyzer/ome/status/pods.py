"""The pods of an InferenceService by component, and why some of them do not count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.ome.names import is_subdomain
from analyzer.ome.source import POD
from analyzer.ome.status.conditions import STATUSES
from analyzer.ome.world import COMPONENTS, Lookup, Thing, World, is_count, items, mapping, string

LABEL, COMPONENT = "ome.io/inferenceservice", "component"
MAX_PODS = 1_000
"""Pods that are read; more are left out, and it is said so."""
_MAX_PARTS = 64
"""Conditions, or statuses of containers of one sort, above which a pod is malformed."""
_MAX_UID = 128
_UID = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_PHASES = {"Running": "running", "Pending": "pending", "Failed": "failed", "Succeeded": "succeeded"}
_ABSENT = {"forbidden": "Forbidden", "unsupported": "NotFound"}


@dataclass(frozen=True, slots=True)
class Observation:
    """How reading went: Reported, Partial or Unavailable, with OME's reason; `skipped` objects were not asked about."""

    state: str
    count: int
    truncated: bool = False
    reason: str = ""
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """The pods of a component."""

    total: int = 0
    ready: int = 0
    restarts: int = 0
    running: int = 0
    pending: int = 0
    failed: int = 0
    succeeded: int = 0
    unknown: int = 0
    terminating: int = 0


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods that count, by name, how reading them went, and the issues of those that do not, with how many there are."""

    accepted: tuple[Thing, ...]
    observation: Observation
    issues: Mapping[str, int]
    lost: Lookup | None = None

    def of(self, component: str) -> tuple[Thing, ...]:
        """Those of a component."""
        return tuple(pod for pod in self.accepted if pod.label(COMPONENT) == component)


def pods_of(world: World, service: Thing) -> Pods:
    """The pods that are labelled for an InferenceService.

    Args:
        world: the objects, with the pods of the namespace.
        service: the InferenceService.
    """
    listed, lost = world.all(POD, service.namespace)
    labelled = [pod for pod in listed if pod.label(LABEL) == service.name]
    read = labelled[:MAX_PODS]
    issues: Counter[str] = Counter()
    known = [pod for pod in read if pod.label(COMPONENT) in COMPONENTS]
    uids = Counter(string(pod.metadata.get("uid")) for pod in known)
    # Some bundles are made without uids: then none is asked for.
    bare = set(uids) <= {""}
    issues["UnsupportedComponent"] = len(read) - len(known)
    accepted = []
    for pod in known:
        if not is_subdomain(pod.name) or pod.key in world.twice or not (bare or _identified(pod, uids)):
            issues["PodIdentityRejected"] += 1
        elif not pod.whole or not _well_formed(pod.status):
            issues["PodMalformed"] += 1
        else:
            accepted.append(pod)
    issues = +issues
    return Pods(tuple(accepted), _observation(read, len(labelled), lost, issues), issues, lost)


def _observation(read: Sequence[Thing], labelled: int, lost: Lookup | None, issues: Iterable[str]) -> Observation:
    truncated = labelled > MAX_PODS
    if lost:
        return Observation("Partial" if read else "Unavailable", len(read), bool(read), unlisted(lost))
    if issues:
        return Observation("Partial", len(read), truncated, "MalformedPayload")
    return Observation("Partial" if truncated else "Reported", len(read), truncated)


def unlisted(lost: Lookup) -> str:
    """Why a list is not whole, in OME's word."""
    return _ABSENT.get(lost.absence, "Unreadable")


def _identified(pod: Thing, uids: Mapping[str, int]) -> bool:
    uid = string(pod.metadata.get("uid"))
    return len(uid) <= _MAX_UID and _UID.fullmatch(uid) is not None and uids[uid] == 1


def _well_formed(status: Mapping[str, Any]) -> bool:
    conditions = items(status.get("conditions"))
    lists = [items(status.get(name)) for name in _STATUSES]
    if any(len(one) > _MAX_PARTS for one in (conditions, *lists)):
        return False
    told = [one.get("status") for one in conditions if one.get("type") == "Ready"]
    if any(status not in STATUSES for status in told) or len(set(told)) > 1:
        return False
    return all(_restarts(one) is not None for held in lists for one in held)


def _restarts(status: Mapping[str, Any]) -> int | None:
    """How often a container was restarted; None where that is no count."""
    count = status.get("restartCount", 0)
    return count if is_count(count) else None


def is_ready(pod: Thing) -> bool:
    """Whether the pod's own condition says that it is ready."""
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in items(pod.status.get("conditions")))


def counts(pods: Iterable[Thing]) -> Counts:
    """The pods of a component, counted."""
    found: Counter[str] = Counter()
    for pod in pods:
        found["total"] += 1
        found[_PHASES.get(string(pod.status.get("phase")), "unknown")] += 1
        found["ready"] += is_ready(pod)
        found["terminating"] += bool(mapping(pod.metadata).get("deletionTimestamp"))
        found["restarts"] += sum(_restarts(one) or 0 for name in _STATUSES for one in items(pod.status.get(name)))
    return Counts(**found)
