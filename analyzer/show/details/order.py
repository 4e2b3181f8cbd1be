"""Inference orders: what an order says of itself, its plan and pods; what a class allows; what a model is; a PhysicalGPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb

from analyzer.facts.order.shapes import READING
from analyzer.facts.told import conditions
from analyzer.facts.values import mapping
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import EVERY_KIND, Details, DetailsTable, Subject, one, rows

_LISTED = 20
_TOLD = 30
"""Most values of a plan or of bounds that are told."""
_DEEP = 8
"""Deepest nesting of such a value."""


def order(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Class and model of an order, and what it reports of itself."""
    row = one(con, "SELECT * FROM orders WHERE object_id = ?", it.id)
    if row is None:
        return Section("Order")
    facts: list[Item] = [*_stands_at(it), Fact("Class", f"{words.short(row['class']) or 'none'}{_unseen(row['class_id'])}")]
    kind = words.short(row["model_kind"]) or "model"
    where = f"{words.short(row['model_namespace'])}/" if row["model_kind"] == "Model" and row["model_namespace"] else ""
    model = f"{kind} {where}{words.short(row['model']) or 'none'} from {words.short(row['source']) or 'an unnamed source'}"
    facts.append(Fact("Model", model + (_unseen(row["model_id"]) if row["source"] == "ai-models" else "")))
    if row["endpoint_type"]:
        facts.append(Fact("Serves", f"the API {words.short(row['endpoint_type'])}"))
    if row["replans"]:
        facts.append(Fact("Plan", f"computed anew {report_words.plural(row['replans'], 'time')}"))
    if row["pods"] or row["replicas"] is not None:
        wanted = "" if row["replicas"] is None else f", {report_words.number(row['replicas'])} wanted"
        facts.append(
            Fact("Pods", f"{report_words.number(row['ready_pods'])} of {report_words.number(row['pods'])} ready{wanted}")
        )
    if row["observed"] is not None and row["generation"] is not None and row["observed"] < row["generation"]:
        facts.append(Fact("Old", f"its status is about generation {row['observed']}, it has {row['generation']}", "warning"))
    return Section("Order", tuple(facts))


def _stands_at(it: Subject) -> list[Item]:
    """The first step that is not reached, which is where to look."""
    told = conditions(it.status)
    if not any(step in told for step in READING):
        return []
    for number, step in enumerate(READING, 1):
        said = told.get(step)
        if said is None or not said.is_true:
            status = f"is {words.short(said.status, 20)}" if said else "is not said"
            why = words.said(said.reason, said.message) if said else ""
            where = f"{step}, step {number} of {len(READING)}, {status}{f': {why}' if why else ''}"
            return [Fact("Stands at", where, "warning")]
    return []


def plan(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the platform chose for an order: accelerator, share, placement, estimates; under its own names of fields."""
    return _values(con, it, "resolved", "Plan, as status.resolved has it")


def bounds(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What its class set for an order whose author may not read classes: replicas, priority class."""
    return _values(con, it, "constraints", "Bounds in force, as status.constraints has them")


def _values(con: duckdb.DuckDBPyConnection, it: Subject, field: str, title: str) -> Section:
    """The values below a field of an order's status; versions of the module name them differently, so all are told."""
    if one(con, "SELECT 1 FROM orders WHERE object_id = ?", it.id) is None:
        return Section(title)
    found = list(_leaves(mapping(it.status.get(field))))
    facts: list[Item] = [Fact(words.short(path, 80), words.short(value, words.QUOTE)) for path, value in found[:_TOLD]]
    return Section(title, (*facts, *words.more(len(found), _TOLD, "value")))


def _leaves(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Path and value of everything in it that is no map and no list, in the order in which it stands."""
    if depth < _DEEP and isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key), depth + 1)
    elif depth < _DEEP and isinstance(value, list):
        for number, part in enumerate(value):
            yield from _leaves(part, f"{path}[{number}]", depth + 1)
    elif isinstance(value, bool):
        yield path, "true" if value else "false"
    elif value is not None:
        yield path, str(value) if not isinstance(value, (dict, list)) else "more of it below"


def _unseen(found: int | None) -> str:
    return "" if found is not None else " (not in this bundle)"


def pods(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods of an order."""
    found = list(rows(con, "SELECT * FROM order_pods WHERE object_id = ? ORDER BY pod LIMIT ?", it.id, _LISTED))
    lines = tuple((words.short(row["pod"]), _doing(row), words.some(row["unallocated"] or [], 3) or "-") for row in found)
    tones: tuple[Tone, ...] = tuple("error" if row["stuck"] else "" for row in found)
    return Section("Pods of the order", (Table(("pod", "state", "claims without a device"), lines, tones),) if lines else ())


def _doing(row: dict[str, Any]) -> str:
    if row["stuck"]:
        return f"{words.short(row['stuck'], 60)}, container {words.short(row['container'], 60)}"
    return "ready" if row["ready"] else "without a node" if row["pending"] else "not ready"


def policy(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a class of orders allows."""
    row = one(con, "SELECT * FROM order_classes WHERE object_id = ?", it.id)
    if row is None:
        return Section("Policy")
    admits = "by a selector" if row["selects"] else _names(row["namespaces"], "it has no list")
    most = "no limit" if row["max_parameters"] is None else report_words.number(row["max_parameters"])
    bounds = f"{row['min_replicas'] or 'unset'} to {row['max_replicas'] or 'unset'} replicas"
    scaling = bounds if row["scaling"] else "one replica, no autoscaling"
    facts: list[Item] = [
        Fact("Namespaces", admits),
        Fact("APIs", _names(row["endpoint_types"], "it has no list")),
        Fact("Formats", _names(row["formats"], "it has no list")),
        Fact("Parameters at most", most),
        Fact("Scaling", scaling),
    ]
    if row["priority_class"]:
        facts.append(Fact("Priority", f"PriorityClass {words.short(row['priority_class'])}"))
    if row["device_classes"]:
        facts.append(Fact("Device classes", _names(row["device_classes"], "")))
    (count,) = con.execute("SELECT count(*) FROM orders WHERE class_id = ?", [it.id]).fetchall()[0]
    facts.append(Fact("Orders in this bundle", report_words.number(count)))
    return Section("Policy", tuple(facts))


def _names(values: list[str] | None, missing: str) -> str:
    if values is None:
        return missing
    return words.some([words.short(value, 80) for value in values], 10) or "none"


def model(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a model of the catalogue is."""
    row = one(con, "SELECT * FROM order_models WHERE object_id = ?", it.id)
    if row is None:
        return Section("Model")
    told = [
        ("Phase", words.short(row["phase"])),
        ("Format", words.short(row["format"])),
        ("Parameters", "" if row["parameters"] is None else report_words.number(row["parameters"])),
        ("Can serve", _names(row["endpoint_types"], "")),
        ("Quantization", words.short(row["quantization"])),
        ("Architecture", words.short(row["architecture"])),
    ]
    return Section("Model", tuple(Fact(name, value) for name, value in told if value))


def gpu(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A PhysicalGPU."""
    row = one(con, "SELECT * FROM order_gpus WHERE object_id = ?", it.id)
    if row is None:
        return Section("GPU")
    memory = "unknown memory" if row["memory_mib"] is None else f"{report_words.number(row['memory_mib'])} MiB"
    facts: list[Item] = [Fact("GPU", f"{words.short(row['product']) or 'of an unknown model'}, {memory}")]
    for key, name in (("driver_ready", "Driver"), ("healthy", "Hardware")):
        if row[key] is not None:
            facts.append(Fact(name, "well" if row[key] else "not well", "" if row[key] else "error"))
    if row["gap"]:
        facts.append(Fact("Missing", words.short(row["gap"], 120), "warning"))
    return Section("GPU", tuple(facts))


def _only(kinds: tuple[str, ...], make: Callable[[duckdb.DuckDBPyConnection, Subject], Section]) -> Details:
    """A section for objects whose kind ends so, in any API group: orders and their classes are known by their shape."""

    def made(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
        return make(con, it) if it.target.kind.endswith(kinds) else Section("Order")

    return made


_SERVICE, _CLASS, _MODEL = ("InferenceService",), ("Class",), ("Model",)
DETAILS: DetailsTable = {
    EVERY_KIND: (
        *(_only(_SERVICE, make) for make in (order, plan, bounds, pods)),
        _only(_CLASS, policy),
        _only(_MODEL, model),
    ),
    ("gpu.deckhouse.io", "PhysicalGPU"): (gpu,),
}
