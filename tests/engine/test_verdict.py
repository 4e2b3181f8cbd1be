from __future__ import annotations

from typing import Any

import pytest

from analyzer.engine.verdict import clause

POD = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, status: {phase: Running}}]"
QUERY = "query: SELECT object_id FROM objects"


def odd(severity: str, title: str) -> str:
    return f"{QUERY}\nneeds: [Pod]\nseverity: {severity}\ntitle: {title}"


@pytest.mark.parametrize(
    ("rules", "case", "health", "verdict"),
    [
        ({}, POD, "healthy", "No fault found in what was collected."),
        ({"pod/Odd": odd("info", "Just so")}, POD, "healthy", "No fault found in what was collected."),
        ({"pod/Odd": odd("error", "Pod a is down")}, POD, "problems", "One fault: Pod a is down."),
        ({"pod/Odd": odd("warning", "Pod a is slow")}, POD, "problems", "One warning: Pod a is slow."),
        (
            {"collect/Odd": odd("error", "Nothing came")},
            POD,
            "healthy",
            "No fault found in what was collected; the bundle itself is not whole.",
        ),
        (
            {"pod/Aa": odd("error", "A"), "pod/Bb": odd("error", "B"), "pod/Cc": odd("warning", "C")},
            POD,
            "problems",
            "Two faults: A, and B; besides, one warning.",
        ),
        (
            {"pod/Odd": odd("error", "Pod a is down"), "collect/Odd": odd("warning", "It is cut")},
            POD,
            "problems",
            "One fault: Pod a is down; the bundle itself is not whole.",
        ),
        (
            {"pod/Odd": f"{QUERY}\nneeds: [Secret]"},
            f"{POD}\nmissing: [Secret]",
            "healthy",
            "No fault found in what was collected; 1 rule could not be evaluated.",
        ),
        (
            {},
            f"{POD}\nmissing: [Event, Node]",
            "cannot-tell",
            "Cannot tell whether something is wrong: Nodes and Events were not collected; no fault found in the rest.",
        ),
        (
            {},
            f"{POD}\nmissing: [Pod]",
            "cannot-tell",
            "Cannot tell whether something is wrong: Pods were only partly collected; no fault found in the rest.",
        ),
        ({"pod/Odd": odd("error", "Pod a is down")}, f"{POD}\nmissing: [Event]", "problems", "One fault: Pod a is down."),
    ],
)
def test_health_and_verdict(write: Any, analyse: Any, rules: dict[str, str], case: str, health: str, verdict: str) -> None:
    report = analyse(case, write(rules | {"pod/None": f"{QUERY} WHERE false\nneeds: [Pod]"}))
    assert (report.health, report.verdict) == (health, verdict)


def test_only_three_causes_are_named(write: Any, analyse: Any) -> None:
    report = analyse(POD, write({f"pod/Odd{n}": odd("error", f"Fault {n}") for n in range(1, 6)}))
    assert report.verdict.startswith("Five faults: ")
    assert report.verdict.endswith(", and two more.")


def test_a_cause_is_named_in_a_short_clause(write: Any, analyse: Any) -> None:
    name = "registry.lighthouse.example/search/embedder-of-long-names-and-more-words-still-87c2de592-6c4jf"
    report = analyse(POD, write({"pod/Odd": odd("error", f"'Pod {name} is down: the registry has no such image'")}))
    assert report.verdict == f"One fault: Pod {name} is down."


@pytest.mark.parametrize(
    ("title", "says"),
    [
        (f"Pod {'n' * 63}/{'p' * 253} is down", f"Pod {'n' * 63}/{'p' * 253} is down"),
        (f"Pod {'x' * 5000} is down", None),
        (
            f"Pod a {'waits and ' * 20}is down: why",
            "Pod a waits and waits and waits and waits and waits and waits and waits …",
        ),
        (f"A {'b' * 40} and {'c' * 40} and {'d' * 40}", f"A {'b' * 40} and {'c' * 40} and {'d' * 40}"),
        ("", ""),
        (
            "Pod lab/eval asks for nvidia.com/mig-1g.10gb, and the GPU nodes offer only nvidia.com/mig-3g.40gb",
            "Pod lab/eval asks for nvidia.com/mig-1g.10gb",
        ),
        (
            "4 pods of ReplicaSet lab/eval ask for nvidia.com/mig-1g.10gb that none of the GPU nodes offers to anyone",
            "4 pods of ReplicaSet lab/eval ask for nvidia.com/mig-1g.10gb that none of the GPU …",
        ),
    ],
    ids=["longest name", "no name", "long clause", "three names", "nothing", "second clause", "weak words"],
)
def test_names_stay_whole_and_long_clauses_end_between_words(title: str, says: str | None) -> None:
    found = clause(title)
    assert len(found) < 1200
    if says is not None:
        assert found == says
