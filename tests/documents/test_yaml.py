"""YAML: scalars as Go reads them, several documents, anchors, tags, other styles, damage."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from analyzer.bundle.documents import backend, events
from analyzer.bundle.documents.events import BadYamlError, parse
from analyzer.bundle.documents.scalars import plain
from analyzer.bundle.types import Item, Problem

from .helpers import POD_HINT, VALUES, go_yaml, items, lists, others, parts, pod, pod_list, problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, True) for word in ("true", "True", "yes", "Yes", "on", "ON", "y", "Y")],
        *[(word, False) for word in ("false", "FALSE", "no", "off", "Off", "n", "N")],
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        ("0644", 420), ("0o17", 15), ("0x1F", 31), ("0b101", 5), ("-0x10", -16), ("1_000", 1000), ("+5", 5), ("0", 0), ("-1", -1),
        ("08", 8), ("18446744073709551615", 2**64 - 1), ("-9223372036854775808", -(2**63)), ("18446744073709551616", 2.0**64),
        ("1.5", 1.5), ("1e3", 1000), (".5", 0.5), ("1.", 1), ("1_0.5", 10.5), ("-1.5e-3", -0.0015),
        ("3e5468031", "3e5468031"), (".nan", ".nan"), (".inf", ".inf"), ("-.Inf", "-.Inf"),
        ("2026-11-01T12:00:00Z", "2026-11-01T12:00:00Z"), ("2018-01-01", "2018-01-01"), ("12:30:45", "12:30:45"),
        ("tRUE", "tRUE"), ("nO", "nO"), ("0x", "0x"), ("1.2.3", "1.2.3"), ("=", "="), ("-", "-"), ("+", "+"),
        (".", "."), ("1e", "1e"),
        ("٣", "٣"), ("9" * 5000, "9" * 5000),
    ],
)  # fmt: skip
def test_plain_scalars(text: str, value: object) -> None:
    assert plain(text) == value
    assert type(plain(text)) is type(value)


def test_quoted_scalars_and_tags() -> None:
    data = b"a: \"yes\"\nb: '5'\nc: !!str 5\nd: !!binary aGk=\n"
    data += b'e: !!int "5"\nf: !own 5\ng: ! 5\nh: !!timestamp 2018-01-01\ni: |\n  5\n'
    assert parse(data).value == {
        "a": "yes",
        "b": "5",
        "c": "5",
        "d": "aGk=",
        "e": 5,
        "f": "5",
        "g": "5",
        "h": "2018-01-01",
        "i": "5\n",
    }


def test_keys_are_text() -> None:
    assert parse(b"5: a\nyes: b\n1.5: c\n~: d\n'no': e\n0x10: f\n").value == {
        "5": "a",
        "true": "b",
        "1.5": "c",
        "null": "d",
        "no": "e",
        "16": "f",
    }


def test_the_last_of_equal_keys_wins() -> None:
    assert parse(b"a: 1\nb: 2\na: 3\n").value == {"a": 3, "b": 2}


def test_anchors_and_merges() -> None:
    data = b"base: &b {x: 1, v: 2}\none:\n  <<: *b\n  v: 3\ntwo: {z: 0, <<: [*b, {x: 9, w: 4}]}\nlist: [*b, *b]\n"
    value = parse(data).value
    assert value["one"] == {"x": 1, "v": 3}
    assert value["two"] == {"z": 0, "x": 1, "v": 2, "w": 4}
    value["list"][0]["x"] = 5
    assert value["list"][1] == value["base"] == {"x": 1, "v": 2}


def test_anchors_across_the_items_of_a_list() -> None:
    data = b"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: &m {name: a}\n"
    data += b"- apiVersion: v1\n  kind: Service\n  metadata: *m\n"
    assert [(item.kind, item.name, item.line) for item in items(data + b"kind: List\n")] == [("Pod", "a", 3), ("Service", "a", 6)]


def test_billion_laughs_cost_one_document() -> None:
    laughs = b"a0: &a0 [x, x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 40)
    )
    data = go_yaml(pod("a")) + b"---\n" + laughs + b"---\n" + go_yaml(pod("b"))
    assert [item.name for item in items(data)] == ["a", "b"]
    assert [problem.lost for problem in problems(data)] in ([1], [None])
    long_text = b"a: &a '" + b"x" * 100_000 + b"'\nb: [" + b"*a, " * 20_000 + b"]\n"
    with pytest.raises(BadYamlError):
        parse(long_text)


@pytest.mark.parametrize("data", [b"a: &a [*a]\n", b"a: *b\n", b"a: &a {<<: *a}\n", b"<<: 5\n", b"[a]: b\n", b"? {a: b}\n: c\n"])
def test_what_yaml_allows_and_json_cannot_have(data: bytes) -> None:
    with pytest.raises(BadYamlError):
        parse(data)


def test_many_documents() -> None:
    data = b"%YAML 1.1\n---\n" + go_yaml(pod("a")) + b"\n---   # next\n\n# words\n" + go_yaml(pod("b")) + b"...\n---\n\n---\n"
    data += (
        json.dumps(pod("c")).encode()
        + b"\n--- "
        + json.dumps(pod("d")).encode()
        + b"\n---\nkind: [\n---\n"
        + go_yaml(pod_list(pod("e")))
    )
    assert [item.name for item in items(data)] == ["a", "b", "c", "d", "e"]
    for item in items(data):
        assert item.line == data.count(b"\n", 0, item.offset) + 1
        assert items(data[item.offset : item.offset + item.length])[0].value == item.value
    assert len(problems(data)) == 1


def test_a_marker_inside_block_text_is_text() -> None:
    value = {**pod("a"), "data": {"x": "a\n---\nb\n- c\nitems:\n"}}
    assert [item.value for item in items(go_yaml([value, pod("b")]))] == [value, pod("b")]


def test_kyaml() -> None:
    data = b'---\n{\n  apiVersion: "v1",\n  kind: "PodList",\n  items: [{\n    metadata: {\n'
    data += b'      name: "a",\n    },\n  }, {\n    metadata: {name: "b"},\n  }],\n}\n'
    found = items(data)
    assert [(item.kind, item.name, item.line) for item in found] == [("Pod", "a", 5), ("Pod", "b", 9)]
    assert lists(data)[0].complete
    cut = data[: data.rindex(b"name")]
    assert [item.name for item in items(cut)] == ["a"]
    assert [seen.complete for seen in lists(cut)] == [False]
    assert [item.name for item in items(b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},}\n')] == ["a"]


def test_windows_line_ends() -> None:
    data = go_yaml(pod_list(pod("a"), pod("b"))).replace(b"\n", b"\r\n")
    assert [(item.name, item.value["spec"], item.line) for item in items(data)] == [
        ("a", {"nodeName": "n1"}, 3),
        ("b", {"nodeName": "n1"}, 11),
    ]
    assert [item.name for item in items(b"---\r\n" + data + b"---\r\n" + data)] == ["a", "b"] * 2


def test_other_line_breaks_are_read_as_a_whole() -> None:
    data = b"apiVersion: v1\ritems:\r- apiVersion: v1\r  kind: Pod\r  metadata: {name: a}\rkind: List\r"
    assert [item.name for item in items(data)] == ["a"]


@pytest.mark.parametrize("mark", ["***HIDDEN***", "@@REDACTED@@", "***TOKEN_IP_AB12***", "***it's***"])
@pytest.mark.parametrize("place", ["spec:\n    ip: {}", "spec:\n    args:\n    - {}", "spec: {}"])
def test_the_marks_of_redactors_break_nothing(mark: str, place: str) -> None:
    broken = f"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n  {place.format(mark)}\n".encode()
    data = b"apiVersion: v1\nitems:\n" + go_yaml([pod("a")]) + broken + go_yaml([pod("c")]) + b"kind: PodList\nmetadata: {}\n"
    assert [(item.name, item.whole) for item in items(data)] == [("a", True), ("b", False), ("c", True)]
    assert mark in json.dumps(items(data)[1].value)
    assert [(problem.lost, mark in problem.message) for problem in problems(data)] == [(0, False)]
    single = broken.replace(b"- api", b"  api")
    assert [item.whole for item in items(single)] == [False]


@pytest.mark.parametrize(
    "bad", ["  spec: {a: [\n", '  spec: "x\n', "  x y\n", "  spec: *gone\n", "  a: b: c\n", "  spec: %x\n", "  spec: `x`\n"]
)
def test_one_bad_item_costs_one_item(bad: str) -> None:
    broken = f"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n{bad}".encode()
    data = b"apiVersion: v1\nitems:\n" + go_yaml([pod("a")]) + broken + go_yaml([pod("c")]) + b"kind: PodList\nmetadata: {}\n"
    assert [(item.name, item.whole) for item in items(data)] == [("a", True), ("c", True)]
    (problem,) = problems(data)
    assert problem.lost == 1
    assert problem.line in range(11, 20)
    assert [seen.complete for seen in lists(data)] == [False]


def test_control_characters_are_replaced_where_they_break_something() -> None:
    data = go_yaml([pod("a"), pod("b")]).replace(b"n1", b"n\x1b1", 1)
    assert [(item.value["spec"]["nodeName"], item.whole) for item in items(data)] == [("n\ufffd1", False), ("n1", True)]


def test_large_lists_are_handed_over_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.bundle.documents.yamldoc._BUFFERED_BYTES", 10)
    good = go_yaml([pod("a"), pod("b")])
    multi = b"- apiVersion: v1\n  kind: Pod\n  metadata: {name: c}\n  spec: 'text\n- more\n'\n"
    data = b"apiVersion: v1\nitems:\n" + good + multi + good + b"kind: PodList\n"
    assert [item.name for item in items(data)] == ["a", "b", "c", "a", "b"]
    assert items(data)[2].value["spec"] == "text - more "
    assert not problems(data)
    assert others(b"- 1\n- 2\n") == [[1, 2]]


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_what_go_prints_is_read_as_it_was(value: Any) -> None:
    assert parse(go_yaml(value)).value == value
    assert parse(go_yaml(value), spans=True).value == value
    assert [item.value["spec"] for item in items(go_yaml(pod_list(pod("a", x=value))))] == [{"x": value}]


OWN_CLASSES = {
    "_SCALAR": yaml.ScalarEvent,
    "_MAPPING": yaml.MappingStartEvent,
    "_SEQUENCE": yaml.SequenceStartEvent,
    "_MAPPING_END": yaml.MappingEndEvent,
    "_SEQUENCE_END": yaml.SequenceEndEvent,
}


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_without_the_c_extension_all_is_the_same(value: Any) -> None:
    text = go_yaml(pod_list(pod("a", x=value), pod("b")))
    for data in (text, text[: len(text) * 2 // 3], text.replace(b":", b"::", 3)):
        fast = parts(data, POD_HINT)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events, "EventSource", backend.PythonEvents)
            for name, kind in OWN_CLASSES.items():
                patch.setattr(events, name, kind)
            slow = parts(data, POD_HINT)
        assert [part for part in fast if isinstance(part, Item)] == [part for part in slow if isinstance(part, Item)]
        assert [part.line for part in fast if isinstance(part, Problem)] == [
            part.line for part in slow if isinstance(part, Problem)
        ]


@pytest.mark.skipif(backend.EventSource is backend.PythonEvents, reason="this PyYAML was built without libyaml")
def test_the_lean_events_are_used_and_give_back_what_they_took() -> None:
    assert backend.CLASSES["ScalarEvent"] is not yaml.ScalarEvent
    with backend.lean():
        source = backend.EventSource(b"a: [b]")
        kinds = []
        while (event := source.get_event()) is not None:
            kinds.append(type(event))
    assert kinds.count(backend.CLASSES["ScalarEvent"]) == 2
    # Whoever reads YAML afterwards gets PyYAML's own.
    assert any(type(event) is yaml.ScalarEvent for event in yaml.parse("a: b", Loader=yaml.CSafeLoader))
    with pytest.raises(BadYamlError):
        parse(b"a: 'b")
    assert any(type(event) is yaml.ScalarEvent for event in yaml.parse("a: b", Loader=yaml.CSafeLoader))
