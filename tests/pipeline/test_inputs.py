"""Several inputs as one case: the newer one counts, what it no longer lists is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from . import pipeline_trees as trees
from .pipeline_runs import Case, run

OLD, NEW = "2026-08-18T13:00:00Z", "2026-08-19T13:00:00Z"


def waiting(name: str, at: str, namespace: str = "teahouse", uid: str = "", version: str = "7") -> dict[str, Any]:
    """A pod whose image cannot be pulled, since `at`."""
    made = trees.pod(name, namespace)
    made["metadata"] |= {"resourceVersion": version, "uid": uid or f"uid-{namespace}-{name}", "creationTimestamp": at}
    reason = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/brew:1": not found'}
    state = [
        {"name": "brew", "image": "registry.example/brew:1", "ready": False, "restartCount": 0, "state": {"waiting": reason}}
    ]
    conditions = [
        {"type": "Initialized", "status": "True", "lastTransitionTime": at},
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": at},
        {"type": "Ready", "status": "False", "lastTransitionTime": at},
    ]
    made["spec"]["nodeName"] = "shelf-1"
    made["status"] = {"phase": "Pending", "conditions": conditions, "containerStatuses": state, "startTime": at}
    return made


def well(name: str, at: str, namespace: str = "teahouse", uid: str = "", version: str = "9") -> dict[str, Any]:
    """The same pod, running."""
    made = waiting(name, at, namespace, uid, version)
    made["status"] |= {"phase": "Running"}
    made["status"]["conditions"][2]["status"] = "True"
    made["status"]["containerStatuses"][0] |= {"ready": True, "state": {"running": {"startedAt": at}}}
    return made


def event(name: str, about: str, at: str, namespace: str = "teahouse") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": trees.meta(name, namespace),
        "type": "Warning",
        "reason": "Failed",
        "message": "no water",
        "involvedObject": {
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": namespace,
            "name": about,
            "uid": f"uid-{namespace}-{about}",
        },
        "lastTimestamp": at,
    }


def gathered(end: str, spaces: dict[str, list[dict[str, Any]]], cluster: str = "uid-kube", **more: str) -> trees.Files:
    """A must-gather of some namespaces; `more` are further files."""
    outer = f"must-gather.local.7/{trees.IMAGE}/"
    stamp = end.replace("T", " ").replace("Z", " +0000 UTC m=+1.0")
    kube = trees.namespace("kube-system")
    kube["metadata"]["uid"] = cluster
    files: trees.Files = {
        f"{outer}version": "openshift/must-gather\n4.20.4\n",
        f"{outer}timestamp": f"{stamp}\n",
        f"{outer}cluster-scoped-resources/core/nodes/shelf-1.yaml": trees.to_yaml(trees.node("shelf-1")),
        f"{outer}namespaces/kube-system/kube-system.yaml": trees.to_yaml(kube),
        f"{outer}namespaces/kube-system/core/pods.yaml": trees.to_yaml(trees.listed("Pod", [])),
        f"{outer}namespaces/kube-system/core/events.yaml": trees.to_yaml(trees.listed("Event", [])),
    }
    for space, pods in spaces.items():
        files[f"{outer}namespaces/{space}/{space}.yaml"] = trees.to_yaml(trees.namespace(space))
        files[f"{outer}namespaces/{space}/core/pods.yaml"] = trees.to_yaml(trees.listed("Pod", pods))
        files[f"{outer}namespaces/{space}/core/events.yaml"] = trees.to_yaml(trees.listed("Event", []))
    return files | {f"{outer}{path}": text for path, text in more.items()}


def inspected(end: str, space: str, pods: list[dict[str, Any]], **more: str) -> trees.Files:
    """An inspect of one namespace."""
    stamp = end.replace("T", " ").replace("Z", " +0000 UTC m=+1.0")
    files: trees.Files = {
        "inspect.local.5/timestamp": f"{stamp}\n",
        f"inspect.local.5/namespaces/{space}/{space}.yaml": trees.to_yaml(trees.namespace(space)),
        f"inspect.local.5/namespaces/{space}/core/pods.yaml": trees.to_yaml(trees.listed("Pod", pods)),
        f"inspect.local.5/namespaces/{space}/core/events.yaml": trees.to_yaml(trees.listed("Event", [])),
    }
    return files | {f"inspect.local.5/{path}": text for path, text in more.items()}


@pytest.mark.parametrize("newest_first", [False, True])
def test_an_older_must_gather_and_a_newer_inspect(tmp_path: Path, newest_first: bool) -> None:
    old = gathered(
        OLD,
        {
            "teahouse": [waiting("kettle-0", "2026-08-18T10:00:00Z"), waiting("kettle-1", "2026-08-18T10:00:00Z")],
            "cellar": [waiting("crate-0", "2026-08-18T11:00:00Z", "cellar")],
        },
    )
    new = inspected(NEW, "teahouse", [well("kettle-0", "2026-08-18T10:00:00Z")])
    case = Case(tmp_path, *((new, old) if newest_first else (old, new)))
    older, newer = (1, 0) if newest_first else (0, 1)
    bundle = case.report["bundle"]
    assert [one["collectedAt"] for one in bundle["inputs"]] == ([NEW, OLD] if newest_first else [OLD, NEW])
    assert bundle["collectedAt"] == NEW
    assert bundle["cluster"]["uid"] == "uid-kube"
    assert case.codes() == {("pod/ImagePullFailed", "crate-0")}
    (finding,) = [one for one in case.report["findings"] if one["code"] == "pod/ImagePullFailed"]
    assert finding["ageSeconds"] == 2 * 3600
    assert {one["input"] for one in finding["evidence"]} == {older}
    assert {one["name"]: one["state"] for one in case.report["states"] if one["kind"] == "Pod"} == {
        "kettle-0": "Running",
        "crate-0": "Image pull failing",
    }
    assert case.sql("SELECT name, gone_by FROM gone_objects") == [("kettle-1", newer)]
    assert case.sql("SELECT name, input FROM objects WHERE kind = 'Pod' ORDER BY name") == [
        ("crate-0", older),
        ("kettle-0", newer),
    ]
    assert case.kind("Pod") | {"group": ""} == {
        "group": "",
        "kind": "Pod",
        "objects": 2,
        "scope": "cluster",
        "status": "complete",
    }
    assert case.kind("Node")["objects"] == 1
    assert case.kind("Namespace")["objects"] == 3


def test_the_newer_input_wins_whatever_the_resource_version(tmp_path: Path) -> None:
    old = gathered(OLD, {"teahouse": [well("kettle-0", "2026-08-18T10:00:00Z", version="99")]})
    new = inspected(NEW, "teahouse", [waiting("kettle-0", "2026-08-19T10:00:00Z", version="98")])
    case = Case(tmp_path, old, new)
    assert case.codes() == {("pod/ImagePullFailed", "kettle-0")}
    sources = case.sql(
        "SELECT f.input, s.chosen, s.differs FROM sources s JOIN objects o USING (object_id) "
        "JOIN files f ON f.file_id = s.file_id WHERE o.name = 'kettle-0' ORDER BY 1"
    )
    assert sources == [(0, False, True), (1, True, False)]


def test_a_list_that_is_cut_says_nothing_of_what_is_gone(tmp_path: Path) -> None:
    old = gathered(OLD, {"teahouse": [waiting("kettle-0", "2026-08-18T10:00:00Z"), waiting("kettle-1", "2026-08-18T10:00:00Z")]})
    new = inspected(NEW, "teahouse", [well("kettle-0", "2026-08-18T10:00:00Z")])
    path = "inspect.local.5/namespaces/teahouse/core/pods.yaml"
    new[path] = trees.to_yaml(trees.listed("Pod", [well("kettle-0", "2026-08-18T10:00:00Z"), well("z", OLD)]))[:-200]
    case = Case(tmp_path, old, new)
    assert ("pod/ImagePullFailed", "kettle-1") in case.codes()
    assert case.sql("SELECT count(*) FROM gone_objects") == [(0,)]
    assert case.kind("Pod")["status"] == "partial"


def test_a_cut_list_of_the_older_is_made_good_by_the_newer(tmp_path: Path) -> None:
    old = gathered(OLD, {"teahouse": [well("kettle-0", "2026-08-18T10:00:00Z"), well("z", OLD)]})
    path = next(name for name in old if name.endswith("teahouse/core/pods.yaml"))
    old[path] = str(old[path])[:-200]
    assert Case(tmp_path / "one", old).kind("Pod")["status"] == "partial"
    new = gathered(NEW, {"teahouse": [well("kettle-0", "2026-08-18T10:00:00Z")]})
    again = Case(tmp_path / "two", old, new)
    assert again.kind("Pod")["status"] == "complete"
    assert again.sql("SELECT name FROM gone_objects WHERE kind = 'Pod'") == [("z",)]


def test_a_pod_made_again_takes_the_place_of_the_old_one_and_not_its_log(tmp_path: Path) -> None:
    log = "namespaces/teahouse/pods/kettle-0/brew/brew/logs/current.log"
    old = gathered(OLD, {"teahouse": [waiting("kettle-0", "2026-08-18T10:00:00Z", uid="first")]}, **{log: "old words\n"})
    one = trees.to_yaml(waiting("kettle-0", "2026-08-19T10:00:00Z", uid="second"))
    new = inspected(NEW, "teahouse", [])
    del new["inspect.local.5/namespaces/teahouse/core/pods.yaml"]
    new["inspect.local.5/namespaces/teahouse/pods/kettle-0/kettle-0.yaml"] = one
    case = Case(tmp_path, old, new)
    assert case.sql("SELECT uid FROM objects WHERE kind = 'Pod'") == [("second",)]
    assert case.sql("SELECT uid, gone_by FROM gone_objects") == [("first", 1)]
    assert case.sql("SELECT count(*) FROM logs") == [(1,)]
    assert case.sql("SELECT log_id FROM containers") == [(None,)]


def test_the_log_of_the_newer_input_counts(tmp_path: Path) -> None:
    log = "namespaces/teahouse/pods/kettle-0/brew/brew/logs/current.log"
    pods = [well("kettle-0", "2026-08-18T10:00:00Z")]
    old = gathered(OLD, {"teahouse": pods}, **{log: "old words, many of them\n"})
    case = Case(tmp_path, inspected(NEW, "teahouse", pods, **{log: "new words\n"}), old)
    assert case.sql("SELECT tail FROM logs JOIN containers USING (log_id)") == [("new words",)]


def test_events_about_what_is_gone_are_gone(tmp_path: Path) -> None:
    old = gathered(OLD, {"teahouse": [waiting("kettle-0", "2026-08-18T10:00:00Z"), waiting("kettle-1", "2026-08-18T10:00:00Z")]})
    path = next(name for name in old if name.endswith("teahouse/core/events.yaml"))
    old[path] = trees.to_yaml(trees.listed("Event", [event("e0", "kettle-0", OLD), event("e1", "kettle-1", OLD)]))
    new = inspected(NEW, "teahouse", [waiting("kettle-0", "2026-08-18T10:00:00Z")])
    del new["inspect.local.5/namespaces/teahouse/core/events.yaml"]
    case = Case(tmp_path, old, new)
    assert case.sql("SELECT o.name, e.input FROM events e JOIN objects o USING (object_id)") == [("e0", 0)]
    assert case.sql("SELECT name FROM gone_objects ORDER BY name") == [("e1",), ("kettle-1",)]


def test_of_two_states_of_the_platform_the_newer_counts(tmp_path: Path) -> None:
    health = {"etcd_info/endpoint_health.json": '[{"endpoint":"https://10.1.1.1:2379","health":%s}]'}
    old = gathered(OLD, {}, **{name: text % "false" for name, text in health.items()})
    new = gathered(NEW, {}, **{name: text % "true" for name, text in health.items()})
    assert [one["code"] for one in Case(tmp_path / "one", old).report["findings"]] == ["openshift/EtcdUnhealthy"]
    assert Case(tmp_path / "two", old, new).report["findings"] == []


def test_inputs_without_the_cluster_join_any(tmp_path: Path) -> None:
    pods: trees.Files = {"pods.yaml": trees.to_yaml(trees.listed("Pod", [waiting("kettle-0", "2026-08-18T10:00:00Z")]))}
    case = Case(tmp_path, pods, gathered(NEW, {"cellar": []}))
    assert case.sql("SELECT count(*) FROM gone_objects") == [(0,)]
    assert ("pod/ImagePullFailed", "kettle-0") in case.codes()


def test_an_object_without_uid_is_the_one_of_its_name(tmp_path: Path) -> None:
    bare = {key: value for key, value in well("kettle-0", OLD).items() if key != "status"}
    bare["metadata"] = {"name": "kettle-0", "namespace": "teahouse"}
    case = Case(tmp_path, {"kettle.yaml": trees.to_yaml(bare)}, gathered(NEW, {"teahouse": [waiting("kettle-0", OLD)]}))
    assert case.sql("SELECT input, uid FROM objects WHERE kind = 'Pod'") == [(1, "uid-teahouse-kettle-0")]
    assert case.sql("SELECT count(*) FROM sources s JOIN objects o USING (object_id) WHERE o.kind = 'Pod'") == [(2,)]


def test_different_clusters_are_wrong_usage(tmp_path: Path) -> None:
    trees.write(tmp_path / "a", gathered(OLD, {}))
    trees.write(tmp_path / "b", gathered(NEW, {}, cluster="uid-other"))
    done = run(tmp_path, "a", "b")
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("error: a is of cluster uid-kube and b of cluster uid-other")
    assert not (tmp_path / "out").exists()


def test_as_of_is_one_moment_for_all(tmp_path: Path) -> None:
    old = gathered(OLD, {"teahouse": [waiting("kettle-0", "2026-08-18T10:00:00Z")]})
    new = inspected(NEW, "cellar", [waiting("crate-0", "2026-08-18T10:00:00Z", "cellar")])
    case = Case(tmp_path, old, new, args=("--as-of", "2026-08-18T14:00:00Z"))
    ages = {one["ageSeconds"] for one in case.report["findings"] if one["code"] == "pod/ImagePullFailed"}
    assert ages == {4 * 3600}


def test_standard_input_beside_a_bundle_once(tmp_path: Path) -> None:
    trees.write(tmp_path / "a", gathered(OLD, {}))
    text = trees.to_yaml(trees.listed("Pod", [waiting("kettle-0", OLD)])).encode()
    assert run(tmp_path, "a", "-", data=text).returncode == 0
    made = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [one["path"] for one in made["bundle"]["inputs"]] == ["a", "-"]
    assert {(e["input"], e["file"]) for one in made["findings"] for e in one["evidence"]} == {(1, "stdin")}
    twice = run(tmp_path, "-", "-", data=text)
    assert (twice.returncode, len(twice.stderr.splitlines())) == (2, 1)


def test_the_default_folder_is_named_after_the_first(tmp_path: Path) -> None:
    trees.write(tmp_path / "first", gathered(OLD, {}))
    trees.write(tmp_path / "second", gathered(NEW, {}))
    command = [sys.executable, "-m", "analyzer", "analyze", "first", "second"]
    env = os.environ | {"PYTHONPATH": os.fspath(Path(__file__).resolve().parents[2])}
    assert subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=120, check=False).returncode == 0
    assert (tmp_path / "first.triage" / "report.json").is_file()
