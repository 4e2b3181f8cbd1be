"""A folder on disk. Only regular files below it are opened; links are looked at and never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from analyzer.bundle.limits import MAX_ENTRY_BYTES, MAX_FOLDER_DEPTH
from analyzer.bundle.links import DANGLING, OUTSIDE
from analyzer.bundle.paths import clean_path, decode_name
from analyzer.bundle.sources import Budget, Member
from analyzer.bundle.streams import EntryStream, one_line
from analyzer.bundle.types import Link

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)  # what was a file at listing may be a link now
    | getattr(os, "O_NONBLOCK", 0)  # or a pipe, which would wait for a writer
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_REPARSE_POINT = 0x400
"""Windows' file attribute of junctions and the like, which lead elsewhere as links do."""


def open_regular(path: Path | str, *, follow: bool = False, buffering: int = -1) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        path: what to open.
        follow: whether the path itself may be a link (one that a user names may, an entry of a folder may not).
        buffering: as for `open`.

    Raises:
        OSError: it cannot be opened, or is a link, a folder, a pipe or a device.
    """
    flags = _OPEN_FLAGS & ~getattr(os, "O_NOFOLLOW", 0) if follow else _OPEN_FLAGS
    file = os.fdopen(os.open(path, flags), "rb", buffering)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("not a regular file")
    return file


class FolderSource:
    """A folder as a `Source` (see `analyzer.bundle.sources`), in the order of the names."""

    def __init__(self, root: Path, budget: Budget) -> None:
        """Walk the folder `root`; the bytes found count for `budget`."""
        self.problem: str | None = None
        self.links: list[Link] = []
        self._root = str(root)
        self._real_root = os.path.realpath(root)
        self._budget = budget
        self._open: BinaryIO | None = None
        self._stream: EntryStream | None = None

    def members(self) -> Iterator[Member]:
        """See `Source`."""
        pending = [self._scan(self._root, "", 0)]
        while pending:
            found = next(pending[-1], None)
            if found is None:
                pending.pop()
            elif isinstance(found, Member):
                yield found
                self._release()
            else:
                pending.append(self._scan(*found))

    def open(self, member: Member) -> EntryStream:
        """See `Source`."""
        self._release()
        try:
            self._open = open_regular(str(member.key), buffering=0)
        except OSError as error:
            reason = one_line(error)
            self._stream = EntryStream(lambda _: b"", member.size, lambda: reason)
        else:
            self._stream = EntryStream(self._open.read, member.size)
        return self._stream

    def seekable(self, member: Member) -> BinaryIO | None:
        """See `Source`."""
        try:
            return open_regular(str(member.key))
        except OSError:
            return None

    def close(self) -> None:
        """Close what is open."""
        self._release()

    def _release(self) -> None:
        if self._stream is not None:
            self._stream.expire()
            self._stream = None
        if self._open is not None:
            self._open.close()
            self._open = None

    def _scan(self, folder: str, prefix: str, depth: int) -> Iterator[Member | tuple[str, str, int]]:
        """What lies in one folder: members, and (folder, prefix, depth) for the folders in it."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield Member(prefix or ".", 0, f"the folder cannot be listed: {one_line(error)}")
            return
        for entry in entries:
            name, problem = clean_path(decode_name(os.fsencode(prefix + entry.name)))
            if problem is not None:
                yield Member(name, 0, problem)
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield Member(name, 0, one_line(error))
                continue
            mode = status.st_mode
            if stat.S_ISLNK(mode) or getattr(status, "st_file_attributes", 0) & _REPARSE_POINT:
                problem = self._link_problem(entry.path, name)
                if problem is not None:
                    yield Member(name, 0, problem)
            elif stat.S_ISDIR(mode):
                if depth >= MAX_FOLDER_DEPTH:
                    yield Member(name, 0, f"folders are nested deeper than {MAX_FOLDER_DEPTH}")
                else:
                    yield entry.path, f"{prefix}{entry.name}/", depth + 1
            elif stat.S_ISREG(mode):
                size = status.st_size
                self._budget.stored += size
                yield Member(
                    name, size, None if size <= MAX_ENTRY_BYTES else f"larger than {MAX_ENTRY_BYTES:,} bytes", entry.path
                )
            else:
                yield Member(name, 0, "not a regular file: a device, a pipe or a socket")

    def _link_problem(self, path: str, name: str) -> str | None:
        """Why a link is refused; None where it stands for something in the folder, which is listed itself."""
        try:
            target = os.path.realpath(path, strict=True)
        except OSError:
            if os.path.realpath(path) == path:
                return "a link that leads in a circle"
            return DANGLING if self._inside(os.path.realpath(path)) is not None else OUTSIDE
        inside = self._inside(target)
        if inside is None:
            return OUTSIDE
        self.links.append(Link(name, inside))
        return None

    def _inside(self, target: str) -> str | None:
        """The path below the root that `target` is, None where it lies elsewhere."""
        if target == self._real_root:
            return ""
        root = self._real_root.rstrip(os.sep) + os.sep
        if not target.startswith(root):
            return None
        return decode_name(os.fsencode(target[len(root) :])).replace(os.sep, "/")
