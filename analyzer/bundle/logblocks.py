"""The log blocks of `kubectl cluster-info dump`: `==== START logs for container C of pod NS/P ====` … `==== END …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(rb"^==== START logs for container (\S+) of pod ([^/\s]+)/(\S+) ====\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One container's log; `line` is the line of the file where its text starts, from 1."""

    namespace: str
    pod: str
    container: str
    line: int
    text: bytes


def blocks_of(data: bytes) -> Iterator[Block]:
    """The blocks of a `logs.txt`, in its order. A block without its end goes on to the end of the file."""
    line, at = 1, 0
    found = _START.search(data)
    while found:
        begin = found.end() + 1
        line += data.count(b"\n", at, begin)
        at = begin
        container, namespace, pod = found.groups()
        end_line = b"==== END logs for container %b of pod %b/%b ====" % (container, namespace, pod)
        stop = data.find(end_line, begin)
        following = _START.search(data, begin)
        if stop < 0 or (following and following.start() < stop):
            stop = following.start() if following else len(data)
        yield Block(
            namespace.decode("utf-8", "replace"),
            pod.decode("utf-8", "replace"),
            container.decode("utf-8", "replace"),
            line,
            data[begin:stop],
        )
        found = following
