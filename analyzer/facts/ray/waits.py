"""What an initialising RayJob waits for: its cluster, the head, the workers, Kueue, the submitter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from analyzer.facts.ray.clusters import Cluster, lacking, trouble
from analyzer.facts.ray.jobs import RayJob

_SUBMITTERS = """
SELECT j.object_id, j.namespace, j.name,
    (SELECT string_agg(p.name || ' is ' || p.state || coalesce(': "' || left(p.message, 200) || '"', ''), '; ' ORDER BY p.name)
     FROM owners w JOIN pods p ON p.object_id = w.object_id WHERE w.owner_id = j.object_id AND p.phase <> 'Succeeded')
FROM objects j JOIN owners o ON o.object_id = j.object_id AND o.owner_kind = 'RayJob'
WHERE j.api_group = 'batch' AND j.kind = 'Job'
"""

_QUEUED = """
SELECT k.object_id, w.name, w.state, w.wait_message FROM kueue_jobs k JOIN workloads w ON w.object_id = k.workload_id
WHERE w.waiting AND k.api_group = 'ray.io'
"""


@dataclass(frozen=True, slots=True)
class Submitter:
    """The Job that hands a RayJob's entrypoint to the head."""

    object_id: int
    pods: str | None
    """Its pods that have not succeeded, in words."""


class Surroundings:
    """What stands around RayJobs: submitter Jobs, and Workloads of Kueue."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Reads both. Needs `owners`, `pods` and Kueue's tables."""
        self.submitters = {
            (space, name): Submitter(number, words) for number, space, name, words in con.execute(_SUBMITTERS).fetchall()
        }
        self._queued = {number: (name, state, said) for number, name, state, said in con.execute(_QUEUED).fetchall()}

    def waits(self, job: RayJob, clusters: Mapping[str, Cluster], submitter: Submitter | None, *, whole: bool) -> str | None:
        """What a job waits for, the most basic first; None where nothing says.

        Args:
            job: the RayJob.
            clusters: the RayClusters of its namespace by name.
            submitter: its submitter Job.
            whole: all RayClusters of the namespace are in the bundle.
        """
        found = []
        queued = self._queued.get(job.object_id)
        if queued:
            name, state, said = queued
            found.append(f"its Workload {name} is {state.lower()} in Kueue" + (f': "{said[:300]}"' if said else ""))
        cluster = clusters.get(job.cluster or "")
        if job.cluster and cluster is None:
            found.append(f"its RayCluster {job.cluster} {lacking(whole=whole)}")
        elif cluster:
            if cluster.state in ("Suspended", "Suspending", "Deleting"):
                found.append(f"its RayCluster {cluster.name} is {cluster.state.lower()}")
            else:
                found += trouble(cluster, f"its RayCluster {cluster.name}")
        elif not queued:
            found.append("its status names no RayCluster yet")
        if submitter and submitter.pods:
            found.append(f"its submitter's pod {submitter.pods[:400]}")
        return "; ".join(found) or None
