"""The memory limit: how it is written, how it is dealt out, and that it costs files and not the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.bundle.errors import UsageError
from analyzer.bundle.limits import GIB, MIB
from analyzer.memory import LEAST_BYTES, PARENT_BYTES, WORKER_LEAST_BYTES, parse_limit, shares, told_if_short


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("512MiB", 512 * MIB),
        ("1.5 g", 3 * GIB // 2),
        ("600mb", 600 * 10**6),
        ("3G", 3 * GIB),
        (str(GIB), GIB),
        ("1TiB", 1024 * GIB),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_limit(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "2 G B", "2XB", "nan", "1e9", "2GB\n2GB", "9" * 40, "\u0966GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match=r"--memory-limit takes a size such as 2GB"):
        parse_limit(text)


@pytest.mark.parametrize("text", ["0", "511MiB", "512MB", "1"])
def test_the_least_value_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"at least 512MiB"):
        parse_limit(text)


@pytest.mark.parametrize("limit", [LEAST_BYTES, GIB, 3 * 10**9, 1024 * GIB])
@pytest.mark.parametrize("jobs", [1, 2, 7, 64])
def test_what_is_dealt_out_is_not_more_than_there_is(limit: int, jobs: int) -> None:
    dealt = shares(limit, jobs)
    assert 1 <= dealt.jobs <= jobs
    assert dealt.worker >= WORKER_LEAST_BYTES
    assert dealt.jobs * dealt.worker + PARENT_BYTES <= limit
    assert dealt.database is not None
    assert 0 < dealt.database < limit


def test_without_a_limit_nothing_is_taken_away() -> None:
    assert shares(None, 5).jobs == 5
    assert shares(None, 5).database is None


def test_a_database_without_memory_is_told_in_one_line() -> None:
    class OutOfMemoryException(Exception):  # noqa: N818 - DuckDB's name
        pass

    with pytest.raises(UsageError, match="give more with --memory-limit"), told_if_short():
        raise OutOfMemoryException("failed to allocate")
    with pytest.raises(ValueError, match="else"), told_if_short():
        raise ValueError("something else")


def analyze(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "analyzer", "analyze", "in", "-o", "out", "--format", "json", *args],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.fspath(Path(__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="address-space limits")
def test_a_file_that_needs_more_is_lost_and_told_and_the_rest_is_read(tmp_path: Path) -> None:
    home = tmp_path / "in"
    home.mkdir()
    (home / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: kettle-0, namespace: teahouse}\n")
    # One JSON document that no reader can take apart: it is decoded whole, and needs many times its size.
    (home / "huge.json").write_text(
        '{"apiVersion":"v1","kind":"Odd","metadata":{"name":"a"},"spec":[' + "[[1]]," * 12_000_000 + "1]}"
    )
    done = analyze(tmp_path, "--memory-limit", "512MiB", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "out" / "report.json").read_text()
    assert "huge.json" in report
    assert "more memory to read than a worker may use" in report


@pytest.mark.parametrize(("text", "words"), [("lots", "takes a size"), ("1MB", "at least 512MiB")])
def test_a_bad_limit_is_a_usage_error(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "in").mkdir()
    done = analyze(tmp_path, "--memory-limit", text)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
