"""status.conditions of every object, as a table."""

from __future__ import annotations

import duckdb

from analyzer.facts import sql


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `conditions`.

    Only lists of mappings with a `type` count. Some kinds keep a map or plain words under that name (Longhorn's Node,
    test results); those are left out.
    """
    con.execute(
        f"""
        INSERT INTO conditions
        SELECT object_id, api_group, kind, namespace, name, idx, fields[1], fields[2], nullif(fields[3], ''),
               nullif(fields[4], ''), {sql.moment("fields[5]")}
        FROM (
            SELECT object_id, api_group, kind, namespace, name, idx,
                   json_extract_string(item, ['$.type', '$.status', '$.reason', '$.message', '$.lastTransitionTime']) AS fields
            FROM (
                SELECT object_id, api_group, kind, namespace, name, unnest(items) AS item,
                       generate_subscripts(items, 1) - 1 AS idx
                FROM (
                    SELECT object_id, api_group, kind, namespace, name, json_extract(json, '$.status.conditions[*]') AS items
                    FROM objects
                    WHERE kind NOT IN ('Event', 'Secret', 'ConfigMap')
                )
            )
            WHERE json_type(item) = 'OBJECT'
        )
        WHERE fields[1] IS NOT NULL
        """  # noqa: S608 - SQL of our own, no value of a bundle
    )
