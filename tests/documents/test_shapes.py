"""Every shape in which tools write objects."""

from __future__ import annotations

import json

import pytest

from analyzer.bundle.limits import MAX_DOCUMENT_DEPTH
from analyzer.bundle.types import Hint, Item, ListSeen

from .helpers import POD_HINT, go_yaml, items, lists, others, parts, pod, pod_list, problems


def names(data: bytes, hint: Hint | None = None) -> list[str]:
    return [f"{item.kind} {item.namespace}/{item.name}" for item in items(data, hint)]


def both(value: object) -> list[bytes]:
    return [json.dumps(value).encode(), json.dumps(value, indent=4).encode(), go_yaml(value)]


def test_one_object() -> None:
    for data in both(pod("a")):
        (part,) = parts(data)
        assert isinstance(part, Item)
        assert (part.group, part.version, part.kind, part.namespace, part.name) == ("", "v1", "Pod", "shop", "a")
        assert part.value == pod("a")
        assert (part.idx, part.line, part.offset, part.whole) == (0, 1, 0, True)


def test_typed_lists_give_their_items_a_kind() -> None:
    listed = {"apiVersion": "apps/v1", "items": [pod("a", typed=False), pod("b", typed=False)], "kind": "DeploymentList"}
    for data in both(listed):
        found = parts(data)
        assert [(part.group, part.version, part.kind, part.idx) for part in found if isinstance(part, Item)] == [
            ("apps", "v1", "Deployment", 0),
            ("apps", "v1", "Deployment", 1),
        ]
        assert all(part.value["apiVersion"] == "apps/v1" for part in found if isinstance(part, Item))
        assert found[-1] == ListSeen("apps", "v1", "Deployment", 2, complete=True)


def test_endpoints_keep_their_s() -> None:
    data = go_yaml({"apiVersion": "v1", "items": [pod("a", typed=False)], "kind": "EndpointsList", "metadata": {}})
    assert names(data) == ["Endpoints shop/a"]


def test_a_list_of_mixed_kinds() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    for data in both({"apiVersion": "v1", "items": [pod("a"), node, pod("b")], "kind": "List", "metadata": {}}):
        assert names(data) == ["Pod shop/a", "Node /n1", "Pod shop/b"]
        assert {(seen.kind, seen.objects, seen.complete) for seen in lists(data)} == {("Pod", 2, True), ("Node", 1, True)}


def test_objects_without_a_kind_are_not_lost_in_silence() -> None:
    """`kubectl get pods -o json | jq .items` of an old client: nothing says what they are, unless the path does."""
    one, two = ({"metadata": {"name": name, "uid": name, "creationTimestamp": None}, "spec": {}} for name in "ab")
    for value, count in (([one, two], 2), ({"items": [one, two]}, 2), (one, 1)):
        for data in both(value):
            (problem,) = problems(data)
            assert (problem.line, problem.lost) == (1, count), value
            assert "no kind" in problem.message
            assert not items(data)
            assert len(items(data, POD_HINT)) == count
    for other in ([{"metadata": {"name": "a"}}], {"items": [{"id": "1", "metadata": {"name": "a", "uid": "b"}}]}, {"a": [1]}):
        for data in both(other):
            assert not problems(data), other


def test_bare_arrays() -> None:
    for data in both([pod("a"), pod("b")]):
        assert names(data) == ["Pod shop/a", "Pod shop/b"]
        assert lists(data) == [ListSeen("", "v1", "Pod", 2, complete=True)]
    for data in both([pod("a", typed=False)]):
        assert names(data, POD_HINT) == ["Pod shop/a"]
        assert not names(data)
        assert len(others(data)) == 1


@pytest.mark.parametrize(
    "data",
    [
        b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}',
        b'{"kind":"PodList","apiVersion":"v1","items":[]}',
        b"apiVersion: v1\nitems: []\nkind: PodList\nmetadata: {}\n",
        b"apiVersion: v1\nitems: null\nkind: PodList\n",
    ],
)
def test_empty_lists_are_seen(data: bytes) -> None:
    assert parts(data) == [ListSeen("", "v1", "Pod", 0, complete=True)]


@pytest.mark.parametrize(
    "data", [b"[]", b"null", b"null\n", b'{"items": null}', b"[]\n", b'{"metadata":{},"items":[]}', b"items: []\n"]
)
def test_empty_lists_take_their_kind_from_the_path(data: bytes) -> None:
    assert parts(data, POD_HINT) == [ListSeen("", "v1", "Pod", 0, complete=True)]


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", b"---\n", b"# nothing\n", b"---\n---\n# x\n...\n", b"\xef\xbb\xbf"])
def test_nothing_is_nothing(data: bytes) -> None:
    assert parts(data, POD_HINT) == []


def test_what_is_no_object_is_other() -> None:
    assert others(b"{}") == [{}]
    assert others(b"{}", POD_HINT) == [{}]
    assert others(b'{"status": "ok", "data": [1, 2]}') == [{"status": "ok", "data": [1, 2]}]
    assert others(b"null") == [None]
    assert others(b"[1, 2]") == [[1, 2]]
    assert others(b"plain words\n") == ["plain words"]
    assert others(b'[{"name": "check", "severity": "warn"}]') == [[{"name": "check", "severity": "warn"}]]
    summary = {
        "kind": "PendingWorkloadsSummary",
        "apiVersion": "visibility.kueue.x-k8s.io/v1beta1",
        "metadata": {},
        "items": [{}],
    }
    assert others(json.dumps(summary).encode()) == [summary]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 5},
        {"kind": ["Pod"]},
        {"kind": None},
        {"apiVersion": 1},
        {"apiVersion": None},
        {"metadata": None},
        {"metadata": []},
        {"metadata": {"name": 5}},
        {"metadata": {"name": None}},
        {"metadata": {}},
        {"metadata": {"name": "a", "namespace": 7}},
    ],
)
def test_nothing_is_coerced_into_an_object(change: dict[str, object]) -> None:
    bad = {**pod("a"), **change}
    for data in both(bad):
        assert not items(data)
    for data in both({"apiVersion": "v1", "items": [bad, pod("b")], "kind": "List", "metadata": {}}):
        assert names(data) == ["Pod shop/b"]
        assert [problem.lost for problem in problems(data)] == [1]
        assert [seen.complete for seen in lists(data)] == [False]


def test_a_kind_of_the_path_never_replaces_a_kind_of_the_object() -> None:
    volume = {"kind": "Volume", "metadata": {"name": "a"}}
    assert not items(json.dumps(volume).encode(), POD_HINT)
    longhorn = {"apiVersion": "longhorn.io/v1beta1", "kind": "Node", "metadata": {"name": "n1"}}
    (item,) = items(json.dumps([longhorn]).encode(), Hint(kind="Node", version="v1"))
    assert (item.group, item.kind) == ("longhorn.io", "Node")


def test_the_version_of_a_custom_resource_comes_from_its_managers() -> None:
    value = {"metadata": {"name": "a", "managedFields": [{"apiVersion": "ray.io/v1"}]}}
    (item,) = items(json.dumps([value]).encode(), Hint(kind="RayCluster", group="ray.io"))
    assert (item.version, item.value["apiVersion"]) == ("v1", "ray.io/v1")


def test_lists_in_lists_are_flattened() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [pod("b"), pod("c")]}
    for data in both({"apiVersion": "v1", "items": [pod("a"), inner], "kind": "List"}):
        assert names(data) == ["Pod shop/a", "Pod shop/b", "Pod shop/c"]
        assert [item.idx for item in items(data)] == [0, 1, 2]


def test_lists_in_lists_end_somewhere() -> None:
    value: dict[str, object] = pod("a")
    for _ in range(50):
        value = {"apiVersion": "v1", "items": [value], "kind": "List"}
    for data in both(value):
        assert not items(data)
        assert problems(data)


@pytest.mark.parametrize("metadata", [{"continue": "abc"}, {"remainingItemCount": 4}])
def test_a_page_of_a_list_is_not_complete(metadata: dict[str, object]) -> None:
    for data in both({**pod_list(pod("a")), "metadata": metadata}):
        assert [seen.complete for seen in lists(data)] == [False]


def test_go_struct_dumps_are_named() -> None:
    dump = {"ListMeta": {}, "Items": [{"ObjectMeta": {"Name": "a"}, "Spec": {}, "Status": {"Phase": "Running"}}]}
    for data in both(dump):
        assert [problem.message for problem in problems(data)] == ["a Go struct dump, not an object"]


def test_an_error_of_the_api_server_is_no_object() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403}
    (problem,) = problems(json.dumps(status).encode())
    assert "Forbidden" in problem.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"Error from server (NotFound): the server could not find the requested resource\n", "could not find"),
        (b'error: the server doesn\'t have a resource type "gadgets"\n', "gadgets"),
        (b"The connection to the server 10.0.0.1:6443 was refused - did you specify the right host?\n", "refused"),
        (b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n", "502 Bad Gateway"),
        (b"Unable to connect: dial tcp: i/o timeout\nsecond: line: here\n", "timeout"),
        (b"apiVersion: v1\nkind: PodList\nitems: {a: b}\n", "items is a mapping"),
        (b'{"apiVersion": "v1", "kind": "List", "items": "..."}', "items is a text"),
    ],
)
def test_errors_saved_under_the_name_are_told(data: bytes, words: str) -> None:
    (problem,) = parts(data, POD_HINT)
    assert words in getattr(problem, "message", "")


def test_problems_do_not_quote_what_broke() -> None:
    secret = "hunter2-swordfish"
    broken = [
        f'a: b\nmetadata:\n  x: "{secret}\n',
        f"kind: Pod\nmetadata: {{{secret}: [\n",
        f"kind: X\nmetadata:\n\t{secret}: *{secret}\n",
    ]
    broken += [f'{{"kind": "Pod", "metadata": {{"x": {secret}}}}}', f"{secret} just text", f"- a: *{secret}\n- metadata: 1\n"]
    for text in broken:
        assert not any(secret in problem.message for problem in problems(text.encode(), POD_HINT)), text


def test_deep_documents_are_refused_and_the_rest_is_read() -> None:
    deep: object = 1
    for _ in range(MAX_DOCUMENT_DEPTH + 5):
        deep = [deep]
    for data in (
        json.dumps({"apiVersion": "v1", "items": [{**pod("a"), "x": deep}, pod("b")], "kind": "PodList"}).encode(),
        b"- x: " + json.dumps(deep).encode() + b"\n" + go_yaml([pod("b")]),
        b"x: " + b"[" * 100_000 + b"\n---\n" + go_yaml(pod("b")),
        b"[" * 100_000 + b"\n---\n" + go_yaml(pod("b")),
    ):
        assert names(data) == ["Pod shop/b"]
        assert any(
            str(MAX_DOCUMENT_DEPTH) in problem.message or "nest" in problem.message for problem in problems(data)
        ) or problems(data)
