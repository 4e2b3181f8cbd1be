"""Nodes under the NVIDIA Network Operator: which wait for its driver, where the driver's upgrade stands, what waits behind it.

Sources: the operator's label `network.nvidia.com/operator.mofed.wait`, the upgrade library's label of the `ofed` driver, and the
annotation that older releases wrote; the GPU driver's pods wait in the init container `mofed-validation`.
"""

from __future__ import annotations

import duckdb

_WAIT = '$.metadata.labels."network.nvidia.com/operator.mofed.wait"'
_UPGRADE = '$.metadata.labels."nvidia.com/ofed-driver-upgrade-state"'
_BEFORE = '$.metadata.annotations."nvidia.com/ofed-upgrade-state"'

_NODES = """
INSERT INTO nic_nodes
SELECT object_id, input, name, coalesce(json_extract_string(json, $wait) = 'true', false),
    left(nullif(coalesce(json_extract_string(json, $upgrade), json_extract_string(json, $before)), ''), 100)
FROM objects WHERE api_group = '' AND kind = 'Node' AND deleted_at IS NULL
    AND coalesce(json_extract(json, $wait), json_extract(json, $upgrade), json_extract(json, $before)) IS NOT NULL
ORDER BY object_id
"""

_EDGES = """
INSERT INTO relations
WITH policies AS (
    SELECT object_id FROM objects
    WHERE api_group = 'mellanox.com' AND kind IN ('NicClusterPolicy', 'NicNodePolicy') AND deleted_at IS NULL
)
SELECT o.object_id, g.object_id, 'nic'
FROM policies o JOIN nic_nodes n ON n.waits
JOIN gpu_operator_pods g ON g.node = n.name AND g.layer = 'network-operator'
UNION ALL
SELECT o.object_id, n.object_id, 'nic' FROM policies o JOIN nic_nodes n ON n.waits
UNION ALL
SELECT n.object_id, o.object_id, 'nic-upgrade'
FROM policies o JOIN nic_nodes n ON contains(n.upgrade, 'failed')
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `nic_nodes`, edges from the operator's policies to nodes and pods that wait for its driver, and from failed nodes.

    Needs `gpu_operator_pods`.
    """
    con.execute(_NODES, {"wait": _WAIT, "upgrade": _UPGRADE, "before": _BEFORE})
    con.execute(_EDGES)
