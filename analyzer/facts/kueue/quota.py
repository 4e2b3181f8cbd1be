"""Quota per flavor and resource, and the most that a ClusterQueue could ever get of it from its cohort tree.

The arithmetic is that of Kueue's cache of resource nodes: what a node cannot lend stays local, a node takes from its parent
at most its own subtree's quota plus its borrowing limit. What is in use plays no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analyzer.facts.kueue.base import GROUP, show
from analyzer.facts.kueue.queues import root_of
from analyzer.facts.kueue.store import Quota, Thing, Told
from analyzer.facts.whole import Whole

_NAMED = 8
"""Members of a cohort whose numbers are named one by one."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most that a queue could get; `most` is None where that cannot be told, and `words` say why."""

    most: Fraction | None
    words: str


class Tree:
    """The cohort trees of a cluster."""

    def __init__(self, told: Told, lists: Whole) -> None:
        """Puts the members under their cohorts."""
        self._told = told
        self._lists = lists
        self._queues: dict[str, list[Thing]] = {}
        self._children: dict[str, list[str]] = {}
        for queue in told.of("ClusterQueue"):
            if queue.parent:
                self._queues.setdefault(queue.parent, []).append(queue)
        for name in sorted(told.cohorts):
            thing = told.get("Cohort", name)
            if thing and thing.parent:
                self._children.setdefault(thing.parent, []).append(name)
        self._below: dict[tuple[str, str, str], dict[str, Fraction] | str] = {}
        self._named: dict[tuple[str, str, str], str] = {}

    def capacity(self, queue: Thing, flavor: str, resource: str) -> Capacity:
        """The most that one Workload of this ClusterQueue could get of it with nothing else running."""
        quota = queue.quotas.get((flavor, resource))
        if not self._lists.has(GROUP, "ClusterQueue"):
            return Capacity(None, "the list of ClusterQueues is not complete")
        if not queue.whole:
            return Capacity(None, f"ClusterQueue {queue.name} was read in part")
        if quota is None or quota.nominal is None or not quota.limits_known:
            return Capacity(None, f"the quota of {resource} in flavor {flavor} of ClusterQueue {queue.name} cannot be read")
        own = f"ClusterQueue {queue.name} has {show(resource, quota.nominal)}"
        if not queue.parent:
            return Capacity(quota.nominal, f"{own} and is in no cohort")
        problem = self._untold(queue)
        if problem:
            return Capacity(None, problem)
        return self._in_cohort(queue, quota, own)

    def _untold(self, queue: Thing) -> str | None:
        """Why nothing can be said of the tree that this queue is in."""
        name = queue.parent or ""
        if name in self._told.cycles:
            return f"the parents of cohort {name} turn in a circle"
        if not self._lists.has(GROUP, "Cohort"):
            return "the list of Cohorts is not complete"
        return None

    def _in_cohort(self, queue: Thing, quota: Quota, own: str) -> Capacity:
        flavor, resource = quota.flavor, quota.resource
        chain, name = [], queue.parent
        while name:
            chain.append(name)
            cohort = self._told.get("Cohort", name)
            name = cohort.parent if cohort else None
        sums = self._subtrees(chain[-1], flavor, resource)
        if isinstance(sums, str):
            return Capacity(None, sums)
        # From the top down: what each cohort of the chain, then the queue, can get.
        most = sums[chain[-1]]
        words = [f"cohort {chain[-1]} has {show(resource, most)} in all ({self._members(chain[-1], flavor, resource)})"]
        for level in reversed(chain[:-1]):
            cohort = self._told.get("Cohort", level)
            limits = cohort.quotas.get((flavor, resource)) if cohort else None
            most = self._through(sums[level], most, limits, resource, f"cohort {level}", words)
        nominal = quota.nominal or Fraction(0)
        most = self._through(nominal, most, quota, resource, f"ClusterQueue {queue.name}", words)
        return Capacity(most, f"{own}; {'; '.join(words)}; so it gets at most {show(resource, most)}")

    @staticmethod
    def _through(below: Fraction, above: Fraction, limits: Quota | None, resource: str, who: str, words: list[str]) -> Fraction:
        """What a node can get: what it keeps to itself and what its parent has, within its borrowing limit."""
        most = _local(below, limits) + above
        if limits is not None and limits.borrow is not None and below + limits.borrow < most:
            most = below + limits.borrow
            words.append(f"{who} may borrow {show(resource, limits.borrow)} over its {show(resource, below)}")
        return most

    def _subtrees(self, root: str, flavor: str, resource: str) -> dict[str, Fraction] | str:
        """The quota of every cohort of a tree with all below it; or why it cannot be told."""
        key = (root, flavor, resource)
        if key not in self._below:
            self._below[key] = self._summed(root, flavor, resource)
        return self._below[key]

    def _summed(self, root: str, flavor: str, resource: str) -> dict[str, Fraction] | str:
        order, stack = [], [root]
        while stack:
            name = stack.pop()
            order.append(name)
            stack += self._children.get(name, ())
        sums: dict[str, Fraction] = {}
        for name in reversed(order):
            cohort = self._told.get("Cohort", name)
            nodes = [thing for thing in (cohort, *self._queues.get(name, ())) if thing]
            quotas = [(thing, thing.quotas.get((flavor, resource))) for thing in nodes]
            for thing, quota in quotas:
                if not thing.whole or (quota and (quota.nominal is None or not quota.limits_known)):
                    return f"the quota of {resource} in flavor {flavor} of {thing.kind} {thing.name} cannot be read"
            total = Fraction(0)
            for thing, quota in quotas:
                nominal = quota.nominal if quota and quota.nominal is not None else Fraction(0)
                total += nominal - (_local(nominal, quota) if thing is not cohort else 0)
            for child in self._children.get(name, ()):
                below = self._told.get("Cohort", child)
                total += sums[child] - _local(sums[child], below.quotas.get((flavor, resource)) if below else None)
            sums[name] = total
        return sums

    def _members(self, root: str, flavor: str, resource: str) -> str:
        """Who brings what into the tree."""
        key = (root, flavor, resource)
        if key not in self._named:
            self._named[key] = self._listed(root, flavor, resource)
        return self._named[key]

    def _listed(self, root: str, flavor: str, resource: str) -> str:
        order, stack, parts = [], [root], []
        while stack:
            name = stack.pop()
            order.append(name)
            stack += self._children.get(name, ())
        for name in order:
            cohort = self._told.get("Cohort", name)
            for thing in (*([cohort] if cohort else []), *self._queues.get(name, ())):
                quota = thing.quotas.get((flavor, resource))
                if quota and quota.nominal:
                    lends = f", lends {show(resource, quota.lend)} of it" if quota.lend is not None else ""
                    parts.append(f"{thing.kind} {thing.name} {show(resource, quota.nominal)}{lends}")
        more = len(parts) - _NAMED
        return ", ".join(parts[:_NAMED]) + (f" and {more} more" if more > 0 else "") or "nobody brings any"


def _local(below: Fraction, limits: Quota | None) -> Fraction:
    """What a node does not lend."""
    if limits is None or limits.lend is None:
        return Fraction(0)
    return max(Fraction(0), below - limits.lend)


def rows(told: Told, tree: Tree) -> Iterator[dict[str, Any]]:
    """Rows of `kueue_quota`."""
    for kind in ("ClusterQueue", "Cohort"):
        for thing in told.of(kind):
            for (flavor, resource), quota in thing.quotas.items():
                reserved, used = thing.reserved.get((flavor, resource)), thing.used.get((flavor, resource))
                most = (
                    tree.capacity(thing, flavor, resource)
                    if kind == "ClusterQueue"
                    else Capacity(None, "a Cohort has no Workloads")
                )
                yield {
                    "object_id": thing.object_id,
                    "kind": kind,
                    "name": thing.name,
                    "cohort": thing.parent if kind == "ClusterQueue" else root_of(thing.name, told),
                    "resource_group": quota.group,
                    "flavor": flavor,
                    "resource": resource,
                    "nominal": _text(resource, quota.nominal),
                    "borrowing_limit": _text(resource, quota.borrow),
                    "lending_limit": _text(resource, quota.lend),
                    "reserved": _text(resource, reserved.total if reserved else None),
                    "used": _text(resource, used.total if used else None),
                    "borrowed": _text(resource, reserved.borrowed if reserved else None),
                    "share": _share(quota.nominal, reserved.total if reserved else None),
                    "capacity": _text(resource, most.most),
                    "capacity_words": most.words,
                    "nominal_path": quota.path,
                    "reserved_path": reserved.path if reserved else None,
                }


def _text(resource: str, value: Fraction | None) -> str | None:
    return None if value is None else show(resource, value)


def _share(nominal: Fraction | None, reserved: Fraction | None) -> int | None:
    if not nominal or reserved is None:
        return None
    share = int(reserved * 100 / nominal)
    return share if abs(share) < 2**31 else None
