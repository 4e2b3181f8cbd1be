"""Logs of containers, hosts and dumps → rows of part_logs."""

from __future__ import annotations

import re
from typing import BinaryIO

from analyzer.bundle import logs
from analyzer.bundle.collect_errors import make
from analyzer.bundle.errors import CutEntry
from analyzer.bundle.formats.base import Place
from analyzer.bundle.job import Job, whole, write_error
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES
from analyzer.bundle.logblocks import Block, blocks_of
from analyzer.bundle.rows import LOGS

_REQUEST_ERROR = re.compile(r"^(?:Create l|L|Request l|Read l)og (?:request )?error: ?")


def read_log(job: Job, stream: BinaryIO) -> None:
    """One log a file, read piece by piece."""
    counter = logs.LogCounter()
    try:
        while chunk := stream.read(logs.CHUNK_BYTES):
            counter.feed(chunk)
            job.tick()
    except CutEntry as error:
        job.result.problem(str(error))
    _write_log(job, job.task.assignment.place, counter.summary(), 1)


def _write_log(job: Job, place: Place, summary: logs.LogSummary, first_line: int, *, keep_empty: bool = False) -> None:
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


def read_blocks(job: Job, stream: BinaryIO) -> None:
    """`logs.txt` of a cluster-info dump: one block a container."""
    data, _ = whole(job, stream, MAX_DOCUMENT_BYTES)
    for block in blocks_of(data):
        job.tick()
        write_block(job, block)


def write_block(job: Job, block: Block) -> None:
    """One container's log of a dump, or the error that stands in its place."""
    counter = logs.LogCounter()
    counter.feed(block.text)
    summary = counter.summary()
    failed = _REQUEST_ERROR.match(summary.tail) if summary.lines <= 2 else None
    if failed:
        where = f"{block.namespace}/{block.pod}"
        error = make(block.line, summary.tail[failed.end() :], where, sure=True)
        if error:
            write_error(job, error)
        return
    place = Place(block.namespace, block.pod, block.container, "current")
    _write_log(job, place, summary, block.line, keep_empty=True)
