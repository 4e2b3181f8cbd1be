"""The worker processes: shares, crashes, hangs, both ways to start them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import orjson
import pytest

from analyzer.bundle.containers import open_container
from analyzer.bundle.formats import recognise
from analyzer.bundle.parse import read_file
from analyzer.bundle.rows import PartFileError, Result
from analyzer.bundle.task import Task
from analyzer.bundle.workers import MAX_RESTARTS, Pool, Reader, cost, shares

from . import pipeline_readers as readers
from . import pipeline_trees as trees

METHODS = ["fork", "spawn"] if sys.platform == "linux" else ["spawn"]


def tasks_of(path: Path) -> list[tuple[Path, Task]]:
    found = recognise(open_container(path).listing().entries)
    return [
        (path, Task(index, index, known.entry.path, known.entry.size, known.root.format if known.root else "", known.assignment))
        for index, known in enumerate(found.known)
        if known.assignment.reader
    ]


def run(
    tmp_path: Path, path: Path, reader: Reader, *, method: str = METHODS[0], jobs: int = 2, hang: float = 120.0
) -> dict[str, Result]:
    work = tmp_path / "work"
    work.mkdir()
    tasks = tasks_of(path)
    with Pool(tasks, work, jobs, method=method, reader=reader, hang_seconds=hang) as pool:
        results = pool.results()
    return {task.path: results[task.file_id] for _, task in tasks}


def pods(tmp_path: Path) -> list[str]:
    lines = [line for path in (tmp_path / "work").glob("part_objects-*") for line in path.read_bytes().splitlines()]
    return sorted(orjson.loads(line)["name"] for line in lines)


def manifests(tmp_path: Path, count: int = 12, bad: tuple[int, ...] = (5,)) -> Path:
    files: trees.Files = {
        f"{number:02}{'-crash' if number in bad else ''}.yaml": trees.to_yaml(trees.pod(f"pod-{number:02}"))
        for number in range(count)
    }
    return trees.tar(tmp_path / "m.tar.gz", files)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reader", [readers.crashing, readers.killed])
def test_a_crash_costs_one_file(tmp_path: Path, method: str, reader: Reader) -> None:
    results = run(tmp_path, manifests(tmp_path), reader, method=method)
    lost = {path: result for path, result in results.items() if result.status != "read"}
    assert list(lost) == ["05-crash.yaml"]
    assert lost["05-crash.yaml"].status == "unread"
    assert "the parser" in (lost["05-crash.yaml"].error or "")
    assert pods(tmp_path) == [f"pod-{number:02}" for number in range(12) if number != 5]


def test_a_hang_costs_one_file(tmp_path: Path) -> None:
    start = time.monotonic()
    results = run(tmp_path, manifests(tmp_path), readers.hanging, hang=3.0)
    assert time.monotonic() - start < 50
    assert [path for path, result in results.items() if result.status != "read"] == ["05-crash.yaml"]
    assert "no progress" in (results["05-crash.yaml"].error or "")


def test_slow_progress_is_no_hang(tmp_path: Path) -> None:
    results = run(tmp_path, manifests(tmp_path, 2), readers.slow, hang=2.0)
    assert {result.status for result in results.values()} == {"read"}


@pytest.mark.skipif(sys.platform != "linux", reason="the address space of a process can be limited on Linux only")
def test_a_worker_cannot_take_all_memory(tmp_path: Path) -> None:
    results = run(tmp_path, manifests(tmp_path), readers.greedy)
    assert [path for path, result in results.items() if result.status != "read"] == ["05-crash.yaml"]


def test_many_crashes_end(tmp_path: Path) -> None:
    count = MAX_RESTARTS + 6
    results = run(tmp_path, manifests(tmp_path, count, tuple(range(3, count))), readers.crashing, jobs=1)
    assert [path for path, result in results.items() if result.status == "read"] == ["00.yaml", "01.yaml", "02.yaml"]
    assert pods(tmp_path) == ["pod-00", "pod-01", "pod-02"]
    given_up = [result for result in results.values() if "too many other files" in (result.error or "")]
    assert len(given_up) == count - 3 - MAX_RESTARTS - 1


def test_a_full_disk_is_an_error_of_the_run(tmp_path: Path) -> None:
    with pytest.raises(PartFileError, match="temporary folder"):
        run(tmp_path, manifests(tmp_path), readers.full_disk)


def test_nothing_is_left_running_after_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    pool = Pool(tasks_of(manifests(tmp_path)), tmp_path / "work", 2, reader=readers.sleeping)
    start = time.monotonic()

    def interrupted() -> None:
        with pool:
            found.extend(worker.process.pid or 0 for worker in pool._workers if worker.process)
            raise KeyboardInterrupt

    found: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 50
    assert found
    for pid in found:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("method", METHODS)
def test_one_worker_and_many_give_the_same(tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.bundle.workers.SHARE_COST", 1)
    path = trees.tar(tmp_path / "mg.tar.gz", trees.must_gather())
    seen = []
    for jobs in (1, 3):
        folder = tmp_path / f"{jobs}"
        folder.mkdir()
        results = run(folder, path, read_file, method=method, jobs=jobs)
        rows = [line for part in (folder / "work").glob("part_*") for line in part.read_bytes().splitlines()]
        seen.append((results, sorted(rows)))
    assert seen[0] == seen[1]


def test_shares_are_even_and_in_the_order_of_the_entries(tmp_path: Path) -> None:
    files: trees.Files = {f"{n:03}.yaml": "kind: Pod\n" + "#" * (40_000 if n % 7 else 400_000) for n in range(60)}
    tasks = tasks_of(trees.write(tmp_path / "b", files))
    dealt = shares(tasks, 3)
    assert len(dealt) == 3
    ids = [[task.file_id for _, some in share for task in some] for share in dealt]
    assert all(one == sorted(one) for one in ids)
    assert sorted(number for one in ids for number in one) == list(range(60))
    loads = [sum(cost(task) for _, some in share for task in some) for share in dealt]
    assert max(loads) < 1.3 * min(loads)


def test_a_small_input_starts_one_process(tmp_path: Path) -> None:
    assert len(shares(tasks_of(manifests(tmp_path)), 8)) == 1
    assert shares([], 8) == []
