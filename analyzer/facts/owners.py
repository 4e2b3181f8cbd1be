"""Who owns what: metadata.ownerReferences, and for each owned object its workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows

_STEPS = 10
_STOP = frozenset({"Deployment", "DeploymentConfig", "StatefulSet", "DaemonSet"})
"""Where a chain ends: people know the workload, not the operator's object that owns it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner reference; `id` is None where the owner is not in the bundle."""

    id: int | None
    group: str
    kind: str
    namespace: str
    name: str


_OWNERS = """
INSERT INTO owners
WITH refs AS (
    SELECT object_id, namespace, unnest(from_json(json -> '$.metadata.ownerReferences',
        '[{"apiVersion":"VARCHAR","kind":"VARCHAR","name":"VARCHAR","uid":"VARCHAR","controller":"BOOLEAN"}]')) AS r
    FROM objects
    WHERE contains(json::VARCHAR, '"ownerReferences"') AND json_type(json, '$.metadata.ownerReferences') = 'ARRAY'
), named AS (
    SELECT object_id, namespace, r.kind AS kind, r.name AS name, coalesce(r.uid, '') AS uid,
        coalesce(r.controller, false) AS controller,
        CASE WHEN contains(r.apiVersion, '/') THEN split_part(r.apiVersion, '/', 1) ELSE '' END AS api_group
    FROM refs
    WHERE r.kind <> '' AND r.name <> ''
), by_uid AS (
    SELECT uid, min(object_id) AS object_id FROM objects WHERE uid <> '' GROUP BY uid
), by_name AS (
    SELECT api_group, kind, namespace, name, min(object_id) AS object_id FROM objects GROUP BY ALL
)
SELECT n.object_id, coalesce(u.object_id, s.object_id, c.object_id), n.api_group, n.kind, n.name, n.uid, n.controller
FROM named AS n
LEFT JOIN by_uid AS u ON u.uid = n.uid
LEFT JOIN by_name AS s
    ON n.uid = '' AND s.api_group = n.api_group AND s.kind = n.kind AND s.namespace = n.namespace AND s.name = n.name
LEFT JOIN by_name AS c
    ON n.uid = '' AND s.object_id IS NULL AND c.api_group = n.api_group AND c.kind = n.kind AND c.namespace = ''
    AND c.name = n.name
ORDER BY n.object_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `owners` and `top_owners` from `objects`.

    The chain of controllers ends at the first Deployment, DeploymentConfig, StatefulSet or DaemonSet, else at its last
    owner. A static pod's Node owns it only for garbage collection and counts as no owner of its chain.
    """
    con.execute(_OWNERS)
    managing: dict[int, Owner] = {}
    query = """
        SELECT w.object_id, w.owner_id, w.owner_group, w.owner_kind, coalesce(p.namespace, o.namespace), w.owner_name
        FROM owners AS w JOIN objects AS o ON o.object_id = w.object_id LEFT JOIN objects AS p ON p.object_id = w.owner_id
        WHERE w.controller AND w.owner_kind <> 'Node'
    """
    for object_id, owner_id, group, kind, namespace, name in con.execute(query).fetchall():
        managing.setdefault(object_id, Owner(owner_id, group, kind, namespace, name))
    insert_rows(con, "top_owners", (_row(object_id, _top(object_id, managing)) for object_id in sorted(managing)))


def _top(object_id: int, managing: dict[int, Owner]) -> Owner:
    """The owner where the chain ends; chains that turn in a circle end after some steps."""
    owner = managing[object_id]
    for _ in range(_STEPS):
        if owner.kind in _STOP or owner.id is None or owner.id not in managing:
            break
        owner = managing[owner.id]
    return owner


def _row(object_id: int, owner: Owner) -> dict[str, Any]:
    return {
        "object_id": object_id,
        "owner_id": owner.id,
        "owner_group": owner.group,
        "owner_kind": owner.kind,
        "owner_namespace": owner.namespace,
        "owner_name": owner.name,
    }
