"""The timeline: the moments of all incidents as text, and the same drawn, a lane an incident."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from analyzer.engine.model import Report, Severity
from analyzer.render import words
from analyzer.render.escape import clip, one_line, short_path
from analyzer.render.view import IncidentView

LANES: Final = 12
MARKS: Final = 200
MOMENTS: Final = 200

_LEFT, _RIGHT, _TOP, _LANE = 190.0, 982.0, 34, 42
_CLOSE = 6.0
_WINDOWS = tuple(
    (timedelta(hours=hours), timedelta(minutes=minutes))
    for hours, minutes in (
        (1, 10), (3, 30), (6, 60), (12, 120), (24, 240), (72, 720), (168, 1440), (720, 7200), (2160, 21600), (8760, 86400),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline as text."""

    at: datetime
    time: str
    incident: int
    text: str
    known: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding in a lane; `count` findings closer than 6 px are one mark."""

    x: float
    severity: Severity
    count: int


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane: a bar from `start` to `end` in px, `style` says what it means, `early` that it began before the drawing."""

    y: int
    name: str
    note: str
    style: str
    start: float
    end: float
    early: bool
    text: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The drawn timeline."""

    title: str
    height: int
    ticks: tuple[tuple[float, str], ...]
    end_label: str
    lanes: tuple[Lane, ...]
    gap: tuple[float, float] | None


def moments(report: Report, views: Sequence[IncidentView]) -> tuple[Moment, ...]:
    """When each finding began, oldest first, and the collection; findings without a time are not in it."""
    rows = [
        Moment(
            step.finding.since,
            words.when(step.finding.since, report.collected_at),
            view.number,
            f"first of {words.number(len(view.alike))}: {one_line(view.title)}"
            if view.alike and step.first
            else one_line(step.finding.title),
            step.finding.basis,
        )
        for view in views
        for step in view.steps
        if step.finding.since is not None
    ]
    rows.sort(key=lambda row: row.at)
    if report.collected_at is not None:
        source = short_path(one_line(report.collected_at_source or ""))
        rows.append(Moment(report.collected_at, words.when(report.collected_at, report.collected_at), 0, "collection", source))
    return tuple(rows)


def _window(rows: Sequence[Moment], end: datetime) -> tuple[datetime, timedelta]:
    """Start and tick: the shortest window that holds four moments of five."""
    ages = [end - row.at for row in rows if row.at <= end]
    enough = (one for one in _WINDOWS if sum(age <= one[0] for age in ages) * 5 >= len(ages) * 4)
    span, tick = next(enough, _WINDOWS[-1])
    # The years 1 and 9999 are times too; nothing lies beyond them.
    return end - min(span, end - datetime.min.replace(tzinfo=UTC)), tick


def _ticks(start: datetime, end: datetime, tick: timedelta) -> list[datetime]:
    epoch = datetime(2000, 1, 1, tzinfo=UTC)
    first, last = (start - epoch) // tick + 1, -((epoch - end) // tick)
    return [epoch + number * tick for number in range(first, last)]


def _merge(marks: list[tuple[float, Severity]]) -> tuple[Mark, ...]:
    merged: list[Mark] = []
    for x, severity in sorted(marks):
        if merged and x - merged[-1].x < _CLOSE:
            worse = min(severity, merged[-1].severity, key=words.RANK.__getitem__)
            merged[-1] = Mark(merged[-1].x, worse, merged[-1].count + 1)
        else:
            merged.append(Mark(x, severity, 1))
    return tuple(merged[:MARKS])


def drawing(report: Report, views: Sequence[IncidentView], rows: Sequence[Moment]) -> Drawing | None:
    """The drawn timeline; None where there is no collection time or fewer than two moments, for then it says nothing."""
    end = report.collected_at
    if end is None or len(rows) < 3:
        return None
    start, tick = _window(rows[:-1], end)
    if start == end:
        return None
    scale = (_RIGHT - _LEFT) / (end - start).total_seconds()

    def x(at: datetime) -> float:
        return round(min(_RIGHT, max(_LEFT, _LEFT + (at - start).total_seconds() * scale)), 1)

    lanes: list[Lane] = []
    for view in views:
        times = [(step.finding.since, step.finding.severity) for step in view.steps if step.finding.since is not None]
        if not times or len(lanes) == LANES:
            continue
        began = min(at for at, _ in times)
        ref = view.root.object
        lanes.append(
            Lane(
                y=_TOP + _LANE * len(lanes),
                name=clip(one_line(ref.name or ref.kind), 24),
                note=f"{clip(one_line(ref.kind), 16)} · incident {view.number}",
                style={"error": "bad", "warning": "wait", "info": "run"}[view.severity],
                start=x(began),
                end=_RIGHT,
                early=began < start,
                text=f"{words.when(began, end)} {clip(view.title, 76)}",
                marks=_merge([(x(at), severity) for at, severity in times if start <= at]),
            )
        )
    events = _events(report, x, start, len(lanes))
    if events:
        lanes.append(events)
    if not lanes:
        return None
    tick_rows = []
    for at in _ticks(start, end, tick):
        if _RIGHT - x(at) > 120:
            label = at.strftime("%H:%M") if tick < timedelta(days=1) else f"{at.day} {words.MONTHS[at.month - 1]}"
            if timedelta(hours=4) <= tick < timedelta(days=1) and at.hour == 0:
                label = f"{at.day} {words.MONTHS[at.month - 1]}"
            tick_rows.append((x(at), label))
    return Drawing(
        title=f"{words.stamp(start)} to {words.stamp(end)}",
        height=_TOP + _LANE * len(lanes),
        ticks=tuple(tick_rows),
        end_label=f"{end.astimezone(UTC):%H:%M} collected",
        lanes=tuple(lanes),
        gap=(_LEFT, events.start) if events and events.start - _LEFT > 2 else None,
    )


def _events(report: Report, x: Callable[[datetime], float], start: datetime, place: int) -> Lane | None:
    """The lane of what the bundle can show: events expire in the cluster, and before that there is no data."""
    firsts = [window.first for window in report.coverage.events if window.first is not None]
    lasts = [window.last for window in report.coverage.events if window.last is not None]
    if not firsts or not lasts or max(lasts) < start:
        return None
    first = min(firsts)
    return Lane(
        y=_TOP + _LANE * place,
        name="Events in bundle",
        note="what the bundle can show",
        style="run",
        start=x(max(first, start)),
        end=x(max(lasts)),
        early=False,
        text=f"before {words.when(first, report.collected_at)} expired or not collected" if first > start else "",
        marks=(),
    )
