"""A report stands for its bundle: analyzed once more, nothing is parsed, and the same comes out."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.program import said

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

LATER = "2026-11-13T09:30:00Z"

RULE = """
code: own/EveryNode
severity: info
owner: nobody
title: "Node {{ object.name }} is there"
message: "It is there."
next: ["kubectl get node {{ object.name }}"]
why: To see that a rule ran.
references: ["https://kubernetes.io/docs/concepts/architecture/nodes/"]
needs: [Node]
query: |
  SELECT object_id FROM nodes
"""
SIGNATURE = """
signatures:
  - id: own/listens
    words: ["listens on"]
"""


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return said(*arguments)


def _report(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return loaded


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of ours at a place of its own, and its report beside it."""
    base = tmp_path_factory.mktemp("again")
    shutil.copytree(SAMPLES / "gpu-cluster", base / "bundle")
    done = _run("analyze", base / "bundle", "-o", base / "bundle.triage")
    assert done.returncode == 0, done.stderr
    return base


def test_the_same_report_comes_out(first: Path, tmp_path: Path) -> None:
    for given in ("bundle.triage", "bundle.triage/bundle.duckdb", "bundle.triage/report.html"):
        out = tmp_path / given.replace("/", "-")
        done = _run("analyze", first / given, "-o", out)
        assert (done.returncode, done.stderr) == (0, "")
        assert _report(out) == _report(first / "bundle.triage")


def test_another_time_and_another_pack_count(first: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack" / "own"
    pack.mkdir(parents=True)
    (pack / "EveryNode.yaml").write_text(RULE)
    done = _run(
        "analyze",
        first / "bundle.triage",
        "-o",
        tmp_path / "out",
        "--rules",
        tmp_path / "pack",
        "--as-of",
        "2026-11-13T09:30:00Z",
    )
    assert done.returncode == 0, done.stderr
    report = _report(tmp_path / "out")
    assert sum(finding["code"] == "own/EveryNode" for finding in report["findings"]) == report["bundle"]["cluster"]["nodes"]
    before = {finding["id"]: finding["ageSeconds"] for finding in _report(first / "bundle.triage")["findings"]}
    aged = [f["ageSeconds"] - before[f["id"]] for f in report["findings"] if before.get(f["id"]) is not None]
    assert aged
    # The collection ended half a second after the full minute.
    assert set(aged) <= {24 * 3600 - 1, 24 * 3600}


def test_a_report_can_be_made_anew_in_its_place(first: Path) -> None:
    before = _report(first / "bundle.triage")
    assert _run("analyze", first / "bundle.triage", "-o", first / "bundle.triage").returncode == 0
    assert _report(first / "bundle.triage") == before


def test_without_the_bundle_evidence_has_the_lines_of_its_objects(first: Path, tmp_path: Path) -> None:
    shutil.copytree(first / "bundle.triage", tmp_path / "kept.triage")
    with duckdb.connect(str(tmp_path / "kept.triage" / "bundle.duckdb")) as con:
        con.execute("UPDATE inputs SET path = '/nowhere/bundle'")
    assert _run("analyze", tmp_path / "kept.triage", "-o", tmp_path / "out").returncode == 0
    old, new = _report(first / "bundle.triage"), _report(tmp_path / "out")
    assert [finding["id"] for finding in new["findings"]] == [finding["id"] for finding in old["findings"]]
    assert new["findings"] != old["findings"]
    assert all(quote["line"] for finding in new["findings"] for quote in finding["evidence"] if quote["path"])


def test_signatures_that_nobody_looked_for_are_told(first: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack" / "own"
    pack.mkdir(parents=True)
    (pack / "EveryNode.yaml").write_text(RULE)
    (pack / "own.signatures.yaml").write_text(SIGNATURE)
    done = _run("analyze", first / "bundle.triage", "-o", tmp_path / "out", "--rules", tmp_path / "pack")
    assert done.returncode == 2
    assert "own/listens" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_no_database_of_ours_is_told(first: Path, tmp_path: Path) -> None:
    (tmp_path / "noise.duckdb").write_bytes(b"no database" * 100)
    with duckdb.connect(str(tmp_path / "foreign.duckdb")) as con:
        con.execute("CREATE TABLE objects (a INTEGER)")
    for name in ("noise.duckdb", "foreign.duckdb"):
        done = _run("analyze", tmp_path / name, "-o", tmp_path / "out")
        assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    shutil.copy(first / "bundle.triage" / "bundle.duckdb", tmp_path / "older.duckdb")
    with duckdb.connect(str(tmp_path / "older.duckdb")) as con:
        con.execute("ALTER TABLE objects DROP COLUMN whole")
    done = _run("analyze", tmp_path / "older.duckdb", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "another version" in done.stderr


def test_a_view_in_a_database_reaches_no_file(first: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("the content of a file of the user")
    shutil.copy(first / "bundle.triage" / "bundle.duckdb", tmp_path / "hostile.duckdb")
    with duckdb.connect(str(tmp_path / "hostile.duckdb")) as con:
        con.execute("ALTER TABLE documents RENAME TO documents_before")
        mine = f"read_text('{tmp_path}/mine.txt')"
        con.execute(f"CREATE VIEW documents AS SELECT file_id, content AS role, json FROM documents_before, {mine}")
    done = _run("analyze", tmp_path / "hostile.duckdb", "-o", tmp_path / "out")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_report_is_given_alone(first: Path, tmp_path: Path) -> None:
    done = _run("analyze", first / "bundle.triage", first / "bundle", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
