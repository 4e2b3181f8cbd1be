"""SIGKILL at any moment of a run leaves the old report, the new one, or none; never a broken one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from analyzer.cli.output import OURS
from analyzer.leftovers import LEFT_SECONDS

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
MOMENTS = 5

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


def _start(out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "analyzer", "analyze", str(SAMPLES / "healthy"), "-o", str(out), "--jobs", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _is_whole(out: Path) -> bool:
    """Whether the folder holds one whole report and nothing else."""
    if {path.name for path in out.iterdir()} != OURS:
        return False
    report = json.loads((out / "report.json").read_bytes())
    html = (out / "report.html").read_text(encoding="utf-8")
    with duckdb.connect(str(out / "bundle.duckdb"), read_only=True) as con:
        (findings,) = con.execute("SELECT count(*) FROM findings").fetchall()[0]
    return html.rstrip().endswith("</html>") and findings == len(report["findings"])


def test_a_killed_run_never_leaves_a_broken_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    began = time.monotonic()
    assert _start(out).wait(timeout=120) == 0
    takes = time.monotonic() - began
    first = (out / "report.json").read_bytes()
    for number in range(MOMENTS):
        process = _start(out)
        time.sleep(takes * (number + 0.5) / MOMENTS)
        _kill(process)
        assert not out.exists() or _is_whole(out)
        if number == 0:
            assert (out / "report.json").read_bytes() == first


def test_a_killed_first_run_leaves_nothing_with_the_final_name(tmp_path: Path) -> None:
    process = _start(tmp_path / "out")
    time.sleep(0.6)
    running = process.poll() is None
    _kill(process)
    assert not running or not (tmp_path / "out").exists() or _is_whole(tmp_path / "out")


def test_what_a_killed_run_left_goes_a_day_later(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = _start(out)
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.02)
    _kill(process)
    left = [path for path in tmp_path.iterdir() if path != out]
    assert len(left) == 1
    (tmp_path / ".out.notours1.part").mkdir()
    (tmp_path / ".out.notours1.part" / "notes.txt").write_text("mine")
    for path in (*left, tmp_path / ".out.notours1.part"):
        os.utime(path, (time.time() - LEFT_SECONDS - 60,) * 2)
    assert _start(out).wait(timeout=120) == 0
    assert _is_whole(out)
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".out.notours1.part"}
