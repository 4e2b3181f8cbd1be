"""What the objects of a bundle mean, as tables: one module a subject, run in order by `derive_all`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from types import ModuleType

import duckdb

from analyzer.facts import (
    certificates,
    clock,
    collection,
    conditions,
    controllers,
    coverage,
    custom,
    dra,
    drains,
    events,
    foreign_findings,
    gpu,
    jobset,
    kserve,
    kueue,
    log_ends,
    log_places,
    node_restarts,
    nodes,
    ome,
    oom_kills,
    openshift,
    order,
    owners,
    platform,
    pods,
    printed_nodes,
    quotas,
    ray,
    related,
    relations,
    scheduling,
    services,
    webhooks,
)
from analyzer.store import join
from analyzer.store.renew import renew

_LOGS = ("logs", "log_hits", "log_hit_counts")
_INPUTS: dict[ModuleType, tuple[str, ...]] = {log_ends: ("logs",), node_restarts: ("nodes",)}
"""Modules that find nothing where all of these tables are empty: planning their queries would take longer than anything else."""


def derive_all(
    con: duckdb.DuckDBPyConnection,
    as_of: datetime | None = None,
    needed: Iterable[tuple[str, str]] = (),
    settled: Callable[[], None] = lambda: None,
    *,
    dated: bool = False,
) -> None:
    """Creates and fills every facts table of a loaded database.

    Args:
        con: the database with the tables of stage `parts` filled.
        as_of: the moment ages are measured at instead of each input's collection time.
        needed: kinds that rules need, as (API group, kind): their coverage is told even where the bundle has none.
        settled: called once nothing will change the table `objects` any more.
        dated: the inputs have their collection times from an earlier run.
    """
    renew(con, "facts")
    collection.settle(con)
    if _any_rows(con, _LOGS):
        log_places.settle(con)
    printed_nodes.settle(con)
    if dated:
        clock.measure(con, as_of)
    else:
        clock.derive(con, as_of)
    join.unite(con)
    settled()
    for module in (
        conditions,
        events,
        platform,
        owners,
        pods,
        log_ends,
        scheduling,
        controllers,
        services,
        webhooks,
        nodes,
        node_restarts,
        openshift,
        gpu,
        relations,
        drains,
        quotas,
        certificates,
        custom,
        foreign_findings,
    ):
        if module not in _INPUTS or _any_rows(con, _INPUTS[module]):
            module.derive(con)
    coverage.derive(con, needed)
    gpu.derive_operator(con)
    dra.derive(con)
    gpu.derive_logs(con)
    oom_kills.derive(con)
    # What is not in a complete list does not exist: that is known only now.
    kueue.derive(con)
    kserve.derive(con)
    jobset.derive(con)
    ray.derive(con)
    related.derive(con)
    ome.derive(con)
    order.derive(con)


def _any_rows(con: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> bool:
    """Whether one of these tables has a row."""
    return any(con.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in tables)  # noqa: S608 - names of ours
