"""What one pod asks for, by the rule that kube-scheduler, Kueue and resource quotas share (`resource.PodRequests`)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from analyzer.facts.quantity import amount
from analyzer.facts.values import mapping, mappings

MAX_RESOURCES = 64
"""Resources of one container that are read."""

Requests = dict[str, Fraction | None]
"""Amounts by resource; None where an amount cannot be read."""


def pod_requests(spec: dict[str, Any]) -> Requests:
    """What a pod of this spec asks for of each resource.

    That is the sum over its containers and sidecars, or what an init container needs beside the sidecars before it, whichever
    is more. Requests of the pod as a whole (`spec.resources`) take the place of that. The overhead of its runtime class comes
    on top. A container's limit stands for a request that it does not set; the pod's own limit only where no container asks.
    """
    sidecars: Requests = {}
    peak: Requests = {}
    for container in mappings(spec.get("initContainers")):
        own = _resources(container)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, own)
        else:
            _add(own, sidecars)
            _peak(peak, own)
    total: Requests = {}
    for container in mappings(spec.get("containers")):
        _add(total, _resources(container))
    _add(total, sidecars)
    _peak(total, peak)
    whole = mapping(spec.get("resources"))
    total = _read(whole.get("limits")) | total | _read(whole.get("requests"))
    _add(total, _read(spec.get("overhead")))
    return total


def _resources(container: dict[str, Any]) -> Requests:
    resources = mapping(container.get("resources"))
    return _read(mapping(resources.get("limits")) | mapping(resources.get("requests")))


def _read(amounts: Any) -> Requests:
    return {resource: amount(value) for resource, value in list(mapping(amounts).items())[:MAX_RESOURCES]}


def _add(total: Requests, more: Requests) -> None:
    for resource, value in more.items():
        had = total.get(resource, Fraction(0))
        total[resource] = None if value is None or had is None else had + value


def _peak(total: Requests, other: Requests) -> None:
    for resource, value in other.items():
        had = total.get(resource, Fraction(0))
        total[resource] = None if value is None or had is None else max(had, value)
