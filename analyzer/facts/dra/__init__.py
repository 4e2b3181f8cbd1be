"""Dynamic Resource Allocation, in all shapes that its API has had since Kubernetes 1.31."""

from __future__ import annotations

import duckdb

from analyzer.facts.dra import (
    claims,
    devices,
    edges,
    gpus,
    plugins,
    pod_claims,
    prepare_logs,
    prepare_strangers,
    prepares,
    slices,
    waits,
)

_ANY = "SELECT 1 FROM objects WHERE api_group = 'resource.k8s.io' LIMIT 1"
_PODS = "SELECT 1 FROM pods WHERE claims LIMIT 1"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of `analyzer.store.tables.dra` and the claims' and devices' rows of `states`.

    Needs `coverage`, `pods`, `nodes`, `events`, `log_hits`, `gpu_resources` and `scheduling_causes`.
    """
    prepares.derive(con)
    waits.reasons(con)
    plugins.derive(con)
    if con.execute(_ANY).fetchone() is None and con.execute(_PODS).fetchone() is None:
        prepare_strangers.derive(con)
        return
    claims.derive(con)
    pod_claims.derive(con)
    prepare_logs.derive(con)
    prepare_strangers.derive(con)
    slices.derive(con)
    devices.derive(con)
    gpus.derive(con)
    waits.derive(con)
    edges.derive(con)
