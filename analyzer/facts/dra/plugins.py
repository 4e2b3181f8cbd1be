"""Plugins of NVIDIA's DRA driver that run on a GPU node and publish nothing for it.

The pods of DaemonSet nvidia-dra-driver-kubelet-plugin have a container `gpus`, which writes the ResourceSlices of driver
gpu.nvidia.com for its node when it starts (NVIDIA's DRA driver). Without any slice its log tells why.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.whole import Whole

_SILENT = """
INSERT INTO dra_silent_plugins
WITH told AS MATERIALIZED (
    SELECT input, json_extract_string(json, '$.spec.nodeName') AS node, json_extract_string(json, '$.spec.pool.name') AS pool
    FROM objects WHERE api_group = 'resource.k8s.io' AND kind = 'ResourceSlice'
        AND json_extract_string(json, '$.spec.driver') = 'gpu.nvidia.com'
), published AS (
    SELECT input, node FROM told UNION SELECT input, pool FROM told
)
SELECT p.object_id, p.input, g.object_id, p.node, 'gpu.nvidia.com', p.namespace, p.name, c.container, c.log_id, c.started_at
FROM containers c JOIN pods p USING (object_id) JOIN gpu_nodes g ON g.input = p.input AND g.name = p.node
WHERE c.container = 'gpus' AND c.state = 'running' AND c.ready AND p.deleted_at IS NULL
    AND p.owner_kind = 'DaemonSet' AND contains(p.owner_name, 'dra-driver') AND (g.present = 'true' OR g.pci_label IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM published s WHERE s.input = p.input AND s.node = p.node)
ORDER BY p.node, p.object_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `dra_silent_plugins`; needs `pods`, `containers`, `gpu_nodes` and `coverage`."""
    if Whole.read(con).has("resource.k8s.io", "ResourceSlice"):
        con.execute(_SILENT)
