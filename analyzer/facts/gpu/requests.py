"""What Pods ask for of `nvidia.com/…` resources.

The scheduler and the kubelet count what a Pod needs at any time: the sum over its containers and sidecars, or more where an
init container alone asks for more (kube-scheduler, `resource.PodRequests`). For extended resources the limit stands for a request
that is not given (API server defaults).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.quantity import parse
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text

PREFIX = "nvidia.com/"
MAX_DEVICES = 1_000_000
"""More devices than any node has; larger numbers are taken for nonsense."""


_SPECS = """
SELECT object_id, json -> '$.spec' FROM objects
WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, ?) ORDER BY object_id
"""


def devices(value: Any) -> int | None:
    """How many devices a quantity of an extended resource says; None where it says no whole number."""
    amount = parse(value)
    if amount is None or amount.denominator != 1 or not 0 <= amount <= MAX_DEVICES:
        return None
    return int(amount)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_requests`."""
    insert_rows(con, "gpu_requests", _rows(con))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for object_id, spec in con.execute(_SPECS, ['"' + PREFIX]).fetchall():
        for resource, (request, path) in sorted(asked(mapping(orjson.loads(spec) if spec else None)).items()):
            yield {"object_id": object_id, "resource": resource, "request": request, "path": path}


def asked(spec: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """What a Pod's spec asks for: resource → (how many, the field that asks for most)."""
    together: dict[str, int] = {}
    alone: dict[str, int] = {}
    largest: dict[str, tuple[int, str]] = {}
    for field in ("initContainers", "containers"):
        for idx, container in enumerate(mappings(spec.get(field))):
            sidecar = field == "initContainers" and text(container.get("restartPolicy")) == "Always"
            for resource, amount, part in _of(container):
                if field == "containers" or sidecar:
                    together[resource] = together.get(resource, 0) + amount
                else:
                    alone[resource] = max(alone.get(resource, 0), amount + together.get(resource, 0))
                path = f'spec.{field}[{idx}].resources.{part}["{resource}"]'
                largest[resource] = max(largest.get(resource, (0, "")), (amount, path), key=lambda one: one[0])
    found = {}
    for resource, (_, path) in largest.items():
        request = max(together.get(resource, 0), alone.get(resource, 0))
        if request:
            found[resource] = (request, path)
    return found


def _of(container: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    resources = mapping(container.get("resources"))
    requests, limits = mapping(resources.get("requests")), mapping(resources.get("limits"))
    for resource in {**limits, **requests}:
        part = "requests" if resource in requests else "limits"
        amount = devices(resources[part][resource]) if resource.startswith(PREFIX) else None
        if amount:
            yield resource, amount, part
