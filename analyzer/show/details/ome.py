"""OME: what is in force for an InferenceService, its components, the runtimes that were looked at, and where a model lies."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows

_GROUP = "ome.io"
_CANDIDATES = 40
_NODES = 20
_TEXT = 300


def service(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What is in force, and how its status compares with it."""
    row = one(con, "SELECT * FROM ome_services WHERE object_id = ?", it.id)
    if row is None:
        return Section("OME")
    facts: list[Item] = []
    if row["no_report"]:
        facts.append(Text(f"Deduced: OME makes no report of it, since {words.short(row['no_report'], _TEXT)}", tone="warning"))
        return Section("OME", tuple(facts))
    if row["model_name"]:
        missing = " (not in the bundle)" if row["model_id"] is None else ""
        facts.append(Fact("Model", f"{words.short(row['model_kind'], 60)} {words.short(row['model_name'])}{missing}"))
    facts.append(_in_force(row))
    if row["pin"] and row["pin"] != "AutoSync":
        facts.append(Fact("Pin", words.short(row["pin"])))
    if row["assumed"]:
        facts.append(Text(f"Taken for granted: {words.short(row['assumed'], _TEXT)}", tone="dim"))
    numbers = f"{row['observed_generation']} observed, {row['generation']} its own: {row['freshness']}"
    facts.append(Fact("Status generation", numbers))
    return Section("OME", tuple(facts))


def _in_force(row: dict[str, Any]) -> Fact:
    """The runtime in force, or why there is none."""
    if row["unknown"]:
        return Fact("In force", f"cannot be told: {words.short(row['unknown'], _TEXT)}", "dim")
    if row["active"] == "Available":
        return Fact("In force", f"{words.short(row['source_kind'])} {words.short(row['source'])} (deduced)")
    why = words.short(row["active_why"], _TEXT)
    return Fact(
        "In force", f"{'nothing' if row['active'] == 'Unavailable' else words.short(row['source'])}: {why} (deduced)", "error"
    )


def components(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What engine and decoder ask for, and what their pods start from."""
    query = """
    SELECT c.*, (SELECT list(i.code ORDER BY i.code) FROM ome_issues i
        WHERE i.object_id = c.object_id AND i.component = c.component) AS issues
    FROM ome_components c WHERE c.object_id = ? ORDER BY c.component DESC
    """
    found = list(rows(con, query, it.id))
    if not found:
        return Section("Components")
    lines = tuple(_component(row) for row in found)
    return Section("Components", (Table(("component", "asks for", "picked (deduced)", "base requests", "issues"), lines),))


def _component(row: dict[str, Any]) -> tuple[str, ...]:
    asks = (
        row["declared_class"] or row["policy"] or ("nothing" if row["intent"] == "NotConfigured" else "no valid class or policy")
    )
    picked = row["picked_class"] or {"none": "none", "unknown": "cannot be told", "crash": "none: OME crashes"}.get(
        row["picked"] or "", ""
    )
    base = row["base"] or ("none" if row["base_state"] == "Available" else str(row["base_state"]).lower())
    return (
        row["component"],
        words.short(asks, 80),
        words.short(picked, 80),
        words.short(base, 120),
        ", ".join(row["issues"] or ()),
    )


def candidates(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The runtimes that OME looked at, where the service names none."""
    found = list(rows(con, "SELECT * FROM ome_candidates WHERE object_id = ? ORDER BY position", it.id))
    if not found:
        return Section("Runtimes looked at")
    lines = tuple(
        (row["kind"], words.short(row["name"], 80), str(row["score"] or ""), words.short(row["reason"] or "qualifies", 200))
        for row in found[:_CANDIDATES]
    )
    tones: tuple[Tone, ...] = tuple("dim" if row["reason"] else "" for row in found[:_CANDIDATES])
    items: list[Item] = [Table(("kind", "runtime", "score", "why"), lines, tones)]
    return Section("Runtimes looked at", (*items, *words.more(len(found), _CANDIDATES, "runtime")))


def model(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Where a model lies."""
    row = one(con, "SELECT * FROM ome_models WHERE object_id = ?", it.id)
    if row is None:
        return Section("Model")
    facts: list[Item] = [Fact("State", words.short(row["state"]) or "not said")]
    for label, column in (("On nodes", "ready_nodes"), ("Failed on", "failed_nodes")):
        names = row[column] or []
        more = f" and {len(names) - _NODES} more" if len(names) > _NODES else ""
        tone: Tone = "error" if column == "failed_nodes" and names else ""
        facts.append(Fact(label, (", ".join(words.short(name, 80) for name in names[:_NODES]) + more) or "none", tone))
    return Section("Model", tuple(facts))


DETAILS: DetailsTable = {
    (_GROUP, "InferenceService"): (service, components, candidates),
    (_GROUP, "BaseModel"): (model,),
    (_GROUP, "ClusterBaseModel"): (model,),
}
