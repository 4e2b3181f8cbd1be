"""The edges along which trouble spreads: what is wrong with `src` shows in `dst`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows

_OWNER = "SELECT object_id, owner_id, 'owner' FROM owners WHERE owner_id IS NOT NULL AND owner_kind <> 'Node'"

_NODE = "SELECT n.object_id, p.object_id, 'node' FROM pods p JOIN nodes n ON n.name = p.node"

# A pod is kept out by a node's own trouble where the scheduler names the taint that the trouble put on the node.
_TAINT = """
SELECT DISTINCT n.object_id, c.object_id, 'taint'
FROM scheduling_causes c JOIN pods p ON p.object_id = c.object_id CROSS JOIN nodes n
WHERE (c.taint LIKE 'node.kubernetes.io/%' AND list_contains(list_transform(n.taints, lambda t: split_part(t, '=', 1)), c.taint))
   OR (c.taint = 'node.kubernetes.io/not-ready' AND n.ready = 'False')
   OR (c.taint = 'node.kubernetes.io/unreachable' AND n.ready = 'Unknown')
   OR (c.cause = 'cordoned' AND n.cordoned)
"""

# A volume names its claim; the claim of an ephemeral volume is named after pod and volume.
_PVC = """
SELECT DISTINCT c.object_id, v.object_id, 'pvc'
FROM (
    SELECT object_id, namespace, unnest(json_extract_string(json, '$.spec.volumes[*].persistentVolumeClaim.claimName')) AS claim
    FROM objects WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, '"persistentVolumeClaim"')
    UNION ALL
    SELECT object_id, namespace, name || '-' || json_extract_string(volume, '$.name')
    FROM (
        SELECT object_id, namespace, name, unnest(json_extract(json, '$.spec.volumes[*]')) AS volume
        FROM objects WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, '"ephemeral"')
    )
    WHERE json_type(volume, '$.ephemeral') = 'OBJECT'
) v
JOIN objects c ON c.api_group = '' AND c.kind = 'PersistentVolumeClaim' AND c.namespace = v.namespace AND c.name = v.claim
"""

_PV = """
SELECT v.object_id, c.object_id, 'pv'
FROM objects c JOIN objects v ON v.api_group = '' AND v.kind = 'PersistentVolume'
    AND v.name = json_extract_string(c.json, '$.spec.volumeName')
WHERE c.api_group = '' AND c.kind = 'PersistentVolumeClaim'
"""

# What the API server calls through a Service: webhooks and aggregated APIs.
_BACKEND = """
SELECT DISTINCT s.object_id, b.object_id, 'backend'
FROM (
    SELECT object_id, unnest(json_extract(json, '$.webhooks[*].clientConfig.service')) AS service
    FROM objects WHERE kind IN ('ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration')
    UNION ALL
    SELECT object_id, json_extract(json, '$.spec.service')
    FROM objects WHERE api_group = 'apiregistration.k8s.io' AND kind = 'APIService'
) b
JOIN objects s ON s.api_group = '' AND s.kind = 'Service'
    AND s.namespace = json_extract_string(b.service, '$.namespace') AND s.name = json_extract_string(b.service, '$.name')
"""

# What is being deleted in a namespace that is being deleted keeps it there.
_CONTENT = """
SELECT o.object_id, n.object_id, 'content'
FROM objects n JOIN objects o ON o.namespace = n.name AND o.deleted_at IS NOT NULL
WHERE n.api_group = '' AND n.kind = 'Namespace' AND n.deleted_at IS NOT NULL
"""

# The namespace controller names the APIs that do not answer as GROUP/VERSION.
_DISCOVERY = """
SELECT a.object_id, c.object_id, 'discovery'
FROM conditions c JOIN objects a ON a.api_group = 'apiregistration.k8s.io' AND a.kind = 'APIService'
    AND contains(c.message, ' ' || array_to_string(json_extract_string(a.json, ['$.spec.group', '$.spec.version']), '/'))
WHERE c.api_group = '' AND c.kind = 'Namespace' AND c.type = 'NamespaceDeletionDiscoveryFailure' AND c.status = 'True'
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `relations` with owner, node, taint, pvc, pv, service, backend, content and discovery edges.

    Needs `owners`, `pods`, `nodes`, `conditions` and `scheduling_causes`.
    """
    for query in (_OWNER, _NODE, _TAINT, _PVC, _PV, _BACKEND, _CONTENT, _DISCOVERY):
        con.execute(f"INSERT INTO relations {query}")
    insert_rows(con, "relations", _selected(con))


def _selected(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Pod → Service edges: a Service selects the pods of its namespace that have all labels of its selector."""
    services = con.execute(
        "SELECT object_id, namespace, json -> '$.spec.selector' FROM objects "
        "WHERE api_group = '' AND kind = 'Service' AND json_type(json, '$.spec.selector') = 'OBJECT'"
    ).fetchall()
    if not services:
        return
    having: dict[tuple[str, str, str], set[int]] = {}
    pods = con.execute(
        "SELECT object_id, namespace, json -> '$.metadata.labels' FROM objects "
        "WHERE api_group = '' AND kind = 'Pod' AND json_type(json, '$.metadata.labels') = 'OBJECT'"
    ).fetchall()
    for object_id, namespace, labels in pods:
        for label, value in orjson.loads(labels).items():
            having.setdefault((namespace, label, str(value)), set()).add(object_id)
    for object_id, namespace, selector in services:
        wanted = sorted(
            (having.get((namespace, label, str(value)), set()) for label, value in orjson.loads(selector).items()), key=len
        )
        if wanted:
            for pod in sorted(wanted[0].intersection(*wanted[1:])):
                yield {"src": pod, "dst": object_id, "kind": "service"}
