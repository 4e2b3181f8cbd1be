"""What all reports show of an incident, put into words once: severity, owner, since, what it breaks, evidence, steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from analyzer.engine.model import BROKEN, NO_TRACE, Entry, Evidence, Finding, Incident, NotEvaluated, Report, Severity
from analyzer.render import words
from analyzer.render.escape import clip, excerpt, one_line, short_path
from analyzer.render.tree import Step, steps
from analyzer.times import age

FULL_INCIDENTS: Final = 10
"""So many incidents are told in full; the others get one line each."""
SHORT_INCIDENTS: Final = 90
"""So many get one line; the rest is a count."""


_EVER = datetime.max.replace(tzinfo=UTC)
_PLACED = re.compile(r"(.*) \((\S[^()]*:\d+)\)\Z", re.DOTALL)


NAMED: Final = 5
"""So many of incidents that are told as one are named in a sentence."""


@dataclass(frozen=True, slots=True)
class Alike:
    """One of many incidents that are told as one: what tells it from the others, its root and all its findings."""

    name: str
    root: Finding
    findings: tuple[str, ...]
    broken: str
    since: str


@dataclass(frozen=True, slots=True)
class IncidentView:
    """An incident in words; `number` counts from 1.

    Of many that are alike it is the first one's, with all findings and the impact of all of them; `alike` are they.
    """

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
    alike: tuple[Alike, ...] = ()

    @property
    def first_step(self) -> str:
        """The first next step in a few words; empty where there is none."""
        return words.step_says(self.next[0]) if self.next else ""

    @property
    def also(self) -> int:
        """How many findings it holds besides the root, or the roots of those that are alike."""
        return len(self.incident.findings) - (len(self.alike) or 1)

    @property
    def named(self) -> str:
        """The first of those that are alike, by name, and how many more; empty where it is one incident."""
        return _named(self.alike)

    @property
    def label(self) -> str:
        """A short name for a list of sections."""
        if self.alike:
            return f"{clip(self.alike[0].name.rpartition(' ')[2].rpartition('/')[2], 12)} +{words.number(len(self.alike) - 1)}"
        return clip(one_line(self.root.object.name or self.root.object.kind), 18)


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
    """What a report tells, most important first: its incidents in its own order, many that are alike as one.

    An incident whose root is not among the findings is left out: there is nothing to show of it.
    """
    findings = {finding.id: finding for finding in report.findings}
    incidents = {incident.id: incident for incident in report.incidents}
    views: list[IncidentView] = []
    for number, entry in enumerate(report.entries or _apart(report), 1):
        group = [
            (name, incidents[which])
            for name, which in zip(entry.names, entry.incidents, strict=True)
            if which in incidents and incidents[which].root in findings
        ]
        if group:
            views.append(_view(report, number, entry, group, findings))
    return tuple(views)


def _apart(report: Report) -> tuple[Entry, ...]:
    return tuple(Entry(incident.title, (incident.id,), ("",), incident.impact) for incident in report.incidents)


def _view(
    report: Report, number: int, entry: Entry, group: list[tuple[str, Incident]], findings: dict[str, Finding]
) -> IncidentView:
    incident = group[0][1]
    rows = steps(incident, findings)
    root = rows[0].finding
    alike: tuple[Alike, ...] = ()
    message, oldest = clip(one_line(root.message), 1200), root
    if len(group) > 1:
        alike = tuple(_alike(report, name, one, findings[one.root]) for name, one in group)
        dated = [one.root for one in alike if one.root.since is not None]
        oldest = min(dated, key=lambda one: one.since or _EVER, default=root)
        message = f"{_spread(alike)}: {_named(alike)}. One of them: {message}"
        incident = replace(
            incident, title=entry.title, impact=entry.impact, findings=tuple(name for _, one in group for name in one.findings)
        )
    return IncidentView(
        number=number,
        incident=incident,
        root=root,
        severity=min((step.finding.severity for step in rows), key=words.RANK.__getitem__),
        steps=rows,
        owner=words.OWNER[incident.owner],
        waiting=words.WAITING[root.waiting],
        broken=_broken(entry.impact),
        since=_since(report, oldest) + (", the oldest" if alike else ""),
        basis=_basis(rows),
        next=incident.next or root.next,
        title=one_line(incident.title),
        message=message,
        alike=alike,
    )


def _alike(report: Report, name: str, incident: Incident, root: Finding) -> Alike:
    return Alike(
        name=clip(one_line(name), words.NAME),
        root=root,
        findings=incident.findings,
        broken=", ".join(_broken(incident.impact)),
        since=words.when(root.since, report.collected_at),
    )


def _broken(impact: dict[str, int]) -> tuple[str, ...]:
    return tuple(words.plural(count, kind) for kind, count in impact.items() if count)


def _named(alike: tuple[Alike, ...]) -> str:
    """`ClusterQueue a, b, c, d, e and 195 more`: what all names begin with is said once."""
    if not alike:
        return ""
    kind, space, _ = alike[0].name.partition(" ")
    names = [one.name for one in alike]
    if space and all(name.startswith(f"{kind} ") for name in names):
        names = [alike[0].name, *(name[len(kind) + 1 :] for name in names[1:])]
    return words.listed(names, NAMED)


def _spread(alike: tuple[Alike, ...]) -> str:
    """`200 incidents of one kind in 20 namespaces`."""
    spaces = {one.root.object.namespace for one in alike} - {""}
    where = f" in {words.plural(len(spaces), 'namespace')}" if len(spaces) > 1 else ""
    return f"{words.number(len(alike))} incidents of one kind{where}"


def in_incidents(report: Report, views: tuple[IncidentView, ...]) -> tuple[str, ...]:
    """`in 1,220 incidents`, and where many are alike `told as 7`."""
    told = (f"told as {words.number(len(views))}",) if any(view.alike for view in views) else ()
    return (f"in {words.plural(len(report.incidents), 'incident')}", *told)


def every_one(view: IncidentView) -> str:
    """The command that lists all incidents that are told as this one, for the folder of the report."""
    query = "SELECT rank, title FROM incidents WHERE entry = "
    return f'triage sql . "{query}{view.number} ORDER BY rank"'


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
