"""The edges along which trouble in OME spreads: class, model and runtime → service, model → pods, pods → service."""

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
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges runtime, model, class and serving. Needs OME's tables."""
    for query in _EDGES:
        con.execute(f"INSERT INTO relations SELECT * FROM ({query}) AS edge (src, dst, kind) WHERE src IS NOT NULL")  # noqa: S608
