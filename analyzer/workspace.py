"""Where a run may write: its private temporary folder, and standard input as a file in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from analyzer.bundle.errors import LimitError, UnreadableError, UsageError
from analyzer.bundle.stdin import STDIN, WORDS, spooled

Progress = Callable[[str, int, int], None]
"""Called with a stage in words, how much is done and how much there is (0 where that is not known)."""

MIN_FREE_BYTES = 256 << 20
"""Least free space in the temporary folder before a run starts: part files and spilled tables go there."""


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A private (0700) temporary folder, removed on every exit that can be caught. TMPDIR is honoured.

    Raises:
        UsageError: the temporary folder cannot be written or has less than MIN_FREE_BYTES left.
    """
    base = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
    try:
        free = shutil.disk_usage(base).free
    except OSError as error:
        raise UsageError(f"the temporary folder {base} cannot be used: {error.strerror} (see TMPDIR)") from None
    if free < MIN_FREE_BYTES:
        raise UsageError(
            f"the temporary folder {base} has {free >> 20} MB left, {MIN_FREE_BYTES >> 20} MB are needed (set TMPDIR)"
        )
    try:
        folder = Path(tempfile.mkdtemp(prefix="triage-", dir=base))
    except OSError as error:
        raise UsageError(f"the temporary folder {base} cannot be written: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def spooled_inputs(inputs: Sequence[Path], folder: Path, progress: Progress) -> Iterator[list[Path]]:
    """The inputs with standard input in a file; errors name it as standard input."""
    if STDIN not in inputs:
        yield list(inputs)
        return
    progress(f"reading {WORDS}", 0, 0)
    place = folder / "input"
    place.mkdir()
    file = spooled(place)
    try:
        yield [file if path == STDIN else path for path in inputs]
    except (UsageError, UnreadableError, LimitError) as error:
        raise type(error)(str(error).replace(str(file), WORDS)) from None
