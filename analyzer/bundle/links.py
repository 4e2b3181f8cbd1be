"""The links of one archive: which stand for another member, and which lead nowhere or out of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from analyzer.bundle.limits import MAX_LINK_HOPS, MAX_LINKS, MAX_PATH_CHARS
from analyzer.bundle.paths import clean_path, resolve_link
from analyzer.bundle.sources import Member
from analyzer.bundle.types import Link

OUTSIDE = "a link out of the bundle"
DANGLING = "a link to what is not in the bundle"


class LinkBook:
    """Links as they come by; they are judged at the end, since a link may point forward."""

    def __init__(self) -> None:
        self._symbolic: dict[str, str] = {}
        self._hard: dict[str, str] = {}

    def add(self, path: str, target: str, *, hard: bool) -> str | None:
        """Remember a link; returns why it is refused at once.

        Args:
            path: its clean path.
            target: as written; of a hard link the other member's name, of a symbolic one relative to its folder.
            hard: which of the two.
        """
        if len(self._symbolic) + len(self._hard) >= MAX_LINKS:
            return f"more than {MAX_LINKS:,} links"
        if len(target) > MAX_PATH_CHARS:
            return f"a link whose target is longer than {MAX_PATH_CHARS:,} characters"
        (self._hard if hard else self._symbolic)[path] = target
        return None

    def settle(self, members: Mapping[str, object], good: list[Link]) -> Iterator[Member]:
        """Append the links that lead to a member or a folder of members to `good`; yield the others as refused."""
        if not self._symbolic and not self._hard:
            return
        ordered = sorted((*members, *self._symbolic, *self._hard))
        for path in self._hard:
            where, problem = self._hard_target(path, members)
            if problem is None:
                good.append(Link(path, where))
            else:
                yield Member(path, 0, problem)
        for path in self._symbolic:
            where, problem = resolve_link(path, self._symbolic)
            if problem is None and where and where not in members and where not in self._hard:
                folder = f"{where}/"
                at = bisect_left(ordered, folder)
                if at == len(ordered) or not ordered[at].startswith(folder):
                    problem = DANGLING
            if problem is None:
                good.append(Link(path, where))
            else:
                yield Member(path, 0, problem)

    def _hard_target(self, path: str, members: Mapping[str, object]) -> tuple[str, str | None]:
        """What a hard link names, which may be another hard link, and why that is nothing."""
        where = path
        for _ in range(MAX_LINK_HOPS):
            if where not in self._hard:
                break
            where, problem = clean_path(self._hard[where])
            if problem is not None:
                return "", OUTSIDE
        return where, None if where in members or where in self._symbolic else DANGLING
