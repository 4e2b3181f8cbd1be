"""What the tests of opening share: writing archives, and reading an input whole."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import zstandard

from analyzer.bundle.containers import open_container
from analyzer.bundle.errors import CutEntry
from analyzer.bundle.types import Listing

COMPRESS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def tar_bytes(members: list[tuple[str, bytes]], kind: int = tarfile.GNU_FORMAT) -> bytes:
    """A tar with these members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mtime = 1_700_000_000
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    """A member that is no regular file."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


def listing(path: Path) -> Listing:
    """The listing of an input."""
    return open_container(path).listing()


def contents(path: Path) -> tuple[dict[str, bytes], set[str]]:
    """All that can be read of an input, and the names of the entries that are cut."""
    entries = open_container(path).listing().entries
    wanted = [index for index, entry in enumerate(entries) if entry.problem is None]
    found: dict[str, bytes] = {}
    cut: set[str] = set()
    for index, stream in open_container(path).read(wanted):
        blocks = []
        try:
            while block := stream.read(1 << 16):
                blocks.append(block)
        except CutEntry:
            cut.add(entries[index].path)
        found[entries[index].path] = b"".join(blocks)
    return found, cut


def problems(path: Path) -> dict[str, str]:
    """The entries that are refused, and why."""
    return {entry.path: entry.problem for entry in listing(path).entries if entry.problem is not None}
