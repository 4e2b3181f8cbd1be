"""What the readers of folders, archives and single files have in common: members, and the budget of one input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from analyzer.bundle.limits import MAX_ENTRIES, MAX_NAMES_CHARS, MAX_RATIO, MAX_TOTAL_BYTES, RATIO_FLOOR_BYTES
from analyzer.bundle.streams import EntryStream
from analyzer.bundle.types import Link


@dataclass(slots=True)
class Member:
    """An entry on its way: its problem may turn up only later (a member that a later one replaces)."""

    path: str
    size: int
    problem: str | None = None
    key: object = None
    """What the source needs to find the content again."""


class Source(Protocol):
    """One folder, archive or file, walked once from its start.

    Attributes:
        problem: set during the walk where the source itself is cut or damaged; the first one is kept.
        links: links to other members, complete after the walk.
    """

    problem: str | None
    links: list[Link]

    def members(self) -> Iterator[Member]:
        """All regular files in order, and what is refused; folders and links inside the source are left out."""

    def open(self, member: Member) -> EntryStream:
        """The content of the member that `members` yielded last; valid until its next one."""

    def seekable(self, member: Member) -> BinaryIO | None:
        """The content of that member as a file that can be read from anywhere, where there is one."""

    def close(self) -> None:
        """Give back what is open."""


@dataclass(slots=True)
class Budget:
    """What one input has used up of the limits that count over all of it.

    Attributes:
        stored: bytes of the input as it lies on disk; grows for a folder.
        entries: entries so far.
        names: characters of their paths.
        expanded: uncompressed bytes so far.
        problem: the limit that was reached; nothing is read from then on.
    """

    stored: int
    entries: int = 0
    names: int = 0
    expanded: int = 0
    problem: str | None = field(default=None)

    def entry(self, path: str) -> bool:
        """Count one entry; False where that is one too many."""
        self.entries += 1
        self.names += len(path)
        if self.entries > MAX_ENTRIES:
            self.problem = f"more than {MAX_ENTRIES:,} entries; the rest is not read"
        elif self.names > MAX_NAMES_CHARS:
            self.problem = f"the names of its entries are longer than {MAX_NAMES_CHARS:,} characters; the rest is not read"
        return self.problem is None

    def expand(self, count: int) -> bool:
        """Count uncompressed bytes; False where they are too many."""
        self.expanded += count
        if self.expanded > RATIO_FLOOR_BYTES:
            if self.expanded > MAX_TOTAL_BYTES:
                self.problem = f"it expands to more than {MAX_TOTAL_BYTES:,} bytes; the rest is not read"
            elif self.expanded > MAX_RATIO * self.stored:
                self.problem = f"it expands to more than {MAX_RATIO} times its size; the rest is not read"
        return self.problem is None
