"""Inputs → part files: what is in each input, read by the workers, with what was not read and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from analyzer.bundle.containers import open_container, sha256_of
from analyzer.bundle.errors import UnreadableError
from analyzer.bundle.formats import INSIDE_NOT_OPENED, Known, Layout, recognise, triage
from analyzer.bundle.formats.base import ALL_NAMESPACES
from analyzer.bundle.formats.support_bundle import HOST
from analyzer.bundle.limits import WORKER_BYTES
from analyzer.bundle.parse import read_file
from analyzer.bundle.rows import ERRORS, FILES, LISTS, Result, Sink
from analyzer.bundle.signatures import Scanner, Signature
from analyzer.bundle.stamps import Stamp, format_time, name_time
from analyzer.bundle.task import Task
from analyzer.bundle.types import Listing, Problem
from analyzer.bundle.workers import Pool
from analyzer.store.schema import PARTS

Row = Mapping[str, Any]
_NO_MANIFEST = Problem(f"cut: {triage.MANIFEST}, which is written last, is not in it")
_PARENT = "parent"
"""Stands for the worker's number in the names of the part files that the parent writes."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What was read.

    Attributes:
        inputs: rows of table inputs without collected_at, collected_source and as_of, and with `name_at`: the local
            time in the name of a bundle's folder or file, `YYYY-MM-DDTHH:MM:SS` without zone, or None.
        files: rows of table files.
        parts: for each table of `analyzer.store.schema.PARTS` its NDJSON files.
        objects: objects read, those from several places counted each time.
        log_lines: lines of logs read.
    """

    inputs: tuple[Row, ...]
    files: tuple[Row, ...]
    parts: Mapping[str, tuple[Path, ...]]
    objects: int
    log_lines: int


@dataclass(slots=True)
class _Input:
    """One input while it is read. `first` is the file id of its first entry, `shown` the path as the user gave it."""

    path: Path
    shown: str
    listing: Listing
    layout: Layout | None
    first: int
    error: str | None = None
    sha256: str | None = None


def read_bundle(
    inputs: Sequence[Path],
    workdir: Path,
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    shown: Sequence[Path] = (),
    signatures: Sequence[Signature] = (),
    worker_memory: int = WORKER_BYTES,
    narrow: Callable[[Layout], Layout] | None = None,
) -> Parts:
    """Read the inputs of one case.

    Args:
        inputs: folders, archives or single files.
        workdir: an existing private folder for the part files; the caller removes it.
        jobs: how many processes read at most.
        progress: told files done and files in all, now and then.
        shown: the inputs as they are told to the user, where that is something else.
        signatures: what logs are searched for; their ids differ.
        worker_memory: address space of a reading process on top of what it starts with, in bytes.
        narrow: leaves out of a layout what is not to be read, for commands that need few kinds.

    Raises:
        UsageError: an input is no file and no folder, or may not be read.
        UnreadableError: not one Kubernetes object and not one log line is in all of the inputs.
        PartFileError: `workdir` cannot be written to.
    """
    opened = _open(inputs, shown or inputs, narrow)
    tasks = [(one.path, task) for one in opened for task in _tasks(one)]
    reader = partial(read_file, scanner=Scanner(signatures))
    with Pool(tasks, workdir, jobs, reader=reader, memory=worker_memory) as pool:
        for one in opened:
            one.sha256 = sha256_of(one.path) if one.path.is_file() else None
        results = pool.results(progress)
    sink = Sink(workdir, _PARENT)
    _write_whole_folders(opened, results, sink)
    _write_files(results, sink)
    sink.close()
    parts = {table.name: tuple(sorted(workdir.glob(f"{table.name}-*.ndjson"))) for table in PARTS}
    _settle_errors(opened, results, parts[ERRORS])
    return Parts(
        inputs=tuple(_input_row(number, one, results) for number, one in enumerate(opened)),
        files=tuple(row for number, one in enumerate(opened) for row in _file_rows(number, one, results)),
        parts=parts,
        objects=sum(result.objects for result in results.values()),
        log_lines=sum(result.lines for result in results.values()),
    )


def _open(inputs: Sequence[Path], shown: Sequence[Path], narrow: Callable[[Layout], Layout] | None) -> list[_Input]:
    """List all inputs. One that cannot be read is an error only where no other can."""
    opened: list[_Input] = []
    first, failure = 0, None
    for path, given in zip(inputs, shown, strict=True):
        try:
            listing = open_container(path).listing()
        except UnreadableError as error:
            failure = failure or error
            opened.append(_Input(path, str(given), Listing(()), None, first, str(error).replace(str(path), str(given))))
            continue
        layout = recognise(listing.entries, folder=path.is_dir())
        if listing.problem is None and any(root.format == triage.FORMAT and root.part == triage.CUT for root in layout.roots):
            listing = replace(listing, problem=_NO_MANIFEST)
        opened.append(_Input(path, str(given), listing, narrow(layout) if narrow else layout, first))
        first += len(listing.entries) + 1  # the last one is the input itself, see _file_rows
    if failure and not any(one.layout for one in opened):
        raise failure
    return opened


def _tasks(one: _Input) -> list[Task]:
    if one.layout is None:
        return []
    return [
        Task(
            one.first + index,
            index,
            known.entry.path,
            known.entry.size,
            known.root.format if known.root else "",
            known.assignment,
        )
        for index, known in enumerate(one.layout.known)
        if known.assignment.reader
    ]


def _known(one: _Input) -> tuple[Known, ...]:
    return one.layout.known if one.layout else ()


def _write_whole_folders(opened: Sequence[_Input], results: Mapping[int, Result], sink: Sink) -> None:
    """A list row for each folder of single files that holds a whole kind: complete unless a file of it failed."""
    for one in opened:
        folders: dict[tuple[str, str], list[int]] = {}
        for index, known in enumerate(_known(one)):
            if known.assignment.whole and known.root:
                folders.setdefault((known.root.prefix, known.assignment.whole), []).append(one.first + index)
        for (_, whole), members in folders.items():
            kind, _, group = whole.partition(".")
            read = [results[file_id] for file_id in members if file_id in results]
            # Of an input that is cut, more of the folder may have followed.
            complete = len(read) == len(members) and one.listing.problem is None
            complete = complete and all(result.status == "read" for result in read)
            row = {"file_id": members[0], "api_group": group, "kind": kind, "namespace": ALL_NAMESPACES}
            sink.write(LISTS, row | {"objects": sum(result.objects for result in read), "complete": complete})


def _write_files(results: Mapping[int, Result], sink: Sink) -> None:
    """Table part_files: what became of each file that was to be read."""
    for file_id in sorted(results):
        result = results[file_id]
        if result.status in ("read", "partial", "unread"):
            row = {"file_id": file_id, "status": result.status, "line": result.line, "error": result.error}
            sink.write(FILES, row | {"lost": result.lost})


def _settle_errors(opened: Sequence[_Input], results: Mapping[int, Result], errors: Sequence[Path]) -> None:
    """Mark the inputs that gave nothing. Documents alone (alerts) are no bundle, but count beside an input that is one.

    Raises:
        UnreadableError: none gave anything.
    """
    bundle = any(result.objects or result.lines for result in results.values())
    for one in opened:
        ids = range(one.first, one.first + len(one.listing.entries))
        read = [results[i] for i in ids if i in results]
        if one.error is None and not any(result.objects or result.lines or (bundle and result.documents) for result in read):
            one.error = _why_nothing(one, ids, results, errors)
    if all(one.error for one in opened):
        raise UnreadableError(opened[0].error or "nothing was given")
    for one in opened:
        if one.error is None and one.listing.problem:
            one.error = one.listing.problem.message


def _why_nothing(one: _Input, ids: range, results: Mapping[int, Result], errors: Sequence[Path]) -> str:
    """One line on an input with no object and no log line: the collection's own words where it has some."""
    name = one.path.name or str(one.path)
    if one.layout and one.layout.format == HOST:
        return f"{name}: this is a host-only support bundle and holds no cluster resources: no Kubernetes object and no log line"
    for path in errors:
        with path.open("rb") as lines:
            for line in lines:
                row = orjson.loads(line)
                if row["file_id"] in ids:
                    return f"{name}: the collection failed or is empty; it says: {row['message']}"
    if one.layout and one.layout.format != "plain":
        return f"{name}: this {one.layout.format} is empty or incomplete: not one Kubernetes object and not one log line in it"
    problem = next((f"; {results[i].error}" for i in ids if i in results and results[i].status == "unread"), "")
    if one.listing.problem and not problem:
        problem = f"; {one.listing.problem.message}"
    return f"{name}: no bundle: not one Kubernetes object and not one log line in it{problem}"


def _input_row(number: int, one: _Input, results: Mapping[int, Result]) -> Row:
    stamps = [
        Stamp(known.root.prefix, known.entry.path, result.clock or known.assignment.name, result.at, result.at_line)
        for index, known in enumerate(_known(one))
        if known.root and (result := results.get(one.first + index)) and result.at
    ]
    at, source = format_time(stamps)
    size = one.path.stat().st_size if one.path.is_file() else sum(entry.size for entry in one.listing.entries)
    return {
        "input": number,
        "path": one.shown,
        "format": _format(one, results),
        "sha256": one.sha256,
        "bytes": size,
        "format_at": at,
        "format_source": source,
        "name_at": _name_at(one),
        "complete": one.listing.problem is None and one.layout is not None,
        "error": one.error,
    }


def _format(one: _Input, results: Mapping[int, Result]) -> str:
    if one.layout is None or one.layout.format != "plain":
        return one.layout.format if one.layout else "plain"
    own = [results[i] for i in range(one.first, one.first + len(one.listing.entries)) if i in results]
    if any(result.dump for result in own):
        return "cluster-info"
    return "log" if not any(result.objects for result in own) and any(result.lines for result in own) else "plain"


def _name_at(one: _Input) -> str | None:
    """The local time in the name of a support bundle's folder, else in that of its archive."""
    if one.layout is None or one.layout.format != "support-bundle":
        return None
    names = [root.folder.rpartition("/")[2] for root in one.layout.roots if root.format == "support-bundle"]
    moments: list[datetime] = [moment for name in (*names, one.path.name) if (moment := name_time(name))]
    return moments[0].isoformat() if moments else None


def _file_rows(number: int, one: _Input, results: Mapping[int, Result]) -> list[Row]:
    """The rows of table files of one input. A nested archive that is no bundle is one row."""
    rows: list[Row] = []
    for index, known in enumerate(_known(one)):
        prefix = known.root.prefix if known.root else ""
        if known.assignment.reason == INSIDE_NOT_OPENED:
            continue
        result = results.get(one.first + index)
        rows.append(
            {
                "file_id": one.first + index,
                "input": number,
                "path": known.entry.path,
                "bytes": known.entry.size,
                "root": prefix.rstrip("/"),
                "format": "cluster-info" if result and result.dump else known.root.format if known.root else "",
                **_status(known, result),
                "sha256": result.sha256 if result else None,
            }
        )
    if one.listing.problem and rows and rows[-1]["status"] == "skipped":
        # Say where the input breaks, also where it does in a file that would not have been read.
        rows[-1] = {
            **rows[-1],
            "status": "unread",
            "error": f"the input ends in or after this file: {one.listing.problem.message}",
        }
    elif one.listing.problem and not any(row["status"] in ("partial", "unread") for row in rows):
        # It breaks between two files: then the input itself is what was not read in full.
        own = {"file_id": one.first + len(one.listing.entries), "input": number, "path": Path(one.shown).name or one.shown}
        size = one.path.stat().st_size if one.path.is_file() else None
        kept = {"bytes": size, "root": "", "format": "", "role": "meta", "status": "partial", "line": None, "lost": None}
        rows.append(own | kept | {"error": one.listing.problem.message})
    return rows


def _status(known: Known, result: Result | None) -> Row:
    """Role, status and error of one file."""
    role, reason = known.assignment.role, known.assignment.reason or None
    if result is None:
        lost = "unread" if role == "unsafe" or known.assignment.reader else "skipped"
        error = reason or ("the archive ends before it" if lost == "unread" else None)
        return {"role": role, "status": lost, "line": None, "error": error, "lost": None}
    if result.status == "skipped":
        role = "skipped"
    elif known.assignment.reader == "guess":
        role = "log" if result.lines and not result.objects else "objects"
    return {"role": role, "status": result.status, "line": result.line, "error": result.error, "lost": result.lost}
