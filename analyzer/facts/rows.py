"""How facts written in Python reach their tables: whole batches as JSON, which DuckDB reads much faster than row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import duckdb
import orjson

from analyzer.store.schema import BY_NAME

_BATCH = 5_000


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Appends rows to a table of the schema and says how many there were.

    Args:
        con: the database; the table exists.
        table: its name in `analyzer.store.schema`.
        rows: column name → value; columns left out are NULL. Times are naive UTC datetimes.
    """
    columns = BY_NAME[table].columns
    shape = orjson.dumps({column.name: _json_type(column.type) for column in columns}).decode()
    names = ", ".join(f'"{column.name}"' for column in columns)
    statement = (
        f'INSERT INTO "{table}" ({names}) SELECT r.* FROM '  # noqa: S608 - names come from the schema alone
        f"(SELECT unnest(from_json(?::JSON, '[{shape}]')) AS r)"
    )
    count, rest = 0, iter(rows)
    while batch := list(islice(rest, _BATCH)):
        con.execute(statement, [orjson.dumps(batch).decode()])
        count += len(batch)
    return count


def _json_type(name: str) -> Any:
    """A column's type as from_json wants it: a list is written as an array of its element's type."""
    return [name[:-2]] if name.endswith("[]") else name
