"""The result of an analysis, frozen: what every report is made from (interface, section report.json).

Times are timezone-aware UTC datetimes; `None` is "nothing says". Nothing here knows DuckDB, rules or templates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from analyzer.engine.sections import Section

Severity = Literal["error", "warning", "info"]
Owner = Literal["workload", "queue", "class", "cluster", "platform", "hardware", "nobody"]
Waiting = Literal["yes", "no", "unknown"]
Basis = Literal["observed", "deduced"]
EvidenceKind = Literal["Declared", "Observed", "Reported", "Computed", "Unavailable"]
Health = Literal["problems", "cannot-tell", "healthy"]
CoverageStatus = Literal["complete", "absent", "partial", "not-collected", "forbidden", "removed"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """A Kubernetes object; core group and cluster scope are empty strings, an unknown uid is None."""

    group: str
    kind: str
    namespace: str
    name: str
    uid: str | None = None

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One quoted value: `input` is the index in Report.inputs, `line` counts from 1, `path` is the field."""

    input: int
    file: str
    line: int | None
    path: str
    value: str
    kind: EvidenceKind


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says about one object, or about `count` objects with one cause."""

    id: str
    code: str
    severity: Severity
    object: ObjectRef
    title: str
    message: str
    since: datetime | None
    age_seconds: int | None
    owner: Owner
    waiting: Waiting
    basis: Basis
    next: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    count: int = 1
    objects: tuple[ObjectRef, ...] = ()
    why: str = ""
    references: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The part of the code before the slash."""
        return self.code.split("/", 1)[0]


@dataclass(frozen=True, slots=True)
class Incident:
    """A tree of findings with one cause. `parents` maps a finding's id to the id of the finding that explains it."""

    id: str
    title: str
    root: str
    findings: tuple[str, ...]
    owner: Owner
    impact: dict[str, int]
    next: tuple[str, ...]
    parents: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """What the reports tell under one number: an incident, or many of one kind, those that hit most and last longest first.

    `incidents` are their ids, `names` what tells each from the others, `impact` counts each object that they hit once.
    """

    title: str
    incidents: tuple[str, ...]
    names: tuple[str, ...]
    impact: dict[str, int]


@dataclass(frozen=True, slots=True)
class State:
    """The state of one object."""

    object: ObjectRef
    state: str
    reason: str | None
    message: str | None
    since: datetime | None


NO_TRACE = "no trace of"
"""How the reason of a `DOMAIN/*` begins of which the bundle has nothing; any other means that nobody looked at it."""
BROKEN = "this rule is broken"
"""How the reason of a rule begins that could not be used at all; what is wrong follows, and in brackets where."""


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule (or `DOMAIN/*`) that could not be evaluated for one reason."""

    code: str
    reason: str
    needs: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KindCoverage:
    """What is known of one kind; `scope` is "cluster" or the namespaces."""

    group: str
    kind: str
    objects: int
    scope: str | tuple[str, ...]
    status: CoverageStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class EventWindow:
    """The time that the events of one namespace cover."""

    namespace: str
    first: datetime | None
    last: datetime | None
    count: int


@dataclass(frozen=True, slots=True)
class CappedHits:
    """A signature that hit more lines of one log than are kept (the first and the newest ones)."""

    input: int
    file: str
    signature: str
    hits: int
    kept: int


@dataclass(frozen=True, slots=True)
class LogCoverage:
    """Which logs there are: files by source, pods that have at least one, pods in all.

    `capped` are the signatures of whose hits not all are kept, the most frequent first, `capped_total` how many of
    them there are.
    """

    files: dict[str, int]
    pods_with_logs: int
    pods: int
    capped: tuple[CappedHits, ...] = ()
    capped_total: int = 0


@dataclass(frozen=True, slots=True)
class CollectError:
    """What the collection itself says it could not get."""

    input: int
    file: str
    line: int | None
    kind: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was collected, and what was not."""

    kinds: tuple[KindCoverage, ...] = ()
    logs: LogCoverage = field(default_factory=lambda: LogCoverage({}, 0, 0))
    events: tuple[EventWindow, ...] = ()
    collect_errors: tuple[CollectError, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that was not read in full; `status` is partial, unread or skipped."""

    input: int
    path: str
    bytes: int | None
    status: str
    error: str


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the case."""

    path: str
    format: str
    sha256: str | None
    bytes: int | None
    collected_at: datetime | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster, as far as the bundle says."""

    uid: str | None
    version: str | None
    platform: str | None
    nodes: int | None
    gpu_nodes: int | None
    gpus: int | None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that were used: how many, and the SHA-256 over their files."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report shows. Findings are sorted: incidents' order, root first. `overview` is the cluster in tables.

    `entries` are the incidents as the reports tell them; empty where each is told on its own.
    """

    tool_version: str
    rules: RuleSet
    inputs: tuple[Input, ...]
    collected_at: datetime | None
    collected_at_source: str | None
    as_of: datetime | None
    cluster: Cluster
    health: Health
    verdict: str
    incidents: tuple[Incident, ...]
    findings: tuple[Finding, ...]
    states: tuple[State, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    coverage: Coverage
    files: tuple[UnreadFile, ...]
    overview: tuple[Section, ...] = ()
    entries: tuple[Entry, ...] = ()

    def finding(self, finding_id: str) -> Finding:
        """The finding of that id; KeyError where there is none."""
        for finding in self.findings:
            if finding.id == finding_id:
                return finding
        raise KeyError(finding_id)

    def count(self, severity: Severity) -> int:
        """How many findings have that severity."""
        return sum(finding.severity == severity for finding in self.findings)
