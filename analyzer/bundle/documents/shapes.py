"""Decoded values into objects, lists and the rest: what a document is, and what its items are.

An object has apiVersion, kind and metadata.name, each of them text. Items of a typed list (`PodList`) may lack kind and
apiVersion: typed clients do not print them. They take them from the list, else from what the file's path says. Nothing
is coerced: a kind that is a number makes no object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from analyzer.bundle.documents.source import Source
from analyzer.bundle.documents.words import count_nameless, error_text, is_go_dump, short, split_version, what
from analyzer.bundle.kinds import by_kind
from analyzer.bundle.types import Hint, Item, ListSeen, Other, Part, Problem

MAX_LIST_NESTING = 8
"""Lists inside lists that are followed; `kubectl get -o json` of a List file gives two."""

MAX_PROBLEMS = 20
"""Problems of one kind that one list is allowed to name one by one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A decoded value and where its text lies in `Source.data`.

    `whole` is False where it was salvaged; `cut` is True where that means that its end is not there.
    """

    value: Any
    start: int
    end: int
    whole: bool = True
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Type:
    """Kind of an object or of a list's items; empty where nothing says."""

    group: str = ""
    version: str = ""
    kind: str = ""


def _nameless(count: int, line: int) -> Problem:
    return Problem(f"{count} object{'' if count == 1 else 's'} that name{'s' if count == 1 else ''} no kind", line, count)


class Shapes:
    """Turns the values of one file into parts; counts its objects."""

    def __init__(self, source: Source, hint: Hint) -> None:
        self.source = source
        self.hint = hint
        self.count = 0

    def document(self, piece: Piece, elements: list[tuple[int, int]] | None = None, *, nested: int = 0) -> Iterator[Part]:
        """The parts of one document (or of one element of a list).

        Args:
            piece: the value.
            elements: where the elements of its list lie, if that is known.
            nested: how many lists it is inside of.
        """
        value = piece.value
        if isinstance(value, list | dict) and self.is_list(value):
            items = value if isinstance(value, list) else value["items"] or []
            spans = elements if elements is not None and len(elements) == len(items) else [(piece.start, piece.end)] * len(items)
            pieces = [Piece(item, start, end, piece.whole, piece.cut) for item, (start, end) in zip(items, spans, strict=True)]
            head = {} if isinstance(value, list) else value
            yield from self.listed(head, pieces, complete=not piece.cut, nested=nested)
            return
        line = self.source.line(piece.start)
        if value is None and self.hint.kind:
            yield ListSeen(self.hint.group, self.hint.version, self.hint.kind, 0, complete=True)
        elif isinstance(value, dict):
            yield from self._mapping(piece, line)
        elif isinstance(value, str):
            yield from self.text(value, line)
        elif isinstance(value, list) and (nameless := count_nameless(value)):
            yield _nameless(nameless, line)
        else:
            yield Other(value, line)

    def _mapping(self, piece: Piece, line: int) -> Iterator[Part]:
        value: dict[str, Any] = piece.value
        item, flaw = self.item(piece, _Type(self.hint.group, self.hint.version, self.hint.kind))
        if item is not None:
            yield item
        elif is_go_dump(value):
            yield Problem("a Go struct dump, not an object", line)
        elif value.get("kind") == "Status" and value.get("status") == "Failure":
            reason = value.get("reason") if isinstance(value.get("reason"), str) else "no reason given"
            yield Problem(f"an error of the API server instead of objects: {short(str(reason))}", line)
        elif isinstance(value.get("apiVersion"), str) and not isinstance(value.get("kind"), str):
            yield Problem(f"no object: {flaw}", line)
        elif isinstance(value.get("apiVersion"), str) and value["kind"].endswith("List") and "items" in value:
            items = value["items"]
            yield Problem(f"no list: items is {'a text' if isinstance(items, str) else what(items)}", line)
        elif len(value) == 1 and (message := error_text(": ".join(map(str, next(iter(value.items())))))):
            # One line such as `error: no such resource` is a mapping to YAML.
            yield Problem(f"text instead of objects: {message}", line)
        elif nameless := count_nameless(value.get("items")) or count_nameless([value]):
            yield _nameless(nameless, line)
        else:
            yield Other(value, line)

    def text(self, text: str, line: int) -> Iterator[Part]:
        """A document that is only text: an error message saved under the name, or whatever."""
        message = error_text(text)
        if message:
            yield Problem(f"text instead of objects: {message}", line)
        else:
            yield Other(text, line)

    def is_list(self, value: list[Any] | dict[str, Any]) -> bool:
        """Whether a value is a list of objects, and not some other list or an object."""
        if isinstance(value, list):
            return self.holds_objects(value)
        if "items" not in value:
            return False
        items, kind = value["items"], value.get("kind")
        if items is not None and not isinstance(items, list):
            return False
        if isinstance(kind, str):
            return kind.endswith("List")
        return kind is None and not _name(value) and self.holds_objects(items or [])

    def holds_objects(self, items: list[Any]) -> bool:
        """Whether the elements are objects: by the path, or by the first of them."""
        if self.hint.kind:
            return True
        first = next((item for item in items if isinstance(item, dict)), None)
        return first is not None and (self._typed(first) is not None)

    def listed(
        self, head: dict[str, Any], pieces: Iterable[Piece | Problem], *, complete: bool = True, nested: int = 0
    ) -> Iterator[Part]:
        """The parts of a list: its items as they come, at the end what was seen of each kind.

        Args:
            head: the list without its items; empty for a bare array.
            pieces: its items, and problems where one was lost.
            complete: False where the list is known to be cut.
            nested: how many lists it is inside of.
        """
        listed = self._list_type(head)
        seen: dict[_Type, int] = {}
        troubles = 0
        for piece in pieces:
            if isinstance(piece, Problem):
                complete = complete and piece.lost == 0
                yield piece
                continue
            complete = complete and not piece.cut
            if isinstance(piece.value, dict | list) and nested < MAX_LIST_NESTING and _nested_list(piece.value):
                yield from self.document(piece, nested=nested + 1)
                continue
            item, flaw = self.item(piece, listed)
            if item is not None:
                kind = _Type(item.group, item.version, item.kind)
                seen[kind] = seen.get(kind, 0) + 1
                yield item
                continue
            complete = False
            if piece.cut:  # What is left is too little to tell what it was; that the list is cut has been said.
                continue
            troubles += 1
            if troubles <= MAX_PROBLEMS:
                yield Problem(f"an element of the list is no object: {flaw}", self.source.line(piece.start), 1)
        if troubles > MAX_PROBLEMS:
            yield Problem(f"{troubles - MAX_PROBLEMS} further elements of the list are no objects", lost=troubles - MAX_PROBLEMS)
        yield from self._seen(head, listed, seen, complete=complete)

    def _seen(self, head: dict[str, Any], listed: _Type, seen: dict[_Type, int], *, complete: bool) -> Iterator[ListSeen]:
        metadata = head.get("metadata")
        if isinstance(metadata, dict):
            remaining = metadata.get("remainingItemCount")
            more = bool(metadata.get("continue")) or (isinstance(remaining, int) and remaining > 0)
            complete = complete and not more
        if isinstance(head.get("kind"), str) and head["kind"] != "List":
            # A typed list says what it is a list of, whatever is in it.
            total = sum(count for kind, count in seen.items() if (kind.group, kind.kind) == (listed.group, listed.kind))
            yield ListSeen(listed.group, listed.version, listed.kind, total, complete)
        elif seen:
            for kind, count in seen.items():
                yield ListSeen(kind.group, kind.version, kind.kind, count, complete)
        else:
            yield ListSeen(listed.group, listed.version, listed.kind, 0, complete)

    def _list_type(self, head: dict[str, Any]) -> _Type:
        """What the items of a list are where they do not say so themselves."""
        kind, api = head.get("kind"), head.get("apiVersion")
        if isinstance(kind, str) and kind.endswith("List") and kind != "List":
            if isinstance(api, str):
                group, version = split_version(api)
                return _Type(group, version, kind[:-4])
            if kind[:-4] == self.hint.kind:
                return _Type(self.hint.group, self.hint.version, self.hint.kind)
            return _Type("", "", kind[:-4])
        return _Type(self.hint.group, self.hint.version, self.hint.kind)

    def _typed(self, value: dict[str, Any]) -> _Type | None:
        """The type that an object itself declares."""
        api, kind = value.get("apiVersion"), value.get("kind")
        if isinstance(api, str) and api and isinstance(kind, str) and kind:
            return _Type(*split_version(api), kind)
        return None

    def item(self, piece: Piece, default: _Type) -> tuple[Item | None, str]:
        """The object that a value is, else None and what is wrong with it.

        Args:
            piece: the value; apiVersion and kind are filled in from `default` where it has neither.
            default: what it is where it does not say so itself.
        """
        value = piece.value
        if not isinstance(value, dict):
            return None, f"it is {what(value)}"
        kind, flaw = self._typed(value), ""
        if kind is None:
            kind, flaw = _filled(value, default)
        metadata = value.get("metadata")
        flaw = flaw or _metadata_flaw(metadata)
        if kind is None or not isinstance(metadata, dict) or flaw:
            return None, flaw
        namespace = metadata.get("namespace") or ""
        if piece.cut and not namespace:
            namespace = self._cut_namespace(value, metadata, kind)
            if namespace is None:
                return None, "it is cut before its namespace"
        if not value.get("kind") or not value.get("apiVersion"):
            api = f"{kind.group}/{kind.version}" if kind.group else kind.version or "v1"
            value = {**value, "apiVersion": value.get("apiVersion") or api, "kind": kind.kind}
        start, end = self.source.origin(piece.start), self.source.origin(piece.end)
        line, name = self.source.line(piece.start), metadata["name"]
        item = Item(
            value, kind.group, kind.version, kind.kind, namespace, name, self.count, line, start, end - start, piece.whole
        )
        self.count += 1
        return item, ""

    def _cut_namespace(self, value: dict[str, Any], metadata: dict[str, Any], kind: _Type) -> str | None:
        """The namespace of a salvaged object that shows none; None where the cut may have taken it away."""
        if self.hint.namespace:
            return self.hint.namespace
        resource = by_kind(kind.kind, kind.group)
        # Go prints keys sorted: what follows `namespace` proves that there was none.
        whole_metadata = next(reversed(value)) != "metadata" or any(key > "namespace" for key in metadata)
        return "" if whole_metadata or (resource is not None and not resource.namespaced) else None


def _metadata_flaw(metadata: object) -> str:
    """What keeps metadata from naming an object; empty where nothing does."""
    if not isinstance(metadata, dict):
        return f"metadata is {what(metadata)}"
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not name:
        return f"metadata.name is {what(name)}"
    if namespace is not None and not isinstance(namespace, str):
        return f"metadata.namespace is {what(namespace)}"
    return ""


def _filled(value: dict[str, Any], default: _Type) -> tuple[_Type | None, str]:
    """The type of an object that lacks kind or apiVersion, from what it is known to be."""
    api, kind = value.get("apiVersion"), value.get("kind")
    for key, given in (("apiVersion", api), ("kind", kind)):
        if key in value and not isinstance(given, str):
            return None, f"{key} is {what(given)}"
    if not default.kind or (kind and kind != default.kind):
        return None, f"{'apiVersion' if kind else 'kind'} is missing"
    if api:
        return _Type(*split_version(api), default.kind), ""
    version = default.version or _managed_version(value, default.group)
    return _Type(default.group, version or ("v1" if not default.group else ""), default.kind), ""


def _managed_version(value: dict[str, Any], group: str) -> str:
    """The version that managedFields name for a group; empty where they do not."""
    metadata = value.get("metadata")
    fields = metadata.get("managedFields") if isinstance(metadata, dict) else None
    for entry in fields if isinstance(fields, list) else []:
        api = entry.get("apiVersion") if isinstance(entry, dict) else None
        if isinstance(api, str) and split_version(api)[0] == group:
            return split_version(api)[1]
    return ""


def _nested_list(value: dict[str, Any] | list[Any]) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and value["kind"].endswith("List")
        and isinstance(value.get("items", 0), list | None)
    )


def _name(value: dict[str, Any]) -> bool:
    metadata = value.get("metadata")
    return isinstance(metadata, dict) and "name" in metadata
