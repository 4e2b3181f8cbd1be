"""What a file is by its first bytes, where its name does not tell."""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING, BinaryIO, cast

from analyzer.bundle.errors import CutEntry
from analyzer.bundle.logs import time_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_YAML_OBJECT = re.compile(rb"^(?:- |\s{0,4})(?:apiVersion|kind|items)\s*:", re.MULTILINE)
_JSON_OBJECT = re.compile(rb"\"(?:apiVersion|kind|items)\"\s*:")
_BINARY = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x7fELF",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"MZ",
    b"RIFF",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
)
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)
_CONTROLS = bytes(set(range(1, 32)) - {9, 10, 12, 13, 27})
_MAX_CONTROLS = 0.02
_MAX_NULS = 0.3
# How lines of syslog, klog, dmesg, the kernel's own log, journald's JSON and usual loggers begin, and those of NVIDIA's kernel
# drivers and fabric manager.
_LOG_LINE = re.compile(
    rb"^(?:\x1b\[[\d;]{0,12}m){0,3}(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    rb"|[IWEF]\d{4} \d\d:\d\d:\d\d|\[ *\d+\.\d+\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} "
    rb"|\d,\d+,\d+|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|(?:time|ts|level)=|-- (?:Logs|Journal) begin"
    rb"|[a-z]+ *:[a-z]+ *: (?:\d{4}-|\[)|<\d{1,3}>(?:\[ *\d|[A-Z][a-z]{2} |NVRM: )|\{.{0,2000}\"__REALTIME_TIMESTAMP\""
    rb"|\[[A-Z][a-z]{2} \d\d \d{4} \d\d:|NVRM: |nvidia-nvswitch\d)"
)
_EXPORT = re.compile(rb"^__CURSOR=.{1,400}\n__REALTIME_TIMESTAMP=\d", re.MULTILINE)
_LOOKED_AT = 50


def looks_like_objects(head: bytes) -> bool:
    """Whether the beginning of a file looks like Kubernetes objects in YAML or JSON, or like a cluster-info dump."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        return bool(_JSON_OBJECT.search(text))
    return bool(_YAML_OBJECT.search(text)) and looks_like_text(head)


def looks_like_text(head: bytes) -> bool:
    """Whether the beginning of a file looks like lines of text: no known binary format, no web page, few control bytes.

    NUL bytes are allowed: a node that crashed leaves runs of them in its logs.
    """
    if head.startswith(_BINARY) or _PAGE.match(head):
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _MAX_CONTROLS * len(head) or head.count(0) > _MAX_NULS * len(head):
        return False
    broken = head.decode("utf-8", "replace").count("\ufffd")
    return broken <= max(1, _MAX_CONTROLS * len(head)) and bool(head.strip())


def looks_like_log(head: bytes) -> bool:
    """Whether most of the first lines begin as log lines do."""
    if not looks_like_text(head):
        return False
    if _EXPORT.search(head):
        return True
    lines = [line for line in head.split(b"\n")[:_LOOKED_AT] if line.strip()]
    hits = sum(1 for line in lines if _LOG_LINE.match(line) or time_of(line))
    return hits * 2 >= len(lines)


def head_of(stream: BinaryIO, size: int) -> bytes:
    """The first `size` bytes of a stream, fewer only where it ends or is cut before (a later read tells of the cut)."""
    head = b""
    with contextlib.suppress(CutEntry):
        while len(head) < size and (more := stream.read(size - len(head))):
            head += more
    return head


class Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already, put back in front of it."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; fewer than asked for where the put-back ones end."""
        if self._head:
            if size is None or size < 0:
                data, self._head = self._head, b""
                return data + self._stream.read()
            data, self._head = self._head[:size], self._head[size:]
            return data
        return self._stream.read(-1 if size is None else size)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill `buffer`, see `read`."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def binary(self) -> BinaryIO:
        """This stream under the type that the readers take."""
        return cast("BinaryIO", self)
