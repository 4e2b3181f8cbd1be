"""Sonobuoy results of all generations: what is read, and what its record proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from analyzer.facts import coverage, log_places
from analyzer.store.load import load
from analyzer.store.schema import TABLES

from . import pipeline_trees as trees

LOG = (
    '{"level":"info","msg":"Running cluster queries","time":"2026-08-18T13:05:00Z"}\n'
    '{"level":"error","msg":"error querying teapots: could not find it","time":"2026-08-18T13:05:10Z"}\n'
    '{"level":"error","msg":"failed to get the health of shelf-1: connection refused","time":"2026-08-18T13:05:20Z"}\n'
    "not JSON at all\n"
    '{"level":"info","msg":"Collecting Pod Logs","time":"2026-08-18T15:06:40+02:00"}\n'
)


def bare(*objects: dict[str, Any], kinds: bool = False) -> str:
    dropped = () if kinds else ("apiVersion", "kind")
    return json.dumps([{key: value for key, value in one.items() if key not in dropped} for one in objects])


def queries(*rows: tuple[str, str], failed: str = "") -> str:
    found: list[dict[str, Any]] = [{"queryobj": what, "time": "1ms"} | ({"namespace": ns} if ns else {}) for what, ns in rows]
    if failed:
        found.append({"queryobj": failed, "time": "1ms", "error": {"ErrStatus": {"message": f"{failed} is forbidden"}}})
    return json.dumps(found)


def config(*resources: str, selector: str = "", previous: bool = False) -> str:
    return json.dumps(
        {
            "Resources": list(resources),
            "Filters": {"Namespaces": ".*", "LabelSelector": selector},
            "Limits": {"PodLogs": {"Previous": previous}},
            "Plugins": [{"env": [{"name": "PASSWORD", "value": "Xq7hunter2Zz"}]}],
        }
    )


def results(prefix: str = "") -> trees.Files:
    """As versions since 0.5x write them: two namespaces, one of them without pods."""
    spaces = [trees.namespace("teahouse"), trees.namespace("cellar")]
    asked_for = [("nodes", ""), ("namespaces", ""), ("persistentvolumes", "")]
    asked_for += [(what, ns) for ns in ("teahouse", "cellar") for what in ("pods", "jobs")] + [("PodLogs", "teahouse")]
    return {
        f"{prefix}meta/config.json": config("Nodes", "namespaces", "pods", "jobs", "persistentvolumes", "podlogs"),
        f"{prefix}meta/info.json": '{"plugins":["e2e"]}',
        f"{prefix}meta/query-time.json": queries(*asked_for, failed="leases"),
        f"{prefix}meta/run.log": LOG,
        f"{prefix}serverversion.json": '{"gitVersion":"v1.34.2"}',
        f"{prefix}resources/cluster/core_v1_nodes.json": bare(trees.node("shelf-1"), kinds=True),
        f"{prefix}resources/cluster/core_v1_namespaces.json": bare(*spaces, kinds=True),
        f"{prefix}resources/ns/teahouse/core_v1_pods.json": bare(trees.pod("kettle-0"), kinds=True),
        f"{prefix}podlogs/teahouse/kettle-0/logs/brew.txt": "water on\n",
        f"{prefix}hosts/shelf-1/healthz.json": '{"status":200}',
        f"{prefix}plugins/e2e/sonobuoy_results.yaml": "name: e2e\nstatus: failed\n",
        f"{prefix}plugins/e2e/results/global/e2e.log": "Ran 3 of 400 specs\n",
        f"{prefix}plugins/systemd-logs/results/shelf-1/systemd_logs": '{"MESSAGE":"hello"}\n{"MESSAGE":"again"}\n',
    }


def old(prefix: str = "") -> trees.Files:
    """As versions up to 0.10 write them: files named by kind, items without kind."""
    return {
        f"{prefix}meta/config.json": config("Nodes", "Pods"),
        f"{prefix}resources/cluster/Nodes.json": bare(trees.node("shelf-1")),
        f"{prefix}resources/ns/teahouse/Pods.json": bare(trees.pod("kettle-0")),
        f"{prefix}plugins/systemd_logs/results/shelf-1": '{ "MESSAGE" : "hello" }\n',
    }


def oldest() -> trees.Files:
    """As 0.8 writes them, packed on a Mac."""
    return {
        "config.json": config("Nodes", "ServerVersion"),
        "._config.json": b"\x00\x05\x16\x07",
        "serverversion/serverversion.json": '{"gitVersion":"v1.7.2"}',
        "resources/non-ns/Nodes.json": bare(trees.node("shelf-1")),
        "resources/non-ns/._Nodes.json": b"\x00\x05\x16\x07\x00\x02",
        "resources/non-ns/results.json": queries(("Nodes", ""), ("serverversion", "")),
        "resources/ns/teahouse/results.json": "[{}]",
        "plugins/e2e/results/e2e.log": "Ran 1 spec\n",
    }


def derived(tmp_path: Path, files: trees.Files) -> duckdb.DuckDBPyConnection:
    """The tables after loading, with the coverage."""
    parts = trees.read(tmp_path, trees.write(tmp_path / "case", files))
    con = duckdb.connect(config={"threads": 1})
    load(con, parts)
    for table in TABLES:
        if table.stage == "facts":
            con.execute(table.ddl())
    log_places.settle(con)
    coverage.derive(con, [("batch", "Job"), ("", "PersistentVolume"), ("coordination.k8s.io", "Lease")])
    return con


def status(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, list[str]]]:
    return {kind: (word, scope) for kind, word, scope in con.execute("SELECT kind, status, scope FROM coverage").fetchall()}


def test_a_result_of_today(tmp_path: Path) -> None:
    parts = trees.read(tmp_path, trees.tar(tmp_path / "a.tar.gz", results("wrapped/")))
    (row,) = parts.inputs
    assert (row["format"], row["format_at"]) == ("sonobuoy", "2026-08-18T13:06:40Z")
    assert row["format_source"] == "line 5 of wrapped/meta/run.log (clock of the pod)"
    assert {("Node", "*", 1, True), ("Namespace", "*", 2, True), ("Pod", "teahouse", 1, True)} == trees.lists(parts)
    logs = trees.columns(trees.table(parts, "part_logs"), "namespace", "pod", "container", "source")
    assert logs == {("teahouse", "kettle-0", "brew", "current"), ("", "", "", "other"), ("", "", "", "service")}
    errors = trees.columns(trees.table(parts, "part_errors"), "kind", "subject")
    assert errors == {("forbidden", "leases"), ("failed", "")}
    documents = {one["role"]: one["json"] for one in trees.table(parts, "part_documents")}
    assert documents["cluster-version"] == {"gitVersion": "v1.34.2"}
    assert documents["sonobuoy-config"]["previous"] is False
    assert "hunter2" not in json.dumps(documents)


def test_a_plugin_without_results_is_told(tmp_path: Path) -> None:
    files = old()
    files["meta/config.json"] = json.dumps(
        {"Resources": ["Nodes"], "Plugins": [{"name": "e2e"}, {"name": "systemd_logs"}, {"name": "x\nDROP"}, None]}
    )
    files["plugins/later/defintion.json"] = "{}"
    con = derived(tmp_path, files)
    errors = con.execute("SELECT kind, subject, message FROM collect_errors").fetchall()
    assert errors == [("failed", "plugin e2e", "it left no results"), ("failed", "plugin later", "it left no results")]
    assert derived(tmp_path / "whole", results()).execute("SELECT count(*) FROM collect_errors").fetchall() == [(2,)]


def test_old_files_are_named_by_kind(tmp_path: Path) -> None:
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", old()))
    assert parts.inputs[0]["format"] == "sonobuoy"
    assert trees.lists(parts) == {("Node", "*", 1, True), ("Pod", "teahouse", 1, True)}
    assert trees.columns(trees.table(parts, "part_logs"), "source", "lines") == {("service", 1)}


def test_the_first_version_as_a_mac_packs_it(tmp_path: Path) -> None:
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", oldest()))
    assert parts.inputs[0]["format"] == "sonobuoy"
    assert trees.names(parts, "Node") == ["shelf-1"]
    assert trees.file(parts, "._Nodes.json")["status"] == "skipped"
    assert not [one for one in parts.files if one["status"] in ("partial", "unread")]


def test_the_record_of_the_queries_tells_none_from_not_asked(tmp_path: Path) -> None:
    found = status(derived(tmp_path, results()))
    assert found["Pod"] == ("complete", ["*"])
    assert found["Job"] == ("absent", ["*"])
    assert found["PersistentVolume"] == ("absent", ["*"])
    assert found["Event"] == ("not-collected", [])
    assert found["Lease"] == ("forbidden", [])


def test_a_namespace_that_was_not_asked_makes_it_partial(tmp_path: Path) -> None:
    files = results() | {"meta/query-time.json": queries(("nodes", ""), ("namespaces", ""), ("pods", "teahouse"))}
    assert status(derived(tmp_path, files))["Pod"] == ("partial", ["teahouse"])


def test_without_the_record_a_missing_file_proves_nothing(tmp_path: Path) -> None:
    files = {path: text for path, text in results().items() if not path.startswith("meta/query")}
    found = status(derived(tmp_path, files))
    assert found["Pod"] == ("partial", ["teahouse"])
    assert found["Job"] == ("not-collected", [])


def test_a_file_of_the_record_that_cannot_be_read_makes_it_partial(tmp_path: Path) -> None:
    files = results() | {"resources/ns/cellar/core_v1_pods.json": '[{"metadata": {"name": "crate-0", "uid": "u9"'}
    assert status(derived(tmp_path, files))["Pod"][0] == "partial"


def test_what_was_asked_for_with_a_selector_is_not_all(tmp_path: Path) -> None:
    files = results() | {"meta/config.json": config("Nodes", "pods", selector="team=tea")}
    found = status(derived(tmp_path, files))
    assert found["Node"][0] == "partial"
    assert found["Job"] == ("not-collected", [])


def test_told_to_fetch_previous_logs_it_fetches_those(tmp_path: Path) -> None:
    con = derived(tmp_path, results() | {"meta/config.json": config("pods", previous=True)})
    assert con.execute("SELECT source FROM logs WHERE pod = 'kettle-0'").fetchall() == [("previous",)]


def test_a_folder_of_resources_alone_is_no_result(tmp_path: Path) -> None:
    files: trees.Files = {"resources/ns/teahouse/pods.yaml": trees.to_yaml(trees.pod("kettle-0")), "README.md": "x"}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert parts.inputs[0]["format"] == "plain"
