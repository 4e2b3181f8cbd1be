"""The pods of KServe's services, and which of them fail.

KServe labels pods with the service and the component; pods of an LLMInferenceService carry Kubernetes' recommended labels. Where
a label is not there (an old KServe, a changed template), the chain of owners says it too.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.kserve.base import GROUP, SERVICE_LABEL

_PODS = f"""
INSERT INTO kserve_pods
WITH labelled AS (
    SELECT p.object_id, p.namespace, json_extract_string(o.json, '$.metadata.labels."{SERVICE_LABEL}"') AS service,
        json_extract_string(o.json, '$.metadata.labels."serving.kserve.io/inferencegraph"') AS graph,
        CASE WHEN json_extract_string(o.json, '$.metadata.labels."app.kubernetes.io/part-of"') = 'llminferenceservice'
          THEN json_extract_string(o.json, '$.metadata.labels."app.kubernetes.io/name"') END AS llm,
        coalesce(json_extract_string(o.json, '$.metadata.labels.component'),
          json_extract_string(o.json, '$.metadata.labels."app.kubernetes.io/component"'), '') AS component
    FROM pods p JOIN objects o USING (object_id)
), named AS (
    SELECT l.object_id, s.object_id AS service_id, l.component, 0 AS rank
    FROM (
        SELECT *, 'InferenceService' AS kind, service AS of_name FROM labelled WHERE service IS NOT NULL
        UNION ALL SELECT *, 'InferenceGraph', graph FROM labelled WHERE graph IS NOT NULL
        UNION ALL SELECT *, 'LLMInferenceService', llm FROM labelled WHERE llm IS NOT NULL
    ) l
    JOIN objects s ON s.api_group = '{GROUP}' AND s.kind = l.kind AND s.namespace = l.namespace
      AND s.name = l.of_name
), above AS (
    WITH RECURSIVE chain(object_id, owner_id, steps) AS (
        SELECT w.object_id, w.owner_id, 1 FROM owners w JOIN pods p USING (object_id) WHERE w.owner_id IS NOT NULL
        UNION SELECT c.object_id, w.owner_id, c.steps + 1 FROM chain c JOIN owners w ON w.object_id = c.owner_id
        WHERE w.owner_id IS NOT NULL AND c.steps < 8
    )
    SELECT c.object_id, c.owner_id AS service_id, l.component, 1 AS rank FROM chain c JOIN labelled l USING (object_id)
    JOIN objects s ON s.object_id = c.owner_id AND s.api_group = '{GROUP}'
      AND s.kind IN ('InferenceService', 'InferenceGraph', 'LLMInferenceService')
), found AS (
    SELECT * FROM (SELECT * FROM named UNION ALL SELECT * FROM above)
    QUALIFY row_number() OVER (PARTITION BY object_id ORDER BY rank, service_id) = 1
), sick AS (
    SELECT c.object_id, c.container, c.type FROM containers c JOIN found USING (object_id)
    WHERE c.failing OR c.looping OR (c.state = 'waiting'
      AND (c.pull_cause IS NOT NULL OR c.config_kind IS NOT NULL OR c.start_cause IS NOT NULL))
    QUALIFY row_number() OVER (PARTITION BY c.object_id ORDER BY c.container NOT IN ('storage-initializer', 'kserve-container'),
      c.container <> 'storage-initializer', c.type <> 'init', c.idx) = 1
)
SELECT f.object_id, f.service_id, f.component,
    CASE WHEN p.state IN ('Init failing', 'Image pull failing', 'Config missing', 'Crash looping', 'Unknown') THEN 'now'
         WHEN p.state IN ('Starting', 'Not ready') AND s.container IS NOT NULL THEN 'now'
         WHEN p.state IN ('Pending', 'Not ready') THEN 'slow' END,
    s.container, s.type
FROM found f JOIN pods p USING (object_id) LEFT JOIN sick s USING (object_id)
ORDER BY f.object_id
"""  # noqa: S608 - constants


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `kserve_pods`. Needs `pods`, `containers` and `owners`."""
    con.execute(_PODS)
