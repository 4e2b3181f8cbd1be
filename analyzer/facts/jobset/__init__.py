"""JobSet: states, restarts by the right counter, the Job that failed first, and what groups of Jobs wait for.

Sources of all meanings: the API types and the controller of kubernetes-sigs/jobset, versions 0.3 to 0.13. Fields that one
version has and another has not are read by being there, never by the API version, which is v1alpha2 in all of them.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.jobset import ends, jobs, sets
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import stored
from analyzer.facts.whole import Whole

GROUP = "jobset.x-k8s.io"

# What is wrong with the whole shows in its parts; that what is wrong with a part shows in the whole say the owner edges.
_PARTS = """
INSERT INTO relations
SELECT jobset_id, object_id, 'part' FROM jobset_jobs
UNION
SELECT j.object_id, p.object_id, 'part' FROM jobset_jobs j JOIN owners w ON w.owner_id = j.object_id
JOIN pods p ON p.object_id = w.object_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `jobsets`, `jobset_groups`, `jobset_jobs`, and JobSet's rows of `states` and `relations`.

    Needs `conditions`, `owners`, `pods`, `containers` and `coverage`.
    """
    read = [sets.read(item) for item in stored(con, [(GROUP, "JobSet")])]
    if not read:
        return
    children = jobs.of(con, {(one.namespace, one.name): one for one in read})
    version = sets.controller_version(con)
    whole = Whole.read(con).has("batch", "Job")
    for one in read:
        sets.settle(one, children.get(one.object_id, []), version, jobs_whole=whole)
    insert_rows(con, "jobsets", (sets.row(one) for one in read))
    insert_rows(con, "jobset_groups", (row for one in read for row in sets.group_rows(one)))
    insert_rows(con, "jobset_jobs", (jobs.row(job) for found in children.values() for job in found))
    ends.derive(con)
    con.execute(_PARTS)
    con.execute(
        "INSERT INTO states SELECT object_id, ?, 'JobSet', namespace, name, state, reason, message, since FROM jobsets "
        "ORDER BY object_id",
        [GROUP],
    )
