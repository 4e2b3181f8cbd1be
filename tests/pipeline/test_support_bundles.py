"""Support bundles beyond the usual: hosts alone, what is left of one, another tool's findings, old places of logs."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.bundle.errors import UnreadableError
from analyzer.facts import foreign_findings, log_places
from analyzer.store.load import load
from analyzer.store.schema import TABLES

from . import pipeline_trees as trees

OUTER = "support-bundle-2026-08-18T15_06_40/"


def hosts() -> trees.Files:
    return {
        f"{OUTER}version.yaml": "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.119.1\n",
        f"{OUTER}analysis.json": "[]",
        f"{OUTER}host-collectors/system/cpu.json": '{"logicalCount":8}',
        f"{OUTER}host-collectors/run-host/disk-errors.json": '{"error":"lsblk: not found"}',
        f"{OUTER}host-collectors/run-host/config.txt": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
        f"{OUTER}host-collectors/run-host/free.txt": "total used free\n1 2 3\n",
    }


def loaded(tmp_path: Path, path: Path) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    load(con, trees.read(tmp_path, path))
    for table in TABLES:
        if table.stage == "facts":
            con.execute(table.ddl())
    log_places.settle(con)
    foreign_findings.derive(con)
    return con


def test_a_bundle_of_hosts_alone_is_told_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"hosts\.tar\.gz: this is a host-only support bundle and holds no cluster") as told:
        trees.read(tmp_path, trees.tar(tmp_path / "hosts.tar.gz", hosts()))
    assert "\n" not in str(told.value)


def test_logs_of_hosts_are_read(tmp_path: Path) -> None:
    more: trees.Files = {
        f"{OUTER}host-collectors/run-host/dmesg.txt": "[   12.345678] eth0: link up\n[   13.345678] eth0: link down\n",
        f"{OUTER}host-collectors/system/kubelet.log": "Aug 18 13:00:00 shelf-1 kubelet[1]: hello\n",
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", hosts() | more))
    (row,) = parts.inputs
    assert (row["format"], row["error"]) == ("support-bundle-host", None)
    assert parts.objects == 0
    logs = {(trees.paths(parts)[one["file_id"]].rsplit("/", 1)[1], one["source"]) for one in trees.table(parts, "part_logs")}
    assert logs == {("dmesg.txt", "service"), ("kubelet.log", "service")}


def test_hosts_beside_the_cluster_are_one_bundle_of_both(tmp_path: Path) -> None:
    files = trees.support_bundle(OUTER) | hosts()
    assert trees.read(tmp_path, trees.write(tmp_path / "b", files)).inputs[0]["format"] == "support-bundle"


def test_what_is_left_of_a_bundle_is_told_to_be_incomplete(tmp_path: Path) -> None:
    left: trees.Files = {"support-bundle/analysis.json": json.dumps([{"name": "a", "severity": "error"}])}
    with pytest.raises(UnreadableError, match="this support-bundle is empty or incomplete"):
        trees.read(tmp_path, trees.tar(tmp_path / "left.tar.gz", left))


def test_a_bundle_in_the_folder_of_an_incomplete_one_is_read(tmp_path: Path) -> None:
    files = {"support-bundle/analysis.json": "[]", **trees.support_bundle("support-bundle/inner/")}
    parts = trees.read(tmp_path, trees.write(tmp_path / "b", files))
    assert trees.names(parts, "Pod") == ["kettle-0"]


def test_findings_of_another_tool_are_kept_as_its_own(tmp_path: Path) -> None:
    insight = {"name": "kettles.hot", "primary": "Kettles", "detail": "2 of 3 are cold", "severity": "warn"}
    analysis: list[Any] = [
        {"name": "kettles.hot", "insight": insight, "severity": "warn"},
        {"isFail": True, "title": "Taps", "message": "no water; password=Xq7hunter2Zz"},
        {"insight": None},
        "text",
    ]
    con = loaded(tmp_path, trees.write(tmp_path / "b", trees.support_bundle() | {f"{OUTER}analysis.json": json.dumps(analysis)}))
    rows = con.execute("SELECT name, title, severity, message FROM foreign_findings ORDER BY title").fetchall()
    assert rows[0] == ("kettles.hot", "Kettles", "warn", "2 of 3 are cold")
    assert rows[1][:3] == ("", "Taps", "error")
    assert rows[1][3].startswith("no water")
    assert "hunter2" not in rows[1][3]
    assert len(rows) == 2


@pytest.mark.parametrize("text", ["null", "{}", "3", '{"a": [1]}'])
def test_findings_that_are_none(tmp_path: Path, text: str) -> None:
    con = loaded(tmp_path, trees.write(tmp_path / "b", trees.support_bundle() | {f"{OUTER}analysis.json": text}))
    assert con.execute("SELECT count(*) FROM foreign_findings").fetchall() == [(0,)]


def logs_of(con: duckdb.DuckDBPyConnection) -> set[tuple[Any, ...]]:
    return set(con.execute("SELECT namespace, pod, container, source, tail FROM logs").fetchall())


BREW = ("teahouse", "kettle-0", "brew", "current", "water on")
COLD = ("teahouse", "kettle-0", "brew", "previous", "cold")


@pytest.mark.parametrize("name", ["tea/kettle-0.log", "tea/kettle-0/brew.log", "kettle-0.log"])
def test_old_places_of_logs_are_joined_to_their_pods(tmp_path: Path, name: str) -> None:
    files = {path: text for path, text in trees.support_bundle(OUTER).items() if "/pods/logs/" not in path}
    files |= {f"{OUTER}{name}": "water on\n", f"{OUTER}{name.replace('.log', '-previous.log')}": "cold\n"}
    assert logs_of(loaded(tmp_path, trees.write(tmp_path / "b", files))) == {BREW, COLD}


def test_a_name_that_two_pods_have_is_nobodys(tmp_path: Path) -> None:
    twin = json.dumps([trees.pod("kettle-0", "cellar")])
    files = trees.support_bundle(OUTER) | {f"{OUTER}cluster-resources/pods/cellar.json": twin, f"{OUTER}tea/kettle-0.log": "hm\n"}
    assert logs_of(loaded(tmp_path, trees.write(tmp_path / "b", files))) == {BREW, COLD, ("", "", "", "other", "hm")}


def test_a_log_in_two_places_counts_once(tmp_path: Path) -> None:
    files = trees.support_bundle(OUTER)
    copies: trees.Files = {f"{OUTER}tea/kettle-0/brew.log": "water on\n", f"{OUTER}tea/kettle-0/brew-previous.log": "cold\n"}
    assert logs_of(loaded(tmp_path, trees.write(tmp_path / "b", files | copies))) == {BREW, COLD}
    con = loaded(tmp_path, trees.write(tmp_path / "b", files | copies))
    assert con.execute("SELECT count(*) FROM logs").fetchall() == [(2,)]


def test_a_log_behind_a_link_counts_once(tmp_path: Path) -> None:
    path = trees.tar(tmp_path / "plain.tar.gz", trees.support_bundle(OUTER))
    linked = tmp_path / "linked.tar.gz"
    with tarfile.open(path) as old, tarfile.open(linked, "w:gz") as new:
        for member in old:
            new.addfile(member, old.extractfile(member))
        link = tarfile.TarInfo(f"{OUTER}tea/kettle-0/brew.log")
        link.type, link.linkname = tarfile.SYMTYPE, "../../cluster-resources/pods/logs/teahouse/kettle-0/brew.log"
        new.addfile(link, io.BytesIO())
    con = loaded(tmp_path, linked)
    assert con.execute("SELECT count(*) FROM logs").fetchall() == [(2,)]
    assert con.execute("SELECT count(*) FROM files WHERE role = 'unsafe'").fetchall() == [(0,)]
