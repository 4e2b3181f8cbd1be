"""From the part files of the parse workers to the tables of stage `parts`, all in SQL over whole sets.

An object that was read in several places of one input becomes one row of `objects`; every place stays in `sources`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import duckdb
import orjson

from analyzer.store.schema import BY_NAME, PARTS, TABLES

_MIN_LINE_BYTES = 1 << 20
_MAX_LINE_BYTES = 192 << 20
"""Longest line of a part file: an object at its limit (64 MiB), its other columns, and escapes."""

_BATCH = 20_000


class Parts(Protocol):
    """What the bundle hands over: rows of `inputs` and `files`, and the NDJSON files of each part table."""

    @property
    def inputs(self) -> Sequence[Mapping[str, Any]]:
        """Rows of the table inputs, by column; missing columns are NULL, times naive UTC datetimes or RFC 3339."""

    @property
    def files(self) -> Sequence[Mapping[str, Any]]:
        """Rows of the table files."""

    @property
    def parts(self) -> Mapping[str, Sequence[Path]]:
        """Part table → its NDJSON files."""


def load(con: duckdb.DuckDBPyConnection, parts: Parts) -> None:
    """Creates and fills the tables of stage `parts`; the other tables are left to their stages.

    Args:
        con: an open database, before `database.lock`.
        parts: what `analyzer.bundle.read` made; its files are only read.

    Raises:
        duckdb.Error: the database is out of memory or disk.
    """
    for table in TABLES:
        if table.stage == "parts":
            con.execute(table.ddl())
    # Every step sorts for itself; reading in parallel takes half the time where no order has to be kept.
    con.execute("SET preserve_insertion_order = false")
    for table in PARTS:
        _read(con, table.name, parts.parts.get(table.name, ()))
    con.execute("SET preserve_insertion_order = true")
    _insert(con, "inputs", parts.inputs)
    _insert(con, "files", parts.files)
    for step in (_FILES, *_OBJECTS, *_REST):
        con.execute(step)
    for table in PARTS:
        con.execute(f'DROP TABLE "{table.name}"')
    for name in ("read_places", "object_rows", "log_ids"):
        con.execute(f"DROP TABLE {name}")


def _read(con: duckdb.DuckDBPyConnection, name: str, paths: Sequence[Path]) -> None:
    """One part table. A line that a dying worker left unfinished has no file_id, and is no row."""
    table = BY_NAME[name]
    con.execute(table.ddl())
    sizes = [(path, path.stat().st_size) for path in paths]
    files = [str(path) for path, size in sizes if size]
    if not files:
        return
    longest = max(size for _, size in sizes)
    columns = ", ".join(f"'{column.name}': '{column.type}'" for column in table.columns)
    con.execute(
        f"INSERT INTO \"{name}\" SELECT * FROM read_json(?, columns = {{{columns}}}, format = 'newline_delimited', "  # noqa: S608
        "ignore_errors = true, maximum_object_size = ?) WHERE file_id IS NOT NULL",
        [files, min(max(longest + 1, _MIN_LINE_BYTES), _MAX_LINE_BYTES)],
    )


def _insert(con: duckdb.DuckDBPyConnection, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Rows from Python, in batches of JSON: many times faster than one statement a row."""
    columns = BY_NAME[name].columns
    shape = orjson.dumps([{column.name: column.type for column in columns}]).decode()
    names = ", ".join(f'"{column.name}"' for column in columns)
    rest = iter(rows)
    while batch := list(islice(rest, _BATCH)):
        text = orjson.dumps(batch, option=orjson.OPT_NON_STR_KEYS).decode()
        con.execute(
            f'INSERT INTO "{name}" ({names}) SELECT r.* FROM (SELECT unnest(from_json(?::JSON, ?)) AS r)',  # noqa: S608
            [text, shape],
        )


def _moment(expression: str) -> str:
    """SQL that reads a text as a time with a zone: TIMESTAMP in UTC, NULL where it is no such time (also `infinity`)."""
    shape = "^[12][0-9]{3}-[0-9]{2}-[0-9]{2}[Tt].{1,40}([Zz]|[+-][0-9]{2}:?[0-9]{2})$"
    return (
        f"CASE WHEN regexp_matches({expression}, '{shape}') "
        f"THEN make_timestamp(epoch_us(try_cast({expression} AS TIMESTAMPTZ))) END"
    )


_FILES = """
UPDATE files SET status = p.status, line = p.line, error = p.error, lost = p.lost
FROM (SELECT DISTINCT ON (file_id) * FROM part_files ORDER BY file_id, status = 'read', line) p
WHERE p.file_id = files.file_id
"""

# An object's identity within its input (inputs are joined once their times are known, see analyzer.store.join). Its uid
# is the best there is, but the same uid is served under several kinds (OpenShift's Project is the Namespace) and an Event
# under two groups. Without a uid the name counts: it joins the newest object of that name, where one has a uid. An object
# without uid and name is itself alone.
_PLACES = """
CREATE TEMP TABLE read_places AS
WITH place AS (
    SELECT p.rowid AS part, f.input, p.file_id, p.idx, p.line, p.uid, p.resource_version, p.whole, p.kind, p.namespace, p.name,
        CASE WHEN p.kind = 'Event' AND p.api_group = 'events.k8s.io' THEN '' ELSE p.api_group END AS family,
        CASE WHEN regexp_full_match(p.resource_version, '[0-9]{1,19}') THEN p.resource_version::HUGEINT END AS revision
    FROM part_objects p JOIN files f USING (file_id)
), known AS (
    SELECT input, family, kind, namespace, name, arg_max(uid, (coalesce(revision, -1), file_id, idx)) AS uid
    FROM place WHERE uid <> '' AND name <> ''
    GROUP BY ALL
)
SELECT place.* EXCLUDE (uid),
    CASE
        WHEN place.uid <> '' THEN concat_ws(chr(31), 'uid', input, place.uid, family, kind)
        WHEN known.uid IS NOT NULL THEN concat_ws(chr(31), 'uid', input, known.uid, family, kind)
        WHEN name <> '' THEN concat_ws(chr(31), 'name', input, family, kind, namespace, name)
        ELSE concat_ws(chr(31), 'place', file_id, idx)
    END AS identity
FROM place LEFT JOIN known USING (input, family, kind, namespace, name)
"""

# The newest version stands for the object: the greater resourceVersion, at an equal one what was read whole. What has
# no number to compare: the later file.
_ROWS = """
CREATE TEMP TABLE object_rows AS
WITH ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY identity
        ORDER BY revision DESC NULLS LAST, whole DESC, CASE WHEN revision IS NULL THEN file_id END DESC NULLS LAST,
            CASE WHEN revision IS NULL THEN idx END DESC NULLS LAST, file_id, idx
    ) AS place_rank
    FROM read_places
), chosen AS (
    SELECT identity, part AS chosen_part, resource_version AS chosen_version,
        row_number() OVER (ORDER BY file_id, idx, part) - 1 AS object_id
    FROM ranked WHERE place_rank = 1
)
SELECT ranked.*, object_id, chosen_version, part = chosen_part AS chosen
FROM ranked JOIN chosen USING (identity)
"""

_CHOSEN = f"""
INSERT INTO objects BY NAME
SELECT o.object_id, o.input, p.api_group, p.version, p.kind, p.namespace, p.name, p.uid, p.resource_version,
    {_moment("created")} AS created_at, {_moment("deleted")} AS deleted_at,
    p.file_id, p.line, p.byte_offset, p.byte_length, p.whole, p.json
FROM object_rows o
JOIN (
    SELECT *, times[1] AS created, times[2] AS deleted
    FROM (
        SELECT *, rowid AS part,
            json_extract_string(json, ['$.metadata.creationTimestamp', '$.metadata.deletionTimestamp']) AS times
        FROM part_objects
    )
) p ON p.part = o.part
WHERE o.chosen
ORDER BY o.object_id
"""  # noqa: S608 - only SQL of this module

_SOURCES = """
INSERT INTO sources BY NAME
SELECT object_id, file_id, idx, line, resource_version, chosen, resource_version IS DISTINCT FROM chosen_version AS differs
FROM object_rows ORDER BY object_id, chosen DESC, file_id, idx
"""

_OBJECTS = (_PLACES, _ROWS, _CHOSEN, _SOURCES)

_REST = (
    "INSERT INTO lists BY NAME SELECT * FROM part_lists ORDER BY file_id, api_group, kind, namespace",
    """
    CREATE TEMP TABLE log_ids AS
    SELECT file_id, part, row_number() OVER (ORDER BY file_id, part) - 1 AS log_id FROM part_logs
    """,
    f"""
    INSERT INTO logs BY NAME
    SELECT log_id, * EXCLUDE (log_id, part, first_at, last_at),
        {_moment("first_at")} AS first_at, {_moment("last_at")} AS last_at
    FROM part_logs JOIN log_ids USING (file_id, part) ORDER BY log_id
    """,  # noqa: S608 - only SQL of this module
    f"""
    INSERT INTO log_hits BY NAME
    SELECT l.log_id, h.* EXCLUDE (part, "at"), {_moment("h.at")} AS "at"
    FROM part_log_hits h JOIN log_ids l USING (file_id, part) ORDER BY l.log_id, h.signature, h.line
    """,  # noqa: S608 - only SQL of this module
    """
    INSERT INTO log_hit_counts BY NAME
    SELECT l.log_id, c.* EXCLUDE (file_id, part)
    FROM part_log_counts c JOIN log_ids l USING (file_id, part) ORDER BY l.log_id, c.signature
    """,
    "INSERT INTO documents BY NAME SELECT * FROM part_documents ORDER BY file_id",
    "INSERT INTO requests BY NAME SELECT * FROM part_requests ORDER BY file_id, api_group, resource, namespace",
    "INSERT INTO log_requests BY NAME SELECT * FROM part_log_requests ORDER BY file_id, namespace, pod, container, previous",
    "INSERT INTO digests BY NAME SELECT * FROM part_digests ORDER BY file_id, path",
    "INSERT INTO collect_errors BY NAME SELECT * FROM part_errors ORDER BY file_id, line",
    # A plugin of Sonobuoy that was to run, or has a folder, and left nothing in it but its definition.
    """
    INSERT INTO collect_errors BY NAME
    WITH config AS (
        SELECT d.file_id, f.input, d.json FROM documents d JOIN files f USING (file_id) WHERE d.role = 'sonobuoy-config'
    ), found AS (
        SELECT f.input, regexp_extract(f.path, '(?:^|/)plugins/([A-Za-z0-9][A-Za-z0-9_.-]*)/(.+)$', ['plugin', 'rest']) AS place
        FROM files f WHERE f.format = 'sonobuoy' AND contains(f.path, 'plugins/')
    ), plugins AS (
        SELECT input, place.plugin AS plugin, bool_or(starts_with(place.rest, 'results/')) AS ran
        FROM found WHERE place.plugin <> '' GROUP BY ALL
        UNION ALL
        SELECT input, unnest(json_extract_string(json, '$.plugins[*]')), false FROM config
    )
    SELECT c.file_id, 1 AS line, 'failed' AS kind, 'plugin ' || p.plugin AS subject, 'it left no results' AS message
    FROM plugins p JOIN config c USING (input) GROUP BY ALL HAVING NOT bool_or(p.ran) ORDER BY ALL
    """,
)
