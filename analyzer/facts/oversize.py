"""Pods that ask for more than any node of the bundle has: if these are all nodes, they fit nowhere, however empty those are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import orjson

from analyzer.facts.pod_requests import pod_requests
from analyzer.facts.quantity import parse
from analyzer.facts.values import mapping

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
        asked = pod_requests(mapping(orjson.loads(spec) if spec else None)).get(resource)
        known = [amount for amount in amounts if amount is not None]
        if asked is None or len(known) < len(amounts) or asked <= max(known):
            return None, None
        return written(resource, asked), written(resource, max(known))

    def _of(self, origin: int) -> list[dict[str, Any]]:
        if self._nodes is None:
            self._nodes = {}
            for number, allocatable in self._con.execute(_NODES).fetchall():
                self._nodes.setdefault(number, []).append(mapping(orjson.loads(allocatable) if allocatable else None))
        nodes = self._nodes.get(origin, [])
        return nodes if all(nodes) else []


def written(resource: str, amount: Fraction) -> str:
    """A quantity as people write it: `16`, `1500m`, `64Gi`, rounded to a hundredth of its unit."""
    if resource in _BYTES:
        for size, unit in _UNITS:
            if amount >= size:
                return f"{round(float(amount / size), 2):g}{unit}"
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{round(float(amount * 1000), 2):g}m"
