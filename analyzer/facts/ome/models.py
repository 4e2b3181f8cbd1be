"""BaseModels and ClusterBaseModels: which nodes have them (OME's model agent)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.ome.world import CLUSTER_MODEL, NAMESPACED_MODEL, World, mapping, string

_MAX_NODES = 1_000


def rows(con: duckdb.DuckDBPyConnection, world: World) -> Iterator[dict[str, Any]]:
    """Rows of `ome_models`."""
    told = {
        row[0]: row[1:]
        for row in con.execute(
            "SELECT object_id, input, created_at FROM objects WHERE api_group = 'ome.io' AND kind IN (?, ?)",
            [NAMESPACED_MODEL, CLUSTER_MODEL],
        ).fetchall()
    }
    for (kind, _, _), thing in sorted(world.things.items()):
        if kind not in (NAMESPACED_MODEL, CLUSTER_MODEL):
            continue
        number, created = told[thing.object_id]
        uri = string(mapping(thing.spec.get("storage")).get("storageUri"))
        yield {
            "object_id": thing.object_id,
            "input": number,
            "kind": kind,
            "namespace": thing.namespace,
            "name": thing.name,
            "state": string(thing.status.get("state")) or None,
            "disabled": thing.spec.get("disabled") is True,
            "ready_nodes": _names(thing.status.get("nodesReady")),
            "failed_nodes": _names(thing.status.get("nodesFailed")),
            "storage": uri.partition("://")[0] if "://" in uri else None,
            "created_at": created,
        }


def _names(value: Any) -> list[str]:
    return [name for name in value[:_MAX_NODES] if isinstance(name, str)] if isinstance(value, list) else []
