"""Damaged documents: reading item by item gives what reading as a whole gives, and nothing ever raises.

This is what keeps the fast way honest: well-formed input would hide every mistake in it.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.bundle.documents import jsonvalue, yamldoc
from analyzer.bundle.documents.events import BadYamlError, parse
from analyzer.bundle.types import Hint, Item, ListSeen, Other, Part, Problem

from .helpers import GoDumper, go_yaml, parts, pod, pod_list

_WORDS: list[Any] = [
    "a",
    "true",
    "0644",
    "- x",
    "x: y",
    '"q"',
    "it's",
    "two\nlines\n",
    "word " * 30,
    "# no",
    "&a",
    "*b",
    "é",
    "{",
    "]",
    "!t",
]
_WORDS += ["", "null", "~", "a\tb", "--- x", "items:", "kind: Foo", "***HIDDEN***", "x\u2028y", 1, 2.5, True, None]
_SPLICES = [
    "-",
    "- ",
    "\n",
    " ",
    "  ",
    '"',
    "'",
    ":",
    ": ",
    "#",
    "&a ",
    "*a",
    "{",
    "}",
    "[",
    "]",
    "|",
    ">",
    "!",
    "%",
    "@",
    "`",
    "\t",
    "\r",
    "\r\n",
]
_SPLICES += [
    "?",
    "? ",
    ",",
    "a",
    "0",
    "...",
    "---",
    "---\n",
    "\n- ",
    "\n---\n",
    "\nkind: X\n",
    "<<: ",
    "items:",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\\",
    "~",
]


class _Indented(GoDumper):
    """Lists indented below their key, as other printers do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


def value(rnd: random.Random, depth: int = 0) -> Any:
    choice = rnd.random()
    if depth > 3 or choice < 0.6:
        return rnd.choice(_WORDS)
    if choice < 0.8:
        return {
            rnd.choice("abcdefg") + rnd.choice(["", "x y", "-", ".io/z"]): value(rnd, depth + 1) for _ in range(rnd.randint(0, 3))
        }
    return [value(rnd, depth + 1) for _ in range(rnd.randint(0, 3))]


def listed(rnd: random.Random) -> dict[str, Any]:
    pods = [{**pod(f"p{index}", typed=rnd.random() < 0.5), "spec": value(rnd)} for index in range(rnd.randint(1, 4))]
    return pod_list(*pods)


def document(rnd: random.Random) -> bytes:
    whole: Any = listed(rnd)
    if rnd.random() < 0.2:
        whole = whole["items"]
    if rnd.random() < 0.2:
        style = rnd.choice([None, False, True])
        return yaml.dump(whole, Dumper=_Indented, default_flow_style=style, allow_unicode=True).encode()
    return b"---\n" * (rnd.random() < 0.1) + go_yaml(whole)


def mutate(rnd: random.Random, text: str) -> str:
    for _ in range(rnd.randint(1, 4)):
        at, choice = rnd.randrange(len(text) + 1), rnd.random()
        if choice < 0.3:
            text = text[:at] + text[at + rnd.choice([1, 1, 2, 5]) :]
        elif choice < 0.7:
            text = text[:at] + rnd.choice(_SPLICES) + text[at:]
        elif choice < 0.8:
            text = text[:at] + rnd.choice(_SPLICES) + text[at + 1 :]
        elif choice < 0.9:
            lines = text.split("\n")
            line = rnd.randrange(len(lines))
            lines[line : line + 1] = rnd.choice([[], [lines[line]] * 2, ["  " + lines[line]], [lines[line][rnd.randint(1, 3) :]]])
            text = "\n".join(lines)
        else:
            text = text[: at + 40] + text[at:]
    return text


def comparable(found: list[Part]) -> list[Any]:
    """What has to be equal: everything but the extent of items, which ends elsewhere, and columns."""
    keep: list[Any] = []
    for part in found:
        if isinstance(part, Item):
            keep.append((part.value, part.group, part.kind, part.namespace, part.name, part.line, part.idx, part.whole))
        elif isinstance(part, Other):
            keep.append(repr(part.value))
        elif isinstance(part, ListSeen):
            keep.append(part)
    return keep


def is_broken(found: list[Part]) -> bool:
    """Whether the text itself was broken, not only what it said."""
    said = ("an element of the list", "no object", "text instead")
    return any(isinstance(part, Problem) and not part.message.startswith(said) for part in found)


@pytest.mark.parametrize("seed", range(5))
def test_yaml_item_by_item_is_the_same_as_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = random.Random(seed)
    compared = 0
    for _ in range(500):
        data = mutate(rnd, document(rnd).decode()).encode()
        hint = rnd.choice([Hint(), Hint(kind="Pod", version="v1")])
        fast = parts(data, hint)
        with monkeypatch.context() as patch:
            patch.setattr(yamldoc, "split_list", lambda _text: None)
            whole = parts(data, hint)
        if is_broken(whole):
            continue
        compared += 1
        assert comparable(fast) == comparable(whole), data.decode()
        assert not is_broken(fast), data.decode()
    assert compared > 80


@pytest.mark.parametrize("seed", range(4))
def test_json_item_by_item_is_the_same_as_whole(seed: int) -> None:
    rnd = random.Random(seed)
    compared = 0
    for _ in range(500):
        text = json.dumps(listed(rnd), indent=rnd.choice([None, 2, 4]), ensure_ascii=False)
        text = mutate(rnd, text)
        fast = parts(text.encode())
        try:
            whole = json.loads(text)
        except ValueError:
            continue
        if not isinstance(whole, dict) or not isinstance(whole.get("items"), list) or whole.get("kind") != "PodList":
            continue
        compared += 1
        found = {item.name: item for item in fast if isinstance(item, Item)}
        for original in whole["items"]:
            metadata = original.get("metadata") if isinstance(original, dict) else None
            if isinstance(metadata, dict) and metadata.get("name") in found and len(found) == len(whole["items"]):
                item = found[metadata["name"]]
                assert {**item.value, **original} == item.value
                assert json.loads(text.encode()[item.offset : item.offset + item.length]) == original
    assert compared > 10


@pytest.mark.parametrize("seed", range(4))
def test_the_text_of_a_yaml_item_gives_the_item_again(seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(300):
        data = mutate(rnd, document(rnd).decode()).encode()
        if b"&" in data or data.count(b"items") > 1:
            continue
        for item in parts(data):
            if isinstance(item, Item) and item.whole:
                text = data[item.offset : item.offset + item.length]
                again = parts(text, Hint(kind=item.kind, group=item.group, version=item.version))
                assert [part.value for part in again if isinstance(part, Item)] == [item.value], data.decode()
                assert item.line == data.count(b"\n", 0, item.offset) + 1


def outcome(data: bytes, *, spans: bool) -> object:
    """The value, or what is wrong and where."""
    try:
        return parse(data, spans=spans).roots
    except BadYamlError as error:
        return error.line, error.column, error.reason


@pytest.mark.parametrize("seed", range(4))
def test_both_builders_are_the_same(seed: int) -> None:
    rnd = random.Random(seed)
    compared = 0
    for _ in range(500):
        data = mutate(rnd, document(rnd).decode()).encode()
        simple, full = outcome(data, spans=False), outcome(data, spans=True)
        assert simple == full
        compared += isinstance(simple, list)
    assert compared > 80


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_random_bytes_never_raise(data: bytes) -> None:
    parts(data)
    parts(b"apiVersion: v1\nitems:\n- " + data, Hint(kind="Pod"))
    parts(b'{"items": [' + data, Hint(kind="Pod"))


def test_a_wrong_place_of_a_json_item_cannot_pass() -> None:
    """The first `items` of the text is not the list's own."""
    inner = json.dumps(pod("x"))
    text = f'{{"metadata": {{"items": [{inner}, 1]}}, "items": [{inner}], "kind": "PodList", "apiVersion": "v1"}}'.encode()
    (item,) = [part for part in parts(text) if isinstance(part, Item)]
    assert json.loads(text[item.offset : item.offset + item.length]) == pod("x")
    assert jsonvalue.loads(text)["items"] == [item.value]
