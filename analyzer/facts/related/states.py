"""Named states of related kinds, by a phase or by the first of their conditions that holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import duckdb

from analyzer.facts.data import beside

_PHASE = """
INSERT INTO states
SELECT object_id, api_group, kind, namespace, name,
    CASE WHEN deleted_at IS NOT NULL THEN 'Deleting' ELSE left(json_extract_string(json, $path), 100) END,
    NULL, NULL, CASE WHEN deleted_at IS NOT NULL THEN deleted_at END
FROM objects
WHERE api_group = $group AND list_contains($kinds, kind)
    AND (deleted_at IS NOT NULL OR nullif(json_extract_string(json, $path), '') IS NOT NULL)
ORDER BY object_id
"""

_ORDER = """
INSERT INTO states
SELECT o.object_id, o.api_group, o.kind, o.namespace, o.name,
    coalesce(CASE WHEN o.deleted_at IS NOT NULL THEN 'Deleting' END, c.state),
    CASE WHEN o.deleted_at IS NULL THEN c.reason END, CASE WHEN o.deleted_at IS NULL THEN nullif(trim(c.message), '') END,
    coalesce(o.deleted_at, c.since)
FROM objects o
LEFT JOIN (
    SELECT object_id, reason, message, since, $names[list_position($order, type || '=' || status)] AS state
    FROM conditions WHERE api_group = $group AND list_contains($order, type || '=' || status)
    QUALIFY row_number() OVER (PARTITION BY object_id ORDER BY list_position($order, type || '=' || status), idx) = 1
) c USING (object_id)
WHERE o.api_group = $group AND list_contains($kinds, o.kind) AND (o.deleted_at IS NOT NULL OR c.object_id IS NOT NULL)
ORDER BY o.object_id
"""

# A gang waits as a whole; its pods name it.
_GANG = """
INSERT INTO relations
SELECT g.object_id, p.object_id, 'gang'
FROM objects g JOIN (
    SELECT object_id, input, namespace,
        json_extract_string(json, '$.metadata.annotations."scheduling.k8s.io/group-name"') AS gang
    FROM objects WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, '"scheduling.k8s.io/group-name"')
) p ON p.input = g.input AND p.namespace = g.namespace AND p.gang = g.name
WHERE g.api_group = 'scheduling.volcano.sh' AND g.kind = 'PodGroup'
"""

# The same of KAI Scheduler's PodGroups, and of the pod that a BindRequest is about.
_KAI_GANG = """
INSERT INTO relations
SELECT g.object_id, p.object_id, 'gang'
FROM objects g JOIN (
    SELECT object_id, input, namespace, json_extract_string(json, '$.metadata.annotations."pod-group-name"') AS gang
    FROM objects WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, '"pod-group-name"')
) p ON p.input = g.input AND p.namespace = g.namespace AND p.gang = g.name
WHERE g.api_group = 'scheduling.run.ai' AND g.kind = 'PodGroup'
UNION ALL
SELECT b.object_id, p.object_id, 'gang'
FROM objects b JOIN pods p
    ON p.input = b.input AND p.namespace = b.namespace AND p.name = json_extract_string(b.json, '$.spec.podName')
WHERE b.api_group = 'scheduling.run.ai' AND b.kind = 'BindRequest'
"""


@dataclass(frozen=True, slots=True)
class _Kinds:
    """One entry of states.yaml."""

    group: str
    kinds: list[str]
    phase: str = ""
    order: list[dict[str, str]] = field(default_factory=list)


@lru_cache(maxsize=1)
def _known() -> list[_Kinds]:
    return beside(__file__, "states.yaml", list[_Kinds])


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds rows to `states`, and `gang` edges to `relations`. Needs `conditions`, `pods`."""
    here = {row[0] for row in con.execute("SELECT DISTINCT api_group FROM objects").fetchall()}
    for one in _known():
        if one.group not in here:
            continue
        if one.phase:
            con.execute(_PHASE, {"path": f"$.{one.phase}", "group": one.group, "kinds": one.kinds})
        else:
            pairs = [pair for entry in one.order for pair in entry.items()]
            order, names = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            con.execute(_ORDER, {"group": one.group, "kinds": one.kinds, "order": order, "names": names})
    if "scheduling.volcano.sh" in here:
        con.execute(_GANG)
    if "scheduling.run.ai" in here:
        con.execute(_KAI_GANG)
