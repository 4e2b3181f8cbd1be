"""Pods that ask for more than any node of the bundle has: if these are all nodes, they fit nowhere, however empty those are.

What a Pod asks for is counted as the scheduler does (kube-scheduler, `resource.PodRequests`): the sum over its containers and
sidecars, or what an init container needs beside the sidecars before it, whichever is more, and the overhead of its runtime class.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import orjson

from analyzer.facts.quantity import parse
from analyzer.facts.values import mapping, mappings, text

_NODES = "SELECT input, json -> '$.status.allocatable' FROM objects WHERE api_group = '' AND kind = 'Node' AND deleted_at IS NULL"
_UNITS = ((1024**4, "Ti"), (1024**3, "Gi"), (1024**2, "Mi"), (1024, "Ki"))
_BYTES = ("memory", "ephemeral-storage")


class Offers:
    """What the nodes of each input have for pods; read when it is first asked for."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Keeps the connection."""
        self._con = con
        self._nodes: dict[int, list[dict[str, Any]]] | None = None

    def too_big(self, origin: int, spec: str | None, resource: str) -> tuple[str | None, str | None]:
        """What the Pod asks for of a resource and the most that a node has, where the former is more.

        Args:
            origin: number of the input that the Pod is from.
            spec: JSON of the Pod's spec.
            resource: name of the resource.

        Returns:
            Both as quantities; None and None where it is not more, or where a node says nothing of what it has.
        """
        nodes = self._of(origin)
        if not nodes:
            return None, None
        amounts = [parse(node.get(resource, 0)) for node in nodes]
        asked = _asked(mapping(orjson.loads(spec) if spec else None), resource)
        known = [amount for amount in amounts if amount is not None]
        if len(known) < len(amounts) or asked <= max(known):
            return None, None
        return written(resource, asked), written(resource, max(known))

    def _of(self, origin: int) -> list[dict[str, Any]]:
        if self._nodes is None:
            self._nodes = {}
            for number, allocatable in self._con.execute(_NODES).fetchall():
                self._nodes.setdefault(number, []).append(mapping(orjson.loads(allocatable) if allocatable else None))
        nodes = self._nodes.get(origin, [])
        return nodes if all(nodes) else []


def _asked(spec: dict[str, Any], resource: str) -> Fraction:
    together, alone = parse(mapping(spec.get("overhead")).get(resource)) or Fraction(0), Fraction(0)
    for field in ("initContainers", "containers"):
        for container in mappings(spec.get(field)):
            amount = _of(container, resource)
            if field == "containers" or text(container.get("restartPolicy")) == "Always":
                together += amount
            else:
                alone = max(alone, together + amount)
    return max(together, alone)


def _of(container: dict[str, Any], resource: str) -> Fraction:
    resources = mapping(container.get("resources"))
    # Where a request is not given the limit stands for it.
    for part in ("requests", "limits"):
        amount = parse(mapping(resources.get(part)).get(resource))
        if amount is not None:
            return amount
    return Fraction(0)


def written(resource: str, amount: Fraction) -> str:
    """A quantity as people write it: `16`, `1500m`, `64Gi`, rounded to a hundredth of its unit."""
    if resource in _BYTES:
        for size, unit in _UNITS:
            if amount >= size:
                return f"{round(float(amount / size), 2):g}{unit}"
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{round(float(amount * 1000), 2):g}m"
