"""The key of the placeholders: the same secret gets the same placeholder in every collection of a cluster by one person.

The key is derived from random bytes in a file of the collecting user and from the cluster's uid. It never leaves the machine, so
that nobody who has a bundle can try out guesses; with the file gone, or not writable, only the placeholders differ.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from analyzer.redact import new_key

_LENGTH = 32


def placeholder_key(cluster_uid: str | None) -> bytes:
    """The key for `redact.configure`."""
    path = _folder() / "placeholder.key"
    with suppress(OSError, RuntimeError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Exclusive, so that two collections at once do not use two keys.
            with suppress(FileExistsError), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(new_key())
        secret = path.read_bytes()
        if len(secret) == _LENGTH:
            return blake2b((cluster_uid or "").encode(), key=secret, digest_size=_LENGTH).digest()
    return new_key()


def _folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base or Path.home() / "AppData" / "Local") / "bundle-triage"
    state = os.environ.get("XDG_STATE_HOME")
    return Path(state or Path.home() / ".local" / "state") / "bundle-triage"
