"""Runs tasks in a few threads, in order, and hands their results over as they come.

The threads are daemons: one that hangs in a socket when the collection is ended does not keep the program from ending.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from analyzer.collect.pace import Pace

T = TypeVar("T")
GRACE = 3.0
"""How long threads have to end after the collection was, in seconds. What they are at then counts as not had."""
_TICK = 0.2


class Done(Generic[T]):
    """What came of a task: its index and its value, or the error that it ended with."""

    def __init__(self, index: int, value: T | None, error: Exception | None) -> None:
        self.index, self.value, self.error = index, value, error


def run(tasks: Sequence[Callable[[], T]], threads: int, pace: Pace) -> Iterator[Done[T] | None]:
    """Runs the tasks; yields what comes of each in the order of completion, and None now and then while nothing comes.

    Ends early where the collection does (`pace`): tasks that hang then are left out.
    """
    results: queue.SimpleQueue[Done[T]] = queue.SimpleQueue()
    numbers = iter(range(len(tasks)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                index = next(numbers, None)
            if index is None:
                return
            try:
                done = Done(index, tasks[index](), None)
            except Exception as error:  # noqa: BLE001 - told by the caller
                done = Done[T](index, None, error)
            results.put(done)

    for _ in range(min(threads, len(tasks))):
        threading.Thread(target=work, daemon=True).start()
    left, end = len(tasks), None
    while left and (end is None or time.monotonic() < end):
        found: Done[T] | None = None
        with suppress(queue.Empty):
            found = results.get(timeout=_TICK)
        if found is not None:
            left -= 1
        if end is None and pace.ended():
            end = time.monotonic() + GRACE
        yield found
