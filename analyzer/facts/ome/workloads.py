"""The Deployments and LeaderWorkerSets of InferenceServices, and what scales them.

OME's controller copies the observed generation of the workload into the status of the service, though the two generations have
nothing to do with each other. A bundle that holds the workload proves whose number stands there.
"""

from __future__ import annotations

import duckdb

_WORKLOADS = """
CREATE OR REPLACE TEMP TABLE ome_found AS
SELECT o.object_id, o.input, s.object_id AS service_id, o.kind, o.namespace, o.name,
    coalesce(json_extract_string(o.json, '$.metadata.labels.component'), '') AS component,
    CASE o.kind WHEN 'Deployment' THEN try_cast(json_extract_string(o.json, '$.status.observedGeneration') AS BIGINT)
        ELSE try_cast(json_extract_string(o.json, '$.metadata.generation') AS BIGINT) END AS copied,
    CASE o.kind WHEN 'Deployment' THEN 'status.observedGeneration' ELSE 'metadata.generation' END AS copied_path
FROM objects o
LEFT JOIN owners w ON w.object_id = o.object_id AND w.owner_group = 'ome.io' AND w.owner_kind = 'InferenceService'
JOIN ome_services s ON s.namespace = o.namespace
    AND (s.object_id = w.owner_id OR s.name = json_extract_string(o.json, '$.metadata.labels."ome.io/inferenceservice"'))
WHERE (o.api_group, o.kind) IN (('apps', 'Deployment'), ('leaderworkerset.x-k8s.io', 'LeaderWorkerSet'))
"""

_SCALERS = """
INSERT INTO ome_workloads
WITH scalers AS (
    SELECT object_id, input, namespace, kind, name, json_extract_string(json, '$.spec.scaleTargetRef.name') AS target,
        coalesce(json_extract_string(json, '$.spec.scaleTargetRef.kind'), 'Deployment') AS target_kind
    FROM objects
    WHERE (api_group, kind) IN (('autoscaling', 'HorizontalPodAutoscaler'), ('keda.sh', 'ScaledObject'))
)
SELECT w.object_id, w.service_id, w.component, w.kind, w.name, w.copied, w.copied_path,
    min_by(c.object_id, (c.kind <> 'ScaledObject', c.name)), min_by(c.kind || ' ' || c.name, (c.kind <> 'ScaledObject', c.name))
FROM ome_found w
LEFT JOIN scalers c ON c.namespace = w.namespace AND c.target = w.name AND c.target_kind = w.kind
GROUP BY ALL
ORDER BY w.object_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `ome_workloads`. Needs `ome_services` and `owners`."""
    con.execute(_WORKLOADS)
    con.execute(_SCALERS)
    con.execute("DROP TABLE ome_found")
