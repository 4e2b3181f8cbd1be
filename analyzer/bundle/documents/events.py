"""YAML text into plain values, built from the parser's events.

Events, not nodes: the loop below needs no recursion, so nothing that a file holds can exhaust the stack, and whatever
was complete when the text broke off is still there. Two loops do the same: `_build_simple` for text that has neither
anchors, tags nor merge keys (nearly all that Go prints), `_build` for everything, which also notes where list elements lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from yaml.error import MarkedYAMLError, YAMLError
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
from yaml.reader import ReaderError

from analyzer.bundle.documents.backend import EventSource
from analyzer.bundle.documents.scalars import key_text, plain
from analyzer.bundle.limits import MAX_ALIAS_NODES, MAX_DOCUMENT_DEPTH

_RESOLVED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_KEY_CHARS = 64
_KEYS_KEPT = 1 << 14
_keys: dict[str, str] = {}
_SPECIAL = re.compile(rb"[&!]|<<")
_QUOTED = re.compile(r"'[^']{4,}'|\"[^\"]{4,}\"")
_WEIGHT_CHARS = 256
"""An aliased text counts as one node for each so many characters."""


class BadYamlError(ValueError):
    """The text is no YAML, or goes over a limit.

    Attributes:
        reason: what is wrong, without any of the text.
        line: line in the text, from 0.
        column: column in that line, in characters from 0.
        opened: line of what was being read (the start of a quoted text, of a `{`), from 0; equal to `line` if unknown.
        partial: what was complete before it, see `Parsed`.
    """

    def __init__(self, reason: str, line: int, column: int, opened: int, partial: Parsed) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
        self.opened = opened
        self.partial = partial


@dataclass(slots=True)
class Parsed:
    """One document: its value, whether there was one, and where the elements of its list lie.

    `spans` holds character positions (start, end) of the elements of a list at the root, or of the list `items` of a
    mapping at the root; `end` is -1 for one that was not finished; `sequence` is where that list begins. Only `parse` with
    `spans` fills them.
    """

    roots: list[Any] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    sequence: int = 0

    @property
    def empty(self) -> bool:
        return not self.roots

    @property
    def value(self) -> Any:
        return self.roots[0] if self.roots else None


class _Broken(Exception):
    """Raised inside the loops with the reason and the mark."""

    def __init__(self, reason: str, mark: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.mark = mark


def parse(text: bytes, *, spans: bool = False) -> Parsed:
    """The first (and only) document of a text.

    Args:
        text: UTF-8.
        spans: also note where the elements of its list lie.

    Raises:
        BadYamlError: the text is no YAML, or has more than one document, or goes over a limit.
    """
    found = Parsed()
    try:
        source = EventSource(text)
        if spans or _SPECIAL.search(text):
            _build(source, found, spans=spans)
        else:
            _build_simple(source, found)
    except _Broken as broken:
        line, column = (broken.mark.line, broken.mark.column) if broken.mark is not None else (0, 0)
        raise BadYamlError(broken.reason, line, column, line, found) from None
    except ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else b""
        line = before.count(b"\n")
        raise BadYamlError(
            _QUOTED.sub("…", str(error.reason)), line, len(before) - before.rfind(b"\n") - 1, line, found
        ) from None
    except MarkedYAMLError as error:
        raise _marked(error, found) from None
    except YAMLError as error:
        raise BadYamlError(type(error).__name__, 0, 0, 0, found) from None
    return found


def _marked(error: MarkedYAMLError, found: Parsed) -> BadYamlError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    opened = error.context_mark.line if error.context_mark is not None else line
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    return BadYamlError(_QUOTED.sub("…", reason), line, column, min(opened, line), found)


def _key(text: str) -> str:
    """The key for an unquoted scalar; the same text gives the same str, which saves memory."""
    known = _keys.get(text)
    if known is None:
        known = key_text(plain(text))
        if len(text) <= _KEY_CHARS and len(_keys) < _KEYS_KEPT:
            _keys[text] = known
    return known


def _build_simple(source: Any, found: Parsed) -> None:
    """Build from events without anchors, tags, merge keys."""
    get_event = source.get_event
    current: Any = found.roots
    in_mapping = False
    key: str | None = None
    stack: list[Any] = []
    documents = 0
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event.value
            if not in_mapping:
                current.append(plain(value) if event.implicit[0] else value)
            elif key is None:
                key = _key(value) if event.implicit[0] else value
            else:
                current[key] = plain(value) if event.implicit[0] else value
                key = None
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            current = stack.pop()
            in_mapping = current.__class__ is dict
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            made: Any = {} if kind is MappingStartEvent else []
            if not in_mapping:
                current.append(made)
            elif key is None:
                raise _Broken("a mapping or list as a key", event.start_mark)
            else:
                current[key] = made
                key = None
            stack.append(current)
            if len(stack) > MAX_DOCUMENT_DEPTH:
                raise _Broken(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
            current = made
            in_mapping = kind is MappingStartEvent
        elif kind is StreamEndEvent or event is None:
            return
        elif kind is AliasEvent:
            raise _Broken("an alias without its anchor", event.start_mark)
        elif kind is DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise _Broken("a second document", event.start_mark)


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


class _Builder:
    """State of the full loop."""

    def __init__(self, found: Parsed, *, spans: bool) -> None:
        self.found = found
        self.want_spans = spans
        self.stack = [_Open(found.roots)]
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.aliased = 0
        self.documents = 0

    def scalar(self, event: Any) -> None:
        is_plain = event.implicit[0] and event.tag != "!"
        resolved = is_plain or event.tag in _RESOLVED_TAGS
        top = self.stack[-1]
        text = event.value
        if top.value.__class__ is dict and not top.keyed:
            if event.anchor is not None:
                self.anchors[event.anchor] = (text, 1 + len(text) // _WEIGHT_CHARS, 0)
            if text == "<<" and (is_plain or event.tag == "tag:yaml.org,2002:merge"):
                top.merging = True
            top.key = _key(text) if resolved else text
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
                raise _Broken("a mapping or list as a key", event.start_mark)
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
                raise _Broken("a merge of what is no mapping", event.start_mark)
            self.spend(len(mapping), event)
            for key, item in mapping.items():
                into.setdefault(key, item)

    def spend(self, nodes: int, event: Any) -> None:
        self.aliased += nodes
        if self.aliased > MAX_ALIAS_NODES:
            raise _Broken(f"its aliases stand for more than {MAX_ALIAS_NODES} nodes", event.start_mark)

    def alias(self, event: Any) -> None:
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            known = event.anchor in self.anchors
            raise _Broken("an alias inside what it stands for" if known else "an alias without its anchor", event.start_mark)
        value, nodes, height = anchored
        self.spend(nodes, event)
        if len(self.stack) + height > MAX_DOCUMENT_DEPTH:
            raise _Broken(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
        watched = self.stack[-1].watched
        self.add(_copy(value), nodes, height, event)
        if watched:
            self.found.spans.append((event.start_mark.index, event.end_mark.index))

    def start(self, event: Any, made: Any) -> None:
        top = self.stack[-1]
        if top.value.__class__ is dict and not top.keyed:
            raise _Broken("a mapping or list as a key", event.start_mark)
        if len(self.stack) > MAX_DOCUMENT_DEPTH:
            raise _Broken(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
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


def _build(source: Any, found: Parsed, *, spans: bool) -> None:
    """Build from any events."""
    builder = _Builder(found, spans=spans)
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
                raise _Broken("a second document", event.start_mark)


def _copy(value: Any) -> Any:
    """A copy, so that what is changed in one place (masked, dropped) is not changed twice. Depth is limited by the caller."""
    if value.__class__ is dict:
        return {key: _copy(item) for key, item in value.items()}
    if value.__class__ is list:
        return [_copy(item) for item in value]
    return value
