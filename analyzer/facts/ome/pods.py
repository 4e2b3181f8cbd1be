"""The pods of InferenceServices, and whether they ask for the nodes of the class that OME must have picked for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.ome.classes import node_selector
from analyzer.ome.world import CLASS, World, items, mapping

_PODS = """
SELECT p.object_id, s.object_id AS service_id,
    coalesce(json_extract_string(o.json, '$.metadata.labels.component'), '') AS component,
    p.deleted_at IS NULL AND p.state NOT IN ('Succeeded', 'Failed', 'Evicted', 'Rejected') AS running,
    json_extract(o.json, '$.spec.nodeSelector')::VARCHAR,
    json_extract(o.json, '$.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution')::VARCHAR,
    coalesce(c.picked_class, CASE WHEN c.picked = 'none' THEN c.declared_class END,
        CASE WHEN c.intent = 'NotConfigured' THEN s.class_annotation END)
FROM pods p JOIN objects o USING (object_id)
JOIN ome_services s ON s.namespace = p.namespace
    AND s.name = json_extract_string(o.json, '$.metadata.labels."ome.io/inferenceservice"')
LEFT JOIN ome_components c ON c.object_id = s.object_id
    AND c.component = json_extract_string(o.json, '$.metadata.labels.component')
WHERE contains(o.json::VARCHAR, '"ome.io/inferenceservice"')
ORDER BY p.object_id
"""


def derive(con: duckdb.DuckDBPyConnection, world: World) -> None:
    """Fills `ome_pods`. Needs `ome_services`, `ome_components` and `pods`."""
    insert_rows(con, "ome_pods", _rows(con, world))


def _rows(con: duckdb.DuckDBPyConnection, world: World) -> Iterator[dict[str, Any]]:
    for object_id, service_id, component, running, selector, affinity, picked in con.execute(_PODS).fetchall():
        thing = world.get(CLASS, "", picked).thing if picked else None
        wanted = node_selector(thing) if thing else {}
        lacks = None
        if wanted:
            asked = _asked(mapping(_read(selector)), mapping(_read(affinity)))
            lacks = sorted(key for key, value in wanted.items() if asked.get(key) != value)
        yield {"object_id": object_id, "service_id": service_id, "component": component, "running": running, "lacks": lacks}


def _read(text: str | None) -> Any:
    return orjson.loads(text) if text else None


def _asked(selector: dict[str, Any] | Any, affinity: dict[str, Any] | Any) -> dict[str, Any]:
    """The labels that a pod asks of its node: by its selector, and by an affinity that leaves one value."""
    found: dict[str, Any] = {}
    terms = items(affinity.get("nodeSelectorTerms"))
    if len(terms) == 1:
        for one in items(terms[0].get("matchExpressions")):
            values = one.get("values")
            if one.get("operator") == "In" and isinstance(values, list) and len(values) == 1 and isinstance(one.get("key"), str):
                found[one["key"]] = values[0]
    return found | dict(selector)
