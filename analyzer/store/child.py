"""The process in which a person's SQL runs, so that whatever it does ends with it.

DuckDB's own limits do not bound scalar functions (`repeat('x', 2e9)`), so the process has an address-space limit and its
parent kills it when the time is over. The request comes on stdin as JSON; the result goes to a file: one line with the
columns, then one JSON array a row. It ends with one of the codes below and, unless all is well, one line on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import orjson

from analyzer.rlimits import limit
from analyzer.store.schema import GENERATION

OK, FAILED, FOREIGN = 0, 1, 3

_BATCH = 2000
_THREADS = 4
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


def main() -> NoReturn:
    """Runs the request on stdin and ends the process."""
    request = json.load(sys.stdin)
    limit("AS", request["address_space"])
    limit("FSIZE", request["result_bytes"])
    limit("CPU", request["seconds"] * (_THREADS + 1))
    limit("CORE", 0)
    code, message = _answer(request)
    if message:
        sys.stderr.write(message)
        sys.stderr.flush()
    # Neither DuckDB's threads nor a database in a bad state are worth waiting for.
    os._exit(code)


def _answer(request: dict[str, Any]) -> tuple[int, str]:
    """Runs the request: an exit code and a message, which is empty where all is well."""
    import duckdb

    from analyzer.store.database import QueryError, check_select, lock, one_line
    from analyzer.store.statement import without_end

    parquet = bool(request.get("parquet"))
    try:
        con = _open(request)
        if parquet:
            # The one file that can be reached once the connection is locked. Only SELECTs are run, which cannot write to it.
            con.execute(f"SET allowed_paths = [{_literal(request['result'])}]")
        lock(con)
        ours = con.execute("SELECT value FROM meta WHERE key = 'schema'").fetchall() == [(GENERATION,)]
    except duckdb.Error:
        ours = False
    if not ours:
        return FOREIGN, "not a database of triage, or one of another version"
    try:
        check_select(con, request["query"], explain=not parquet)
        if parquet:
            # It is one SELECT, so the parentheses hold whatever it is; a comment at its end stops at the line.
            target = f"{_literal(request['result'])} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
            con.execute(f"COPY (\n{without_end(request['query'])}\n) TO {target}")
        else:
            con.execute(request["query"])
            _write(con, Path(request["result"]))
    except (duckdb.OutOfMemoryException, MemoryError):
        message = "the query needs more memory than it may use"
    except duckdb.Error as error:
        message = one_line(error)
    except QueryError as error:
        message = str(error)
    except OSError as error:
        message = f"the result cannot be kept: {error.strerror}"
    else:
        return OK, ""
    return FAILED, message


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _open(request: dict[str, Any]) -> Any:
    """The database, read-only, with private space to spill to."""
    import duckdb

    return duckdb.connect(
        request["database"],
        read_only=True,
        config={
            "threads": str(_THREADS),
            "memory_limit": f"{request['memory']}B",
            "temp_directory": request["spill"],
            "max_temp_directory_size": f"{request['result_bytes']}B",
            "autoload_known_extensions": "false",
            "autoinstall_known_extensions": "false",
            "allow_community_extensions": "false",
        },
    )


def _write(con: Any, path: Path) -> None:
    """The columns, then the rows."""
    columns = [[str(column[0]), str(column[1])] for column in con.description or ()]
    with path.open("wb") as stream:
        stream.write(orjson.dumps(columns, option=orjson.OPT_APPEND_NEWLINE))
        while rows := con.fetchmany(_BATCH):
            stream.writelines(map(_line, rows))


def _line(row: tuple[Any, ...]) -> bytes:
    """A row as a JSON array; times in RFC 3339 UTC."""
    try:
        return orjson.dumps(row, default=_odd, option=_OPTIONS)
    except TypeError:
        return orjson.dumps([_small(value) for value in row], default=_odd, option=_OPTIONS)


def _odd(value: Any) -> Any:
    """A value of a type that JSON does not have."""
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, set) else str(value)


def _small(value: Any) -> Any:
    """The value with integers beyond 64 bits as text."""
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if isinstance(value, list | tuple):
        return [_small(item) for item in value]
    return {str(key): _small(item) for key, item in value.items()} if isinstance(value, dict) else value
