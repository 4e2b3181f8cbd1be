"""What all reports show of an incident, put into words once: severity, owner, since, what it breaks, evidence, steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from analyzer.engine.model import BROKEN, NO_TRACE, Evidence, Finding, Incident, NotEvaluated, Report, Severity
from analyzer.render import words
from analyzer.render.escape import clip, excerpt, one_line, short_path
from analyzer.render.tree import Step, steps
from analyzer.times import age

FULL_INCIDENTS: Final = 10
"""So many incidents are told in full; the others get one line each."""
SHORT_INCIDENTS: Final = 90
"""So many get one line; the rest is a count."""


_PLACED = re.compile(r"(.*) \((\S[^()]*:\d+)\)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IncidentView:
    """An incident in words; `number` counts from 1."""

    number: int
    incident: Incident
    root: Finding
    severity: Severity
    steps: tuple[Step, ...]
    owner: str
    waiting: str
    broken: tuple[str, ...]
    since: str
    basis: str
    next: tuple[str, ...]
    title: str
    message: str

    @property
    def first_step(self) -> str:
        """The first next step in a few words; empty where there is none."""
        return words.step_says(self.next[0]) if self.next else ""

    @property
    def also(self) -> int:
        """How many findings it holds besides the root."""
        return len(self.incident.findings) - 1


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence in words: where it stands and what it says, cut to what a reader takes in."""

    place: str
    short: str
    field: str
    text: str
    kind: str
    line: int | None


def quote(report: Report, item: Evidence) -> Quote:
    """Evidence as shown; with several inputs the place starts with the input's number, from 1."""
    where = words.place(item.file, item.line)
    if len(report.inputs) > 1:
        where = f"[{item.input + 1}] {where}"
    shown = one_line(where)
    return Quote(shown, short_path(shown), one_line(item.path), excerpt(item.value), item.kind, item.line)


def quotes(report: Report, finding: Finding) -> tuple[Quote, ...]:
    """All evidence of a finding that points somewhere or says something, the most telling first.

    The cluster's own words (a log, an event) come before a status field. Of several such words the rule's first is the one
    that it means; of several fields the longest message, since it says more than the reason beside it, else the rule's first.
    """
    found = [quote(report, item) for item in finding.evidence if item.file or item.value]
    telling = max(found, key=_tells, default=None)
    return tuple(sorted(found, key=lambda item: item is not telling))


def _tells(item: Quote) -> tuple[int, int]:
    if item.kind == "Observed":
        return 2, 0
    return int(item.kind == "Reported"), len(item.text) if " " in item.text else 0


def measured_at(report: Report) -> str:
    """The moment that ages are measured at, in words: `collection`, or the time of --as-of."""
    if report.as_of is None or report.as_of == report.collected_at:
        return "collection"
    return words.stamp(report.as_of)


def _since(report: Report, finding: Finding) -> str:
    if finding.since is None:
        return "unknown: nothing in the bundle says"
    text = words.when(finding.since, report.collected_at)
    if finding.age_seconds is None:
        return text
    return f"{text}, {age(finding.age_seconds)} before {measured_at(report)}"


def _everywhere(rows: tuple[Step, ...]) -> str:
    return "" if len(rows) == 1 else " in both steps" if len(rows) == 2 else f" in all {len(rows)} steps"


def _basis(rows: tuple[Step, ...]) -> str:
    deduced = sum(step.finding.basis == "deduced" for step in rows)
    if not deduced:
        return f"Observed{_everywhere(rows)}"
    if deduced == len(rows):
        return f"Deduced{_everywhere(rows)}"
    if rows[0].finding.basis == "deduced" and deduced == 1:
        return "Deduced in the first step, observed after it"
    return f"Deduced in {deduced} of {len(rows)} steps, observed in the others"


def incident_views(report: Report) -> tuple[IncidentView, ...]:
    """All incidents of a report in its own order, most important first.

    An incident whose root is not among the findings is left out: there is nothing to show of it.
    """
    findings = {finding.id: finding for finding in report.findings}
    views: list[IncidentView] = []
    for number, incident in enumerate(report.incidents, 1):
        rows = steps(incident, findings)
        if not rows:
            continue
        root = rows[0].finding
        views.append(
            IncidentView(
                number=number,
                incident=incident,
                root=root,
                severity=min((step.finding.severity for step in rows), key=words.RANK.__getitem__),
                steps=rows,
                owner=words.OWNER[incident.owner],
                waiting=words.WAITING[root.waiting],
                broken=tuple(words.plural(count, kind) for kind, count in incident.impact.items() if count),
                since=_since(report, root),
                basis=_basis(rows),
                next=incident.next or root.next,
                title=one_line(incident.title),
                message=clip(one_line(root.message), 1200),
            )
        )
    return tuple(views)


def full_views(views: tuple[IncidentView, ...]) -> tuple[IncidentView, ...]:
    """The incidents at the head of the list that are told in full: at most ten, and up to the first mere note."""
    count = 0
    for view in views[:FULL_INCIDENTS]:
        if view.severity == "info" and not view.also:
            break
        count += 1
    return views[:count]


def not_shown(total: int, shown: int, noun: str) -> str:
    """`1,500 more findings`, or empty where everything is shown."""
    rest = total - shown
    return "" if rest <= 0 else words.plural(rest, noun).replace(" ", " more ", 1)


@dataclass(frozen=True, slots=True)
class Ask:
    """Rules that could not be evaluated for one reason: what is missing and the commands that get it."""

    needs: tuple[str, ...]
    reason: str
    codes: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def what(self) -> str:
        """What is missing, as one text."""
        return ", ".join(self.needs)


def asks(report: Report) -> tuple[Ask, ...]:
    """What to ask the customer for, the need of most rules first; entries with one reason and one need are one."""
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for item in report.not_evaluated:
        if not item.code.endswith("/*"):
            codes = groups.setdefault((item.reason, item.needs, item.ask), [])
            if item.code not in codes:
                codes.append(item.code)
    rows = [Ask(needs, reason, tuple(codes), ask) for (reason, needs, ask), codes in groups.items()]
    return tuple(sorted(rows, key=lambda row: -len(row.codes)))


def missing(report: Report) -> tuple[str, ...]:
    """What rules could not be evaluated for, each once, the need of most rules first."""
    return tuple(dict.fromkeys(one_line(need) for ask in asks(report) for need in ask.needs if need))


def broken_rules(report: Report) -> tuple[str, ...]:
    """`shop/NoLimit.yaml:7: what is wrong`, for every rule that is broken."""
    reasons = dict.fromkeys(item.reason for item in report.not_evaluated if item.reason.startswith(BROKEN))
    told = [reason.removeprefix(BROKEN).lstrip(": ") for reason in reasons]
    return tuple(one_line(_PLACED.sub(r"\2: \1", text, count=1)) for text in told)


def absent_domains(report: Report) -> tuple[str, ...]:
    """Domains without any trace in the bundle."""
    return tuple(_domain(item) for item in report.not_evaluated if item.code.endswith("/*") and item.reason.startswith(NO_TRACE))


def unknown_domains(report: Report) -> str:
    """What the bundle holds that no rule of this version is about, in a sentence; empty where there is nothing."""
    names = [_domain(item) for item in report.not_evaluated if item.code.endswith("/*") and not item.reason.startswith(NO_TRACE)]
    if not names:
        return ""
    return f"In this bundle there is also something of {words.series(names)}, which no rule of this version looks at."


def _domain(item: NotEvaluated) -> str:
    return item.code.split("/", 1)[0]
