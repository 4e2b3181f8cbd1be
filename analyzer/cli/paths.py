"""Paths and words on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from analyzer.bundle.errors import UsageError


def given(text: str) -> Path:
    """A path as it was given. `Path` takes an empty one for the current folder, and a variable that is not set is none.

    Raises:
        UsageError: it is empty.
    """
    if not str(text):
        raise UsageError("a path is empty; the current folder is .")
    return Path(text)


def word(text: str) -> str:
    """A word that is no path: as UTF-8 whatever the locale is, and what is none replaced. No database takes half a character."""
    return os.fsencode(text).decode("utf-8", "replace")


BundleArgument = Annotated[
    Path,
    typer.Argument(
        metavar="BUNDLE",
        parser=given,
        help="A bundle, a report folder or its bundle.duckdb; - for stdin.",
        show_default=False,
    ),
]
"""The one bundle that a command asks something of."""
