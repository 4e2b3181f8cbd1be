"""Our own bundles read: exact coverage, what was refused or broke off, files that were changed, hostile manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.bundle.formats import recognise
from analyzer.bundle.manifest import manifest
from analyzer.bundle.types import Entry

from .bundle_writer import END, MANIFEST, TOP, Analyzed, Written, bare, loaded, pod, request

SPACES = [bare("Namespace", "kube-system"), bare("Namespace", "soup"), bare("Namespace", "bare")]
REFUSED = 'nodes is forbidden: User "scout" cannot list resource "nodes" in API group "" at the cluster scope'


def analyzed(folder: Path, written: Written) -> Analyzed:
    return Analyzed(folder, written.tar(folder / "case.tar.gz"))


def test_a_bundle_is_read_with_exact_coverage(tmp_path: Path) -> None:
    crd: dict[str, Any] = {"spec": {"group": "ray.io", "names": {"kind": "RayCluster", "plural": "rayclusters"}}}
    found = analyzed(
        tmp_path,
        Written(
            objects=[
                *SPACES,
                pod("ladle", "soup"),
                pod("spoon", "kube-system"),
                bare("CustomResourceDefinition", "rayclusters.ray.io", api="apiextensions.k8s.io/v1", **crd),
            ],
            requests=[
                request("Namespace", objects=3),
                request("CustomResourceDefinition", group="apiextensions.k8s.io", objects=1),
                request("Node"),
                request("Pod", objects=2),
                request("Event", "truncated", message="the continue token is too old"),
                request("Secret", "forbidden", status=403, message="secrets is forbidden"),
                request("Deployment", "timed-out", group="apps"),
                request("StatefulSet", "not-served", group="apps", message="the server could not find the requested resource"),
            ],
            logs={"namespaces/soup/pods/ladle/stir/stir/logs/current.log": "2026-08-18T13:01:00Z a line\n"},
        ),
    )
    bundle = found.report["bundle"]
    assert [entry["format"] for entry in bundle["inputs"]] == ["triage"]
    assert (bundle["collectedAt"], bundle["collectedAtSource"]) == (
        END,
        f"line 12 of {TOP}{MANIFEST} (clock of the server)",
    )
    assert (bundle["cluster"]["uid"], bundle["cluster"]["version"]) == ("uid--kube-system", "Kubernetes v1.33.1")
    assert found.kind("Pod") == ("complete", "cluster")
    assert found.kind("Node") == ("absent", "cluster")
    assert found.kind("Event") == ("partial", [])
    assert found.kind("Secret") == ("forbidden", [])
    assert found.kind("Deployment", "apps") == ("partial", [])
    assert found.kind("StatefulSet", "apps") == ("absent", "cluster")
    assert found.kind("DaemonSet", "apps") == ("not-collected", [])
    assert found.why("DaemonSet") == "the collection did not ask for it"
    assert "continue token" in found.why("Event")
    assert found.report["files"] == []
    assert found.sql("SELECT namespace, pod, container, source FROM logs") == [("soup", "ladle", "stir", "current")]


def test_each_object_has_the_line_it_stands_in(tmp_path: Path) -> None:
    found = analyzed(tmp_path, Written(objects=[pod("a", "soup"), pod("b", "soup")], requests=[request("Pod")]))
    assert found.sql("SELECT name, line FROM objects ORDER BY name") == [("a", 2), ("b", 3)]


def test_a_refusal_is_a_finding_that_tells_what_it_blinds(tmp_path: Path) -> None:
    asked = [request("Namespace"), request("Node", "forbidden", status=403, message=REFUSED)]
    written = Written(objects=SPACES, requests=asked)
    found = analyzed(tmp_path, written)
    one = found.finding("collect/Incomplete")
    assert one["severity"] == "warning"
    assert REFUSED in one["message"]
    assert "Hidden by this: Node (blinds" in one["message"]
    assert "node/NotReady" in one["message"]
    (evidence,) = one["evidence"]
    assert REFUSED.replace('"', '\\"') in written.files()[MANIFEST].decode().splitlines()[evidence["line"] - 1]
    assert {entry["code"] for entry in found.report["notEvaluated"]} >= {"node/NotReady"}


@pytest.mark.parametrize("message", ["no such luck", 'cannot list "nodes" in the namespace "soup"', ""])
def test_a_refusal_in_one_namespace_tells_what_it_blinds(tmp_path: Path, message: str) -> None:
    asked = [request("Namespace"), request("Node"), request("Pod", "forbidden", "soup", status=403, message=message)]
    written = Written(objects=SPACES, requests=asked, manifest={"scope": {"namespaces": ["soup"]}})
    one = analyzed(tmp_path, written).finding("collect/Incomplete")
    assert "Hidden by this: Pod (blinds" in one["message"], one["message"]


def test_secrets_out_of_bounds_are_no_fault_of_the_bundle(tmp_path: Path) -> None:
    asked = [request("Namespace"), request("Pod"), request("Node"), request("Event")]
    refused = request("Secret", "forbidden", status=403, message="secrets is forbidden")
    found = analyzed(tmp_path, Written(objects=SPACES, requests=[*asked, refused]))
    assert found.finding("collect/Incomplete")["severity"] == "info"
    assert found.report["summary"]["health"] == "healthy"
    assert "not whole" not in found.report["summary"]["verdict"]


def test_a_limited_collection_says_nothing_of_the_rest(tmp_path: Path) -> None:
    asked = [request("Pod", namespace="soup"), request("Event", namespace="soup"), request("ConfigMap", namespace="soup")]
    found = analyzed(
        tmp_path, Written(objects=[pod("ladle", "soup")], requests=asked, manifest={"scope": {"namespaces": ["soup"]}})
    )
    assert found.kind("Pod") == ("complete", ["soup"])
    assert found.kind("ConfigMap") == ("absent", ["soup"])
    assert "others were not looked at" in found.why("ConfigMap")
    assert found.kind("Node") == ("not-collected", [])
    assert found.why("Node") == "the collection was limited to namespace soup"
    assert found.report["summary"]["health"] == "cannot-tell"
    assert found.report["bundle"]["cluster"]["uid"] == "uid--kube-system"


def test_of_two_namespaces_one_is_refused(tmp_path: Path) -> None:
    asked = [request("Pod", namespace="soup"), request("Pod", "forbidden", "stew", status=403, message="pods is forbidden")]
    found = analyzed(
        tmp_path, Written(objects=[pod("ladle", "soup")], requests=asked, manifest={"scope": {"namespaces": ["soup", "stew"]}})
    )
    assert found.kind("Pod") == ("partial", ["soup"])
    assert "pods is forbidden (namespace stew)" in found.why("Pod")


def test_a_file_that_was_changed_proves_nothing(tmp_path: Path) -> None:
    place = "namespaces/soup/core/pods.yaml"
    one = json.dumps(pod("fake", "soup"))
    written = Written(
        objects=[*SPACES, pod("ladle", "soup")],
        requests=[request("Namespace"), request("Pod")],
        alter={place: f'{{"apiVersion":"v1","kind":"PodList","items":[\n{one}\n]}}\n'.encode()},
    )
    found = analyzed(tmp_path, written)
    (file,) = found.report["files"]
    assert (file["path"], file["status"]) == (TOP + place, "partial")
    assert "altered after the collection: the manifest says" in file["error"]
    assert found.kind("Pod")[0] == "partial"
    assert found.kind("Namespace") == ("complete", "cluster")
    finding = found.finding("collect/Incomplete")
    assert "1 file changed or lost after the collection" in finding["title"]
    assert any("who changed the bundle" in step for step in finding["next"])


def test_a_change_of_one_byte_is_seen(tmp_path: Path) -> None:
    written = Written(objects=[pod("ladle", "soup")], requests=[request("Pod")])
    text = written.files()["namespaces/soup/core/pods.yaml"]
    written.alter = {"namespaces/soup/core/pods.yaml": text.replace(b"ladle", b"laddy")}
    (file,) = analyzed(tmp_path, written).report["files"]
    assert file["error"] == "altered after the collection: its digest is not the one in the manifest"


def test_a_lost_file_is_told(tmp_path: Path) -> None:
    written = Written(
        objects=[*SPACES, pod("ladle", "soup"), pod("spoon", "kube-system")],
        requests=[request("Namespace"), request("Pod")],
        drop=["namespaces/soup/core/pods.yaml"],
    )
    found = analyzed(tmp_path, written)
    (file,) = found.report["files"]
    assert (file["status"], file["error"]) == ("unread", "missing: the manifest names it")
    assert found.kind("Pod")[0] == "partial"
    assert "changed or lost" in found.finding("collect/Incomplete")["title"]


def test_without_its_manifest_a_bundle_is_cut(tmp_path: Path) -> None:
    written = Written(objects=[*SPACES, pod("ladle", "soup")], requests=[request("Namespace"), request("Pod")], drop=[MANIFEST])
    found = analyzed(tmp_path, written)
    assert [entry["format"] for entry in found.report["bundle"]["inputs"]] == ["triage"]
    assert "it is cut" in found.finding("collect/Incomplete")["title"]
    assert found.kind("Pod")[0] == "partial"
    assert found.kind("Namespace")[0] == "partial"
    assert "no record that this list was read to its end" in found.why("Namespace")
    assert found.kind("Node")[0] == "partial"


def test_a_torn_archive_is_read_up_to_there(tmp_path: Path) -> None:
    whole = Written(objects=[*SPACES, pod("ladle", "soup")], requests=[request("Namespace"), request("Pod")])
    path = whole.tar(tmp_path / "case.tar.gz")
    path.write_bytes(path.read_bytes()[:-600])
    found = Analyzed(tmp_path, path)
    assert [entry["format"] for entry in found.report["bundle"]["inputs"]] == ["triage"]
    assert found.kind("Pod")[0] in ("partial", "not-collected")
    assert "collect/Incomplete" in found.codes()


def test_an_interrupted_collection_says_so(tmp_path: Path) -> None:
    written = Written(objects=SPACES, requests=[request("Namespace")], manifest={"interrupted": "Ctrl-C"})
    found = analyzed(tmp_path, written)
    assert "its collection was interrupted" in found.finding("collect/Incomplete")["title"]
    assert found.why("Pod") == "the collection was interrupted before it asked for it"


def test_shortened_logs_are_told(tmp_path: Path) -> None:
    place = {"namespace": "soup", "pod": "ladle", "container": "stir", "previous": False}
    logs = [
        {**place, "outcome": "truncated", "bytes": 10, "leftOut": 90, "message": "limit of a log"},
        {**place, "previous": True, "outcome": "none", "bytes": 0, "leftOut": None, "message": ""},
    ]
    asked = [request("Namespace"), request("Pod"), request("Node"), request("Event")]
    written = Written(objects=[*SPACES, pod("ladle", "soup")], requests=asked, manifest={"logs": logs})
    found = analyzed(tmp_path, written)
    one = found.finding("collect/Incomplete")
    assert (one["severity"], "1 log shortened" in one["title"]) == ("info", True)
    assert found.sql("SELECT outcome, left_out FROM log_requests ORDER BY outcome") == [("none", None), ("truncated", 90)]


def test_an_object_that_the_newer_bundle_lacks_is_gone_though_its_namespace_has_no_file(tmp_path: Path) -> None:
    asked = [request("Namespace"), request("Pod")]
    older = Written(objects=[*SPACES, pod("ladle", "soup")], requests=asked, manifest={"serverEnded": "2026-08-18T12:00:00Z"})
    newer = Written(objects=SPACES, requests=asked)
    found = Analyzed(tmp_path, older.tar(tmp_path / "old.tar.gz"), newer.tar(tmp_path / "new.tar.gz"))
    assert found.sql("SELECT name FROM gone_objects") == [("ladle",)]
    assert found.kind("Pod") == ("absent", "cluster")


@pytest.mark.parametrize("top", ["", TOP, "case-7/" + TOP, "must-gather.local.5/quay-io-acme-sha256-0a1b2c/"])
def test_the_manifest_marks_the_bundle_wherever_it_lies(top: str) -> None:
    paths = [*Written(objects=SPACES, requests=[request("Namespace")]).files(), "namespaces/soup/core/pods.yaml"]
    layout = recognise([Entry(top + path, 9) for path in paths])
    assert layout.format == "triage"
    (pods,) = [one for one in layout.known if one.entry.path.endswith("core/pods.yaml")]
    assert (pods.assignment.hint.kind, pods.assignment.scope) == ("Pod", "soup")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"format": 7}',
        b'{"format": "triage.bundle/v1", "requests": {"a": 1}, "files": "x", "logs": [1, null, []], "scope": []}',
        b'{"format": "triage.bundle/v1", "requests": [{"kind": "Pod", "resource": "pods", "outcome": "ok", "namespaced": 1}]}',
        b'{"format": "triage.bundle/v1", "scope": {"namespaces": {"all": true}}, "serverEnded": "never"}',
        b'{"format": "triage.bundle/v1", "files": [{"path": "../../etc/passwd", "bytes": 1, "sha256": "' + b"0" * 64 + b'"}]}',
    ],
)
def test_a_bad_manifest_costs_itself_alone(tmp_path: Path, text: bytes) -> None:
    written = Written(objects=[pod("ladle", "soup")], requests=[request("Pod")], alter={MANIFEST: text})
    written.manifest = {"format": ""}
    with loaded(tmp_path, written) as con:
        assert con.execute("SELECT name FROM objects").fetchall() == [("ladle",)]
        assert con.execute("SELECT status FROM coverage WHERE kind = 'Pod'").fetchall() == [("partial",)]
        assert con.execute("SELECT count(*) FROM files WHERE contains(path, 'passwd')").fetchall() == [(0,)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["*", "ok", "Pod"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = (
    "requests",
    "logs",
    "files",
    "scope",
    "interrupted",
    "cluster",
    "tool",
    "options",
    "leftOut",
    "redacted",
    "started",
    "ended",
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
@settings(max_examples=150, deadline=None)
def test_any_json_is_a_manifest_or_none(value: dict[str, Any]) -> None:
    found = manifest({"format": "triage.bundle/v1"} | value)
    assert found is not None
    assert found.namespaces is None or all(isinstance(name, str) for name in found.namespaces)
    assert manifest(value) is None


def test_words_of_a_server_are_masked(tmp_path: Path) -> None:
    said = "Get https://admin:hunter2pass@api.example:6443/api: refused"
    written = Written(objects=SPACES, requests=[request("Namespace"), request("Pod", "failed", message=said)])
    found = analyzed(tmp_path, written)
    assert "hunter2pass" not in json.dumps(found.report)
    assert found.sql("SELECT count(*) FROM documents WHERE json::VARCHAR LIKE '%hunter2pass%'") == [(0,)]
    assert found.sql("SELECT count(*) FROM requests WHERE message LIKE '%hunter2pass%'") == [(0,)]
