"""Whether the list of one namespace is whole, where other namespaces have none."""

from __future__ import annotations

import pytest

from analyzer.engine import macros
from analyzer.facts.coverage import ELSEWHERE
from tests.facts.build import database
from tests.kueue.test_facts import workload


@pytest.mark.parametrize(
    ("status", "reason", "place", "whole"),
    [
        ("complete", None, "pottery", True),
        ("partial", f"{ELSEWHERE} 1 namespace: smithy", "pottery", True),
        ("partial", f"{ELSEWHERE} 1 namespace: smithy", "smithy", False),
        ("partial", "a list that was cut or lost items: workloads.yaml", "pottery", False),
        ("forbidden", None, "pottery", False),
    ],
)
def test_a_list_of_one_namespace(status: str, reason: str | None, place: str, whole: bool) -> None:
    con = database([workload("w")])
    macros.create(con)
    con.execute("UPDATE coverage SET status = ?, reason = ?, scope = ['pottery'] WHERE kind = 'Workload'", [status, reason])
    assert con.execute("SELECT listed_here('kueue.x-k8s.io', 'Workload', ?)", [place]).fetchall() == [(whole,)]
