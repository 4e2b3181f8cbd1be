"""Encodings, and the way back from clean text to the bytes of the file."""

from __future__ import annotations

import json

import pytest

from .helpers import go_yaml, items, parts, pod, pod_list, problems


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks(encoding: str) -> None:
    value = pod_list(pod("a", x="größe"), pod("b", x="日本"))
    for text in (go_yaml(value).decode(), json.dumps(value, indent=1, ensure_ascii=False)):
        data = text.encode(encoding)
        found = items(data)
        assert [item.value["spec"] for item in found] == [{"x": "größe"}, {"x": "日本"}]
        assert not problems(data)
        plain = encoding.removesuffix("-sig")
        for item in found:
            cut = data[item.offset : item.offset + item.length]
            mark = b"" if plain == "utf-8" else data[: 4 if plain == "utf-32" else 2]
            assert items(mark + cut)[0].value == item.value


def test_invalid_utf8_is_replaced_and_told() -> None:
    data = go_yaml(pod_list(pod("a", x="one-two"), pod("b", x="ü"))).replace(b"one-two", b"one\xff\xfetwo")
    found = items(data)
    assert [item.value["spec"]["x"] for item in found] == ["one\ufffd\ufffdtwo", "ü"]
    assert [(problem.line, problem.lost) for problem in problems(data)] == [(10, 0)]
    assert [data[item.offset : item.offset + item.length].count(b"apiVersion") for item in found] == [1, 1]
    assert data[found[1].offset :].startswith(b"- apiVersion")
    assert data[found[1].offset + found[1].length :].startswith(b"kind: PodList")


def test_nul_bytes_are_dropped() -> None:
    data = go_yaml(pod_list(pod("a", x="one-two"), pod("b"))).replace(b"one-two", b"one\0\0two")
    found = items(data)
    assert [item.value["spec"] for item in found] == [{"x": "onetwo"}, {"nodeName": "n1"}]
    assert not problems(data)
    assert data[found[1].offset :].startswith(b"- apiVersion")


def test_nul_bytes_are_named_where_a_document_is_broken() -> None:
    data = b"kind: Pod\nmetadata:\n  name: a\n" + b"\0" * 500 + b'  x: "y\n'
    assert "NUL" in problems(b"---\n" + data + b"---\na: b\n")[0].message


def test_apple_double_files_hold_nothing() -> None:
    assert parts(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X") == []


def test_binary_data_is_told() -> None:
    (problem,) = parts(b"a\0" * 200_000)
    assert "binary" in getattr(problem, "message", "")
    (problem,) = parts(b"a\xff" * 200_000)
    assert "binary" in getattr(problem, "message", "")
