"""Queries of packs that nobody vouches for, in a process of their own.

DuckDB bounds neither the memory nor the time of every function, so the child has an address-space limit (where the
operating system has one) and is killed at the time limit. It opens a copy of the database read-only, with access to
files and settings closed, and answers rows only: the words are made here, by templates that are bounded.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from analyzer.engine import apart, macros
from analyzer.engine.query import QUERY_SECONDS, QueryError, Row, select
from analyzer.store.schema import PARTS

_COPY = "rules_copy"

ANSWER_BYTES = 64 << 20
"""Longest answer to one query."""
GRACE_SECONDS = 3.0
"""How long a child may take to see that a query was interrupted, and to answer."""


def prepared(con: duckdb.DuckDBPyConnection, path: Path) -> Callable[[], Path]:
    """Attaches a file for a copy of the database; only possible before the connection is locked.

    Args:
        con: the database.
        path: where the copy is to be written; must not exist.

    Returns:
        What writes the copy, closes it and says where it is; to be called once, when all facts are there.
    """
    quoted = str(path).replace("'", "''")
    con.execute(f"ATTACH '{quoted}' AS {_COPY}")

    def write() -> Path:
        memory = str(con.execute("SELECT current_database()").fetchall()[0][0]).replace('"', '""')
        for table in PARTS:
            con.execute(f'DROP TABLE IF EXISTS "{table.name}"')
        con.execute(f'COPY FROM DATABASE "{memory}" TO {_COPY}')
        con.execute(f"DETACH {_COPY}")
        return path

    return write


def run(
    database: Path, queries: Sequence[str], found: Sequence[tuple[int, str]] = (), seconds: float = QUERY_SECONDS
) -> list[list[Row] | QueryError]:
    """Runs the queries one after the other, each within its time.

    Args:
        database: a copy of the database, closed by whoever wrote it.
        queries: one SELECT each.
        found: what the table `found` holds for them.
        seconds: time limit of each query.

    Returns:
        For each query its rows, or why there are none.
    """
    answers: list[list[Row] | QueryError] = []
    while len(answers) < len(queries):
        rest = queries[len(answers) :]
        answers += _one_child(database, rest, found, seconds)
    return answers


def _one_child(
    database: Path, queries: Sequence[str], found: Sequence[tuple[int, str]], seconds: float
) -> list[list[Row] | QueryError]:
    """The answers of one child: all of them, or up to the query that it did not survive."""
    request = {"database": str(database), "queries": list(queries), "found": list(found), "seconds": seconds}
    answers: list[list[Row] | QueryError] = []
    try:
        with contextlib.closing(
            apart.answers("analyzer.engine.foreign", request, seconds + GRACE_SECONDS, ANSWER_BYTES)
        ) as lines:
            answers += (_answer(line) for line in itertools.islice(lines, len(queries)))
    except apart.LateError:
        answers.append(QueryError(f"took longer than {seconds:g} s and was stopped"))
    except apart.ApartError as error:
        answers.append(QueryError(str(error)))
    return answers


def _answer(line: bytes) -> list[Row] | QueryError:
    try:
        answer = json.loads(line)
        if "error" in answer:
            return QueryError(str(answer["error"])[:300])
        return [{str(name): _decoded(value) for name, value in row.items()} for row in answer["rows"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return QueryError("gives rows that cannot be read")


def _encoded(value: Any) -> Any:
    """A value as JSON holds it; what JSON has no word for is a mapping with one key that starts with a $."""
    if isinstance(value, dict):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(item) for item in value]
    if isinstance(value, datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, timedelta):
        return {"$seconds": value.total_seconds()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$time"}:
            return datetime.fromisoformat(value["$time"])
        if set(value) == {"$seconds"}:
            return timedelta(seconds=value["$seconds"])
        return {key: _decoded(item) for key, item in value.items()}
    return value


def _main() -> None:
    """The child: one request on standard input, one line an answer on standard output."""
    request = json.loads(sys.stdin.buffer.readline())
    apart.limit_memory()
    con = duckdb.connect(request["database"], read_only=True, config={"threads": 2})
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET memory_limit = '1GB'")
    con.execute("SET max_temp_directory_size = '0 KiB'")
    for name in ("autoload_known_extensions", "autoinstall_known_extensions", "allow_community_extensions"):
        con.execute(f"SET {name} = false")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    macros.create(con)
    macros.note_found(con, [(int(number), str(code)) for number, code in request["found"]])
    for sql in request["queries"]:
        try:
            answer: dict[str, Any] = {"rows": [_encoded(row) for row in select(con, sql, request["seconds"])]}
        except QueryError as error:
            answer = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _main()
