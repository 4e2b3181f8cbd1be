"""Empty tables to fill."""

from __future__ import annotations

import duckdb

from analyzer.store.schema import TABLES


def renew(con: duckdb.DuckDBPyConnection, *stages: str) -> None:
    """Makes the tables of these stages, empty, whatever was in them.

    Those that are there and empty stay: there are more than a hundred, and a small bundle fills few of them.

    Args:
        con: the database; its tables of these names are of this version.
        stages: see `analyzer.store.tables.base.Table`.
    """
    query = "SELECT table_name, column_count, estimated_size FROM duckdb_tables() WHERE database_name = current_database()"
    there = {name: (columns, rows) for name, columns, rows in con.execute(f"{query} AND NOT temporary").fetchall()}
    for table in TABLES:
        if table.stage in stages and there.get(table.name) != (len(table.columns), 0):
            con.execute(table.ddl().replace("CREATE TABLE", "CREATE OR REPLACE TABLE", 1))
