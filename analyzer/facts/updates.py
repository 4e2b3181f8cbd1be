"""The update of an OpenShift cluster, and what its operators suffer meanwhile.

During an update operators restart and report trouble for some minutes; how long decides whether that is a fault.
Lists printed by hand carry no time of their own. There the newest change that the operators and the cluster version
report is the least that the collection can be: an age counted to it is a least age, and marked as one.
"""

from __future__ import annotations

import duckdb

from analyzer.facts import sql

_NEWEST = """
CREATE OR REPLACE TEMP TABLE newest_change AS
SELECT max(c.since) AS at
FROM conditions c JOIN objects o USING (object_id) JOIN inputs i USING (input)
WHERE c.api_group = 'config.openshift.io' AND c.kind IN ('ClusterOperator', 'ClusterVersion') AND i.as_of IS NULL
"""

# The history has the newest update first; the operator keeps the last complete one in it whatever its age.
_UPDATES = f"""
INSERT INTO cluster_updates BY NAME
WITH history AS (
    SELECT object_id, input, json_extract_string(json, '$.status.desired.version') AS target,
        json_extract_string(json, '$.status.history[*].state') AS states,
        json_extract_string(json, '$.status.history[*].version') AS versions,
        json_extract_string(json, '$.status.history[0].startedTime') AS started,
        json_extract_string(json, '$.status.history[0].completionTime') AS ended
    FROM objects WHERE api_group = 'config.openshift.io' AND kind = 'ClusterVersion'
), dated AS (
    SELECT *, coalesce(states[1] = 'Partial', false) AS running, {sql.moment("started")} AS started_at,
        {sql.moment("ended")} AS ended_at
    FROM history
)
SELECT d.object_id, d.target, d.running, d.started_at, d.ended_at,
    greatest(epoch(coalesce(i.as_of, n.at) - d.started_at), 0)::BIGINT AS lasts, i.as_of IS NULL AS least,
    CASE WHEN d.running AND d.states[2] = 'Partial' AND d.versions[2] <> d.versions[1] THEN d.versions[2] END AS unfinished,
    d.versions[list_position(d.states, 'Completed')] AS completed
FROM dated d JOIN inputs i USING (input), newest_change n
"""  # noqa: S608 - made of constants

_TROUBLES = """
INSERT INTO operator_troubles BY NAME
SELECT c.object_id, c.type, c.idx, c.reason, c.message, c.since,
    greatest(epoch(coalesce(i.as_of, n.at) - c.since), 0)::BIGINT AS lasts, i.as_of IS NULL AS least,
    coalesce((SELECT bool_or(u.running) FROM cluster_updates u), false) AS updating,
    -- Its own namespace first, then that of its operand; those that hold settings alone have no pods.
    (SELECT list(n ORDER BY n <> 'openshift-' || o.name || '-operator', n <> 'openshift-' || o.name, n) FROM (
       SELECT json_extract_string(item, '$.name') AS n, json_extract_string(item, '$.resource') AS what FROM (
         SELECT unnest(json_extract(o.json, '$.status.relatedObjects[*]')) AS item))
     WHERE what = 'namespaces' AND n NOT IN ('openshift-config', 'openshift-config-managed')) AS namespaces
FROM conditions c JOIN objects o USING (object_id) JOIN inputs i USING (input), newest_change n
WHERE c.api_group = 'config.openshift.io' AND c.kind = 'ClusterOperator' AND o.deleted_at IS NULL
  AND (c.type, c.status) IN (('Available', 'False'), ('Degraded', 'True'))
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `cluster_updates` and `operator_troubles`. Needs `conditions`."""
    con.execute(_NEWEST)
    con.execute(_UPDATES)
    con.execute(_TROUBLES)
    con.execute("DROP TABLE newest_change")
