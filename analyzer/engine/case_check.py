"""Running a case and saying in words how it differs from what it expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer import times
from analyzer.bundle.signatures import Scanner
from analyzer.engine import analysis, case_tables
from analyzer.engine.case_file import Case
from analyzer.engine.model import BROKEN, Finding, Report
from analyzer.engine.needs import needed_kinds
from analyzer.engine.pack import Pack, signatures_of
from analyzer.engine.rule import Rule


@dataclass(frozen=True, slots=True)
class Bench:
    """What the cases of a run share: a connection, all rules, the kinds that these need, and the signatures."""

    con: duckdb.DuckDBPyConnection
    packs: tuple[Pack, ...]
    kinds: frozenset[tuple[str, str]]
    scanner: Scanner


def bench(packs: Sequence[Pack]) -> Bench:
    """Sets up what all cases share."""
    return Bench(case_tables.connection(), tuple(packs), frozenset(needed_kinds(packs)), Scanner(signatures_of(packs)))


def check(shared: Bench, rule: Rule, case: Case) -> list[str]:
    """Runs a case of a rule.

    Only the rule itself runs, unless what others find matters: for `explained`, and for rules that run last.

    Returns:
        What differs, one line each; empty where the case passes.
    """
    return compare(report_of(shared, rule, case), rule.code, case.expect)


def report_of(shared: Bench, rule: Rule, case: Case) -> Report:
    """What a rule says of a case; all rules run where what others find matters."""
    case_tables.build(shared.con, case, shared.kinds, shared.scanner)
    alone = not rule.last and "explained" not in case.expect
    packs = (Pack(rule_folder(shared.packs), True, (rule,), (), ""),) if alone else shared.packs  # noqa: FBT003
    return analysis.analyse(shared.con, packs, domains=frozenset(rule.domains))


def rule_folder(packs: Sequence[Pack]) -> Any:
    """Any folder of the packs: a pack of one rule needs one."""
    return packs[0].folder


def compare(report: Report, code: str, expect: dict[str, Any]) -> list[str]:
    """How a report differs from what a case expects of the rule with that code."""
    found = [finding for finding in report.findings if finding.code == code]
    own = [entry for entry in report.not_evaluated if entry.code == code]
    broken = [entry.reason for entry in own if entry.reason.startswith(BROKEN)]
    wrong = list(broken)
    if expect.get("none") and found:
        wrong += [f"unexpected: {_told(finding)}" for finding in found]
    if "findings" in expect:
        wrong += _compare_findings(found, list(expect["findings"] or []))
    if "notEvaluated" in expect:
        wrong += _compare_not_evaluated(report, code, expect["notEvaluated"])
    for effect, cause in (expect.get("explained") or {}).items():
        wrong += _compare_explained(report, effect, cause)
    if "states" in expect:
        states = {str(state.object): state.state for state in report.states}
        for name, state in (expect["states"] or {}).items():
            if states.get(name) != state:
                wrong.append(f"state of {name} is {states.get(name) or 'not given'}, expected {state}")
    return wrong


def _compare_findings(found: Sequence[Finding], wanted: list[dict[str, Any]]) -> list[str]:
    """Pairs what was found with what was expected, best fits first; neither may be left over."""
    left = list(found)
    wrong = []
    for want in wanted:
        best = min(left, key=lambda finding: len(misfits(finding, want)), default=None)
        if best is None or (want.get("object") and str(best.object) != want["object"]):
            wrong.append(f"missing: {want.get('object', 'a finding')}")
            continue
        left.remove(best)
        wrong += [f"{best.object}: {problem}" for problem in misfits(best, want)]
    return wrong + [f"unexpected: {_told(finding)}" for finding in left]


def misfits(finding: Finding, want: dict[str, Any]) -> list[str]:
    """How a finding differs from one expected."""
    wrong = []
    if want.get("object") and str(finding.object) != want["object"]:
        wrong += [f"is about {finding.object}, expected {want['object']}"] * 10
    for key in ("severity", "owner", "waiting", "basis", "count"):
        if key in want and getattr(finding, key) != want[key]:
            wrong.append(f"{key} is {getattr(finding, key)}, expected {want[key]}")
    if "since" in want:
        expected = times.parse(want["since"]) if want["since"] else None
        if finding.since != expected:
            wrong.append(f"since is {times.rfc3339(finding.since)}, expected {want['since']}")
    text = words(finding).lower()
    wrong += [f"does not say {part!r}" for part in _listed(want.get("contains")) if part.lower() not in text]
    wrong += [f"says {part!r}" for part in _listed(want.get("lacks")) if part.lower() in text]
    for key, shown in (("title", finding.title), ("next", "\n".join(finding.next))):
        wrong += [f"{key} lacks {part!r}: {shown}" for part in _listed(want.get(key)) if part.lower() not in shown.lower()]
    if "objects" in want:
        names = sorted(str(item) for item in finding.objects)
        if names != sorted(_listed(want["objects"])):
            wrong.append(f"objects are {', '.join(names) or 'none'}, expected {', '.join(_listed(want['objects']))}")
    return wrong


def words(finding: Finding) -> str:
    """All that a finding says: title, message, next steps, evidence, names."""
    parts = [finding.title, finding.message, *finding.next, *(item.value for item in finding.evidence)]
    return "\n".join([*parts, str(finding.object), *(str(item) for item in finding.objects)])


def _compare_not_evaluated(report: Report, code: str, want: Any) -> list[str]:
    entries = [entry for entry in report.not_evaluated if entry.code == code]
    if want is False:
        return [f"not evaluated: {entry.reason}" for entry in entries]
    if not entries:
        return [f"{code} is not among what was not evaluated"]
    text = "\n".join("\n".join([entry.reason, *entry.needs, *entry.ask]) for entry in entries)
    parts = _listed(want.get("contains")) if isinstance(want, dict) else []
    return [f"not evaluated, but does not say {part!r}: {text}" for part in parts if part.lower() not in text.lower()]


def _compare_explained(report: Report, effect: str, cause: str) -> list[str]:
    codes = {finding.id: finding.code for finding in report.findings}
    roots = [codes[one.root] for one in report.incidents if any(codes[name] == effect for name in one.findings)]
    if not roots:
        return [f"missing: {effect}, which {cause} should explain"]
    return [f"{effect} is under {root}, expected {cause}" for root in roots if root != cause]


def _told(finding: Finding) -> str:
    return f"{finding.object} [{finding.severity}] {finding.title}"


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
