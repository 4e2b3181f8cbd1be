"""Which finding explains which, and how incidents are ranked."""

from __future__ import annotations

from typing import Any

WORLD = """
objects:
  - {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {}}
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, status: {}}
  - apiVersion: apps/v1
    kind: ReplicaSet
    metadata:
      name: web-1
      namespace: shop
      ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]
  - &pod
    apiVersion: v1
    kind: Pod
    metadata: &meta
      name: web-1-a
      namespace: shop
      ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: true}]
    spec: {nodeName: n1, containers: [{name: c, image: i}]}
    status: {phase: Running}
  - {<<: *pod, metadata: {<<: *meta, name: web-1-b}}
  - {<<: *pod, metadata: {<<: *meta, name: web-1-c}, spec: {nodeName: n2, containers: [{name: c, image: i}]}}
"""


def rule(where: str, since: str = "NULL", more: str = "", columns: str = "1 AS x") -> str:
    select = f"SELECT o.object_id, {since} AS since, {columns} FROM objects o WHERE {where} ORDER BY o.name"
    return f"query: {select}\nneeds: [Pod]\n{more}"


def at(clock: str) -> str:
    return f"TIMESTAMP '2026-11-01 {clock}'"


NODE = "explains: [{codes: ['pod/*', workload/Odd], along: [node, owner]}]"
POD = "explains: [{codes: [workload/Odd], along: [owner]}]"


def parents(report: Any) -> dict[str, str]:
    codes = {finding.id: f"{finding.code} {finding.object.name}" for finding in report.findings}
    return {codes[low]: codes[high] for incident in report.incidents for low, high in incident.parents.items()}


def test_a_cause_that_began_later_counts_only_where_the_rule_says_so(write: Any, analyse: Any) -> None:
    rules = {
        "workload/Odd": rule("o.kind = 'Deployment'", at("11:00:00")),
        "pod/Odd": rule("o.name = 'web-1-a'", at("11:30:00"), POD),
    }
    assert parents(analyse(WORLD, write(rules))) == {}
    later = "explained_by: [{codes: [pod/Odd], along: [owner], any_time: true}]"
    rules["workload/Odd"] = rule("o.kind = 'Deployment'", at("11:00:00"), later)
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Odd web-1-a"}


def test_what_is_left_over_comes_last_in_the_order_of_its_query(write: Any, analyse: Any) -> None:
    info = "severity: info"
    rules = {
        "event/Odd": rule("o.kind = 'Pod'", at("11:59:00"), f"{info}\nlast: true").replace(
            "ORDER BY o.name", "ORDER BY o.name DESC"
        ),
        "pod/Odd": rule("o.kind = 'ReplicaSet'", at("08:00:00"), info),
    }
    found = [(finding.code, finding.object.name) for finding in analyse(WORLD, write(rules)).findings]
    assert found == [("pod/Odd", "web-1"), ("event/Odd", "web-1-c"), ("event/Odd", "web-1-b"), ("event/Odd", "web-1-a")]


def test_the_same_object_may_say_nothing_of_a_cause(write: Any, analyse: Any) -> None:
    apart = "explained_by: [{codes: [pod/Odd], along: [owner], apart: true}]"
    rules = {"workload/Odd": rule("o.name = 'web-1-a'", more=apart), "pod/Odd": rule("o.name = 'web-1-a'")}
    assert parents(analyse(WORLD, write(rules))) == {}
    rules["workload/Odd"] = rule("o.kind = 'Deployment'", more=apart)
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Odd web-1-a"}


def test_the_nearest_cause_counts_and_the_chain_is_one_incident(write: Any, analyse: Any) -> None:
    rules = {
        "workload/Odd": rule("o.kind = 'Deployment'", at("11:10:00")),
        "pod/Odd": rule("o.name = 'web-1-a'", at("11:05:00"), POD),
        "node/Odd": rule("o.kind = 'Node'", at("11:00:00"), NODE),
    }
    report = analyse(WORLD, write(rules))
    assert parents(report) == {"pod/Odd web-1-a": "node/Odd n1", "workload/Odd web": "pod/Odd web-1-a"}
    (incident,) = report.incidents
    assert [report.finding(name).code for name in incident.findings] == ["node/Odd", "pod/Odd", "workload/Odd"]
    assert incident.impact == {"Node": 1, "Deployment": 1, "Pod": 1}
    assert incident.title == report.finding(incident.root).title
    assert incident.next == report.finding(incident.root).next


def test_where_the_root_says_nothing_its_effects_say_what_to_do(write: Any, analyse: Any) -> None:
    rules = {"pod/Odd": rule("o.name = 'web-1-a'"), "node/Odd": rule("o.kind = 'Node'", "NULL", f"{NODE}\nnext: []")}
    report = analyse(WORLD, write(rules))
    (incident,) = report.incidents
    assert incident.next == next(finding.next for finding in report.findings if finding.code == "pod/Odd") != ()


def test_a_cause_is_not_later_than_its_effect(write: Any, analyse: Any) -> None:
    for since, joined in (("11:06:59", True), ("11:07:01", False)):
        rules = {"pod/Odd": rule("o.name = 'web-1-a'", at("11:05:00")), "node/Odd": rule("o.kind = 'Node'", at(since), NODE)}
        assert bool(parents(analyse(WORLD, write(rules)))) == joined


def test_an_unknown_time_passes(write: Any, analyse: Any) -> None:
    rules = {"pod/Odd": rule("o.name = 'web-1-a'"), "node/Odd": rule("o.kind = 'Node'", at("11:59:00"), NODE)}
    assert parents(analyse(WORLD, write(rules))) == {"pod/Odd web-1-a": "node/Odd n1"}


def test_a_pod_on_another_node_is_not_reached(write: Any, analyse: Any) -> None:
    rules = {"pod/Odd": rule("o.name = 'web-1-c'"), "node/Odd": rule("o.kind = 'Node'", "NULL", NODE)}
    assert not parents(analyse(WORLD, write(rules)))


def test_a_relation_that_is_not_named_leads_nowhere(write: Any, analyse: Any) -> None:
    rules = {
        "workload/Odd": rule("o.kind = 'Deployment'"),
        "pod/Odd": rule("o.name = 'web-1-a'", "NULL", POD.replace("owner", "node")),
    }
    assert not parents(analyse(WORLD, write(rules)))


def test_more_than_half_of_a_folded_finding_must_be_reached(write: Any, analyse: Any) -> None:
    fold = "fold: {by: [x]}"
    for where, joined in (("o.kind = 'Pod'", True), ("o.name IN ('web-1-b', 'web-1-c')", False)):
        rules = {"pod/Odd": rule(where, "NULL", fold), "node/Odd": rule("o.kind = 'Node'", "NULL", NODE)}
        assert bool(parents(analyse(WORLD, write(rules)))) == joined


def test_the_same_object_needs_no_relation(write: Any, analyse: Any) -> None:
    rules = {
        "pod/Odd": rule("o.name = 'web-1-a'", "NULL", "explains: [{codes: [pod/Tired]}]"),
        "pod/Tired": rule("o.kind = 'Pod'"),
    }
    assert parents(analyse(WORLD, write(rules))) == {"pod/Tired web-1-a": "pod/Odd web-1-a"}


def test_the_effect_may_name_its_cause(write: Any, analyse: Any) -> None:
    rules = {
        "pod/Odd": rule("o.name = 'web-1-a'"),
        "workload/Odd": rule("o.kind = 'Deployment'", "NULL", "explained_by: [{codes: [pod/Odd], along: [owner]}]"),
    }
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Odd web-1-a"}


def test_two_that_explain_each_other_make_no_circle(write: Any, analyse: Any) -> None:
    rules = {
        "pod/Odd": rule("o.name = 'web-1-a'", "NULL", "explains: [{codes: [pod/Tired]}]"),
        "pod/Tired": rule("o.name = 'web-1-a'", "NULL", "explains: [{codes: [pod/Odd]}]"),
    }
    report = analyse(WORLD, write(rules))
    assert len(report.incidents) == 1
    assert len(parents(report)) == 1


def test_an_error_explains_before_a_warning(write: Any, analyse: Any) -> None:
    same = "explains: [{codes: [workload/Odd], along: [owner]}]"
    rules = {
        "pod/Mild": rule("o.name = 'web-1-a'", at("10:00:00"), f"severity: warning\n{same}"),
        "pod/Odd": rule("o.name = 'web-1-b'", at("11:00:00"), same),
        "workload/Odd": rule("o.kind = 'Deployment'", at("11:30:00")),
    }
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Odd web-1-b"}


def test_what_lasts_explains_before_what_is_over(write: Any, analyse: Any) -> None:
    rules = {
        "pod/Gone": rule("o.name = 'web-1-a'", at("10:00:00"), f"severity: warning\n{POD}"),
        "pod/Now": rule("o.name = 'web-1-b'", at("11:00:00"), f"severity: warning\n{POD}"),
        "workload/Odd": rule("o.kind = 'Deployment'", at("11:30:00")),
    }
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Gone web-1-a"}
    rules["pod/Gone"] += "\npast: true"
    assert parents(analyse(WORLD, write(rules))) == {"workload/Odd web": "pod/Now web-1-b"}


def test_every_finding_is_in_one_incident_and_the_order_is_by_weight(write: Any, analyse: Any) -> None:
    rules = {
        "collect/Odd": rule("o.name = 'n1'"),
        "node/Small": rule("o.kind = 'Node'", "NULL", "severity: warning"),
        "pod/Known": rule("o.name = 'web-1-b'", "NULL", "severity: info"),
        "pod/One": rule("o.name = 'web-1-a'", at("11:59:00")),
        "pod/Two": rule("o.kind = 'Pod'", at("09:00:00"), "fold: {by: [x]}"),
    }
    report = analyse(WORLD, write(rules))
    placed = [name for incident in report.incidents for name in incident.findings]
    assert sorted(placed) == sorted(finding.id for finding in report.findings)
    assert [report.finding(incident.root).code for incident in report.incidents] == [
        "pod/Two",
        "pod/One",
        "node/Small",
        "pod/Known",
        "collect/Odd",
    ]


def test_of_equal_weight_what_began_last_comes_first(write: Any, analyse: Any) -> None:
    rules = {"pod/Early": rule("o.name = 'web-1-a'", at("09:00:00")), "pod/Late": rule("o.name = 'web-1-b'", at("11:00:00"))}
    report = analyse(WORLD, write(rules))
    assert [report.finding(incident.root).code for incident in report.incidents] == ["pod/Late", "pod/Early"]
