"""One case from its inputs to the report: the stages in order, each knowing only what the one before it left."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analyzer.memory import shares, told_if_short
from analyzer.workspace import Progress, spooled_inputs, workspace

if TYPE_CHECKING:
    import duckdb

    from analyzer.bundle.read import Parts
    from analyzer.engine.evidence import Reader
    from analyzer.engine.model import Report
    from analyzer.engine.pack import Pack


@dataclass(frozen=True, slots=True)
class Options:
    """How a case is analyzed.

    `as_of` overrides the collection time for ages, `jobs` are parse processes, `memory_limit` is the memory in bytes
    that the parse processes and the database are to keep to; without it each has a limit of its own. `language` is that of
    the texts of rules that have more than English ones.
    """

    as_of: datetime | None = None
    jobs: int | None = None
    memory_limit: int | None = None
    language: str = "en"


@contextlib.contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Hundreds of thousands of live objects without cycles: Python's collector would walk them again and again."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def analyze_case(
    inputs: Sequence[Path],
    packs: Sequence[Pack],
    database: Path,
    options: Options,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Report:
    """Analyze the inputs as one case and write its database.

    Args:
        inputs: files or folders, in the order given; `STDIN` is standard input.
        packs: the rule packs to run, built-in first.
        database: where `bundle.duckdb` is to be written; must not exist.
        options: see Options.
        progress: told of each stage.

    Returns:
        The frozen result, for the reports.

    Raises:
        UsageError: an input or the temporary folder cannot be used, or the inputs are of different clusters.
        UnreadableError: nothing in the inputs could be read as a bundle.
    """
    with workspace() as folder, spooled_inputs(inputs, folder, progress) as paths, _rarely_collecting():
        room = shares(options.memory_limit, options.jobs or os.cpu_count() or 1)
        # Reading stands behind much that commands which ask a finished report never use.
        from analyzer.bundle.read import read_bundle
        from analyzer.engine.pack import signatures_of

        parts = read_bundle(
            paths,
            folder,
            room.jobs,
            lambda done, total: progress("reading", done, total),
            shown=inputs,
            signatures=signatures_of(packs),
            worker_memory=room.worker,
        )
        # Imported only now, when the workers are done: a process with DuckDB's threads alive must not fork.
        from analyzer.store import database as store
        from analyzer.store.join import check_clusters
        from analyzer.store.load import load

        progress("loading", 0, 0)
        with told_if_short(), contextlib.closing(store.open_memory(folder, room.database)) as con:
            load(con, parts)
            check_clusters(con)
            case = Case(con, folder, database, lambda ids: reread(paths, parts, ids))
            return judged(case, packs, options, progress)


@dataclass(frozen=True, slots=True)
class Case:
    """What was loaded of a case: the database in memory, a private folder, where the result goes, and its files once more.

    `take` fills the tables of loading where that waits for the lock; such a database was `dated` when it was made.
    """

    con: duckdb.DuckDBPyConnection
    folder: Path
    output: Path
    reader: Reader | None
    take: Callable[[], None] | None = None

    @property
    def dated(self) -> bool:
        """Whether the inputs have their collection times."""
        return self.take is not None


def judged(case: Case, packs: Sequence[Pack], options: Options, progress: Progress) -> Report:
    """From what was loaded to the report: facts, rules, and the database that is kept."""
    from analyzer import facts
    from analyzer.engine import analysis, foreign, needs
    from analyzer.overview import overview
    from analyzer.store import database as store

    con = case.con
    progress("deriving facts", 0, 0)
    others = any(not pack.trusted for pack in packs)
    snapshot = foreign.prepared(con, case.folder / "rules-copy.duckdb") if others else None
    store.attach_output(con, case.output)
    early = store.Early(con)
    try:
        if case.take:
            store.lock(con)
            case.take()
        facts.derive_all(con, options.as_of, needs.needed_kinds(packs), settled=early.start, dated=case.dated)
        if not case.take:
            store.lock(con)
        progress("running rules", 0, 0)
        report = analysis.analyse(con, packs, reader=case.reader, snapshot=snapshot, language=options.language)
        report = replace(report, overview=overview(con, report.findings))
        analysis.store_result(con, report, signature_ids(packs))
        progress("saving", 0, 0)
        store.save(con, early)
    finally:
        early.stop()
    return report


def signature_ids(packs: Sequence[Pack]) -> list[str]:
    """The log signatures of the packs, by name."""
    from analyzer.engine.pack import signatures_of

    return sorted(signature.id for signature in signatures_of(packs))


@dataclass(frozen=True, slots=True)
class Loaded:
    """One input, loaded and understood, but not judged.

    `con` has all tables of facts, `path` is where the input can be read again, `folder` is private and goes with the context.
    """

    con: duckdb.DuckDBPyConnection
    path: Path
    folder: Path


@contextlib.contextmanager
def loaded(bundle: Path, progress: Progress = lambda _stage, _done, _total: None) -> Iterator[Loaded]:
    """An input as far as the facts, for commands that print what lies in it and need no rule.

    Args:
        bundle: a file or folder; `STDIN` is standard input.
        progress: told of each stage.

    Raises:
        UsageError: the input or the temporary folder cannot be used.
        UnreadableError: nothing in it could be read as a bundle.
    """
    with workspace() as folder, spooled_inputs([bundle], folder, progress) as paths, _rarely_collecting():
        jobs = os.cpu_count() or 1
        from analyzer.bundle.read import read_bundle

        parts = read_bundle(paths, folder, jobs, lambda done, total: progress("reading", done, total), shown=[bundle])
        # Imported only now, as above.
        from analyzer import facts
        from analyzer.store import database as store
        from analyzer.store.load import load

        progress("loading", 0, 0)
        with contextlib.closing(store.open_memory(folder)) as con:
            load(con, parts)
            progress("deriving facts", 0, 0)
            facts.derive_all(con)
            store.lock(con)
            yield Loaded(con, paths[0], folder)


def reread(inputs: Sequence[Path], parts: Parts, file_ids: Sequence[int]) -> Iterator[tuple[int, BinaryIO]]:
    """The files with these ids once more, one pass an input: for the lines of quoted fields."""
    from analyzer.bundle.containers import open_container

    wanted = set(file_ids)
    for number, path in enumerate(inputs):
        ids = [row["file_id"] for row in parts.files if row["input"] == number]
        first = min(ids, default=0)
        indexes = sorted(file_id - first for file_id in wanted.intersection(ids))
        if indexes:
            for index, stream in open_container(path).read(indexes):
                yield first + index, stream
