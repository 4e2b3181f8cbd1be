"""The program in a process of its own, forked from one with everything imported: as a user runs it, without the start.

Importing takes longer than most of what tests ask for. What a start itself does (the entry point, its exit by Ctrl-C, what is
imported when) is tested with `python -m analyzer`, in tests/cli.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SECONDS = 120
"""Longest time a run may take."""
_PRELOADED = (
    "tests.warm",
    "analyzer.cli", "analyzer.cli.analyze", "analyzer.case", "analyzer.facts", "analyzer.bundle.read", "analyzer.store.load",
    "analyzer.store.database", "analyzer.engine.analysis", "analyzer.engine.pack", "analyzer.logs.output", "analyzer.logs.choose",
    "analyzer.cli.show", "analyzer.cli.rules", "analyzer.cli.rules_new", "analyzer.cli.sql", "analyzer.engine.case_run",
    "analyzer.render.html", "analyzer.render.markdown", "analyzer.render.json", "analyzer.render.terminal", "analyzer.overview",
    "analyzer.cli.collect", "analyzer.collect.run", "analyzer.cli.ome", "kubernetes.client", "kubernetes.config",
)  # fmt: skip


def _main(words: list[str], here: str, environment: dict[str, str], files: list[str]) -> None:
    """In the new process: everything that a shell would set up, then the program."""
    for descriptor, name in enumerate(files):
        opened = os.open(name, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - multiprocessing has put another in its place
    os.chdir(here)
    # The process that this one was forked from may have begun under another environment, and have looked for its own folders.
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv = ["triage", *words]
    from analyzer.cli import main

    main()


def triage(
    words: Sequence[str | Path], here: Path, folder: Path, given: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs `triage`.

    Args:
        words: its arguments.
        here: its working directory.
        folder: where files with its input and output may lie.
        given: its standard input.
        environment: what it has beside the environment of the tests.
    """
    context: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    if sys.platform != "win32":
        context.set_forkserver_preload(list(_PRELOADED))
    files = [folder / name for name in ("stdin", "stdout", "stderr")]
    for file, content in zip(files, (given, b"", b""), strict=True):
        file.write_bytes(content)
    arguments = (list(map(str, words)), str(here), {**os.environ, **(environment or {})}, list(map(str, files)))
    process = context.Process(target=_main, args=arguments)
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        raise subprocess.TimeoutExpired(list(map(str, words)), SECONDS)
    return subprocess.CompletedProcess(words, process.exitcode, files[1].read_bytes(), files[2].read_bytes())


def said(
    *words: object, here: Path | None = None, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `triage` in a folder (else the current one) with texts as its input and output; see `triage`."""
    with tempfile.TemporaryDirectory(prefix="triage-test-") as folder:
        done = triage([str(word) for word in words], here or Path.cwd(), Path(folder), given.encode(), environment)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
