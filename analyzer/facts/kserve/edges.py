"""The edges along which trouble in KServe spreads.

Runtime and volume claim → service; what KServe made for it → service; service → what uses it.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.kserve.base import SERVICE_LABEL

_EDGES = (
    # Pods stand before their service, whatever is missing of the owners between them.
    "SELECT object_id, service_id, 'serving' FROM kserve_pods",
    # So does what KServe makes for it; its label says so where the owner reference does not lead there (a Knative Revision).
    f"""
    SELECT o.object_id, s.object_id, 'serving' FROM objects o
    JOIN kserve_services s ON s.namespace = o.namespace
      AND s.name = json_extract_string(o.json, '$.metadata.labels."{SERVICE_LABEL}"')
    WHERE (o.api_group = 'apps' AND o.kind = 'Deployment')
       OR (o.api_group = 'serving.knative.dev' AND o.kind IN ('Service', 'Configuration', 'Revision', 'Route'))
    """,  # noqa: S608 - a constant
    # A model that does not load makes the pods fail that load it, and what KServe made around them.
    """
    SELECT k.service_id, k.object_id, 'loader' FROM kserve_pods k JOIN kserve_services s ON s.object_id = k.service_id
    WHERE k.component IN ('predictor', '')
    """,
    """
    SELECT DISTINCT s.object_id, o.object_id, 'loader' FROM relations r JOIN kserve_services s ON s.object_id = r.dst
    JOIN objects o ON o.object_id = r.src
    WHERE r.kind IN ('owner', 'serving') AND o.api_group IN ('apps', 'serving.knative.dev')
      AND contains(o.name, '-predictor')
    """,
    "SELECT chosen_id, object_id, 'runtime' FROM kserve_services",
    # pvc://CLAIM/PATH
    """
    SELECT c.object_id, s.object_id, 'pvc' FROM kserve_services s
    JOIN objects c ON c.api_group = '' AND c.kind = 'PersistentVolumeClaim'
      AND c.namespace = s.namespace AND c.name = regexp_extract(s.storage, '^pvc://([^/]+)', 1)
    WHERE starts_with(s.storage, 'pvc://')
    """,
    "SELECT DISTINCT r.target_id, r.object_id, 'step' FROM kserve_references r",
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges serving, loader, runtime, pvc and step. Needs KServe's tables."""
    for query in _EDGES:
        con.execute(f"INSERT INTO relations SELECT * FROM ({query}) AS edge (src, dst, kind) WHERE src IS NOT NULL")  # noqa: S608
