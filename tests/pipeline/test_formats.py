"""What an input is, and what each of its files is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analyzer.bundle.formats import Layout, recognise
from analyzer.bundle.types import Entry

from . import pipeline_trees as trees


def layout(files: trees.Files) -> Layout:
    return recognise(Entry(path, len(text)) for path, text in files.items())


def known(found: Layout, ending: str) -> tuple[str, str, str]:
    (one,) = [one for one in found.known if one.entry.path.endswith(ending)]
    return one.assignment.role, one.assignment.reader, one.assignment.name or one.assignment.reason


@pytest.mark.parametrize("wrapper", ["", "case-123/", "a/b/c/"])
@pytest.mark.parametrize(
    ("files", "name"),
    [
        (trees.must_gather, "must-gather"),
        (trees.inspected, "inspect"),
        (trees.cluster_info, "cluster-info"),
        (trees.support_bundle, "support-bundle"),
    ],
)
def test_each_format_is_known_below_any_wrapper(files: Callable[[], trees.Files], name: str, wrapper: str) -> None:
    wrapped = {wrapper + path: text for path, text in files().items()}
    assert layout(wrapped).format == name


def test_one_image_folder_alone_is_a_must_gather() -> None:
    inner = {path.removeprefix("must-gather.local.7/"): text for path, text in trees.must_gather().items()}
    inner = {path: text for path, text in inner.items() if path.startswith(trees.IMAGE)}
    assert layout(inner).format == "must-gather"


def test_an_inspect_has_its_timestamp_beside_the_trees() -> None:
    files = {"inspect.local.5/timestamp": trees.END, **trees.inspected("inspect.local.5/")}
    found = layout(files)
    assert found.format == "inspect"
    assert known(found, "timestamp") == ("meta", "stamp", "client")


def test_two_must_gathers_and_an_inspect_in_one_input_have_a_root_each() -> None:
    files = trees.must_gather("must-gather.local.1/") | trees.must_gather("must-gather.local.2/", "registry-b-sha256-0ffe")
    files |= trees.inspected("must-gather.local.2/inspect.local.9/")
    found = layout(files)
    assert found.format == "must-gather"
    assert {root.prefix for root in found.roots} == {
        "must-gather.local.1/",
        f"must-gather.local.1/{trees.IMAGE}/",
        "must-gather.local.2/",
        "must-gather.local.2/registry-b-sha256-0ffe/",
        "must-gather.local.2/inspect.local.9/",
    }


def test_a_namespace_called_namespaces_is_no_root() -> None:
    files = trees.inspected() | {"namespaces/namespaces/core/pods.yaml": "", "namespaces/namespaces/namespaces.yaml": ""}
    assert [root.prefix for root in layout(files).roots] == [""]


def test_a_repository_of_manifests_with_a_namespaces_folder_is_no_inspect() -> None:
    files: trees.Files = {
        "namespaces/teahouse/deployment.yaml": "kind: Deployment",
        "namespaces/cellar.yaml": "",
        "README.md": "x",
    }
    assert layout(files).format == "plain"


def test_files_of_a_must_gather_are_what_they_are() -> None:
    found = layout(trees.must_gather())
    inner = f"{trees.IMAGE}/"
    assert known(found, f"{inner}etcd_info/endpoint_health.json") == ("document", "document", "etcd-endpoint-health")
    assert known(found, f"{inner}monitoring/alerts.json") == ("document", "document", "alerts")
    assert known(found, f"{inner}monitoring/prometheus/status/config.json")[0] == "skipped"
    assert known(found, f"{inner}version") == ("document", "version", "version")
    assert known(found, f"{inner}gather.logs")[:2] == ("errors", "errors")
    assert known(found, f"{inner}timestamp") == ("meta", "stamp", "pod")
    assert known(found, "local.7/timestamp") == ("meta", "stamp", "client")
    assert known(found, "event-filter.html")[0] == "skipped"
    assert known(found, "kubelet_service.log")[:2] == ("log", "log")
    host = layout(
        trees.must_gather()
        | {f"must-gather.local.7/{inner}nodes/n-1/dmesg": "x", f"must-gather.local.7/{inner}nodes/n-1/lscpu": "x"}
    )
    assert known(host, "nodes/n-1/dmesg")[:2] == ("log", "guess")
    assert known(host, "nodes/n-1/lscpu")[0] == "skipped"


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("pods/kettle-0/brew/brew/logs/current.log", ("teahouse", "kettle-0", "brew", "current")),
        ("pods/kettle-0/brew/brew/logs/previous.insecure.log", ("teahouse", "kettle-0", "brew", "previous")),
        ("pods/kettle-0/brew/brew/logs/rotated/0.log.20260818-101500.gz", ("teahouse", "kettle-0", "brew", "rotated")),
        ("pods/kettle-0/brew/brew/logs/rotated/0.log", ("teahouse", "kettle-0", "brew", "rotated")),
        ("pods/kettle-0/brew/logs/current.log", ("teahouse", "kettle-0", "brew", "current")),
        ("pods/kettle-0/brew/previous.log", ("teahouse", "kettle-0", "brew", "previous")),
    ],
)
def test_the_path_of_a_log_says_whose_it_is(path: str, want: object) -> None:
    found = layout(trees.inspected() | {f"namespaces/teahouse/{path}": "x"})
    (one,) = [one for one in found.known if one.entry.path.endswith(path)]
    place = one.assignment.place
    assert (place.namespace, place.pod, place.container, place.source) == want


def test_of_two_twins_the_fuller_log_is_read() -> None:
    base = "namespaces/teahouse/pods/p/c/c/logs/"
    found = layout(trees.inspected() | {f"{base}current.log": "", f"{base}current.insecure.log": "text"})
    assert known(found, "p/c/c/logs/current.log")[0] == "skipped"
    assert known(found, "p/c/c/logs/current.insecure.log")[0] == "log"
    same = layout(trees.inspected() | {f"{base}current.log": "text", f"{base}current.insecure.log": "text"})
    assert known(same, "p/c/c/logs/current.log")[0] == "log"
    assert known(same, "p/c/c/logs/current.insecure.log")[0] == "skipped"


def test_a_nested_archive_is_a_root_where_it_is_a_bundle_and_skipped_where_not() -> None:
    inner = {f"case/dump.tar.gz!/{path}": text for path, text in trees.cluster_info("x/").items()}
    other: trees.Files = {"case/insights.tar.gz!/config/node/a.json": "{}", "case/insights.tar.gz!/config/node/b.json": "{}"}
    found = layout({"case/dump.tar.gz": "", "case/insights.tar.gz": ""} | inner | other)
    assert found.format == "cluster-info"
    assert known(found, "insights.tar.gz") == ("skipped", "", "nested archive, not opened as a bundle")
    assert known(found, "config/node/a.json")[0] == "skipped"
    assert known(found, "x/nodes.json")[0] == "objects"
    assert known(found, "dump.tar.gz") == ("skipped", "", "opened as an archive")


def test_what_lies_outside_of_a_real_bundle_is_not_read() -> None:
    found = layout({f"b/{path}": text for path, text in trees.must_gather().items()} | {"b/notes.yaml": "a: 1", "b/zz.log": "x"})
    assert known(found, "b/notes.yaml") == ("skipped", "", "outside of the bundle")
    assert known(found, "b/zz.log")[0] == "skipped"


def test_an_earlier_snapshot_in_a_support_bundle_is_left_alone() -> None:
    found = layout(trees.support_bundle("sb/") | trees.support_bundle("sb/kots/preflight/"))
    assert known(found, "sb/kots/preflight/cluster-resources/nodes.json")[0] == "skipped"
    assert [one.assignment.role for one in found.known if one.entry.path == "sb/cluster-resources/nodes.json"] == ["objects"]


def test_old_lists_of_a_support_bundle_get_their_kind_from_the_path() -> None:
    found = layout(
        trees.support_bundle("")
        | {"cluster-resources/pvcs/teahouse.json": "null", "cluster-resources/clusterRoleBindings.json": "[]"}
    )
    hints = {one.entry.path: one.assignment.hint for one in found.known}
    assert hints["cluster-resources/pvcs/teahouse.json"].kind == "PersistentVolumeClaim"
    assert hints["cluster-resources/clusterRoleBindings.json"].kind == "ClusterRoleBinding"
    assert hints["cluster-resources/clusterRoleBindings.json"].group == "rbac.authorization.k8s.io"


def test_an_entry_with_a_problem_is_unsafe() -> None:
    found = recognise([Entry("nodes.yaml", 3), Entry("../../etc/passwd", 3, "leads out of the bundle")])
    assert found.known[1].assignment.role == "unsafe"


def test_litter_of_desktops_is_no_file_of_a_bundle() -> None:
    found = layout({"._pods.yaml": b"\x00\x05", "pods.yaml": "kind: Pod", "__MACOSX/x.yaml": "", ".DS_Store": b"\0"})
    assert [one.assignment.role for one in found.known] == ["skipped", "objects", "skipped", "skipped"]
