"""NVIDIA GPUs: nodes, resources, MIG layouts and the MIG manager. Nothing here reads a bundle without GPUs twice."""

from __future__ import annotations

import duckdb

from analyzer.facts.gpu import (
    edges,
    holders,
    mig_configs,
    mig_layouts,
    mig_managers,
    mig_words,
    nodes,
    operator,
    requests,
    stack_words,
    xid,
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of `analyzer.store.tables.gpu`; needs `pods`, `logs`, `log_hits` and `scheduling_causes`."""
    requests.derive(con)
    nodes.derive(con)
    mig_configs.derive(con)
    mig_managers.derive(con)
    mig_layouts.derive(con)
    mig_words.derive(con)
    edges.derive(con)


def derive_operator(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of the GPU Operator and what holds the GPUs of nodes.

    Needs `coverage` beside the above: only a complete list tells what is missing.
    """
    operator.derive(con)
    holders.derive(con)


def derive_logs(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of `analyzer.store.tables.gpu_logs`; needs Dynamic Resource Allocation's beside the above."""
    if con.execute("SELECT 1 FROM log_hits LIMIT 1").fetchone():
        xid.derive(con)
    stack_words.derive(con)
