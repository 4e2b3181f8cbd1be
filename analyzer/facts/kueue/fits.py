"""Whether a Workload can ever fit its queue: our arithmetic, for those of which Kueue has not said so itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analyzer.facts.kueue import waits
from analyzer.facts.kueue.base import rounded, show
from analyzer.facts.kueue.config import Config
from analyzer.facts.kueue.load import Load
from analyzer.facts.kueue.podsets import PodSet
from analyzer.facts.kueue.quota import Tree
from analyzer.facts.kueue.store import Thing

_SILENT = (waits.NONE, waits.EVALUATION, waits.UNKNOWN, waits.SIBLING)
"""Causes that say nothing of quota."""


@dataclass(frozen=True, slots=True)
class Need:
    """What of one resource must fit into one flavor."""

    amount: Fraction
    words: str


def rows(loads: Sequence[Load], tree: Tree, config: Config) -> Iterator[dict[str, Any]]:
    """Rows of `workload_fits`."""
    for one in loads:
        asked_already = one.wait.detail == "borrowing-limit" and one.wait.cause == waits.QUOTA
        if one.waiting and (one.wait.cause in _SILENT or asked_already) and one.behind is None:
            yield from _rows(one, tree, config)


def _rows(one: Load, tree: Tree, config: Config) -> Iterator[dict[str, Any]]:
    queue = one.cluster_queue
    why = _untold(one, queue, config)
    if why or queue is None:
        if why:
            yield {"object_id": one.object_id, "words": why}
        return
    unread = sorted({resource for s in one.pod_sets for resource, asked in s.asked.items() if asked.amount is None})
    found = list(_compared(one, queue, tree, config))
    proven = {row["resource"] for row in found} - {row["resource"] for row in found if row["fits"] is not False}
    if unread and not proven:
        yield {"object_id": one.object_id, "words": f"what it asks of {unread[0]} cannot be read"}
    covered = {resource for group in queue.groups for resource in group}
    open_needs = sorted(_total(one.pod_sets, config).keys() - covered - {"pods"})
    if open_needs and not proven and not config.undeclared_ignored:
        yield {"object_id": one.object_id, "words": f"ClusterQueue {queue.name} has no quota of {open_needs[0]}"}
    yield from found


def _untold(one: Load, queue: Thing | None, config: Config) -> str | None:
    """Why nothing can be said at all."""
    if queue is None:
        if one.cluster_queue_name:
            return f"ClusterQueue {one.cluster_queue_name} is not in this bundle"
        return f"LocalQueue {one.queue} is not in this bundle" if one.queue else "it names no queue"
    if not one.pod_sets:
        return "what it asks for is not told"
    if any(asked.source == "template" for s in one.pod_sets for asked in s.asked.values()):
        if not config.readable:
            return "Kueue's configuration, which may change what counts as a request, is not in this bundle"
        if config.transforms:
            return "Kueue's configuration transforms requests before it counts them"
    return None


def _compared(one: Load, queue: Thing, tree: Tree, config: Config) -> Iterator[dict[str, Any]]:
    for resource, need in sorted(_total(one.pod_sets, config).items()):
        for group, names in enumerate(queue.groups):
            if resource not in names:
                continue
            flavors = [quota for quota in queue.quotas.values() if quota.group == group and quota.resource == resource]
            # With one flavor all pod sets land on it; with several each pod set may take another.
            must = need if len(flavors) == 1 else _largest(one.pod_sets, resource, config)
            for quota in flavors:
                most = tree.capacity(queue, quota.flavor, resource)
                fits = None if most.most is None else must.amount <= most.most
                told = (
                    most.words
                    if most.most is None
                    else f"it asks for {must.words} {resource} of flavor {quota.flavor}; {most.words}"
                )
                yield {
                    "object_id": one.object_id,
                    "resource": resource,
                    "flavor": quota.flavor,
                    "asked": show(resource, must.amount),
                    "capacity": None if most.most is None else show(resource, most.most),
                    "fits": fits,
                    "words": told,
                    "path": quota.path,
                    "quota_id": queue.object_id,
                }


def _needs(pod_set: PodSet, config: Config) -> dict[str, Fraction]:
    """What the fewest pods that are enough ask for."""
    count = max(0, pod_set.count - pod_set.reclaimed)
    fewest = min(count, pod_set.min_count) if pod_set.min_count is not None and pod_set.min_count >= 0 else count
    found = {}
    for resource, asked in pod_set.asked.items():
        if asked.amount is not None and pod_set.count and not _excluded(resource, config, asked.source):
            per_pod = (
                rounded(resource, asked.amount / pod_set.count) if asked.source == "template" else asked.amount / pod_set.count
            )
            if per_pod > 0:
                found[resource] = per_pod * fewest
    # A ClusterQueue that covers `pods` counts them.
    found.setdefault("pods", Fraction(fewest))
    return found


def _excluded(resource: str, config: Config, source: str) -> bool:
    return source == "template" and any(resource.startswith(prefix) for prefix in config.excluded)


def _total(sets: Sequence[PodSet], config: Config) -> dict[str, Need]:
    parts: dict[str, list[tuple[PodSet, Fraction]]] = {}
    for pod_set in sets:
        for resource, amount in _needs(pod_set, config).items():
            parts.setdefault(resource, []).append((pod_set, amount))
    found = {}
    for resource, listed in parts.items():
        total = sum((amount for _, amount in listed), Fraction(0))
        each = " + ".join(f"{show(resource, amount)} of pod set {s.name}" for s, amount in listed[:8])
        found[resource] = Need(total, f"{show(resource, total)} ({each})" if len(listed) > 1 else show(resource, total))
    return found


def _largest(sets: Sequence[PodSet], resource: str, config: Config) -> Need:
    listed = [(amount, s.name) for s in sets for known, amount in _needs(s, config).items() if known == resource]
    amount, name = max(listed)
    return Need(amount, f"{show(resource, amount)} in pod set {name}" if len(sets) > 1 else show(resource, amount))
