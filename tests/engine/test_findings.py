"""From rows to findings: ages, severities, folding, ids, and what is said where something is missing."""

from __future__ import annotations

from typing import Any

import pytest

PODS = """
objects:
  - {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, status: {phase: Running}}
  - {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}, status: {phase: Running}}
  - {apiVersion: v1, kind: Service, metadata: {name: front, namespace: shop}}
"""


def query(columns: str, where: str = "o.kind = 'Pod'") -> str:
    return f"query: |\n  SELECT o.object_id, {columns} FROM objects o WHERE {where} ORDER BY o.name\nneeds: [Pod]"


@pytest.mark.parametrize(
    ("options", "since", "severity"),
    [
        ("", "NULL", "error"),
        ("after: 5m", "TIMESTAMP '2026-11-01 11:50:00'", "error"),
        ("after: 5m", "TIMESTAMP '2026-11-01 11:56:00'", None),
        ("after: 5m", "NULL", "warning"),
        ("after: 5m\nterminal: true", "NULL", "error"),
        ("after: 5m\nseverity: info", "NULL", "info"),
        ("fades: 24h", "TIMESTAMP '2026-10-31 11:00:00'", "info"),
        ("fades: 24h", "TIMESTAMP '2026-10-31 13:00:00'", "error"),
        ("after: 5m", "TIMESTAMP '2026-11-01 11:58:00', '1m' AS after", "error"),
        ("after: 5m", "NULL, true AS terminal", "error"),
        ("", "NULL, 'info' AS severity", "info"),
    ],
)
def test_age_and_severity(write: Any, analyse: Any, options: str, since: str, severity: str | None) -> None:
    first, comma, more = since.partition(",")
    pack = write({"pod/Odd": f"{query(f'{first} AS since{comma}{more}')}\n{options}"})
    report = analyse(PODS, pack)
    assert [finding.severity for finding in report.findings] == ([severity] * 2 if severity else [])


def test_a_lowered_severity_is_said(write: Any, analyse: Any) -> None:
    report = analyse(PODS, write({"pod/Odd": query("NULL AS since") + "\nafter: 5m"}))
    assert "Nothing says since when, so this counts as a warning only." in report.findings[0].message
    assert report.findings[0].age_seconds is None


def test_a_time_after_the_collection_is_age_nothing_and_said(write: Any, analyse: Any) -> None:
    report = analyse(PODS, write({"pod/Odd": query("TIMESTAMP '2026-11-01 12:03:00' AS since")}))
    assert report.findings[0].age_seconds == 0
    assert "the clocks differ" in report.findings[0].message


def test_without_a_collection_time_there_is_no_age(write: Any, analyse: Any) -> None:
    pack = write({"pod/Odd": query("TIMESTAMP '2026-11-01 11:00:00' AS since") + "\nafter: 5m"})
    report = analyse("collected: null\n" + PODS.strip(), pack)
    assert {finding.severity for finding in report.findings} == {"warning"}
    assert "for an unknown time" in report.findings[0].message
    assert "Nothing says when the bundle was collected, so this counts as a warning only." in report.findings[0].message


def test_rows_of_one_key_are_one_finding(write: Any, analyse: Any) -> None:
    columns = "'x' AS why, (SELECT object_id FROM objects WHERE kind = 'Service') AS fold_id, CASE o.name WHEN 'a' THEN "
    columns += "TIMESTAMP '2026-11-01 11:30:00' ELSE TIMESTAMP '2026-11-01 11:00:00' END AS since"
    text = (
        query(columns) + "\nfold: {by: [why]}\ntitle: '{{ count|plural(\"pod\") }} of {{ object.name }}: {{ names|listing(5) }}'"
    )
    finding = analyse(PODS, write({"pod/Odd": text})).findings[0]
    assert (str(finding.object), finding.count) == ("Service shop/front", 2)
    assert [str(ref) for ref in finding.objects] == ["Pod shop/a", "Pod shop/b"]
    assert finding.title == "2 pods of front: shop/a and shop/b"
    assert finding.age_seconds == 3600


def test_a_fold_may_be_shown_at_an_object_that_the_bundle_lacks(write: Any, analyse: Any) -> None:
    columns = "'x' AS why, NULL AS fold_id, 'apps' AS fold_group, 'StatefulSet' AS fold_kind, "
    columns += "'shop' AS fold_namespace, 'db' AS fold_name"
    finding = analyse(PODS, write({"pod/Odd": query(columns) + "\nfold: {by: [why]}"})).findings[0]
    assert (str(finding.object), finding.object.group, finding.count) == ("StatefulSet shop/db", "apps", 2)


def test_a_single_object_is_never_folded(write: Any, analyse: Any) -> None:
    columns = "'x' AS why, (SELECT object_id FROM objects WHERE kind = 'Service') AS fold_id"
    text = query(columns, "o.name = 'a'") + "\nfold: {by: [why]}"
    finding = analyse(PODS, write({"pod/Odd": text})).findings[0]
    assert (str(finding.object), finding.count, finding.objects) == ("Pod shop/a", 1, ())


def test_rows_without_a_key_stand_alone(write: Any, analyse: Any) -> None:
    report = analyse(PODS, write({"pod/Odd": query("NULL AS why") + "\nfold: {by: [why]}"}))
    assert [finding.count for finding in report.findings] == [1, 1]


def test_ids_hold_over_recreation_and_differ_within_a_report(write: Any, analyse: Any) -> None:
    pack = write({"pod/Odd": query("unnest(['x', 'x', 'y']) AS part", "o.name = 'a'")})
    first = [finding.id for finding in analyse(PODS, pack).findings]
    again = [finding.id for finding in analyse(PODS.replace("name: a,", "name: a, uid: other,"), pack).findings]
    assert len(set(first)) == 3
    assert first == again


def test_an_object_that_the_bundle_does_not_hold(write: Any, analyse: Any) -> None:
    columns = "query: SELECT '' AS object_group, 'Secret' AS object_kind, 'shop' AS object_namespace, 'key' AS object_name"
    finding = analyse(PODS, write({"pod/Odd": columns})).findings[0]
    assert str(finding.object) == "Secret shop/key"
    assert finding.object.uid is None


def test_evidence_names_file_and_line_and_is_cut(write: Any, analyse: Any) -> None:
    columns = (
        "[ev(o.object_id, 'status.phase', repeat('x', 1000)), NULL, ev(o.object_id, 'spec', NULL, k := 'Declared')] AS evidence"
    )
    shown = analyse(PODS, write({"pod/Odd": query(columns, "o.name = 'b'")})).findings[0].evidence
    assert [(q.input, q.file, q.line, q.path, q.kind) for q in shown] == [(0, "case.yaml", 2, "status.phase", "Reported")]
    assert len(shown[0].value) == 400


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("query: SELECT 1 AS object_id; SELECT 2", "exactly one SELECT"),
        ("query: DROP TABLE objects", "SELECT"),
        ("query: SELECT * FROM read_text('/etc/passwd')", "disabled"),
        ("query: WITH w AS (INSERT INTO nodes (name) VALUES ('x') RETURNING 1) SELECT 1 AS object_id FROM w", "read-only"),
        ("query: SELECT nothing FROM objects", "nothing"),
        ("query: SELECT 99 AS object_id", "no object of the bundle"),
        ("query: SELECT 1 AS x", "names no object"),
        (query("'fatal' AS severity"), "column severity is 'fatal'"),
        (query("'x' AS since"), "column since"),
        (query("1 AS x") + "\ntitle: '{{ y }}'", "'y' is undefined"),
        (query("1 AS x") + "\nfold: {by: [y]}", "column y"),
    ],
)
def test_a_rule_that_fails_is_told_and_stops_no_other(write: Any, analyse: Any, text: str, reason: str) -> None:
    report = analyse(PODS, write({"pod/Odd": text, "pod/Sound": query("1 AS x")}))
    assert {finding.code for finding in report.findings} == {"pod/Sound"}
    entry = next(entry for entry in report.not_evaluated if entry.code == "pod/Odd")
    assert entry.reason.startswith("this rule is broken: ")
    assert reason in entry.reason
    assert "pack/pod/Odd.yaml:" in entry.reason


def test_a_broken_file_is_among_what_was_not_evaluated(write: Any, analyse: Any) -> None:
    report = analyse(PODS, write({"pod/Odd": "surprise: 1"}))
    entry = next(entry for entry in report.not_evaluated if entry.code == "pod/Odd")
    assert "this rule is broken" in entry.reason


def test_rules_that_run_last_see_what_the_others_found(write: Any, analyse: Any) -> None:
    rules = {
        "pod/Odd": query("1 AS x", "o.name = 'a'"),
        "event/Rest": query("1 AS x", "o.kind = 'Pod' AND o.object_id NOT IN (SELECT object_id FROM found)") + "\nlast: true",
    }
    report = analyse(PODS, write(rules))
    assert {(finding.code, finding.object.name) for finding in report.findings} == {("pod/Odd", "a"), ("event/Rest", "b")}
