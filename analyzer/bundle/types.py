"""What the parts of `analyzer.bundle` hand to each other. Frozen data, no behaviour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read: where (`line` from 1, None where there is none) and why, in one line."""

    message: str
    line: int | None = None
    lost: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of an input.

    `path` is the name as in the input, `/`-separated: the member's full name in an archive, the path below a given
    directory, the file's own name for a single file, `a.tar.gz!/b` inside a nested archive. `size` is in bytes as
    declared (for single compressed files: of the compressed file). `problem` is set where its content is not to be
    had (unsafe path, link out of the bundle, device, over a limit); such an entry is listed but never read.
    """

    path: str
    size: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another entry or folder of the same input: `path` stands for `target`, which is listed itself."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class Listing:
    """All entries of an input in reading order; an entry's index is its identity for `read`."""

    entries: tuple[Entry, ...]
    problem: Problem | None = None
    """Set where the input itself is cut or damaged; the entries up to there are listed."""
    links: tuple[Link, ...] = ()
    """Links inside the input. They are no entries (each log counts once), but their names may say more than the target's."""


class Container(Protocol):
    """An opened input. `listing` reads it once; `read` yields the asked entries in index order, each with a stream.

    A stream is valid until the next one is asked for and never yields more than the limits allow; a cut entry ends
    early with `CutEntry` (analyzer.bundle.errors) after what there is. Containers are cheap to open again by path in
    another process and give the same indexes there.
    """

    path: Path

    def listing(self) -> Listing:
        """All entries, without their contents."""

    def read(self, indexes: Sequence[int]) -> Iterator[tuple[int, BinaryIO]]:
        """The streams of the entries with these indexes (ascending)."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a file's path says about the objects in it; empty or None where it says nothing.

    `kind` and `group` name what items without a kind of their own are; `version` likewise. `namespace` is the
    namespace of the folder. `json` tells that the name ends in .json (a hint only: the bytes decide).
    """

    kind: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    json: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One Kubernetes object as read from a file; `value` has apiVersion and kind filled in."""

    value: dict[str, Any]
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    idx: int
    line: int
    offset: int
    length: int
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ListSeen:
    """The end of a list (also an empty or null one).

    `complete` is False where it was cut, an item was lost, or the list itself says that there is more
    (metadata.continue, remainingItemCount).
    """

    group: str
    version: str
    kind: str
    objects: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Other:
    """A document that is no Kubernetes object (a bare mapping, a string, null); `value` is what it holds."""

    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class LogText:
    """Log text between documents (the single-stream form of cluster-info dump)."""

    namespace: str
    pod: str
    container: str
    line: int
    text: bytes


Part = Item | ListSeen | Other | LogText | Problem
"""What `analyzer.bundle.documents.read_documents` yields, in the order of the file."""
