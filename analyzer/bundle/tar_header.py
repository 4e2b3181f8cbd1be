"""The headers of tar: V7, ustar, GNU and pax, as described in POSIX (pax) and the GNU tar manual."""

from __future__ import annotations

import zlib
from typing import NamedTuple

BLOCK = 512
ZEROS = bytes(BLOCK)

REGULAR = (b"0", b"\0", b"7")
HARD_LINK = b"1"
SYMLINK = b"2"
FOLDER = b"5"
WITHOUT_DATA = (HARD_LINK, SYMLINK, b"3", b"4", FOLDER, b"6")
"""Types that no data follows, whatever their size field says (as GNU tar and Go's archive/tar treat them)."""

_SPECIAL = {b"3": "a device", b"4": "a device", b"6": "a named pipe", b"S": "a sparse file", b"M": "a part of another volume"}
_PREFIX_END = {b"ustar\0"}


class DamagedHeader(Exception):  # noqa: N818 - never leaves the tar reader
    """A block that is no tar header although one is due."""


class Header(NamedTuple):
    """One header block: the name as bytes, the data size in bytes, the type flag and the link target."""

    name: bytes
    size: int
    type: bytes
    link: bytes


def checksum_fits(block: bytes) -> bool:
    """Whether the header's checksum is right: bytes added up as unsigned or, by some old tars, as signed numbers."""
    field = block[148:156]
    try:
        stored = int(field.split(b"\0", 1)[0].strip() or b"-1", 8)
    except ValueError:
        return False
    if stored < 0:
        return False
    # The sum with the checksum field read as blanks. The low half of Adler-32 is 1 + the sum, modulo 65,521, at C speed.
    blank = block[:148] + b"        " + block[156:]
    if zlib.adler32(blank) & 0xFFFF == (stored + 1) % 65521:
        return True
    return stored == sum(byte - 256 if byte > 127 else byte for byte in blank)


def looks_like_tar(block: bytes) -> bool:
    """Whether a file that begins with these bytes is a tar (also one whose first header is damaged)."""
    return len(block) == BLOCK and block != ZEROS and (checksum_fits(block) or block[257:262] == b"ustar")


def parse_header(block: bytes) -> Header:
    """Read one header block.

    Raises:
        DamagedHeader: the checksum is wrong or a number is none.
    """
    if not checksum_fits(block):
        raise DamagedHeader
    name = block[:100].split(b"\0", 1)[0]
    if block[345] and block[257:263] in _PREFIX_END:
        name = block[345:500].split(b"\0", 1)[0] + b"/" + name
    kind = block[156:157]
    if kind in WITHOUT_DATA:
        size = 0
    elif block[124] & 0x80:
        size = _base256(block[124:136])
    else:
        size = octal(block[124:136])
    return Header(name, size, kind, block[157:257].split(b"\0", 1)[0])


def refusal(kind: bytes) -> str:
    """Why a member of this type is not read."""
    return f"not a regular file: {_SPECIAL.get(kind, 'an unknown type of member')}"


def octal(field: bytes) -> int:
    """A number field in octal digits; empty is 0."""
    try:
        value = int(field.split(b"\0", 1)[0].strip() or b"0", 8)
    except ValueError:
        raise DamagedHeader from None
    if value < 0:
        raise DamagedHeader
    return value


def _base256(field: bytes) -> int:
    """A number field in GNU's binary form: the first bit marks it, the second is the sign."""
    if field[0] & 0x40:
        raise DamagedHeader
    return int.from_bytes(bytes([field[0] & 0x3F]) + field[1:], "big")


def parse_pax(data: bytes) -> dict[bytes, bytes]:
    r"""The records of a pax header, `LENGTH KEY=VALUE\n` each; LENGTH counts the whole record.

    Raises:
        DamagedHeader: a record that does not follow the form.
    """
    records: dict[bytes, bytes] = {}
    at = 0
    while at < len(data) and data[at]:
        blank = data.find(b" ", at, at + 20)
        length = data[at:blank]
        if blank < 0 or not length.isdigit():
            raise DamagedHeader
        end = at + int(length)
        key, equals, value = data[blank + 1 : end - 1].partition(b"=")
        if end > len(data) or end <= blank or data[end - 1 : end] != b"\n" or not equals:
            raise DamagedHeader
        records[key] = value
        at = end
    return records


def pax_size(records: dict[bytes, bytes], size: int) -> int:
    """The size by the pax records, else the header's own."""
    text = records.get(b"size")
    if text is None:
        return size
    if not text.isdigit() or len(text) > 20:
        raise DamagedHeader
    return int(text)
