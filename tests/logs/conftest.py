"""Runs the program as a user does, in a process of its own that is forked from one with everything imported."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.program import triage

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

    def call(*words: str | Path, code: int = 0, given: bytes = b"") -> subprocess.CompletedProcess[str]:
        done = triage(words, here, tmp_path, given, {"TMPDIR": str(temporary)})
        out, error = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, error
        assert "Traceback" not in error
        assert list(temporary.iterdir()) == []
        return subprocess.CompletedProcess(words, code, out, error)

    return call
