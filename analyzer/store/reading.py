"""A finished database, opened to be read: what commands that print from it stand on."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

from analyzer.bundle.errors import UnreadableError
from analyzer.store.database import DEFAULT_MEMORY_BYTES, lock, spill_folder
from analyzer.store.schema import GENERATION

_THREADS = 2
_SPILL_BYTES = 4 << 30


@contextlib.contextmanager
def reading(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to a `bundle.duckdb`, locked: it reaches no other file, whatever the database holds.

    Args:
        database: the file.

    Raises:
        UnreadableError: it is no database of ours, or one of another generation.
    """
    with tempfile.TemporaryDirectory(prefix="triage-read-", ignore_cleanup_errors=True) as folder:
        try:
            con = duckdb.connect(
                str(database),
                read_only=True,
                config={
                    "threads": str(_THREADS),
                    "memory_limit": f"{DEFAULT_MEMORY_BYTES}B",
                    "temp_directory": str(spill_folder(Path(folder))),
                    "max_temp_directory_size": f"{_SPILL_BYTES}B",
                    "autoload_known_extensions": "false",
                    "autoinstall_known_extensions": "false",
                    "allow_community_extensions": "false",
                    # Else a table that a database lacks would be looked for among the caller's Python variables.
                    "python_enable_replacements": "false",
                },
            )
        except duckdb.Error:
            raise foreign(database) from None
        with contextlib.closing(con):
            if not _is_ours(con):
                raise foreign(database)
            yield con


def _is_ours(con: duckdb.DuckDBPyConnection) -> bool:
    try:
        lock(con)
        return con.execute("SELECT value FROM meta WHERE key = 'schema'").fetchall() == [(GENERATION,)]
    except duckdb.Error:
        return False


def foreign(database: Path) -> UnreadableError:
    """What is said of a database that is none of ours."""
    return UnreadableError(f"{database}: not a database of triage, or one of another version")
