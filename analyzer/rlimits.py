"""Limits that this process puts on itself, where the operating system has them (Windows has none of these)."""

from __future__ import annotations

import contextlib


def limit(name: str, value: int, *, final: bool = False) -> None:
    """Bounds a resource of this process, at most to what it is bounded to already.

    Args:
        name: as in setrlimit(2), without its prefix: AS (address space, bytes), FSIZE (bytes), CPU (seconds), CORE (bytes).
        value: the bound. One that the system refuses is left out: such a process has a time limit from outside as well.
        final: it cannot be raised again.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (lowest, lowest if final else hard))
