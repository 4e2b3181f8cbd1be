"""Kinds that stand beside Kueue, JobSet, Ray and KServe: LeaderWorkerSets by their pods, and named states of the others.

What their conditions mean is data (`states.yaml`); the rules read the conditions themselves.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.related import lws, pools, runs, states


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `lws`, `lws_groups`, `inference_pools` and `job_runs`, rows of `states`, and edges from gangs to their pods.

    Needs `conditions`, `pods`, `containers`, `owners`, `events`, `coverage`, `kueue_jobs`.
    """
    lws.derive(con)
    states.derive(con)
    pools.derive(con)
    runs.derive(con)
