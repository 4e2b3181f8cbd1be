"""Where objects wait on disk until the bundle is written: one file a resource, one line an object, in the order of arrival.

The API server gives lists by namespace and name, so that a namespace is a few runs of lines; only their places are held in
memory. Nothing is compressed here, and the folder is private and removed at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import FileIO
from itertools import pairwise
from pathlib import Path

import orjson

_PIECE = 1 << 20
SEPARATOR = b",\n"
"""Follows every object in a spool file, and all but the last of a list in the bundle."""


@dataclass(slots=True)
class _Run:
    first: str
    last: str
    offset: int
    length: int


@dataclass(slots=True)
class Spool:
    """The objects of one resource: `namespaces` has the runs of each namespace ("" for what has none)."""

    path: Path
    namespaces: dict[str, list[_Run]] = field(default_factory=dict)
    objects: int = 0
    resource_version: str = ""
    _file: FileIO | None = None
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _sealed: bool = False

    def add(self, page: list[tuple[str, str, bytes]]) -> None:
        """Appends objects: namespace, name and JSON of each. Nothing is added once the spool is sealed.

        Raises:
            OSError: the disk is full, or the folder is gone.
        """
        if not page:
            return
        block = SEPARATOR.join([line for _, _, line in page]) + SEPARATOR
        with self._lock:
            if self._sealed:
                return
            if self._file is None:
                self._file = self.path.open("wb", buffering=0)
            _write_all(self._file, block)
            for namespace, name, line in page:
                self._note(namespace, name, len(line) + len(SEPARATOR))
            self.objects += len(page)

    def _note(self, namespace: str, name: str, length: int) -> None:
        runs = self.namespaces.setdefault(namespace, [])
        run = runs[-1] if runs else None
        if run and run.offset + run.length == self._size and run.last < name:
            run.last, run.length = name, run.length + length
        else:
            runs.append(_Run(name, name, self._size, length))
        self._size += length

    def clear(self) -> None:
        """Forgets everything: the list is begun anew."""
        with self._lock:
            if self._file is not None and not self._sealed:
                self._file.seek(0)
                self._file.truncate()
            self.namespaces, self.objects, self._size, self.resource_version = {}, 0, 0, ""

    def seal(self) -> None:
        """No more is added: a thread that is late changes nothing any more."""
        with self._lock:
            self._sealed = True
            if self._file is not None:
                self._file.close()
                self._file = None

    def size(self, namespace: str) -> int:
        """Bytes that `read` gives for a namespace."""
        return max(0, sum(run.length for run in self.namespaces.get(namespace, ())) - len(SEPARATOR))

    def read(self, namespace: str) -> Iterator[bytes]:
        """The objects of a namespace by name, one a line, in pieces; without a line end after the last."""
        runs = self.namespaces.get(namespace, [])
        ordered = sorted(runs, key=lambda run: run.first)
        if any(before.last >= after.first for before, after in pairwise(ordered)):
            lines = self._lines(runs)
            lines.sort(key=_name_of)
            yield SEPARATOR.join(lines)
            return
        left = self.size(namespace)
        with self.path.open("rb") as file:
            for run in ordered:
                file.seek(run.offset)
                rest = min(run.length, left)
                while rest:
                    piece = file.read(min(rest, _PIECE))
                    if not piece:
                        raise OSError(f"the temporary file {self.path.name} was cut by somebody else")
                    rest -= len(piece)
                    left -= len(piece)
                    yield piece

    def _lines(self, runs: list[_Run]) -> list[bytes]:
        lines: list[bytes] = []
        with self.path.open("rb") as file:
            for run in runs:
                file.seek(run.offset)
                lines += file.read(run.length)[: -len(SEPARATOR)].split(SEPARATOR)
        return lines


def _name_of(line: bytes) -> str:
    value = orjson.loads(line)
    return str(value["metadata"].get("name", ""))


def _write_all(file: FileIO, block: bytes) -> None:
    """A raw file may take a part only."""
    view = memoryview(block)
    while view:
        view = view[file.write(view) or 0 :]
