"""Every rule of ours passes its own cases, lacks nothing, and quotes what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import duckdb
import pytest

from analyzer.engine import analysis, case_check, catalogue
from analyzer.engine.case_check import Bench, report_of
from analyzer.engine.case_file import Case
from analyzer.engine.case_run import run_all
from analyzer.engine.draft import Draft, Quote
from analyzer.engine.evidence import evidence
from analyzer.engine.model import Report
from analyzer.engine.pack import built_in, load_packs
from analyzer.engine.rule import Rule

OF_WHAT_IS_NOT_THERE = {
    "collect/Failed",
    "gateway/InferencePoolNotReady",
    "gpu/ComponentNotReady",
    "kueue/ControllerDown",
    "ome/ActiveConfigurationUnavailable",
}
"""What these tell may stand nowhere, so that nothing can be quoted; every finding of the others quotes something."""

KEY = re.compile(r"""\["([^"]+)"\]|\[(\d+)\]|([^.\[\]]+)""")


def test_no_rule_of_ours_is_broken() -> None:
    assert [str(broken) for broken in built_in().broken] == []


@pytest.mark.parametrize("code", [rule.code for rule in load_packs()[0].rules])
def test_our_rules_pass_their_cases_and_quote_only_what_is_there(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    examples: list[str] = []

    def seen(shared: Bench, rule: Rule, case: Case) -> Report:
        report = report_of(shared, rule, case)
        if case.fires and not examples:
            examples.append("\n".join(["", *catalogue.section(rule, catalogue.first(report, rule)), ""]))
        return report

    def checked(con: duckdb.DuckDBPyConnection, drafts: Iterable[Draft], *rest: Any) -> Any:
        drafts = list(drafts)
        wrong = [f"{draft.code} quotes {quote}" for draft in drafts for quote in draft.quotes if not stands(con, quote)]
        wrong += [
            f"{draft.code} quotes nothing" for draft in drafts if not draft.quotes and draft.code not in OF_WHAT_IS_NOT_THERE
        ]
        assert wrong == []
        return evidence(con, drafts, *rest)

    monkeypatch.setattr(analysis, "evidence", checked)
    monkeypatch.setattr(case_check, "report_of", seen)
    # In this process: other tests have left DuckDB's threads in it, with which it must not fork.
    (outcome,) = run_all(codes=[code], processes=1)
    assert outcome.problems == ()
    # `python -m analyzer.engine.catalogue` writes the page anew.
    assert examples[0] in catalogue.page().read_text(encoding="utf-8")
    # What cannot go unevaluated has no case of that.
    assert outcome.cases >= (2 if code.startswith("collect/") else 3)


def test_no_cases_lie_beside_no_rule() -> None:
    folder = load_packs()[0].folder
    cases = {path.name.removesuffix(".cases.yaml") for path in folder.glob("*/*.cases.yaml")}
    rules = {path.stem for path in folder.glob("*/*.yaml") if not path.name.endswith((".cases.yaml", ".signatures.yaml"))}
    assert cases == rules


def stands(con: duckdb.DuckDBPyConnection, quote: Quote) -> bool:
    """Whether the object holds the quoted text, or a text with it, in that field; what was computed stands nowhere."""
    if quote.origin != "object" or not quote.path or quote.kind == "Computed":
        return True
    (text,) = con.execute("SELECT json FROM objects WHERE object_id = ?", [quote.id]).fetchall()[0]
    value = json.loads(text)
    for name, index, key in KEY.findall(quote.path):
        try:
            value = value[int(index)] if index else value[name or key]
        except (KeyError, IndexError, TypeError):
            return False
    whole = value if isinstance(value, str) else json.dumps(value)
    return " ".join(quote.value.split()) in " ".join(whole.split())
