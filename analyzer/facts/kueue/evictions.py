"""How often a Workload was evicted, and why: Kueue's own count where there is one, else what conditions and events prove."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from analyzer.facts.kueue.base import GROUP
from analyzer.facts.kueue.load import Eviction, Load

_PREEMPTOR = re.compile(r"Preempted to accommodate a workload \(UID: ([^\s,)]{1,64})")
_WORDS = {
    "Preempted": "preempted",
    "PodsReadyTimeout": "pods were not ready in time",
    "AdmissionCheck": "an admission check",
    "ClusterQueueStopped": "its ClusterQueue was stopped",
    "LocalQueueStopped": "its LocalQueue was stopped",
    "NodeFailures": "nodes failed",
    "Deactivated": "deactivated",
    "InactiveWorkload": "deactivated",
    "FlavorMigration": "moved to another flavor",
    "EvictedOnManagerCluster": "evicted on the manager cluster",
}
_CAUSES = {
    "WaitForStart": "while starting",
    "WaitForRecovery": "while recovering",
    "RequeuingLimitExceeded": "requeued too often",
    "MaximumExecutionTimeExceeded": "ran too long",
    "AdmissionCheck": "a check rejected it",
    "InClusterQueue": "in its ClusterQueue",
    "InCohortReclamation": "its cohort took quota back",
    "InCohortFairSharing": "fair sharing in its cohort",
    "InCohortReclaimWhileBorrowing": "its cohort took quota back while borrowing",
}


def count(con: duckdb.DuckDBPyConnection, loads: Sequence[Load]) -> None:
    """Finds what proves evictions and counts them in each Workload."""
    told: dict[int, list[tuple[str, int, int]]] = {}
    rows = con.execute(
        "SELECT about_id, reason, times, object_id FROM events WHERE about_kind = 'Workload' AND about_group = ? "
        "AND about_id IS NOT NULL AND starts_with(reason, 'EvictedDueTo') ORDER BY object_id",
        [GROUP],
    ).fetchall()
    for about, reason, times, event in rows:
        told.setdefault(about, []).append((reason, max(1, times or 1), event))
    for load in loads:
        _count(load, told.get(load.object_id, ()))


def _count(load: Load, events: Sequence[tuple[str, int, int]]) -> None:
    for cause, underlying, times, path in load.stats:
        if times:
            load.evictions.append(Eviction(cause, underlying, times, "stats", load.object_id, path))
    by_stats = sum(one.times for one in load.evictions)
    proofs = []
    evicted = load.conditions.get("Evicted")
    if evicted and (evicted.status == "True" or (evicted.message or "").startswith("Previously: ")):
        reason = evicted.reason if evicted.status == "True" else _from_message(evicted.message or "")
        proofs.append(Eviction(reason or "unknown", _preemption(load), 1, "condition", load.object_id, evicted.path))
    if load.past_seconds > 0:
        proofs.append(Eviction("unknown", None, 1, "time", load.object_id, load.past_path))
    if load.requeues:
        # Kueue counts here the rounds after both causes.
        cause = "AdmissionCheck" if evicted and evicted.reason == "AdmissionCheck" else "PodsReadyTimeout"
        proofs.append(Eviction(cause, None, load.requeues, "condition", load.object_id, "status.requeueState.count"))
    by_events = 0
    for reason, times, event in events:
        by_events += times
        name, _, underlying = reason.removeprefix("EvictedDueTo").partition("DueTo")
        proofs.append(Eviction(name or "unknown", underlying or None, times, "event", event, "reason"))
    at_least = max([by_events, *(one.times for one in proofs if one.source != "event"), 0])
    load.evicted = max(by_stats, at_least)
    if by_stats < at_least:
        # The count is younger than some of what it should hold (a controller of before 0.12), or is not kept at all.
        load.evictions = proofs


def _preemption(load: Load) -> str | None:
    preempted = load.conditions.true("Preempted")
    return preempted.reason if preempted else None


def _from_message(message: str) -> str:
    """The reason of an eviction that lies behind, by the message that Kueue kept of it."""
    words = message.removeprefix("Previously: ")
    for start, reason in (
        ("Preempted to accommodate", "Preempted"),
        ("Exceeded the PodsReady timeout", "PodsReadyTimeout"),
        ("At least one admission check", "AdmissionCheck"),
        ("Evicted due to AdmissionCheck", "AdmissionCheck"),
        ("The ClusterQueue is stopped", "ClusterQueueStopped"),
        ("The LocalQueue is stopped", "LocalQueueStopped"),
        ("The workload is deactivated", "Deactivated"),
    ):
        if words.startswith(start):
            return reason
    return "unknown"


def preemptor(load: Load) -> str | None:
    """The uid of the Workload that this one had to make room for, by its newest eviction."""
    for kind in ("Evicted", "Preempted"):
        condition = load.conditions.get(kind)
        match = _PREEMPTOR.search(condition.message or "") if condition else None
        if match:
            return match[1]
    return None


def words(load: Load) -> str | None:
    """The evictions by cause: `3 times because pods were not ready in time (while starting)`."""
    by_cause: dict[tuple[str, str | None], int] = {}
    exact = any(one.source == "stats" for one in load.evictions)
    for one in load.evictions:
        key = (one.reason, one.underlying)
        by_cause[key] = (
            by_cause.get(key, 0) + one.times if exact or one.source == "event" else max(by_cause.get(key, 0), one.times)
        )
    if len(by_cause) > 1:
        by_cause.pop(("unknown", None), None)
    parts = []
    for (reason, underlying), times in sorted(by_cause.items(), key=lambda item: (-item[1], item[0][0])):
        because = "for an unknown cause" if reason == "unknown" else _cause(reason, underlying)
        parts.append(f"{times} times {because}" if times > 1 else f"once {because}")
    return ", ".join(parts[:6]) or None


def _cause(reason: str, underlying: str | None) -> str:
    base, _, inner = reason.partition("DueTo")
    underlying = underlying or inner or None
    main = f"{reason if base not in _WORDS else base}: {_WORDS[base]}" if base in _WORDS else reason
    return f"{main} ({_CAUSES.get(underlying, underlying)})" if underlying else main


def rows(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Rows of `workload_evictions`."""
    for load in loads:
        for one in load.evictions:
            yield {
                "object_id": load.object_id,
                "reason": one.reason,
                "underlying": one.underlying,
                "times": one.times,
                "source": one.source,
                "source_id": one.source_id,
                "path": one.path,
            }
