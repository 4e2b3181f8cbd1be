"""Logs of containers, hosts and dumps → rows of part_logs."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import BinaryIO

from analyzer.bundle import logs
from analyzer.bundle.collect_errors import make
from analyzer.bundle.errors import CutEntry
from analyzer.bundle.formats.base import Place
from analyzer.bundle.host_clock import HostClock
from analyzer.bundle.job import Job, whole, write_error
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES
from analyzer.bundle.logblocks import Block, blocks_of
from analyzer.bundle.rows import LOG_COUNTS, LOG_HITS, LOGS
from analyzer.bundle.signatures import LogScan

_REQUEST_ERROR = re.compile(r"^(?:Create l|L|Request l|Read l)og (?:request )?error: ?")


class Reading:
    """One log on its way: counted and searched piece by piece, then written."""

    def __init__(self, job: Job, place: Place, first_line: int = 1, clock: HostClock | None = None) -> None:
        self._job, self._place, self._first_line = job, place, first_line
        self._counter = logs.LogCounter(clock)
        automaton = job.scanner.automaton_for(place, job.task.path, job.task.format)
        self._scan = LogScan(job.scanner, automaton, first_line, clock) if automaton else None

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the log."""
        newlines = self._counter.feed(chunk)
        if self._scan:
            self._scan.feed(chunk, newlines)
        self._job.tick()

    def summary(self) -> logs.LogSummary:
        """What was counted, once all was fed."""
        return self._counter.summary()

    def write(self, summary: logs.LogSummary, *, keep_empty: bool = False) -> None:
        """Write the rows of the log."""
        job = self._job
        if not summary.bytes and not keep_empty:
            if job.result.error is None:
                job.result.status = "empty"
            return
        ids = {"file_id": job.task.file_id, "part": job.part}
        size = {"bytes": summary.bytes, "lines": summary.lines, "first_line": self._first_line}
        times = {"first_at": summary.first_at, "last_at": summary.last_at}
        tail = {"tail": summary.tail, "tail_line": self._first_line + summary.tail_line - 1}
        job.sink.write(LOGS, ids | asdict(self._place) | size | times | tail)
        job.part += 1
        job.result.lines += summary.lines
        if self._scan:
            self._scan.finish()
            for hit in self._scan.hits():
                job.sink.write(LOG_HITS, ids | asdict(hit))
                job.tick()
            for count in self._scan.counts():
                job.sink.write(LOG_COUNTS, ids | asdict(count))


def read_log(job: Job, stream: BinaryIO, clock: HostClock | None = None) -> None:
    """One log a file, read piece by piece; `clock` is that of its host, where one is known."""
    reading = Reading(job, job.task.assignment.place, clock=clock)
    try:
        while chunk := stream.read(logs.CHUNK_BYTES):
            reading.feed(chunk)
    except CutEntry as error:
        job.result.problem(str(error))
    reading.write(reading.summary())


def read_blocks(job: Job, stream: BinaryIO) -> None:
    """`logs.txt` of a cluster-info dump: one block a container."""
    data, _ = whole(job, stream, MAX_DOCUMENT_BYTES)
    for block in blocks_of(data):
        job.tick()
        write_block(job, block)


def write_block(job: Job, block: Block) -> None:
    """One container's log of a dump, or the error that stands in its place."""
    reading = Reading(job, Place(block.namespace, block.pod, block.container, "current"), block.line)
    reading.feed(block.text)
    summary = reading.summary()
    failed = _REQUEST_ERROR.match(summary.tail) if summary.lines <= 2 else None
    if failed:
        where = f"{block.namespace}/{block.pod}"
        error = make(block.line, summary.tail[failed.end() :], where, sure=True)
        if error:
            write_error(job, error)
        return
    reading.write(summary, keep_empty=True)
