"""What the section Coverage of report.html shows: kinds, events, logs, collection errors, files not read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from analyzer.engine.model import CollectError, KindCoverage, LogCoverage, Report, UnreadFile
from analyzer.render import words
from analyzer.render.escape import clip, one_line
from analyzer.render.view import not_shown

KINDS: Final = 400
TOGETHER: Final = 6
WINDOWS: Final = 60
ERRORS: Final = 60
FILES: Final = 200
CAPPED: Final = 5

_ALWAYS = frozenset({("", "Node"), ("", "Pod"), ("", "Event")})


@dataclass(frozen=True, slots=True)
class KindRow:
    """A line of the table of kinds."""

    kind: KindCoverage
    scope: str
    status: str
    known: bool


@dataclass(frozen=True, slots=True)
class Covered:
    """What the bundle holds, limits applied.

    `kinds` come first: what is not complete, and Node, Pod and Event. Where many kinds are incomplete for one reason,
    they stand in a group of their own, named by that reason.
    """

    kinds: tuple[KindRow, ...]
    groups: tuple[tuple[str, tuple[KindRow, ...]], ...]
    kinds_complete: tuple[KindRow, ...]
    more_kinds: str
    events: str
    windows: tuple[tuple[str, str, str, int], ...]
    more_windows: str
    logs: str
    errors: tuple[CollectError, ...]
    more_errors: str
    files: tuple[UnreadFile, ...]
    more_files: str


def _kind_row(kind: KindCoverage) -> KindRow:
    scope = kind.scope
    if isinstance(scope, str):
        text = "cluster" if scope == "cluster" else one_line(scope)
    elif len(scope) > 3:
        text = f"{', '.join(one_line(name) for name in scope[:3])} and {len(scope) - 3} more namespaces"
    else:
        text = ", ".join(one_line(name) for name in scope)
    status = words.COVERAGE.get(kind.status, kind.status)
    if kind.reason:
        status += f": {clip(one_line(kind.reason), 200)}"
    return KindRow(kind, text or "-", status, kind.status in ("complete", "absent"))


def _events(report: Report) -> str:
    windows = [window for window in report.coverage.events if window.count]
    total = sum(window.count for window in windows)
    if not total:
        return "No event in this bundle. That is no proof that nothing happened."
    firsts = [window.first for window in windows if window.first]
    lasts = [window.last for window in windows if window.last]
    base = report.collected_at
    span = f", {words.when(min(firsts), base)} to {words.when(max(lasts), base)}" if firsts and lasts else ""
    known = f"{words.plural(total, 'event')} in {words.plural(len(windows), 'namespace')}{span}."
    if firsts and base and base - min(firsts) < timedelta(days=1):
        known += " Older ones had expired in the cluster or were not collected."
    return known + " No event is no proof that nothing happened."


def capped(logs: LogCoverage) -> str:
    """Which signatures hit more often than is kept, in one sentence; empty where none did."""
    if not logs.capped:
        return ""
    told = "; ".join(
        f"{one_line(one.signature)} {words.number(one.kept)} of {words.number(one.hits)} in {clip(one_line(one.file), 160)}"
        for one in logs.capped[:CAPPED]
    )
    more = logs.capped_total - min(len(logs.capped), CAPPED)
    return f"Of patterns that hit very often, the first and the newest lines are kept: {told}" + (
        f"; and {words.number(more)} more." if more else "."
    )


def _logs(report: Report) -> str:
    logs = report.coverage.logs
    total = sum(logs.files.values())
    if not total:
        return "No container log in this bundle."
    parts = ", ".join(f"{words.number(files)} {one_line(source)}" for source, files in logs.files.items() if files)
    pods = f"{words.number(logs.pods_with_logs)} of {words.plural(logs.pods, 'pod')} have at least one."
    return f"{words.plural(total, 'log file')}: {parts}. {pods} {capped(logs)}".rstrip()


def covered(report: Report) -> Covered:
    """The coverage of a report; files that were meant to be read come before those that are never read."""
    kinds = [_kind_row(kind) for kind in report.coverage.kinds]
    unknown: dict[str, list[KindRow]] = {}
    for row in kinds:
        if not row.known and (row.kind.group, row.kind.kind) not in _ALWAYS:
            unknown.setdefault(row.status, []).append(row)
    groups = {status: rows for status, rows in unknown.items() if len(rows) > TOGETHER}
    first = [row for row in kinds if (row.kind.group, row.kind.kind) in _ALWAYS or (not row.known and row.status not in groups)]
    first.sort(key=lambda row: row.known)
    rest = [row for row in kinds if row.known and (row.kind.group, row.kind.kind) not in _ALWAYS]
    windows = sorted((window for window in report.coverage.events if window.count), key=lambda window: -window.count)
    base = report.collected_at
    shown = sum(min(len(rows), KINDS) for rows in (first, rest, *groups.values()))
    return Covered(
        kinds=tuple(first[:KINDS]),
        groups=tuple((f"{words.plural(len(rows), 'kind')} {status}", tuple(rows[:KINDS])) for status, rows in groups.items()),
        kinds_complete=tuple(rest[:KINDS]),
        more_kinds=not_shown(len(kinds), shown, "kind"),
        events=_events(report),
        windows=tuple(
            (window.namespace or "cluster", words.when(window.first, base), words.when(window.last, base), window.count)
            for window in windows[:WINDOWS]
        ),
        more_windows=not_shown(len(windows), WINDOWS, "namespace"),
        logs=_logs(report),
        errors=report.coverage.collect_errors[:ERRORS],
        more_errors=not_shown(len(report.coverage.collect_errors), ERRORS, "error"),
        files=tuple(sorted(report.files, key=lambda file: file.status == "skipped"))[:FILES],
        more_files=not_shown(len(report.files), FILES, "file"),
    )
