"""When nodes were restarted, as far as the bundle tells.

The kubelet writes an Event `Rebooted` when it finds another boot id than before. Events live an hour; longer than that the node's
condition Ready stands, which turned True when the kubelet came back. Alone it tells no restart of the machine: it counts where
containers of several pods of the node were lost just then (exit code 255 or reason Unknown, as container runtimes say of what
they find dead when they start). A restart may be too quick for the condition to turn: then containers of many of its pods that
were lost at one moment tell of it, or of a restart of the container runtime.
"""

from __future__ import annotations

from datetime import timedelta

import duckdb

BEFORE = timedelta(minutes=15)
"""How long before a node is back its containers may have ended."""
AFTER = timedelta(minutes=5)
"""How long after it the ends may be dated, for the runtime notices them when it starts."""
MANY = 2
"""Pods that must have lost a container for the condition alone to count."""
TOGETHER = 3
"""Pods that must have lost a container at one moment for that alone to count."""
MOMENT = timedelta(seconds=5)
"""Ends of containers that lie no farther apart are of one moment: a runtime that starts finds them all at once."""

_RESTARTS = """
INSERT INTO node_restarts
WITH told AS (
    SELECT n.object_id, n.input, n.name, coalesce(e.last_at, e.first_at) AS back_at, true AS told,
        e.object_id AS source_id, 'message' AS path, e.message AS words
    FROM events e JOIN nodes n ON n.object_id = e.about_id
    WHERE e.reason = 'Rebooted' AND coalesce(e.last_at, e.first_at) IS NOT NULL
), lost AS (
    SELECT p.node, p.object_id, k.ended_at, k.end_path FROM pods p JOIN containers k USING (object_id)
    WHERE k.end_code = 255 OR k.end_reason IN ('Unknown', 'ContainerStatusUnknown')
), back AS (
    SELECT n.object_id, n.input, n.name, c.since AS back_at, false AS told, n.object_id AS source_id,
        'status.conditions[' || c.idx || '].lastTransitionTime' AS path, strftime(c.since, '%Y-%m-%dT%H:%M:%SZ') AS words
    FROM nodes n JOIN objects o USING (object_id)
    JOIN conditions c ON c.object_id = n.object_id AND c.type = 'Ready' AND c.status = 'True'
    JOIN lost l ON l.node = n.name AND l.ended_at BETWEEN c.since - $before AND c.since + $after
    -- A node that joins the cluster becomes ready too.
    WHERE c.since > o.created_at + $before
        AND NOT EXISTS (
            SELECT 1 FROM told t WHERE t.object_id = n.object_id AND t.back_at BETWEEN c.since - $before AND c.since + $before)
    GROUP BY ALL HAVING count(DISTINCT l.object_id) >= $many
), known AS (
    SELECT object_id, input, name, back_at, back_at - $before AS from_at, back_at + $after AS to_at, told, source_id, path, words
    FROM (SELECT * FROM told UNION ALL SELECT * FROM back)
), apart AS (
    SELECT *, ended_at - lag(ended_at) OVER (PARTITION BY node ORDER BY ended_at) <= $moment AS same
    FROM lost WHERE ended_at IS NOT NULL AND end_path IS NOT NULL
), numbered AS (
    SELECT *, count(*) FILTER (same IS NOT TRUE) OVER (PARTITION BY node ORDER BY ended_at) AS moment FROM apart
), together AS (
    SELECT n.object_id, n.input, n.name, max(m.ended_at) AS back_at, min(m.ended_at) AS from_at, max(m.ended_at) AS to_at,
        arg_max(m.object_id, (m.ended_at, m.object_id)) AS source_id,
        arg_max(m.end_path, (m.ended_at, m.object_id)) || '.finishedAt' AS path
    FROM numbered m JOIN nodes n ON n.name = m.node
    GROUP BY n.object_id, n.input, n.name, m.moment HAVING count(DISTINCT m.object_id) >= $together
)
SELECT * FROM known UNION ALL
SELECT object_id, input, name, back_at, from_at, to_at, NULL, source_id, path, strftime(back_at, '%Y-%m-%dT%H:%M:%SZ')
FROM together t
WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.object_id = t.object_id AND t.back_at BETWEEN k.from_at AND k.to_at)
ORDER BY input, name, back_at
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `node_restarts`; needs `nodes`, `conditions`, `events`, `pods` and `containers`."""
    con.execute(_RESTARTS, {"before": BEFORE, "after": AFTER, "many": MANY, "together": TOGETHER, "moment": MOMENT})
