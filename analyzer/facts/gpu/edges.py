"""Edges between GPU nodes and pods: those that lost devices keep out, and those without which no devices are offered."""

from __future__ import annotations

import duckdb

# A pod that the scheduler finds no room for would fit if the node offered all the devices that it has.
_LOST = """
INSERT INTO relations
WITH offers AS (
    SELECT g.object_id, g.input, r.resource, r.allocatable - r.requested AS free,
        greatest(r.capacity, CASE WHEN r.resource = 'nvidia.com/gpu' AND g.allocatable = 0 THEN coalesce(g.count, 0) ELSE 0 END)
            - r.requested AS room
    FROM gpu_nodes g JOIN gpu_resources r USING (object_id)
    UNION ALL
    SELECT g.object_id, g.input, 'nvidia.com/gpu', 0, g.count
    FROM gpu_nodes g
    WHERE g.count > 0 AND g.allocatable = 0 AND g.present = 'true'
        AND NOT EXISTS (SELECT 1 FROM gpu_resources r WHERE r.object_id = g.object_id AND r.resource = 'nvidia.com/gpu')
)
SELECT DISTINCT o.object_id, p.object_id, 'gpu'
FROM offers o JOIN pods p ON p.input = o.input AND p.state = 'Pending'
JOIN gpu_requests q ON q.object_id = p.object_id AND q.resource = o.resource
JOIN scheduling_causes c ON c.object_id = p.object_id AND c.cause = 'insufficient' AND c.resource = o.resource
WHERE o.free < q.request AND q.request <= o.room
"""

# A pod waits for devices of the layout that the node was to get.
_LAYOUT = """
INSERT INTO relations
SELECT DISTINCT g.object_id, p.object_id, 'gpu'
FROM gpu_nodes g
JOIN pods p ON p.input = g.input AND p.state = 'Pending'
JOIN gpu_requests q ON q.object_id = p.object_id AND starts_with(q.resource, 'nvidia.com/mig-')
JOIN scheduling_causes c ON c.object_id = p.object_id AND c.cause = 'insufficient' AND c.resource = q.resource
LEFT JOIN mig_managers m ON m.object_id = g.object_id
LEFT JOIN gpu_resources r ON r.object_id = g.object_id AND r.resource = q.resource
WHERE g.mig_state IN ('failed', 'pending', 'rebooting') AND coalesce(r.allocatable - r.requested, 0) < q.request
    AND (ends_with(g.mig_config, replace(q.resource, 'nvidia.com/mig-', '-'))
        OR EXISTS (SELECT 1 FROM mig_configs f WHERE f.object_id = m.configmap_id AND f.config = g.mig_config
            AND 'nvidia.com/mig-' || replace(f.profile, '+', '.') = q.resource))
"""

# The kubelet of the node refused a pod because of its GPUs.
_REFUSED = """
INSERT INTO relations
SELECT DISTINCT g.object_id, p.object_id, 'refused'
FROM gpu_nodes g
JOIN pods p ON p.input = g.input AND p.node = g.name AND p.state = 'Rejected'
WHERE starts_with(p.reason, 'OutOfnvidia.com/')
    OR (p.reason = 'UnexpectedAdmissionError'
        AND regexp_matches(coalesce(p.message, ''), 'nvidia\\.com/|nvml|GetPreferredAllocation')
        AND EXISTS (SELECT 1 FROM gpu_requests q WHERE q.object_id = p.object_id))
"""

# Without driver, toolkit or device plugin on a node its GPUs are not offered.
_OPERAND = """
INSERT INTO relations
SELECT DISTINCT p.object_id, g.object_id, 'operand'
FROM gpu_nodes g
JOIN pods p ON p.input = g.input AND p.node = g.name AND p.owner_kind = 'DaemonSet'
WHERE regexp_matches(p.owner_name, '^nvidia-(.+-)?(driver|container-toolkit|device-plugin)(-|$)')
"""


QUERIES = (_LOST, _LAYOUT, _REFUSED, _OPERAND)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges `gpu`, `refused` (Node → Pod) and `operand` (Pod → Node) to `relations`.

    Needs the other tables of GPUs, `pods` and `scheduling_causes`.
    """
    if con.execute("SELECT 1 FROM gpu_nodes LIMIT 1").fetchone() is None:
        return
    for query in QUERIES:
        con.execute(query)
