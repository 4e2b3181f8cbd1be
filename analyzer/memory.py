"""How much memory a run may use, and who gets how much of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.bundle.errors import UsageError
from analyzer.bundle.limits import GIB, KIB, MIB, TIB, WORKER_BYTES

LEAST_BYTES = 512 * MIB
"""Less is refused: no bundle of use could be read."""

MOST_BYTES = 1024 * TIB

WORKER_LEAST_BYTES = 192 * MIB
"""Fewer parse processes are started before one gets less: a zstd or xz stream alone may need 128 MiB."""

PARENT_BYTES = 128 * MIB
"""What the process that waits for the parse processes takes."""

_UNITS = {"": 1, "b": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_UNITS |= {f"{unit}ib": _UNITS[unit] for unit in "kmgt"} | {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([a-z]{0,3})\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shares:
    """Bytes for each of `jobs` parse processes and for the database, which is made when those have ended.

    Without a limit of the user's the database has one of its own (`analyzer.store.database`): None.
    """

    jobs: int
    worker: int
    database: int | None


def parse_limit(text: str) -> int:
    """A size such as `2GB` (decimal), `512MiB` or `2G` (binary) in bytes.

    Raises:
        UsageError: it is no size, or below `LEAST_BYTES`.
    """
    found = _SIZE.match(text)
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise UsageError(f"--memory-limit takes a size such as 2GB or 512MiB, not {text!r}")
    size = int(float(found[1]) * unit)
    if size < LEAST_BYTES:
        raise UsageError(f"--memory-limit must be at least {LEAST_BYTES // MIB}MiB, not {text!r}")
    return min(size, MOST_BYTES)


def shares(limit: int | None, jobs: int) -> Shares:
    """Deal out `limit` bytes to at most `jobs` parse processes at once, then to the database and Python's objects around it."""
    if limit is None:
        return Shares(jobs, WORKER_BYTES, None)
    left = limit - PARENT_BYTES
    jobs = max(1, min(jobs, left // WORKER_LEAST_BYTES))
    return Shares(jobs, left // jobs, limit // 2)


@contextlib.contextmanager
def told_if_short() -> Iterator[None]:
    """Says in one line that the database ran out of memory, and what helps.

    Raises:
        UsageError: it did.
    """
    try:
        yield
    except Exception as error:
        # By its name: DuckDB is not imported before the parse processes are started.
        if type(error).__name__ == "OutOfMemoryException":
            raise UsageError("the database needs more memory than it may use: give more with --memory-limit") from error
        raise
