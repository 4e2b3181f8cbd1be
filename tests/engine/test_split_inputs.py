"""Several inputs are one case of one cluster: what a rule says of objects does not depend on which input holds which of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import duckdb
import pytest

from analyzer import facts
from analyzer.engine.case_run import run_here

NAMES_OTHERS = (
    "apiservice/Unavailable",
    "cert/Expired",
    "gateway/InferencePoolNotReady",
    "grove/NotAvailable",
    "jobset/Failed",
    "kai/QueueOrphaned",
    "kai/Unschedulable",
    "karpenter/NodePoolNotReady",
    "kueue/ControllerDown",
    "lws/NotReady",
    "network/NicPolicyNotReady",
    "node/DrainBlocked",
    "pvc/Pending",
    "ray/JobStuck",
    "train/Failed",
    "train/NotStarted",
    "volcano/Unschedulable",
)
"""Rules about objects that name others: a queue, a class, a runtime, a Service, a node."""


@pytest.mark.parametrize("code", NAMES_OTHERS)
def test_the_cases_of_a_rule_hold_whichever_input_an_object_is_in(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    derive = facts.derive_all

    def split(con: duckdb.DuckDBPyConnection, needed: Iterable[tuple[str, str]] = ()) -> Any:
        rows = con.execute("SELECT object_id, kind, name FROM objects").fetchall()
        second = [number for number, kind, name in rows if zlib.crc32(f"a{kind}/{name}".encode()) & 1]
        con.execute("INSERT INTO inputs BY NAME SELECT * REPLACE (1 AS input, 'second' AS path) FROM inputs")
        con.execute("UPDATE objects SET input = 1 WHERE object_id IN (SELECT unnest(?::BIGINT[]))", [second])
        return derive(con, needed=needed)

    monkeypatch.setattr(facts, "derive_all", split)
    outcome = run_here(None, code)
    assert outcome.cases
    assert outcome.problems == ()
