"""Where the bundle lies that a database was made from, so that what the database lacks can be read from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb

from analyzer import __version__
from analyzer.bundle.containers import open_container, sha256_of
from analyzer.bundle.errors import BundleError
from analyzer.bundle.stdin import STDIN, WORDS


class Wanted(Protocol):
    """A file that is to be read again: the input it is in, its path there and its size."""

    @property
    def input(self) -> int: ...  # noqa: D102 - told above
    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Original:
    """An input that can be read; `indexes` are its entries by path, None where those of the database are right."""

    path: Path
    indexes: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """An input that cannot be read any more, and why, in words."""

    why: str


@dataclass(frozen=True, slots=True)
class _Input:
    path: str
    sha256: str | None
    bytes: int | None


def originals(
    con: duckdb.DuckDBPyConnection, database: Path, given: Sequence[Path], files: Iterable[Wanted], made_by: str | None
) -> dict[int, Original | Lost]:
    """For each input that holds one of the files where it is.

    Args:
        con: the database.
        database: its file; relative paths are looked for also beside it and beside its folder.
        given: further places, tried after the recorded one.
        files: what is to be read.
        made_by: the version of triage that made the database.

    Returns:
        By index of the input: where it is, checked by size and SHA-256 (a folder by the sizes of its files), or why not.
    """
    wanted: dict[int, list[Wanted]] = {}
    for file in files:
        wanted.setdefault(file.input, []).append(file)
    rows = con.execute("SELECT input, path, sha256, bytes FROM inputs ORDER BY input").fetchall()
    inputs = {row[0]: _Input(*row[1:]) for row in rows}
    found = {number: _found(inputs[number], database, given, own) for number, own in wanted.items() if number in inputs}
    if made_by == __version__:
        return found
    # Another version may count the entries of an archive in another way.
    return {number: _by_path(one, wanted[number]) if isinstance(one, Original) else one for number, one in found.items()}


def _found(one: _Input, database: Path, given: Sequence[Path], files: Sequence[Wanted]) -> Original | Lost:
    problems = []
    recorded = Path(one.path)
    if recorded == STDIN:
        problems.append(f"it came from {WORDS}")
    else:
        places = [recorded]
        if not recorded.is_absolute():
            folder = database.absolute().parent
            places += [folder / recorded, folder.parent / recorded]
        there = [place for place in places if _exists(place)]
        for place in there:
            result = _checked(place, one, files)
            if isinstance(result, Original):
                return result
            problems.append(f"{place} {result}")
        if not there:
            problems.append(f"{recorded} is not there")
    for place in given:
        result = _checked(place, one, files) if _exists(place) else "is not there"
        if isinstance(result, Original):
            return result
        problems.append(f"{place} {result}")
    return Lost("; ".join(problems))


def _by_path(one: Original, files: Sequence[Wanted]) -> Original | Lost:
    """The same input with the places of its entries looked up anew."""
    if one.indexes is not None:
        return one
    try:
        places = {entry.path: number for number, entry in enumerate(open_container(one.path).listing().entries)}
    except BundleError as error:
        return Lost(f"{one.path} cannot be read ({error})")
    lost = next((file.path for file in files if file.path not in places), None)
    return Lost(f"{one.path} has no {lost}") if lost else Original(one.path, places)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _checked(path: Path, one: _Input, files: Sequence[Wanted]) -> Original | str:
    """The input at this path where it is the one that was read, else what is wrong with it."""
    try:
        if one.sha256 is None:
            return _checked_folder(path, files)
        if not path.is_file():
            return "is not a file"
        if path.stat().st_size != one.bytes:
            return f"is another file than was analyzed ({path.stat().st_size:,} bytes, not {one.bytes or 0:,})"
        if sha256_of(path) != one.sha256:
            return "is another file than was analyzed (its SHA-256 differs)"
    except (BundleError, OSError, ValueError) as error:
        return f"cannot be read ({error})"
    return Original(path)


def _checked_folder(path: Path, files: Sequence[Wanted]) -> Original | str:
    """A folder has no digest: the files to be read must be there and have their sizes."""
    if not path.is_dir():
        return "is not a folder"
    entries = open_container(path).listing().entries
    places = {entry.path: number for number, entry in enumerate(entries)}
    for file in files:
        at = places.get(file.path)
        if at is None:
            return f"no longer has {file.path}"
        if entries[at].size != file.size:
            return f"is not as it was: {file.path} has {entries[at].size:,} bytes, not {file.size:,}"
    return Original(path, places)
