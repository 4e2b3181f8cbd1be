"""SQL of a person over a database of ours: read-only, in a child process with limits (see `child`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from analyzer.bundle.errors import UnreadableError
from analyzer.store import child
from analyzer.store.database import QueryError, spill_folder

QUERY_SECONDS = 60.0
"""Longest time that one query may take."""

MEMORY_BYTES = 1 << 30
"""What DuckDB may use in memory before it spills; the result of one function call is not bounded by it."""

ADDRESS_SPACE_BYTES = 4 << 30
"""Address space of the whole child process, which bounds everything. DuckDB and Python map about 1 GB without using it."""

RESULT_BYTES = 4 << 30
"""Largest result, and largest spill, on disk."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result that lies in a file; `columns` are (name, DuckDB type)."""

    columns: tuple[tuple[str, str], ...]
    path: Path

    def rows(self) -> Iterator[list[Any]]:
        """The rows, one after the other: strings, numbers, booleans, None, lists and dictionaries of these."""
        with self.path.open(encoding="utf-8") as stream:
            next(stream)
            for line in stream:
                yield json.loads(line)


class Runner:
    """Runs queries against one database; a context manager that removes its temporary files.

    Args:
        database: a `bundle.duckdb`.
        seconds: the time limit of each query.
    """

    def __init__(self, database: Path, seconds: float = QUERY_SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._folder = tempfile.TemporaryDirectory(prefix="triage-sql-", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run(self, query: str) -> Result:
        """The result of exactly one SELECT or EXPLAIN.

        Raises:
            QueryError: it is something else, failed, took too long or needed too much memory; one line.
            UnreadableError: the file is no database of ours.
        """
        path = self._answer(query, "result.ndjson", parquet=False)
        with path.open(encoding="utf-8") as stream:
            columns = json.loads(next(stream))
        return Result(tuple((str(name), str(kind)) for name, kind in columns), path)

    def parquet(self, query: str) -> Path:
        """The result of exactly one SELECT as a Parquet file, which is gone when this runner is closed.

        Raises:
            QueryError, UnreadableError: as for `run`.
        """
        return self._answer(query, "result.parquet", parquet=True)

    def tables(self) -> dict[str, int]:
        """The tables that the database has, with their number of rows.

        Raises:
            QueryError, UnreadableError: as for `run`.
        """
        result = self.run("SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'main'")
        return {str(row[0]): int(row[1]) for row in result.rows()}

    def _answer(self, query: str, name: str, *, parquet: bool) -> Path:
        """Runs the query; where its result lies."""
        path = Path(self._folder.name) / name
        request = {
            "database": str(self._database.absolute()),
            "query": query,
            "result": str(path),
            "parquet": parquet,
            "spill": str(spill_folder(Path(self._folder.name))),
            "memory": MEMORY_BYTES,
            "address_space": ADDRESS_SPACE_BYTES,
            "result_bytes": RESULT_BYTES,
            "seconds": int(self._seconds) + 1,
        }
        code, message = self._child(request)
        if code == child.FOREIGN:
            raise UnreadableError(f"{self._database}: {message}")
        if code != child.OK:
            raise QueryError(message or "the query ended the database process; it may need too much memory")
        return path

    def _child(self, request: dict[str, Any]) -> tuple[int, str]:
        """Runs the child to its end or to the time limit: its exit code and its message."""
        # -P: nothing is imported from the working directory, which may be a bundle's.
        command = [sys.executable, "-P", "-c", "from analyzer.store.child import main; main()"]
        paths = [entry for entry in sys.path if entry]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            cwd=self._folder.name,
        )
        try:
            _, error = process.communicate(json.dumps(request).encode(), timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise QueryError(f"the query took longer than {self._seconds:g} s") from None
        finally:
            process.kill()
            process.wait()
        code = process.returncode
        if code not in (child.OK, child.FAILED, child.FOREIGN):
            return child.FAILED, "the query needs more memory than it may use, or ended the database process"
        lines = error.decode("utf-8", "replace").strip().splitlines()
        return code, lines[-1] if lines else ""
