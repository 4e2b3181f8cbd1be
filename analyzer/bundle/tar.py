"""Tar archives, read once from front to back: plain or from a decompressor.

`tarfile` spends a second on 25,000 members, which is more than decompressing them; this reader keeps to what a
bundle needs (names, sizes, contents) and goes on behind a damaged header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from analyzer.bundle.limits import KIB, MAX_ENTRY_BYTES, MAX_TAR_EXTRA_BYTES, MIB
from analyzer.bundle.links import LinkBook
from analyzer.bundle.paths import clean_path, decode_name
from analyzer.bundle.sources import Member
from analyzer.bundle.streams import READ_ERRORS, EntryStream, one_line
from analyzer.bundle.tar_header import (
    BLOCK,
    FOLDER,
    HARD_LINK,
    REGULAR,
    SYMLINK,
    ZEROS,
    DamagedHeader,
    Header,
    checksum_fits,
    parse_header,
    parse_pax,
    pax_size,
    refusal,
)
from analyzer.bundle.types import Link

_SKIP_BYTES = MIB
_BEHIND_BYTES = 64 * KIB
"""How far behind an archive's end another one is looked for: what `tar` pads with zeros is 10 KiB."""
_UNLISTED = (FOLDER, b"D", b"V")
"""Folders, GNU's folders of incremental backups, and volume labels."""


class _End(Exception):  # noqa: N818 - control flow inside this module
    """The archive ends here, properly or not."""


class TarSource:
    """A tar as a `Source` (see `analyzer.bundle.sources`)."""

    def __init__(self, file: BinaryIO, why_ended: Callable[[], str | None] = lambda: None, length: int | None = None) -> None:
        """Walk the tar in `file`.

        Args:
            file: buffered, at the first header.
            why_ended: what cut `file` short, asked where it ends before the archive does.
            length: bytes of `file` where it can be seeked in, so that contents are jumped over.
        """
        self.problem: str | None = None
        self.links: list[Link] = []
        self._file = file
        self._why_ended = why_ended
        self._length = length
        self._at = 0
        self._stream: EntryStream | None = None
        self._seen: dict[str, Member] = {}
        self._book = LinkBook()
        self._globals: dict[bytes, bytes] = {}
        self._pax: dict[bytes, bytes] = {}
        self._name: bytes | None = None
        self._link: bytes | None = None

    def members(self) -> Iterator[Member]:
        """See `Source`. Links that lead nowhere are listed last, since any of them may point forward."""
        try:
            while (header := self._next_header()) is not None:
                member = self._member(header)
                end = self._at + header.size + -header.size % BLOCK
                if member is not None:
                    yield member
                self._go_to(end, self._at + header.size)
            self._look_behind()
        except _End:
            pass
        yield from self._book.settle(self._seen, self.links)

    def open(self, member: Member) -> EntryStream:
        """See `Source`."""
        self._stream = EntryStream(self._file.read, member.size, self._why_ended)
        return self._stream

    def seekable(self, member: Member) -> BinaryIO | None:  # noqa: ARG002 - part of `Source`
        """Never: the members lie in one stream."""
        return None

    def close(self) -> None:
        """Close the file below."""
        self._file.close()

    # --- headers ----------------------------------------------------------------------------------------------------

    def _next_header(self) -> Header | None:
        """The next header with its long name, pax records and link put in; None at the archive's end."""
        while True:
            start = self._at
            block = self._block()
            if block == ZEROS:
                block = self._block()
                if block == ZEROS:
                    return None
            try:
                header = parse_header(block)
                if not self._described(header):
                    return self._applied(header)
            except DamagedHeader:
                self._find_header(start)

    def _described(self, header: Header) -> bool:
        """Take in a header that only describes the next one."""
        kind = header.type
        if kind in REGULAR:
            return False
        if kind in {b"x", b"X"}:
            self._pax = parse_pax(self._extra(header.size))
        elif kind == b"L":
            self._name = self._extra(header.size).split(b"\0", 1)[0]
        elif kind == b"K":
            self._link = self._extra(header.size).split(b"\0", 1)[0]
        elif kind == b"g":
            self._globals.update(parse_pax(self._extra(header.size)))
        else:
            return False
        return True

    def _applied(self, header: Header) -> Header:
        pax = self._globals | self._pax if self._globals else self._pax
        if not pax and self._name is None and header.type in REGULAR:
            return header
        name, link, kind = self._name, self._link, header.type
        self._pax, self._name, self._link = {}, None, None
        size = pax_size(pax, header.size) if kind not in {HARD_LINK, SYMLINK, FOLDER} else 0
        name = pax.get(b"path") or name or header.name
        if b"GNU.sparse.major" in pax or b"GNU.sparse.size" in pax:
            name, kind = pax.get(b"GNU.sparse.name", name), b"S"
        elif kind == b"S":
            self._skip_sparse_map()
        return Header(name, size, kind, pax.get(b"linkpath") or link or header.link)

    def _skip_sparse_map(self) -> None:
        """Old GNU sparse files have further blocks of their map before the data, each saying whether one follows."""
        more = self._last[482]
        while more:
            more = self._block()[504]

    def _extra(self, size: int) -> bytes:
        if size > MAX_TAR_EXTRA_BYTES:
            raise DamagedHeader
        return self._read(size + -size % BLOCK)[:size]

    def _find_header(self, start: int) -> None:
        """Go on at the next block that is a header, as GNU tar does."""
        self._pax, self._name, self._link = {}, None, None
        problem = f"the tar header at byte {start:,} is damaged"
        try:
            while not checksum_fits(self._block()):
                pass
        except _End:
            self._note(f"{problem}; nothing more can be read")
            raise
        self._note(f"{problem}; skipped to byte {self._at - BLOCK:,}")
        self._again = self._last

    def _look_behind(self) -> None:
        """Tell of a second archive behind the end of this one, as `cat one.tar two.tar` makes it: it is not read."""
        behind = self._skip(_BEHIND_BYTES)
        for at in range(0, len(behind) - BLOCK + 1, BLOCK):
            block = behind[at : at + BLOCK]
            if block != ZEROS and checksum_fits(block):
                self._note(f"another archive begins behind the end of this one, at byte {self._at + at:,}; it is not read")
                return

    # --- members ----------------------------------------------------------------------------------------------------

    def _member(self, header: Header) -> Member | None:
        """What is listed for a header: nothing for folders, labels and (so far) links."""
        kind = header.type
        if kind in _UNLISTED or (kind in REGULAR and header.name.endswith(b"/")):
            return None
        path, problem = clean_path(decode_name(header.name))
        if problem is None and kind in {HARD_LINK, SYMLINK}:
            problem = self._book.add(path, decode_name(header.link), hard=kind == HARD_LINK)
            return Member(path, 0, problem) if problem else None
        if problem is None and kind not in REGULAR:
            problem = refusal(kind)
        if problem is None and header.size > MAX_ENTRY_BYTES:
            problem = f"it is larger than {MAX_ENTRY_BYTES:,} bytes"
        member = Member(path, header.size, problem)
        earlier = self._seen.get(path)
        if problem is None:
            if earlier is not None and earlier.problem is None:
                earlier.problem = "replaced by a later member of the same name"
            self._seen[path] = member
        return member

    # --- bytes ------------------------------------------------------------------------------------------------------

    _last = ZEROS
    _again: bytes | None = None

    def _block(self) -> bytes:
        """The next block; the one found by `_find_header` comes once more."""
        if self._again is not None:
            block, self._again = self._again, None
            return block
        self._last = self._read(BLOCK)
        return self._last

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except READ_ERRORS as error:
            self._note(f"it cannot be read after byte {self._at:,}: {one_line(error)}")
            raise _End from None
        if len(data) < size:
            self._ended(self._at + len(data))
        self._at += size
        return data

    def _go_to(self, end: int, needed: int) -> None:
        """Stand at byte `end`, whatever was read of the member before it; its data reaches to `needed`."""
        at = self._at
        if self._stream is not None:
            at += self._stream.given
            self._stream.expire()
            self._stream = None
        if self._length is not None and end - at > _SKIP_BYTES:
            self._file.seek(min(end, self._length))
            at = min(end, self._length)
        while at < end and (passed := len(self._skip(min(end - at, _SKIP_BYTES)))):
            at += passed
        if at < needed:
            self._ended(at)
        self._at = end

    def _skip(self, want: int) -> bytes:
        try:
            return self._file.read(want)
        except READ_ERRORS:
            return b""

    def _ended(self, at: int) -> None:
        """The data ends at byte `at`, before the archive does."""
        why = self._why_ended()
        self._note(why or f"cut: the tar ends early, at byte {at:,}")
        raise _End

    def _note(self, problem: str) -> None:
        if self.problem is None:
            self.problem = problem
