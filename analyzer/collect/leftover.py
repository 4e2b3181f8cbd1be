"""What collections that were killed left behind: temporary folders, and tarballs without a name. A later one takes them away."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from analyzer.leftovers import is_old, old

PREFIX = "triage-collect-"
"""Begin of the names of the temporary folders, which hold what was masked already."""

_FOLDER = re.compile(rf"{PREFIX}\w{{8}}")
_INSIDE = re.compile(r"\d{4,6}|log\d{6,}")
_DEFAULT = r"triage-.+-\d{8}T\d{6}Z\.tar\.(?:gz|zst)"


def sweep(target: Path) -> None:
    """Removes what is a day old, this user's, and ours by every name, from the temporary folder and from beside `target`."""
    part = re.compile(rf"\.(?:{re.escape(target.name)}|{_DEFAULT})\.\d+\.part")
    for folder in old(Path(tempfile.gettempdir()), _FOLDER):
        with suppress(OSError):
            inside = list(folder.iterdir()) if folder.is_dir() else None
            if inside is not None and all(_INSIDE.fullmatch(path.name) and is_old(path) for path in inside):
                shutil.rmtree(folder, ignore_errors=True)
    for file in old(target.absolute().parent, part):
        with suppress(OSError):
            if file.is_file():
                file.unlink()
