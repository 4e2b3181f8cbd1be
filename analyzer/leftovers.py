"""What runs that were killed leave behind under names of ours: found a day later, for whoever knows what it holds to remove."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LEFT_SECONDS = 24 * 3600
"""After this nothing of ours is in use any more: no run lasts so long."""


def old(where: Path, name: re.Pattern[str]) -> Iterator[Path]:
    """What lies in a folder under a name of that pattern: this user's, no link, a day old. Nothing where it cannot be read."""
    with suppress(OSError):
        named = [path for path in where.iterdir() if name.fullmatch(path.name)]
        yield from [path for path in named if not path.is_symlink() and is_old(path)]


def is_old(path: Path) -> bool:
    """Whether it is this user's, and a day old.

    Raises:
        OSError: it is gone.
    """
    found = path.lstat()
    ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return ours and time.time() - found.st_mtime > LEFT_SECONDS
