"""The GPU Operator: its objects, its parts, and the edges from the first broken part to what waits for it."""

from __future__ import annotations

import duckdb

from analyzer.facts.gpu import policies, rollouts

# What is broken on a node shows in the pods that wait for it there: from the pod, its DaemonSet and its NVIDIADriver.
_WAITS = """
INSERT INTO relations
SELECT DISTINCT src, dst, 'gpu-chain' FROM (
    SELECT w.cause_id AS src, w.object_id AS dst FROM gpu_operator_pods w WHERE w.cause_id IS NOT NULL
    UNION ALL
    SELECT c.daemonset_id, w.object_id FROM gpu_operator_pods w JOIN gpu_operator_pods c ON c.object_id = w.cause_id
    UNION ALL
    SELECT n.dst, w.object_id FROM gpu_operator_pods w JOIN gpu_operator_pods c ON c.object_id = w.cause_id
        JOIN relations n ON n.src = c.daemonset_id AND n.kind = 'gpu-part'
        JOIN gpu_policies d ON d.object_id = n.dst AND d.kind = 'NVIDIADriver'
) WHERE src IS NOT NULL AND src <> dst
ORDER BY src, dst
"""

# Parts that are not rolled out, and wait for no other, keep the policy from being ready; so do NVIDIADrivers where it leaves
# the driver to them. What an NVIDIADriver or a GPUCluster made belongs to it, by its owner or, of the only NVIDIADriver, by the
# operator's label; a GPUCluster that names the driver waits for it.
_PARTS = """
INSERT INTO relations
SELECT DISTINCT src, dst, 'gpu-part' FROM (
    SELECT daemonset_id AS src, policy_id AS dst FROM gpu_components WHERE state = 'Not rolled out' AND NOT waits
    UNION ALL
    SELECT d.object_id, p.object_id FROM gpu_policies d JOIN gpu_policies p ON p.kind = 'ClusterPolicy' AND p.active
    WHERE d.kind = 'NVIDIADriver' AND d.active AND p.uses_drivers
    UNION ALL
    SELECT w.object_id, w.owner_id FROM owners w
    WHERE w.owner_kind IN ('NVIDIADriver', 'GPUCluster') AND w.owner_id IS NOT NULL AND EXISTS (SELECT 1 FROM gpu_policies)
    UNION ALL
    SELECT s.object_id, d.object_id FROM objects s CROSS JOIN gpu_policies d JOIN gpu_policies p ON p.active AND p.uses_drivers
    WHERE s.api_group = 'apps' AND s.kind = 'DaemonSet' AND d.kind = 'NVIDIADriver' AND d.active
        AND json_extract_string(s.json, '$.metadata.labels."app.kubernetes.io/component"') = 'nvidia-driver'
        AND NOT EXISTS (SELECT 1 FROM owners w WHERE w.object_id = s.object_id AND w.owner_kind = 'NVIDIADriver')
        AND (SELECT count(*) FROM gpu_policies WHERE kind = 'NVIDIADriver' AND active) = 1
    UNION ALL
    SELECT d.object_id, p.object_id FROM gpu_policies d JOIN gpu_policies p ON p.kind = 'GPUCluster' AND p.active
    WHERE d.kind = 'NVIDIADriver' AND d.active AND list_contains(p.not_ready, 'state-driver')
) WHERE src IS NOT NULL
ORDER BY src, dst
"""

# Without driver, toolkit or device plugin on a node its GPUs are not offered.
_OPERAND = """
INSERT INTO relations
SELECT DISTINCT src, dst, 'operand' FROM (
    SELECT p.daemonset_id AS src, g.object_id AS dst FROM gpu_operator_pods p JOIN gpu_nodes g ON g.name = p.node
    WHERE NOT p.ready AND p.cause_id IS NULL
        AND list_contains(['driver', 'container-toolkit', 'operator-validator', 'device-plugin'], p.component)
    UNION ALL
    SELECT n.dst, g.object_id FROM gpu_operator_pods p JOIN gpu_nodes g ON g.name = p.node
        JOIN relations n ON n.src = p.daemonset_id AND n.kind = 'gpu-part'
        JOIN gpu_policies d ON d.object_id = n.dst AND d.kind = 'NVIDIADriver'
    WHERE NOT p.ready AND p.cause_id IS NULL
    UNION ALL
    SELECT c.daemonset_id, g.object_id FROM gpu_components c
        JOIN gpu_nodes g ON list_contains(list_concat(c.unlabelled, c.left_out), g.name)
    WHERE list_contains(['driver', 'container-toolkit', 'device-plugin'], c.name)
    UNION ALL
    SELECT c.policy_id, g.object_id FROM gpu_components c CROSS JOIN gpu_nodes g
    WHERE list_contains(['driver', 'container-toolkit', 'device-plugin'], c.name) AND c.trouble IN ('missing', 'no-driver')
) WHERE src IS NOT NULL
ORDER BY src, dst
"""

# A change of the MIG layout deletes these pods, and goes on when they have ended.
_MIG_CLIENTS = """
INSERT INTO relations
SELECT DISTINCT g.object_id, p.object_id, 'mig-client'
FROM gpu_nodes g JOIN pods p ON p.input = g.input AND p.node = g.name AND p.deleted_at IS NOT NULL
JOIN gpu_components c ON c.daemonset_id = p.owner_id AND list_contains(g.mig_paused, c.name)
WHERE g.mig_state IN ('pending', 'rebooting')
ORDER BY 1, 2
"""

# What keeps the MIG manager from a node: its pod there, else its DaemonSet, else the policy that has none.
_MIG_MANAGER = """
INSERT INTO relations
SELECT DISTINCT src, dst, 'mig-manager' FROM (
    SELECT m.pod_id AS src, m.object_id AS dst FROM mig_managers m JOIN pods p ON p.object_id = m.pod_id WHERE NOT p.ready
    UNION ALL
    SELECT CASE WHEN c.trouble = 'missing' THEN c.policy_id ELSE c.daemonset_id END, m.object_id
    FROM gpu_components c CROSS JOIN mig_managers m JOIN gpu_nodes g USING (object_id) LEFT JOIN pods p ON p.object_id = m.pod_id
    WHERE c.name = 'mig-manager' AND NOT coalesce(p.ready, false)
        AND (c.trouble = 'missing' OR list_contains(list_concat(c.nodes, c.unlabelled, c.left_out), g.name))
) WHERE src IS NOT NULL
ORDER BY src, dst
"""

# The upgrade controller takes a driver for good when the validator is ready on the node.
_VALIDATION = """
INSERT INTO relations
SELECT DISTINCT p.object_id, g.object_id, 'validation'
FROM gpu_operator_pods p JOIN gpu_nodes g ON g.name = p.node
WHERE NOT p.ready AND p.cause_id IS NULL AND p.component = 'operator-validator'
    AND g.upgrade_state IN ('validation-required', 'upgrade-failed')
ORDER BY 1, 2
"""

# Device plugin and GPU feature discovery look up the node's label in the ConfigMap before anything of them starts.
_PLUGIN_CONFIG = """
INSERT INTO relations
SELECT DISTINCT g.object_id, p.object_id, 'plugin-config'
FROM gpu_nodes g JOIN gpu_operator_pods p ON p.node = g.name
WHERE g.plugin_config IS NOT NULL AND NOT p.ready AND p.container = 'config-manager-init'
ORDER BY 1, 2
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_policies`, `gpu_components`, `gpu_operator_pods`, their rows of `states`, and the edges of `relations`.

    Edges: `gpu-chain` (what is broken → pod that waits for it), `gpu-part` (DaemonSet or NVIDIADriver → ClusterPolicy,
    NVIDIADriver or GPUCluster), `operand` (→ Node), `validation` (pod of the validator → Node whose driver is upgraded),
    `plugin-config` (Node → pod that reads its plugin configuration), `mig-client` (Node → pod that a change of its MIG layout
    waits for) and `mig-manager` (→ Node whose layout it should change).

    Needs `coverage` and what `analyzer.facts.gpu.derive` needs.
    """
    operator = policies.read(con)
    if not (operator.policies or operator.drivers or operator.clusters):
        return
    policies.write(con, operator)
    rollouts.derive(con, operator)
    for query in (_PARTS, _WAITS, _OPERAND, _VALIDATION, _PLUGIN_CONFIG, _MIG_CLIENTS, _MIG_MANAGER):
        con.execute(query)
