"""An incident's findings as steps, cause first: what the chain of a report is drawn from.

A step knows its level (how many forks lie above it) and which trunks pass it, so that each step is drawn on its own
and may be as high as its text needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from analyzer.engine.model import Finding, Incident
from analyzer.render.words import RANK

LEVELS: Final = 3
"""Forks are drawn up to this level; what lies deeper stands there too and names what it follows from."""

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Step:
    """One finding of a chain.

    `depth` counts the causes above it, `fork` tells that it branches off the trunk of the level above, `goes_on` that
    its own trunk leads further down; `passing` are the levels whose trunks pass by. `after` is the distance in seconds
    to what explains it, None where a time is missing. `beneath` is the title of what explains it where that is not drawn.
    """

    finding: Finding
    depth: int
    level: int
    first: bool
    last: bool
    fork: bool
    goes_on: bool
    passing: tuple[int, ...]
    leaf: bool
    after: float | None
    beneath: str


def _order(finding: Finding) -> tuple[datetime, int]:
    return finding.since or _NEVER, RANK[finding.severity]


def _children(incident: Incident, findings: Mapping[str, Finding]) -> dict[str, list[Finding]]:
    """What each finding explains, in order of time; what has no known parent hangs on the root."""
    inside = set(incident.findings)
    children: dict[str, list[Finding]] = {}
    for name in incident.findings:
        finding = findings.get(name)
        if finding is None or name == incident.root:
            continue
        parent = incident.parents.get(name, incident.root)
        children.setdefault(parent if parent in inside and parent != name else incident.root, []).append(finding)
    for rows in children.values():
        rows.sort(key=_order)
    return children


def _distance(parent: Finding, child: Finding) -> float | None:
    if parent.since is None or child.since is None:
        return None
    return (child.since - parent.since).total_seconds()


def steps(incident: Incident, findings: Mapping[str, Finding]) -> tuple[Step, ...]:
    """All findings of an incident, each once, root first, each cause before its effects.

    Args:
        incident: the incident.
        findings: the report's findings by id.
    """
    root = findings.get(incident.root)
    if root is None:
        return ()
    children = _children(incident, findings)
    done: list[Step] = []
    seen = {root.id}

    def step(finding: Finding, parent: Finding | None, depth: int, level: int, fork: bool, passing: tuple[int, ...]) -> Step:
        deep = level > LEVELS
        return Step(
            finding=finding,
            depth=depth,
            level=min(level, LEVELS),
            first=parent is None,
            last=False,
            fork=fork and not deep,
            goes_on=bool(children.get(finding.id)) and level <= LEVELS,
            passing=passing,
            leaf=not children.get(finding.id),
            after=_distance(parent, finding) if parent else None,
            beneath=parent.title if parent and deep else "",
        )

    # A stack, not recursion: a chain may be as long as there are findings.
    stack: list[tuple[Finding, Finding | None, int, int, bool, tuple[int, ...]]] = [(root, None, 0, 0, False, ())]
    while stack:
        finding, parent, depth, level, fork, passing = stack.pop()
        done.append(step(finding, parent, depth, level, fork, passing))
        below = [child for child in children.get(finding.id, []) if child.id not in seen]
        seen.update(child.id for child in below)
        forks = len(below) > 1
        trunks = tuple(mark for mark in passing if mark < level)
        for place, child in reversed(list(enumerate(below))):
            more = forks and place < len(below) - 1
            inner = (*trunks, level) if more and level < LEVELS else trunks
            stack.append((child, finding, depth + 1, level + 1 if forks else level, forks, inner))
    # A cycle in `parents` must lose no finding.
    missing = [findings[name] for name in incident.findings if name in findings and name not in seen]
    done += [step(finding, root, 1, LEVELS + 1, fork=False, passing=()) for finding in missing]
    done[-1] = replace(done[-1], last=True, goes_on=False)
    return tuple(done)
