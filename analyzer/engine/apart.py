"""A process of its own for what nobody vouches for: one request in, one line an answer out, bounded time and memory."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Generator
from typing import IO, Any

from analyzer.rlimits import limit

MEMORY_BYTES = 4 << 30
"""Address space of the child."""
START_SECONDS = 20.0
"""What starting the child may take on top of its first answer."""


class ApartError(Exception):
    """The child gave no further answer; the text says why."""

    def __init__(self, reason: str = "the process that ran it ended: out of memory, or its answer was too large") -> None:
        super().__init__(reason)


class LateError(ApartError):
    """The child took too long; what the limit was is for the caller to say."""

    def __init__(self) -> None:
        super().__init__("took too long and was stopped")


def answers(module: str, request: dict[str, Any], seconds: float, most: int) -> Generator[bytes, None, None]:
    """The lines that a child answers; it is killed when the caller stops asking.

    Args:
        module: what the child runs, `python -m module`; it reads the request from standard input and calls `limit_memory`.
        request: what it is asked.
        seconds: longest time between two answers.
        most: longest answer in bytes.

    Raises:
        LateError: the next answer took longer than that.
        ApartError: it is too long, or the child ended.
    """
    command = [sys.executable, "-P", "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both were asked for
        lines: queue.Queue[bytes | None] = queue.Queue(maxsize=2)
        reader = threading.Thread(target=_read_lines, args=(child.stdout, lines, most), daemon=True)
        reader.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(json.dumps(request).encode() + b"\n")
                child.stdin.close()
            allowance = START_SECONDS
            while True:
                try:
                    line = lines.get(timeout=seconds + allowance)
                except queue.Empty:
                    raise LateError from None
                if line is None:
                    raise ApartError
                allowance = 0.0
                yield line
        finally:
            child.kill()
            while reader.is_alive():
                with contextlib.suppress(queue.Empty):
                    lines.get(timeout=0.05)


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes | None], most: int) -> None:
    """Hands on the child's lines, None at the end or when one is too long."""
    with contextlib.suppress(ValueError, OSError):
        while line := stream.readline(most + 1):
            if len(line) > most or not line.endswith(b"\n"):
                break
            lines.put(line)
    lines.put(None)


def limit_memory() -> None:
    """Bounds the address space of this process, where the operating system can."""
    limit("AS", MEMORY_BYTES, final=True)
    limit("CORE", 0, final=True)
