"""Runs the program as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The working directory of `run`."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def run(here: Path, tmp_path: Path) -> Run:
    """Runs `triage` with a temporary folder of its own, which must be empty afterwards."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def call(*words: str | Path, code: int = 0, given: bytes | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "analyzer", *map(str, words)],
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
            cwd=here,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        out, error = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, error
        assert "Traceback" not in error
        assert list(temporary.iterdir()) == []
        return subprocess.CompletedProcess(done.args, code, out, error)

    return call
