"""Where a field stands in an object's text: YAML and JSON read event by event, nothing built, stopped when all is found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

MAX_DEPTH = 400
"""Nesting at which the search gives up."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}\[\],:])|([^\s{}\[\],:"]+)', re.DOTALL)
_INDENT = re.compile(r"^( *)[^\s#]", re.MULTILINE)

_MAP, _LIST, _END, _SCALAR = "map", "list", "end", "scalar"
Event = tuple[str, str, int]
"""What begins or ends, the text of a scalar, and where it starts: a line from 0 (YAML) or an offset (JSON)."""


def field_lines(text: str, paths: Sequence[str]) -> dict[str, int]:
    """The lines, from 0 within the text, at which the fields of these paths stand.

    Args:
        text: one object as YAML or JSON; a YAML list item may start at its "- " or after it.
        paths: such as `status.conditions[2].message`; a key with dots is found as it is, or in `["…"]`.

    Returns:
        path → line of the field's key (of the item, for a list's item). A path that is not found is left out; so are
        all where the text cannot be read. Never raises.
    """
    wanted = [path for path in dict.fromkeys(paths) if path]
    if text.lstrip()[:1] == "{":
        found = _search(_json_events(text), wanted)
        return {path: text.count("\n", 0, offset) for path, offset in found.items()}
    best: dict[str, int] = {}
    for variant in _variants(text):
        found = _search(_yaml_events(variant), wanted)
        if len(found) > len(best):
            best = found
        if len(best) == len(wanted):
            break
    return best


def _variants(text: str) -> Iterator[str]:
    """The text as a document of its own: a list's item may begin with its dash, or behind it and so without its indent."""
    first, newline, rest = text.partition("\n")
    stripped = first.lstrip(" ")
    if stripped.startswith("- "):
        yield " " * (len(first) - len(stripped)) + " " + stripped[1:] + newline + rest
    yield text
    widths = [len(found[1]) for found in _INDENT.finditer(rest)]
    if widths and min(widths) > len(first) - len(stripped):
        yield " " * min(widths) + stripped + newline + rest


def _yaml_events(text: str) -> Iterator[Event]:
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line if event.start_mark else 0
        if isinstance(event, yaml.MappingStartEvent):
            yield _MAP, "", line
        elif isinstance(event, yaml.SequenceStartEvent):
            yield _LIST, "", line
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            yield _END, "", line
        elif isinstance(event, yaml.ScalarEvent):
            yield _SCALAR, event.value, line
        elif isinstance(event, yaml.AliasEvent):
            yield _SCALAR, "", line


def _json_events(text: str) -> Iterator[Event]:
    for token in _JSON.finditer(text):
        sign = token[2]
        if sign is None:
            yield _SCALAR, _unescaped(token[1]) if token[1] is not None else token[3], token.start()
        elif sign == "{":
            yield _MAP, "", token.start()
        elif sign == "[":
            yield _LIST, "", token.start()
        elif sign in "}]":
            yield _END, "", token.start()


def _unescaped(text: str) -> str:
    """A JSON text without its escapes, as far as field names have them."""
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


@dataclass(slots=True)
class _Frame:
    """An open mapping or list: the wanted paths below it (whole, rest), and what comes next in it."""

    is_list: bool
    below: list[tuple[str, str]]
    index: int = 0
    key: list[tuple[str, str]] | None = None


def _search(events: Iterator[Event], wanted: Sequence[str]) -> dict[str, int]:
    """Follows the events and notes where each wanted path is met; whatever cannot be read ends the search."""
    found: dict[str, int] = {}
    stack: list[_Frame] = []
    try:
        for what, text, place in events:
            if what == _END:
                stack.pop()
                if not stack:
                    break
                continue
            below = _enter(stack, what, text, place, found, wanted)
            if what in (_MAP, _LIST):
                if len(stack) >= MAX_DEPTH:
                    break
                stack.append(_Frame(what == _LIST, below))
            if len(found) == len(wanted):
                break
    except (yaml.YAMLError, IndexError, ValueError, RecursionError):
        pass
    return found


def _enter(
    stack: list[_Frame], what: str, text: str, place: int, found: dict[str, int], wanted: Sequence[str]
) -> list[tuple[str, str]]:
    """What is wanted below the value that begins here."""
    if not stack:
        return [(path, path) for path in wanted]
    top = stack[-1]
    if top.is_list:
        below = _step(top.below, f"[{top.index}]", place, found)
        top.index += 1
        return below
    if top.key is None:
        top.key = _key_step(top.below, text, place, found) if what == _SCALAR else []
        return []
    below, top.key = top.key, None
    return below


def _key_step(below: list[tuple[str, str]], key: str, place: int, found: dict[str, int]) -> list[tuple[str, str]]:
    steps = []
    for spelled in (key, f'["{key}"]', f"['{key}']"):
        steps += _step(below, spelled, place, found)
    return steps


def _step(below: list[tuple[str, str]], spelled: str, place: int, found: dict[str, int]) -> list[tuple[str, str]]:
    """The wanted paths that go on after this key or index; those that end here are noted."""
    steps = []
    for whole, rest in below:
        if not spelled or not rest.startswith(spelled):
            continue
        left = rest[len(spelled) :]
        if not left:
            found.setdefault(whole, place)
        elif left[0] == ".":
            steps.append((whole, left[1:]))
        elif left[0] == "[":
            steps.append((whole, left))
    return steps
