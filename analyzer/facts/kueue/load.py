"""One Workload, read by the fields that it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from analyzer.facts.kueue.base import label
from analyzer.facts.kueue.podsets import PodSet, pod_sets
from analyzer.facts.kueue.store import Thing
from analyzer.facts.kueue.waits import Wait, classify
from analyzer.facts.told import Conditions, conditions
from analyzer.facts.values import Stored, mapping, mappings, moment, number, text

MAX_CHECKS = 64
_VARIANT = "kueue.x-k8s.io/concurrent-admission-parent"
_PAST_SECONDS = ("accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")


@dataclass(slots=True)
class Eviction:
    """A place that proves evictions."""

    reason: str
    underlying: str | None
    times: int
    source: str
    source_id: int
    path: str


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of status.admissionChecks."""

    index: int
    name: str
    state: str
    message: str | None
    since: datetime | None
    retries: int | None


@dataclass(slots=True)
class Load:
    """A Workload: what its object says, and what `workloads.settle` makes of it."""

    object_id: int
    input: int
    namespace: str
    name: str
    uid: str
    created_at: datetime | None
    deleted_at: datetime | None
    conditions: Conditions
    wait: Wait
    queue: str | None
    admitted_to: str | None
    active: bool
    priority: int
    requeue_at: datetime | None
    requeues: int
    pod_sets: list[PodSet]
    checks: list[Check]
    stats: list[tuple[str, str | None, int, str]]
    past_seconds: int
    past_path: str
    job_uid: str | None
    variant: bool
    slice_of: str | None
    owners: list[tuple[str, str, str]]
    """(uid, kind, name)"""
    waiting: bool = False
    state: str = "Pending"
    reason: str | None = None
    message: str | None = None
    message_path: str | None = None
    since: datetime | None = None
    behind: Thing | None = None
    behind_how: str | None = None
    local_queue: Thing | None = None
    cluster_queue: Thing | None = None
    cluster_queue_name: str | None = None
    told_by: int | None = None
    deactivated_by: str | None = None
    deactivation: str | None = None
    evictions: list[Eviction] = field(default_factory=list)
    evicted: int = 0
    queued_at: datetime | None = None
    position: int | None = None
    ahead: int | None = None


def load(item: Stored) -> Load:
    """Reads one Workload."""
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    known = conditions(status)
    reserved = known.get("QuotaReserved")
    waits = reserved is not None and reserved.status != "True"
    requeue = mapping(status.get("requeueState"))
    seconds = [(key, number(status.get(key)) or 0) for key in _PAST_SECONDS]
    past_key, past = max(seconds, key=lambda pair: pair[1])
    return Load(
        item.object_id,
        item.input,
        item.namespace,
        item.name,
        item.uid,
        item.created_at,
        item.deleted_at,
        known,
        classify(reserved.reason, reserved.message) if waits and reserved else classify(None, None),
        text(spec.get("queueName")),
        text(mapping(status.get("admission")).get("clusterQueue")),
        spec.get("active") is not False,
        number(spec.get("priority")) or 0,
        moment(requeue.get("requeueAt")),
        max(0, number(requeue.get("count")) or 0),
        pod_sets(spec, status),
        _checks(status),
        _stats(status),
        past,
        f"status.{past_key}",
        label(item.value, "kueue.x-k8s.io/job-uid"),
        label(item.value, _VARIANT) is not None,
        label(item.value, "kueue.x-k8s.io/workload-slice-name", "annotations"),
        _owners(item.value),
    )


def _checks(status: dict[str, Any]) -> list[Check]:
    found = []
    for index, item in enumerate(mappings(status.get("admissionChecks"))[:MAX_CHECKS]):
        name = text(item.get("name"))
        if name:
            since = moment(item.get("lastTransitionTime"))
            state = text(item.get("state")) or "Pending"
            found.append(Check(index, name, state, text(item.get("message")), since, number(item.get("retryCount"))))
    return found


def _stats(status: dict[str, Any]) -> list[tuple[str, str | None, int, str]]:
    listed = mappings(mapping(status.get("schedulingStats")).get("evictions"))
    return [
        (
            text(item.get("reason")) or "unknown",
            text(item.get("underlyingCause")),
            max(0, number(item.get("count")) or 0),
            f"status.schedulingStats.evictions[{index}].count",
        )
        for index, item in enumerate(listed[:100])
    ]


def _owners(value: dict[str, Any]) -> list[tuple[str, str, str]]:
    metadata = mapping(value.get("metadata"))
    return [
        (text(item.get("uid")) or "", text(item.get("kind")) or "", text(item.get("name")) or "")
        for item in mappings(metadata.get("ownerReferences"))[:20]
    ]
