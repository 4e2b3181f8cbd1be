"""The first lines: what it is, its state, why, since when, whose it is."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.bundle.kinds import BUILT_IN
from analyzer.facts.values import strings, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Text, Tone
from analyzer.show.subject import Subject, one, rows

_TONES: dict[str, Tone] = {"error": "error", "warning": "warning"}
_FINALIZERS = 5


def head(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """The facts below the title."""
    items: list[Item] = []
    version = text(it.value.get("apiVersion"))
    if version and it.target.group not in BUILT_IN:
        items.append(Fact("API", words.short(version)))
    if it.target.gone:
        items.append(Text(_gone(con, it), tone="warning"))
    if it.deleted_at:
        items.append(Fact("Being deleted", _deletion(it), "warning"))
    items += _state(con, it)
    if it.created_at:
        lasted = words.age(it.created_at, it.as_of)
        stamp = report_words.stamp(words.aware(it.created_at))
        items.append(Fact("Created", f"{stamp}{f', {lasted} before the end of the collection' if lasted else ''}"))
    items += _owners(con, it)
    if not it.target.is_object:
        items += _where_it_stands(con, it)
    return items


def _gone(con: duckdb.DuckDBPyConnection, it: Subject) -> str:
    row = one(
        con,
        "SELECT i.path FROM gone_objects g LEFT JOIN inputs i ON i.input = g.gone_by WHERE g.object_id = ?",
        it.target.object_id,
    )
    newer = f" {words.short(row['path'])}" if row and row["path"] else ""
    return f"Gone: the newer input{newer} no longer has it. What follows is what the older one says."


def _deletion(it: Subject) -> str:
    lasted = words.age(it.deleted_at, it.as_of)
    due = f"it should have been gone since {report_words.when(words.aware(it.deleted_at), words.aware(it.as_of))}"
    held = [words.short(one, 100) for one in strings(it.metadata.get("finalizers"))]
    kept = f"; finalizers that hold it: {words.some(held, _FINALIZERS)}" if held else ""
    return f"{due}{f', for {lasted}' if lasted else ''}{kept}"


def _state(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    target = it.target
    state = one(
        con,
        "SELECT state, reason, message, since FROM states "
        "WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ? LIMIT 1",
        target.group, target.kind, target.namespace, target.name,
    )  # fmt: skip
    if state is None or target.gone:
        phase = text(it.status.get("phase"))
        return [Fact("State", f"phase {words.quoted(phase)}, in its own words")] if phase else []
    worst = one(
        con,
        "SELECT severity FROM findings WHERE object_id = ? ORDER BY severity = 'error' DESC, severity = 'warning' DESC LIMIT 1",
        it.id,
    )
    tone = _TONES.get(str(worst["severity"]), "") if worst else ""
    items: list[Item] = [Fact("State", f"{words.short(state['state'])}, {words.since(state['since'], it.as_of)}", tone)]
    message = state["message"]
    why = words.why(state["reason"], message, written=not message or _is_written(con, it, message))
    if why:
        items.append(Fact("Why", why))
    return items


def _is_written(con: duckdb.DuckDBPyConnection, it: Subject, message: str) -> bool:
    """Whether the words stand in the object or in an event about it."""
    if _holds(it.value, message):
        return True
    return one(con, "SELECT 1 FROM events WHERE about_id = ? AND contains(message, ?) LIMIT 1", it.id, message) is not None


def _holds(value: Any, wanted: str) -> bool:
    """Whether any text in the value holds the words; no recursion, since a bundle decides the depth."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            if wanted in part:
                return True
        elif isinstance(part, dict):
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
    return False


def _owners(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """Who owns it, and the workload at the end of the chain."""
    found = list(
        rows(
            con,
            "SELECT w.*, o.namespace AS owner_namespace, s.state FROM owners w LEFT JOIN objects o ON o.object_id = w.owner_id "
            "LEFT JOIN states s ON s.object_id = w.owner_id AND s.kind = w.owner_kind AND s.name = w.owner_name "
            "WHERE w.object_id = ? ORDER BY NOT w.controller",
            it.id,
        )
    )
    items: list[Item] = [Fact("Owner", words.some([_owner(row) for row in found]))] if found else []
    top = one(con, "SELECT *, owner_namespace AS space FROM top_owners WHERE object_id = ?", it.id)
    if top and not any((row["owner_kind"], row["owner_name"]) == (top["owner_kind"], top["owner_name"]) for row in found):
        items.append(Fact("Top owner", _owner(top)))
    return items


def _owner(row: dict[str, Any]) -> str:
    name = f"{words.kind_name(row['owner_group'], row['owner_kind'])} {words.short(row['owner_name'], 200)}"
    if row["owner_id"] is None:
        return f"{name} (not in this bundle)"
    return f"{name} ({words.short(row['state'])})" if row.get("state") else name


def _where_it_stands(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """Of a thing that is no object: the object that tells of it."""
    row = one(con, "SELECT api_group, kind, namespace, name FROM objects WHERE object_id = ?", it.target.object_id)
    if row is None:
        return []
    return [Fact("Told by", words.short(words.thing(row["api_group"], row["kind"], row["namespace"], row["name"])))]
