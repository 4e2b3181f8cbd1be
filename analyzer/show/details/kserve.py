"""KServe: a service's model, components, traffic and the choice of its runtime with every candidate; what other kinds name."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.values import mapping, mappings, number, strings, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows

_GROUP = "serving.kserve.io"
_ROWS = 60
_SERVICES = 20

_MODE_SOURCES = {
    "status": "by its status",
    "annotation": "by its annotation",
    "config": "the cluster's default, by ConfigMap inferenceservice-config",
}
_BARE = "(users, passwords, queries and fragments of addresses are never shown)"


def _place(storage: str) -> str:
    """Where a model lies; what a web address may have lost is said."""
    shown = words.short(storage, 300)
    return f"{shown} {_BARE}" if storage.startswith(("http://", "https://")) else shown


def service(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section]:
    """All sections of an InferenceService."""
    row = one(con, "SELECT * FROM kserve_services WHERE object_id = ?", it.id)
    if row is None:
        return []
    return [_model(row, it), _components(con, row, it), _traffic(con, row, it), _runtime(con, row, it)]


def _model(row: dict[str, Any], it: Subject) -> Section:
    facts: list[Item] = []
    if row["model_format"] is None:
        facts.append(Fact("Predictor", "containers of its own, so that KServe needs no runtime"))
    else:
        version = f", version {words.quoted(row['model_version'], 60)}" if row["model_version"] else ", any version"
        facts.append(Fact("Format", f"{words.short(row['model_format'], 80) or 'none named'}{version}"))
        given = "" if row["protocol_given"] else " (the default: spec names none)"
        facts.append(Fact("Protocol", f"{words.short(row['protocol'], 40)}{given}"))
    if row["multi_node"]:
        facts.append(Fact("Nodes", "several: the predictor has a workerSpec"))
    if row["storage"]:
        facts.append(Fact("Storage", _place(row["storage"])))
    told = [
        f"{label} {words.short(row[name], 40)}"
        for name, label in (("transition", "transition"), ("active_model", "active"), ("target_model", "target"))
        if row[name]
    ]
    if told:
        facts.append(Fact("KServe says", ", ".join(told)))
    if row["failure_reason"] or row["failure_message"]:
        facts.append(_failure(row, it))
    if row["blocked"]:
        said = f": {words.quoted(row['blocked_message'])}" if row["blocked_message"] else ""
        facts.append(Fact("New version", f"does not come up: {words.short(row['blocked'], 200)}{said}", "warning"))
    if row["behind"]:
        facts.append(Fact("Status", "is of an older generation of the spec", "warning"))
    return Section("Model", tuple(facts))


def _failure(row: dict[str, Any], it: Subject) -> Fact:
    exit_code = f", exit code {row['failure_exit']}" if row["failure_exit"] else ""
    where = f", at {words.short(row['failure_location'], 120)}" if row["failure_location"] else ""
    when = f", {words.ago(row['failure_at'], it.as_of)}" if row["failure_at"] else ""
    said = f"{words.said(row['failure_reason'], row['failure_message'])}{exit_code}{where}{when}"
    if row["stale_failure"]:
        return Fact("Old failure", f"{said}. It is not in force: the model was loaded since, or is loading again", "dim")
    return Fact("Failure", said, "error")


def _components(con: duckdb.DuckDBPyConnection, row: dict[str, Any], it: Subject) -> Section:
    source = _MODE_SOURCES.get(row["mode_source"] or "", "")
    mode = (
        f"{row['mode']} ({source})"
        if row["mode"]
        else "cannot tell: the cluster's default, and the bundle lacks KServe's configuration"
    )
    items: list[Item] = [Fact("Mode", mode)]
    if row["url"]:
        items.append(Fact("Address", f"{words.short(row['url'], 200)} {_BARE}"))
    if row["autoscaler"]:
        items.append(Fact("Scaled by", words.quoted(row["autoscaler"], 60)))
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for part in rows(con, "SELECT * FROM kserve_components WHERE object_id = ? ORDER BY component", it.id):
        said = words.said(part["reason"], part["message"]) if part["ready"] != "True" else ""
        pods = f"{part['pods_ready']} of {part['pods']}" if part["pods"] else "none in the bundle"
        revision = words.short(part["latest_ready"], 80)
        if part["latest_created"] and part["latest_created"] != part["latest_ready"]:
            revision = f"{revision or 'none ready'}; newest {words.short(part['latest_created'], 80)} is not ready"
        lines.append((part["component"], part["ready"] or "not said", pods, revision, words.short(part["url"], 120), said))
        tones.append("" if part["ready"] == "True" else "warning")
    if lines:
        items.append(Table(("component", "ready", "pods ready", "revision", "address", "why"), tuple(lines), tuple(tones)))
    return Section("Components", tuple(items))


def _traffic(con: duckdb.DuckDBPyConnection, row: dict[str, Any], it: Subject) -> Section:
    lines = []
    query = "SELECT * FROM kserve_traffic WHERE object_id = ? ORDER BY component, idx LIMIT ?"
    for target in rows(con, query, it.id, _ROWS):
        here = "" if target["revision_id"] is not None or row["mode"] != "Knative" else "not in this bundle"
        marks = [words.short(target["tag"], 60), "newest" if target["latest"] else "", here]
        if target["ready"] is not None:
            marks.append("ready" if target["ready"] else "not ready")
        share = "" if target["percent"] is None else f"{target['percent']} %"
        lines.append(
            (target["component"], words.short(target["revision"], 120), share, ", ".join(mark for mark in marks if mark))
        )
    items: list[Item] = []
    if row["canary_percent"] is not None:
        items.append(Fact("Canary", f"{row['canary_percent']} % of the traffic of the predictor is meant for its newest version"))
    if lines:
        items.append(Table(("component", "revision", "traffic", ""), tuple(lines)))
    return Section("Traffic", tuple(items))


def _runtime(con: duckdb.DuckDBPyConnection, row: dict[str, Any], it: Subject) -> Section:
    """The choice by KServe's rules, and every candidate with the filter that drops it."""
    if row["choice"] is None:
        return Section("Runtime")
    items: list[Item] = []
    if row["named_runtime"]:
        items.append(Fact("Named", words.short(row["named_runtime"], 120)))
    said = words.short(row["choice_words"], words.QUOTE)
    if row["choice"] == "cannot tell":
        items.append(Fact("By the rules", f"cannot be told: {said}", "warning"))
    elif row["choice"] == "none":
        items.append(Fact("By the rules", f"Deduced: none: {said}", "error"))
    else:
        chosen = words.thing(_GROUP, row["chosen_kind"], "", row["chosen_runtime"])
        items.append(Fact("By the rules", f"Deduced: {chosen}: {said}"))
    if row["recorded_runtime"]:
        recorded = words.thing(_GROUP, row["recorded_kind"], "", row["recorded_runtime"])
        same = (row["recorded_runtime"], row["recorded_kind"]) == (row["chosen_runtime"], row["chosen_kind"])
        differs = "" if same or row["choice"] == "cannot tell" else ". That is another one than its rules give now"
        items.append(Fact("Recorded", f"{recorded}{differs}", "warning" if differs else ""))
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    found = list(rows(con, "SELECT * FROM kserve_candidates WHERE object_id = ? ORDER BY place", it.id))
    for candidate in found[:_ROWS]:
        verdict = "chosen" if candidate["chosen"] else "fits" if candidate["fits"] else "dropped"
        scope = "namespace" if candidate["kind"] == "ServingRuntime" else "cluster"
        priority = "" if candidate["priority"] is None else str(candidate["priority"])
        name = words.short(candidate["runtime"], 120)
        lines.append((str(candidate["place"]), name, scope, priority, verdict, words.short(candidate["words"], 300)))
        tones.append("good" if candidate["chosen"] else "" if candidate["fits"] else "dim")
    if lines:
        items.append(Table(("", "runtime", "of the", "priority", "", "why"), tuple(lines), tuple(tones)))
    return Section("Runtime", (*items, *words.more(len(found), _ROWS, "runtime")))


def runtime(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section]:
    """What a runtime serves, and which services have it."""
    facts: list[Item] = [
        Fact(
            "Enabled",
            "no: spec.disabled" if it.spec.get("disabled") is True else "yes",
            "warning" if it.spec.get("disabled") is True else "",
        ),
        Fact(
            "Protocols",
            words.some([words.short(one, 40) for one in strings(it.spec.get("protocolVersions"))], 10) or "any (none are named)",
        ),
    ]
    if it.spec.get("multiModel") is True:
        facts.append(Fact("For", "many models at once (ModelMesh)"))
    if isinstance(it.spec.get("workerSpec"), dict):
        facts.append(Fact("For", "services on several nodes only (workerSpec)"))
    formats = mappings(it.spec.get("supportedModelFormats"))
    lines = tuple(
        (
            words.short(text(entry.get("name")), 80),
            words.short(text(entry.get("version")), 40) or "any that asks for none",
            "yes" if entry.get("autoSelect") is True else "only where it is named",
            "" if number(entry.get("priority")) is None else str(number(entry.get("priority"))),
        )
        for entry in formats[:_ROWS]
    )
    if lines:
        facts.append(Table(("format", "version", "picked by itself", "priority"), lines))
    facts += words.more(len(formats), _ROWS, "format")
    return [Section("Serves", tuple(facts)), _users(con, it)]


def _users(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The services for which it was recorded or is the choice, and those that it was dropped for."""
    query = """
        SELECT s.namespace, s.name, s.state, s.recorded_runtime = $name AND s.recorded_kind = $kind AS recorded,
            coalesce(c.chosen, false) AS chosen, c.fits, c.words
        FROM kserve_services s LEFT JOIN kserve_candidates c ON c.object_id = s.object_id AND c.runtime_id = $id
        WHERE (s.recorded_runtime = $name AND s.recorded_kind = $kind
                AND ($kind = 'ClusterServingRuntime' OR s.namespace = $namespace))
           OR (c.runtime_id = $id AND (c.chosen OR c.fits OR c.near))
        ORDER BY coalesce(recorded, false) DESC, chosen DESC, s.namespace, s.name
    """
    values = {"name": it.name, "kind": it.target.kind, "id": it.id, "namespace": it.namespace}
    result = con.execute(query, values).fetchall()
    lines = tuple(
        (
            f"{words.short(namespace)}/{words.short(name, 120)}",
            words.short(state),
            "recorded" if recorded else "",
            "chosen" if chosen else "fits" if fits else "dropped" if said else "",
            words.short(said, 300),
        )
        for namespace, name, state, recorded, chosen, fits, said in result[:_SERVICES]
    )
    if not lines:
        return Section("Services")
    table: list[Item] = [Table(("service", "state", "by KServe", "by its rules", "why"), lines)]
    return Section("Services", (*table, *words.more(len(result), _SERVICES, "service")))


def llm(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section]:
    """Model, address and configs of an LLMInferenceService, and what keeps it from being ready."""
    row = one(con, "SELECT * FROM kserve_others WHERE object_id = ?", it.id)
    if row is None:
        return []
    facts: list[Item] = [Fact("Model", words.short(row["model"], 120) or "not named")]
    if row["storage"]:
        facts.append(Fact("Storage", _place(row["storage"])))
    if row["url"]:
        facts.append(Fact("Address", words.short(row["url"], 200)))
    for part, label in (("", "Replicas"), ("prefill", "Prefill replicas")):
        replicas = number(mapping(it.spec.get(part)).get("replicas") if part else it.spec.get("replicas"))
        if replicas is not None:
            facts.append(Fact(label, report_words.number(replicas)))
    if isinstance(it.spec.get("worker"), dict):
        facts.append(Fact("Nodes", "several: it has workers"))
    if row["blamed"]:
        facts.append(Fact("Held up by", f"{row['blamed']}: {words.said(row['reason'], row['message']) or 'no words'}", "error"))
    if row["stale_ready"]:
        facts.append(Fact("Ready", "is True from before: up to 0.20 KServe leaves PresetsCombined out of it", "warning"))
    return [Section("Model", tuple(facts)), _named(con, it, "Configs")]


def graph(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section]:
    """The nodes of an InferenceGraph with their steps."""
    found = {row["path"]: row for row in rows(con, "SELECT * FROM kserve_references WHERE object_id = ?", it.id)}
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for node, router in mapping(it.spec.get("nodes")).items():
        for index, step in enumerate(mappings(mapping(router).get("steps"))):
            place = f'spec.nodes["{node}"].steps[{index}]'
            named = next(
                (found[f"{place}.{key}"] for key in ("serviceName", "nodeName", "serviceUrl") if f"{place}.{key}" in found), None
            )
            weight = number(step.get("weight"))
            marks = [f"{weight} %" if weight is not None else "", "missing" if named and named["missing"] else ""]
            if text(step.get("dependency")):
                marks.append(f"dependency {words.short(text(step.get('dependency')), 20)}")
            to = f"{named['what']} {words.short(named['name'], 160)}" if named else "nothing that is named"
            kind = words.short(text(mapping(router).get("routerType")), 40)
            step_name = words.short(text(step.get("name")), 80) or str(index)
            lines.append((words.short(node, 80), kind, step_name, to, ", ".join(mark for mark in marks if mark)))
            tones.append("error" if named and named["missing"] else "")
    items: list[Item] = []
    if lines:
        items.append(Table(("node", "router", "step", "leads to", ""), tuple(lines[:_ROWS]), tuple(tones[:_ROWS])))
        items.append(Text(_BARE, tone="dim"))
    items += words.more(len(lines), _ROWS, "step")
    return [_address(con, it), Section("Steps", tuple(items))]


def trained(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section]:
    """What a TrainedModel is, and the service that holds it."""
    model = mapping(it.spec.get("model"))
    row = one(con, "SELECT * FROM kserve_others WHERE object_id = ?", it.id)
    facts: list[Item] = [Fact("Framework", words.short(text(model.get("framework")), 60) or "not named")]
    if row and row["storage"]:
        facts.append(Fact("Storage", _place(row["storage"])))
    if text(model.get("memory")):
        facts.append(Fact("Memory", words.short(text(model.get("memory")), 40)))
    if row and row["url"]:
        facts.append(Fact("Address", words.short(row["url"], 200)))
    return [Section("Model", tuple(facts)), _named(con, it, "Service")]


def _address(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    row = one(con, "SELECT url FROM kserve_others WHERE object_id = ?", it.id)
    return Section("Address", (Fact("Address", words.short(row["url"], 200)),) if row and row["url"] else ())


def _named(con: duckdb.DuckDBPyConnection, it: Subject, title: str) -> Section:
    """What it names, and whether that is there."""
    items: list[Item] = []
    for row in rows(con, "SELECT * FROM kserve_references WHERE object_id = ? ORDER BY path LIMIT ?", it.id, _ROWS):
        state = (
            ""
            if row["target_id"] is not None
            else " (does not exist)"
            if row["missing"]
            else " (not in this namespace of the bundle)"
        )
        items.append(Text(f"{words.short(row['name'], 160)}{state}", tone="error" if row["missing"] else ""))
    return Section(title, tuple(items))


DETAILS: DetailsTable = {
    (_GROUP, "InferenceService"): (service,),
    (_GROUP, "ServingRuntime"): (runtime,),
    (_GROUP, "ClusterServingRuntime"): (runtime,),
    (_GROUP, "LLMInferenceService"): (llm,),
    (_GROUP, "InferenceGraph"): (graph,),
    (_GROUP, "TrainedModel"): (trained,),
}
