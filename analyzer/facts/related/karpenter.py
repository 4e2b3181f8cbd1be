"""What Karpenter's objects have to do with one another: pools, claims, nodes, and the pods that a claim was launched for.

Sources: Karpenter's label `karpenter.sh/nodepool`, `status.nodeName` of a NodeClaim, and the event Nominated of its provisioner.
"""

from __future__ import annotations

import duckdb

GROUP = "karpenter.sh"
_EDGES = """
INSERT INTO relations
WITH claims AS (
    SELECT object_id, name, json_extract_string(json, '$.metadata.labels."karpenter.sh/nodepool"') AS pool,
        nullif(json_extract_string(json, '$.status.nodeName'), '') AS node
    FROM objects WHERE api_group = 'karpenter.sh' AND kind = 'NodeClaim'
)
SELECT p.object_id, c.object_id, 'node-pool'
FROM claims c JOIN objects p ON p.api_group = 'karpenter.sh' AND p.kind = 'NodePool' AND p.name = c.pool
UNION ALL
SELECT n.object_id, c.object_id, 'node-claim' FROM claims c JOIN nodes n ON n.name = c.node
UNION ALL
SELECT DISTINCT c.object_id, e.about_id, 'nominated'
FROM claims c JOIN (
    SELECT about_id, regexp_extract(message, 'nodeclaim/([a-z0-9][a-z0-9.-]*[a-z0-9])', 1) AS claim
    FROM events WHERE reason = 'Nominated' AND about_kind = 'Pod' AND about_id IS NOT NULL AND contains(message, 'nodeclaim/')
) e ON e.claim = c.name
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds edges to `relations`. Needs `nodes`, `events`."""
    con.execute(_EDGES)
