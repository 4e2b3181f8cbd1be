"""Kinds that stand beside Kueue, JobSet, Ray and KServe: LeaderWorkerSets and gangs by their pods, queues, states of the rest.

What their conditions mean is data (`states.yaml`); the rules read the conditions themselves.
"""

from __future__ import annotations

from types import ModuleType

import duckdb

from analyzer.facts.related import gang_queues, gangs, karpenter, lws, nics, pools, routes, runs, states

_GROUPS: dict[ModuleType, tuple[str, ...]] = {
    lws: (lws.GROUP,),
    gangs: gangs.GROUPS,
    gang_queues: (gangs.VOLCANO, gangs.KAI),
    karpenter: (karpenter.GROUP,),
    pools: pools.GROUPS,
    routes: (routes.GROUP,),
    runs: runs.GROUPS,
}
"""Modules that find nothing where no object is of these API groups."""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of these kinds, rows of `states`, and edges from gangs to their pods and from pickers to their pools.

    Needs `conditions`, `pods`, `containers`, `owners`, `events`, `coverage`, `kueue_jobs`, `jobsets`.
    """
    here = {group for (group,) in con.execute("SELECT DISTINCT api_group FROM objects").fetchall()}
    for module in (lws, states, gangs, gang_queues, karpenter, nics, pools, routes, runs):
        if module not in _GROUPS or not here.isdisjoint(_GROUPS[module]):
            module.derive(con)
