"""A file cut anywhere: everything whole before the cut is read, nothing is invented, and the cut is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from analyzer.bundle.types import Hint, Item, ListSeen, Problem

from .helpers import POD_HINT, go_yaml, items, lists, parts, pod, pod_list, pods, problems


def contained(part: Any, whole: Any) -> bool:
    """Whether a value holds nothing that the whole one does not hold (text may be shorter)."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contained(item, whole[key]) for key, item in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(contained, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part.rstrip("\n"))
    return bool(part == whole)


def typed(value: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", **value}


def check_cut(text: bytes, cut: int, objects: list[dict[str, Any]], ends: list[int]) -> None:
    """Read the text up to `cut` and compare with the objects, whose texts end at `ends`."""
    data = text[:cut]
    found = parts(data, POD_HINT)
    whole = [part for part in found if isinstance(part, Item) and part.whole]
    partial = [part for part in found if isinstance(part, Item) and not part.whole]
    expected = [typed(value) for value, end in zip(objects, ends, strict=True) if end <= cut]
    assert [item.value for item in whole] == expected, cut
    assert len(partial) <= 1
    for item in partial:
        original = typed(objects[len(expected)]) if len(expected) < len(objects) else {}
        assert item.name == original["metadata"]["name"]
        assert item.namespace == original["metadata"]["namespace"]
        assert contained(item.value, original), cut


@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(pods())
def test_a_yaml_list_cut_at_every_byte(objects: list[dict[str, Any]]) -> None:
    text = go_yaml(pod_list(*objects))
    before = len(go_yaml({"apiVersion": "v1"})) + len(b"items:\n")
    # An item is known to be whole only once something follows it.
    ends = [before + len(go_yaml(objects[: index + 1])) + 1 for index in range(len(objects))]
    for cut in range(before + 1, len(text)):
        check_cut(text, cut, objects, ends)
        seen = lists(text[:cut], POD_HINT)
        # What cannot be told: the metadata gone with its whole line, and only the last line break gone.
        if cut < len(text) - 1 and not text[:cut].endswith(b"kind: PodList\n"):
            assert [(part.kind, part.complete) for part in seen] == [("Pod", False)], cut
            assert problems(text[:cut], POD_HINT), cut


@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(pods())
@pytest.mark.parametrize("indent", [None, 4])
def test_a_json_list_cut_at_every_byte(indent: int | None, objects: list[dict[str, Any]]) -> None:
    text = json.dumps(pod_list(*objects), indent=indent, ensure_ascii=False).encode()
    ends = [item.offset + item.length for item in items(text)]
    assert len(ends) == len(objects)
    for cut in range(text.index(b"[") + 1, len(text)):
        check_cut(text, cut, objects, ends)
        assert [(part.kind, part.complete) for part in lists(text[:cut], POD_HINT)] == [("Pod", False)], cut
        assert problems(text[:cut], POD_HINT), cut


@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(pods(typed=True))
def test_single_objects_cut_at_every_byte(objects: list[dict[str, Any]]) -> None:
    for text in (go_yaml(objects[0]), json.dumps(objects[0], indent=2).encode(), json.dumps(objects[0]).encode()):
        for cut in range(1, len(text)):
            for item in items(text[:cut]):
                # A YAML object that still parses may have lost its end, and nobody can tell.
                if text.startswith(b"{") or not item.whole:
                    assert contained(item.value, objects[0])
                    assert (item.name, item.namespace, item.whole) == ("pod-0", "shop", False)


@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(pods(typed=True))
def test_a_single_object_of_a_known_layout_cut_in_a_line_is_found_out(objects: list[dict[str, Any]]) -> None:
    text = go_yaml(objects[0])
    for cut in range(text.index(b"\n") + 2, len(text)):
        if text[cut - 1 : cut] != b"\n" and text[cut : cut + 1] != b"\n":
            assert problems(text[:cut], POD_HINT), cut
            for item in items(text[:cut], POD_HINT):
                assert not item.whole
                assert contained(item.value, objects[0]), cut


@pytest.mark.parametrize(("end", "whole"), [(b"  ", False), (b"  phase:", False), (b"  phase: Running", True)])
def test_the_last_line_of_an_object_of_no_known_layout(end: bytes, whole: bool) -> None:
    text = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\nstatus:\n  reason: x\n" + end
    assert [item.whole for item in items(text)] == [whole]
    assert bool(problems(text)) != whole


def test_the_last_item_is_kept_only_with_its_name() -> None:
    text = go_yaml(pod_list(pod("a"), pod("b", containers=[{"name": "app"}])))
    named = text[: text.rindex(b"- name: app")]
    assert [(item.name, item.whole) for item in items(named)] == [("a", True), ("b", False)]
    unnamed = text[: text.rindex(b"    name: b")]
    assert [item.name for item in items(unnamed)] == ["a"]


def test_a_namespace_that_may_be_cut_away_is_not_made_up() -> None:
    text = go_yaml(pod_list(pod("a"), pod("b")))
    before_namespace = text[: text.rindex(b"    namespace:")]
    assert [item.name for item in items(before_namespace)] == ["a"]
    told = items(before_namespace, Hint(namespace="shop"))
    assert [(item.name, item.namespace) for item in told] == [("a", "shop"), ("b", "shop")]
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name}, "spec": {}} for name in ("n1", "n2")]
    listed = go_yaml({"apiVersion": "v1", "items": nodes, "kind": "NodeList", "metadata": {}})
    assert [item.whole for item in items(listed[: listed.rindex(b"    uid")])] == [True, False]


def test_a_list_cut_at_a_line_end_still_parses_and_is_found_out() -> None:
    text = go_yaml(pod_list(pod("a"), pod("b")))
    cut = text[: text.index(b"kind: PodList")]
    found = parts(cut)
    assert [item.name for item in items(cut)] == ["a", "b"]
    assert [part.complete for part in found if isinstance(part, ListSeen)] == [False]
    assert any(isinstance(part, Problem) and part.message.startswith("cut") and part.lost is None for part in found)


@pytest.mark.parametrize(
    "tail", [b"k", b"kind: Po", b"kind: PodLi", b"kind: PodList", b"kind: PodList\nmetad", b"kind: PodList\nmetadata:"]
)
def test_a_list_cut_in_its_tail_keeps_all_items_whole(tail: bytes) -> None:
    text = go_yaml(pod_list(pod("a"), pod("b")))
    cut = text[: text.index(b"kind: PodList")] + tail
    assert [(item.name, item.whole) for item in items(cut)] == [("a", True), ("b", True)]
    assert [(part.kind, part.complete) for part in lists(cut)] == [("Pod", False)]
    assert len(problems(cut)) == 1


def test_a_list_cut_before_its_first_item_is_not_empty() -> None:
    (seen,) = lists(b"apiVersion: v1\nitems:\n", POD_HINT)
    assert (seen.objects, seen.complete) == (0, False)


def test_a_whole_list_without_a_line_break_at_its_end_is_whole() -> None:
    text = go_yaml(pod_list(pod("a"))).rstrip()
    assert not problems(text)
    assert lists(text)[0].complete


def test_items_that_lack_a_kind_are_nothing_once_the_kind_is_cut_away() -> None:
    text = go_yaml(pod_list(pod("a", typed=False), pod("b", typed=False)))
    cut = text[: text.index(b"kind: PodList")]
    assert not items(cut)
    assert problems(cut)
    assert [item.kind for item in items(cut, POD_HINT)] == ["Pod", "Pod"]
