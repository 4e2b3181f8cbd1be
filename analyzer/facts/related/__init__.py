"""Kinds that stand beside Kueue, JobSet, Ray and KServe: LeaderWorkerSets and gangs by their pods, queues, states of the rest.

What their conditions mean is data (`states.yaml`); the rules read the conditions themselves.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.related import gang_queues, gangs, karpenter, lws, nics, pools, routes, runs, states


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of these kinds, rows of `states`, and edges from gangs to their pods and from pickers to their pools.

    Needs `conditions`, `pods`, `containers`, `owners`, `events`, `coverage`, `kueue_jobs`, `jobsets`.
    """
    lws.derive(con)
    states.derive(con)
    gangs.derive(con)
    gang_queues.derive(con)
    karpenter.derive(con)
    nics.derive(con)
    pools.derive(con)
    routes.derive(con)
    runs.derive(con)
