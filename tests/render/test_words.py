"""Words, steps, chains and questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest

from analyzer.engine.model import CappedHits, Evidence, LogCoverage, ObjectRef
from analyzer.render import words
from analyzer.render.chain import rail
from analyzer.render.covered import capped
from analyzer.render.questions import QUESTIONS
from analyzer.render.timeline import drawing, moments
from analyzer.render.tree import steps
from analyzer.render.view import incident_views, quotes
from analyzer.store.schema import TABLES

from .sample import CRASH, END, HEALTHY, SAMPLE, big


# A command stands in angle brackets here, inline code in square ones.
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Wait.", ["Wait."]),
        ("Look: `oc get pods -A`, then wait", ["Look: ", "<oc get pods -A>", "then wait"]),
        ("Read its log: kubectl logs a --previous", ["Read its log: ", "<kubectl logs a --previous>"]),
        ("kubectl get pods.", ["<kubectl get pods>"]),
        ("See: oc describe nodes (Allocated); then ask", ["See: ", "<oc describe nodes>", "(Allocated); then ask"]),
        ("Get: oc get a -n b; oc get c, then oc get d", ["Get: ", "<oc get a -n b>", "<oc get c>", "then ", "<oc get d>"]),
        ("oc rsh $(oc get pods | head -n 1) etcdctl x", ["<oc rsh $(oc get pods | head -n 1) etcdctl x>"]),
        ("oc delete csr x. It comes back.", ["<oc delete csr x>", "It comes back."]),
        ("Set `spec.replicas` to 3", ["Set ", "[spec.replicas]", " to 3"]),
        ("Ask who owns kubectl here", ["Ask who owns kubectl here"]),
        ("a `kubectl delete pod x\nrm y` b", ["a ", "<kubectl delete pod x\u240arm y>", "b"]),
        ("an open ` stays", ["an open ` stays"]),
    ],
)
def test_steps_are_taken_apart(text: str, parts: list[str]) -> None:
    marks = {"text": "{}", "command": "<{}>", "code": "[{}]"}
    assert [marks[part.kind].format(part.text) for part in words.step_parts(text)] == parts


def test_the_first_step_in_a_few_words() -> None:
    assert words.step_says("Look at its last words: `kubectl logs x`") == "Look at its last words"
    assert words.step_says("`kubectl logs x`") == "kubectl logs x"
    assert words.step_says("Set `spec.replicas` to 3.") == "Set spec.replicas to 3."


def test_numbers_sizes_and_times() -> None:
    assert [words.plural(count, "Pod") for count in (0, 1, 1204)] == ["0 Pods", "1 Pod", "1,204 Pods"]
    assert [words.plural(2, noun) for noun in ("Ingress", "NetworkPolicy", "Gateway")] == [
        "2 Ingresses",
        "2 NetworkPolicies",
        "2 Gateways",
    ]
    assert [words.size(size) for size in (None, 0, 999, 1500, 412_345_678, 10**13)] == [
        "",
        "0 bytes",
        "999 bytes",
        "1.5 kB",
        "412 MB",
        "10000 GB",
    ]
    assert words.when(END, END) == "12:00:00"
    assert words.when(END - timedelta(days=1), END) == "31 Oct 12:00:00"
    assert words.when(END - timedelta(days=400), END) == "27 Sep 2025 12:00:00"
    assert words.when(None, END) == "unknown"


def test_a_tree_is_root_first_and_each_cause_before_its_effects() -> None:
    findings = {finding.id: finding for finding in SAMPLE.findings}
    rows = steps(SAMPLE.incidents[0], findings)
    assert [(row.finding.id, row.depth, row.level) for row in rows] == [
        ("n1", 0, 0), ("n2", 1, 1), ("n3", 2, 1), ("n4", 1, 1), ("n5", 2, 1),
    ]  # fmt: skip
    assert [row.fork for row in rows] == [False, True, False, True, False]
    assert [row.passing for row in rows] == [(), (0,), (0,), (), ()]
    assert rows[-1].last
    assert rows[1].after == 300


def test_a_rail_joins_each_step_to_what_explains_it() -> None:
    findings = {finding.id: finding for finding in SAMPLE.findings}
    drawn = [rail(row) for row in steps(SAMPLE.incidents[0], findings)]
    assert drawn[0].lines == ((13, "20", "100%"),)
    assert drawn[1].lines == ((13, "0", "100%"), (34, "20", "100%"))
    assert drawn[3].lines == ((13, "0", "6"), (34, "20", "100%"))
    assert drawn[4].lines == ((34, "0", "2"),)


def test_the_timeline_is_in_order_and_inside_its_drawing() -> None:
    for report in (SAMPLE, big()):
        views = incident_views(report)
        rows = moments(report, views)
        assert [row.at for row in rows] == sorted(row.at for row in rows)
        drawn = drawing(report, views, rows)
        assert drawn
        assert len(drawn.lanes) <= 13
        for lane in drawn.lanes:
            assert 190 <= lane.start <= lane.end <= 982
            assert all(190 <= mark.x <= 982 for mark in lane.marks)
            near = [b.x - a.x for a, b in zip(lane.marks, lane.marks[1:], strict=False)]
            assert all(gap >= 6 for gap in near)


def test_no_timeline_without_anything_to_show() -> None:
    assert drawing(HEALTHY, (), moments(HEALTHY, ())) is None


def test_the_questions_can_be_asked() -> None:
    database = duckdb.connect()
    for table in TABLES:
        columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
        database.execute(f'CREATE TABLE "{table.name}" ({columns})')
    for _, query in QUESTIONS:
        assert '"' not in query
        database.execute(query)


def test_the_most_telling_evidence_comes_first() -> None:
    log = Evidence(0, "a.log", 3, "", "panic: no disk", "Observed")
    code = Evidence(0, "pods.yaml", 1, "status.exitCode", "2", "Reported")
    message = Evidence(0, "pods.yaml", 2, "status.message", "back-off restarting", "Reported")
    assert [item.text for item in quotes(SAMPLE, replace(CRASH, evidence=(code, message, log)))] == [
        "panic: no disk", "2", "back-off restarting",
    ]  # fmt: skip
    assert [item.text for item in quotes(SAMPLE, replace(CRASH, evidence=(code, message)))] == ["back-off restarting", "2"]


def test_the_line_that_the_rule_puts_first_is_quoted_first() -> None:
    cause = Evidence(0, "a.log", 3, "", "GPU 4e is in use", "Observed")
    echo = Evidence(0, "a.log", 9, "", "Changing the label of the node to 'failed'", "Observed")
    label = Evidence(0, "nodes.yaml", 1, "metadata.labels.state", "failed at long last", "Reported")
    assert [item.text for item in quotes(SAMPLE, replace(CRASH, evidence=(label, cause, echo)))] == [
        cause.value, label.value, echo.value,
    ]  # fmt: skip
    ready = Evidence(0, "pods.yaml", 2, "status.ready", "0", "Reported")
    phase = Evidence(0, "pods.yaml", 3, "status.phase", "Running", "Reported")
    assert [item.text for item in quotes(SAMPLE, replace(CRASH, evidence=(ready, phase)))] == ["0", "Running"]


def test_ages_and_plurals() -> None:
    assert [words.lasted(300.0), words.lasted(None)] == ["for 5 min", "for an unknown time"]
    assert [words.plural(2, noun) for noun in ("Endpoints", "Ingress", "NetworkPolicy")] == [
        "2 Endpoints",
        "2 Ingresses",
        "2 NetworkPolicies",
    ]


def test_a_series_of_names() -> None:
    assert [words.series(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_hits_that_are_not_all_kept_are_told() -> None:
    one = CappedHits(0, "pods/kettle.log", "tea/lid", 90210, 200)
    assert capped(LogCoverage({"current": 1}, 1, 1)) == ""
    told = capped(LogCoverage({"current": 1}, 1, 1, (one,), 7))
    assert "tea/lid 200 of 90,210 in pods/kettle.log" in told
    assert told.endswith("and 6 more.")


def test_a_name_that_no_cluster_has_is_cut() -> None:
    assert words.thing(ObjectRef("", "Pod", "n" * 63, "p" * 253)) == f"Pod {'n' * 63}/{'p' * 253}"
    assert len(words.thing(ObjectRef("", "K" * 9_000, "n" * 9_000, "p" * 9_000))) <= 2 * words.NAME + 1
    assert len(words.object_name(ObjectRef("", "K" * 9_000, "", ""))) == words.NAME
