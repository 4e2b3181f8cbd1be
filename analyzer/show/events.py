"""Events about an object: newest first, those that say the same as one."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Item, Section, Table, Text, Tone
from analyzer.show.subject import Subject, rows

SHOWN = 15

_ABOUT = """
SELECT type, reason, message, any_value(component) AS component, field_path, sum(times)::BIGINT AS times,
    min(first_at) AS first_at, max(last_at) AS last_at
FROM events
WHERE about_id = ?
   OR (about_id IS NULL AND about_kind = ? AND about_name = ? AND about_group = ? AND about_namespace IN (?, '')
       AND about_uid IN (?, ''))
GROUP BY type, reason, message, field_path
ORDER BY last_at DESC NULLS LAST, first_at DESC NULLS LAST, reason, message
"""


def events(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The events, quoted; the oldest beyond a limit are counted."""
    target = it.target
    if not target.is_object:
        return Section("Events")
    found = list(rows(con, _ABOUT, it.id, target.kind, target.name, target.group, target.namespace, target.uid))
    if not found:
        return Section("Events")
    tones: tuple[Tone, ...] = tuple("warning" if row["type"] == "Warning" else "" for row in found[:SHOWN])
    items: list[Item] = [Table(("last seen", "times", "type", "says"), tuple(_row(row, it) for row in found[:SHOWN]), tones)]
    left = words.left_out(len(found), SHOWN, "event")
    if left:
        items.append(Text(f"{left}, older", tone="dim"))
    return Section("Events", tuple(items))


def _row(row: dict[str, Any], it: Subject) -> tuple[str, ...]:
    lasted = words.age(row["last_at"], it.as_of)
    seen = f"{lasted} before" if lasted else report_words.when(words.aware(row["last_at"]), None)
    part = f" ({words.short(row['field_path'], 100)})" if row["field_path"] else ""
    by = f", by {words.short(row['component'], 60)}" if row["component"] else ""
    return (
        seen,
        report_words.number(row["times"] or 1),
        words.short(row["type"] or "", 20),
        f"{words.said(row['reason'], row['message'])}{part}{by}",
    )
