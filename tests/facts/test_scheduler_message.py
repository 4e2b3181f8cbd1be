"""The scheduler's message, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts.scheduler_message import Cause, parse

from .build import database, rows
from .test_pods import ago, pod

TAIL = " preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found."


def told(message: str) -> list[tuple[int | None, str]]:
    return [(cause.nodes, cause.cause) for cause in parse(message).causes]


def test_counts_taint_resource_and_no_tail() -> None:
    parsed = parse(
        "0/4 nodes are available: 1 node(s) had untolerated taint {example.com/only: yes}, 3 Insufficient example.com/gpu." + TAIL
    )
    assert parsed.nodes_total == 4
    assert parsed.causes == (
        Cause(1, "taint", "node(s) had untolerated taint {example.com/only: yes}", taint="example.com/only"),
        Cause(3, "insufficient", "Insufficient example.com/gpu", resource="example.com/gpu"),
    )


@pytest.mark.parametrize(
    ("message", "causes"),
    [
        ("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims." + TAIL, [(None, "pvc")]),
        ("0/3 nodes are available: 3 pod has unbound immediate PersistentVolumeClaims.", [(3, "pvc")]),
        ('0/3 nodes are available: persistentvolumeclaim "a" not found. 1 Too many pods.', [(None, "pvc"), (1, "too-many-pods")]),
        (
            "0/3 nodes are available: 1 node(s) had taint {a: b}, that the pod didn't tolerate, 2 node(s) were unschedulable.",
            [(1, "taint"), (2, "cordoned")],
        ),
        ("0/3 nodes are available: 3 node(s) had untolerated taint(s).", [(3, "taint")]),
        ("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.", [(2, "affinity")]),
        ("0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.", [(2, "pod-affinity")]),
        ("0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.", [(2, "spread")]),
        ("0/2 nodes are available: 2 node(s) had volume node affinity conflict.", [(2, "volume")]),
        ("0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.", [(2, "volume")]),
        ("0/2 nodes are available: 2 node(s) exceed max volume count.", [(2, "volume")]),
        ("0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.", [(1, "ports")]),
        ("0/3 nodes are available: 3 cannot allocate all claims. still not schedulable," + TAIL, [(3, "dra")]),
        ("0/3 nodes are available: 3 resourceclaim not available on the node. no new claims to deallocate," + TAIL, [(3, "dra")]),
        ('pod "ns/p": ResourceClaim not created yet', [(None, "dra")]),
        ("request gpu: device class gpu.example does not exist", [(None, "dra")]),
        ('persistentvolumeclaim "a" waits for binding', [(None, "pvc")]),
        ("pod group is not ready, 3 Pending, 3 minAvailable", [(None, "gang")]),
        (
            "No nodes are available that match all of the following predicates:: Insufficient cpu (1), MatchNodeSelector (2).",
            [(1, "insufficient"), (2, "affinity")],
        ),
        ("0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory.", [(2, "insufficient"), (2, "insufficient")]),
        ("no nodes available to schedule pods", [(None, "other")]),
        ("", []),
    ],
)
def test_kinds_of_causes(message: str, causes: list[tuple[int | None, str]]) -> None:
    assert told(message) == causes


@given(st.text(max_size=400))
def test_any_text_is_taken(text: str) -> None:
    parse(text)


REASONS = st.sampled_from(
    [
        "Insufficient cpu",
        "Insufficient example.com/gpu",
        "node(s) had untolerated taint {a/b: c}",
        "node(s) were unschedulable",
        "node(s) didn't match Pod's node affinity/selector",
        "cannot allocate all claims",
        "Too many pods",
    ]
)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(1, 5000), REASONS), min_size=1, max_size=7), st.integers(1, 5000), st.booleans(), st.booleans()
)
def test_every_count_comes_back(items: list[tuple[int, str]], total: int, first: bool, tail: bool) -> None:
    before = "pod has unbound immediate PersistentVolumeClaims. " if first else ""
    counted = ", ".join(f"{count} {reason}" for count, reason in items)
    message = f"0/{total} nodes are available: {before}{counted}.{TAIL if tail else ''}"
    parsed = parse(message)
    assert parsed.nodes_total == total
    assert [(cause.nodes, cause.text) for cause in parsed.causes if cause.nodes is not None] == items
    assert sum(cause.nodes is None for cause in parsed.causes) == first


@given(st.text(alphabet="0/ nodesareavailable:.,(){}1Insufficient", max_size=4_000))
@settings(max_examples=50)
def test_no_text_takes_long(text: str) -> None:
    parse("0/3 nodes are available: " + text * 5)


def test_only_pending_pods_have_causes() -> None:
    message = "0/4 nodes are available: 4 Insufficient cpu."
    said = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": ago(minutes=9),
    }
    gates = {"nodeName": "", "schedulingGates": [{"name": "a/b"}]}
    con = database(
        [
            pod("Pending", name="waits", spec={"nodeName": ""}, conditions=[said]),
            pod("Pending", name="gated", spec=gates, conditions=[said]),
            pod("Running", name="runs", conditions=[said]),
        ]
    )
    found = rows(con, "SELECT p.name, s.nodes, s.nodes_total, s.resource FROM scheduling_causes s JOIN pods p USING (object_id)")
    assert found == [{"name": "waits", "nodes": 4, "nodes_total": 4, "resource": "cpu"}]
