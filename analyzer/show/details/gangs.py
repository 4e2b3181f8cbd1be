"""Gangs of pods (Volcano, KAI Scheduler, Grove, LeaderWorkerSets), their queues, and what binds their pods."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.related.gangs import GROVE, GROVE_GANG, KAI, VOLCANO
from analyzer.facts.values import mapping, mappings, number, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import GONE, DetailsTable, Subject, lacking, one, rows, whole

_ROWS = 30
_PODS = """
SELECT p.name, p.state, p.node, p.reason, p.message, p.ready FROM relations r JOIN pods p ON p.object_id = r.dst
WHERE r.src = ? AND r.kind = 'gang' ORDER BY p.ready, p.name
"""
_GROUPS = """
SELECT g.* FROM gangs g JOIN gang_queues q ON q.input = g.input AND q.api_group = g.api_group AND q.name = g.queue
WHERE q.object_id = ?
ORDER BY g.state IN ('Running', 'Completed', 'Finished', 'Succeeded'), g.since NULLS LAST, g.namespace, g.name
"""


def gang(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What it needs at once, what it has, and why it waits."""
    row = one(con, "SELECT * FROM gangs WHERE object_id = ?", it.id)
    if row is None:
        return Section("Gang")
    facts: list[Item] = []
    if row["queue"]:
        facts.append(_queue_of(con, row))
    if row["members"]:
        facts.append(Fact("Needs at once", report_words.plural(row["members"], "pod")))
    if row["pods"] is not None:
        parts = [f"{row['pods_ready']} of {row['pods']} ready"]
        parts += [f"{row['pods_waiting']} without a node"] if row["pods_waiting"] else []
        parts += [f"{row['pods_gated']} behind a scheduling gate"] if row["pods_gated"] else []
        facts.append(Fact("Pods", ", ".join(parts), "warning" if row["pods_waiting"] else ""))
    elif not whole(con, "", "Pod", it.namespace):
        facts.append(Fact("Pods", "cannot tell: pods were not collected whole"))
    if row["message_path"]:
        facts.append(
            Fact(f"{row['project']} says", words.said(row["reason"], row["message"]) or "that it does not fit", "warning")
        )
    for beyond in rows(con, "SELECT * FROM gang_excess WHERE object_id = ? ORDER BY resource", it.id):
        never = ", more than it may ever use" if beyond["never"] else ""
        asked = f"{beyond['asks']} asked for; {beyond['used']} of {beyond['most']} of its queue in use{never}"
        facts.append(Fact(words.short(beyond["resource"], 80), f"Deduced: {asked}", "warning"))
    return Section("Gang", tuple(facts))


def _queue_of(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Fact:
    name = words.short(row["queue"], 120)
    queue = one(
        con,
        "SELECT * FROM gang_queues WHERE input = ? AND api_group = ? AND name = ?",
        row["input"],
        row["api_group"],
        row["queue"],
    )
    if queue is None:
        lacks = lacking(con, row["api_group"], "Queue")
        return Fact("Queue", f"{name}{lacks}", "error" if lacks == GONE else "")
    lost = f"; queue {words.short(queue['missing'], 120)}, above it, does not exist" if queue["missing"] else ""
    return Fact("Queue", f"{name} ({words.short(queue['state'])}{lost})", "error" if lost else "")


def pods(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods that name it, those that are not ready first."""
    found = list(rows(con, _PODS, it.id))
    lines = tuple(
        (
            words.short(row["name"], 120),
            words.short(row["state"]),
            words.short(row["node"], 80),
            "" if row["ready"] else words.said(row["reason"], row["message"]),
        )
        for row in found[:_ROWS]
    )
    return _table("Pods of the gang", ("pod", "state", "node", "why"), lines, len(found), "pod")


def parts(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What Grove made of it, with pods counted."""
    found = list(rows(con, "SELECT * FROM gangs WHERE parent_id = ? ORDER BY kind, name", it.id))
    lines = tuple(
        (
            row["kind"],
            words.short(row["name"], 120),
            words.short(row["state"]),
            "" if row["pods"] is None else f"{row['pods_ready']} / {row['pods']}",
            words.said(row["reason"], row["message"]) if row["state"] not in ("Available", "Ready", "Running") else "",
        )
        for row in found[:_ROWS]
    )
    return _table("Parts", ("kind", "name", "state", "pods", "why"), lines, len(found), "part")


def pod_groups(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The cliques of a PodGang, with the pods that it needs of each and those that there are."""
    groups = mappings(it.spec.get("podgroups"))
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for one_group in groups[:_ROWS]:
        least, made = number(one_group.get("minReplicas")) or 0, len(mappings(one_group.get("podReferences")))
        lines.append((words.short(text(one_group.get("name")), 120), str(least), str(made)))
        tones.append("warning" if made < least else "")
    return _table("Cliques", ("clique", "needed", "pods"), tuple(lines), len(groups), "clique", tuple(tones))


def queue(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Where it stands among the queues, and what it may use beside what it uses."""
    row = one(con, "SELECT * FROM gang_queues WHERE object_id = ?", it.id)
    if row is None:
        return Section("Queue")
    items: list[Item] = []
    if row["parent"]:
        lost = f" (queue {words.short(row['missing'], 120)} does not exist)" if row["missing"] else ""
        items.append(Fact("Below", f"{words.short(row['parent'], 120)}{lost}", "error" if lost else ""))
    children = [
        child["name"]
        for child in rows(
            con,
            "SELECT name FROM gang_queues WHERE input = ? AND api_group = ? AND parent = ? ORDER BY name",
            row["input"], row["api_group"], row["name"],
        )
    ]  # fmt: skip
    if children:
        items.append(Fact("Queues below", words.some(children, 10)))
    for key, label in (("weight", "Weight"), ("priority", "Priority"), ("reclaimable", "Reclaimable")):
        if isinstance(it.spec.get(key), int | bool):
            items.append(Fact(label, str(it.spec[key]).lower()))
    found = list(rows(con, "SELECT * FROM gang_queue_resources WHERE object_id = ? ORDER BY resource", it.id))
    if found:
        lines = tuple(tuple(words.short(one[key], 60) for key in ("resource", "quota", "most", "used", "asked")) for one in found)
        tones: tuple[Tone, ...] = tuple("warning" if one["at_most"] else "" for one in found)
        items.append(Table(("resource", "quota", "limit", "used", "asked for"), lines, tones))
    return Section("Queue", tuple(items))


def queue_groups(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pod groups of a queue, those that wait first."""
    found = list(rows(con, _GROUPS, it.id))
    lines = tuple(
        (
            words.short(f"{row['namespace']}/{row['name']}", 160),
            words.short(row["state"]),
            str(row["members"] or ""),
            words.said(row["reason"], row["message"]),
        )
        for row in found[:_ROWS]
    )
    return _table("Pod groups", ("group", "state", "needs", "why"), lines, len(found), "group")


def bind_request(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pod that KAI Scheduler wants to bind, the node, and what the binder says."""
    facts: list[Item] = []
    name = text(it.spec.get("podName"))
    if name:
        pod = one(con, "SELECT state, node FROM pods WHERE namespace = ? AND name = ?", it.namespace, name)
        state = f" ({words.short(pod['state'])}{', on ' + words.short(pod['node'], 80) if pod['node'] else ''})" if pod else ""
        facts.append(Fact("Pod", f"{words.short(name, 120)}{state}"))
    if node := text(it.spec.get("selectedNode")):
        facts.append(Fact("Node", words.short(node, 120)))
    gpu = mapping(it.spec.get("receivedGPU"))
    if gpu:
        portion = text(gpu.get("portion"))
        facts.append(Fact("GPUs", f"{number(gpu.get('count')) or 0}{f', {words.short(portion, 20)} of each' if portion else ''}"))
    tried = number(it.status.get("failedAttempts"))
    if tried:
        most = number(it.spec.get("backoffLimit"))
        facts.append(Fact("Failed attempts", f"{tried}{'' if most is None else f' of {most}'}", "warning"))
    if reason := text(it.status.get("reason")):
        facts.append(Fact("The binder says", words.quoted(reason)))
    return Section("Binding", tuple(facts))


def exclusive(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The part of the cluster that each group of a LeaderWorkerSet takes for itself, and how many parts there are."""
    row = one(con, "SELECT wanted, exclusive, domains FROM lws WHERE object_id = ? AND exclusive IS NOT NULL", it.id)
    if row is None:
        return Section("Placement")
    facts: list[Item] = [Fact("Exclusive", f"each group takes a {words.short(row['exclusive'], 120)} for itself")]
    if row["domains"] is None:
        facts.append(Fact("There are", "cannot tell: nodes were not collected whole"))
    else:
        tone: Tone = "error" if row["domains"] < row["wanted"] else ""
        facts.append(Fact("There are", f"{row['domains']}, by the nodes' labels, for {row['wanted']} groups", tone))
    return Section("Placement", tuple(facts))


def _table(
    title: str, head: tuple[str, ...], lines: tuple[tuple[str, ...], ...], total: int, noun: str, tones: tuple[Tone, ...] = ()
) -> Section:
    """A section of one table, with a count of what it leaves out; nothing without lines."""
    if not lines:
        return Section(title)
    table = Table(head, lines, tones)
    return Section(title, (table, *words.more(total, _ROWS, noun)))


DETAILS: DetailsTable = {
    (VOLCANO, "PodGroup"): (gang, pods),
    (VOLCANO, "Queue"): (queue, queue_groups),
    (KAI, "PodGroup"): (gang, pods),
    (KAI, "Queue"): (queue, queue_groups),
    (KAI, "BindRequest"): (bind_request,),
    (GROVE_GANG, "PodGang"): (gang, pod_groups, pods),
    **{(GROVE, kind): (gang, parts) for kind in ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique")},
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (exclusive,),
}
