"""How a collection ends early: Ctrl-C, its time-out, a kill, a full disk."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.collect import leftover

from .conftest import Collect, Collected, triage
from .mock import Asked, Cluster, forever, small


async def hang(asked: Asked) -> None:
    await asyncio.sleep(60)


def slow() -> Cluster:
    cluster = small().serve("services")
    cluster.faults["services"] = [forever(hang)]
    return cluster


def started(cluster: Cluster, folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "collect",
        "--kubeconfig",
        str(cluster.kubeconfig(folder)),
        "-o",
        "out.tar.gz",
        *more,
    ]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(cluster: Cluster, path: str) -> None:
    end = time.monotonic() + 30
    while not any(asked.startswith(path) for asked in cluster.paths()):
        assert time.monotonic() < end, cluster.paths()
        time.sleep(0.05)
    time.sleep(0.5)


def test_total_time_out_keeps_what_there_is(collect: Collect) -> None:
    with slow().running() as cluster:
        begin = time.monotonic()
        bundle = collect(cluster, total_timeout=5.0)
    assert time.monotonic() - begin < 25
    assert bundle.manifest["interrupted"] == "the total time-out of 5 s"
    assert bundle.request("services")["outcome"] in {"timed-out", "failed"}
    assert bundle.request("pods")["outcome"] == "ok"
    assert {log["outcome"] for log in bundle.manifest["logs"]} == {"skipped"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    with slow().running() as cluster:
        child = started(cluster, tmp_path)
        wait_for(cluster, "/api/v1/services")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert child.returncode == 0, err
    assert "warning: the collection ended early (Ctrl-C)" in err
    assert "Traceback" not in err
    bundle = Collected(tmp_path / "out.tar.gz")
    assert bundle.manifest["interrupted"] == "Ctrl-C"
    assert bundle.request("pods")["outcome"] == "ok"
    assert "out.tar.gz" in out


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_collection_leaves_no_bundle(tmp_path: Path, number: signal.Signals) -> None:
    with slow().running() as cluster:
        child = started(cluster, tmp_path)
        wait_for(cluster, "/api/v1/services")
        child.send_signal(number)
        child.communicate(timeout=30)
    assert child.returncode != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "kubeconfig"]


def test_what_a_killed_collection_left_goes_a_day_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "tmp"
    shelf.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(shelf))
    left, fresh, used, strange = (shelf / f"triage-collect-abcdefg{number}" for number in range(4))
    for folder in (left, fresh, used, strange):
        folder.mkdir()
        (folder / "0001").write_text("x")
    (left / "log000001").write_text("x")
    (strange / "notes.txt").write_text("mine")
    parts = [tmp_path / name for name in (".x.tar.gz.77.part", ".triage-lab-20261101T100000Z.tar.gz.8.part", ".y.tar.gz.7.part")]
    for part in parts:
        part.write_text("x")
    old = (time.time() - 2 * 86400,) * 2
    for path in (*left.iterdir(), *fresh.iterdir(), *strange.iterdir(), left, used, strange, *parts):
        os.utime(path, old)
    (shelf / "triage-collect-abcdefg9").symlink_to(left)
    leftover.sweep(tmp_path / "x.tar.gz")
    assert [folder.exists() for folder in (left, fresh, used, strange)] == [False, True, True, True]
    assert [part.exists() for part in parts] == [False, False, True]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_collection_takes_away_what_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "tmp"
    shelf.mkdir()
    monkeypatch.setenv("TMPDIR", str(shelf))
    with slow().running() as cluster:
        child = started(cluster, tmp_path)
        wait_for(cluster, "/api/v1/services")
        child.kill()
        child.communicate(timeout=30)
    (left,) = shelf.glob("triage-collect-*")
    for path in (*left.iterdir(), left):
        os.utime(path, (time.time() - 2 * 86400,) * 2)
    with small().running() as cluster:
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), "-o", tmp_path / "x.tar.gz")
    assert done.returncode == 0, done.stderr
    assert not left.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """The temporary folder has a limit: no file may be larger than 20 KB."""
    import resource

    cluster = small()
    cluster.logs["team-b", "bad-1", "app", False] = b"2026-11-01T10:00:00Z some words of a log\n" * 5000
    with cluster.running():
        config = cluster.kubeconfig(tmp_path)

        def limited() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        done = subprocess.run(
            [sys.executable, "-m", "analyzer", "collect", "--kubeconfig", str(config), "-o", str(tmp_path / "out.tar.gz")],
            preexec_fn=limited,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 2}
    if done.returncode == 0:
        assert Collected(tmp_path / "out.tar.gz").manifest["logs"][0]["outcome"] == "failed"


def test_output_on_a_full_device(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("Linux")
    with small().running() as cluster:
        done = triage("collect", "--kubeconfig", cluster.kubeconfig(tmp_path), "-o", full / "x.tar.gz")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
