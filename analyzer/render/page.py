"""What report.html shows, limits applied, as plain data; the templates only write it down."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from analyzer.engine.model import Finding, Report
from analyzer.render import timeline, words
from analyzer.render.chain import Chain, chain
from analyzer.render.covered import Covered, covered
from analyzer.render.escape import clip, one_line, short_path
from analyzer.render.json import single_rules
from analyzer.render.overview import Overview, overview
from analyzer.render.questions import QUESTIONS
from analyzer.render.ticket import ticket
from analyzer.render.view import (
    SHORT_INCIDENTS,
    Alike,
    Ask,
    IncidentView,
    Quote,
    absent_domains,
    asks,
    every_one,
    full_views,
    in_incidents,
    incident_views,
    measured_at,
    not_shown,
    quotes,
    unknown_domains,
)
from analyzer.times import age

VERDICT: Final = 2_000
"""Characters of the verdict: three causes with the longest names fit."""
FINDINGS: Final = 500
DETAILS: Final = 200
ALIKE: Final = 100
"""Incidents that are told as one, listed in its card."""
ALIKE_ROWS: Final = 10
"""So many of such incidents have their findings in the table of all findings."""
OBJECTS: Final = 50
ASKS: Final = 60
NAMESPACES: Final = 300
LINKED: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)?", re.ASCII)
"""References that become links; anything else that a rule names there is not shown."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A row of the table of all findings; `number` 0 is no incident; quotes and names only in the first rows."""

    anchor: str
    finding: Finding
    incident: int
    age: str
    detail: bool
    quotes: tuple[Quote, ...]
    names: tuple[str, ...]
    more_names: int


@dataclass(frozen=True, slots=True)
class Card:
    """An incident told in full; of many that are alike the first one's chain, and the others by name."""

    view: IncidentView
    alike: tuple[Alike, ...]
    alike_command: str
    chain: Chain
    references: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page."""

    title: str
    verdict: str
    after: str
    told: int
    facts: tuple[tuple[str, tuple[str, ...], bool], ...]
    cards: tuple[Card, ...]
    short: tuple[IncidentView, ...]
    more_incidents: str
    ticket: str
    cluster: Overview
    moments: tuple[timeline.Moment, ...]
    more_moments: str
    drawing: timeline.Drawing | None
    rows: tuple[FindingRow, ...]
    more_findings: str
    anchors: dict[str, str]
    domains: tuple[str, ...]
    namespaces: tuple[str, ...]
    answerable: int
    asks: tuple[Ask, ...]
    more_asks: str
    not_evaluated: int
    rules_open: int
    absent: tuple[str, ...]
    unknown: str
    covered: Covered
    questions: tuple[tuple[str, str], ...]


def _after(report: Report, views: tuple[IncidentView, ...], open_rules: int) -> str:
    """The sentence under the verdict: does waiting help, and how much could not be looked at."""
    broken = [view for view in views if view.severity == "error"]
    says = []
    if broken and all(view.root.waiting == "no" for view in broken):
        says.append("Waiting heals none of them." if len(broken) > 1 else "Waiting does not heal it.")
    elif broken and all(view.root.waiting == "yes" for view in broken):
        says.append("Waiting may heal them." if len(broken) > 1 else "Waiting may heal it.")
    if open_rules:
        verb = "rule" if report.rules.count == 1 else "rules"
        says.append(f"{words.number(open_rules)} of {words.number(report.rules.count)} {verb} could not be evaluated.")
    elif not (unknown := unknown_domains(report)):
        says.append("Every rule that applies could be evaluated.")
    else:
        says.append(unknown)
    return " ".join(says)


def _facts(
    report: Report, views: tuple[IncidentView, ...], open_rules: int, asked: int
) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    cluster = report.cluster
    nodes = "unknown" if cluster.nodes is None else words.number(cluster.nodes)
    gpu = [f"{words.number(cluster.gpu_nodes)} of them with GPUs"] if cluster.gpu_nodes else []
    gpu += [words.plural(cluster.gpus, "GPU")] if cluster.gpus else []
    rows: list[tuple[str, tuple[str, ...], bool]] = [
        ("Cluster", tuple(text for text in (cluster.version, cluster.platform) if text) or ("unknown",), False),
        ("Nodes", (nodes, *gpu), False),
        ("Findings", (words.counts(report), *in_incidents(report, views)), False),
        (
            "Could not be evaluated",
            (f"{words.number(open_rules)} of {words.plural(report.rules.count, 'rule')}",)
            + ((f"{words.plural(asked, 'question')} to the customer",) if asked else ()),
            False,
        ),
        (
            "Collected",
            (words.stamp(report.collected_at), short_path(one_line(report.collected_at_source or "no time found"))),
            False,
        ),
    ]
    for number, item in enumerate(report.inputs[:4], 1):
        label = "Bundle" if len(report.inputs) == 1 else f"Bundle {number}"
        kind = ", ".join(text for text in (words.FORMAT.get(item.format, item.format), words.size(item.bytes)) if text)
        rows.append((label, (clip(one_line(item.path), 120), kind), False))
        if item.sha256:
            rows.append(("SHA-256" if len(report.inputs) == 1 else f"SHA-256 of {number}", (clip(item.sha256, 25),), True))
    if len(report.inputs) > 4:
        rows.append(("More", (f"{len(report.inputs) - 4} more inputs: report.json",), False))
    ages = "unknown: no collection time" if report.as_of is None else f"measured at {measured_at(report)}"
    rows.append(("Ages", (ages, "all times UTC"), False))
    return tuple(rows)


def _rows(report: Report, views: tuple[IncidentView, ...]) -> tuple[FindingRow, ...]:
    number = {name: view.number for view in views for name in view.incident.findings}
    # Hundreds of one kind would hide all others.
    hidden = {name for view in views for one in view.alike[ALIKE_ROWS:] for name in one.findings}
    ordered = sorted((one for one in report.findings if one.id not in hidden), key=lambda finding: words.RANK[finding.severity])
    rows = []
    for index, finding in enumerate(ordered[:FINDINGS]):
        detail = index < DETAILS
        names = tuple(clip(one_line(words.object_name(ref)), 120) for ref in finding.objects[:OBJECTS]) if detail else ()
        rows.append(
            FindingRow(
                anchor=f"f{index + 1}",
                finding=finding,
                incident=number.get(finding.id, 0),
                age=age(finding.age_seconds),
                detail=detail,
                quotes=quotes(report, finding)[:5] if detail else (),
                names=names,
                more_names=finding.count - len(names) if names else 0,
            )
        )
    return tuple(rows)


def build(report: Report) -> Page:
    """The page of a report."""
    views = incident_views(report)
    questions = asks(report)
    rows = _rows(report, views)
    anchors = {row.finding.id: row.anchor for row in rows}
    moments = timeline.moments(report, views)
    full = full_views(views)
    cards = tuple(
        Card(
            view,
            view.alike[:ALIKE],
            every_one(view) if len(view.alike) > ALIKE else "",
            chain(report, view.steps, view.root.title if view.alike else view.incident.title),
            tuple(link for link in view.root.references if LINKED.fullmatch(link)),
            clip(one_line(view.root.why), 2000),
        )
        for view in full
    )
    short = views[len(full) : len(full) + SHORT_INCIDENTS]
    open_rules = len({item.code for item in single_rules(report)})
    answerable = sum(bool(ask.commands) for ask in questions)
    return Page(
        title=clip(one_line(report.verdict), 90),
        verdict=clip(one_line(report.verdict), VERDICT),
        after=_after(report, views, open_rules),
        told=len(views),
        facts=_facts(report, views, open_rules, answerable),
        cards=cards,
        short=short,
        more_incidents=not_shown(len(views), len(cards) + len(short), "incident"),
        ticket=ticket(report, views),
        cluster=overview(report, anchors),
        moments=moments[-timeline.MOMENTS :],
        more_moments=not_shown(len(moments), timeline.MOMENTS, "moment"),
        drawing=timeline.drawing(report, views, moments),
        rows=rows,
        more_findings=not_shown(len(report.findings), len(rows), "finding"),
        anchors=anchors,
        domains=tuple(sorted({row.finding.domain for row in rows})),
        namespaces=tuple(sorted({row.finding.object.namespace for row in rows} - {""}))[:NAMESPACES],
        answerable=answerable,
        asks=questions[:ASKS],
        more_asks=not_shown(len(questions), ASKS, "question"),
        not_evaluated=len(single_rules(report)),
        rules_open=open_rules,
        absent=absent_domains(report),
        unknown=unknown_domains(report),
        covered=covered(report),
        questions=QUESTIONS,
    )
