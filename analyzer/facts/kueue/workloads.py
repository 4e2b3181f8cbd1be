"""Workloads: their states in Kueue's order, why they wait, behind which queue, at what place in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from math import lcm
from typing import Any

import duckdb

from analyzer.facts.kueue import evictions, topology, waits
from analyzer.facts.kueue.base import GROUP, show
from analyzer.facts.kueue.load import Load, load
from analyzer.facts.kueue.podsets import words as request_words
from analyzer.facts.kueue.store import Thing, Told
from analyzer.facts.values import stored

_HELD = (waits.QUEUE, waits.GATED, waits.HELD)
_HOLDING = ("WaitingForReplacementPods", "BlockedOnPreemptionGates")
"""Conditions that hold a Workload back, whatever the reason of the last evaluation."""
_OUT_OF_QUEUE = (waits.GATED, waits.HELD, waits.DEACTIVATED)
"""Causes for which a Workload is in no queue."""
_REQUEUED_LATE = ("PodsReadyTimeout", "AdmissionCheck")
"""Evictions after which a Workload goes by the time of the eviction, not of its creation."""
_UNTOLD = (waits.SIBLING, waits.EVALUATION, waits.NONE, waits.UNKNOWN)


def read(con: duckdb.DuckDBPyConnection, told: Told) -> list[Load]:
    """Reads all Workloads and finds their queues."""
    loads = [load(item) for item in stored(con, [(GROUP, "Workload")])]
    for one in loads:
        one.local_queue = told.get("LocalQueue", one.queue, one.namespace)
        named = one.local_queue.cluster_queue if one.local_queue else None
        one.cluster_queue_name = one.admitted_to or named
        one.cluster_queue = told.get("ClusterQueue", one.cluster_queue_name)
    return loads


def settle(loads: Sequence[Load], told: Told) -> None:
    """Gives every Workload its state, the queue that holds it back, its cause and its place in the queue."""
    for one in loads:
        _deactivated(one)
        one.behind, one.behind_how = _behind(one, told)
        _state(one)
        if not one.waiting:
            one.behind = one.behind_how = None
    _inherit(loads)
    _positions(loads)


def _deactivated(one: Load) -> None:
    evicted = one.conditions.true("Evicted")
    reason, message = (evicted.reason or "", evicted.message or "") if evicted else ("", "")
    in_force = reason.startswith("Deactivated") or reason == "InactiveWorkload"
    if one.active and not in_force:
        return
    by_kueue = reason.startswith("DeactivatedDueTo") or (in_force and " due to " in message)
    if by_kueue and one.variant:
        # Kueue puts away the variants of a Workload that it did not take.
        one.deactivated_by = "variant"
    else:
        one.deactivated_by = "kueue" if by_kueue else "user"
    one.deactivation = (reason.removeprefix("DeactivatedDueTo") if reason.startswith("DeactivatedDueTo") else message) or None


def _behind(one: Load, told: Told) -> tuple[Thing | None, str | None]:
    """The queue that lets nothing through, and its state."""
    local, cluster = one.local_queue, one.cluster_queue
    if local and local.state in ("Stopped", "Terminating", "Orphaned"):
        return local, local.state
    if cluster and cluster.state and cluster.state != "Active":
        return cluster, cluster.state
    if cluster and cluster.parent in told.cycles:
        return cluster, "Cohort cycle"
    if local and cluster is None and local.state == "Inactive":
        return local, local.state
    return None, None


def _state(one: Load) -> None:
    evicted, admitted, reserved = (one.conditions.true(kind) for kind in ("Evicted", "Admitted", "QuotaReserved"))
    finished, pods_ready = one.conditions.true("Finished"), one.conditions.get("PodsReady")
    shown = one.conditions.get("QuotaReserved")
    if one.deleted_at:
        one.state, shown, one.since = "Deleting", None, one.deleted_at
    elif finished:
        one.state, shown = "Finished", finished
    elif one.deactivated_by:
        one.state, shown = "Deactivated", evicted or shown
    elif admitted and not evicted:
        one.state, shown = "Admitted", pods_ready if pods_ready and pods_ready.status == "False" else admitted
        one.since = admitted.since
    elif evicted:
        one.state, shown, one.waiting = "Evicted", evicted, reserved is None
    elif reserved:
        one.state, shown = "Waiting for admission checks", one.conditions.get("Admitted") or reserved
        one.since = reserved.since
    else:
        one.waiting = True
        one.state = _waiting_state(one)
    if shown:
        one.reason, one.message, one.message_path = shown.reason, shown.message, shown.path
        one.since = one.since or shown.since
    elif one.waiting and one.state == "Pending":
        one.message = "Kueue has not looked at it yet: it has no condition QuotaReserved"
    if one.waiting:
        one.since = one.since or one.created_at


def _waiting_state(one: Load) -> str:
    cause = one.wait.cause
    if cause in (waits.MISCONFIGURED, waits.NEVER):
        return "Inadmissible"
    if cause == waits.QUEUE and one.wait.queue_how != "stopped":
        reserved = one.conditions.get("QuotaReserved")
        reason = reserved.reason if reserved else None
        stopped = one.behind_how in ("Stopped", "Terminating")
        if reason == "Inadmissible" and not stopped:
            return "Inadmissible"
        if reason == "Pending" and not stopped:
            # The scheduler passes over queues in a circle of cohorts and says so in these words too.
            return "Inadmissible" if one.behind_how else "Pending"
    if cause in _HELD or one.behind_how in ("Stopped", "Terminating") or any(one.conditions.true(kind) for kind in _HOLDING):
        return "Held"
    return "Pending"


def _inherit(loads: Sequence[Load]) -> None:
    """Workloads that Kueue passed over for an equal one's sake wait for what that one waits for."""
    bypassed = [one for one in loads if one.waiting and one.wait.bypassed]
    if not bypassed:
        return
    known: dict[tuple[Any, ...], list[Load]] = {}
    for one in loads:
        if one.waiting and not one.wait.bypassed and one.wait.cause not in _UNTOLD:
            known.setdefault(_shape(one), []).append(one)
    for one in bypassed:
        for other in known.get(_shape(one), ()):
            if one.wait.cause in (waits.SIBLING, other.wait.cause):
                one.wait = replace(other.wait, bypassed=True)
                one.told_by = other.object_id
                if one.state == "Pending":
                    one.state = _waiting_state(one)
                break


def _shape(one: Load) -> tuple[Any, ...]:
    asked = tuple((s.name, s.count, tuple(sorted((r, str(a.amount)) for r, a in s.asked.items()))) for s in one.pod_sets)
    return (one.cluster_queue_name, one.priority, asked)


def _positions(loads: Sequence[Load]) -> None:
    queues: dict[str, list[Load]] = {}
    for one in loads:
        evicted = one.conditions.get("Evicted")
        late = evicted is not None and (evicted.reason in _REQUEUED_LATE)
        one.queued_at = (evicted.since if late and evicted else None) or one.created_at
        if one.waiting and one.cluster_queue_name and one.wait.cause not in _OUT_OF_QUEUE:
            queues.setdefault(one.cluster_queue_name, []).append(one)
    for queue in queues.values():
        queue.sort(key=lambda one: (-one.priority, one.queued_at or datetime.max, one.namespace, one.name))  # noqa: DTZ901 - naive as all
        for place, one in enumerate(queue, 1):
            one.position, one.ahead = place, queue[0].object_id


def cause_key(one: Load) -> str:
    """What Workloads that wait for the same thing have in common."""
    told = sorted(
        {f"{p.detail} {p.resource or ''}@{p.flavor or ''} {p.place or ''}" for p in one.wait.parts if p.cause == one.wait.cause}
    )
    if told:
        return "; ".join(told)[:2_000]
    reserved = one.conditions.get("QuotaReserved")
    return f"{one.wait.cause}: {(reserved.message if reserved else None) or ''}"[:2_000]


def rows(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Rows of `workloads`."""
    by_uid = {one.uid: one for one in loads if one.uid}
    for one in loads:
        uid = evictions.preemptor(one)
        preemptor = by_uid.get(uid) if uid else None
        reserved = one.conditions.get("QuotaReserved")
        wait = reserved if reserved and reserved.status != "True" else None
        finished, pods_ready = one.conditions.true("Finished"), one.conditions.get("PodsReady")
        yield {
            "object_id": one.object_id,
            "input": one.input,
            "namespace": one.namespace,
            "name": one.name,
            "uid": one.uid,
            "state": one.state,
            "reason": one.reason,
            "message": one.message,
            "message_path": one.message_path,
            "since": one.since,
            "waiting": one.waiting,
            "cause": one.wait.cause if one.waiting else None,
            "detail": one.wait.detail if one.waiting else None,
            "wait_reason": wait.reason if wait else None,
            "wait_message": wait.message if wait else None,
            "wait_path": wait.path if wait else None,
            "wait_since": ((wait.since if wait else None) or one.created_at) if one.waiting else None,
            "told_by": one.told_by,
            "cause_key": cause_key(one) if one.waiting else None,
            "preempting": one.wait.preempting,
            "behind_id": one.behind.object_id if one.behind else None,
            "behind_how": one.behind_how,
            "queue": one.queue,
            "queue_id": one.local_queue.object_id if one.local_queue else None,
            "cluster_queue": one.cluster_queue_name,
            "cluster_queue_id": one.cluster_queue.object_id if one.cluster_queue else None,
            "priority": one.priority,
            "queued_at": one.queued_at,
            "position": one.position,
            "ahead_id": one.ahead,
            "active": one.active,
            "deactivated_by": one.deactivated_by,
            "deactivation": one.deactivation,
            "evicted": one.conditions.true("Evicted") is not None,
            "evictions": min(one.evicted, 2**31 - 1),
            "evictions_exact": any(eviction.source == "stats" for eviction in one.evictions),
            "eviction_words": evictions.words(one),
            "preemptor_id": preemptor.object_id if preemptor else None,
            "preemptor": f"{preemptor.namespace}/{preemptor.name}"
            if preemptor
            else f"the Workload with uid {uid}"
            if uid
            else None,
            "requeue_at": one.requeue_at,
            "pods_ready": pods_ready.status if pods_ready else None,
            "finished": finished.reason if finished else None,
            "requests": request_words(one.pod_sets),
        }


def cause_rows(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Rows of `workload_causes`."""
    for one in loads:
        for index, part in enumerate(one.wait.parts if one.waiting else ()):
            yield {
                "object_id": one.object_id,
                "idx": index,
                "pod_set": part.pod_set,
                "cause": part.cause,
                "detail": part.detail,
                "resource": part.resource,
                "flavor": part.flavor,
                "more": part.more,
                "asked": part.asked,
                "before_it": part.before,
                "capacity": part.limit,
                "place": part.place,
                "text": part.text,
            }


def pod_set_rows(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Rows of `workload_pod_sets`."""
    for one in loads:
        for pod_set in one.pod_sets:
            row = {
                "object_id": one.object_id,
                "idx": pod_set.index,
                "pod_set": pod_set.name,
                "count": pod_set.count,
                "min_count": pod_set.min_count,
                "topology": pod_set.topology,
                "domain_count": len(pod_set.domains),
                "domains": topology.words(pod_set.domains),
            }
            if not pod_set.asked:
                yield row
            for resource, asked in sorted(pod_set.asked.items()):
                yield row | {
                    "resource": resource,
                    "amount": asked.text,
                    "source": asked.source,
                    "flavor": asked.flavor,
                    "path": asked.path,
                }


def usage_rows(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Rows of `workload_usage`."""
    held: dict[tuple[str, str, str], list[tuple[Fraction, Load]]] = {}
    for one in loads:
        if not one.admitted_to or one.state == "Finished" or one.conditions.true("QuotaReserved") is None:
            continue
        own: dict[tuple[str, str], Fraction] = {}
        for pod_set in one.pod_sets:
            for resource, asked in pod_set.asked.items():
                if asked.source == "admission" and asked.flavor and asked.amount:
                    key = (asked.flavor, resource)
                    own[key] = own[key] + asked.amount if key in own else asked.amount
        for (flavor, resource), amount in own.items():
            held.setdefault((one.admitted_to, flavor, resource), []).append((amount, one))
    for (queue, flavor, resource), holders in held.items():
        # Whole numbers are compared much faster than fractions.
        whole = lcm(*{amount.denominator for amount, _ in holders})
        holders.sort(key=lambda pair: (-int(pair[0] * whole), pair[1].namespace, pair[1].name))
        for rank, (amount, one) in enumerate(holders, 1):
            yield {
                "object_id": one.object_id,
                "cluster_queue": queue,
                "flavor": flavor,
                "resource": resource,
                "amount": show(resource, amount),
                "rank": rank,
                "holders": len(holders),
            }
