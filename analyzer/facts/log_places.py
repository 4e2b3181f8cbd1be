"""Whose a log is, where its path alone does not tell.

Troubleshoot's log collector writes below a folder that the user names: `POD.log` (one container), `POD/CONTAINER.log`,
`…-previous.log`. Since 2022 these are links into `cluster-resources/pods/logs/`, before they were the only place, and
where a bundle was packed again without links they are copies. People name files of `kubectl logs` in the same way.
"""

from __future__ import annotations

import duckdb

_NAMED = r"""
CREATE OR REPLACE TEMP TABLE named_logs AS
WITH loose AS (
    SELECT l.log_id, f.input, l.bytes, l.lines, l.tail,
        regexp_extract(f.path, '([^/]+)/[^/]+$', 1) AS folder,
        regexp_replace(regexp_extract(f.path, '[^/]+$'), '(-previous)?\.log(\.gz)?$', '') AS name,
        regexp_matches(f.path, '-previous\.log(\.gz)?$') AS previous
    FROM logs l JOIN files f USING (file_id)
    WHERE l.pod = '' AND l.source = 'other' AND f.format IN ('support-bundle', 'plain')
), pod AS (
    SELECT input, namespace, name, json_extract_string(json, '$.spec.containers[*].name') AS mains,
        list_concat(
            json_extract_string(json, '$.spec.initContainers[*].name'),
            json_extract_string(json, '$.spec.ephemeralContainers[*].name')
        ) AS others
    FROM objects WHERE api_group = '' AND kind = 'Pod'
), fitting AS (
    SELECT loose.*, pod.namespace AS pod_namespace, pod.name AS pod,
        CASE WHEN loose.folder = pod.name THEN loose.name ELSE pod.mains[1] END AS container
    FROM loose JOIN pod ON pod.input = loose.input AND (
        (loose.folder = pod.name AND list_contains(list_concat(pod.mains, pod.others), loose.name))
        OR (loose.name = pod.name AND len(pod.mains) = 1)
    )
)
SELECT * FROM fitting QUALIFY count(*) OVER (PARTITION BY log_id) = 1
"""

_COPIES = """
DELETE FROM logs USING named_logs n, logs AS kept, files AS f
WHERE logs.log_id = n.log_id AND kept.log_id <> n.log_id AND f.file_id = kept.file_id AND f.input = n.input
    AND kept.namespace = n.pod_namespace AND kept.pod = n.pod AND kept.container = n.container
    AND kept.source = CASE WHEN n.previous THEN 'previous' ELSE 'current' END
    AND kept.bytes = n.bytes AND kept.lines = n.lines AND kept.tail IS NOT DISTINCT FROM n.tail
"""

_JOIN = """
UPDATE logs SET namespace = n.pod_namespace, pod = n.pod, container = n.container,
    source = CASE WHEN n.previous THEN 'previous' ELSE 'current' END
FROM named_logs n WHERE n.log_id = logs.log_id
"""

# NVIDIA's must-gather names the pod of a log, or that it is the operator's own, but no namespace.
_OPERATOR = r"""
UPDATE logs SET namespace = p.namespace, pod = p.name, container = coalesce(nullif(logs.container, ''), p.main, '')
FROM files f, (
    SELECT input, name, min(namespace) AS namespace, min(json_extract_string(json, '$.spec.containers[0].name')) AS main,
        coalesce(bool_or(json_extract_string(json, '$.metadata.labels.app') = 'gpu-operator'), false) AS own
    FROM objects WHERE api_group = '' AND kind = 'Pod' GROUP BY input, name HAVING count(*) = 1
    -- Of two pods of the operator nothing says which one its log is of.
    QUALIFY NOT own OR count(*) FILTER (own) OVER (PARTITION BY input) = 1
) p
WHERE f.file_id = logs.file_id AND f.format = 'gpu-operator' AND logs.namespace = '' AND p.input = f.input
    AND (p.name = logs.pod OR (logs.pod = '' AND p.own AND regexp_matches(f.path, '(^|/)gpu_operator_pod\.')))
"""

# A plugin that runs once writes its own log among its results; its pod is named by a label. Where Sonobuoy fetched the
# log of the container as well, that one counts.
_PLUGIN = r"""
UPDATE logs SET namespace = found.namespace, pod = found.name, container = found.plugin, source = 'current'
FROM (
    WITH own AS (
        SELECT l.log_id, f.input, regexp_extract(f.path, '(?:^|/)plugins/([^/]+)/results/(?:global/)?[^/]+\.log$', 1) AS plugin
        FROM logs l JOIN files f USING (file_id) WHERE f.format = 'sonobuoy' AND l.pod = '' AND l.source = 'other'
        QUALIFY plugin <> '' AND count(*) OVER (PARTITION BY f.input, plugin) = 1
    ), pod AS (
        SELECT input, namespace, name, json_extract_string(json, '$.metadata.labels.sonobuoy-plugin') AS plugin
        FROM objects WHERE api_group = '' AND kind = 'Pod'
            AND list_contains(json_extract_string(json, '$.spec.containers[*].name'), plugin)
        QUALIFY count(*) OVER (PARTITION BY input, plugin) = 1
    ), fetched AS (
        SELECT f.input, l.namespace, l.pod AS name, l.container AS plugin FROM logs l JOIN files f USING (file_id)
    )
    SELECT own.log_id, pod.namespace, pod.name, own.plugin FROM own JOIN pod USING (input, plugin)
    ANTI JOIN fetched USING (input, namespace, name, plugin)
) found WHERE found.log_id = logs.log_id
"""

# The hits of a copy are those of the log that stays.
_HITS = (
    "DELETE FROM log_hits WHERE log_id NOT IN (SELECT log_id FROM logs)",
    "DELETE FROM log_hit_counts WHERE log_id NOT IN (SELECT log_id FROM logs)",
)

# Told to fetch the logs of previous containers, Sonobuoy fetches those alone, under the same names.
_PREVIOUS = """
UPDATE logs SET source = 'previous' FROM files f WHERE f.file_id = logs.file_id AND logs.source = 'current'
    AND f.format = 'sonobuoy' AND f.input IN (
        SELECT c.input FROM documents d JOIN files c ON c.file_id = d.file_id
        WHERE d.role = 'sonobuoy-config' AND json_extract_string(d.json, '$.previous') = 'true'
    )
"""


def settle(con: duckdb.DuckDBPyConnection) -> None:
    """Gives logs their pod and source as far as the bundle tells, and drops copies of a log that is there already.

    A name that several pods have is nobody's: the log stays without a pod.
    """
    for step in (_PREVIOUS, _NAMED, _COPIES, *_HITS, _JOIN, _OPERATOR, _PLUGIN, "DROP TABLE named_logs"):
        con.execute(step)
