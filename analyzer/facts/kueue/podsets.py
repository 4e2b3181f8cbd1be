"""What the pod sets of a Workload ask for, what they got, and what topology they want."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from analyzer.facts.kueue import topology as tas
from analyzer.facts.kueue.base import show, shown
from analyzer.facts.kueue.topology import Domain
from analyzer.facts.pod_requests import MAX_RESOURCES, pod_requests
from analyzer.facts.quantity import amount
from analyzer.facts.values import mapping, mappings, number, text

MAX_POD_SETS = 64
"""Pod sets of one Workload that are read; Kueue itself allows 8."""
_TOPOLOGY = {"required": "needs one domain of", "preferred": "would like one domain of", "unconstrained": "any domains"}


@dataclass(slots=True)
class Asked:
    """How much of a resource all pods of a pod set ask for, as a number and in words; None where it cannot be read."""

    amount: Fraction | None
    text: str | None
    source: str
    path: str | None
    flavor: str | None = None


@dataclass(slots=True)
class PodSet:
    """One pod set."""

    index: int
    name: str
    count: int
    min_count: int | None
    asked: dict[str, Asked] = field(default_factory=dict)
    topology: str | None = None
    reclaimed: int = 0
    domains: list[Domain] = field(default_factory=list)


def pod_sets(spec: dict[str, Any], status: dict[str, Any]) -> list[PodSet]:
    """The pod sets: amounts by the admission, else by status.resourceRequests, else by the pod template."""
    found = []
    reclaimed = {text(item.get("name")): number(item.get("count")) or 0 for item in mappings(status.get("reclaimablePods"))}
    for index, item in enumerate(mappings(spec.get("podSets"))[:MAX_POD_SETS]):
        count = number(item.get("count"))
        pod_set = PodSet(
            index, text(item.get("name")) or "main", 1 if count is None else max(count, 0), number(item.get("minCount"))
        )
        if item.get("topologyRequest"):
            pod_set.topology = _topology(mapping(item["topologyRequest"]))
        pod_set.reclaimed = max(0, reclaimed.get(pod_set.name, 0))
        found.append(pod_set)
    by_name = {pod_set.name: pod_set for pod_set in reversed(found)}
    for index, item in enumerate(mappings(mapping(status.get("admission")).get("podSetAssignments"))):
        of = by_name.get(text(item.get("name")) or "main")
        if of:
            _assigned(of, item, f"status.admission.podSetAssignments[{index}]")
    for index, item in enumerate(mappings(status.get("resourceRequests"))):
        of = by_name.get(text(item.get("name")) or "main")
        if of and not of.asked:
            path = f"status.resourceRequests[{index}].resources"
            for resource, value in list(mapping(item.get("resources")).items())[:MAX_RESOURCES]:
                of.asked[resource] = _asked(resource, value, "status", f'{path}["{resource}"]')
    for pod_set, item in zip(found, mappings(spec.get("podSets")), strict=False):
        if not pod_set.asked:
            for resource, value in pod_requests(mapping(mapping(item.get("template")).get("spec"))).items():
                total = None if value is None else value * pod_set.count
                words = None if total is None else show(resource, total)
                pod_set.asked[resource] = Asked(total, words, "template", None)
    return found


def _asked(resource: str, value: Any, source: str, path: str, flavor: str | None = None) -> Asked:
    return Asked(amount(value), shown(resource, value), source, path, flavor)


def _assigned(pod_set: PodSet, item: dict[str, Any], path: str) -> None:
    usage, flavors = mapping(item.get("resourceUsage")), mapping(item.get("flavors"))
    if item.get("topologyAssignment"):
        pod_set.domains = tas.domains(mapping(item["topologyAssignment"]))
    for resource, value in list(usage.items())[:MAX_RESOURCES]:
        place = f'{path}.resourceUsage["{resource}"]'
        pod_set.asked[resource] = _asked(resource, value, "admission", place, text(flavors.get(resource)))


def _topology(request: dict[str, Any]) -> str | None:
    for key, words in _TOPOLOGY.items():
        value = request.get(key)
        if key == "unconstrained":
            if value is True:
                return words
        elif text(value):
            return f"{words} {value}"
    level = text(request.get("podSetSliceRequiredTopology"))
    return f"slices in one domain of {level}" if level else None


def words(sets: list[PodSet]) -> str | None:
    """What all pod sets ask for together: `3 cpu, 6Gi memory`."""
    total: dict[str, Fraction] = {}
    if len(sets) == 1:
        return _listed(tuple((resource, asked.text) for resource, asked in sets[0].asked.items() if asked.text is not None))
    for pod_set in sets:
        for resource, asked in pod_set.asked.items():
            if asked.amount is not None:
                total[resource] = total.get(resource, Fraction(0)) + asked.amount
    return _listed(tuple((resource, show(resource, value)) for resource, value in total.items()))


@lru_cache(maxsize=20_000)
def _listed(amounts: tuple[tuple[str, str], ...]) -> str | None:
    # Most Workloads of a cluster ask for one of a few sizes.
    return ", ".join(f"{words} {resource}" for resource, words in sorted(amounts)[:8]) or None
