"""What a finished database was loaded from, taken into a new one: so that facts and rules can run again without the bundle."""

from __future__ import annotations

from pathlib import Path

import duckdb

from analyzer.bundle.errors import UsageError
from analyzer.store.reading import foreign
from analyzer.store.schema import BY_NAME, TABLES

_OLD = "earlier"


def attach(con: duckdb.DuckDBPyConnection, database: Path) -> None:
    """Attaches a finished database, only to be read. Only possible before the connection is locked.

    Raises:
        UnreadableError: it is no database.
    """
    quoted = str(database).replace("'", "''")
    try:
        con.execute(f"ATTACH '{quoted}' AS {_OLD} (READ_ONLY)")
    except duckdb.Error:
        raise foreign(database) from None


def take(con: duckdb.DuckDBPyConnection, database: Path) -> None:
    """Copies the tables that loading fills out of the attached database, and closes it.

    Objects that were gone are objects again: whether they are is found out anew. The connection is locked before, since a
    view in a database of somebody else's may hold any query.

    Args:
        con: the connection, in memory, locked.
        database: the attached file, known to be ours (`reading`), for what is said of it.

    Raises:
        UsageError: its tables are those of another version.
    """
    tables = [table for table in TABLES if table.stage == "parts"]
    held: dict[str, dict[str, str]] = {}
    for name, column, kind in con.execute(
        "SELECT c.table_name, c.column_name, c.data_type FROM duckdb_columns() c JOIN duckdb_tables() t "
        "USING (database_name, schema_name, table_name) WHERE c.database_name = ? AND c.schema_name = 'main'",
        [_OLD],
    ).fetchall():
        held.setdefault(name, {})[column] = kind
    for table in (*tables, BY_NAME["gone_objects"]):
        if held.get(table.name) != {column.name: column.type for column in table.columns}:
            raise UsageError(f"{database} was made by another version of triage: analyze the bundle itself again")
    for table in tables:
        con.execute(table.ddl())
        con.execute(f'INSERT INTO "{table.name}" BY NAME FROM {_OLD}."{table.name}"')
    con.execute(f"INSERT INTO objects BY NAME SELECT * EXCLUDE (gone_by) FROM {_OLD}.gone_objects")  # noqa: S608
    con.execute(f"DETACH {_OLD}")
