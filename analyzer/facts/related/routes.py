"""HTTPRoutes that send requests to InferencePools: which gateway refuses them, and which of their pools are not there.

Source: the API types of the Gateway API (`status.parents`) and of its Inference Extension.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.related.pools import GROUPS, read_parents
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, stored, text

GROUP = "gateway.networking.k8s.io"
MAX_BACKENDS = 256
"""Backends of one route that are read."""

# A route that does not work shows in the pools behind it.
_EDGES = """
INSERT INTO relations
SELECT DISTINCT r.object_id, p.object_id, 'route'
FROM (SELECT object_id, unnest(pools) AS pool FROM inference_routes) r
JOIN inference_pools p ON p.namespace || '/' || p.name = r.pool
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `inference_routes`, and `route` edges to pools. Needs `inference_pools`."""
    if insert_rows(con, "inference_routes", _rows(con)):
        con.execute(_EDGES)


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for item in stored(con, [(GROUP, "HTTPRoute")]):
        pools = _pools(item)
        if pools:
            yield _row(item, pools)


def _pools(item: Stored) -> dict[str, str]:
    """The InferencePools behind a route, as namespace/name, and where each is named first."""
    found: dict[str, str] = {}
    read = 0
    for at, rule in enumerate(mappings(mapping(item.value.get("spec")).get("rules"))):
        for idx, one in enumerate(mappings(rule.get("backendRefs"))):
            read += 1
            if read > MAX_BACKENDS:
                return found
            name = text(one.get("name"))
            if text(one.get("kind")) == "InferencePool" and one.get("group") in GROUPS and name:
                place = f"{text(one.get('namespace')) or item.namespace}/{name}"
                found.setdefault(place, f"spec.rules[{at}].backendRefs[{idx}].name")
    return found


def _row(item: Stored, pools: dict[str, str]) -> dict[str, Any]:
    _, worst = read_parents(mapping(item.value.get("status")), "parents")
    said = worst.said if worst else None
    return {
        "object_id": item.object_id,
        "input": item.input,
        "namespace": item.namespace,
        "name": item.name,
        "pools": list(pools),
        "pool_paths": list(pools.values()),
        "parent": worst.parent if worst else None,
        "type": said.type if said else None,
        "reason": said.reason if said else None,
        "message": said.message if said else None,
        "message_path": worst.path if worst else None,
        "since": said.since if said else None,
        "deleted": item.deleted_at is not None,
    }
