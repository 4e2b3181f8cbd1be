"""One file of a bundle → rows of the part tables. Runs in the worker processes.

Secrets are masked here, before anything is written. Whatever one file holds, only that file can be lost by it.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson

from analyzer import times
from analyzer.bundle import logs
from analyzer.bundle.collect_errors import MAX_ERROR_BYTES, CollectError, errors_in_json, errors_in_text, make
from analyzer.bundle.documents import read_documents
from analyzer.bundle.errors import BundleError, CutEntry
from analyzer.bundle.formats.base import CLEAN_REPORT, Assignment, Place
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES, MAX_OBJECT_BYTES, MIB
from analyzer.bundle.lists import ListRow, Lists
from analyzer.bundle.logblocks import Block, blocks_of
from analyzer.bundle.rows import DOCUMENTS, ERRORS, LISTS, LOGS, OBJECTS, PartFileError, Result, Sink, masked_json, to_json
from analyzer.bundle.sniff import Rejoined, head_of, looks_like_log, looks_like_objects, looks_like_text
from analyzer.bundle.streams import read_all
from analyzer.bundle.text import one_line
from analyzer.bundle.types import Hint, Item, ListSeen, LogText, Other, Problem
from analyzer.redact import mask_document

MAX_META_BYTES = MIB
"""Timestamp and version files."""

_HEAD_BYTES = 64 * 1024
_REQUEST_ERROR = re.compile(r"^(?:Create l|L|Request l|Read l)og (?:request )?error: ?")

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to read: `index` is its entry in the container, `format` that of its root."""

    file_id: int
    index: int
    path: str
    size: int
    format: str
    assignment: Assignment


def read_file(task: Task, stream: BinaryIO, sink: Sink, tick: Tick) -> Result:
    """Read one file and write its rows.

    Args:
        task: the file and what it is.
        stream: its bytes, decompressed.
        sink: where the rows go.
        tick: called now and then to show progress.

    Returns:
        What became of it. What the file holds never raises: a failure is the file's, not the run's.

    Raises:
        PartFileError: the rows could not be written.
    """
    result = Result(task.file_id)
    reader = _READERS[task.assignment.reader]
    try:
        reader(_Job(task, sink, tick, result), stream)
    except PartFileError:
        raise
    except CutEntry as error:
        result.problem(f"cut: {error}")
    except MemoryError:
        gc.collect()
        result.problem("it takes more memory to read than a worker may use")
    except (BundleError, OSError, EOFError) as error:
        result.problem(one_line(str(error)) or type(error).__name__)
    except Exception as error:  # noqa: BLE001 - a fault of a parser must cost one file, not the report
        # The message of the exception may quote the file, so only its type is told.
        result.problem(f"the parser failed on it ({type(error).__name__})")
    if result.status == "partial" and not (result.objects or result.lines):
        result.status = "unread"
    return result


@dataclass(slots=True)
class _Job:
    """What the readers of one file share."""

    task: Task
    sink: Sink
    tick: Tick
    result: Result
    part: int = 0

    @property
    def is_(self) -> Assignment:
        return self.task.assignment


def _whole(job: _Job, stream: BinaryIO, limit: int) -> tuple[bytes, bool]:
    """All bytes of a file, and whether they end early (noted as its problem)."""
    data, problem = read_all(stream, limit)
    if problem:
        job.result.problem(f"cut: {problem}")
    elif not data:
        job.result.status = "empty"
    return data, problem is not None


# --- objects ----------------------------------------------------------------------------------------------------------


def _read_objects(job: _Job, stream: BinaryIO) -> None:
    data, cut = _whole(job, stream, MAX_DOCUMENT_BYTES)
    if data:
        _parse_objects(job, data, job.is_.hint, cut=cut)


def _parse_objects(job: _Job, data: bytes, hint: Hint, *, cut: bool) -> None:
    """Objects, lists and the log blocks of a dump."""
    run = _Run(job, cut)
    for part in read_documents(data, hint):
        job.tick()
        if isinstance(part, Item):
            run.item(part)
        elif isinstance(part, ListSeen):
            run.list_end(part)
        elif isinstance(part, Problem):
            run.problem(part)
        elif isinstance(part, LogText):
            run.lists.add_log(part.namespace)
            _write_block(job, Block(part.namespace, part.pod, part.container, part.line, part.text))
        else:
            run.other(part)
    run.end(hint)


class _Run:
    """The objects of one file: which items belong to the list that ends next."""

    def __init__(self, job: _Job, cut: bool) -> None:
        self.job = job
        self.cut = cut
        self.lists = Lists()
        self.items: list[tuple[str, str, str, bool]] = []
        self.refused = 0
        self.found = 0
        self.texts = 0

    def item(self, item: Item) -> None:
        """Write one object; a list that lacks a refused one is not complete."""
        metadata = item.value.get("metadata")
        uid = version = ""
        if isinstance(metadata, dict):
            metadata.pop("managedFields", None)
            uid, version = _text(metadata.get("uid")), _text(metadata.get("resourceVersion"))
        self.items.append((item.group, item.kind, item.namespace, bool(uid)))
        text = masked_json(item.value)
        if len(text) > MAX_OBJECT_BYTES:
            self.refused += 1
            self.job.result.problem(f"an object is larger than {MAX_OBJECT_BYTES:,} bytes", item.line, 1)
            return
        self.job.sink.write(
            OBJECTS,
            {
                "file_id": self.job.task.file_id,
                "idx": item.idx,
                "line": item.line,
                "byte_offset": item.offset,
                "byte_length": item.length,
                "api_group": _text(item.group),
                "version": _text(item.version),
                "kind": _text(item.kind),
                "namespace": _text(item.namespace),
                "name": _text(item.name),
                "uid": uid,
                "resource_version": version,
                "whole": item.whole,
                "json": orjson.Fragment(text),
            },
        )
        self.job.result.objects += 1

    def list_end(self, seen: ListSeen) -> None:
        """Take the items before the end of a list as its own, one list for each kind among them."""
        self.found += 1
        count = len(self.items)
        own = self.items[count - min(count, seen.objects) :]
        self.items.clear()
        complete = seen.complete and not self.cut and not self.refused
        kinds: dict[tuple[str, str], list[tuple[str, str, str, bool]]] = {}
        for item in own:
            kinds.setdefault((item[0], item[1]), []).append(item)
        if not kinds and (seen.kind or self.job.is_.hint.kind):
            hint = self.job.is_.hint
            kinds[(seen.group, seen.kind) if seen.kind else (hint.group, hint.kind)] = []
        for (group, kind), members in kinds.items():
            self._list(group, kind, members, complete=complete)
        self.refused = 0

    def _list(self, group: str, kind: str, members: list[tuple[str, str, str, bool]], *, complete: bool) -> None:
        if self.job.is_.scope:
            self._write(ListRow(group, kind, self.job.is_.scope, len(members), complete))
            return
        namespaces = {member[2] for member in members}
        served = all(member[3] for member in members)
        self.lists.add(group, kind, namespaces, objects=len(members), complete=complete, served=served)

    def problem(self, problem: Problem) -> None:
        """A damaged place; the objects around it are read."""
        self.job.result.problem(one_line(problem.message), problem.line, problem.lost)

    def other(self, other: Other) -> None:
        """A document that is no object."""
        if isinstance(other.value, str) and other.value.strip():
            self.texts += 1

    def end(self, hint: Hint) -> None:
        """The end of the file: lists of unknown scope, and files without what the format promises."""
        for row in self.lists.rows():
            self._write(row)
        result = self.job.result
        result.dump = self.lists.is_dump and self.job.task.format == "plain"
        nothing = not (result.objects or self.found or self.lists.logs)
        if nothing and self.job.is_.strict:
            if self.texts:
                what = f"{hint.kind} objects" if hint.kind else "objects"
                result.problem(f"text, not {what}", 1)
        elif nothing and result.error is None:
            result.status, result.error = "skipped", "no Kubernetes object in it"

    def _write(self, row: ListRow) -> None:
        self.job.sink.write(
            LISTS,
            {
                "file_id": self.job.task.file_id,
                "api_group": _text(row.group),
                "kind": _text(row.kind),
                "namespace": _text(row.namespace),
                "objects": row.objects,
                "complete": row.complete,
            },
        )


def _text(value: object) -> str:
    """A string that a column can hold, empty for anything else."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if isinstance(value, str) else ""


# --- logs -------------------------------------------------------------------------------------------------------------


def _read_log(job: _Job, stream: BinaryIO) -> None:
    counter = logs.LogCounter()
    try:
        while chunk := stream.read(logs.CHUNK_BYTES):
            counter.feed(chunk)
            job.tick()
    except CutEntry as error:
        job.result.problem(f"cut: {error}")
    _write_log(job, job.is_.place, counter.summary(), 1)


def _write_log(job: _Job, place: Place, summary: logs.LogSummary, first_line: int, *, keep_empty: bool = False) -> None:
    if not summary.bytes and not keep_empty:
        if job.result.error is None:
            job.result.status = "empty"
        return
    job.sink.write(
        LOGS,
        {
            "file_id": job.task.file_id,
            "part": job.part,
            "namespace": place.namespace,
            "pod": place.pod,
            "container": place.container,
            "source": place.source,
            "bytes": summary.bytes,
            "lines": summary.lines,
            "first_line": first_line,
            "first_at": summary.first_at,
            "last_at": summary.last_at,
            "tail": summary.tail,
            "tail_line": first_line + summary.tail_line - 1,
        },
    )
    job.part += 1
    job.result.lines += summary.lines


def _read_blocks(job: _Job, stream: BinaryIO) -> None:
    """`logs.txt` of a cluster-info dump: one block a container."""
    data, _ = _whole(job, stream, MAX_DOCUMENT_BYTES)
    for block in blocks_of(data):
        job.tick()
        _write_block(job, block)


def _write_block(job: _Job, block: Block) -> None:
    """One container's log of a dump, or the error that stands in its place."""
    counter = logs.LogCounter()
    counter.feed(block.text)
    summary = counter.summary()
    failed = _REQUEST_ERROR.match(summary.tail) if summary.lines <= 2 else None
    if failed:
        where = f"{block.namespace}/{block.pod}"
        error = make(block.line, summary.tail[failed.end() :], where, sure=True)
        if error:
            _write_error(job, error)
        return
    place = Place(block.namespace, block.pod, block.container, "current")
    _write_log(job, place, summary, block.line, keep_empty=True)


def _read_guess(job: _Job, stream: BinaryIO) -> None:
    """A file whose name says little: its first bytes decide between objects, a log, and nothing of ours."""
    head = head_of(stream, _HEAD_BYTES)
    rest = Rejoined(head, stream).binary()
    if not head:
        job.result.status = "empty"
    elif looks_like_objects(head):
        _read_objects(job, rest)
    elif (job.is_.name == "single" and looks_like_text(head)) or (job.is_.name == "log" and looks_like_log(head)):
        _read_log(job, rest)
    else:
        job.result.status, job.result.error = "skipped", "neither objects nor a log"


# --- what the collection says -----------------------------------------------------------------------------------------


def _read_errors(job: _Job, stream: BinaryIO) -> None:
    data, _ = read_all(stream, MAX_ERROR_BYTES)
    if not data:
        job.result.status = "empty"
        return
    # Only the logs of a gathering, whose files name nothing, hold more than errors.
    name, sure = job.is_.name, bool(job.is_.name)
    errors = errors_in_json(data, name) if data.lstrip()[:1] in (b"{", b"[", b'"') else None
    for error in errors if errors is not None else errors_in_text(data, name, sure=sure):
        _write_error(job, error)


def _write_error(job: _Job, error: CollectError) -> None:
    row = {"file_id": job.task.file_id, "line": error.line, "kind": error.kind}
    job.sink.write(ERRORS, row | {"subject": _text(error.subject), "message": error.message})


def _read_document(job: _Job, stream: BinaryIO) -> None:
    data, cut = _whole(job, stream, MAX_DOCUMENT_BYTES)
    if not data.strip() or cut:
        return
    try:
        value: Any = orjson.loads(data)
    except ValueError:
        value, problem = _first_document(data, job.is_.hint)
        if problem is not None:
            job.result.problem(one_line(problem.message), problem.line)
            return
    _write_document(job, value)


def _first_document(data: bytes, hint: Hint) -> tuple[Any, Problem | None]:
    for part in read_documents(data, hint):
        if isinstance(part, Item | Other):
            return part.value, None
        if isinstance(part, Problem):
            return None, part
    return None, None


def _read_version(job: _Job, stream: BinaryIO) -> None:
    """`version` of a must-gather: the product, then its version, one a line."""
    data, _ = _whole(job, stream, MAX_META_BYTES)
    lines = [one_line(line) for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if lines:
        _write_document(job, {"product": lines[0], "version": lines[1] if len(lines) > 1 else None})


def _write_document(job: _Job, value: Any) -> None:
    if job.is_.name == CLEAN_REPORT:
        # It also maps each replacement to what it stands for, which whoever cleaned the bundle meant to keep back.
        omitted = value.get("omissions") if isinstance(value, dict) else None
        value = {"omissions": [path for path in omitted if isinstance(path, str)] if isinstance(omitted, list) else []}
    text = to_json(mask_document(value, job.is_.name))
    job.sink.write(DOCUMENTS, {"file_id": job.task.file_id, "role": job.is_.name, "json": orjson.Fragment(text)})


def _read_stamp(job: _Job, stream: BinaryIO) -> None:
    """`timestamp` of a must-gather or inspect: the last line that is a time with a zone."""
    data, _ = _whole(job, stream, MAX_META_BYTES)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        moment = times.parse(line)
        if moment:
            job.result.at, job.result.at_line = times.rfc3339(moment), number


_READERS: dict[str, Callable[[_Job, BinaryIO], None]] = {
    "objects": _read_objects,
    "log": _read_log,
    "blocks": _read_blocks,
    "guess": _read_guess,
    "document": _read_document,
    "version": _read_version,
    "stamp": _read_stamp,
    "errors": _read_errors,
}
