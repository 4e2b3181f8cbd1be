from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .conftest import Collect, triage
from .mock import Cluster, forever, obj, small, status


def test_layout_and_manifest(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster)
    assert set(bundle.files) == {
        "version",
        "timestamp",
        "triage-manifest.json",
        "cluster-scoped-resources/core/namespaces.yaml",
        "cluster-scoped-resources/core/nodes.yaml",
        "namespaces/team-a/apps/deployments.yaml",
        "namespaces/team-a/core/pods.yaml",
        "namespaces/team-b/core/pods.yaml",
        "namespaces/team-b/pods/bad-1/app/app/logs/current.log",
        "namespaces/team-b/pods/bad-1/app/app/logs/previous.log",
    }
    assert bundle.order == [*sorted(name for name in bundle.order[:-1]), "triage-manifest.json"]
    manifest = bundle.manifest
    assert manifest["format"] == "triage.bundle/v1"
    assert manifest["cluster"]["uid"] == "cluster-uid-1"
    assert manifest["cluster"]["version"].startswith("v1.")
    assert manifest["scope"] == {"namespaces": None}
    assert manifest["interrupted"] is False
    assert manifest["serverStarted"] <= manifest["serverEnded"]
    assert manifest["counts"] == {"objects": 9, "files": 9, "logs": 2, "logBytes": sum(log["bytes"] for log in manifest["logs"])}
    assert {entry["path"]: (entry["bytes"], entry["sha256"]) for entry in manifest["files"]} == {
        name: (len(data), hashlib.sha256(data).hexdigest())
        for name, data in bundle.files.items()
        if name != "triage-manifest.json"
    }
    assert bundle.files["version"].startswith(b"bundle-triage\n")


def test_lists_are_one_object_a_line_with_kinds(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster)
    text = bundle.files["namespaces/team-a/core/pods.yaml"]
    assert text.startswith(b'{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"77"},"items":[\n')
    pods = bundle.items("namespaces/team-a/core/pods.yaml")
    assert [pod["metadata"]["name"] for pod in pods] == ["web-1", "web-2"]
    assert all((pod["apiVersion"], pod["kind"]) == ("v1", "Pod") for pod in pods)
    assert bundle.items("namespaces/team-a/apps/deployments.yaml")[0]["apiVersion"] == "apps/v1"


def test_empty_lists(collect: Collect) -> None:
    cluster = small().serve("customresourcedefinitions.apiextensions.k8s.io")
    with cluster.running():
        bundle = collect(cluster)
    name = "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions.yaml"
    assert bundle.items(name) == []
    assert bundle.request("events") | {"outcome": "ok", "objects": 0, "namespace": "*"} == bundle.request("events")
    assert not [path for path in bundle.files if "events" in path]


def test_the_same_cluster_gives_the_same_bytes_but_for_times(collect: Collect) -> None:
    cluster = small()
    cluster.serve(
        "configmaps", obj("settings", "team-a", data={"token": "abc"}), obj("inferenceservice-config", "kserve", data={"a": "b"})
    )
    with cluster.running():
        first, second = collect(cluster), collect(cluster, threads=1)
    assert first.order == second.order
    times = {"started", "ended", "serverStarted", "serverEnded", "files"}
    assert {name: data for name, data in first.files.items() if name not in {"timestamp", "triage-manifest.json"}} == {
        name: data for name, data in second.files.items() if name not in {"timestamp", "triage-manifest.json"}
    }
    assert {key: first.manifest[key] for key in first.manifest.keys() - times} == {
        key: second.manifest[key] for key in second.manifest.keys() - times
    }
    assert {(info.mtime, info.uid, info.mode) for info in first.infos} == {
        (info.mtime, info.uid, info.mode) for info in second.infos
    }


def test_zstd(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster, compression="zstd")
    assert bundle.path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert "namespaces/team-b/core/pods.yaml" in bundle.files


def test_only_get_is_ever_sent(collect: Collect) -> None:
    cluster = small().serve("secrets", obj("s", "team-a", data={"password": "eA=="}))
    cluster.forbidden.add("nodes")
    with cluster.running():
        collect(cluster)
        collect(cluster, secret_keys=True, namespaces=("team-b",), include=("example.com",))
    assert len(cluster.requests) > 25
    assert {request.method for request in cluster.requests} == {"GET"}


def test_names_that_are_no_file_names(collect: Collect) -> None:
    cluster = small()
    cluster.serve("widgets.nvidia.com", obj("../../x", "../../../etc"), obj("y", ".."))
    with cluster.running():
        bundle = collect(cluster)
    odd = [name for name in bundle.files if "widgets" in name]
    assert len(odd) == 2
    assert not any(part in {"", ".", ".."} for name in odd for part in name.split("/"))


def test_long_names_that_begin_alike_are_two_files(collect: Collect) -> None:
    cluster = small()
    names = ["n" * 300, "n" * 299 + "m", "n" * 400]
    cluster.serve("services", *(obj("web", name) for name in names))
    with cluster.running():
        bundle = collect(cluster)
    lists = [path for path in bundle.files if path.endswith("core/services.yaml")]
    assert len(lists) == 3
    assert max(len(part) for path in lists for part in path.split("/")) <= 255


def test_words_of_discovery_are_masked_with_the_cluster_s_key(collect: Collect) -> None:
    cluster = small()
    cluster.faults["/apis/apps/v1"] = [forever(lambda _: status(403, "no: password=hunter22secret"))]
    with cluster.running():
        first, second = collect(cluster), collect(cluster)
    words = [bundle.request("*", "apps")["message"] for bundle in (first, second)]
    assert "[masked:" in words[0]
    assert words[0] == words[1]


def test_the_analyzer_reads_it(collect: Collect, tmp_path: Path) -> None:
    cluster = small()
    cluster.forbidden.add("secrets")
    cluster.serve("secrets")
    with cluster.running():
        bundle = collect(cluster)
    done = triage("analyze", bundle.path, "-o", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["bundle"]["inputs"][0]["format"] == "triage"
    assert report["bundle"]["cluster"]["uid"] == "cluster-uid-1"
    status = {(kind["group"], kind["kind"]): kind["status"] for kind in report["coverage"]["kinds"]}
    assert status["", "Pod"] == "complete"
    assert status["", "Secret"] == "forbidden"
    assert any(finding["code"] == "pod/CrashLooping" for finding in report["findings"])


def test_unicode_and_large_objects(collect: Collect) -> None:
    cluster = small()
    cluster.serve(
        "widgets.nvidia.com", obj("w", "team-a", spec={"text": "день\u2028" * 1000, "big": "x" * 300_000, "int": 2**53})
    )
    with cluster.running():
        bundle = collect(cluster)
    spec = bundle.items("namespaces/team-a/nvidia.com/widgets.yaml")[0]["spec"]
    assert len(spec["big"]) == 300_000
    assert spec["int"] == 2**53


def test_what_is_not_in_the_plan(collect: Collect) -> None:
    cluster = small()
    cluster.serve("widgets.example.com", obj("w", "team-a"))
    cluster.serve("widgets.oauth.openshift.io", obj("w", "team-a"))
    with cluster.running():
        plain = collect(cluster)
        more = collect(cluster, include=("example.com", "oauth.openshift.io"))
        one = collect(cluster, include=("widgets.example.com",))
    assert not [path for path in plain.files if "widgets" in path]
    assert [path for path in more.files if "widgets" in path] == ["namespaces/team-a/example.com/widgets.yaml"]
    assert [path for path in one.files if "widgets" in path] == ["namespaces/team-a/example.com/widgets.yaml"]
    assert more.left_out("widgets.oauth.openshift.io") == 1
    assert not [path for path in cluster.paths() if path.startswith("/apis/oauth.openshift.io/v1/widgets")]
    assert more.manifest["options"]["include"] == ["example.com", "oauth.openshift.io"]


def test_groups_that_are_not_served_are_told(collect: Collect) -> None:
    with Cluster().serve("nodes", obj("n")).serve("namespaces").running() as cluster:
        bundle = collect(cluster)
    assert bundle.request("*", "kueue.x-k8s.io")["outcome"] == "not-served"
