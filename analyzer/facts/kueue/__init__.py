"""Kueue: queues, workloads, quota, and the edges along which a queue's trouble reaches its workloads and their pods.

Both served versions (v1beta1, v1beta2) and the older shapes are read by the fields that an object has, never by the version
that it says. Sources of all meanings: Kueue's API types, scheduler and controllers, versions 0.6 to 0.20.
"""

from __future__ import annotations

import gc

import duckdb

from analyzer.facts.kueue import checks, edges, evictions, fits, jobs, offers, queues, quota, store, workloads
from analyzer.facts.kueue.base import GROUP
from analyzer.facts.kueue.config import read_config
from analyzer.facts.rows import Writer
from analyzer.facts.whole import Whole


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of Kueue, and its rows of `states` and `relations`.

    Needs `coverage` (only a complete list says that a queue does not exist), `conditions`, `events`, `owners`, `pods`, `nodes`.
    """
    if not con.execute(
        "SELECT 1 FROM objects WHERE api_group = ? OR contains(json::VARCHAR, '\"kueue.x-k8s.io/') LIMIT 1", [GROUP]
    ).fetchone():
        return
    # Tens of thousands of Workloads stay in memory for a moment and none of it is in a circle: looking for circles costs a third.
    collecting = gc.isenabled()
    gc.disable()
    try:
        _fill(con)
    finally:
        if collecting:
            gc.enable()


def _fill(con: duckdb.DuckDBPyConnection) -> None:
    lists = Whole.read(con)
    told = store.read(con)
    queues.settle(told, lists)
    tree = quota.Tree(told, lists)
    all_workloads = workloads.read(con, told)
    evictions.count(con, all_workloads)
    workloads.settle(all_workloads, told)
    config = read_config(con)
    checked = list(checks.rows(con, all_workloads, told))
    with Writer(con) as write:
        write.insert("kueue_queues", queues.rows(told))
        write.insert("kueue_cohorts", queues.cohort_rows(told))
        write.insert("kueue_references", queues.reference_rows(told))
        write.insert("kueue_quota", quota.rows(told, tree))
        write.insert("kueue_offers", offers.rows(con, told, lists))
        write.insert("workloads", workloads.rows(all_workloads))
        write.insert("workload_causes", workloads.cause_rows(all_workloads))
        write.insert("workload_pod_sets", workloads.pod_set_rows(all_workloads))
        write.insert("workload_usage", workloads.usage_rows(all_workloads))
        write.insert("workload_checks", checked)
        write.insert("workload_evictions", evictions.rows(all_workloads))
        write.insert("workload_fits", fits.rows(all_workloads, tree, config))
    jobs.derive(con, all_workloads)
    edges.derive(con)
    con.execute(
        f"""
        INSERT INTO states
        SELECT object_id, '{GROUP}', kind, namespace, name, state, reason, message, since
        FROM kueue_queues WHERE state IS NOT NULL
        UNION ALL
        SELECT object_id, '{GROUP}', 'Workload', namespace, name, state, reason, message, since FROM workloads
        ORDER BY object_id
        """  # noqa: S608 - a constant
    )
