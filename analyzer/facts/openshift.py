"""How OpenShift's own objects hang together: operators, pools of nodes, certificate requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts import alerts, etcd, olm, selectors, updates
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, text

_RENDERED = re.compile(r"rendered-(.+)-[0-9a-f]{32}\Z")
_CONFIG = "machineconfiguration.openshift.io/currentConfig"

# A cluster that is no OpenShift is spared a dozen queries.
_THERE = """
SELECT 1 FROM objects
WHERE ends_with('.' || api_group, '.openshift.io') OR api_group = 'operators.coreos.com' OR kind = 'CertificateSigningRequest'
UNION ALL
SELECT 1 FROM documents
LIMIT 1
"""

# An operator's pods are those in the namespaces that it names among its related objects.
_COMPONENT = """
INSERT INTO relations
SELECT DISTINCT o.object_id, r.operator, 'component'
FROM (
    SELECT object_id AS operator, unnest(json_extract(json, '$.status.relatedObjects[*]')) AS item
    FROM objects WHERE api_group = 'config.openshift.io' AND kind = 'ClusterOperator'
) r
JOIN objects o ON o.namespace = json_extract_string(r.item, '$.name')
WHERE json_extract_string(r.item, '$.resource') = 'namespaces' AND o.namespace <> ''
  AND (o.api_group, o.kind) IN (('', 'Pod'), ('apps', 'Deployment'), ('apps', 'DaemonSet'), ('apps', 'StatefulSet'))
"""

# The Machine Config Operator is degraded where one of the pools that it must have is.
_POOL_OPERATOR = """
INSERT INTO relations
SELECT p.object_id, o.object_id, 'component'
FROM objects p, objects o
WHERE p.api_group = 'machineconfiguration.openshift.io' AND p.kind = 'MachineConfigPool'
  AND o.api_group = 'config.openshift.io' AND o.kind = 'ClusterOperator' AND o.name = 'machine-config'
"""

# Operators and pools name the nodes that trouble them, also where no pod was collected.
_NAMED = """
INSERT INTO relations
SELECT DISTINCT n.object_id, c.object_id, 'named'
FROM (
    SELECT object_id, unnest(regexp_extract_all(message, '[a-z0-9]([-a-z0-9.]*[a-z0-9])?')) AS word
    FROM conditions
    WHERE (kind, api_group) IN
        (('ClusterOperator', 'config.openshift.io'), ('MachineConfigPool', 'machineconfiguration.openshift.io'))
      AND message IS NOT NULL AND status = CASE type WHEN 'Available' THEN 'False' ELSE 'True' END
) c
JOIN nodes n ON n.name = c.word
"""

# The cluster version operator names the operators that it waits for.
_OPERATOR = """
INSERT INTO relations
SELECT DISTINCT o.object_id, c.object_id, 'operator'
FROM conditions c JOIN objects o ON o.api_group = 'config.openshift.io' AND o.kind = 'ClusterOperator'
WHERE c.api_group = 'config.openshift.io' AND c.kind = 'ClusterVersion' AND c.type IN ('Failing', 'Progressing')
  AND c.status = 'True' AND list_contains(regexp_extract_all(c.message, '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), o.name)
"""

# An operator that OLM cannot install for a reason of its own (requirements, permissions, an operator group) has deployments that
# cannot do well. Where OLM's reason is the state of a deployment, that one comes first.
_DEPLOYS = """
INSERT INTO relations
WITH deployments AS (
    SELECT c.object_id AS csv, d.object_id AS deployment
    FROM olm_installs i JOIN objects c USING (object_id)
    JOIN objects d ON d.api_group = 'apps' AND d.kind = 'Deployment' AND d.namespace = c.namespace
        AND list_contains(json_extract_string(c.json, '$.spec.install.spec.deployments[*].name'), d.name)
    WHERE i.kind = 'ClusterServiceVersion' AND NOT i.copied AND i.verdict = 'failed'
        AND coalesce(i.reason, '') NOT IN ('InstallCheckFailed', 'ComponentUnhealthy', 'ComponentFailedNoRetry', 'InstallWaiting')
)
SELECT csv, deployment, 'deploys' FROM deployments
UNION ALL
SELECT d.csv, t.object_id, 'deploys' FROM deployments d JOIN top_owners t ON t.owner_id = d.deployment
    JOIN pods p ON p.object_id = t.object_id
"""

# A kubelet asks for its certificates in its own name.
_CSR = """
INSERT INTO relations
SELECT r.object_id, n.object_id, 'csr'
FROM objects r JOIN nodes n ON json_extract_string(r.json, '$.spec.username') = 'system:node:' || n.name
WHERE r.api_group = 'certificates.k8s.io' AND r.kind = 'CertificateSigningRequest'
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `olm_installs`, `alerts`, `etcd_checks`, `cluster_updates` and `operator_troubles`.

    Adds the edges component, named, operator, csr, pool, csv, subscription, catalog and deploys.

    Needs `conditions` and `nodes`.
    """
    if not con.execute(_THERE).fetchall():
        return
    olm.derive(con)
    alerts.derive(con)
    etcd.derive(con)
    updates.derive(con)
    con.execute(_COMPONENT)
    con.execute(_POOL_OPERATOR)
    con.execute(_NAMED)
    con.execute(_OPERATOR)
    con.execute(_CSR)
    con.execute(_DEPLOYS)
    insert_rows(con, "relations", _pools(con))


def _pools(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Node → MachineConfigPool: by the rendered config that the node runs, else by the pool's node selector."""
    rows = con.execute(
        "SELECT object_id, name, json -> '$.spec.nodeSelector' FROM objects "
        "WHERE api_group = 'machineconfiguration.openshift.io' AND kind = 'MachineConfigPool'"
    ).fetchall()
    pools = {name: (object_id, mapping(orjson.loads(selector) if selector else None)) for object_id, name, selector in rows}
    if not pools:
        return
    for node, meta in con.execute(
        "SELECT object_id, json -> '$.metadata' FROM objects WHERE api_group = '' AND kind = 'Node'"
    ).fetchall():
        metadata = mapping(orjson.loads(meta) if meta else None)
        labels = mapping(metadata.get("labels"))
        rendered = _RENDERED.match(text(mapping(metadata.get("annotations")).get(_CONFIG)) or "")
        if rendered and rendered[1] in pools:
            yield {"src": node, "dst": pools[rendered[1]][0], "kind": "pool"}
            continue
        for object_id, selector in pools.values():
            if selectors.selects(selector, labels):
                yield {"src": node, "dst": object_id, "kind": "pool"}
