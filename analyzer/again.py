"""A case once more, from the database of its report: facts and rules run anew, nothing of the bundle is parsed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analyzer.bundle.containers import open_container
from analyzer.bundle.errors import BundleError, UsageError
from analyzer.case import Case, Options, judged, signature_ids
from analyzer.logs.originals import Original, originals
from analyzer.memory import shares, told_if_short
from analyzer.workspace import Progress, workspace

if TYPE_CHECKING:
    import duckdb

    from analyzer.engine.model import Report
    from analyzer.engine.pack import Pack


def analyze_again(
    database: Path, packs: Sequence[Pack], output: Path, options: Options, progress: Progress = lambda _stage, _done, _total: None
) -> Report:
    """Run facts and rules over what an earlier run loaded.

    Args:
        database: the `bundle.duckdb` of that run.
        packs: the rule packs to run, built-in first.
        output: where the new `bundle.duckdb` is to be written; must not exist.
        options: `as_of` and `memory_limit` count; the rest is about parsing.
        progress: told of each stage.

    Returns:
        The frozen result. Lines of quoted fields are found where the bundle still lies at its recorded path, unchanged;
        else evidence has its object's first line.

    Raises:
        UsageError: the database is of another version, or a pack looks for log lines that were not looked for then.
        UnreadableError: it is no database of ours.
    """
    from analyzer.store import database as store
    from analyzer.store import stored
    from analyzer.store.reading import reading

    with reading(database) as con:
        meta: dict[str, str | None] = dict(con.execute("SELECT key, value FROM meta").fetchall())
    _check_signatures(database, meta, packs)
    room = shares(options.memory_limit, 1)
    with workspace() as folder, told_if_short(), contextlib.closing(store.open_memory(folder, room.database)) as con:
        progress("loading", 0, 0)
        stored.attach(con, database)
        reader = partial(_reread, con, database, meta.get("tool-version"))
        case = Case(con, folder, output, reader, take=lambda: stored.take(con, database))
        return judged(case, packs, options, progress)


@dataclass(frozen=True, slots=True)
class _File:
    """A file that quoted fields stand in; `index` is its place in the input as it was read."""

    file_id: int
    input: int
    path: str
    size: int
    index: int


def _reread(
    con: duckdb.DuckDBPyConnection, database: Path, made_by: str | None, ids: Sequence[int]
) -> Iterator[tuple[int, BinaryIO]]:
    """The files with these ids once more, as far as the inputs are still where they were."""
    rows = con.execute(
        "SELECT f.file_id, f.input, f.path, coalesce(f.bytes, -1), f.file_id - i.first "
        "FROM files f JOIN (SELECT input, min(file_id) AS first FROM files GROUP BY input) i USING (input) "
        "WHERE f.file_id IN (SELECT unnest(?::INTEGER[])) ORDER BY f.file_id",
        [list(ids)],
    ).fetchall()
    files = [_File(*row) for row in rows]
    for number, original in originals(con, database, (), files, made_by).items():
        if isinstance(original, Original):
            own = [file for file in files if file.input == number]
            places = {file.index if original.indexes is None else original.indexes[file.path]: file.file_id for file in own}
            with contextlib.suppress(BundleError, OSError):
                for index, stream in open_container(original.path).read(sorted(places)):
                    yield places[index], stream


def _check_signatures(database: Path, meta: dict[str, str | None], packs: Sequence[Pack]) -> None:
    sought = set((meta.get("signatures") or "").split())
    fresh = [name for name in signature_ids(packs) if name not in sought]
    if fresh:
        raise UsageError(
            f"{database}: these rules look for log lines that were not looked for when it was made ({fresh[0]}"
            f"{f' and {len(fresh) - 1} more' if len(fresh) > 1 else ''}): analyze the bundle itself"
        )
