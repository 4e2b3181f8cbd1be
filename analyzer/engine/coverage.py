"""What was collected and what was not, as the report shows it."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime
from typing import Any

import duckdb

from analyzer.engine.model import (
    CappedHits,
    CollectError,
    Coverage,
    EventWindow,
    Input,
    KindCoverage,
    LogCoverage,
    ObjectRef,
    State,
    UnreadFile,
)

MAX_ERRORS = 500
"""Collection errors that a report lists."""
MAX_CAPPED = 100
"""Signatures with more hits than are kept that a report lists."""
_NOT_READ = ("partial", "unread")
_UNTOLD = ("not-collected", "absent")
"""What a kind is that the bundle has no file and no record of; an `absent` that a list tells has no reason."""


def coverage(con: duckdb.DuckDBPyConnection, absent: Container[tuple[str, str]] = ()) -> Coverage:
    """Kinds, logs, the time the events cover, and what the collection itself could not get.

    Args:
        con: the database with its facts.
        absent: kinds, as (group, kind), that nothing in this bundle needs: left out where the bundle says nothing of them.
    """
    kinds = con.execute(
        "SELECT api_group, kind, objects, scope, status, reason FROM coverage ORDER BY api_group, kind"
    ).fetchall()
    windows = con.execute(
        "SELECT namespace, min(first_at), max(last_at), count(*) FROM events GROUP BY namespace ORDER BY namespace"
    ).fetchall()
    errors = con.execute(
        "SELECT f.input, f.path, e.line, e.kind, e.subject, e.message FROM collect_errors e JOIN files f USING (file_id) "
        "ORDER BY f.input, f.path, e.line, e.message LIMIT ?",
        [MAX_ERRORS],
    ).fetchall()
    return Coverage(
        kinds=tuple(
            KindCoverage(group or "", kind, objects or 0, _scope(scope), status, reason)
            for group, kind, objects, scope, status, reason in kinds
            if objects or (group, kind) not in absent or status not in _UNTOLD or (status == "absent" and not reason)
        ),
        logs=_logs(con),
        events=tuple(EventWindow(space or "", aware(first), aware(last), count) for space, first, last, count in windows),
        collect_errors=tuple(
            CollectError(number, path, line, kind, subject or "", text) for number, path, line, kind, subject, text in errors
        ),
    )


def states(con: duckdb.DuckDBPyConnection) -> tuple[State, ...]:
    """The state of every object that has one."""
    rows = con.execute(
        "SELECT s.api_group, s.kind, s.namespace, s.name, o.uid, s.state, s.reason, s.message, s.since "
        "FROM states s LEFT JOIN objects o USING (object_id) ORDER BY 1, 2, 3, 4, 6"
    ).fetchall()
    return tuple(
        State(
            ObjectRef(group or "", kind, namespace or "", name, uid or None), state, reason or None, message or None, aware(since)
        )
        for group, kind, namespace, name, uid, state, reason, message, since in rows
    )


def unread_files(con: duckdb.DuckDBPyConnection) -> tuple[UnreadFile, ...]:
    """The files that were not read in full, and why: cut, unreadable, unsafe."""
    rows = con.execute(
        "SELECT input, path, bytes, role, status, line, error FROM files "
        "WHERE status IN ('partial', 'unread') OR role = 'unsafe' ORDER BY file_id"
    ).fetchall()
    files = []
    for number, path, size, role, status, line, error in rows:
        words = error or ("not read because its path or kind is unsafe" if role == "unsafe" else "not read in full")
        text = f"line {line}: {words}" if line and f"line {line}" not in words else words
        files.append(UnreadFile(number, path, size, status if status in _NOT_READ else "unread", text))
    return tuple(files)


def inputs(con: duckdb.DuckDBPyConnection) -> tuple[Input, ...]:
    """The inputs in the order given."""
    rows = con.execute("SELECT path, format, sha256, bytes, collected_at FROM inputs ORDER BY input").fetchall()
    return tuple(Input(path, name, digest, size, aware(moment)) for path, name, digest, size, moment in rows)


def aware(moment: Any) -> datetime | None:
    """A time of the database, which has no zone, as a UTC time."""
    return moment.replace(tzinfo=UTC) if isinstance(moment, datetime) else None


def _scope(scope: list[str] | None) -> str | tuple[str, ...]:
    return "cluster" if scope == ["*"] else tuple(scope or ())


def _logs(con: duckdb.DuckDBPyConnection) -> LogCoverage:
    files = con.execute("SELECT source, count(*) FROM logs GROUP BY source ORDER BY source").fetchall()
    row = con.execute(
        "SELECT count(*), count(*) FILTER (EXISTS (SELECT 1 FROM logs l WHERE l.namespace = o.namespace AND l.pod = o.name)) "
        "FROM objects o WHERE kind = 'Pod' AND api_group = ''"
    ).fetchone()
    pods, with_logs = row or (0, 0)
    capped = con.execute(
        "SELECT f.input, f.path, c.signature, c.hits, c.kept, count(*) OVER () FROM log_hit_counts c "
        "JOIN logs l USING (log_id) JOIN files f USING (file_id) WHERE c.hits > c.kept "
        "ORDER BY c.hits DESC, f.file_id, c.log_id, c.signature LIMIT ?",
        [MAX_CAPPED],
    ).fetchall()
    return LogCoverage(
        dict(files), with_logs, pods, tuple(CappedHits(*row[:-1]) for row in capped), capped[0][-1] if capped else 0
    )
