"""Which namespace a list covers: the rows of part_lists.

In a bundle the folder says it. In a plain file only the items can: where all are of one namespace the list is taken as
that namespace's, where they are of several or of none as the whole cluster's, since `kubectl get` asks for one
namespace or for all. Only items that come from a server (they have a uid) count: a list written by hand proves nothing
about a cluster. An empty list that names its kind says that there are none, as far as it was asked for; one that does not
(`kind: List`) says nothing. A list that was asked for with a selector looks like a whole one; nothing in it tells.

A cluster-info dump printed to the terminal is one file in which the lists of a namespace follow each other in a fixed
order, events first; a namespace is named by any item or log among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.bundle.formats.base import ALL_NAMESPACES
from analyzer.bundle.formats.cluster_info import LISTS

_FIRST_OF_NAMESPACE = "Event"
_DUMP_KINDS = {kind for kind, _ in LISTS.values()} | {"Node"}


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of part_lists, without its file."""

    group: str
    kind: str
    namespace: str
    objects: int
    complete: bool


@dataclass(slots=True)
class _Seen:
    """One list of a file (of one kind), or one log (no kind)."""

    group: str
    kind: str
    namespaces: set[str]
    objects: int
    complete: bool
    served: bool


@dataclass(slots=True)
class Lists:
    """The lists of one file whose path does not say what they cover, in the order of the file."""

    seen: list[_Seen] = field(default_factory=list)
    logs: int = 0

    def add(self, group: str, kind: str, namespaces: set[str], *, objects: int, complete: bool, served: bool) -> None:
        """A list: the namespaces of its items, how many they are, and whether all have a uid."""
        self.seen.append(_Seen(group, kind, namespaces, objects, complete, served))

    def add_log(self, namespace: str) -> None:
        """A log block between the lists."""
        self.logs += 1
        self.seen.append(_Seen("", "", {namespace} if namespace else set(), 0, complete=True, served=False))

    @property
    def is_dump(self) -> bool:
        """Whether this file is a cluster-info dump."""
        kinds = {one.kind for one in self.seen}
        return bool(self.logs) or len(kinds & _DUMP_KINDS) == len(_DUMP_KINDS)

    def rows(self) -> list[ListRow]:
        """The rows of part_lists."""
        if self.is_dump:
            return self._dump_rows()
        rows = []
        for one in self.seen:
            if one.objects and one.kind:
                namespace = next(iter(one.namespaces)) if len(one.namespaces) == 1 else ""
                rows.append(ListRow(one.group, one.kind, namespace or ALL_NAMESPACES, one.objects, one.complete and one.served))
            elif one.kind:
                rows.append(ListRow(one.group, one.kind, ALL_NAMESPACES, 0, one.complete))
        return rows

    def _dump_rows(self) -> list[ListRow]:
        rows: list[ListRow] = []
        group: list[_Seen] = []
        for one in self.seen:
            if one.kind == "Node":
                rows.append(ListRow(one.group, one.kind, ALL_NAMESPACES, one.objects, one.complete))
                continue
            if one.kind == _FIRST_OF_NAMESPACE:
                rows += _of_namespace(group)
                group = []
            group.append(one)
        return rows + _of_namespace(group)


def _of_namespace(group: list[_Seen]) -> list[ListRow]:
    """The rows of the lists of one namespace; none where nothing in them names it."""
    names = set().union(*(one.namespaces for one in group)) - {""} if group else set()
    if len(names) != 1:
        return []
    (namespace,) = names
    return [ListRow(one.group, one.kind, namespace, one.objects, one.complete) for one in group if one.kind]
