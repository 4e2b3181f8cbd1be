"""Zip archives, by their table of contents. Only stored and deflated entries: all that bundle writers use.

The other methods (bzip2, LZMA) are refused because the standard library cannot bound what one read of them yields.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from analyzer.bundle.errors import LimitError
from analyzer.bundle.limits import MAX_ENTRY_BYTES, MAX_PATH_CHARS, MAX_RATIO, MAX_ZIP_DIRECTORY_BYTES, RATIO_FLOOR_BYTES
from analyzer.bundle.links import LinkBook
from analyzer.bundle.paths import clean_path
from analyzer.bundle.sources import Budget, Member
from analyzer.bundle.streams import READ_ERRORS, EntryStream, read_all
from analyzer.bundle.types import Link

_ENCRYPTED = 0x1
_UTF8 = 0x800
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_UNIX = 3
ENCRYPTED = "encrypted"


class _Bounded(io.RawIOBase):
    """A file that refuses a read of more than the limit; zipfile reads the whole table of contents at once."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        super().__init__()
        self._file = file
        self._length = length

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = max(0, self._length - self._file.tell())
        if size > MAX_ZIP_DIRECTORY_BYTES:
            message = f"the zip's table of contents is larger than {MAX_ZIP_DIRECTORY_BYTES:,} bytes"
            raise LimitError(message)
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class ZipSource:
    """A zip as a `Source` (see `analyzer.bundle.sources`), in the order of its table of contents."""

    def __init__(self, file: BinaryIO, length: int, budget: Budget) -> None:
        """Open the zip in `file`, which can be seeked in and is `length` bytes long.

        Raises:
            ValueError: it has no readable table of contents.
            LimitError: the table of contents is too large.
        """
        self.problem: str | None = None
        self.links: list[Link] = []
        self._file = file
        self._length = length
        self._budget = budget
        self._stream: EntryStream | None = None
        try:
            self._zip = zipfile.ZipFile(cast("BinaryIO", _Bounded(file, length)))
        except LimitError:
            raise
        except Exception as error:  # zipfile raises whatever its struct and slices run into on hostile bytes
            raise ValueError("no table of contents") from error

    def members(self) -> Iterator[Member]:
        """See `Source`."""
        book = LinkBook()
        seen: dict[str, Member] = {}
        expanded = 0
        for info in self._zip.infolist():
            name = entry_name(info)
            path, problem = clean_path(name)
            if name.endswith("/"):
                continue
            mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
            problem = problem or self._refusal(info, mode)
            if problem is None:
                expanded += info.file_size
                if expanded > RATIO_FLOOR_BYTES and expanded > MAX_RATIO * self._length:
                    problem = f"the zip expands to more than {MAX_RATIO} times its size"
                elif not self._budget.expand(info.file_size):
                    self.problem = self._budget.problem
                    return
            if problem is None and stat.S_ISLNK(mode):
                problem = book.add(path, self._target(info), hard=False)
                if problem is None:
                    continue
            member = Member(path, info.file_size, problem, info)
            if problem is None:
                earlier = seen.get(path)
                if earlier is not None:
                    earlier.problem = "replaced by a later member of the same name"
                seen[path] = member
            yield member
            if self._stream is not None:
                self._stream.expire()
        yield from book.settle(seen, self.links)

    def open(self, member: Member) -> EntryStream:
        """See `Source`."""
        info = member.key
        if not isinstance(info, zipfile.ZipInfo):
            raise TypeError
        opened: list[zipfile.ZipExtFile] = []

        def read(size: int) -> bytes:
            if not opened:
                opened.append(cast("zipfile.ZipExtFile", self._zip.open(info)))
            return opened[0].read(size)

        self._stream = EntryStream(read, info.file_size)
        return self._stream

    def seekable(self, member: Member) -> BinaryIO | None:  # noqa: ARG002 - part of `Source`
        """Never: the entries are compressed."""
        return None

    def close(self) -> None:
        """Close the zip and the file below."""
        self._zip.close()
        self._file.close()

    def _target(self, info: zipfile.ZipInfo) -> str:
        """What a symbolic link points to: it is the entry's content."""
        try:
            with self._zip.open(info) as stream:
                return read_all(stream, MAX_PATH_CHARS + 1)[0].decode("utf-8", "backslashreplace")
        except READ_ERRORS:
            return ""

    @staticmethod
    def _refusal(info: zipfile.ZipInfo, mode: int) -> str | None:
        if info.flag_bits & _ENCRYPTED:
            return ENCRYPTED
        if info.compress_type not in _METHODS:
            return f"compression method {info.compress_type} of zip is not read"
        if info.file_size > MAX_ENTRY_BYTES:
            return f"it is larger than {MAX_ENTRY_BYTES:,} bytes"
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFLNK}:
            return "not a regular file: a device, a pipe or a socket"
        return None


def entry_name(info: zipfile.ZipInfo) -> str:
    """The name of an entry: UTF-8 where it is, although many zip programs do not say so; `/` between folders."""
    name = info.filename
    if not info.flag_bits & _UTF8 and not name.isascii():
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    if info.create_system != _UNIX and "\\" in name and "/" not in name:
        name = name.replace("\\", "/")
    return name
