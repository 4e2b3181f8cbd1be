from __future__ import annotations

from typing import Any

import pytest

from analyzer.engine.needs import Collected, needed_kinds, unmet

PODS = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, status: {phase: Running}}]"
QUERY = "query: SELECT object_id FROM objects"


def entries(report: Any, code: str = "pod/Odd") -> list[Any]:
    return [entry for entry in report.not_evaluated if entry.code == code]


@pytest.mark.parametrize(
    ("needs", "missing", "what", "ask"),
    [
        ("[Event]", "missing: [Event]", "Event: not collected", "kubectl get events -A -o yaml > events.yaml"),
        ("[Node]", "missing: [Node]", "Node: not collected", "kubectl get nodes -o yaml > nodes.yaml"),
        ("[Deployment]", "missing: [Deployment.apps]", "Deployment.apps: not collected", "kubectl get deployments.apps -A"),
        ("[logs]", "", "logs of containers: not collected", "kubectl logs POD -n NAMESPACE"),
        ("['document:alerts']", "", "alerts: not collected", "send the file that holds alerts"),
        ("[Secret]", "missing: [Secret]\nerrors: [{kind: forbidden, subject: secrets}]", "forbidden", "kubectl get secrets -A"),
    ],
)
def test_what_is_missing_is_named_with_its_command(
    write: Any, analyse: Any, needs: str, missing: str, what: str, ask: str
) -> None:
    report = analyse(f"{PODS}\n{missing}", write({"pod/Odd": f"{QUERY}\nneeds: {needs}"}))
    assert not report.findings
    (entry,) = entries(report)
    assert what in entry.needs[0]
    assert entry.ask[0].startswith(ask)


def test_on_openshift_the_command_is_ocs(write: Any, analyse: Any) -> None:
    version = "{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, status: {}}"
    case = f"objects: [{version}]\nmissing: [Pod]"
    (entry,) = entries(analyse(case, write({"pod/Odd": f"{QUERY}\nneeds: [Pod]"})))
    assert entry.ask == ("oc adm inspect pods --all-namespaces",)


def test_an_empty_list_is_enough(write: Any, analyse: Any) -> None:
    report = analyse(PODS, write({"pod/Odd": f"{QUERY}\nneeds: [Event]"}))
    assert len(report.findings) == 1
    assert not entries(report)


def test_a_part_is_used_as_far_as_it_goes(write: Any, analyse: Any) -> None:
    report = analyse(f"{PODS}\nmissing: [Pod]", write({"pod/Odd": f"{QUERY}\nneeds: [Pod]"}))
    assert len(report.findings) == 1


def test_a_part_of_which_nothing_was_read_is_not_enough(write: Any) -> None:
    (rule,) = write({"pod/Odd": f"{QUERY}\nneeds: [Event]"}).rules
    entry = unmet(rule, Collected({("", "Event"): ("partial", 0)}, False, frozenset(), False))
    assert entry is not None
    assert entry.needs == ("Event: collected in part, and none of it read",)
    assert unmet(rule, Collected({("", "Event"): ("partial", 1)}, False, frozenset(), False)) is None


def test_one_of_several_is_enough_where_the_rule_says_so(write: Any, analyse: Any) -> None:
    rule = f"{QUERY}\nneeds: [Event, logs]\nany_of: true"
    assert not entries(analyse(PODS, write({"pod/Odd": rule})))
    (entry,) = entries(analyse(f"{PODS}\nmissing: [Event]", write({"pod/Odd": rule})))
    assert len(entry.needs) == 2


def test_objects_without_a_status_are_named(write: Any, analyse: Any) -> None:
    bare = ", ".join(f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{n}, namespace: shop}}}}" for n in range(7))
    case = PODS.replace("]", f", {bare}]")
    report = analyse(case, write({"pod/Odd": f"{QUERY} WHERE name = 'a'\nneeds: [{{kind: Pod, status: true}}]"}))
    assert len(report.findings) == 1
    (entry,) = entries(report)
    assert "Pod shop/p0" in entry.reason
    assert "and 2 more" in entry.reason
    assert len(entry.needs) == 6


def test_objects_that_a_rule_abstains_for_are_named_by_reason(write: Any, analyse: Any) -> None:
    text = f"{QUERY} WHERE false\nneeds: [Pod]\nabstain: SELECT object_id, 'its node was not collected' AS reason FROM objects"
    (entry,) = entries(analyse(PODS, write({"pod/Odd": text})))
    assert (entry.reason, entry.needs) == ("its node was not collected", ("Pod shop/a",))


def test_the_kinds_that_rules_need(write: Any) -> None:
    pack = write({"pod/Odd": f"{QUERY}\nneeds: [Pod, Deployment, ClusterOperator.config.openshift.io, logs]"})
    assert needed_kinds([pack]) == {("", "Pod"), ("apps", "Deployment"), ("config.openshift.io", "ClusterOperator")}
