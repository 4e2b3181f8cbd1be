"""Nodes: versions, heartbeat, cordon, what they have to give, who keeps them from being drained, their pods."""

from __future__ import annotations

import duckdb

from analyzer.facts.values import mapping
from analyzer.show import podlist, words
from analyzer.show.model import Fact, Item, Section, Table, Text
from analyzer.show.subject import DetailsTable, Subject, one, rows

_RESOURCES = 40
_BLOCKS = 10


def node(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the node is and how it is."""
    row = one(con, "SELECT * FROM nodes WHERE object_id = ?", it.id)
    if row is None:
        return Section("Node")
    facts: list[Item] = []
    if row["roles"]:
        facts.append(Fact("Roles", words.some([words.short(role) for role in row["roles"]])))
    if row["heartbeat_at"]:
        facts.append(Fact("Last heartbeat", words.ago(row["heartbeat_at"], it.as_of)))
    if row["cordoned"]:
        facts.append(Fact("Cordoned", words.since(row["cordoned_since"], it.as_of), "warning"))
        if row["cordon_hint"]:
            facts.append(
                Fact(
                    "Cordoned by",
                    f"Deduced from {words.short(row['cordon_path'] or 'its marks')}: {words.short(row['cordon_hint'])}",
                )
            )
    if row["taints"]:
        facts.append(Fact("Taints", words.some([words.short(taint, 160) for taint in row["taints"]], 10)))
    versions = [("kubelet", "kubelet"), ("os", "OS"), ("kernel", "kernel"), ("runtime", "runtime")]
    said = [f"{label} {words.short(row[name], 100)}" for name, label in versions if row[name]]
    if said:
        facts.append(Fact("Software", ", ".join(said)))
    if row["gpu"]:
        facts.append(Fact("GPUs", "an unknown number" if row["gpus"] is None else str(row["gpus"])))
    return Section("Node", tuple(facts))


def resources(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What it has and what of it pods may have."""
    capacity, allocatable = mapping(it.status.get("capacity")), mapping(it.status.get("allocatable"))
    names = sorted(set(capacity) | set(allocatable))
    lines = tuple(
        (
            words.short(name, 80),
            words.short(capacity.get(name, ""), 30),
            words.short(allocatable.get(name, ""), 30),
        )
        for name in names[:_RESOURCES]
    )
    items: list[Item] = [Table(("resource", "capacity", "allocatable"), lines)] if lines else []
    return Section("Resources", (*items, *words.more(len(names), _RESOURCES, "resource")))


def drain(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Pods that cannot be evicted from it."""
    found = list(rows(con, "SELECT * FROM drain_blocks WHERE node_id = ? ORDER BY namespace, pod", it.id))
    items: list[Item] = [
        Text(
            f"{words.thing('', 'Pod', row['namespace'], row['pod'])}: PodDisruptionBudget {words.short(row['budget'])} allows no "
            "disruption "
            f"({row['healthy']} of {row['expected']} healthy, {row['desired']} must be)"
        )
        for row in found[:_BLOCKS]
    ]
    return Section("Cannot be drained of", (*items, *words.more(len(found), _BLOCKS, "pod")))


DETAILS: DetailsTable = {("", "Node"): (node, resources, drain, podlist.on_node)}
