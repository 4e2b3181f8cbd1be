"""Runs the program as a user does, in a process of its own that is forked from one with everything imported."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

_PRELOADED = ["analyzer.cli", "analyzer.facts", "analyzer.store.load", "analyzer.logs.output", "analyzer.logs.choose"]


def _main(words: list[str], here: str, temporary: str, files: list[str]) -> None:
    """In the new process: everything that a shell would set up, then the program."""
    for descriptor, name in enumerate(files):
        opened = os.open(name, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - multiprocessing has put another in its place
    os.chdir(here)
    os.environ["TMPDIR"] = temporary
    sys.argv = ["triage", *words]
    from analyzer.cli import main

    main()


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
    context: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    if sys.platform != "win32":
        context.set_forkserver_preload(_PRELOADED)

    def call(*words: str | Path, code: int = 0, given: bytes = b"") -> subprocess.CompletedProcess[str]:
        files = [tmp_path / name for name in ("stdin", "stdout", "stderr")]
        for file, content in zip(files, (given, b"", b""), strict=True):
            file.write_bytes(content)
        process = context.Process(target=_main, args=(list(map(str, words)), str(here), str(temporary), list(map(str, files))))
        process.start()
        process.join(120)
        out, error = files[1].read_text("utf-8"), files[2].read_text("utf-8")
        assert process.exitcode == code, error
        assert "Traceback" not in error
        assert list(temporary.iterdir()) == []
        return subprocess.CompletedProcess(words, code, out, error)

    return call
