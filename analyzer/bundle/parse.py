"""One file of a bundle → rows of the part tables. Runs in the worker processes.

Secrets are masked here, before anything is written. Whatever one file holds, only that file can be lost by it.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any, BinaryIO

import orjson

from analyzer import times
from analyzer.bundle.collect_errors import MAX_ERROR_BYTES, errors_in_json, errors_in_text
from analyzer.bundle.documents import read_documents
from analyzer.bundle.errors import BundleError, CutEntry
from analyzer.bundle.formats.base import CLEAN_REPORT, GUESS_JSON, HOST_LOG
from analyzer.bundle.job import Job, Tick, whole, write_error
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES, MIB
from analyzer.bundle.parse_deckhouse import read_collection_errors, read_deckhouse
from analyzer.bundle.parse_gpu_operator import read_nodes, read_none, read_prefixed, read_usage
from analyzer.bundle.parse_logs import read_blocks, read_log
from analyzer.bundle.parse_nvidia import read_report
from analyzer.bundle.parse_objects import read_objects
from analyzer.bundle.parse_sonobuoy import read_config, read_queries, read_run_log
from analyzer.bundle.parse_triage import read_manifest
from analyzer.bundle.rows import DOCUMENTS, PartFileError, Result, Sink, to_json
from analyzer.bundle.signatures import Scanner
from analyzer.bundle.sniff import Rejoined, head_of, looks_like_log, looks_like_objects, looks_like_text
from analyzer.bundle.streams import read_all
from analyzer.bundle.task import Task
from analyzer.bundle.text import one_line
from analyzer.bundle.twins import Twins
from analyzer.bundle.types import Hint, Item, Other, Problem
from analyzer.redact import mask_document, mask_text

MAX_META_BYTES = MIB
"""Timestamp and version files."""

_HEAD_BYTES = 64 * 1024
# An answer of Prometheus' HTTP API, as `oc adm inspect-alerts` and a curl print it.
_PROMETHEUS = re.compile(rb'\s*\{\s*"status"\s*:\s*"success"\s*,\s*"data"\s*:\s*\{\s*"(alerts|groups)"\s*:')
_ANSWERS = {b"alerts": "alerts", b"groups": "prometheus-rules"}


def read_file(
    task: Task, stream: BinaryIO, sink: Sink, tick: Tick, twins: Twins | None = None, *, scanner: Scanner | None = None
) -> Result:
    """Read one file and write its rows.

    Args:
        task: the file and what it is.
        stream: its bytes, decompressed.
        sink: where the rows go.
        tick: called now and then to show progress.
        twins: pods of the list read last, where files are read in the order of the bundle.
        scanner: what logs are searched for.

    Returns:
        What became of it. What the file holds never raises: a failure is the file's, not the run's.

    Raises:
        PartFileError: the rows could not be written.
    """
    result = Result(task.file_id)
    reader = _READERS[task.assignment.reader]
    try:
        reader(Job(task, sink, tick, result, twins, scanner or Scanner()), stream)
    except PartFileError:
        raise
    except CutEntry as error:
        result.problem(str(error))
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


def read_guess(job: Job, stream: BinaryIO) -> None:
    """A file whose name says little: its first bytes decide between objects, a log, and nothing of ours."""
    name = job.task.assignment.name
    head = head_of(stream, _HEAD_BYTES)
    rest = Rejoined(head, stream).binary()
    if not head:
        job.result.status = "empty"
    elif answer := _PROMETHEUS.match(head):
        _read_as(job, rest, _ANSWERS[answer[1]])
    elif name == GUESS_JSON or (name != HOST_LOG and looks_like_objects(head)):
        read_objects(job, rest)
    elif (name == "single" and looks_like_text(head)) or (name in ("log", HOST_LOG) and looks_like_log(head)):
        read_log(job, rest)
    else:
        job.result.status, job.result.error = "skipped", "neither objects nor a log"


def _read_errors(job: Job, stream: BinaryIO) -> None:
    data, _ = read_all(stream, MAX_ERROR_BYTES)
    if not data:
        job.result.status = "empty"
        return
    # Only the logs of a gathering, whose files name nothing, hold more than errors.
    name, sure = job.task.assignment.name, bool(job.task.assignment.name)
    errors = errors_in_json(data, name) if data.lstrip()[:1] in (b"{", b"[", b'"') else None
    for error in errors if errors is not None else errors_in_text(data, name, sure=sure):
        write_error(job, error)


def _read_document(job: Job, stream: BinaryIO) -> None:
    _read_as(job, stream, job.task.assignment.name)


def _read_as(job: Job, stream: BinaryIO, role: str) -> None:
    """A document of this role."""
    data, cut = whole(job, stream, MAX_DOCUMENT_BYTES)
    if not data.strip() or cut:
        return
    try:
        value: Any = orjson.loads(data)
    except ValueError:
        value, problem = _first_document(data, job.task.assignment.hint)
        if problem is not None:
            job.result.problem(one_line(mask_text(problem.message)), problem.line)
            return
    _write_document(job, value, role)


def _first_document(data: bytes, hint: Hint) -> tuple[Any, Problem | None]:
    for part in read_documents(data, hint):
        if isinstance(part, Item | Other):
            return part.value, None
        if isinstance(part, Problem):
            return None, part
    return None, None


def _read_version(job: Job, stream: BinaryIO) -> None:
    """`version` of a must-gather: the product, then its version, one a line."""
    data, _ = whole(job, stream, MAX_META_BYTES)
    lines = [one_line(line) for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if lines:
        product = {"product": lines[0], "version": lines[1] if len(lines) > 1 else None}
        _write_document(job, product, job.task.assignment.name)


def _write_document(job: Job, value: Any, role: str) -> None:
    if value is None:
        # JSON's null is what several collectors write where there was nothing; a column cannot tell it from no value.
        return
    if role == CLEAN_REPORT:
        # It also maps each replacement to what it stands for, which whoever cleaned the bundle meant to keep back.
        omitted = value.get("omissions") if isinstance(value, dict) else None
        value = {"omissions": [path for path in omitted if isinstance(path, str)] if isinstance(omitted, list) else []}
    text = to_json(mask_document(value, role))
    job.result.documents += 1
    job.sink.write(DOCUMENTS, {"file_id": job.task.file_id, "role": role, "json": orjson.Fragment(text)})


def _read_stamp(job: Job, stream: BinaryIO) -> None:
    """`timestamp` of a must-gather or inspect: the last line that is a time with a zone."""
    data, _ = whole(job, stream, MAX_META_BYTES)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        moment = times.parse(line)
        if moment:
            job.result.at, job.result.at_line = times.rfc3339(moment), number


_READERS: dict[str, Callable[[Job, BinaryIO], None]] = {
    "objects": read_objects,
    "log": read_log,
    "blocks": read_blocks,
    "guess": read_guess,
    "document": _read_document,
    "version": _read_version,
    "stamp": _read_stamp,
    "errors": _read_errors,
    "sonobuoy-config": read_config,
    "sonobuoy-queries": read_queries,
    "sonobuoy-run-log": read_run_log,
    "triage-manifest": read_manifest,
    "deckhouse": read_deckhouse,
    "deckhouse-errors": read_collection_errors,
    "nvidia-bug-report": read_report,
    "gpu-operator-nodes": read_nodes,
    "prefixed-log": read_prefixed,
    "none-found": read_none,
    "gpu-usage": read_usage,
}
