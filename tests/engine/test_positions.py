"""Lines of fields: held against what the parsers themselves say about the same text."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.positions import field_lines

ITEM = """- apiVersion: v1
  kind: Pod
  metadata:
    labels:
      example.com/role: x
    name: q
  status:
    conditions:
    - type: A
      message: >-
        one
        two
    - message: zz
      type: B
"""
WANTED = {
    "kind": 1,
    "metadata.labels.example.com/role": 4,
    'metadata.labels["example.com/role"]': 4,
    "status": 6,
    "status.conditions[0].message": 9,
    "status.conditions[1]": 12,
    "status.conditions[1].message": 12,
    "status.conditions[1].type": 13,
}


@pytest.mark.parametrize(
    "text", [ITEM, ITEM[2:], "\n".join(line[2:] for line in ITEM.splitlines()), "  " + ITEM.replace("\n", "\n  ")]
)
def test_an_item_with_its_dash_or_behind_it_or_alone(text: str) -> None:
    assert field_lines(text, [*WANTED, "status.phase", "status.conditions[2]", "kind.x"]) == WANTED


def test_json_in_many_lines_and_in_one() -> None:
    value = yaml.safe_load(ITEM)[0]
    text = json.dumps(value, indent=2)
    found = field_lines(text, list(WANTED))
    lines = text.split("\n")
    assert lines[found["status.conditions[1].message"]].strip() == '"message": "zz",'
    assert lines[found["metadata.labels.example.com/role"]].strip() == '"example.com/role": "x"'
    assert field_lines(json.dumps(value), list(WANTED)) == dict.fromkeys(WANTED, 0)


def test_json_strings_do_not_mislead() -> None:
    text = '{\n"a": "}{ \\"b\\": 1 [",\n"b": [1, "x]",\n{"c": null}]\n}'
    assert field_lines(text, ["b", "b[2].c", "a"]) == {"a": 1, "b": 2, "b[2].c": 3}


RUBBISH = ["", "{", "a: [", "[1, 2", "{]}", "}", "\x00", "a: &x [*x]", "- " * 5000, "[" * 5000, "{" * 5000, "'", "%"]


@pytest.mark.parametrize("text", RUBBISH)
def test_nothing_is_found_in_rubbish_and_nothing_raised(text: str) -> None:
    assert set(field_lines(text, ["b.c", "x[0]"])) == set()


NAMES = st.text("abcXYZ0-_", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab: -#'\"\n{[", max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def expected(node: yaml.Node | None, path: str = "") -> dict[str, int]:
    """path → line of every field, by PyYAML's own composer."""
    lines: dict[str, int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{path}.{key.value}" if path else key.value
            lines[name] = key.start_mark.line
            lines |= expected(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[f"{path}[{index}]"] = value.start_mark.line
            lines |= expected(value, f"{path}[{index}]")
    return lines


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_every_field_of_any_object(value: dict[str, Any]) -> None:
    for text in (yaml.safe_dump(value), json.dumps(value, indent=1)):
        lines = expected(yaml.compose(text, Loader=yaml.SafeLoader))
        assert field_lines(text, list(lines)) == lines


@given(st.text(max_size=200), st.lists(st.text("ab.[]0\"'", max_size=8), max_size=4))
def test_any_text_and_any_path(text: str, paths: list[str]) -> None:
    lines = field_lines(text, paths)
    assert all(0 <= line <= text.count("\n") + 1 for line in lines.values())
