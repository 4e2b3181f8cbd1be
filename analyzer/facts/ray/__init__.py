"""KubeRay: clusters, jobs, services, their pods, and the edges along which trouble spreads between them.

Conditions (KubeRay 1.2 and later) and the state fields of older operators are both read, of ray.io/v1 and v1alpha1 alike.
Sources of all meanings: KubeRay's API types and controllers, versions 1.0 to 1.7.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.ray import clusters, groups, jobs, services
from analyzer.facts.ray.base import GROUP, pods_of
from analyzer.facts.ray.clusters import Cluster
from analyzer.facts.ray.waits import Surroundings
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import stored
from analyzer.facts.whole import Whole

_EDGES = """
INSERT INTO relations
SELECT DISTINCT src, dst, kind FROM (
    -- What is wrong with a part shows in the whole, where no owner reference says so (a cluster that was selected).
    SELECT cluster_id AS src, object_id AS dst, 'ray' AS kind FROM ray_jobs WHERE cluster_id IS NOT NULL
    UNION ALL SELECT unnest([active_id, pending_id]), object_id, 'ray' FROM ray_services
    UNION ALL SELECT submitter_id, object_id, 'ray' FROM ray_jobs
    -- The head stands for the cluster as no worker does.
    UNION ALL SELECT head_pod_id, object_id, 'head' FROM ray_clusters
    -- What is wrong with the whole shows in its parts.
    UNION ALL SELECT object_id, unnest([active_id, pending_id]), 'part' FROM ray_services
    UNION ALL SELECT object_id, submitter_id, 'part' FROM ray_jobs
    UNION ALL SELECT j.submitter_id, p.object_id, 'part' FROM ray_jobs j JOIN owners w ON w.owner_id = j.submitter_id
        JOIN pods p ON p.object_id = w.object_id
    -- Workers wait for their head, and end with it.
    UNION ALL SELECT c.object_id, p.object_id, 'part' FROM ray_clusters c JOIN owners w ON w.owner_id = c.object_id
        JOIN pods p ON p.object_id = w.object_id AND p.object_id IS DISTINCT FROM c.head_pod_id
)
WHERE src IS NOT NULL AND dst IS NOT NULL
"""

# The submitter follows its job and ends with it; KubeRay gives the status 5 minutes to follow (its grace period of transitions).
_SUBMITTERS = """
UPDATE ray_jobs SET submitter_end = c.type, submitter_end_at = c.since FROM conditions c, inputs i
WHERE c.object_id = ray_jobs.submitter_id AND c.type IN ('Complete', 'Failed') AND c.status = 'True' AND i.input = ray_jobs.input
    AND ray_jobs.deployment_status = 'Running' AND coalesce(ray_jobs.job_status, '') IN ('', 'PENDING', 'RUNNING')
    AND NOT ray_jobs.deleted AND c.since < i.as_of - INTERVAL 5 MINUTE
"""

_STATES = """
INSERT INTO states
SELECT object_id, $1, 'RayCluster', namespace, name, state, reason, message, since FROM ray_clusters
UNION ALL SELECT object_id, $1, 'RayJob', namespace, name, state, reason, message, since FROM ray_jobs
UNION ALL SELECT object_id, $1, 'RayService', namespace, name, state, reason, message, since FROM ray_services
ORDER BY object_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of Ray, and its rows of `states` and `relations`.

    Needs `conditions`, `owners`, `pods`, `coverage` and Kueue's tables.
    """
    if not con.execute("SELECT 1 FROM objects WHERE api_group = ? LIMIT 1", [GROUP]).fetchone():
        return
    whole = Whole.read(con)
    pods = pods_of(con)
    known: dict[str, dict[str, Cluster]] = {}
    ids: dict[str, dict[str, int]] = {}
    workers: list[dict[str, object]] = []
    for item in stored(con, [(GROUP, "RayCluster")]):
        one = clusters.read(item)
        mine = pods.get((one.namespace, one.name), [])
        clusters.settle(one, mine, pods_whole=whole.has("", "Pod", one.namespace))
        known.setdefault(one.namespace, {})[one.name] = one
        ids.setdefault(one.namespace, {})[one.name] = one.object_id
        workers += [
            {"src": one.object_id, "dst": pod.object_id, "kind": "part"}
            for pod in mine
            if one.head is None or pod is not one.head
        ]
    every = [one for space in known.values() for one in space.values()]
    insert_rows(con, "ray_clusters", (clusters.row(one) for one in every))
    insert_rows(con, "ray_groups", (row for one in every for row in groups.rows(one.object_id, one.groups)))
    insert_rows(con, "relations", workers)
    around = Surroundings(con)
    rows = []
    for item in stored(con, [(GROUP, "RayJob")]):
        job = jobs.read(item)
        submitter = around.submitters.get((job.namespace, job.name))
        if job.initializing:
            listed = whole.has(GROUP, "RayCluster", job.namespace)
            job.waits_for = around.waits(job, known.get(job.namespace, {}), submitter, whole=listed)
        rows.append(jobs.row(job, ids.get(job.namespace, {}).get(job.cluster or ""), submitter.object_id if submitter else None))
    insert_rows(con, "ray_jobs", rows)
    con.execute(_SUBMITTERS)
    told = [services.read(item) for item in stored(con, [(GROUP, "RayService")])]
    for service in told:
        listed = whole.has(GROUP, "RayCluster", service.namespace)
        services.blame(service, known.get(service.namespace, {}), whole=listed)
    insert_rows(con, "ray_services", (services.rows(one, ids.get(one.namespace, {})) for one in told))
    insert_rows(con, "ray_applications", (row for one in told for row in services.application_rows(one)))
    con.execute(_EDGES)
    con.execute(_STATES, [GROUP])
