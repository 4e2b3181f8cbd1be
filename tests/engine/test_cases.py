"""`triage rules test`, `list` and `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from analyzer.cli.rules import rules_app
from analyzer.engine.case_run import run_here

RULE = """
query: SELECT object_id, TIMESTAMP '2026-11-01 11:00:00' AS since, name FROM objects WHERE kind = 'Pod' AND namespace = 'shop'
needs: [Pod]
"""
CASES = """cases:
  - name: fires
    objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}]
    expect: {findings: [{object: Pod shop/a, severity: error, since: 2026-11-01T11:00:00Z, contains: [odd]}]}
  - name: silent
    objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}}]
    expect: {none: true}
  - name: unknown
    missing: [Pod]
    expect: {notEvaluated: {contains: [kubectl get pods]}}
"""


@pytest.fixture
def pack(write: Any, tmp_path: Path) -> Path:
    write({"acme/Odd": RULE})
    (tmp_path / "pack/acme/Odd.cases.yaml").write_text(CASES, encoding="utf-8")
    return tmp_path / "pack"


def problems(folder: Path) -> list[str]:
    """What is wrong with the rule, told in this process; that rules of others run apart is tested in tests/cli."""
    return list(run_here(folder, "acme/Odd").problems)


def test_a_sound_rule_passes(pack: Path) -> None:
    result = CliRunner().invoke(rules_app, ["test", str(pack), "--jobs", "1"])
    assert result.output.splitlines()[-1] == "rules: 3 cases pass"
    assert result.exit_code == 0


@pytest.mark.parametrize("path", ["acme", "acme/Odd.yaml", "acme/Odd.cases.yaml"])
def test_a_part_of_a_pack_can_be_chosen(pack: Path, path: str) -> None:
    assert CliRunner().invoke(rules_app, ["test", str(pack / path), "--jobs", "1"]).output == "rules: 3 cases pass\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("severity: error", "severity: warning", "Pod shop/a: severity is error, expected warning"),
        ("11:00:00Z, con", "11:00:01Z, con", "since is 2026-11-01T11:00:00Z, expected 2026-11-01T11:00:01Z"),
        ("contains: [odd]", "contains: [even]", "does not say 'even'"),
        ("contains: [odd]", "lacks: [odd]", "says 'odd'"),
        ("Pod shop/a", "Pod shop/b", "missing: Pod shop/b"),
        ("{none: true}", "{findings: [{object: Pod other/a}]}", "missing: Pod other/a"),
        ("namespace: other", "namespace: shop", "unexpected: Pod shop/a [error]"),
        ("missing: [Pod]", "missing: []", "is not among what was not evaluated"),
        ("kubectl get pods", "kubectl get nodes", "does not say 'kubectl get nodes'"),
        ("name: silent", "name: fires", "'fires' is there twice"),
        ("expect: {none: true}", "expect: {nothing: true}", "unknown key 'nothing'"),
        ("contains: [odd]", "contents: [odd]", "a finding has the keys"),
        (
            "apiVersion: v1, kind: Pod, metadata: {name: a, namespace: o",
            "kind: Pod, metadata: {name: a, namespace: o",
            "an object needs",
        ),
        ("- name: silent\n    obj", "- name: silent\n    at: soon\n    obj", "at is 'soon'"),
        ("{none: true}", "{none: true, states: {Pod other/a: Running}}", "state of Pod other/a is not given"),
    ],
)
def test_a_case_that_fails_says_how(pack: Path, old: str, new: str, problem: str) -> None:
    assert old in CASES
    (pack / "acme/Odd.cases.yaml").write_text(CASES.replace(old, new, 1), encoding="utf-8")
    found = problems(pack)
    assert any(problem in line for line in found), found
    assert all(line.startswith("pack/acme/Odd") for line in found)


@pytest.mark.parametrize(("old", "new"), [("Pod shop/a", "Pod shop/b"), ("{none: true}", "{nothing: true}")])
def test_a_case_that_fails_or_cannot_be_read_is_exit_1(pack: Path, old: str, new: str) -> None:
    (pack / "acme/Odd.cases.yaml").write_text(CASES.replace(old, new, 1), encoding="utf-8")
    assert CliRunner().invoke(rules_app, ["test", str(pack), "--jobs", "1"]).exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("next: [", "owner: workload\nnext: [", "'owner' is there twice"),
        ('next: ["kubectl describe Pod {{ object.name }}"]', "", "next: a rule says what to do"),
        ('references: ["https://kubernetes.io/docs/"]', "", "references: a rule names upstream documentation"),
        ("https://", "http://", "no https link"),
        ('is odd"', 'is odd."', "title: ends with a full stop"),
        ("name FROM objects", "nothing FROM objects", "query: Binder Error"),
        ("needs: [Pod]", "", "needs: a rule says what it cannot do without"),
    ],
)
def test_a_rule_that_lacks_something(pack: Path, old: str, new: str, problem: str) -> None:
    path = pack / "acme/Odd.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert any(problem in line for line in problems(pack)), problems(pack)


def test_a_rule_needs_its_three_cases(pack: Path) -> None:
    (pack / "acme/Odd.cases.yaml").write_text("cases: []\n")
    assert [line.split(": ", 1)[1] for line in problems(pack)] == [
        "cases: none in which it fires",
        "cases: none in which it stays silent",
        "cases: none in which it cannot be evaluated",
    ]
    (pack / "acme/Odd.cases.yaml").unlink()
    assert problems(pack) == ["pack/acme/Odd.yaml:1: has no cases file"]


def test_the_catalogue_lists_rules_and_what_is_broken(pack: Path) -> None:
    (pack / "acme/Worse.yaml").write_text("code: acme/Worse\n")
    output = CliRunner().invoke(rules_app, ["list", "--rules", str(pack)]).output
    assert "acme/Odd " in output
    assert "broken: acme/Worse: pack/acme/Worse.yaml:1: severity is missing" in output


def test_one_rule_is_shown_with_what_it_means(pack: Path) -> None:
    output = CliRunner().invoke(rules_app, ["show", "acme/odd", "--rules", str(pack)]).output
    for part in ("because", "https://kubernetes.io/docs/", "SELECT object_id", "Needs       Pod", "pack/acme/Odd.yaml:1"):
        assert part in output


def test_an_unknown_code_is_wrong_usage() -> None:
    result = CliRunner().invoke(rules_app, ["show", "pod/Nothing"])
    assert type(result.exception).__name__ == "UsageError"


def test_the_result_goes_into_the_tables(write: Any, analyse: Any, con: duckdb.DuckDBPyConnection) -> None:
    from analyzer.engine.analysis import store_result

    case = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}]"
    report = analyse(case, write({"acme/Odd": RULE}))
    store_result(con, report)
    finding = report.findings[0]
    row = con.execute("SELECT id, code, object_id, incident, json_extract_string(json, '$.object.name') FROM findings").fetchall()
    assert row == [(finding.id, "acme/Odd", 0, report.incidents[0].id, "a")]
    assert con.execute("SELECT rank, root FROM incidents").fetchall() == [(1, finding.id)]
    assert con.execute("SELECT count(*) FROM not_evaluated").fetchall() == [(len(report.not_evaluated),)]
    assert dict(con.execute("SELECT key, value FROM meta").fetchall())["verdict"] == report.verdict
