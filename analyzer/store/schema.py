"""The tables of `bundle.duckdb`: names, columns, types and what each column means.

This is the one place that says what a table looks like. Loading creates tables from it, `triage sql` prints it,
the documentation is made from it. All times are TIMESTAMP in UTC; what could not be read as a time is NULL.
"""

from __future__ import annotations

from analyzer.store.tables import (
    cluster,
    common,
    dra,
    gpu,
    gpu_logs,
    gpu_usage,
    jobset,
    kserve,
    kueue,
    loaded,
    logs,
    ome,
    order,
    pods,
    ray,
    related,
    result,
    services,
)
from analyzer.store.tables.base import Column, Table
from analyzer.store.tables.parts import PARTS

__all__ = ["BY_NAME", "GENERATION", "PARTS", "TABLES", "Column", "Table"]

GENERATION = "triage.db/v1"
"""What the table meta of our databases says under `schema`: that it is ours, and of which generation."""

TABLES: tuple[Table, ...] = (
    *loaded.TABLES,
    *common.TABLES,
    *logs.TABLES,
    *pods.TABLES,
    *services.TABLES,
    *cluster.TABLES,
    *gpu.TABLES,
    *gpu_logs.TABLES,
    *gpu_usage.TABLES,
    *dra.TABLES,
    *kueue.TABLES,
    *kserve.TABLES,
    *jobset.TABLES,
    *ray.TABLES,
    *related.TABLES,
    *ome.TABLES,
    *order.TABLES,
    *result.TABLES,
)

BY_NAME: dict[str, Table] = {table.name: table for table in (*PARTS, *TABLES)}
