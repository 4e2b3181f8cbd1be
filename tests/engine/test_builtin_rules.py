"""Every rule of ours passes its own cases and lacks nothing."""

from __future__ import annotations

from analyzer.engine.case_run import run_all
from analyzer.engine.pack import load_packs


def test_no_rule_of_ours_is_broken() -> None:
    assert [str(broken) for broken in load_packs()[0].broken] == []


def test_our_rules_pass_their_cases() -> None:
    outcomes = list(run_all())
    assert [problem for outcome in outcomes for problem in outcome.problems] == []
    assert sum(outcome.cases for outcome in outcomes) >= 3 * len(outcomes)
