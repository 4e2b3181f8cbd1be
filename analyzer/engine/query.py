"""Running a rule's SELECT: checked, read-only, bounded in time and rows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.store.database import QueryError, check_select, one_line

__all__ = ["MAX_ROWS", "QUERY_SECONDS", "QueryError", "Row", "interrupted_after", "select"]

QUERY_SECONDS = 60.0
"""Longest time one query may take."""
MAX_ROWS = 100_000
"""Most rows of one query."""

Row = dict[str, Any]


def select(con: duckdb.DuckDBPyConnection, sql: str, seconds: float = QUERY_SECONDS) -> list[Row]:
    """The rows of one SELECT, run in a read-only transaction (a WITH may hold an INSERT).

    Raises:
        QueryError: it is no SELECT, fails, takes longer than `seconds` or gives more than MAX_ROWS rows.
    """
    check_select(con, sql)
    con.execute("BEGIN TRANSACTION READ ONLY")
    try:
        with interrupted_after(con, seconds):
            con.execute(sql)
            names = [column[0] for column in con.description or ()]
            rows = con.fetchmany(MAX_ROWS + 1)
    except duckdb.InterruptException:
        raise QueryError(f"took longer than {seconds:g} s") from None
    except duckdb.Error as error:
        raise QueryError(one_line(error)) from None
    finally:
        con.execute("ROLLBACK")
    if len(rows) > MAX_ROWS:
        raise QueryError(f"gives more than {MAX_ROWS} rows")
    return [dict(zip(names, row, strict=True)) for row in rows]


@contextlib.contextmanager
def interrupted_after(con: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupts what the connection does when the time is over."""
    timer = threading.Timer(seconds, con.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
