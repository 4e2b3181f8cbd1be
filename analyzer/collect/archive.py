"""Writes the bundle: one tarball, in an order that never changes, beside its final name until it is whole."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

FOLDER = "triage-bundle"
MTIME = 315_532_800
"""The time of every file in the tarball, 1980-01-01: the same cluster gives the same bytes. tar warns of the year 1970."""
GZIP, ZSTD = "gzip", "zstd"
ENDINGS = {GZIP: ".tar.gz", ZSTD: ".tar.zst"}

_BUFFER = 1 << 20
_GZIP_LEVEL = 2
_ZSTD_LEVEL = 6
_LONGEST = 250
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._:-]{0,250}")


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the bundle, as the manifest lists it."""

    path: str
    bytes: int
    sha256: str


@dataclass(slots=True)
class Bundle:
    """The tarball that is being written."""

    tar: tarfile.TarFile
    members: list[Member] = field(default_factory=list)

    def add(self, path: str, size: int, pieces: Iterable[bytes], *, listed: bool = True) -> None:
        """Adds a file of exactly `size` bytes at `path` below the bundle's folder.

        Raises:
            OSError: the disk is full; or the pieces have another size, since the temporary files were changed.
        """
        info = tarfile.TarInfo(f"{FOLDER}/{path}")
        info.size, info.mtime, info.mode = size, MTIME, 0o644
        reader = _Pieces(iter(pieces))
        self.tar.addfile(info, reader)
        if reader.got != size or reader.read(1):
            raise OSError(f"the temporary file for {path} was changed by somebody else")
        if listed:
            self.members.append(Member(path, size, reader.digest.hexdigest()))


def part(text: str) -> str:
    """A name as one part of a path: anything that could lead elsewhere or that a file system refuses is escaped.

    Two names never have the same: where one is too long for a file system, its digest stands for its end.
    """
    if _PLAIN.fullmatch(text):
        return text
    escaped = quote(text, safe="", errors="surrogatepass").replace(".", "%2E") or "%"
    if len(escaped) <= _LONGEST:
        return escaped
    return f"{escaped[: _LONGEST - 17]}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@contextmanager
def writing(target: Path, compression: str) -> Iterator[Bundle]:
    """A bundle that gets its name `target` when the block ends, and leaves nothing where it fails.

    Args:
        target: where the bundle goes; replaced if it exists.
        compression: `gzip` or `zstd`.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("xb") as file:
            with (
                _compressed(file, compression) as stream,
                tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar,
            ):
                yield Bundle(tar)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def _compressed(file: BinaryIO, compression: str) -> Iterator[Any]:
    if compression == ZSTD:
        import zstandard

        with zstandard.ZstdCompressor(level=_ZSTD_LEVEL).stream_writer(file, closefd=False) as stream:
            yield stream
        return
    packed = _Gzip(file)
    yield packed
    packed.finish()


class _Gzip(io.RawIOBase):
    """gzip without a name and a time in its header."""

    def __init__(self, file: BinaryIO) -> None:
        from isal import isal_zlib

        self._file = file
        self._packer = isal_zlib.compressobj(_GZIP_LEVEL, isal_zlib.DEFLATED, 31)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._file.write(self._packer.compress(view))
        return len(view)

    def finish(self) -> None:
        self._file.write(self._packer.flush())


class _Pieces(io.RawIOBase):
    """A stream over pieces of bytes that counts and digests what it gives."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")
        self.got = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, wanted = [], size if size >= 0 else 1 << 62
        while wanted:
            if not self._rest:
                self._rest = memoryview(next(self._pieces, b""))
                if not self._rest:
                    break
            piece, self._rest = self._rest[:wanted], self._rest[wanted:]
            parts.append(piece)
            wanted -= len(piece)
        block = b"".join(parts)
        self.got += len(block)
        self.digest.update(block)
        return block
