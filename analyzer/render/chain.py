"""The chain of an incident, laid out: times and distances on the left, rail lines in pixels, steps that fold.

Laid out here and not in the browser, so that it is the same in print and without a script.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from analyzer.engine.model import Report
from analyzer.render import words
from analyzer.render.escape import clip, one_line
from analyzer.render.tree import Step
from analyzer.render.view import Quote, quotes
from analyzer.times import age

STEPS_SHOWN: Final = 8
FOLDED_SHOWN: Final = 40
QUOTES_SHOWN: Final = 3
NAMES_SHOWN: Final = 5

_TRUNK, _APART = 13, 21
_EFFECTS = frozenset({"pod", "workload", "job", "pvc", "openshift"})


@dataclass(frozen=True, slots=True)
class Rail:
    """What is drawn beside a step: lines (x, y1, y2), arrows and elbows as SVG paths, the place of the symbol."""

    lines: tuple[tuple[int, str, str], ...]
    paths: tuple[str, ...]
    symbol: int


@dataclass(frozen=True, slots=True)
class Row:
    """A step as shown."""

    step: Step
    time: str
    below: str
    rail: Rail
    title: str
    said: bool
    role: str
    note: str
    quotes: tuple[Quote, ...]
    more_quotes: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The rows of a chain; `middle` folds away, `rest` is how many findings are not even in there."""

    head: tuple[Row, ...]
    middle: tuple[Row, ...]
    tail: tuple[Row, ...]
    rest: int


def _x(level: int) -> int:
    return _TRUNK + _APART * level


def rail(step: Step) -> Rail:
    """The lines beside one step; y is in pixels or `100%`, so that a step may be as high as its text."""
    here = _x(step.level)
    lines = [(_x(level), "0", "100%") for level in step.passing if level != step.level]
    paths: list[str] = []
    if step.fork:
        trunk = _x(step.level - 1)
        if step.level - 1 not in step.passing:
            lines.append((trunk, "0", "6"))
        paths += [f"M{trunk} 6q0 5 5 5h{here - trunk - 13}", f"M{here - 11} 7.5l4.5 3.5-4.5 3.5"]
    elif not step.first and not step.beneath:
        lines.append((here, "0", "2"))
        paths.append(f"M{here - 3.5:g} -1l3.5 4.5 3.5-4.5")
    if step.goes_on:
        lines.append((here, "20", "100%"))
    return Rail(tuple(lines), tuple(paths), here - 6)


def _times(step: Step, base: datetime | None) -> tuple[str, str]:
    since = step.finding.since
    if since is None:
        return "", "no time"
    distance = f"+{age(step.after)}" if step.after is not None and step.after >= 1 and not step.first else ""
    other_day = words.day(since, base)
    return (other_day, words.clock(since)) if other_day else (words.clock(since), distance)


def names(step: Step) -> str:
    """Up to five of the objects that a step folds together: `a, b and 3 more`; empty where it folds none."""
    finding = step.finding
    if finding.count < 2 or not finding.objects:
        return ""
    shown = [clip(one_line(words.object_name(ref)), 80) for ref in finding.objects[:NAMES_SHOWN]]
    rest = finding.count - len(shown)
    return ", ".join(shown) + (f" and {words.number(rest)} more" if rest > 0 else "")


def _row(report: Report, step: Step, incident: str, *, alone: bool = False) -> Row:
    finding = step.finding
    time, below = _times(step, report.collected_at)
    role = ""
    if not alone:
        sees = step.leaf and finding.severity != "info" and finding.domain in _EFFECTS
        role = "cause" if step.first else "what the customer sees" if sees else ""
    notes = [
        f"{words.number(finding.count)} folded: {names(step)}" if names(step) else "",
        "deduced" if finding.basis == "deduced" else "",
        f"follows from: {clip(one_line(step.beneath), 120)}" if step.beneath else "",
    ]
    found = quotes(report, finding)
    # The incident has said its title already.
    said = alone or (step.first and finding.title == incident)
    return Row(
        step=step,
        time=time,
        below=below,
        rail=rail(step),
        title=clip(one_line(words.thing(finding.object) if said else finding.title), 300),
        said=said,
        role=role,
        note=" · ".join(note for note in notes if note),
        quotes=found[:QUOTES_SHOWN],
        more_quotes=len(found) - len(found[:QUOTES_SHOWN]),
    )


def chain(report: Report, steps: tuple[Step, ...], title: str) -> Chain:
    """At most eight steps openly; the middle ones fold, and of very long chains the rest is only counted.

    Args:
        report: the report.
        steps: all steps, root first.
        title: the incident's title; a first step that has the same is named by its object.
    """
    if len(steps) <= STEPS_SHOWN:
        return Chain(tuple(_row(report, step, title, alone=len(steps) == 1) for step in steps), (), (), 0)
    head, tail = steps[: STEPS_SHOWN - 3], steps[-2:]
    between = steps[STEPS_SHOWN - 3 : -2]
    middle = between[:FOLDED_SHOWN]
    return Chain(
        tuple(_row(report, step, title) for step in head),
        tuple(_row(report, step, title) for step in middle),
        tuple(_row(report, step, title) for step in tail),
        len(between) - len(middle),
    )
