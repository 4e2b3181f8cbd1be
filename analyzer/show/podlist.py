"""Lists of pods: those that do not run first, with state, restarts and node."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.render import words as report_words
from analyzer.render.escape import clip
from analyzer.show import words
from analyzer.show.model import Item, Section, Table, Tone
from analyzer.show.subject import Subject, rows

SHOWN = 30
_STEPS = 6
_FINE = ("Running", "Succeeded")
_ORDER = "p.state IN ('Running', 'Succeeded'), p.state = 'Succeeded', p.restarts DESC NULLS LAST, p.namespace, p.name"

_WRITTEN = """
contains(o.json::VARCHAR, substr(to_json(p.message)::VARCHAR, 2, length(to_json(p.message)::VARCHAR) - 2)) OR EXISTS (
    FROM events e WHERE e.about_id = p.object_id AND contains(e.message, p.message)) AS written
"""
"""Whether the message of the pod's state is the cluster's own, in the pod or in an event about it; else we concluded it."""

_OWNED = f"""
WITH RECURSIVE below(object_id, steps) AS (
    SELECT ?::BIGINT, 0
    UNION SELECT w.object_id, b.steps + 1 FROM owners w JOIN below b ON w.owner_id = b.object_id
    WHERE b.steps < {_STEPS} AND w.owner_kind <> 'Node'
)
SELECT p.*, {_WRITTEN} FROM pods p JOIN objects o USING (object_id)
WHERE p.object_id IN (SELECT object_id FROM below WHERE steps > 0) ORDER BY {_ORDER}
"""  # noqa: S608 - constants only


def pods(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods below it in the chain of owners; a Pod has none."""
    if it.id < 0 or it.is_a("", "Pod"):
        return Section("Pods")
    return listed("Pods", list(rows(con, _OWNED, it.id)), it)


def related(con: duckdb.DuckDBPyConnection, it: Subject, title: str, relation: str, *, out: bool) -> Section:
    """Pods at the other end of a kind of relation.

    Args:
        con: the database.
        it: the object.
        title: title of the section.
        relation: kind of relation, see table relations.
        out: the object is the relation's source (`src`).
    """
    near, far = ("src", "dst") if out else ("dst", "src")
    query = f"""
        SELECT p.*, {_WRITTEN} FROM pods p JOIN objects o USING (object_id)
        WHERE p.object_id IN (SELECT {far} FROM relations WHERE {near} = ? AND kind = ?) ORDER BY {_ORDER}
    """  # noqa: S608 - constants only
    return listed(title, list(rows(con, query, it.id, relation)), it)


def on_node(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods on a Node."""
    query = f"""
        SELECT p.*, {_WRITTEN} FROM pods p JOIN objects o USING (object_id) WHERE p.node = ? AND p.input = ? ORDER BY {_ORDER}
    """  # noqa: S608 - constants only
    return listed("Pods on it", list(rows(con, query, it.name, it.input)), it)


def listed(title: str, found: list[dict[str, Any]], it: Subject) -> Section:
    """A section with a table of rows of `pods`, with `written`: whether the message is the cluster's own."""
    if not found:
        return Section(title)
    shown = found[:SHOWN]
    lines = tuple(_row(row, it) for row in shown)
    tones: tuple[Tone, ...] = tuple("" if row["state"] in _FINE else "warning" for row in shown)
    items: list[Item] = [Table(("pod", "state", "restarts", "node", "why"), lines, tones)]
    items += words.more(len(found), SHOWN, "pod")
    return Section(f"{title} ({_counts(found)})", tuple(items))


def _counts(found: list[dict[str, Any]]) -> str:
    ready = sum(bool(row["ready"]) for row in found)
    done = sum(row["state"] == "Succeeded" for row in found)
    ended = f", {report_words.number(done)} succeeded" if done else ""
    return f"{report_words.plural(len(found), 'pod')}, {report_words.number(ready)} ready{ended}"


def _row(row: dict[str, Any], it: Subject) -> tuple[str, ...]:
    where = f"{row['namespace']}/" if row["namespace"] != it.namespace else ""
    lasted = words.age(row["since"], it.as_of)
    why = "" if row["state"] in _FINE else words.why(row["reason"], row["message"], written=bool(row["written"]))
    return (
        words.short(f"{where}{row['name']}", 120),
        f"{words.short(row['state'] or '')}{f' for {lasted}' if lasted else ''}",
        "" if row["restarts"] is None else report_words.number(row["restarts"]),
        words.short(row["node"] or "", 60),
        clip(why, 240),
    )
