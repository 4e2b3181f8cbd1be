"""Why pending pods wait for claims: what the scheduler says of them, and what the objects say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.dra import phrases
from analyzer.facts.rows import insert_rows

# A claim that is not allocated counts only where the scheduler speaks of claims: a pod that waits for CPU gets its devices later.
# What does not exist or was not made counts at once: the scheduler does not look at such a pod at all.
_WAITS = """
INSERT INTO claim_waits
WITH has_class AS (SELECT count(*) > 0 AS any_class FROM objects WHERE api_group = 'resource.k8s.io' AND kind = 'DeviceClass')
SELECT p.object_id, n.ref, coalesce(n.claim, n.template, n.ref), n.claim_id,
    CASE n.status WHEN 'found' THEN 'unallocated' ELSE n.status END, n.path
FROM pod_claims n JOIN pods p USING (object_id) CROSS JOIN has_class h
LEFT JOIN claims c ON c.object_id = n.claim_id
WHERE h.any_class AND p.state = 'Pending' AND n.how <> 'unknown'
    AND (n.status IN ('missing', 'not-created', 'not-owned')
        OR (n.status = 'found' AND c.state = 'Pending'
            AND EXISTS (SELECT 1 FROM scheduling_causes s WHERE s.object_id = p.object_id AND s.cause = 'dra')))
ORDER BY p.object_id, n.ref
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `claim_waits`; needs `pod_claims`, `claims`, `pods` and `scheduling_causes`."""
    con.execute(_WAITS)


def reasons(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `dra_reasons` from `scheduling_causes`."""
    rows = con.execute("SELECT object_id, idx, nodes, text FROM scheduling_causes WHERE cause = 'dra' ORDER BY object_id, idx")
    insert_rows(con, "dra_reasons", _rows(rows.fetchall()))


def _rows(causes: list[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for object_id, idx, nodes, words in causes:
        found = phrases.scheduler(words)
        yield {
            "object_id": object_id,
            "idx": idx,
            "reason": found[0].reason if found else "other",
            "words": found[0].words if found else "the reason is in the scheduler's words",
            "name": found[1] if found else None,
            "nodes": nodes,
            "text": words,
        }
