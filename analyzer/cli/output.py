"""The folder a report is written to: never a user's files, always whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from analyzer.bundle.errors import UsageError
from analyzer.bundle.stdin import NAME, STDIN
from analyzer.cli.prepare import REPORTS
from analyzer.leftovers import old

OURS = frozenset({*REPORTS, "bundle.duckdb"})
_STAGED = OURS | {"bundle.duckdb.wal"}
_PART = ".part"
_ENDINGS = (".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tar.bz2", ".tar", ".zip", ".gz", ".xz", ".zst", ".bz2")


def default_folder(first_input: Path) -> Path:
    """`NAME.triage` in the current directory, NAME being the input's name without archive endings."""
    if first_input == STDIN:
        return Path(f"{NAME}.triage")
    name = Path(os.path.realpath(first_input)).name or "bundle"
    for ending in _ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            break
    return Path(f"{name.removesuffix('.triage') or name}.triage")


def check(folder: Path, inputs: list[Path]) -> None:
    """Refuse a folder that holds anything but an earlier report of ours.

    Raises:
        UsageError: it is a file, holds something else, lies inside an input, or cannot be written.
    """
    try:
        _check(folder, inputs)
    except OSError as error:
        raise UsageError(f"the output folder {folder} cannot be used: {error.strerror}") from None


def _check(folder: Path, inputs: list[Path]) -> None:
    # Unlike Path.resolve this takes links that lead in a circle.
    target = Path(os.path.realpath(folder))
    for path in inputs:
        if path == STDIN:
            continue
        source = Path(os.path.realpath(path))
        if source == target or (source.is_dir() and source in target.parents) or target in source.parents:
            raise UsageError(f"the output folder {folder} and the input {path} lie in one another; choose another with -o")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"the output folder {folder} is not a folder")
    if folder.is_dir():
        _check_contents(folder)
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise UsageError(f"the output folder {folder} cannot be written: no permission in {parent}")


def _check_contents(folder: Path) -> None:
    try:
        names = {entry.name for entry in os.scandir(folder)}
    except OSError as error:
        raise UsageError(f"the output folder {folder} cannot be read: {error.strerror}") from None
    if names and (names - OURS or not _is_report(folder / "report.json")):
        # A report made with --format html has no report.json; its database tells that it is ours.
        strange = sorted(names - OURS)
        if strange or not _is_database(folder / "bundle.duckdb"):
            what = f"holds {strange[0]}" if strange else "holds no report of ours"
            raise UsageError(f"the output folder {folder} is not empty and {what}; nothing was written")


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            head = stream.read(200)
    except OSError:
        return False
    return head.startswith(b"{") and b'"triage.report/' in head


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(12)[8:12] == b"DUCK"
    except OSError:
        return False


@contextlib.contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A fresh folder beside `folder` that takes its place, by rename, when the block ends well.

    On any error it is removed and an earlier report stays as it was.

    Raises:
        UsageError: the folder cannot be created.
    """
    target = folder.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PART, dir=target.parent))
    except OSError as error:
        raise UsageError(f"the output folder {folder} cannot be created: {error.strerror}") from None
    try:
        yield staging
        staging.chmod(0o755)
        _swap(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _sweep(target: Path) -> None:
    """Remove what runs that were killed left beside the output, some time after them."""
    name = re.compile(rf"\.{re.escape(target.name)}\.\w{{8}}{re.escape(_PART)}")
    for folder in old(target.parent, name):
        with contextlib.suppress(OSError):
            if folder.is_dir() and {entry.name for entry in os.scandir(folder)} <= _STAGED:
                shutil.rmtree(folder, ignore_errors=True)


def _swap(staging: Path, target: Path) -> None:
    """Put `staging` in the place of `target`; what was there is removed only once the new one stands."""
    if not target.exists():
        staging.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    target.rename(old / "old")
    try:
        staging.rename(target)
    except OSError:
        (old / "old").rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
