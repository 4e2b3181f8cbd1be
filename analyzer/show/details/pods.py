"""Pods: where they run, their containers, and what keeps them from starting."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer import times
from analyzer.facts.values import mapping, mappings, text
from analyzer.render import words as report_words
from analyzer.render.escape import short_path
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows

_CONTAINERS = 50
_CAUSES = 20
_TYPES = {"init": "init container", "sidecar": "sidecar", "ephemeral": "ephemeral container"}


def placed(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Where the pod is, and since when it is ready."""
    row = one(con, "SELECT * FROM pods WHERE object_id = ?", it.id)
    if row is None:
        return Section("Placement", (Text("It has no status: nothing took it up yet, or the status was not collected."),))
    facts = [Fact("Phase", words.quoted(row["phase"]))] if row["phase"] else []
    if row["node"]:
        node = one(con, "SELECT state FROM nodes WHERE name = ? AND input = ?", row["node"], row["input"])
        facts.append(Fact("Node", f"{words.short(row['node'])} ({words.short(node['state']) if node else 'not in this bundle'})"))
    else:
        facts.append(Fact("Node", "none yet"))
    ready = "yes" if row["ready"] else "no"
    facts.append(Fact("Ready", f"{ready}, {words.since(row['ready_since'], it.as_of)}" if row["ready_since"] else ready))
    if row["gates"]:
        facts.append(Fact("Scheduling gates", words.some([words.short(gate) for gate in row["gates"]])))
    if row["mirror"]:
        facts.append(Fact("Static pod", "its kubelet runs it from a file; the API server only shows it"))
    if row["replaced"] or row["made_good"]:
        facts.append(Fact("Made good", "it failed, and its Job has another pod for it or has succeeded since"))
    priority = text(it.spec.get("priorityClassName"))
    if priority:
        facts.append(Fact("Priority class", words.short(priority)))
    return Section("Placement", tuple(facts))


def containers(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Each container: state, last end, image, limits, logs."""
    found = list(
        rows(
            con,
            "SELECT * FROM containers WHERE object_id = ? ORDER BY type = 'ephemeral', type = 'main', idx",
            it.id,
        )
    )
    specs = {
        str(spec.get("name")): spec
        for part in ("initContainers", "containers", "ephemeralContainers")
        for spec in mappings(it.spec.get(part))
    }
    items: list[Item] = []
    for row in found[:_CONTAINERS]:
        items += _container(con, it, row, specs.get(row["container"], {}))
    return Section("Containers", (*items, *words.more(len(found), _CONTAINERS, "container")))


def _container(con: duckdb.DuckDBPyConnection, it: Subject, row: dict[str, Any], spec: dict[str, Any]) -> list[Item]:
    kind = f" ({_TYPES[row['type']]})" if row["type"] in _TYPES else ""
    tone: Tone = "warning" if row["failing"] or row["looping"] or row["state"] == "waiting" else ""
    items: list[Item] = [Text(f"{words.short(row['container'] or '', 120)}{kind}: {_now(row, it)}", tone=tone)]
    if row["ended_at"] or row["end_words"]:
        items.append(Text(_last_end(row, it), 1))
    causes = [row[name] for name in ("pull_words", "start_words") if row[name]]
    items += [Text(f"Deduced: {words.short(cause)}", 1) for cause in causes]
    if row["pull_message"] and row["pull_message"] != row["message"]:
        items.append(Text(words.quoted(row["pull_message"]), 1))
    if row["config_name"]:
        key = f", key {words.quoted(row['config_key'], 100)}" if row["config_key"] else ""
        items.append(Text(f"It misses {words.short(row['config_kind'] or '')} {words.short(row['config_name'])}{key}.", 1))
    items.append(Text(f"image {words.quoted(row['image'], 300)}" if row["image"] else "no image is named", 1, "dim"))
    resources = mapping(spec.get("resources"))
    for name in ("requests", "limits"):
        amounts = [(words.short(key, 80), words.short(value, 40)) for key, value in mapping(resources.get(name)).items()]
        if amounts:
            items.append(Text(f"{name} {words.amounts(amounts[:20])}", 1, "dim"))
    return items + _logs(con, it, row)


def _now(row: dict[str, Any], it: Subject) -> str:
    state = row["state"] if row["state"] != "none" else "no status yet"
    told = words.said(row["reason"], row["message"])
    began = row["started_at"] if row["state"] == "running" else row["finished_at"] if row["state"] == "terminated" else None
    parts = [f"{state}{f' {told}' if told else ''}"]
    if began:
        parts.append(words.since(began, it.as_of))
    if row["exit_code"] is not None and row["state"] == "terminated":
        parts.append(f"exit code {row['exit_code']}")
    if row["state"] == "running":
        parts.append("ready" if row["ready"] else "not ready")
    if row["restarts"]:
        parts.append(report_words.plural(row["restarts"], "restart"))
    return ", ".join(parts)


def _last_end(row: dict[str, Any], it: Subject) -> str:
    reason = f", {words.short(row['end_reason'], 80)}" if row["end_reason"] else ""
    how = f"{row['end_words'] or 'an unknown way'}{reason}"
    ran = f", after a run of {times.age(row['ran_seconds'])}" if row["ran_seconds"] is not None else ""
    message = f": {words.quoted(row['end_message'])}" if row["end_message"] else ""
    return f"last end: {how}, {words.ago(row['ended_at'], it.as_of)}{ran}{message}"


def _logs(con: duckdb.DuckDBPyConnection, it: Subject, row: dict[str, Any]) -> list[Item]:
    """The logs that there are, and the most telling last line of one that ended."""
    found = list(
        rows(
            con,
            "SELECT l.log_id, l.source, l.lines, f.path FROM logs l JOIN files f USING (file_id) "
            "WHERE l.namespace = ? AND l.pod = ? AND l.container = ? ORDER BY l.source, l.log_id",
            it.namespace,
            it.name,
            row["container"],
        )
    )
    if not found:
        return [Text("no log of it in the bundle", 1, "dim")]
    kinds = ", ".join(f"{log['source']} ({report_words.plural(log['lines'] or 0, 'line')})" for log in found[:5])
    items: list[Item] = [Text(f"logs: {kinds}", 1, "dim")]
    last = row["log_id"] if row["end_log_id"] is None else row["end_log_id"]
    words_of = one(
        con,
        "SELECT e.line, e.words, f.path FROM log_ends e JOIN logs l USING (log_id) JOIN files f USING (file_id) "
        "WHERE e.log_id = ? AND e.telling LIMIT 1",
        last,
    )
    if words_of:
        where = report_words.place(short_path(words.short(words_of["path"], 600)), words_of["line"])
        items.append(Text(f"its log says {words.quoted(words_of['words'], 400)} ({where})", 1))
    return items


def scheduling(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Why no node takes it, in the scheduler's words."""
    found = list(rows(con, "SELECT * FROM scheduling_causes WHERE object_id = ? ORDER BY idx", it.id))
    if not found:
        return Section("No node takes it")
    lines = tuple(
        ("" if row["nodes"] is None else report_words.number(row["nodes"]), words.quoted(row["text"], 300))
        for row in found[:_CAUSES]
    )
    total = next((row["nodes_total"] for row in found if row["nodes_total"] is not None), None)
    of = f" (of {report_words.plural(total, 'node')})" if total is not None else ""
    return Section(f"No node takes it{of}", (Table(("nodes", "the scheduler says"), lines),))


def holdups(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What keeps it from starting on its node."""
    items: list[Item] = []
    for row in rows(con, "SELECT * FROM pod_holdups WHERE object_id = ? ORDER BY last_at DESC NULLS LAST", it.id):
        about = f", volume {words.quoted(row['volume'], 80)}" if row["volume"] else ""
        known = f": {words.short(row['words'])}" if row["words"] else ""
        items.append(Text(f"{words.short(row['what'])}{about}{known}"))
        items.append(Text(f"{words.quoted(row['message'] or '')}, last {words.ago(row['last_at'], it.as_of)}", 1))
    return Section("What holds it up", tuple(items))


DETAILS: DetailsTable = {("", "Pod"): (placed, scheduling, holdups, containers)}
