"""Readers that fail in the ways a parser can, for the worker tests. They live in a module so that spawn finds them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import BinaryIO

from analyzer.bundle.parse import read_file
from analyzer.bundle.rows import PartFileError, Result, Sink
from analyzer.bundle.task import Task
from analyzer.bundle.twins import Twins


def crashing(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    if "crash" in task.path:
        # Rows of the file were written before: none of them may be left.
        read_file(task, stream, sink, tick)
        os._exit(11)
    return read_file(task, stream, sink, tick)


def killed(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    if "crash" in task.path:
        os.kill(os.getpid(), signal.SIGKILL)
    return read_file(task, stream, sink, tick)


def hanging(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    if "crash" in task.path:
        time.sleep(60)
    return read_file(task, stream, sink, tick)


def slow(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    for _ in range(8):
        time.sleep(0.3)
        tick()
    return read_file(task, stream, sink, tick)


def greedy(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    if "crash" in task.path:
        result = Result(task.file_id)
        try:
            bytearray(64 * 2**30)
        except MemoryError:
            result.problem("it takes more memory to read than a worker may use")
        return result
    return read_file(task, stream, sink, tick)


def full_disk(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    raise PartFileError(28, "No space left on device")


def sleeping(task: Task, stream: BinaryIO, sink: Sink, tick: Callable[[], None], twins: Twins | None = None) -> Result:
    time.sleep(60)
    return Result(task.file_id)
