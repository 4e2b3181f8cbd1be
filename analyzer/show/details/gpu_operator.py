"""The GPU Operator: its ClusterPolicy with every component, NVIDIADrivers and GPUClusters with their DaemonSets, components."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.values import mapping
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows

_COMPONENTS = 40
_PODS = 40
_NODES = 10
_TONES: dict[str, Tone] = {"Not rolled out": "error", "Missing": "error"}


def policy(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a ClusterPolicy says of itself, and how it sets up MIG, drivers and sandboxes."""
    row = one(con, "SELECT * FROM gpu_policies WHERE object_id = ?", it.id)
    if row is None:
        return Section("GPU Operator")
    facts = _operator(row)
    if not row["active"]:
        facts.append(Fact("Heeded", "no: the operator heeds the oldest ClusterPolicy only", "warning"))
    strategy = mapping(it.spec.get("mig")).get("strategy")
    facts.append(Fact("MIG strategy", words.short(strategy, 40) if isinstance(strategy, str) and strategy else "not set"))
    if row["uses_drivers"]:
        names = [f"NVIDIADriver {words.short(name, 80)}" for (name,) in _names(con)]
        facts.append(Fact("Driver", f"left to {words.some(names, 10) if names else 'NVIDIADriver objects; the bundle has none'}"))
    sandbox = mapping(it.spec.get("sandboxWorkloads"))
    if sandbox.get("enabled") is True:
        mode = sandbox.get("mode")
        facts.append(Fact("Sandbox workloads", f"on{f', mode {words.short(mode, 40)}' if isinstance(mode, str) else ''}"))
    return Section("GPU Operator", tuple(facts))


def _operator(row: dict[str, Any]) -> list[Item]:
    """Release and namespace of the operator, and what it calls not ready; of a policy that it does not heed that is nothing."""
    facts: list[Item] = []
    if row["release"]:
        facts.append(Fact("Release", words.short(row["release"], 40)))
    facts.append(Fact("Namespace", words.short(row["namespace"], 80) or "not known"))
    if row["not_ready"]:
        facts.append(Fact("Not ready", words.some([words.short(name, 80) for name in row["not_ready"]], 20), "error"))
    return facts


def _names(con: duckdb.DuckDBPyConnection) -> list[tuple[str]]:
    return con.execute("SELECT name FROM gpu_policies WHERE kind = 'NVIDIADriver' ORDER BY name LIMIT 50").fetchall()


def components(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Every component with its DaemonSet, rollout, and what it waits for."""
    found = list(rows(con, "SELECT * FROM gpu_components WHERE policy_id = ? ORDER BY rowid LIMIT ?", it.id, _COMPONENTS))
    lines = tuple((words.short(row["name"], 60), row["state"] or "Cannot tell", _rollout(row), _remark(row)) for row in found)
    tones: tuple[Tone, ...] = tuple(_tone(row) for row in found)
    return Section("Components", (Table(("component", "state", "pods", "remark"), lines, tones),) if lines else ())


def _tone(row: dict[str, Any]) -> Tone:
    return "warning" if row["waits"] or row["trouble"] == "update-pending" else _TONES.get(row["state"], "")


def _rollout(row: dict[str, Any]) -> str:
    if row["wanted"] is None or row["state"] not in {"Rolled out", "Not rolled out"}:
        return ""
    old = row["wanted"] - row["updated"]
    told = f"{report_words.number(row['ready'])} of {report_words.number(row['wanted'])} ready"
    return told + (f", {report_words.number(old)} of an older revision" if old > 0 else "")


def _remark(row: dict[str, Any]) -> str:
    if row["unknown"] or row["state"] in {"Not expected", "See NVIDIADriver", "Missing"}:
        return words.short(row["message"], words.QUOTE)
    told = []
    if row["waits_for"]:
        told.append(f"waits for {words.some([words.short(name, 60) for name in row['waits_for']], 5)}")
    if row["trouble"] == "update-pending":
        told.append("update pending: pods are replaced when they are deleted")
    for what, key in (("label missing", "unlabelled"), ("no pod", "left_out"), ("paused", "paused")):
        if row[key]:
            told.append(f"{what} on {_nodes(row[key])}")
    return "; ".join(told)


def _nodes(names: list[str]) -> str:
    return words.some([words.short(name, 80) for name in names], _NODES)


def component(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """One component: what switches it on, its DaemonSet, and what keeps it from being rolled out."""
    query = "SELECT c.*, p.name AS policy FROM gpu_components c JOIN gpu_policies p ON p.object_id = c.policy_id WHERE c.name = ?"
    row = one(con, query, it.name)
    if row is None:
        return Section("Component")
    place = f"{row['namespace']}/{row['daemonset']}" if row["namespace"] else row["daemonset"]
    facts: list[Item] = [
        Fact("Part of", f"ClusterPolicy {words.short(row['policy'], 100)}"),
        Fact("Expected", words.short(row["why"], words.QUOTE) or "cannot tell"),
        Fact("DaemonSet", words.short(place, 300) + ("" if row["daemonset_id"] is not None else " (the bundle has none)")),
    ]
    if _rollout(row):
        facts.append(Fact("Pods", _rollout(row), _tone(row)))
    if row["on_delete"]:
        facts.append(Fact("Update strategy", "OnDelete: a pod is replaced only when it is deleted"))
    for label, key in (("Label missing on", "unlabelled"), ("No pod on", "left_out"), ("Paused on", "paused")):
        if row[key]:
            facts.append(Fact(label, _nodes(row[key]), "warning"))
    if row["upgrades"]:
        facts.append(Fact("Driver upgrades", words.some([words.short(text, 120) for text in row["upgrades"]], _NODES)))
    return Section("Component", tuple(facts))


def component_pods(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods of a component with what each waits for."""
    return _pods(con, "q.component = ?", it.name)


def driver(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """An NVIDIADriver: for which nodes, and its DaemonSets."""
    row = one(con, "SELECT * FROM gpu_policies WHERE object_id = ?", it.id)
    if row is None:
        return Section("Driver")
    facts: list[Item] = []
    for label, key in (("Type", "driverType"), ("Version", "version")):
        if isinstance(value := it.spec.get(key), str) and value:
            facts.append(Fact(label, words.short(value, 100)))
    facts.append(Fact("For nodes with", words.short(row["selector"], words.QUOTE) or "any labels (no node selector)"))
    return Section("Driver", (*facts, *_sets(con, it)))


def _sets(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """The DaemonSets that an object made."""
    query = (
        "SELECT c.* FROM owners w JOIN controllers c ON c.object_id = w.object_id AND c.kind = 'DaemonSet' "
        "WHERE w.owner_id = ? ORDER BY c.namespace, c.name LIMIT 50"
    )
    found: list[Item] = []
    for one_of in rows(con, query, it.id):
        told = f"{words.short(one_of['namespace'], 80)}/{words.short(one_of['name'], 200)}, "
        found.append(Fact("DaemonSet", told + _rollout(one_of | {"state": "Rolled out"})))
    return found


def cluster(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A GPUCluster: what the operator calls not ready, the ClusterPolicy that it cannot be beside, and its DaemonSets."""
    row = one(con, "SELECT * FROM gpu_policies WHERE object_id = ?", it.id)
    if row is None:
        return Section("GPU Operator")
    facts = _operator(row)
    query = "SELECT name FROM gpu_policies WHERE kind = 'ClusterPolicy' AND active ORDER BY name LIMIT 1"
    if beside := con.execute(query).fetchone():
        told = f"ClusterPolicy {words.short(beside[0], 100)} is there too; the operator takes only one of the two kinds"
        facts.append(Fact("Conflict", told, "warning"))
    return Section("GPU Operator", (*facts, *_sets(con, it)))


def driver_pods(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods of an NVIDIADriver."""
    return _pods(con, "q.daemonset_id IN (SELECT object_id FROM owners WHERE owner_id = ?)", it.id)


def _pods(con: duckdb.DuckDBPyConnection, condition: str, value: object) -> Section:
    query = (
        "SELECT q.*, p.namespace, p.name, p.state FROM gpu_operator_pods q JOIN pods p USING (object_id) "  # noqa: S608 - a constant
        f"WHERE {condition} ORDER BY q.ready, q.node, p.name LIMIT {_PODS}"
    )
    found = list(rows(con, query, value))
    lines = tuple((_place(row), words.short(row["node"], 80), row["state"], _wait(row)) for row in found)
    tones: tuple[Tone, ...] = tuple(_pod_tone(row) for row in found)
    return Section("Where it runs", (Table(("pod", "node", "state", "waits for"), lines, tones),) if lines else ())


def _place(row: dict[str, Any]) -> str:
    return f"{words.short(row['namespace'], 80)}/{words.short(row['name'], 120)}"


def _pod_tone(row: dict[str, Any]) -> Tone:
    if row["ready"]:
        return ""
    return "error" if row["cause_id"] is None else "warning"


def _wait(row: dict[str, Any]) -> str:
    if row["cause_component"]:
        return f"{words.short(row['cause_component'], 60)} (init container {words.short(row['container'], 80)})"
    return f"init container {words.short(row['container'], 80)}" if row["container"] else ""


DETAILS: DetailsTable = {
    ("nvidia.com", "ClusterPolicy"): (policy, components),
    ("nvidia.com", "NVIDIADriver"): (driver, driver_pods),
    ("nvidia.com", "GPUCluster"): (cluster,),
    ("nvidia.com", "GpuOperatorComponent"): (component, component_pods),
}
