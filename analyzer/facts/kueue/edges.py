"""The edges along which trouble in Kueue spreads: needs of a queue → it → its Workloads → their jobs, and back from pods."""

from __future__ import annotations

import duckdb

# What a ClusterQueue names stands before it; so does a topology before its flavor, a check's parameters before the check.
_REFERENCES = """
SELECT DISTINCT r.target_id, r.object_id, CASE r.target_kind WHEN 'ResourceFlavor' THEN 'flavor' WHEN 'Topology' THEN 'flavor'
  WHEN 'Cohort' THEN 'cohort' WHEN 'ClusterQueue' THEN 'queue' ELSE 'check' END
FROM kueue_references r WHERE r.target_id IS NOT NULL AND r.target_id <> r.object_id
"""

# A queue keeps back only what waits in it.
_WAITING = "SELECT queue_id, object_id, 'queue' FROM workloads WHERE waiting AND queue_id IS NOT NULL"

_CHECKS = "SELECT DISTINCT check_id, object_id, 'check' FROM workload_checks WHERE check_id IS NOT NULL AND state <> 'Ready'"

# The manager stands before every Workload that it has not looked at, and every job that has none.
_MANAGER = """
SELECT m.object_id, w.object_id, 'manager' FROM objects m CROSS JOIN workloads w
WHERE m.api_group = 'apps' AND m.kind = 'Deployment' AND m.name = 'kueue-controller-manager' AND w.waiting AND w.cause = 'none'
UNION SELECT m.object_id, j.object_id, 'manager' FROM objects m CROSS JOIN kueue_jobs j
WHERE m.api_group = 'apps' AND m.kind = 'Deployment' AND m.name = 'kueue-controller-manager'
  AND j.workload_id IS NULL AND NOT j.over
"""

# Pods that are not ready in time, or whose nodes fail, throw their own Workload out: what is wrong with them shows there.
_THROWN_OUT = """
SELECT DISTINCT j.object_id, w.object_id, 'queued' FROM kueue_jobs j JOIN workloads w ON w.object_id = j.workload_id
WHERE w.object_id IN (SELECT object_id FROM workload_evictions WHERE reason IN ('PodsReadyTimeout', 'NodeFailures'))
  OR (w.deactivated_by = 'kueue' AND regexp_matches(w.deactivation, 'RequeuingLimitExceeded|number of re-queuing'))
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges flavor, cohort, queue, check, manager and queued. Needs Kueue's tables."""
    for query in (_REFERENCES, _WAITING, _CHECKS, _MANAGER, _THROWN_OUT):
        con.execute(f"INSERT INTO relations {query}")
