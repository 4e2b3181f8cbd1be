"""Whole inputs in every layout: what stands in the part files afterwards."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
from pathlib import Path
from typing import Protocol

import pytest

from analyzer.bundle.errors import UnreadableError
from analyzer.bundle.read import Parts, read_bundle
from analyzer.store.schema import BY_NAME

from . import pipeline_trees as trees


class Put(Protocol):
    def __call__(self, files: trees.Files, name: str = ...) -> Path: ...


PARTS = ("part_objects", "part_lists", "part_logs", "part_documents", "part_files", "part_errors")


@pytest.fixture(params=["folder", "archive"])
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Put:
    """Write a bundle as a folder or as a tar.gz."""

    def written(files: trees.Files, name: str = "case") -> Path:
        if request.param == "folder":
            return trees.write(tmp_path / name, files)
        return trees.tar(tmp_path / f"{name}.tar.gz", files)

    return written


def test_a_must_gather(tmp_path: Path, put: Put) -> None:
    parts = trees.read(tmp_path, put(trees.must_gather()))
    (row,) = parts.inputs
    assert row["format"] == "must-gather"
    assert row["format_at"] == "2026-08-18T13:06:40Z"
    assert row["format_source"].startswith("line 2 of ")
    assert row["format_source"].endswith("/timestamp (clock of the pod)")
    assert row["complete"] is True
    assert row["error"] is None
    assert trees.names(parts, "Pod") == ["crate-0", "kettle-0", "kettle-0", "kettle-1"]
    assert trees.names(parts, "Node") == ["shelf-1", "shelf-2"]
    assert {
        ("Pod", "teahouse", 2, True),
        ("Event", "teahouse", 0, True),
        ("Pod", "cellar", 1, True),
        ("ClusterOperator", "*", 0, True),
        ("Node", "*", 2, True),
        ("Namespace", "*", 2, True),
        ("CustomResourceDefinition", "*", 1, True),
    } == trees.lists(parts)
    roles = trees.columns(trees.table(parts, "part_documents"), "role")
    assert roles == {("version",), ("etcd-endpoint-health",), ("alerts",)}
    (version,) = [one["json"] for one in trees.table(parts, "part_documents") if one["role"] == "version"]
    assert version == {"product": "openshift/must-gather", "version": "4.20.4"}
    logs = trees.columns(trees.table(parts, "part_logs"), "namespace", "pod", "container", "source", "lines")
    assert logs == {("teahouse", "kettle-0", "brew", "current", 2), ("", "", "", "service", 1)}
    errors = trees.columns(trees.table(parts, "part_errors"), "kind", "subject", "line")
    assert errors == {("not-served", "teapots", 3)}
    assert not [one for one in parts.files if one["status"] in ("partial", "unread")]
    assert trees.file(parts, "previous.log")["status"] == "empty"


def test_rows_have_the_columns_of_the_schema(tmp_path: Path) -> None:
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", trees.must_gather() | {"x/a.yaml": ": :"}))
    for name in PARTS:
        for row in trees.table(parts, name):
            assert list(row) == [column.name for column in BY_NAME[name].columns]
    files = [column.name for column in BY_NAME["files"].columns]
    assert all(list(row) == files for row in parts.files)
    known = {column.name for column in BY_NAME["inputs"].columns} | {"name_at"}
    assert set(parts.inputs[0]) <= known


def test_the_rows_of_an_object(tmp_path: Path) -> None:
    text = "# first\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: urn\n  namespace: teahouse\n  uid: u1\n"
    text += "  resourceVersion: '41'\n  managedFields:\n  - manager: kubectl\nspec:\n  replicas: 2\n"
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", {"urn.yaml": text}))
    (row,) = trees.table(parts, "part_objects")
    assert (row["api_group"], row["version"], row["kind"]) == ("apps", "v1", "Deployment")
    assert (row["namespace"], row["name"], row["uid"], row["resource_version"]) == ("teahouse", "urn", "u1", "41")
    assert row["line"] == 3
    assert text.encode()[row["byte_offset"] :][: row["byte_length"]].startswith(b"apiVersion")
    assert row["json"]["apiVersion"] == "apps/v1"
    assert row["json"]["spec"] == {"replicas": 2}
    assert "managedFields" not in row["json"]["metadata"]


def test_secrets_are_masked_before_they_are_written(tmp_path: Path) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": trees.meta("s", "teahouse"),
        "data": {"password": "aHVudGVyMmh1bnRlcjI="},
    }
    files = trees.must_gather()
    home = f"must-gather.local.7/{trees.IMAGE}"
    files[f"{home}/namespaces/teahouse/core/secrets.yaml"] = trees.to_yaml(trees.listed("Secret", [secret]))
    files[f"{home}/namespaces/teahouse/pods/kettle-0/brew/brew/logs/previous.log"] = (
        "token=ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"
    )
    files[f"{home}/monitoring/alerts.json"] = '{"data":{"password":"hunter2hunter2"}}'
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    written = b"".join(path.read_bytes() for name in PARTS for path in parts.parts[name])
    assert b"aHVudGVy" not in written
    assert b"hunter2" not in written
    assert b"ghp_abc" not in written
    assert trees.names(parts, "Secret") == ["s"]


def test_an_inspect_has_its_own_time(tmp_path: Path, put: Put) -> None:
    parts = trees.read(tmp_path, put({"timestamp": f"2026-08-18 13:00:00 +0000 UTC m=+0.1\n{trees.END}\n", **trees.inspected()}))
    assert parts.inputs[0]["format"] == "inspect"
    assert parts.inputs[0]["format_at"] == "2026-08-18T13:06:40Z"


def test_a_missing_timestamp_leaves_the_outer_one_and_none_is_no_error(tmp_path: Path, put: Put) -> None:
    files = trees.must_gather()
    del files[f"must-gather.local.7/{trees.IMAGE}/timestamp"]
    parts = trees.read(tmp_path, put(files))
    assert parts.inputs[0]["format_at"] == "2026-08-18T13:07:00.1Z"
    assert "clock of the client" in parts.inputs[0]["format_source"]
    del files["must-gather.local.7/timestamp"]
    parts = trees.read(tmp_path, put(files, "again"))
    assert parts.inputs[0]["format"] == "must-gather"
    assert parts.inputs[0]["format_at"] is None


def test_of_several_images_the_last_end_counts(tmp_path: Path, put: Put) -> None:
    files = trees.must_gather()
    files["must-gather.local.7/plugin-sha256-0ff/timestamp"] = "2026-08-18 13:30:00 +0000 UTC m=+1\n"
    files |= {f"must-gather.local.7/plugin-sha256-0ff/{path}": text for path, text in trees.inspected().items()}
    assert trees.read(tmp_path, put(files)).inputs[0]["format_at"] == "2026-08-18T13:30:00Z"


def test_cluster_info_as_a_folder(tmp_path: Path, put: Put) -> None:
    parts = trees.read(tmp_path, put(trees.cluster_info("dump/")))
    assert parts.inputs[0]["format"] == "cluster-info"
    assert parts.inputs[0]["format_at"] is None
    assert_cluster_info(parts)


@pytest.mark.parametrize("name", ["dump.json", "dump.txt", "dump"])
def test_cluster_info_as_one_stream(tmp_path: Path, name: str) -> None:
    path = trees.write(tmp_path, {name: trees.stream()["dump.json"]}) / name
    parts = trees.read(tmp_path, path)
    assert parts.inputs[0]["format"] == "cluster-info"
    # Nothing in the stream names the namespace of lists that are all empty.
    assert_cluster_info(parts, empty_namespace=False)


def assert_cluster_info(parts: Parts, *, empty_namespace: bool = True) -> None:
    assert trees.names(parts, "Pod") == ["kettle-0"]
    found = trees.lists(parts)
    assert ("Node", "*", 1, True) in found
    assert ("Pod", "teahouse", 1, True) in found
    assert ("Event", "teahouse", 0, True) in found
    assert ("DaemonSet", "teahouse", 0, True) in found
    assert (("Pod", "kube-system", 0, True) in found) is empty_namespace
    assert not [one for one in found if one[1] == "*" and one[0] != "Node"]
    logs = sorted(trees.table(parts, "part_logs"), key=lambda row: row["part"])
    assert [(row["part"], row["container"], row["lines"], row["tail"]) for row in logs] == [
        (0, "rinse", 1, "rinsed"),
        (1, "brew", 2, "water on\nboiling"),
    ]
    assert logs[1]["first_line"] == logs[0]["first_line"] + 3
    assert logs[1]["tail_line"] == logs[1]["first_line"]
    (error,) = trees.table(parts, "part_errors")
    assert (error["kind"], error["subject"]) == ("timeout", "teahouse/kettle-0")
    assert not [one for one in parts.files if one["status"] in ("partial", "unread")]


def test_a_support_bundle(tmp_path: Path, put: Put) -> None:
    parts = trees.read(tmp_path, put(trees.support_bundle()))
    (row,) = parts.inputs
    assert (row["format"], row["format_at"], row["name_at"]) == ("support-bundle", None, "2026-08-18T15:06:40")
    assert trees.names(parts, "Pod") == ["kettle-0"]
    assert trees.names(parts, "Namespace") == ["teahouse"]
    found = trees.lists(parts)
    assert {("Node", "*", 1, True), ("Namespace", "*", 1, True), ("Pod", "teahouse", 1, True)} <= found
    assert {("Event", "teahouse", 0, True), ("Service", "teahouse", 0, True), ("Leaf", "teahouse", 1, True)} <= found
    assert not [one for one in found if one[0] == "LimitRange"]
    logs = trees.columns(trees.table(parts, "part_logs"), "pod", "container", "source", "tail")
    assert logs == {("kettle-0", "brew", "current", "water on"), ("kettle-0", "brew", "previous", "cold")}
    errors = trees.columns(trees.table(parts, "part_errors"), "kind", "subject")
    assert errors == {("forbidden", "persistentvolumeclaims"), ("timeout", "etcd")}
    roles = trees.columns(trees.table(parts, "part_documents"), "role")
    assert roles == {("version",), ("cluster-version",)}
    assert not [one for one in parts.files if one["status"] in ("partial", "unread")]


def test_items_null_is_a_whole_and_empty_list(tmp_path: Path) -> None:
    files = trees.inspected() | {
        "namespaces/teahouse/core/services.yaml": "---\napiVersion: v1\nitems: null\nkind: ServiceList\n"
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert ("Service", "teahouse", 0, True) in trees.lists(parts)


def test_one_bad_line_costs_one_item_and_is_told(tmp_path: Path) -> None:
    pods = trees.to_yaml(trees.listed("Pod", [trees.pod(f"kettle-{n}") for n in range(4)]))
    at = pods.index("name: kettle-2")
    files = trees.inspected() | {"namespaces/teahouse/core/pods.yaml": pods[:at] + "name: @@cut@@\n    x: [" + pods[at:]}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    row = trees.file(parts, "teahouse/core/pods.yaml")
    assert row["status"] == "partial"
    assert row["line"]
    assert row["error"]
    own = [one["name"] for one in trees.table(parts, "part_objects") if one["file_id"] == row["file_id"]]
    assert {"kettle-0", "kettle-1", "kettle-3"} <= set(own)
    (found,) = [one for one in trees.table(parts, "part_lists") if one["file_id"] == row["file_id"]]
    assert found["complete"] is False
    assert ("Pod", "cellar", 1, True) in trees.lists(parts)


def test_a_list_cut_at_any_byte_is_never_complete(tmp_path: Path) -> None:
    pods = trees.to_yaml(trees.listed("Pod", [trees.pod(f"kettle-{n}") for n in range(3)]))
    cuts = list(range(40, len(pods) - 8, 37))
    files = trees.inspected()
    for number, cut in enumerate(cuts):
        files[f"namespaces/cut-{number}/core/pods.yaml"] = pods[:cut]
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    wrong = [one for one in trees.table(parts, "part_lists") if one["namespace"].startswith("cut-") and one["complete"]]
    assert wrong == []
    hidden = [one["path"] for one in parts.files if "/cut-" in one["path"] and one["status"] not in ("partial", "unread")]
    assert hidden == []


def test_a_folder_of_single_files_is_whole_only_where_each_was_read(tmp_path: Path) -> None:
    files = trees.inspected() | {"cluster-scoped-resources/core/nodes/shelf-3.yaml": "metadata: {name: [\n"}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert ("Node", "*", 2, False) in trees.lists(parts)
    assert ("Namespace", "*", 2, True) in trees.lists(parts)


def test_an_error_page_in_place_of_a_list_is_unread(tmp_path: Path) -> None:
    files = trees.inspected() | {"namespaces/teahouse/apps/deployments.yaml": "Unable to connect to the server: EOF\n"}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert trees.file(parts, "deployments.yaml")["status"] == "unread"
    assert not [one for one in trees.lists(parts) if one[0] == "Deployment"]


def test_a_custom_resource_without_its_definition_is_read(tmp_path: Path) -> None:
    teapot = {"apiVersion": "tea.example/v1", "kind": "Teapot", "metadata": trees.meta("brown", "teahouse")}
    files = trees.inspected() | {
        "namespaces/teahouse/tea.example/teapots/brown.yaml": trees.to_yaml(teapot),
        "namespaces/teahouse/tea.example/cups/cr": trees.to_yaml(teapot | {"kind": "Cup"}),
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert trees.names(parts, "Teapot") == ["brown"]
    assert trees.names(parts, "Cup") == ["brown"]
    assert not [one for one in trees.lists(parts) if one[0] in ("Teapot", "Cup")]


def test_two_archives_with_one_root_folder_never_mix(tmp_path: Path) -> None:
    first = trees.tar(tmp_path / "monday.tar.gz", trees.must_gather())
    second_files = trees.must_gather()
    home = f"must-gather.local.7/{trees.IMAGE}"
    second_files[f"{home}/cluster-scoped-resources/core/nodes/shelf-9.yaml"] = trees.to_yaml(trees.node("shelf-9"))
    second = trees.tar(tmp_path / "friday.tar.gz", second_files)
    both = trees.read(tmp_path, first, second)
    assert [row["path"] for row in both.inputs] == [str(first), str(second)]
    owner = {row["file_id"]: row["input"] for row in both.files}
    nodes = sorted((owner[row["file_id"]], row["name"]) for row in trees.table(both, "part_objects") if row["kind"] == "Node")
    assert nodes == [(0, "shelf-1"), (0, "shelf-2"), (1, "shelf-1"), (1, "shelf-2"), (1, "shelf-9")]
    alone = trees.read(tmp_path, first)
    assert trees.names(alone, "Node") == ["shelf-1", "shelf-2"]


def test_a_truncated_archive_gives_what_is_there(tmp_path: Path) -> None:
    noise = "".join(f"{random.Random(n).getrandbits(256):064x}\n" for n in range(4000))
    whole = trees.tar(tmp_path / "whole.tar.gz", trees.must_gather() | {"must-gather.local.7/zz.log": noise})
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.6)])
    parts = trees.read(tmp_path, cut)
    assert parts.inputs[0]["complete"] is False
    assert parts.inputs[0]["error"]
    assert trees.names(parts, "Node") == ["shelf-1", "shelf-2"]
    assert trees.file(parts, "zz.log")["status"] in ("partial", "unread")
    outside = trees.tar(
        tmp_path / "outside.tar.gz", {f"b/{path}": text for path, text in trees.must_gather().items()} | {"zz.log": noise}
    )
    cut.write_bytes(outside.read_bytes()[: int(outside.stat().st_size * 0.6)])
    row = trees.file(trees.read(tmp_path, cut), "zz.log")
    assert (row["role"], row["status"]) == ("skipped", "unread")


def test_plain_manifests_with_a_readme(tmp_path: Path, put: Put) -> None:
    files: trees.Files = {
        "README.md": "# Tea\n\nHow to deploy.\n",
        "tea/pod.yaml": trees.to_yaml(trees.pod("kettle-0")) + trees.to_yaml(trees.pod("kettle-1")),
        "tea/values.json": '{"replicas": 2}',
        "LICENSE": "Apache License\n",
        "logo.png": b"\x89PNG\r\n\x1a\n",
        "job.sh": "kubectl apply -f tea\n",
        "dmesg-shelf-1.txt": "[    1.000000] Linux version 6.8\n[    2.000000] tea: boiling\n",
        "messages-20261101": "Nov  1 11:00:00 shelf-1 kernel: tea: boiling\n",
        "syslog.1": "just words\n",
    }
    parts = trees.read(tmp_path, put(files))
    assert parts.inputs[0]["format"] == "plain"
    assert trees.names(parts, "Pod") == ["kettle-0", "kettle-1"]
    assert {row["path"] for row in parts.files if row["role"] == "log"} == {"dmesg-shelf-1.txt", "messages-20261101"}
    assert trees.table(parts, "part_lists") == []
    assert {row["status"] for row in parts.files} == {"read", "skipped"}


def test_lists_printed_by_kubectl(tmp_path: Path) -> None:
    served = [trees.pod("kettle-0"), trees.pod("crate-0", "cellar")]
    by_hand = json.loads(json.dumps(served[:1]))
    del by_hand[0]["metadata"]["uid"]
    wrap = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}}
    files: trees.Files = {
        "all.json": json.dumps(wrap | {"items": served}),
        "one.json": json.dumps(wrap | {"items": [trees.node("shelf-1")]}),
        "hand.yaml": trees.to_yaml(wrap | {"items": by_hand}),
        "none.json": json.dumps(wrap | {"items": []}),
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    of = trees.paths(parts)
    rows = {of[row["file_id"]]: (row["kind"], row["namespace"], row["complete"]) for row in trees.table(parts, "part_lists")}
    assert rows == {"all.json": ("Pod", "*", True), "one.json": ("Node", "*", True), "hand.yaml": ("Pod", "teahouse", False)}


def test_empty_lists_that_name_their_kind_say_that_there_are_none(tmp_path: Path) -> None:
    wrap = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": []}
    hooks = "mutatingwebhookconfigurations"
    files: trees.Files = {
        f"{hooks}.yaml": trees.to_yaml(wrap),
        "pods.yaml": trees.to_yaml(wrap),
        "some.json": '{"apiVersion": "v1", "kind": "NodeList", "items": null}',
        "more.json": '{"apiVersion": "v1", "kind": "EventList", "items": []}',
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files | {"space.yaml": trees.to_yaml(trees.namespace("teahouse"))}))
    rows = {(row["kind"], row["namespace"], row["objects"], row["complete"]) for row in trees.table(parts, "part_lists")}
    assert rows == {("MutatingWebhookConfiguration", "*", 0, True), ("Node", "*", 0, True), ("Event", "*", 0, True)}

    gathered = trees.must_gather("") | {f"{trees.IMAGE}/web_hooks/{hooks}.yaml": trees.to_yaml(wrap)}
    parts = trees.read(tmp_path, trees.write(tmp_path / "g", gathered))
    kinds = {(row["kind"], row["namespace"]) for row in trees.table(parts, "part_lists") if not row["objects"]}
    assert ("MutatingWebhookConfiguration", "*") in kinds


@pytest.mark.parametrize("name", ["app.log", "messages", "notes.txt", "app.log.gz"])
def test_a_single_log(tmp_path: Path, name: str) -> None:
    text = b"2026-08-18T13:06:00Z boiling\nand more\n"
    path = trees.write(tmp_path, {name: gzip.compress(text) if name.endswith(".gz") else text}) / name
    parts = trees.read(tmp_path, path)
    assert parts.inputs[0]["format"] == "log"
    (row,) = trees.table(parts, "part_logs")
    assert (row["lines"], row["bytes"], row["first_at"], row["source"]) == (2, len(text), "2026-08-18T13:06:00Z", "other")


def test_unrelated_files_are_no_bundle(tmp_path: Path, put: Put) -> None:
    files: trees.Files = {
        "letter.txt": "Dear reader,\n\nkind regards\n",
        "notes.log": "buy milk\ncall home\n",
        "photo.jpg": b"\xff\xd8\xff\xe0" + bytes(100),
        "table.json": '[{"a": 1}, {"b": 2}]',
        "config.yaml": "colour: blue\nsize: 3\n",
    }
    with pytest.raises(UnreadableError) as told:
        trees.read(tmp_path, put(files))
    assert "not one Kubernetes object" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n", b"\x7fELF" + bytes(5000), b"<html><body>Login</body></html>", b"\n\n"],
)
def test_a_file_that_is_no_text_is_no_bundle(tmp_path: Path, data: bytes) -> None:
    path = trees.write(tmp_path, {"upload": data}) / "upload"
    with pytest.raises(UnreadableError):
        trees.read(tmp_path, path)


def test_a_gathering_that_failed_is_told_in_its_own_words(tmp_path: Path, put: Put) -> None:
    why = "[must-gather      ] OUT 2026-08-18T13:06:00Z gather did not start for pod mg-x: unable to pull image: ImagePullBackOff"
    files: trees.Files = {"must-gather.local.7/must-gather.logs": f"{why}\n", "must-gather.local.7/timestamp": trees.END}
    with pytest.raises(UnreadableError, match="unable to pull image"):
        trees.read(tmp_path, put(files))


def test_of_two_inputs_one_that_gives_nothing_is_marked(tmp_path: Path) -> None:
    good = trees.write(tmp_path / "good", trees.must_gather())
    bad = trees.write(tmp_path / "bad", {"letter.txt": "Dear reader"})
    empty = tmp_path / "empty.tar.gz"
    empty.write_bytes(b"")
    parts = trees.read(tmp_path, bad, good, empty)
    assert [bool(row["error"]) for row in parts.inputs] == [True, False, True]
    with pytest.raises(UnreadableError):
        trees.read(tmp_path, bad, empty)


def test_a_nested_archive_that_is_no_bundle_is_one_row(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as inner:
        for name in ("config/node/a.json", "config/node/b.json"):
            info = tarfile.TarInfo(name)
            info.size = 2
            inner.addfile(info, io.BytesIO(b"{}"))
    files = trees.must_gather() | {f"must-gather.local.7/{trees.IMAGE}/insights-data/insights.tar.gz": buffer.getvalue()}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    (row,) = [one for one in parts.files if "insights" in one["path"]]
    assert (row["status"], row["error"]) == ("skipped", "nested archive, not opened as a bundle")


def test_a_bundle_in_an_archive_in_a_folder(tmp_path: Path) -> None:
    inner = trees.tar(tmp_path / "inner.tar.gz", trees.must_gather()).read_bytes()
    parts = trees.read(tmp_path, trees.write(tmp_path / "case", {"attachments/mg.tar.gz": inner, "mail.txt": "please help"}))
    assert parts.inputs[0]["format"] == "must-gather"
    assert trees.names(parts, "Node") == ["shelf-1", "shelf-2"]
    assert trees.file(parts, "/shelf-1.yaml")["path"].startswith("attachments/mg.tar.gz!/must-gather.local.7/")


def test_hostile_strings_reach_the_part_files_whole(tmp_path: Path) -> None:
    data = f'{{"nul": "a\\u0000b", "big": {10**40}, "half": "\\ud800"}}'
    text = f'{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "a", "uid": "u"}}, "data": {data}}}'
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", {"a.json": text}))
    (path,) = parts.parts["part_objects"]
    assert b"\\u0000" not in path.read_bytes()
    assert trees.names(parts, "ConfigMap") == ["a"]


def test_progress_ends_at_all_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    work = tmp_path / "work"
    work.mkdir()
    read_bundle([trees.write(tmp_path / "b", trees.must_gather())], work, 2, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0


def test_one_input_given_twice_is_read_twice(tmp_path: Path) -> None:
    path = trees.write(tmp_path / "b", trees.inspected())
    parts = trees.read(tmp_path, path, path)
    assert trees.names(parts, "Node") == ["shelf-1", "shelf-1", "shelf-2", "shelf-2"]
    assert not [row for row in parts.files if row["status"] == "unread"]


def test_a_single_log_of_json_lines(tmp_path: Path) -> None:
    text = '{"level":"info","ts":"2026-08-18T13:06:00Z","msg":"boiling"}\n' * 3
    parts = trees.read(tmp_path, trees.write(tmp_path, {"app.json": text}) / "app.json")
    assert parts.inputs[0]["format"] == "log"
    assert trees.table(parts, "part_logs")[0]["lines"] == 3


def test_a_folder_with_a_real_log_in_it_has_that_log(tmp_path: Path) -> None:
    text = "[ 1843.300000] kernel: oops\n[ 1844.000000] kernel: again\n"
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", {"node/dmesg.log": text, "node/notes.txt": "look at this"}))
    assert parts.inputs[0]["format"] == "log"
    assert trees.file(parts, "notes.txt")["status"] == "skipped"


def test_documents_that_hold_null_are_none(tmp_path: Path) -> None:
    inner = f"must-gather.local.7/{trees.IMAGE}/"
    nulls: trees.Files = {f"{inner}{name}": "null\n" for name in ("etcd_info/endpoint_health.json", "monitoring/alerts.json")}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", trees.must_gather() | nulls))
    assert trees.columns(trees.table(parts, "part_documents"), "role") == {("version",)}


def test_a_folder_of_single_objects_in_an_archive_that_is_cut_is_not_whole(tmp_path: Path) -> None:
    noise = random.Random(4).randbytes(60_000)
    tree = f"must-gather.local.7/{trees.IMAGE}/cluster-scoped-resources/core/nodes"
    files: trees.Files = {
        f"must-gather.local.7/{trees.IMAGE}/version": "openshift/must-gather\n4.20.4\n",
        f"{tree}/shelf-1.yaml": trees.to_yaml(trees.node("shelf-1")),
        f"must-gather.local.7/{trees.IMAGE}/noise.bin": noise,
        f"{tree}/shelf-2.yaml": trees.to_yaml(trees.node("shelf-2")),
    }
    path = trees.tar(tmp_path / "a.tar.gz", files)
    assert trees.lists(trees.read(tmp_path, path)) == {("Node", "*", 2, True)}
    path.write_bytes(path.read_bytes()[:30_000])
    assert trees.lists(trees.read(tmp_path, path)) == {("Node", "*", 1, False)}
