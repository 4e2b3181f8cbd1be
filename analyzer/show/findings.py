"""What the rules found about an object: the finding, what explains it, what to do, and where it stands in the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from analyzer.facts.values import mappings, strings
from analyzer.render import words as report_words
from analyzer.render.escape import plain, short_path
from analyzer.show import words
from analyzer.show.model import Item, Section, Text, Tone
from analyzer.show.subject import Subject, one, read_json, rows

SHOWN = 20
_EVIDENCE = 5
_STEPS = 8
_NEAR = 5
"""Most findings that are told of what an object without any is linked to."""
_CHAIN = 10
"""Longest chain of causes that is followed; there are no cycles, but a database may be anything."""
_TONES: dict[str, Tone] = {"error": "error", "warning": "warning", "info": "info"}

_ABOUT = """
SELECT f.*, i.rank, i.title AS incident_title, i.root,
    (f.count > 50 AND f.name <> $name) AS maybe
FROM findings f LEFT JOIN incidents i ON i.id = f.incident
WHERE (f.api_group = $group AND f.kind = $kind AND f.namespace = $namespace AND f.name = $name)
   OR ($name <> '' AND f.count > 1 AND contains(f.json::VARCHAR, to_json($name)::VARCHAR) AND EXISTS (
        FROM (SELECT unnest(json_extract(f.json, '$.objects[*]')) AS o)
        WHERE json_extract_string(o, '$.name') = $name AND json_extract_string(o, '$.namespace') = $namespace
          AND json_extract_string(o, '$.kind') = $kind AND json_extract_string(o, '$.group') = $group))
   OR (f.count > 50 AND f.object_id IN (SELECT owner_id FROM top_owners WHERE object_id = $id))
ORDER BY i.rank NULLS LAST, f.severity = 'error' DESC, f.severity = 'warning' DESC, f.code, f.id
"""
"""Findings that fold more than 50 objects list 50 of them: those on the object's own top owner are told too, as possible."""

_BESIDE = """
SELECT f.code, f.severity, f.title, f.api_group, f.kind, f.namespace, f.name, count(*) OVER () AS total
FROM findings f LEFT JOIN incidents i ON i.id = f.incident
WHERE f.object_id IN (
    SELECT src FROM relations WHERE dst = $id UNION SELECT dst FROM relations WHERE src = $id
    UNION SELECT owner_id FROM owners WHERE object_id = $id UNION SELECT object_id FROM owners WHERE owner_id = $id
    -- The pods of a Deployment are those of its ReplicaSets.
    UNION SELECT p.object_id FROM owners p JOIN owners r ON r.object_id = p.owner_id WHERE r.owner_id = $id)
ORDER BY i.rank NULLS LAST, f.severity = 'error' DESC, f.severity = 'warning' DESC, f.code, f.id
LIMIT $most
"""


def findings(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The findings about the object, those included that fold it with others of one cause."""
    target = it.target
    found = list(rows(con, _ABOUT, group=target.group, kind=target.kind, namespace=target.namespace, name=target.name, id=it.id))
    items: list[Item] = []
    for row in found[:SHOWN]:
        items += _finding(con, it, row)
    items += words.more(len(found), SHOWN, "finding")
    if not found and not target.gone:
        items.append(Text("No rule found anything about it.", tone="dim"))
        items += _beside(con, it)
    return Section("Findings", tuple(items))


def _beside(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """The findings about what it is linked to, a line each: a RayJob may stand still for its Workload's sake."""
    found = list(rows(con, _BESIDE, id=it.id, most=_NEAR))
    if not found:
        return []
    items: list[Item] = [Text("About what it is linked to:", tone="dim")]
    for row in found:
        severity = report_words.SEVERITY.get(row["severity"], str(row["severity"]))
        told = f"{severity}  {row['code']}: {words.short(row['title'], 300)}"
        about = words.thing(row["api_group"], row["kind"], row["namespace"], row["name"], beside=it.namespace)
        # Most titles name their object; a folded one names the owner of several.
        named = row["name"] in str(row["title"])
        items.append(Text(told if named else f"{told} ({words.short(about)})", 1, _TONES.get(row["severity"], "")))
    left = found[0]["total"] - len(found)
    return [*items, Text(f"and {report_words.plural(left, 'more finding')}", 1, "dim")] if left > 0 else items


def _finding(con: duckdb.DuckDBPyConnection, it: Subject, row: dict[str, Any]) -> list[Item]:
    whole = read_json(row["json"])
    others = row["count"] - 1
    folded = f", {report_words.plural(others, 'other object')} too" if others > 0 else ""
    deduced = " (deduced)" if row["basis"] == "deduced" else ""
    severity = report_words.SEVERITY.get(row["severity"], str(row["severity"]))
    items: list[Item] = [
        Text(f"{severity}  {row['code']}{deduced}: {words.short(row['title'], 300)}", tone=_TONES.get(row["severity"], "")),
        Text(words.short(row["message"] or "", 2_000), 1),
        Text(f"{words.since(row['since'], it.as_of)}; {_owner(row)}{folded}", 1, "dim"),
    ]
    if row["maybe"] and not any(_is(ref, it) for ref in mappings(whole.get("objects"))):
        items.append(Text(f"It lists 50 of {report_words.number(row['count'])} objects: this one may be among the rest.", 1))
    items += _causes(con, row)
    for step in strings(whole.get("next"))[:_STEPS]:
        items.append(Text(f"Next: {words.short(step, 600)}", 1))
    evidence = mappings(whole.get("evidence"))
    for one_of in evidence[:_EVIDENCE]:
        items += _evidence(one_of)
    left = words.left_out(len(evidence), _EVIDENCE, "place")
    return [*items, Text(left, 1, "dim")] if left else items


def _is(ref: dict[str, Any], it: Subject) -> bool:
    return [ref.get(key) for key in ("kind", "namespace", "name")] == [it.target.kind, it.namespace, it.name]


def _owner(row: dict[str, Any]) -> str:
    names: Mapping[Any, str] = report_words.OWNER
    owner = names.get(row["owner"], str(row["owner"]))
    can = "nobody has to act" if row["owner"] == "nobody" else f"who can act: {owner.lower()}"
    return f"{can}; waiting helps: {row['waiting']}"


def _causes(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> list[Item]:
    """What explains it, up to the root, and what it explains."""
    items: list[Item] = []
    seen, cause = {row["id"]}, row["explained_by"]
    while cause and cause not in seen and len(seen) <= _CHAIN:
        seen.add(cause)
        above = one(con, "SELECT code, title, explained_by FROM findings WHERE id = ?", cause)
        if above is None:
            break
        items.append(Text(f"Explained by {above['code']}: {words.short(above['title'], 300)}", 1))
        cause = above["explained_by"]
    below = one(con, "SELECT count(*) AS number FROM findings WHERE explained_by = ?", row["id"])
    if below and below["number"]:
        items.append(Text(f"It explains {report_words.plural(below['number'], 'other finding')}.", 1))
    if row["rank"]:
        alone = row["root"] == row["id"]
        named = "of which it is the cause" if alone else words.quoted(row["incident_title"], 300)
        items.append(Text(f"Incident {row['rank']}, {named}", 1, "dim"))
    return items


def _evidence(entry: dict[str, Any]) -> list[Item]:
    line = entry.get("line")
    where = report_words.place(short_path(plain(str(entry.get("file") or ""))), line if isinstance(line, int) else None)
    field = plain(str(entry.get("path") or ""))
    kind = "computed " if entry.get("kind") == "Computed" else ""
    return [Text(f"{where}{f'  {field}' if field else ''}: {kind}{words.quoted(entry.get('value') or '', 400)}", 1, "dim")]
