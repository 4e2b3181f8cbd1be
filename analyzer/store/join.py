"""Several inputs as one case: what the newer one says of an object counts, and what it no longer lists is gone.

Loading keeps the inputs apart, since the clock reads each alone. Once their times are known they are joined, all in SQL.
"""

from __future__ import annotations

import duckdb

from analyzer.bundle.errors import UsageError

_CLUSTERS = """
SELECT i.input, i.path, list(DISTINCT o.uid ORDER BY o.uid)
FROM (
    SELECT input, uid FROM objects WHERE api_group = '' AND kind = 'Namespace' AND name = 'kube-system'
    UNION ALL
    SELECT f.input, json_extract_string(d.json, '$.cluster.uid') FROM documents d JOIN files f USING (file_id)
    WHERE d.role = 'triage-manifest'
) o JOIN inputs i USING (input)
WHERE o.uid <> ''
GROUP BY i.input, i.path ORDER BY i.input
"""

# An object's identity over all inputs, as within one (see analyzer.store.load): its uid, else its name. One that an
# input gives without uid (a manifest) is the newest object of that name.
_SAME = """
CREATE TEMP TABLE same_objects AS
WITH named AS (
    SELECT o.object_id, o.input, o.uid, o.kind, o.namespace, o.name, o.whole, o.resource_version, i.collected_at,
        CASE WHEN o.kind = 'Event' AND o.api_group = 'events.k8s.io' THEN '' ELSE o.api_group END AS family,
        CASE WHEN regexp_full_match(o.resource_version, '[0-9]{1,19}') THEN o.resource_version::HUGEINT END AS revision
    FROM objects o JOIN inputs i USING (input)
), known AS (
    SELECT family, kind, namespace, name,
        arg_max(uid, (coalesce(collected_at, TIMESTAMP '1970-01-01'), input, object_id)) AS uid
    FROM named WHERE uid <> '' AND name <> '' GROUP BY ALL
), same AS (
    SELECT named.*, CASE
        WHEN named.uid <> '' THEN concat_ws(chr(31), 'uid', named.uid, family, kind)
        WHEN known.uid IS NOT NULL THEN concat_ws(chr(31), 'uid', known.uid, family, kind)
        WHEN name <> '' THEN concat_ws(chr(31), 'name', family, kind, namespace, name)
        ELSE concat_ws(chr(31), 'object', object_id)
    END AS identity
    FROM named LEFT JOIN known USING (family, kind, namespace, name)
)
SELECT object_id, resource_version, first_value(object_id) OVER best AS winner,
    first_value(resource_version) OVER best AS winner_version
FROM same
WINDOW best AS (
    PARTITION BY identity ORDER BY collected_at DESC NULLS LAST, revision DESC NULLS LAST, whole DESC, input DESC, object_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
)
"""

_UNITE = (
    _SAME,
    "DELETE FROM same_objects WHERE object_id = winner",
    """
    UPDATE sources SET object_id = m.winner, chosen = false,
        differs = sources.resource_version IS DISTINCT FROM m.winner_version
    FROM same_objects m WHERE sources.object_id = m.object_id
    """,
    "DELETE FROM objects WHERE object_id IN (SELECT object_id FROM same_objects)",
    "DROP TABLE same_objects",
)

# Lists that say what there is no more. The folders of single files that must-gather and inspect write prove less here
# than within one bundle: `inspect` has the Nodes and Namespaces that it was told to look at, and must-gather only looks
# at namespaces of the platform. What was asked for with a selector proves nothing.
_COVER = """
CREATE TEMP TABLE covering AS
SELECT f.input, i.collected_at, l.kind, l.namespace,
    CASE WHEN l.kind = 'Event' AND l.api_group = 'events.k8s.io' THEN '' ELSE l.api_group END AS family
FROM lists l JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input
WHERE i.collected_at IS NOT NULL AND l.kind <> ''
    AND NOT (f.format IN ('must-gather', 'inspect') AND l.kind = 'Namespace'
        AND NOT regexp_matches(f.path, '/namespaces\\.\\w+$'))
    AND NOT (f.format = 'inspect' AND l.kind IN ('Node', 'CustomResourceDefinition')
        AND NOT regexp_matches(f.path, '/(nodes|customresourcedefinitions)\\.\\w+$'))
    AND f.input NOT IN (
        SELECT c.input FROM documents d JOIN files c ON c.file_id = d.file_id
        WHERE d.role = 'sonobuoy-config' AND json_extract_string(d.json, '$.selector') <> ''
    )
GROUP BY ALL HAVING bool_and(l.complete)
"""

# Seen last before the newer input was collected, and either its complete list lacks it, or another object has its name.
_GONE = """
CREATE TEMP TABLE gone AS
WITH last AS (
    SELECT s.object_id, max(i.collected_at) AS seen_at
    FROM sources s JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input
    GROUP BY s.object_id HAVING bool_and(i.collected_at IS NOT NULL)
), placed AS (
    SELECT o.object_id, o.uid, o.kind, o.namespace, o.name, last.seen_at, o.input,
        CASE WHEN o.kind = 'Event' AND o.api_group = 'events.k8s.io' THEN '' ELSE o.api_group END AS family
    FROM objects o JOIN last USING (object_id)
), found AS (
    SELECT p.object_id, c.input, c.collected_at
    FROM placed p JOIN covering c
        ON c.kind = p.kind AND c.family = p.family AND c.namespace IN ('*', p.namespace) AND c.collected_at > p.seen_at
    UNION ALL
    SELECT p.object_id, n.input, n.seen_at
    FROM placed p JOIN placed n
        ON n.kind = p.kind AND n.family = p.family AND n.namespace = p.namespace AND n.name = p.name AND n.seen_at > p.seen_at
    WHERE p.name <> '' AND p.uid <> '' AND n.uid <> '' AND n.uid <> p.uid
)
SELECT object_id, arg_max(input, collected_at) AS gone_by FROM found GROUP BY object_id
"""

# What is said about an object that is gone is over too.
_ITS_EVENTS = """
INSERT INTO gone
SELECT e.object_id, max(g.gone_by)
FROM (
    SELECT object_id, coalesce(json_extract_string(json, '$.involvedObject.uid'),
        json_extract_string(json, '$.regarding.uid')) AS about
    FROM objects WHERE kind = 'Event' AND api_group IN ('', 'events.k8s.io')
) e JOIN objects o ON o.uid = e.about AND o.uid <> '' JOIN gone g ON g.object_id = o.object_id
WHERE e.object_id NOT IN (SELECT object_id FROM gone)
GROUP BY e.object_id
"""

# Of what the cluster says about itself (alerts, health, version) the newest counts.
_DOCUMENTS = """
UPDATE documents SET role = 'older-' || documents.role
FROM files f, inputs i
WHERE f.file_id = documents.file_id AND i.input = f.input AND i.collected_at IS NOT NULL
    AND (documents.role IN ('alerts', 'prometheus-rules', 'cluster-version') OR starts_with(documents.role, 'etcd-'))
    AND EXISTS (
        SELECT 1 FROM documents n JOIN files nf ON nf.file_id = n.file_id JOIN inputs ni ON ni.input = nf.input
        WHERE n.role = documents.role AND ni.collected_at > i.collected_at
    )
"""

_DROP = (
    _COVER,
    _GONE,
    _ITS_EVENTS,
    "INSERT INTO gone_objects BY NAME SELECT o.*, g.gone_by FROM objects o JOIN gone g USING (object_id) ORDER BY o.object_id",
    "DELETE FROM objects WHERE object_id IN (SELECT object_id FROM gone)",
    _DOCUMENTS,
    "DROP TABLE covering",
    "DROP TABLE gone",
)


def check_clusters(con: duckdb.DuckDBPyConnection) -> None:
    """Several inputs must be of one cluster, which the uid of its namespace kube-system tells; one without it joins any.

    Args:
        con: the database, loaded.

    Raises:
        UsageError: two inputs are of different clusters; both are named.
    """
    known: list[tuple[str, set[str]]] = []
    for _, path, uids in con.execute(_CLUSTERS).fetchall():
        for other, theirs in known:
            if not theirs.intersection(uids):
                raise UsageError(
                    f"{other} is of cluster {min(theirs)} and {path} of cluster {uids[0]}: "
                    "the inputs of one case must be of one cluster; analyze them one by one"
                )
        known.append((path, set(uids)))


def unite(con: duckdb.DuckDBPyConnection) -> None:
    """Makes one object of what several inputs say of it, and moves what is gone to `gone_objects`.

    Args:
        con: the database with `inputs.collected_at` filled and an empty table `gone_objects`.

    Raises:
        duckdb.Error: the database is out of memory.
    """
    (count,) = con.execute("SELECT count(*) FROM inputs").fetchall()[0]
    if count > 1:
        for step in (*_UNITE, *_DROP):
            con.execute(step)
