"""A database for any BUNDLE: the one a report folder has, or one made on the spot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from analyzer.case import Options, analyze_case
from analyzer.cli import progress
from analyzer.workspace import workspace

REPORTS = ("report.html", "report.md", "report.json")


@contextlib.contextmanager
def database_for(bundle: Path) -> Iterator[Path]:
    """The path of a `bundle.duckdb`: of a report folder, the file itself, or made from the bundle and then removed.

    Raises:
        UsageError: the path cannot be used.
        UnreadableError: nothing in it could be read as a bundle.
    """
    stored = stored_database(bundle)
    if stored:
        yield stored
        return
    from analyzer.engine.pack import load_packs

    with workspace() as folder:
        path = folder / "bundle.duckdb"
        with progress.shown() as tell:
            analyze_case([bundle], load_packs([]), path, Options(), tell)
        yield path


def stored_database(bundle: Path) -> Path | None:
    """The database that a report folder, a report in it or a `.duckdb` path stands for, None for any other input."""
    if bundle.name in REPORTS and bundle.is_file():
        bundle = bundle.parent
    inside = bundle / "bundle.duckdb"
    if inside.is_file():
        return inside
    return bundle if bundle.is_file() and bundle.suffix == ".duckdb" else None
