"""The edges along which trouble in OME spreads: class, model and runtime → service, model → pods, pods → service.

`served` goes the other way: what OME could not do for a service shows in its pods.
"""

from __future__ import annotations

import duckdb

_EDGES = (
    # A runtime that is in force, named or picked; a pinned revision in place of it.
    """
    SELECT DISTINCT unnest([runtime_id, source_id]) AS src, object_id, 'runtime' FROM ome_services
    WHERE runtime_id IS NOT NULL OR source_id IS NOT NULL
    """,
    "SELECT DISTINCT coalesce(model_id, other_model_id), object_id, 'model' FROM ome_services",
    # Pods of a service run only on nodes that have its model.
    """
    SELECT DISTINCT s.model_id, p.object_id, 'model' FROM ome_pods p JOIN ome_services s ON s.object_id = p.service_id
    WHERE p.running
    """,
    "SELECT DISTINCT picked_id, object_id, 'class' FROM ome_components",
    "SELECT DISTINCT object_id, service_id, 'serving' FROM ome_pods WHERE running",
    "SELECT DISTINCT object_id, service_id, 'serving' FROM ome_workloads",
    # What OME did not do for a service shows in its pods and in what it made.
    "SELECT DISTINCT service_id, object_id, 'served' FROM ome_pods",
    "SELECT DISTINCT service_id, object_id, 'served' FROM ome_workloads",
    # A class that is gone shows in the runtime that lists it, too.
    """
    SELECT DISTINCT c.object_id, r.object_id, 'declared' FROM ome_components c JOIN ome_services s USING (object_id)
    JOIN objects r ON r.object_id = s.runtime_id AND contains(r.json::VARCHAR, '"' || c.declared_class || '"')
    WHERE c.declared_missing
    """,
    # A replica of OME's own workloads stands between the pods of its component and the service.
    "SELECT DISTINCT object_id, service_id, 'serving' FROM ome_told WHERE kind = 'InferenceReplica' AND service_id IS NOT NULL",
    """
    SELECT DISTINCT p.object_id, t.object_id, 'serving' FROM ome_told t
    JOIN ome_pods p ON p.service_id = t.service_id AND p.component = t.component
    WHERE t.kind = 'InferenceReplica'
    """,
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges runtime, model, class, serving, served and declared. Needs OME's tables."""
    for query in _EDGES:
        con.execute(f"INSERT INTO relations SELECT * FROM ({query}) AS edge (src, dst, kind) WHERE src IS NOT NULL")  # noqa: S608
