"""What the readers of one file share: the task, where its rows go, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from analyzer.bundle.collect_errors import CollectError
from analyzer.bundle.rows import ERRORS, Result, Sink
from analyzer.bundle.signatures import Scanner
from analyzer.bundle.streams import read_all
from analyzer.bundle.task import Task
from analyzer.bundle.twins import Twins

Tick = Callable[[], None]


@dataclass(slots=True)
class Job:
    """What the readers of one file share; `twins` and `scanner` outlive the file."""

    task: Task
    sink: Sink
    tick: Tick
    result: Result
    twins: Twins | None = None
    scanner: Scanner = field(default_factory=Scanner)
    part: int = 0


def whole(job: Job, stream: BinaryIO, limit: int) -> tuple[bytes, bool]:
    """All bytes of a file, and whether they end early (noted as its problem)."""
    data, problem = read_all(stream, limit)
    if problem:
        job.result.problem(problem)
    elif not data:
        job.result.status = "empty"
    return data, problem is not None


def write_error(job: Job, error: CollectError) -> None:
    """Something that the collection could not get."""
    row = {"file_id": job.task.file_id, "line": error.line, "kind": error.kind}
    job.sink.write(ERRORS, row | {"subject": column_text(error.subject), "message": error.message})


def column_text(value: object) -> str:
    """A string that a column can hold, empty for anything else."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if isinstance(value, str) else ""
