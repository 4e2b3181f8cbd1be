"""JSON: values that other parsers refuse, several values in a text, cluster-info streams, damage."""

from __future__ import annotations

import json

import pytest

from analyzer.bundle.documents.jsonvalue import BadJsonError, loads
from analyzer.bundle.types import Item, LogText

from .helpers import POD_HINT, items, lists, logs, others, parts, pod, pod_list, problems


def test_numbers_beyond_what_others_take() -> None:
    text = b'{"a": 123456789012345678901234567890, "b": NaN, "c": -Infinity, "d": 1.5, "e": 18446744073709551615, "f": 1e999}'
    assert loads(text) == {
        "a": "123456789012345678901234567890", "b": "NaN", "c": "-Infinity", "d": 1.5, "e": 18446744073709551615, "f": "1e999",
    }  # fmt: skip


def test_equal_keys_and_raw_control_characters() -> None:
    assert loads(b'{"a": 1, "a": 2}') == {"a": 2}
    assert loads(b'{"a": "x\ty"}') == {"a": "x\ty"}
    with pytest.raises(BadJsonError):
        loads(b'{"a": ' + b"[" * 5000)
    assert len(items(json.dumps([pod("a"), pod("b")]).replace('"n1"', "NaN", 1).encode())) == 2


def test_concatenated_objects() -> None:
    for separator in (b"", b"\n", b"\n\n\r\n", b" "):
        data = separator.join(json.dumps(pod(name), indent=4).encode() for name in "abc")
        found = parts(data)
        assert [(part.name, part.idx) for part in found if isinstance(part, Item)] == [("a", 0), ("b", 1), ("c", 2)]
        assert len(found) == 3


def test_json_lines() -> None:
    data = b"".join(json.dumps(pod(name)).encode() + b"\n" for name in "abc") + b"some log line\n" + json.dumps(pod("d")).encode()
    assert [(item.name, item.line) for item in items(data)] == [("a", 1), ("b", 2), ("c", 3), ("d", 5)]
    assert not problems(data)


def test_places_of_items() -> None:
    for indent in (None, 1, 4):
        data = b"\n \n" + json.dumps({**pod_list(pod("a"), pod("a"), pod("b")), "x": "y"}, indent=indent).encode()
        for item in items(data):
            text = data[item.offset : item.offset + item.length]
            assert json.loads(text) == item.value
            assert item.line == data.count(b"\n", 0, item.offset) + 1


def test_one_bad_item_costs_one_item() -> None:
    for indent in (None, 2):
        text = json.dumps(pod_list(pod("a"), pod("b"), pod("c")), indent=indent)
        bad = text.replace('"uid-b"', "@oops")
        assert [item.name for item in items(bad.encode())] == ["a", "c"]
        assert [problem.lost for problem in problems(bad.encode())] == [1]
        assert lists(bad.encode())[0].complete is False


def test_a_bad_quote_costs_one_item_where_there_are_lines() -> None:
    text = json.dumps(pod_list(pod("a"), pod("b"), pod("c")), indent=2).replace('"uid-b"', '"uid-b')
    assert [item.name for item in items(text.encode())] == ["a", "c"]
    assert [item.kind for item in items(text.encode())] == ["Pod", "Pod"]


def test_a_list_cut_inside_quotes_keeps_what_was_before_them() -> None:
    for indent in (None, 2):
        text = json.dumps(pod_list(pod("a"), pod("b", nodeName="n1", x=[1])), indent=indent).encode()
        cut = text[: text.rindex(b"n1") + 1]
        assert [(item.name, item.whole) for item in items(cut)] == [("a", True), ("b", False)]
        assert [problem.message.startswith("cut") for problem in problems(cut)] == [True]


def test_the_marks_of_redactors() -> None:
    text = json.dumps(pod_list(pod("a"), pod("b")), indent=2).replace('"uid-b"', "***HIDDEN***")
    assert [(item.name, item.whole) for item in items(text.encode())] == [("a", True), ("b", False)]
    assert items(text.encode())[1].value["metadata"]["uid"] == "***HIDDEN***"


def stream(log: bytes) -> bytes:
    first = json.dumps(pod_list(pod("a", typed=False)), indent=4).encode()
    second = json.dumps({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": []}, indent=4).encode()
    start = b"==== START logs for container app of pod shop/a ====\n"
    return first + b"\n" + start + log + b"==== END logs for container app of pod shop/a ====\n" + second + b"\n"


@pytest.mark.parametrize(
    "log", [b"", b"one\ntwo\n", b"no line break", b'{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}}\n---\n']
)
def test_cluster_info_in_one_stream(log: bytes) -> None:
    data = stream(log)
    assert [item.name for item in items(data)] == ["a"]
    assert [(seen.kind, seen.objects) for seen in lists(data)] == [("Pod", 1), ("Event", 0)]
    (text,) = logs(data)
    assert (text.namespace, text.pod, text.container, text.text) == ("shop", "a", "app", log)
    assert text.line == data.count(b"\n", 0, data.index(b"START")) + 2
    assert not problems(data)


def test_cluster_info_cut_in_a_log() -> None:
    data = stream(b"one\ntwo\nthree\n")
    found = parts(data[: data.index(b"three")])
    assert [part.text for part in found if isinstance(part, LogText)] == [b"one\ntwo\n"]
    assert len(problems(data[: data.index(b"three")])) == 1


def test_error_lines_between_documents_are_told() -> None:
    data = (
        json.dumps(pod("a")).encode()
        + b"\nError from server (Forbidden): pods is forbidden\nnothing\n"
        + json.dumps(pod("b")).encode()
    )
    assert [item.name for item in items(data)] == ["a", "b"]
    (problem,) = problems(data)
    assert (problem.line, "Forbidden" in problem.message) == (2, True)


def test_an_object_behind_something_else_on_the_line_is_read_and_what_stands_between_is_told() -> None:
    first, second, third = (json.dumps(pod(name)).encode() for name in "abc")
    data = b"\n" + first + b" garbage " + second + third + b"\n"
    assert [item.name for item in items(data)] == ["a", "b", "c"]
    assert [(problem.line, problem.message) for problem in problems(data)] == [
        (2, "something between two values of one line is no object")
    ]


def test_bytes_decide_not_names() -> None:
    assert [item.name for item in items(b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", POD_HINT)] == ["a"]
    assert others(b'{"a": 1}') == [{"a": 1}]


def test_damage_takes_linear_time() -> None:
    parts(b'{"items": [{"a": "' + b'\\"' * 200_000)
    parts(b'{"a": "x' * 20_000)
    parts(b"[" * 50_000 + b'"' * 50_001)
    parts(b'{"items":[' + b"{" * 100_000)
    parts(b"{} x " * 50_000)
    parts(b'{"a": 1} {"kind": ' * 20_000)
    parts(b"{\n" * 30_000)
    parts(b"\t" * 1_000_000 + b"{")
    parts(b"==== START logs for container a of pod b/c ====\nx\n" * 20_000)
