"""What OME tells of its objects beside condition Ready: events, conditions, those of a component's life cycle, the last failure.

Reasons are those of OME's controllers, of v0.1 to v1.3: older ones tell by events alone, newer ones by conditions too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, moment, stored, text
from analyzer.ome.world import COMPONENTS, GROUP, SERVICE, World

_REPLICA = "InferenceReplica"
_MAX_WORDS = 4_000
_MAX_ROWS = 50
"""Rows of one object and list; a status has a few."""

_EVENTS = f"""
INSERT INTO ome_told
SELECT e.about_id, o.kind, o.namespace, o.name, NULL, '', 'event', e.type, NULL, e.reason, nullif(trim(e.message), ''),
    e.object_id, CASE WHEN trim(e.message) = '' THEN 'reason' ELSE 'message' END, e.first_at, e.last_at, false
FROM events e JOIN objects o ON o.object_id = e.about_id
WHERE o.api_group = '{GROUP}' AND e.reason <> ''
QUALIFY row_number() OVER (PARTITION BY e.about_id, e.reason ORDER BY e.last_at DESC NULLS LAST, e.object_id) = 1
"""  # noqa: S608 - a constant

_CONDITIONS = f"""
INSERT INTO ome_told
SELECT object_id, kind, namespace, name, NULL, '', 'condition', type, status, coalesce(reason, ''), nullif(trim(message), ''),
    object_id,
    'status.conditions[' || idx || '].'
        || CASE WHEN trim(message) <> '' THEN 'message' WHEN reason IS NOT NULL THEN 'reason' ELSE 'status' END,
    since, since, false
FROM conditions WHERE api_group = '{GROUP}'
"""  # noqa: S608 - a constant

# A replica stands for one component of the service, and is named after both.
_OWNERS = f"""
UPDATE ome_told SET service_id = f.service_id, component = coalesce(nullif(ome_told.component, ''), f.component) FROM (
    SELECT DISTINCT t.object_id, s.object_id AS service_id,
        CASE WHEN t.kind = '{SERVICE}' THEN '' ELSE regexp_extract(t.name, '-(engine|decoder|router)$', 1) END AS component
    FROM ome_told t JOIN objects o USING (object_id) JOIN ome_services s ON s.namespace = t.namespace
        AND s.name = CASE WHEN t.kind = '{SERVICE}' THEN t.name ELSE regexp_replace(t.name, '-(engine|decoder|router)$', '') END
    WHERE t.kind IN ('{SERVICE}', '{_REPLICA}')
) AS f WHERE f.object_id = ome_told.object_id
"""  # noqa: S608 - constants

# What an event said before its service turned ready, or before its runtime was resolved, is over.
_PAST = """
UPDATE ome_told SET past = true FROM ome_services AS s
LEFT JOIN conditions AS r ON r.object_id = s.object_id AND r.type = 'RuntimeReady' AND r.status = 'True'
WHERE s.object_id = ome_told.service_id AND ome_told.source = 'event' AND (
    (s.state = 'Ready' AND coalesce(ome_told.last_at <= s.since, false))
    OR (ome_told.reason IN ('RuntimeNotFound', 'RuntimeSelectionError') AND coalesce(ome_told.last_at <= r.since, false)))
"""


def derive(con: duckdb.DuckDBPyConnection, world: World) -> None:
    """Fills `ome_told`. Needs `ome_services`, `events` and `conditions`."""
    con.execute(_EVENTS)
    con.execute(_CONDITIONS)
    insert_rows(con, "ome_told", _of_services(world))
    insert_rows(con, "ome_told", _of_replicas(con))
    con.execute(_OWNERS)
    con.execute(_PAST)


def _of_services(world: World) -> Iterator[dict[str, Any]]:
    for thing in world.everywhere(SERVICE)[0]:
        base = {"object_id": thing.object_id, "kind": thing.kind, "namespace": thing.namespace, "name": thing.name}
        for component in COMPONENTS:
            told = mapping(mapping(mapping(thing.status.get("components")).get(component)).get("lifecycle")).get("conditions")
            place = f"status.components.{component}.lifecycle.conditions"
            for idx, one in enumerate(mappings(told)[:_MAX_ROWS]):
                yield base | _lifecycle(one, component, f"{place}[{idx}]", thing.object_id)
        failure = mapping(mapping(thing.status.get("modelStatus")).get("lastFailureInfo"))
        if text(failure.get("reason")):
            words = text(failure.get("message"))
            yield base | {
                "component": "",
                "source": "failure",
                "type": "lastFailureInfo",
                "reason": failure["reason"][:200],
                "message": words[:_MAX_WORDS] if words else None,
                "source_id": thing.object_id,
                "path": f"status.modelStatus.lastFailureInfo.{'message' if words else 'reason'}",
                "since": moment(failure.get("time")),
                "last_at": moment(failure.get("time")),
                "past": False,
            }


def _lifecycle(one: dict[str, Any], component: str, place: str, object_id: int) -> dict[str, Any]:
    words = text(one.get("message"))
    since = moment(one.get("lastTransitionTime"))
    return {
        "component": component,
        "source": "lifecycle",
        "type": (text(one.get("type")) or "")[:200],
        "status": text(one.get("status")),
        "reason": (text(one.get("reason")) or "")[:200],
        "message": words[:_MAX_WORDS] if words else None,
        "source_id": object_id,
        "path": f"{place}.{'message' if words else 'reason' if one.get('reason') else 'status'}",
        "since": since,
        "last_at": since,
        "past": False,
    }


def _of_replicas(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Blocks of tries that an InferenceReplica holds until somebody releases them."""
    for one in stored(con, [(GROUP, _REPLICA)]):
        blocks = mappings(mapping(one.value.get("status")).get("retryBlocks"))[:_MAX_ROWS]
        for idx, block in enumerate(blocks):
            words = text(block.get("message"))
            for field in ("state", "phase"):
                if block.get(field) == "Held":
                    yield {
                        "object_id": one.object_id,
                        "kind": one.kind,
                        "namespace": one.namespace,
                        "name": one.name,
                        "component": "",
                        "source": "retry-block",
                        "type": "retryBlocks",
                        "status": "Held",
                        "reason": "Held",
                        "message": words[:_MAX_WORDS] if words else None,
                        "source_id": one.object_id,
                        "path": f"status.retryBlocks[{idx}].{'message' if words else field}",
                        "past": False,
                    }
