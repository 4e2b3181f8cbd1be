"""The database of a run: opened in memory, locked before anything untrusted runs in it, saved to one file at the end.

The order matters and is the only one that works (DuckDB 2.0): load and derive in memory, attach the output file, lock,
run rules, copy, detach. A locked connection can neither attach a file nor reach one.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import duckdb

from analyzer.store.schema import PARTS, TABLES

OUTPUT = "output"
"""The name under which the output file is attached."""

DEFAULT_MEMORY_BYTES = 1 << 30
"""What DuckDB may use before it spills to the temporary folder, where the caller says nothing."""

_MAX_THREADS = 8


class QueryError(Exception):
    """A query cannot be run; the text says why in one line, without anything of the bundle in it."""


def open_memory(folder: Path, memory_limit: int | None = None, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """An empty in-memory database.

    Args:
        folder: an existing private folder, in which a folder to spill to is made; without one DuckDB would spill into
            the working directory.
        memory_limit: bytes it may use before it spills.
        threads: how many to use; as many as the process may use, up to 8, where not given.
    """
    count = threads or min(available_cores(), _MAX_THREADS)
    con = duckdb.connect(
        ":memory:",
        config={
            "threads": str(count),
            "memory_limit": f"{memory_limit or DEFAULT_MEMORY_BYTES}B",
            "temp_directory": str(spill_folder(folder)),
            "preserve_insertion_order": "true",
            "autoload_known_extensions": "false",
            "autoinstall_known_extensions": "false",
            "allow_community_extensions": "false",
        },
    )
    con.execute("SET TimeZone = 'UTC'")
    return con


def spill_folder(folder: Path) -> Path:
    """A folder of its own to spill to: DuckDB lets SQL read and write what lies there, even with external access off."""
    spill = folder / "spill"
    spill.mkdir(mode=0o700, exist_ok=True)
    return spill


def available_cores() -> int:
    """Cores that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def attach_output(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attaches the file to be written, which must not exist. Only possible before `lock`.

    Raises:
        duckdb.Error: the file cannot be created.
    """
    quoted = str(path).replace("'", "''")
    con.execute(f"ATTACH '{quoted}' AS {OUTPUT}")


def lock(con: duckdb.DuckDBPyConnection) -> None:
    """From here on this connection reaches no file, no network and no extension, and no setting can be changed."""
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET autoload_known_extensions = false")
    con.execute("SET autoinstall_known_extensions = false")
    con.execute("SET allow_community_extensions = false")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


class Early:
    """The largest table on its way into the output file, from when nothing changes it any more, beside all else."""

    TABLE = "objects"

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Prepares the copy, on a connection and a thread of its own; the output is attached."""
        self._cursor = con.cursor()
        self._error: Exception | None = None
        self._statement = f'CREATE TABLE {OUTPUT}."{self.TABLE}" AS FROM {_memory(con)}."{self.TABLE}"'
        self._thread = threading.Thread(target=self._copy, daemon=True)

    def start(self) -> None:
        """Starts copying; until `finish`, nothing else may write to the output."""
        self._thread.start()

    def _copy(self) -> None:
        try:
            self._cursor.execute(self._statement)
            # Compressing it is most of the work, and else comes with whatever is written next.
            self._cursor.execute(f"CHECKPOINT {OUTPUT}")
        except Exception as error:  # noqa: BLE001 - raised again where the caller waits for it
            self._error = error

    def finish(self) -> None:
        """Waits for the copy.

        Raises:
            duckdb.Error: the disk is full.
        """
        self._thread.join()
        self._cursor.close()
        if self._error:
            raise self._error

    def stop(self) -> None:
        """Gives the copy up, whatever becomes of it."""
        if self._thread.is_alive():
            self._cursor.interrupt()
            self._thread.join()
        self._cursor.close()


def save(con: duckdb.DuckDBPyConnection, early: Early | None = None) -> None:
    """Copies everything into the attached output file and closes that; what `early` has copied only once.

    Raises:
        duckdb.Error: the disk is full.
    """
    for table in PARTS:
        con.execute(f'DROP TABLE IF EXISTS "{table.name}"')
    memory = _memory(con)
    query = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary ORDER BY table_oid"
    names = [str(name) for (name,) in con.execute(query).fetchall()]
    if early:
        early.finish()
        names.remove(early.TABLE)
    for name in names:
        con.execute(f'CREATE TABLE {OUTPUT}."{name}" AS FROM {memory}."{name}"')
    con.execute(f"DETACH {OUTPUT}")


def _memory(con: duckdb.DuckDBPyConnection) -> str:
    """The name of the database in memory, quoted."""
    name = str(con.execute("SELECT current_database()").fetchall()[0][0]).replace('"', '""')
    return f'"{name}"'


def check_select(con: duckdb.DuckDBPyConnection, sql: str, *, explain: bool = False) -> None:
    """Refuses everything but exactly one SELECT (which may still hold what a read-only database refuses).

    Args:
        con: any connection; nothing is run.
        sql: the statement.
        explain: EXPLAIN is fine too.

    Raises:
        QueryError: it is something else, or no SQL at all.
    """
    if "\0" in sql:
        raise QueryError("a NUL character is no SQL")
    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(one_line(error)) from None
    allowed = {duckdb.StatementType.SELECT} | ({duckdb.StatementType.EXPLAIN} if explain else set())
    if len(statements) != 1:
        what = "no statement" if not statements else "several statements"
        raise QueryError(f"{what}: exactly one SELECT is run")
    if statements[0].type not in allowed:
        raise QueryError("not a SELECT: the database is only read")


_QUOTED = re.compile(r"'[^']{1,5000}'|\"[^\"]{200,5000}\"")


_MEANT = re.compile(r'Did you mean "[\w. "]{1,200}"\?')
_CANDIDATES = re.compile(r"(Candidate (?:bindings|tables)): ")
_NAME = re.compile(r'"([^"]+)"')
_SCHEMA_NAMES = frozenset(name for table in TABLES for name in (table.name, *(column.name for column in table.columns)))


def one_line(error: BaseException) -> str:
    """An error of DuckDB in one line: without the SQL it points into, and without values of the data it may quote.

    Conversion errors quote the value they failed on; names of tables and columns stay, and which of them may be meant.
    """
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if not isinstance(error, duckdb.ParserException | duckdb.BinderException | duckdb.CatalogException):
        text = _QUOTED.sub("'…'", text)
    text = text[:300] + "".join(f" {hint}" for line in lines[1:] if (hint := _hint(error, line)))
    return "".join(char if char.isprintable() else " " for char in text)


def _hint(error: BaseException, line: str) -> str:
    """What DuckDB takes to be meant, from a further line of its error; empty for any other line.

    A column's name may be a value of the data (PIVOT): only those of the schema are passed on.
    """
    if isinstance(error, duckdb.CatalogException) and _MEANT.fullmatch(line):
        return line
    candidates = _CANDIDATES.match(line) if isinstance(error, duckdb.BinderException) else None
    names = [name for name in _NAME.findall(line) if name in _SCHEMA_NAMES] if candidates else []
    return f"{candidates[1]}: {', '.join(names)}" if candidates and names else ""
