"""Standard input as an input: spooled to a file, because an archive is read several times, by several processes."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import BinaryIO

from analyzer.bundle.errors import UnreadableError, UsageError
from analyzer.bundle.limits import GIB, MAX_STDIN_BYTES, MIB

STDIN = Path("-")
"""What stands for standard input among the inputs. A file of that name is given with its folder's full path."""

NAME = "stdin"
"""Name of the spooled file: of a single file it is what evidence names."""

WORDS = "standard input"


def spooled(folder: Path, stream: BinaryIO | None = None) -> Path:
    """Copy standard input into a file.

    Args:
        folder: an existing private folder; the caller removes it.
        stream: read instead of standard input.

    Returns:
        The file.

    Raises:
        UsageError: standard input is a terminal or cannot be read, is longer than `MAX_STDIN_BYTES`, or there is no
            room for it.
        UnreadableError: it is empty.
    """
    if stream is None:
        stream = _standard_input()
    path = folder / NAME
    written = 0
    with path.open("wb") as file:
        while data := _read(stream):
            written += len(data)
            if written > MAX_STDIN_BYTES:
                raise UsageError(f"{WORDS} is longer than {MAX_STDIN_BYTES // GIB} GiB; save it to a file and give its name")
            _write(file, data, folder)
    if not written:
        raise UnreadableError(f"{WORDS} is empty")
    return path


def _standard_input() -> BinaryIO:
    # None where the program was started with it closed.
    if sys.stdin is None:
        raise UnreadableError(f"{WORDS} is empty")
    if sys.stdin.isatty():
        raise UsageError(f"{WORDS} is a terminal; pipe a bundle into it, as in `kubectl get pods -A -o yaml | triage analyze -`")
    return sys.stdin.buffer


def _read(stream: BinaryIO) -> bytes:
    try:
        return stream.read(MIB)
    except OSError as error:
        raise UsageError(f"{WORDS} cannot be read: {error.strerror}") from None


def _write(file: BinaryIO, data: bytes, folder: Path) -> None:
    try:
        file.write(data)
    except OSError as error:
        words = "no space left" if error.errno == errno.ENOSPC else os.strerror(error.errno or 0)
        raise UsageError(f"{WORDS} cannot be spooled to {folder.parent}: {words} (set TMPDIR)") from None
