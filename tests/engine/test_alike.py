"""Many incidents of one kind are told as one entry, and nothing is said of them that is not so of all."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.engine.alike import FEW, LEAST, MANY
from analyzer.engine.alike_words import common

SQL = "needs: [Pod]\nseverity: error\n"


def pods(number: int) -> str:
    return "objects:\n" + "\n".join(
        f"  - {{apiVersion: v1, kind: Pod, metadata: {{name: p-{at}, namespace: team-{at % 3}}}, status: {{phase: Running}}}}"
        for at in range(number)
    )


def rule(title: str, columns: str = "", tail: str = "") -> str:
    return f'query: SELECT object_id, namespace, name{columns} FROM pods ORDER BY name\n{SQL}title: "{title}"\n{tail}'


def test_many_of_one_kind_are_one_entry_and_a_fault_each(write: Any, analyse: Any) -> None:
    report = analyse(
        pods(30), write({"pod/Odd": rule("Pod {{ namespace }}/{{ name }} waits for its image: the registry is gone")})
    )
    assert len(report.incidents) == 30
    (entry,) = report.entries
    assert entry.title == "30 pods in 3 namespaces wait for their image: the registry is gone"
    assert len(entry.incidents) == len(entry.names) == 30
    assert entry.impact == {"Pod": 30}
    assert report.verdict == "30 faults of one kind: 30 pods in 3 namespaces wait for their image."


def test_few_incidents_stay_apart(write: Any, analyse: Any) -> None:
    assert analyse(pods(FEW), write({"pod/Odd": rule("Pod {{ namespace }}/{{ name }} waits: why")})).entries == ()


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Pod {{ namespace }}/{{ name }} was evicted", {"12 pods in 3 namespaces were evicted"}),
        ("Pod {{ name }} no longer reports and waits: why", {"12 pods in 3 namespaces no longer report and wait: why"}),
        ("The head of Pod {{ namespace }}/{{ name }} is not ready", {"The head of 12 pods in 3 namespaces is not ready"}),
        (
            "GPU {{ mark }} of pod {{ name }} reported Xid 79: it is gone",
            {"GPU … of 12 pods in 3 namespaces reported Xid 79: it is gone"},
        ),
        (
            "Pod {{ namespace }}/{{ name }} crashes: container {{ 'a' if last < 6 else 'b' }} ended",
            {"6 pods in 3 namespaces crash: container a ended", "6 pods in 3 namespaces crash: container b ended"},
        ),
        (
            "Pod {{ namespace }}/{{ name }} is down: no rights in {{ namespace }}",
            {"12 pods in 3 namespaces are down: no rights in …"},
        ),
        ("Card at PCI {{ name }} is gone: why", {"Card at PCI … is gone (12 times): why"}),
        ("Something is wrong with {{ name }}ish", set()),
    ],
)
def test_what_is_not_the_same_is_not_said(write: Any, analyse: Any, title: str, told: set[str]) -> None:
    columns = ", 'id-' || name AS mark, right(name, 2).replace('-', '')::INTEGER AS last"
    report = analyse(pods(12), write({"pod/Odd": rule(title, columns)}))
    assert {entry.title for entry in report.entries} == told


def test_far_too_many_of_one_code_are_one_even_where_their_causes_differ(write: Any, analyse: Any) -> None:
    (entry,) = analyse(pods(MANY + 1), write({"pod/Odd": rule("Something is wrong with {{ name }}ish")})).entries
    assert entry.title == f"Something is wrong with … ({MANY + 1} times)"


def test_folded_findings_are_counted_by_their_owners(write: Any, analyse: Any) -> None:
    title = "{{ count }} Workloads of ClusterQueue {{ queue }} wait: no quota"
    columns = ", 'q' || ((row_number() OVER (ORDER BY name)) // 2) AS queue"
    report = analyse(pods(29), write({"pod/Odd": rule(title, columns, "fold: {by: [queue]}")}))
    titles = {entry.title: len(entry.incidents) for entry in report.entries}
    assert titles == {"28 Workloads of 14 ClusterQueues wait: no quota": 14, "1 Workloads of ClusterQueue q0 wait: no quota": 1}
    names = next(entry.names for entry in report.entries if len(entry.incidents) == 14)
    assert set(names) == {f"ClusterQueue q{number}" for number in range(1, 15)}


def test_other_incidents_keep_their_own_entry_and_the_order_goes_by_severity_then_by_all_that_is_hit(
    write: Any, analyse: Any
) -> None:
    single = "query: SELECT object_id FROM pods WHERE name IN ('p-1', 'p-2') ORDER BY name\nneeds: [Pod]\n"
    report = analyse(
        pods(15),
        write(
            {
                "pod/Odd": rule("Pod {{ namespace }}/{{ name }} waits: why").replace("error", "warning"),
                "pod/One": f"{single}title: 'One of its own'\nseverity: error\n",
            }
        ),
    )
    assert [(entry.title, len(entry.incidents)) for entry in report.entries] == [
        ("One of its own", 1),
        ("One of its own", 1),
        ("15 pods in 3 namespaces wait: why", 15),
    ]
    assert report.verdict == "Two faults: One of its own, and One of its own; besides, 15 warnings of one kind."
    assert LEAST == 3
    assert {one for entry in report.entries for one in entry.incidents} == {one.id for one in report.incidents}


def test_words_in_common() -> None:
    assert common(["a b c", "a x c"]) == "a … c"
    assert common(["a b c d", "a c d"]) == "a … c d"
    assert common(["a", "a"]) == "a"
    assert common(["a b", "c d"]) == "…"
    assert common(["", "a"]) == "…"
