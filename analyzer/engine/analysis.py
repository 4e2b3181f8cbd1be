"""From the tables to the frozen report: rules, incidents, evidence, health and verdict; and the result back into tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from analyzer import __version__
from analyzer.engine import coverage as seen
from analyzer.engine import macros
from analyzer.engine.alike import entries
from analyzer.engine.draft import Context, Draft
from analyzer.engine.evidence import Reader, evidence
from analyzer.engine.incidents import incidents
from analyzer.engine.model import Evidence, Finding, Report
from analyzer.engine.objects import Objects
from analyzer.engine.pack import Pack, rule_set
from analyzer.engine.run import Setting, evaluate
from analyzer.engine.stored import store_result
from analyzer.engine.verdict import health, verdict
from analyzer.facts.cluster import cluster_facts

__all__ = ["analyse", "store_result"]

MAX_OBJECTS = 50
"""Objects that a folded finding lists."""


def analyse(
    con: duckdb.DuckDBPyConnection,
    packs: Sequence[Pack],
    *,
    reader: Reader | None = None,
    snapshot: Callable[[], Path] | None = None,
    domains: frozenset[str] = frozenset(),
    language: str = "en",
) -> Report:
    """Runs the rules and says what they found.

    Args:
        con: the database with all facts, locked.
        packs: the rule packs, the built-in one first.
        reader: reads files of the bundle again, to find the lines of quoted fields.
        snapshot: writes a copy of the database for packs of others and says where; see `run.Setting`.
        domains: domains whose rules run even where the bundle shows no trace of them (for the rules' own cases).
        language: `ru` for the texts of rules that have Russian ones.

    Returns:
        The report. One broken rule never raises; it is among what was not evaluated.
    """
    macros.create(con)
    cluster = cluster_facts(con)
    times = _times(con)
    openshift = (cluster.platform or "").lower().startswith("openshift")
    newest_time = max(times.values(), default=None)
    setting = Setting(Context(times, newest_time, "oc" if openshift else "kubectl", language), openshift, snapshot, domains)
    result = evaluate(con, packs, setting)
    trees = incidents(con, result.drafts)
    ordered = [draft for tree in trees for draft in tree.drafts]
    quoted = evidence(con, ordered, Objects(con), reader)
    findings = tuple(finding(draft, quoted.get(draft.id, ())) for draft in ordered)
    covered = seen.coverage(con, result.absent)
    state = health(findings, covered.kinds)
    told = entries(trees)
    inputs = seen.inputs(con)
    newest = con.execute(
        "SELECT collected_at, collected_source FROM inputs WHERE collected_at IS NOT NULL "
        "ORDER BY collected_at DESC, input LIMIT 1"
    ).fetchone()
    return Report(
        tool_version=__version__,
        rules=rule_set(packs),
        inputs=inputs,
        collected_at=seen.aware(newest[0]) if newest else None,
        collected_at_source=newest[1] if newest else None,
        as_of=setting.context.newest,
        cluster=cluster,
        health=state,
        verdict=verdict(state, trees, told, covered.kinds, result.not_evaluated),
        incidents=tuple(tree.incident for tree in trees),
        findings=findings,
        states=seen.states(con),
        not_evaluated=tuple(sorted(dict.fromkeys(result.not_evaluated), key=lambda entry: (entry.code, entry.reason))),
        coverage=covered,
        files=seen.unread_files(con),
        entries=told,
    )


def finding(draft: Draft, quoted: tuple[Evidence, ...]) -> Finding:
    """A finding as the report shows it."""
    return Finding(
        id=draft.id,
        code=draft.code,
        severity=draft.severity,
        object=draft.about.ref,
        title=draft.title,
        message=draft.message,
        since=draft.since,
        age_seconds=draft.age_seconds,
        owner=draft.owner,
        waiting=draft.waiting,
        basis=draft.basis,
        next=draft.next,
        evidence=quoted,
        count=draft.count,
        objects=tuple(known.ref for known in draft.members[:MAX_OBJECTS]) if draft.count > 1 else (),
        why=draft.why,
        references=draft.rule.references,
    )


def _times(con: duckdb.DuckDBPyConnection) -> dict[int, datetime]:
    """What the ages of each input's objects are measured at; inputs without a time are left out."""
    rows = con.execute("SELECT input, as_of FROM inputs").fetchall()
    return {number: moment for number, value in rows if (moment := seen.aware(value))}
