"""Paths on the command line."""

from __future__ import annotations

from pathlib import Path

from analyzer.bundle.errors import UsageError


def given(text: str) -> Path:
    """A path as it was given. `Path` takes an empty one for the current folder, and a variable that is not set is none.

    Raises:
        UsageError: it is empty.
    """
    if not str(text):
        raise UsageError("a path is empty; the current folder is .")
    return Path(text)
