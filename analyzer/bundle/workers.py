"""The parse workers: processes that each read a share of the files, so that a crash or a hang costs one file.

Each worker opens the containers again by path and reads its share in the order of the entries. What it is reading
stands in shared memory. A worker that dies or makes no progress is ended, what it wrote is thrown away, the file it
was reading is marked unread, and its share is read again without that file.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import heapq
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import orjson

from analyzer.bundle.compression import decompressed
from analyzer.bundle.containers import open_container
from analyzer.bundle.formats.triage import FORMAT as TRIAGE
from analyzer.bundle.hashed import Hashed
from analyzer.bundle.limits import KIB, WORKER_BYTES
from analyzer.bundle.parse import read_file
from analyzer.bundle.rows import RESULTS, PartFileError, Result, Sink
from analyzer.bundle.task import Task
from analyzer.bundle.twins import Twins, is_list, pod_folder
from analyzer.redact import configure, new_key
from analyzer.rlimits import limit

HANG_SECONDS = 120.0
"""A worker that shows no sign of progress for so long is ended. The slowest step is one list of 256 MiB."""

BETWEEN_SECONDS = 3600.0
"""The same between two files, where a worker may have to decompress many GiB to get to its next one."""

MAX_RESTARTS = 8
"""Crashes of one share after which what is left of it is given up: each costs reading the share again."""

SHARE_COST = 512 * KIB
"""Work below which another process does not pay."""

TWIN_GAIN = 8
"""How much cheaper a pod is in its own file when the same worker has read it in the list."""

_POLL_SECONDS = 0.05
_COLLECT_FILES = 2000
_EXIT_PARTS, _EXIT_ORPHAN, _EXIT_FAULT = 74, 75, 70
_NOTHING = -1
_PACKED = ("log", "objects", "guess", "nvidia-bug-report")
"""Readers that are given a file decompressed."""
# Slots of a worker in the shared array.
_CURRENT, _TICKS, _DONE, _SLOTS = 0, 1, 2, 3

Share = tuple[tuple[Path, tuple[Task, ...]], ...]
"""The files of one worker: for each input its tasks in the order of its entries."""

Reader = Callable[[Task, Any, Sink, Callable[[], None], Twins], Result]


class _Slots(Protocol):
    """The shared array of integers."""

    def __getitem__(self, index: int) -> int: ...
    def __setitem__(self, index: int, value: int) -> None: ...


def start_method() -> str:
    """How workers are started: `fork` on Linux while this process has one thread, else `spawn`."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def cost(task: Task) -> int:
    """What a file costs to read, in bytes of YAML: logs are only counted and searched, JSON is decoded in C."""
    name = task.path.lower()
    size = task.size * 8 if name.endswith((".gz", ".xz", ".zst", ".bz2")) else task.size
    if task.assignment.reader in ("log", "blocks", "nvidia-bug-report"):
        return size // 30 + 2000
    if name.endswith((".json", ".json.gz")):
        return size // 3 + 500
    return size + 500


def shares(tasks: Sequence[tuple[Path, Task]], jobs: int) -> list[Share]:
    """Deal the files out to at most `jobs` workers, the dear ones first, each to the worker with the least work.

    The pods of one namespace stay together (see `twins`), unless they are so many that one worker would be left behind.
    """
    total = sum(cost(task) for _, task in tasks)
    count = max(1, min(jobs, total // SHARE_COST + 1))
    bundles: dict[tuple[Path, str], list[tuple[Path, Task]]] = {}
    for path, task in tasks:
        bundles.setdefault((path, pod_folder(task) or str(task.file_id)), []).append((path, task))
    weighed: list[tuple[int, list[tuple[Path, Task]]]] = []
    for some in bundles.values():
        weight = sum(cost(task) for _, task in some)
        if len(some) > 1 and weight > total // (2 * count):
            weighed += [(cost(one[1]), [one]) for one in some]
        elif len(some) > 1 and any(is_list(task) for _, task in some):
            weighed.append((sum(cost(task) if is_list(task) else cost(task) // TWIN_GAIN for _, task in some), some))
        else:
            weighed.append((weight, some))
    heap = [(0, number) for number in range(count)]
    dealt: list[list[tuple[Path, Task]]] = [[] for _ in range(count)]
    for weight, some in sorted(weighed, key=lambda pair: -pair[0]):
        load, number = heapq.heappop(heap)
        dealt[number] += some
        heapq.heappush(heap, (load + weight, number))
    return [_share(some) for some in dealt if some]


def _share(tasks: Sequence[tuple[Path, Task]]) -> Share:
    # The same path may be given twice: the id of an input's first file tells the two apart.
    by_input: dict[tuple[int, Path], list[Task]] = {}
    for path, task in sorted(tasks, key=lambda pair: pair[1].file_id):
        by_input.setdefault((task.file_id - task.index, path), []).append(task)
    return tuple((path, tuple(some)) for (_, path), some in by_input.items())


@dataclass(slots=True)
class _Worker:
    """One share and the process that reads it now."""

    number: int
    share: Share
    process: BaseProcess | None = None
    crashes: int = 0
    ticks: int = 0
    since: float = 0.0
    lost: dict[int, str] = field(default_factory=dict)

    @property
    def tasks(self) -> list[Task]:
        return [task for _, tasks in self.share for task in tasks]


class Pool:
    """Workers over a list of files. Use it as a context: on the way out no process is left."""

    def __init__(
        self,
        tasks: Sequence[tuple[Path, Task]],
        folder: Path,
        jobs: int,
        *,
        method: str | None = None,
        reader: Reader = read_file,
        hang_seconds: float = HANG_SECONDS,
        memory: int = WORKER_BYTES,
    ) -> None:
        """Start the workers.

        Args:
            tasks: the files with the input each is in.
            folder: where the part files go.
            jobs: how many processes at most.
            method: `fork` or `spawn`; by default `start_method()`.
            reader: what reads one file.
            hang_seconds: how long a worker may show no progress.
            memory: address space of a worker on top of what it has when it starts, in bytes.
        """
        self._context: Any = multiprocessing.get_context(method or start_method())
        self._folder = folder
        self._reader = reader
        self._hang_seconds = hang_seconds
        self._memory = memory
        self._workers = [_Worker(number, share) for number, share in enumerate(shares(tasks, jobs))]
        self._total = len(tasks)
        # The same secret gets the same placeholder in all workers.
        self._key = new_key()
        self._slots: _Slots = self._context.RawArray(ctypes.c_int64, max(1, _SLOTS * len(self._workers)))

    def __enter__(self) -> Self:
        try:
            for worker in self._workers:
                self._start(worker)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def results(self, progress: Callable[[int, int], None] | None = None) -> dict[int, Result]:
        """Wait for all workers.

        Args:
            progress: told files done and files in all, now and then.

        Returns:
            What became of each file, by its id.

        Raises:
            PartFileError: a worker could not write its rows.
        """
        running = [worker for worker in self._workers if worker.process]
        while running:
            wait([worker.process.sentinel for worker in running if worker.process], timeout=_POLL_SECONDS)
            if progress:
                progress(
                    min(self._total, sum(self._slots[_SLOTS * worker.number + _DONE] for worker in self._workers)), self._total
                )
            running = [worker for worker in running if not self._settled(worker)]
        found: dict[int, Result] = {}
        for worker in self._workers:
            for file_id, reason in worker.lost.items():
                found[file_id] = Result(file_id, "unread", error=reason)
            path = self._folder / f"{RESULTS}-{worker.number}.ndjson"
            if path.exists():
                with path.open("rb") as lines:
                    for line in lines:
                        result = Result(**orjson.loads(line))
                        found[result.file_id] = result
        return found

    def _start(self, worker: _Worker) -> None:
        base = _SLOTS * worker.number
        self._slots[base + _CURRENT], self._slots[base + _DONE] = _NOTHING, 0
        worker.ticks, worker.since = self._slots[base + _TICKS], time.monotonic()
        means = _Means(self._folder, self._slots, self._reader, self._key, os.getpid(), self._memory)
        worker.process = self._context.Process(target=_work, args=(worker.number, worker.share, means), daemon=True)
        worker.process.start()

    def _settled(self, worker: _Worker) -> bool:
        """Whether a worker needs no more waiting for; one that died or hangs is started again without its file."""
        process, base = worker.process, _SLOTS * worker.number
        if process is None:
            return True
        reason = ""
        if process.is_alive():
            ticks = self._slots[base + _TICKS]
            if ticks != worker.ticks:
                worker.ticks, worker.since = ticks, time.monotonic()
            allowed = BETWEEN_SECONDS if self._slots[base + _CURRENT] == _NOTHING else self._hang_seconds
            if time.monotonic() - worker.since < allowed:
                return False
            process.kill()
            reason = f"the parser made no progress on it for {allowed:.0f} s"
        process.join()
        if process.exitcode == 0:
            return True
        if process.exitcode == _EXIT_PARTS:
            raise PartFileError(f"the temporary folder {self._folder} cannot be written to; is it full?")
        self._drop(worker, self._slots[base + _CURRENT], reason or _death(process.exitcode))
        for path in self._folder.glob(f"*-{worker.number}.ndjson"):
            path.unlink()
        if not worker.share:
            return True
        self._start(worker)
        return False

    def _drop(self, worker: _Worker, file_id: int, reason: str) -> None:
        """Take the file that ended a worker out of its share; after too many, all that is behind it too."""
        worker.crashes += 1
        left = worker.tasks
        gone = {file_id} if file_id != _NOTHING else set()
        if file_id == _NOTHING and worker.crashes > 1:
            gone = {task.file_id for task in left}
        elif worker.crashes > MAX_RESTARTS:
            gone |= {task.file_id for task in left if task.file_id > file_id}
        for task in left:
            if task.file_id in gone:
                worker.lost[task.file_id] = (
                    reason if task.file_id == file_id else "not read: the parser crashed on too many other files"
                )
        worker.share = tuple(
            (path, kept) for path, tasks in worker.share if (kept := tuple(task for task in tasks if task.file_id not in gone))
        )

    def _end(self) -> None:
        for worker in self._workers:
            if worker.process and worker.process.is_alive():
                worker.process.kill()
        for worker in self._workers:
            if worker.process:
                worker.process.join()
                worker.process.close()
                worker.process = None


def _death(exitcode: int | None) -> str:
    """What the end of a process says about the file it was reading."""
    if exitcode is not None and exitcode == -getattr(signal, "SIGKILL", 9):
        return "the parser was killed on it, probably for lack of memory"
    return "the parser crashed on it"


# --- in the worker ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Means:
    """What all workers are given; `key` is that of the placeholders, `memory` bounds their address space."""

    folder: Path
    slots: _Slots
    reader: Reader
    key: bytes
    parent: int
    memory: int


def _work(number: int, share: Share, means: _Means) -> None:
    """Read a share, write its part files."""
    _settle_in(means.memory)
    configure(means.key)
    slots, base, done = means.slots, _SLOTS * number, 0

    def tick() -> None:
        slots[base + _TICKS] += 1

    sink = Sink(means.folder, str(number))
    try:
        for path, tasks in share:
            twins = Twins()
            container = open_container(path)
            by_index = {task.index: task for task in tasks}
            for index, stream in container.read([task.index for task in tasks]):
                task = by_index[index]
                slots[base + _CURRENT] = task.file_id
                tick()
                source = Hashed(stream) if task.format == TRIAGE else None
                plain = source.binary() if source else stream
                text = decompressed(plain) if task.assignment.reader in _PACKED else plain
                result = means.reader(task, text, sink, tick, twins)
                if source:
                    result.sha256 = source.digest(tick)
                sink.write(RESULTS, asdict(result))
                slots[base + _CURRENT] = _NOTHING
                done += 1
                slots[base + _DONE] = done
                if done % _COLLECT_FILES == 0:
                    gc.collect()
                    if os.getppid() != means.parent:
                        os._exit(_EXIT_ORPHAN)
        sink.close()
    except PartFileError:
        os._exit(_EXIT_PARTS)
    except Exception:  # noqa: BLE001 - the parent tells what is lost; a traceback would stand in the user's terminal
        os._exit(_EXIT_FAULT)


def _settle_in(memory: int) -> None:
    """Make this process a worker: deaf to Ctrl-C (the parent ends it), no core file, bounded memory, no idle collecting."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    limit("CORE", 0)
    limit("AS", memory + _inherited())


def _inherited() -> int:
    """Bytes of address space that this process has from its start, which are not the worker's own; 0 where nothing tells."""
    with contextlib.suppress(OSError, ValueError):
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
