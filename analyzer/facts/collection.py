"""What the manifest of a triage bundle proves of its lists and files.

A namespaced kind has no file for a namespace without objects: that the list of all namespaces was read to its end stands in
the manifest alone. And a file proves nothing any more where it is not the one that the collector wrote.
"""

from __future__ import annotations

import duckdb

# Files that were changed after the collection. What could not be read in full says so already.
_ALTERED = """
UPDATE files SET status = CASE WHEN files.status = 'unread' THEN 'unread' ELSE 'partial' END, line = NULL, error =
    'altered after the collection: ' || CASE WHEN files.bytes <> d.bytes
        THEN 'the manifest says ' || d.bytes || ' bytes, it has ' || files.bytes
        ELSE 'its digest is not the one in the manifest' END
FROM digests d JOIN files m ON m.file_id = d.file_id
WHERE files.input = m.input AND files.root = m.root AND files.file_id <> m.file_id
    AND files.path = CASE WHEN m.root = '' THEN d.path ELSE m.root || '/' || d.path END
    AND files.status IN ('read', 'empty', 'skipped')
    AND (files.bytes <> d.bytes OR (files.sha256 IS NOT NULL AND files.sha256 <> d.sha256))
"""

# Files that the manifest names and the bundle lacks: they are listed with what was not read.
_MISSING = """
INSERT INTO files BY NAME
WITH named AS (
    SELECT m.input, m.root, d.bytes, CASE WHEN m.root = '' THEN d.path ELSE m.root || '/' || d.path END AS path
    FROM digests d JOIN files m ON m.file_id = d.file_id
)
SELECT (SELECT max(file_id) FROM files) + row_number() OVER (ORDER BY n.input, n.path) AS file_id, n.input, n.path, n.bytes,
    n.root, 'triage' AS format, CASE WHEN ends_with(n.path, '.log') THEN 'log' ELSE 'objects' END AS role, 'unread' AS status,
    'missing: the manifest names it' AS error
FROM named n WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.input = n.input AND f.path = n.path)
QUALIFY row_number() OVER (PARTITION BY n.input, n.path) = 1
"""

_ASKED = """
CREATE OR REPLACE TEMP TABLE asked_lists AS
SELECT r.*, m.input, m.root, CASE WHEN r.api_group = '' THEN 'core' ELSE r.api_group END AS folder
FROM requests r JOIN files m ON m.file_id = r.file_id
"""

# Without the manifest's word nothing says that a list was read to its end. (Here and below one join for all namespaces and one
# for each: with both in one condition a hostile manifest would make it compare everything with everything.)
_UNPROVEN = """
UPDATE lists SET complete = false
FROM files f
WHERE f.file_id = lists.file_id AND f.format = 'triage'
    AND NOT EXISTS (
        SELECT 1 FROM asked_lists a WHERE a.input = f.input AND a.root = f.root AND a.api_group = lists.api_group
            AND a.kind = lists.kind AND a.namespace = '*'
    ) AND NOT EXISTS (
        SELECT 1 FROM asked_lists a WHERE a.input = f.input AND a.root = f.root AND a.api_group = lists.api_group
            AND a.kind = lists.kind AND a.namespace = lists.namespace
    )
"""

# A list that broke off lies in files that end well, and so does one of which a file was lost or changed.
_BROKEN = r"""
CREATE OR REPLACE TEMP TABLE broken_lists AS
WITH bad AS (
    SELECT input, root, regexp_extract(CASE WHEN root = '' THEN path ELSE substr(path, length(root) + 2) END,
        '^(?:cluster-scoped-resources|namespaces/([^/]+))/([^/]+)/([^/]+)[.](?:yaml|json)$',
        ['space', 'folder', 'resource']) AS place
    FROM files WHERE format = 'triage' AND status IN ('partial', 'unread') AND role = 'objects'
)
SELECT input, root, api_group, kind, namespace FROM asked_lists WHERE outcome <> 'ok'
UNION
SELECT a.input, a.root, a.api_group, a.kind, a.namespace
FROM bad b JOIN asked_lists a ON a.input = b.input AND a.root = b.root AND a.folder = b.place.folder
    AND a.resource = b.place.resource AND a.namespace = '*'
UNION
SELECT a.input, a.root, a.api_group, a.kind, a.namespace
FROM bad b JOIN asked_lists a ON a.input = b.input AND a.root = b.root AND a.folder = b.place.folder
    AND a.resource = b.place.resource AND a.namespace = b.place.space
"""

_INCOMPLETE = """
UPDATE lists SET complete = false
FROM files f
WHERE f.file_id = lists.file_id AND f.format = 'triage' AND (
    EXISTS (
        SELECT 1 FROM broken_lists b WHERE b.input = f.input AND b.root = f.root AND b.api_group = lists.api_group
            AND b.kind = lists.kind AND b.namespace = '*'
    ) OR EXISTS (
        SELECT 1 FROM broken_lists b WHERE b.input = f.input AND b.root = f.root AND b.api_group = lists.api_group
            AND b.kind = lists.kind AND b.namespace = lists.namespace
    )
)
"""

_WHOLE = """
INSERT INTO lists BY NAME
SELECT a.file_id, a.api_group, a.kind, a.namespace, coalesce(a.objects, 0)::INTEGER AS objects, b.kind IS NULL AS complete
FROM asked_lists a LEFT JOIN broken_lists b USING (input, root, api_group, kind, namespace)
WHERE a.outcome = 'ok' AND NOT EXISTS (
    SELECT 1 FROM lists l JOIN files f USING (file_id)
    WHERE f.input = a.input AND f.root = a.root AND l.api_group = a.api_group AND l.kind = a.kind AND l.namespace = a.namespace
)
ORDER BY a.file_id, a.api_group, a.kind, a.namespace
"""


def settle(con: duckdb.DuckDBPyConnection) -> None:
    """Marks files that were changed and lists that are not whole, and adds the lists and files that the manifest names.

    Args:
        con: the database as loading leaves it.
    """
    (ours,) = con.execute("SELECT count(*) FROM (SELECT 1 FROM files WHERE format = 'triage' LIMIT 1)").fetchall()[0]
    if not ours:
        return
    for step in (_ALTERED, _MISSING, _ASKED, _UNPROVEN, _BROKEN, _INCOMPLETE, _WHOLE):
        con.execute(step)
    for name in ("asked_lists", "broken_lists"):
        con.execute(f"DROP TABLE {name}")
