"""Named states of related kinds, by the first of their conditions that holds or by a phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import duckdb

from analyzer.facts.data import beside

_STATES = """
INSERT INTO states
SELECT * FROM (
    SELECT o.object_id, o.api_group, o.kind, o.namespace, o.name,
        CASE WHEN o.deleted_at IS NOT NULL THEN 'Deleting' WHEN c.state IS NOT NULL THEN c.state
            ELSE coalesce(left(nullif(json_extract_string(o.json, $path), ''), 100), nullif($otherwise, '')) END AS state,
        CASE WHEN o.deleted_at IS NULL THEN c.reason END, CASE WHEN o.deleted_at IS NULL THEN nullif(trim(c.message), '') END,
        coalesce(o.deleted_at, c.since)
    FROM objects o
    LEFT JOIN (
        SELECT object_id, reason, message, since, $names[list_position($order, type || '=' || status)] AS state
        FROM conditions WHERE api_group = $group AND list_contains($order, type || '=' || status)
        QUALIFY row_number() OVER (PARTITION BY object_id ORDER BY list_position($order, type || '=' || status), idx) = 1
    ) c USING (object_id)
    WHERE o.api_group = $group AND list_contains($kinds, o.kind)
)
WHERE state IS NOT NULL
ORDER BY object_id
"""

# A TrainJob says nothing while it runs: then its JobSet does.
_TRAIN = """
UPDATE states SET state = coalesce(j.state, 'Pending'), since = j.since
FROM objects o LEFT JOIN jobsets j ON j.namespace = o.namespace AND j.name = o.name
WHERE states.object_id = o.object_id AND states.api_group = 'trainer.kubeflow.org' AND states.kind = 'TrainJob'
    AND states.state = 'By its JobSet'
"""

# What a BindRequest is about.
_BOUND = """
INSERT INTO relations
SELECT b.object_id, p.object_id, 'gang'
FROM objects b JOIN pods p
    ON p.namespace = b.namespace AND p.name = json_extract_string(b.json, '$.spec.podName')
WHERE b.api_group = 'scheduling.run.ai' AND b.kind = 'BindRequest'
"""


@dataclass(frozen=True, slots=True)
class _Kinds:
    """One entry of states.yaml."""

    group: str
    kinds: list[str]
    phase: str = "-"
    order: list[dict[str, str]] = field(default_factory=list)
    otherwise: str = ""


@lru_cache(maxsize=1)
def _known() -> list[_Kinds]:
    return beside(__file__, "states.yaml", list[_Kinds])


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds rows to `states`, and edges from BindRequests to their pods. Needs `conditions`, `pods`, `jobsets`."""
    here = {row[0] for row in con.execute("SELECT DISTINCT api_group FROM objects").fetchall()}
    for one in _known():
        if one.group not in here:
            continue
        pairs = [pair for entry in one.order for pair in entry.items()]
        values = {"path": f"$.{one.phase}", "group": one.group, "kinds": one.kinds, "otherwise": one.otherwise}
        con.execute(_STATES, values | {"order": [pair[0] for pair in pairs], "names": [pair[1] for pair in pairs]})
    if "trainer.kubeflow.org" in here:
        con.execute(_TRAIN)
    if "scheduling.run.ai" in here:
        con.execute(_BOUND)
