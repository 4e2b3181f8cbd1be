"""How facts written in Python reach their tables: whole batches as JSON, which DuckDB reads much faster than row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    count, rest = 0, iter(rows)
    while batch := list(islice(rest, _BATCH)):
        # A JSON array a column: no name is looked for in every row, and a column that holds nothing costs nothing.
        given = _columns(batch)
        held = [(column, given[column.name]) for column in columns if column.name in given] or [(columns[0], [None] * len(batch))]
        names = ", ".join(f'"{column.name}"' for column, _ in held)
        shapes = [orjson.dumps([_json_type(column.type)]).decode() for column, _ in held]
        parts = ", ".join(f"unnest(from_json(?::JSON, '{shape}'))" for shape in shapes)
        con.execute(
            f'INSERT INTO "{table}" ({names}) SELECT {parts}',
            [orjson.dumps(values).decode() for _, values in held],
        )
        count += len(batch)
    return count


def _columns(batch: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """The values of each column of some rows; columns that hold nothing are left out."""
    names = list(batch[0])
    columns: dict[str, Sequence[Any]]
    if all(list(row) == names for row in batch):
        # Rows that were made in one place: much faster than to ask each for each name.
        columns = dict(zip(names, zip(*(row.values() for row in batch), strict=True), strict=True))
    else:
        columns = {name: [row.get(name) for row in batch] for name in dict.fromkeys(name for row in batch for name in row)}
    return {name: values for name, values in columns.items() if values.count(None) < len(values)}


def _json_type(name: str) -> Any:
    """A column's type as from_json wants it: a list is written as an array of its element's type."""
    return [name[:-2]] if name.endswith("[]") else name
