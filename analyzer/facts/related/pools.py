"""InferencePools of the Gateway API Inference Extension: which gateways took them, and whether their endpoint picker is there.

Sources: the API types of kubernetes-sigs/gateway-api-inference-extension, v1 (`parents`, `endpointPickerRef`) and the older
v1alpha2 (`parent`, `extensionRef`), which starts with one parent that stands for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.told import Condition, conditions
from analyzer.facts.values import Stored, mapping, mappings, stored, text

GROUPS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")
MAX_PARENTS = 64
"""Parents of one pool that are read."""
_ORDER = ("Accepted", "ResolvedRefs")
_STATES = {"Accepted": "Not accepted", "ResolvedRefs": "References not resolved"}

_PICKERS = """
UPDATE inference_pools SET picker_id = s.object_id FROM objects s
WHERE s.api_group = '' AND s.kind = 'Service' AND s.input = inference_pools.input AND s.namespace = inference_pools.namespace
  AND s.name = inference_pools.picker
"""

# A picker that is not there or not ready is one of which every request of the pool fails.
_EDGES = "INSERT INTO relations SELECT picker_id, object_id, 'picker' FROM inference_pools WHERE picker_id IS NOT NULL"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `inference_pools`, its rows of `states`, and `picker` edges from Services."""
    if not insert_rows(con, "inference_pools", _rows(con)):
        return
    con.execute(_PICKERS)
    con.execute(_EDGES)
    con.execute(
        "INSERT INTO states "
        "SELECT p.object_id, o.api_group, 'InferencePool', p.namespace, p.name, p.state, p.reason, p.message, p.since "
        "FROM inference_pools p JOIN objects o USING (object_id) ORDER BY p.object_id"
    )


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for item in stored(con, [(group, "InferencePool") for group in GROUPS]):
        yield _row(item)


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    key = "parents" if "parents" in status else "parent"
    parents: list[str] = []
    worst: tuple[int, str, Condition, str] | None = None
    for index, one in enumerate(mappings(status.get(key))[:MAX_PARENTS]):
        ref = mapping(one.get("parentRef"))
        if text(ref.get("kind")) == "Status":
            continue
        name = f"{text(ref.get('kind')) or 'Gateway'} {text(ref.get('name')) or '?'}"
        parents.append(name)
        for rank, kind in enumerate(_ORDER):
            said = conditions(one).get(kind)
            if said is not None and said.is_false and (worst is None or rank < worst[0]):
                worst = (rank, name, said, said.path.replace("status.", f"status.{key}[{index}].", 1))
    picker = mapping(spec.get("endpointPickerRef") or spec.get("extensionRef"))
    state = "Not used" if not parents else _STATES[worst[2].type] if worst else "Accepted"
    said = worst[2] if worst else None
    return {
        "object_id": item.object_id,
        "input": item.input,
        "namespace": item.namespace,
        "name": item.name,
        "state": "Deleting" if item.deleted_at else state,
        "parents": parents,
        "parent": worst[1] if worst else None,
        "reason": said.reason if said else None,
        "message": said.message if said else None,
        "message_path": worst[3] if worst else None,
        "since": item.deleted_at or (said.since if said else item.created_at if not parents else None),
        "picker": text(picker.get("name")) if text(picker.get("kind")) in (None, "Service") else None,
        "picker_path": f"spec.{'endpointPickerRef' if 'endpointPickerRef' in spec else 'extensionRef'}.name",
    }
