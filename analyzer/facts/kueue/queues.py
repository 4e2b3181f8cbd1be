"""The states of queues, the cohorts as trees, and what all of them name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.facts.kueue.base import GROUP
from analyzer.facts.kueue.store import Thing, Told
from analyzer.facts.whole import Whole

_STOPPED = ("is stopped", "Stopped")
"""How a message lists the stop; the first versions listed reasons instead of sentences."""


def settle(told: Told, lists: Whole) -> None:
    """Finds the circles among cohorts and gives every queue its state."""
    told.cycles = _cycles(told)
    for thing in told.of("ClusterQueue"):
        _settle_cluster_queue(thing)
    for thing in told.of("LocalQueue"):
        _settle_local_queue(thing, told, lists)


def _settle_cluster_queue(thing: Thing) -> None:
    active = thing.conditions.get("Active")
    thing.since = active.since if active else thing.created_at
    if active:
        thing.state_reason, thing.state_message = active.reason, active.message
    off = active is not None and active.status != "True"
    if thing.deleted_at or (off and active and active.reason == "Terminating"):
        thing.state = "Terminating"
        thing.since = thing.deleted_at or thing.since
    elif thing.stop or (off and active and active.reason == "Stopped"):
        thing.state = "Stopped"
    elif active:
        thing.state = "Inactive" if off else "Active"


def _settle_local_queue(thing: Thing, told: Told, lists: Whole) -> None:
    _settle_cluster_queue(thing)
    active = thing.conditions.get("Active")
    if thing.state == "Terminating" or not thing.cluster_queue:
        return
    there = told.get("ClusterQueue", thing.cluster_queue)
    says_missing = active is not None and active.status != "True" and active.reason == "ClusterQueueDoesNotExist"
    if there is None and (says_missing or lists.has(GROUP, "ClusterQueue")):
        thing.state = "Orphaned"
        if not says_missing:
            # Nothing says since when; the controller has not noticed, or the queue went while the bundle was made.
            thing.since = None
            thing.state_reason = None
            thing.state_message = f"ClusterQueue {thing.cluster_queue} is not in the complete list of ClusterQueues"


def faults(thing: Thing) -> list[str]:
    """What the message of condition Active lists: `Can't admit new workloads: is stopped, references missing …`."""
    active = thing.conditions.get("Active")
    if not active or active.status == "True" or not active.message:
        return []
    _, separator, listed = active.message.partition("new workloads: ")
    if not separator:
        return []
    words = [part.strip() for part in listed.strip().removesuffix(".").split(", ")]
    return [word for word in words if word and word not in _STOPPED]


def rows(told: Told) -> Iterator[dict[str, Any]]:
    """Rows of `kueue_queues`."""
    for kind in ("ClusterQueue", "LocalQueue"):
        for thing in told.of(kind):
            active = thing.conditions.get("Active")
            owner = told.get("ClusterQueue", thing.cluster_queue)
            yield {
                "object_id": thing.object_id,
                "input": thing.input,
                "kind": kind,
                "namespace": thing.namespace,
                "name": thing.name,
                "state": thing.state,
                "active": active.status if active else None,
                "reason": thing.state_reason,
                "message": thing.state_message,
                "active_path": active.path if active else None,
                "since": thing.since,
                "faults": faults(thing),
                "stop_policy": thing.stop,
                "cluster_queue": thing.cluster_queue,
                "cluster_queue_id": owner.object_id if owner else None,
                "cohort": thing.parent if kind == "ClusterQueue" else None,
                "strategy": thing.strategy,
                "pending": thing.counters.get("pendingWorkloads"),
                "reserving": thing.counters.get("reservingWorkloads"),
                "admitted": thing.counters.get("admittedWorkloads"),
            }


def reference_rows(told: Told) -> Iterator[dict[str, Any]]:
    """Rows of `kueue_references`."""
    for thing in told.by_key.values():
        for reference in thing.references:
            target = told.get(reference.kind, reference.name) if reference.group == GROUP else None
            yield {
                "object_id": thing.object_id,
                "path": reference.path,
                "value": reference.name,
                "target_kind": reference.kind,
                "target_name": reference.name,
                "target_id": target.object_id if target else None,
            }


def cohort_rows(told: Told) -> Iterator[dict[str, Any]]:
    """Rows of `kueue_cohorts`."""
    members: dict[str, int] = {}
    for thing in told.of("ClusterQueue"):
        if thing.parent:
            members[thing.parent] = members.get(thing.parent, 0) + 1
    for name in sorted(told.cohorts):
        thing_or_none = told.get("Cohort", name)
        cycle = told.cycles.get(name)
        yield {
            "object_id": thing_or_none.object_id if thing_or_none else None,
            "name": name,
            "parent": thing_or_none.parent if thing_or_none else None,
            "root": root_of(name, told),
            "cycle": list(cycle) if cycle else None,
            "queues": members.get(name, 0),
        }


def root_of(name: str, told: Told) -> str | None:
    """The cohort at the top; None where the way up ends in a circle."""
    seen = set()
    while name not in seen:
        seen.add(name)
        thing = told.get("Cohort", name)
        if thing is None or not thing.parent:
            return name
        name = thing.parent
    return None


def _cycles(told: Told) -> dict[str, tuple[str, ...]]:
    """For each cohort in a circle, and each below one, the circle."""
    found: dict[str, tuple[str, ...]] = {}
    clear: set[str] = set()
    for start in sorted(told.cohorts):
        way: dict[str, int] = {}
        name: str | None = start
        while name is not None and name not in way and name not in found and name not in clear:
            way[name] = len(way)
            thing = told.get("Cohort", name)
            name = thing.parent if thing else None
        walked = list(way)
        if name is None or name in clear:
            clear.update(walked)
            continue
        circle = found.get(name) or tuple(sorted(walked[way[name] :]))
        found.update(dict.fromkeys(walked, circle))
    return found
