"""The peak memory of a program and of each process that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.02
KIB = 1024


@dataclass(frozen=True)
class Peak:
    """Peak resident bytes: of the program itself and of each of its children (largest first; empty without /proc)."""

    main: int
    workers: tuple[int, ...]


def peak_memory(command: list[str], cwd: Path) -> Peak:
    """Run a command and watch it. Children that live shorter than a poll are missed.

    The kernel keeps the high-water mark of each process (VmHWM), so polling only has to see each one once near its
    end; pages shared with the parent after a fork count for both.
    """
    seen: dict[int, int] = {}
    main = 0
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while True:
            main = max(main, _high_water(process.pid))
            for pid in _descendants(process.pid):
                seen[pid] = max(seen.get(pid, 0), _high_water(pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            time.sleep(POLL_SECONDS)
    if process.returncode != 0:
        sys.exit(f"error: the program ended with {process.returncode} while its memory was watched")
    unit = 1 if sys.platform == "darwin" else KIB
    # Without /proc: what the kernel tells at the end, which is the most of the program and its children.
    return Peak(main or usage.ru_maxrss * unit, tuple(sorted((value for value in seen.values() if value), reverse=True)))


def _descendants(pid: int) -> list[int]:
    """The children of a process and theirs."""
    found: list[int] = []
    pending = [pid]
    while pending:
        try:
            text = Path(f"/proc/{pending[-1]}/task/{pending.pop()}/children").read_text()
        except OSError:
            continue
        children = [int(child) for child in text.split()]
        found += children
        pending += children
    return found


def _high_water(pid: int) -> int:
    """VmHWM of a process in bytes, 0 where it cannot be had."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * KIB
    except OSError:
        pass
    return 0
