"""Opening an input: what it is, by its bytes, and its entries with those of the archives inside it."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.bundle.compression import HEAD_BYTES, Expanded, codec_of, expanded
from analyzer.bundle.errors import CutEntry, LimitError, UnreadableError, UsageError
from analyzer.bundle.folder import FolderSource, open_regular
from analyzer.bundle.limits import MAX_NESTED_BYTES, MAX_NESTING, MIB, NESTED_MEMORY_BYTES
from analyzer.bundle.paths import decode_name, is_archive_name
from analyzer.bundle.single import SingleSource
from analyzer.bundle.sources import Budget, Member, Source
from analyzer.bundle.streams import EntryStream, Readable, as_binary, one_line
from analyzer.bundle.tar import TarSource
from analyzer.bundle.tar_header import BLOCK, looks_like_tar
from analyzer.bundle.types import Container, Entry, Link, Listing, Problem
from analyzer.bundle.zip_salvage import SalvagedZip
from analyzer.bundle.zips import ENCRYPTED, ZipSource

_BUFFER_BYTES = MIB
_EMPTY_TAR_BYTES = 20 * BLOCK
"""tar fills its last record with zeros, by default of 20 blocks; an empty archive is nothing else."""

_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_UNSUPPORTED = {
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!": "RAR",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
}
_Opener = Callable[[], EntryStream]


def open_container(path: Path) -> Container:
    """Look at an input and make its entries available; nothing is unpacked.

    What it is (a folder, a tar, plain or compressed, a zip, a single file, plain or compressed) is told by its
    bytes, never by its name.

    Args:
        path: a folder or a file; links to them are followed here, and nowhere inside.

    Returns:
        A container. It is cheap to make again in another process and gives the same indexes there.

    Raises:
        UsageError: there is no such path, it may not be read, or it is neither a folder nor a regular file.
        UnreadableError: it is empty, or an archive of a kind that is not read. `listing` raises it too, where
            nothing at all could be read of the input.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            with os.scandir(path):
                pass
        elif not stat.S_ISREG(mode):
            raise UsageError(f"{path}: neither a file nor a folder")
        else:
            with open_regular(path, follow=True) as file:
                _refuse(path, file.read(HEAD_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {_reason(error)}") from None
    return _Opened(path, folder=stat.S_ISDIR(mode))


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with open_regular(path, follow=True) as file:
            return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: {_reason(error)}") from None


class _Opened:
    """A `Container`: walks its source from the start each time, so that it needs no state of an earlier walk."""

    def __init__(self, path: Path, *, folder: bool) -> None:
        self.path = path
        self._folder = folder
        self._listing: Listing | None = None

    def listing(self) -> Listing:
        """See `Container`.

        Raises:
            UnreadableError: there is no entry, or none that can be read.
        """
        if self._listing is None:
            walk = _Walk(self.path, folder=self._folder)
            members = [member for member, _ in walk.members()]
            entries = tuple(Entry(member.path, member.size, member.problem) for member in members)
            self._check(entries, walk.problem)
            problem = Problem(walk.problem) if walk.problem is not None else None
            self._listing = Listing(entries, problem, tuple(walk.links))
        return self._listing

    def read(self, indexes: Sequence[int]) -> Iterator[tuple[int, BinaryIO]]:
        """See `Container`. What lies behind the last index is not looked at."""
        if not indexes:
            return
        wanted = set(indexes)
        last = max(wanted)
        walk = _Walk(self.path, folder=self._folder)
        with closing(walk.members()) as members:
            for index, (member, opener) in enumerate(members):
                if index in wanted and member.problem is None:
                    yield index, as_binary(opener())
                if index >= last:
                    return

    def _check(self, entries: tuple[Entry, ...], problem: str | None) -> None:
        if any(entry.problem is None for entry in entries):
            return
        if problem is None and entries:
            refused = {entry.problem for entry in entries}
            problem = "the archive is encrypted" if refused == {ENCRYPTED} else f"{entries[0].path}: {entries[0].problem}"
        raise UnreadableError(f"{self.path}: {problem or ('the folder' if self._folder else 'the archive') + ' is empty'}")


class _Walk:
    """One walk over an input and the archives in it.

    Attributes:
        problem: why the walk of the input itself ended early.
        links: links inside the input, so far.
    """

    def __init__(self, path: Path, *, folder: bool) -> None:
        self._path = path
        self._folder = folder
        self.problem: str | None = None
        self.links: list[Link] = []

    def members(self) -> Generator[tuple[Member, _Opener]]:
        """All members, each with what opens it before the next one is asked for."""
        budget = Budget(0)
        source: Source
        try:
            if self._folder:
                source = FolderSource(self._path, budget)
            else:
                file = open_regular(self._path, follow=True, buffering=_BUFFER_BYTES)
                budget.stored = os.fstat(file.fileno()).st_size
                source = _source_of(file, budget.stored, decode_name(os.fsencode(self._path.name)), budget)
        except OSError as error:
            raise UsageError(f"{self._path}: {_reason(error)}") from None
        try:
            yield from self._walk(source, budget, 0, "")
        finally:
            source.close()
        self.problem = budget.problem or source.problem
        self.links.extend(source.links)

    def _walk(self, source: Source, budget: Budget, depth: int, prefix: str) -> Iterator[tuple[Member, _Opener]]:
        for member in source.members():
            if not budget.entry(prefix + member.path):
                return
            nested = member.problem is None and is_archive_name(member.path) and not isinstance(source, SingleSource)
            if prefix:
                member.path = prefix + member.path
            if not nested:
                yield member, partial(source.open, member)
            elif depth >= MAX_NESTING:
                member.problem = f"archives are nested deeper than {MAX_NESTING}"
                yield member, partial(source.open, member)
            else:
                yield from self._nested(source, member, budget, depth)
            if budget.problem is not None:
                return

    def _nested(self, source: Source, member: Member, budget: Budget, depth: int) -> Iterator[tuple[Member, _Opener]]:
        """An archive in the input, and what is in it."""
        file = source.seekable(member)
        cut: str | None = None
        if file is None:
            if member.size > MAX_NESTED_BYTES:
                member.problem = f"nested archive of more than {MAX_NESTED_BYTES:,} bytes"
                yield member, partial(source.open, member)
                return
            file, cut = _spool(source.open(member))
        with closing(file):
            length = file.seek(0, os.SEEK_END)
            file.seek(0)
            again = file
            yield member, lambda: EntryStream(again.read, length)
            file.seek(0)
            inner = _source_of(file, length, member.path, budget)
            if isinstance(inner, SingleSource):
                member.problem = cut or "named like an archive, and is none"
                return
            yield from self._walk(inner, budget, depth + 1, f"{member.path}!/")
            problem = cut or inner.problem
            if problem is not None:
                member.problem = f"nested archive: {problem}"
            self.links.extend(Link(f"{member.path}!/{link.path}", f"{member.path}!/{link.target}") for link in inner.links)


def _spool(stream: EntryStream) -> tuple[BinaryIO, str | None]:
    """Copy a nested archive to where it can be seeked in; also says why it is not whole."""
    spool = cast("BinaryIO", tempfile.SpooledTemporaryFile(NESTED_MEMORY_BYTES))  # noqa: SIM115 - the caller closes it
    problem: str | None = None
    try:
        try:
            while data := stream.read(_BUFFER_BYTES):
                spool.write(data)
        except CutEntry as cut:
            problem = str(cut)
        spool.flush()
    except OSError as error:
        with suppress(OSError):  # what could not be written cannot be flushed either
            spool.close()
        return io.BytesIO(), f"no room for it in the temporary folder {tempfile.gettempdir()}: {one_line(error)}"
    return spool, problem


def _source_of(file: BinaryIO, length: int, name: str, budget: Budget) -> Source:
    """The reader for what `file` (at its start, `length` bytes long) turns out to be."""
    head = file.read(_EMPTY_TAR_BYTES + 1)
    file.seek(0)
    if head.startswith(_ZIP_MAGICS):
        try:
            return ZipSource(file, length, budget)
        except (ValueError, LimitError):
            return SalvagedZip(file, length, budget)
    codec = codec_of(head)
    if codec is None:
        if looks_like_tar(head[:BLOCK]) or _is_empty_tar(head):
            return TarSource(file, length=length)
        return SingleSource(name, file, length)
    start = _first_bytes(Expanded(file, codec), _EMPTY_TAR_BYTES + 1)
    file.seek(0)
    stream, raw = expanded(file, codec, budget)
    if looks_like_tar(start[:BLOCK]) or _is_empty_tar(start):
        return TarSource(cast("BinaryIO", stream), lambda: raw.problem)
    return SingleSource(name, cast("BinaryIO", stream), length, compressed=True, why_ended=lambda: raw.problem)


def _first_bytes(stream: Readable, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := stream.read(count - len(data))):
        data += more
    return data


def _is_empty_tar(start: bytes) -> bool:
    """Whether this, the first bytes of a file, is a tar without members: nothing but some blocks of zeros."""
    return 2 * BLOCK <= len(start) <= _EMPTY_TAR_BYTES and not start.strip(b"\0")


def _refuse(path: Path, head: bytes) -> None:
    if not head:
        raise UnreadableError(f"{path}: the file is empty")
    for magic, name in _UNSUPPORTED.items():
        if head.startswith(magic):
            raise UnreadableError(f"{path}: {name} archives are not read; pack it again as .tar.gz or .zip")


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "no such file or folder"
    return one_line(error) or "it cannot be read"
