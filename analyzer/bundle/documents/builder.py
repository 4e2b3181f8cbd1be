"""Values from any YAML events: anchors, aliases, merge keys and tags too, noting where the elements of a list lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from analyzer.bundle.documents.parsed import BrokenError, Parsed, key_of
from analyzer.bundle.documents.scalars import key_text, plain
from analyzer.bundle.limits import MAX_ALIAS_NODES, MAX_DOCUMENT_DEPTH

_RESOLVED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_WEIGHT_CHARS = 256
"""An aliased text counts as one node for each so many characters."""


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being read."""

    value: Any
    key: str | None = None
    keyed: bool = False
    merging: bool = False
    anchor: str | None = None
    nodes: int = 0
    height: int = 0
    watched: bool = False


class Builder:
    """State of the full loop."""

    def __init__(self, found: Parsed, *, spans: bool) -> None:
        self.found = found
        self.want_spans = spans
        self.stack = [_Open(found.roots)]
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.aliased = 0
        self.documents = 0

    def scalar(self, event: Any) -> None:
        """Text: a key or a value."""
        is_plain = event.implicit[0] and event.tag != "!"
        resolved = is_plain or event.tag in _RESOLVED_TAGS
        top = self.stack[-1]
        text = event.value
        if top.value.__class__ is dict and not top.keyed:
            if event.anchor is not None:
                self.anchors[event.anchor] = (text, 1 + len(text) // _WEIGHT_CHARS, 0)
            if text == "<<" and (is_plain or event.tag == "tag:yaml.org,2002:merge"):
                top.merging = True
            top.key = key_of(text) if resolved else text
            top.keyed = True
            return
        value = plain(text) if resolved else text
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1 + len(text) // _WEIGHT_CHARS, 0)
        self.add(value, 1, 0, event)
        if top.watched:
            self.found.spans.append((event.start_mark.index, event.end_mark.index))

    def add(self, value: Any, nodes: int, height: int, event: Any) -> None:
        """Put a finished scalar or alias where it belongs."""
        top = self.stack[-1]
        top.nodes += nodes
        top.height = max(top.height, height + 1)
        if top.value.__class__ is list:
            top.value.append(value)
            return
        if not top.keyed:
            if isinstance(value, dict | list):
                raise BrokenError("a mapping or list as a key", event.start_mark)
            top.key, top.keyed = key_text(value), True
            return
        if top.merging:
            self.merge(top.value, value, event)
        else:
            top.value[cast("str", top.key)] = value
        top.keyed = top.merging = False

    def merge(self, into: dict[str, Any], value: Any, event: Any) -> None:
        """`<<: value`; of several mappings the first wins, and what stands in the mapping itself wins over all."""
        for mapping in value if isinstance(value, list) else [value]:
            if not isinstance(mapping, dict):
                raise BrokenError("a merge of what is no mapping", event.start_mark)
            self.spend(len(mapping), event)
            for key, item in mapping.items():
                into.setdefault(key, item)

    def spend(self, nodes: int, event: Any) -> None:
        """Count nodes that an alias stands for."""
        self.aliased += nodes
        if self.aliased > MAX_ALIAS_NODES:
            raise BrokenError(f"its aliases stand for more than {MAX_ALIAS_NODES} nodes", event.start_mark)

    def alias(self, event: Any) -> None:
        """An alias: a copy of what its anchor marks."""
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            known = event.anchor in self.anchors
            raise BrokenError("an alias inside what it stands for" if known else "an alias without its anchor", event.start_mark)
        value, nodes, height = anchored
        self.spend(nodes, event)
        if len(self.stack) + height > MAX_DOCUMENT_DEPTH:
            raise BrokenError(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
        watched = self.stack[-1].watched
        self.add(_copy(value), nodes, height, event)
        if watched:
            self.found.spans.append((event.start_mark.index, event.end_mark.index))

    def start(self, event: Any, made: Any) -> None:
        """A mapping or list begins; `made` is the empty one."""
        top = self.stack[-1]
        if top.value.__class__ is dict and not top.keyed:
            raise BrokenError("a mapping or list as a key", event.start_mark)
        if len(self.stack) > MAX_DOCUMENT_DEPTH:
            raise BrokenError(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
        opened = _Open(made, anchor=event.anchor, nodes=1)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if self.want_spans:
            if top.watched:
                self.found.spans.append((event.start_mark.index, -1))
            depth = len(self.stack)
            if made.__class__ is list and (depth == 1 or (depth == 2 and top.key == "items" and not top.merging)):
                opened.watched = True
                self.found.spans.clear()
                self.found.sequence = event.start_mark.index
        # Into its parent at once, so that an unfinished one is still there when the text breaks off.
        if top.value.__class__ is list:
            top.value.append(made)
        elif not top.merging:
            top.value[cast("str", top.key)] = made
        self.stack.append(opened)

    def end(self, event: Any) -> None:
        """The innermost mapping or list ends."""
        done = self.stack.pop()
        if done.anchor is not None:
            self.anchors[done.anchor] = (done.value, done.nodes, done.height)
        top = self.stack[-1]
        top.nodes += done.nodes
        top.height = max(top.height, done.height + 1)
        if top.watched:
            start, _ = self.found.spans[-1]
            self.found.spans[-1] = (start, event.end_mark.index)
        if top.value.__class__ is dict:
            if top.merging:
                self.merge(top.value, done.value, event)
            top.keyed = top.merging = False


def build(source: Any, found: Parsed, *, spans: bool) -> None:
    """Build from any events."""
    builder = Builder(found, spans=spans)
    get_event = source.get_event
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            builder.scalar(event)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            builder.end(event)
        elif kind is MappingStartEvent:
            builder.start(event, {})
        elif kind is SequenceStartEvent:
            builder.start(event, [])
        elif kind is AliasEvent:
            builder.alias(event)
        elif kind is StreamEndEvent or event is None:
            return
        elif kind is DocumentStartEvent:
            builder.documents += 1
            if builder.documents > 1:
                raise BrokenError("a second document", event.start_mark)


def _copy(value: Any) -> Any:
    """A copy, so that what is changed in one place (masked, dropped) is not changed twice. Depth is limited by the caller."""
    if value.__class__ is dict:
        return {key: _copy(item) for key, item in value.items()}
    if value.__class__ is list:
        return [_copy(item) for item in value]
    return value
