"""InferencePools of the Gateway API Inference Extension: which gateways took them, and whether their endpoint picker is there.

Sources: the API types of kubernetes-sigs/gateway-api-inference-extension, v1 (`parents`, `endpointPickerRef`) and the older
v1alpha2 (`parent`, `extensionRef`), which starts with one parent that stands for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.told import Condition, conditions
from analyzer.facts.values import Stored, mapping, mappings, stored, text

GROUPS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")
MAX_PARENTS = 64
"""Parents of one pool or route that are read."""
_ORDER = ("Accepted", "ResolvedRefs")
_STATES = {"Accepted": "Not accepted", "ResolvedRefs": "References not resolved"}

_PICKERS = """
UPDATE inference_pools SET picker_id = s.object_id FROM objects s
WHERE s.api_group = '' AND s.kind = 'Service' AND s.namespace = inference_pools.namespace
  AND s.name = inference_pools.picker
"""

# A picker that is not there or not ready is one of which every request of the pool fails.
_EDGES = "INSERT INTO relations SELECT picker_id, object_id, 'picker' FROM inference_pools WHERE picker_id IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A gateway that refuses an object or cannot resolve what it names, the condition by which it says so, the field to quote."""

    parent: str
    said: Condition
    path: str


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


def read_parents(status: dict[str, Any], key: str) -> tuple[list[str], Refusal | None]:
    """The gateways in that list of a status, and what the first of them says that refuses the object, else cannot resolve it."""
    parents: list[str] = []
    found: list[Refusal] = []
    for index, one in enumerate(mappings(status.get(key))[:MAX_PARENTS]):
        ref = mapping(one.get("parentRef"))
        if text(ref.get("kind")) == "Status":
            continue
        parents.append(f"{text(ref.get('kind')) or 'Gateway'} {text(ref.get('name')) or '?'}")
        told = conditions(one)
        found += (
            Refusal(parents[-1], told[kind], told[kind].path.replace("status.", f"status.{key}[{index}].", 1))
            for kind in _ORDER
            if kind in told and told[kind].is_false
        )
    return parents, min(found, key=lambda one: _ORDER.index(one.said.type), default=None)


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    parents, worst = read_parents(status, "parents" if "parents" in status else "parent")
    picker = mapping(spec.get("endpointPickerRef") or spec.get("extensionRef"))
    said = worst.said if worst else None
    state = "Not used" if not parents else _STATES[said.type] if said else "Accepted"
    return {
        "object_id": item.object_id,
        "input": item.input,
        "namespace": item.namespace,
        "name": item.name,
        "state": "Deleting" if item.deleted_at else state,
        "parents": parents,
        "parent": worst.parent if worst else None,
        "reason": said.reason if said else None,
        "message": said.message if said else None,
        "message_path": worst.path if worst else None,
        "since": item.deleted_at or (said.since if said else item.created_at if not parents else None),
        "picker": text(picker.get("name")) if text(picker.get("kind")) in (None, "Service") else None,
        "picker_path": f"spec.{'endpointPickerRef' if 'endpointPickerRef' in spec else 'extensionRef'}.name",
    }
