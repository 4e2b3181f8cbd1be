"""How facts written in Python reach their tables: whole batches as JSON, which DuckDB reads much faster than row by row."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Self

import duckdb
import orjson

from analyzer.store.schema import BY_NAME

_BATCH = 5_000
_AHEAD = 3
"""Batches that a Writer holds before it waits for the database."""


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Appends rows to a table of the schema and says how many there were.

    Args:
        con: the database; the table exists.
        table: its name in `analyzer.store.schema`.
        rows: column name → value; columns left out are NULL. Times are naive UTC datetimes.
    """
    count = 0
    for size, statement, values in _batches(table, rows):
        con.execute(statement, values)
        count += size
    return count


class Writer:
    """Inserts rows like `insert_rows`, on a connection and in a thread of its own: while the next rows are made in Python.

    A context: when it ends, all rows are there. What is read meanwhile on the other connection may lack the newest of them.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con.cursor()
        self._pool = ThreadPoolExecutor(1)
        self._open: deque[Future[Any]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            while self._open and kind is None:
                self._open.popleft().result()
        finally:
            self._pool.shutdown(cancel_futures=True)
            self._con.close()

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Appends rows to a table of the schema, see `insert_rows`."""
        for _, statement, values in _batches(table, rows):
            while len(self._open) >= _AHEAD:
                self._open.popleft().result()
            self._open.append(self._pool.submit(self._con.execute, statement, values))


def _batches(table: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str, list[str]]]:
    """The rows in batches: how many, the statement that inserts them, its values."""
    columns = BY_NAME[table].columns
    rest = iter(rows)
    while batch := list(islice(rest, _BATCH)):
        # A JSON array a column: no name is looked for in every row, and a column that holds nothing costs nothing.
        given = _columns(batch)
        held = [(column, given[column.name]) for column in columns if column.name in given] or [(columns[0], [None] * len(batch))]
        names = ", ".join(f'"{column.name}"' for column, _ in held)
        shapes = [orjson.dumps([_json_type(column.type)]).decode() for column, _ in held]
        parts = ", ".join(f"unnest(from_json(?::JSON, '{shape}'))" for shape in shapes)
        # Names and types come from the schema alone.
        statement = f'INSERT INTO "{table}" ({names}) SELECT {parts}'
        yield len(batch), statement, [orjson.dumps(values).decode() for _, values in held]


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
