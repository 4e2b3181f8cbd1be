"""YAML for rules and cases: plain scalars stay text, except whole numbers, true, false and null.

`waiting: no` is the text "no", as a reader expects. The text is read event by event, so that nesting, aliases and
size are bounded before anything is built, and the line of every key is known for error messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml

MAX_BYTES = 1 << 20
"""Largest rule or cases file."""
MAX_DEPTH = 40
MAX_NODES = 200_000
"""Values in one file, those that aliases stand for counted each time."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file and a line from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class YamlError(Exception):
    """A file cannot be read; `place` says where, the text says why."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Document:
    """A file's value, and the line of each field by its path (`query`, `explains[0].codes`)."""

    file: str
    value: Any
    lines: dict[str, int]

    def place(self, path: str = "") -> Place:
        """Where the field of that path stands, the nearest field above it where it is not there."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return Place(self.file, self.lines.get(path, 1))

    def only_list(self, key: str) -> list[Any]:
        """The list of a file that holds nothing else, under that key.

        Raises:
            YamlError: the file holds something else.
        """
        listed = self.value.get(key) if isinstance(self.value, dict) and set(self.value) == {key} else None
        if isinstance(listed, list):
            return listed
        raise YamlError(self.place(), f"must be {{{key}: [...]}}")


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is being built; `key` is the key whose value comes next."""

    value: Any
    path: str
    anchor: str | None
    started: int
    key: Any = None
    keyed: bool = False
    merges: list[Any] = field(default_factory=list)


def read_yaml(path: Path, name: str | None = None) -> Document:
    """The one document of a file.

    Args:
        path: the file.
        name: how it is called in messages; default is the path.

    Raises:
        YamlError: it cannot be read, is too large, too deep, or no YAML.
    """
    shown = name or str(path)
    try:
        if path.exists() and not path.is_file():
            # A pipe would never end.
            raise YamlError(Place(shown, 1), "cannot be read: not a file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise YamlError(Place(shown, 1), f"cannot be read: {error.strerror}") from None
    return parse_yaml(data, shown)


def parse_yaml(data: bytes, name: str) -> Document:
    """The one document of a text; see `read_yaml`."""
    if len(data) > MAX_BYTES:
        raise YamlError(Place(name, 1), f"is larger than {MAX_BYTES >> 10} KB")
    builder = _Builder(name)
    try:
        for event in yaml.parse(data.decode("utf-8"), Loader=_LOADER):
            builder.take(event)
    except UnicodeDecodeError:
        raise YamlError(Place(name, 1), "is not UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlError(Place(name, line), f"no YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise YamlError(Place(name, 1), f"no YAML: {' '.join(str(error).split())}") from None
    return Document(name, builder.value, builder.lines)


class _Builder:
    """Builds values from parser events, without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.lines: dict[str, int] = {}
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """One event of the parser."""
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._fail(line, "holds more than one document")
        elif isinstance(event, yaml.ScalarEvent):
            self._count(1, line)
            self._put(self._scalar(event, line), line, event.anchor, 1, plain=event.style in (None, ""))
        elif isinstance(event, yaml.AliasEvent):
            anchor = str(event.anchor)
            if anchor not in self._anchors:
                self._fail(line, f"alias *{anchor} stands for nothing")
            value, size = self._anchors[anchor]
            self._count(size, line)
            self._put(value, line, None, size, plain=False)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._open(event, line)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close(line)

    def _open(self, event: Any, line: int) -> None:
        if event.tag is not None:
            self._fail(line, f"tag {event.tag} is not allowed")
        if len(self._stack) >= MAX_DEPTH:
            self._fail(line, f"is nested deeper than {MAX_DEPTH}")
        self._count(1, line)
        path = self._child_path(line)
        self.lines.setdefault(path, line)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._stack.append(_Frame(value, path, event.anchor, self._nodes))

    def _close(self, line: int) -> None:
        frame = self._stack.pop()
        for merge in frame.merges:
            for key, value in merge.items():
                frame.value.setdefault(key, value)
        self._put(frame.value, line, frame.anchor, self._nodes - frame.started + 1, plain=False)

    def _child_path(self, line: int) -> str:
        if not self._stack:
            return ""
        top = self._stack[-1]
        if isinstance(top.value, list):
            return f"{top.path}[{len(top.value)}]"
        if not top.keyed:
            self._fail(line, "a key must be a single word")
        return f"{top.path}.{top.key}" if top.path else str(top.key)

    def _put(self, value: Any, line: int, anchor: str | None, size: int, *, plain: bool) -> None:
        if anchor:
            self._anchors[anchor] = (value, size)
        if not self._stack:
            self.value = value
            return
        top = self._stack[-1]
        if isinstance(top.value, list):
            self.lines.setdefault(f"{top.path}[{len(top.value)}]", line)
            top.value.append(value)
        elif not top.keyed:
            self._start_key(top, value, line, plain=plain)
        else:
            if top.key is _MERGE:
                merges = value if isinstance(value, list) else [value]
                if not all(isinstance(merge, dict) for merge in merges):
                    self._fail(line, "<< must be given a mapping")
                top.merges += merges
            else:
                top.value[top.key] = value
            top.keyed = False

    def _start_key(self, top: _Frame, value: Any, line: int, *, plain: bool) -> None:
        if not isinstance(value, str):
            self._fail(line, "a key must be a single word")
        if value == "<<" and plain:
            top.key = _MERGE
        elif value in top.value:
            self._fail(line, f"key {value!r} is there twice")
        else:
            top.key = value
            self.lines.setdefault(f"{top.path}.{top.key}" if top.path else str(top.key), line)
        top.keyed = True

    def _scalar(self, event: Any, line: int) -> Any:
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            self._fail(line, f"tag {event.tag} is not allowed")
        text: str = event.value
        if event.style not in (None, "") or event.tag is not None or self._at_key():
            return text
        if text in _WORDS:
            return _WORDS[text]
        return int(text) if _INT.match(text) else text

    def _at_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and not self._stack[-1].keyed

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            self._fail(line, f"holds more than {MAX_NODES} values")

    def _fail(self, line: int, problem: str) -> NoReturn:
        raise YamlError(Place(self.name, line), problem)


_MERGE = object()
