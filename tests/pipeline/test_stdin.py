"""Standard input as the bundle, through the program itself."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analyzer.bundle import stdin
from analyzer.bundle.errors import UsageError

from . import pipeline_trees as trees


def run(folder: Path, *args: str, data: bytes | None = None, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """`triage analyze ARGS` in a folder, its temporary folder inside."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "analyzer", "analyze", *args],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary)},
        input=data,
        capture_output=True,
        timeout=120,
        check=False,
        **more,
    )


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return found


def test_an_archive(tmp_path: Path) -> None:
    data = trees.tar(tmp_path / "a.tar.gz", trees.must_gather()).read_bytes()
    done = run(tmp_path, "-", data=data)
    assert (done.returncode, done.stderr) == (0, b"")
    (row,) = report(tmp_path / "stdin.triage")["bundle"]["inputs"]
    assert (row["path"], row["format"], row["bytes"]) == ("-", "must-gather", len(data))
    assert not list((tmp_path / "tmp").iterdir())


def test_a_list_as_kubectl_prints_it(tmp_path: Path) -> None:
    broken = {"phase": "Pending", "conditions": [], "containerStatuses": [_waiting()]}
    text = trees.to_yaml({"apiVersion": "v1", "kind": "List", "items": [trees.pod("kettle-0", status=broken)]}, marker=False)
    assert run(tmp_path, "-", "-o", "out", "--format", "json", data=text.encode()).returncode == 0
    made = report(tmp_path / "out")
    assert made["bundle"]["inputs"][0]["format"] == "plain"
    (finding,) = [one for one in made["findings"] if one["code"] == "pod/ImagePullFailed"]
    assert {one["file"] for one in finding["evidence"]} == {"stdin"}
    lines = [one["line"] for one in finding["evidence"] if one["path"].endswith("waiting.message")]
    assert [text.splitlines()[line - 1].strip().partition(":")[0] for line in lines] == ["message"]


def _waiting() -> dict[str, Any]:
    reason = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/brew:1": not found'}
    return {"name": "brew", "image": "registry.example/brew:1", "ready": False, "state": {"waiting": reason}}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "standard input is empty"),
        (b"7z\xbc\xaf\x27\x1c rest", "standard input: 7-Zip archives are not read"),
        (b"<html></html>\n\x00\x01\x02", "stdin: no bundle"),
    ],
)
def test_nothing_that_can_be_read(tmp_path: Path, data: bytes, words: str) -> None:
    done = run(tmp_path, "-", data=data)
    assert done.returncode == 3
    assert done.stderr.decode().startswith(f"error: {words}")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "stdin.triage").exists()
    assert not list((tmp_path / "tmp").iterdir())


def test_closed_is_as_good_as_empty(tmp_path: Path) -> None:
    done = run(tmp_path, "-", preexec_fn=lambda: os.close(0))
    assert (done.returncode, done.stderr.splitlines()) == (3, [b"error: standard input is empty"])


def test_a_terminal_is_wrong_usage(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    try:
        done = run(tmp_path, "-", stdin=follower)
    finally:
        os.close(leader)
        os.close(follower)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: standard input is a terminal")
    assert len(done.stderr.splitlines()) == 1


def test_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "MAX_STDIN_BYTES", 10)
    assert stdin.spooled(tmp_path, io.BytesIO(b"x" * 10)).read_bytes() == b"x" * 10
    with pytest.raises(UsageError, match="longer than"):
        stdin.spooled(tmp_path, io.BytesIO(b"x" * 11))
