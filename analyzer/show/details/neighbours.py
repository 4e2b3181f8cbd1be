"""Dynamo's graphs, InferencePools, KEDA, Karpenter and the NVIDIA Network Operator: what each says of its parts."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.related import pools
from analyzer.facts.values import mapping, mappings, number, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import GONE, DetailsTable, Subject, lacking, one, rows, whole

_ROWS = 30


def graph(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What Dynamo's operator made of it, with the states that the bundle has."""
    items: list[Item] = []
    if state := text(it.status.get("state")):
        items.append(Fact("State", words.quoted(state, 60)))
    services = mapping(it.spec.get("services"))
    if services:
        items.append(Fact("Services", words.some(sorted(words.short(name, 80) for name in services), 12)))
    query = (
        "SELECT o.kind, o.name, s.state, s.reason, s.message FROM owners c JOIN objects o USING (object_id) "
        "LEFT JOIN states s USING (object_id) WHERE c.owner_id = ? ORDER BY o.kind, o.name"
    )
    made = list(rows(con, query, it.id))
    lines = tuple(
        (row["kind"], words.short(row["name"], 120), words.short(row["state"]), words.said(row["reason"], row["message"]))
        for row in made[:_ROWS]
    )
    if lines:
        items.append(Table(("kind", "name", "state", "why"), lines))
    return Section("Made of", tuple(items))


def pool(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The gateways of an InferencePool, its endpoint picker, and the pods it selects."""
    row = one(con, "SELECT * FROM inference_pools WHERE object_id = ?", it.id)
    if row is None:
        return Section("Pool")
    items: list[Item] = [Fact("Gateways", words.some(row["parents"], 10) if row["parents"] else "none has taken it")]
    if row["picker"]:
        items.append(_picker(con, row))
    if row["parent"]:
        items.append(Fact(f"{words.short(row['parent'], 120)} says", words.said(row["reason"], row["message"]), "warning"))
    labels = mapping(mapping(it.spec.get("selector")).get("matchLabels")) or mapping(it.spec.get("selector"))
    chosen = [(words.short(key, 80), words.short(text(value), 80)) for key, value in sorted(labels.items()) if text(value)]
    if chosen:
        items.append(Fact("Selects pods", ", ".join(f"{key}={value}" for key, value in chosen[:10])))
    return Section("Pool", tuple(items))


def _picker(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Fact:
    """The Service that picks a pod for each request, and how many of its own pods are ready."""
    label, service = "Endpoint picker", f"Service {words.short(row['picker'], 120)}"
    if row["picker_id"] is None:
        lacks = lacking(con, "", "Service", row["namespace"])
        return Fact(label, f"{service}{lacks}", "error" if lacks == GONE else "")
    query = "SELECT p.ready FROM relations r JOIN pods p ON p.object_id = r.src WHERE r.dst = ? AND r.kind = 'service'"
    ready = [bool(pod["ready"]) for pod in rows(con, query, row["picker_id"])]
    if not ready and not whole(con, "", "Pod", row["namespace"]):
        return Fact(label, f"{service} (its pods were not collected)")
    return Fact(label, f"{service}, {sum(ready)} of {len(ready)} pods ready", "" if any(ready) else "error")


def scaled(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What KEDA scales, between which bounds, by which triggers; whether it is paused."""
    items: list[Item] = []
    target = mapping(it.spec.get("scaleTargetRef"))
    if name := text(target.get("name")):
        kind = words.short(text(target.get("kind")) or "Deployment", 60)
        there = one(con, "SELECT 1 FROM objects WHERE kind = ? AND namespace = ? AND name = ?", kind, it.namespace, name)
        group = (text(target.get("apiVersion")) or "apps/v1").rpartition("/")[0]
        lacks = "" if there else lacking(con, group, kind, it.namespace)
        items.append(Fact("Scales", f"{kind} {words.short(name, 120)}{lacks}", "error" if lacks == GONE else ""))
    bounds = [
        f"{label} {value}"
        for label, key in (("at least", "minReplicaCount"), ("at most", "maxReplicaCount"), ("idle", "idleReplicaCount"))
        if (value := number(it.spec.get(key))) is not None
    ]
    if bounds:
        items.append(Fact("Replicas", ", ".join(bounds)))
    if hpa := text(it.status.get("hpaName")):
        items.append(Fact("HorizontalPodAutoscaler", words.short(hpa, 120)))
    marks = mapping(it.metadata.get("annotations"))
    paused = text(marks.get("autoscaling.keda.sh/paused-replicas"))
    if paused is not None:
        items.append(
            Fact("Paused", f"on purpose, at {report_words.plural(int(paused), 'replica')}" if paused.isdigit() else "on purpose")
        )
    elif marks.get("autoscaling.keda.sh/paused") == "true":
        items.append(Fact("Paused", "on purpose"))
    back = mapping(it.spec.get("fallback"))
    if (replicas := number(back.get("replicas"))) is not None:
        after = number(back.get("failureThreshold"))
        failures = f", after {report_words.plural(after, 'failure')}" if after is not None else ""
        items.append(Fact("Fallback", f"{report_words.plural(replicas, 'replica')}{failures}"))
    health = mapping(it.status.get("health"))
    lines = tuple(
        (words.short(text(one_trigger.get("type")), 60), words.short(text(one_trigger.get("name")), 80),
         words.short(text(mapping(one_trigger.get("authenticationRef")).get("name")), 80))
        for one_trigger in mappings(it.spec.get("triggers"))[:_ROWS]
    )  # fmt: skip
    if lines:
        items.append(Table(("trigger", "name", "authentication"), lines))
    sick = tuple(
        (
            words.short(name, 80),
            words.short(text(mapping(value).get("status")), 40),
            str(number(mapping(value).get("numberOfFailures")) or 0),
        )
        for name, value in sorted(health.items())[:_ROWS]
    )
    if sick:
        tones: tuple[Tone, ...] = tuple("warning" if row[1] != "Happy" else "" for row in sick)
        items.append(Table(("metric", "health", "failures"), sick, tones))
    return Section("Scaling", tuple(items))


def claim(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The machine that a NodeClaim stands for: pool, node, what it was asked for and what it has."""
    labels = mapping(it.metadata.get("labels"))
    items: list[Item] = []
    for label, key in (
        ("NodePool", "karpenter.sh/nodepool"),
        ("Instance type", "node.kubernetes.io/instance-type"),
        ("Zone", "topology.kubernetes.io/zone"),
        ("Capacity", "karpenter.sh/capacity-type"),
    ):
        if value := text(labels.get(key)):
            items.append(Fact(label, words.short(value, 120)))
    items += _node_class(it.spec)
    if name := text(it.status.get("nodeName")):
        node = one(con, "SELECT state FROM states WHERE api_group = '' AND kind = 'Node' AND name = ?", name)
        state = f" ({words.short(node['state'])})" if node else ""
        items.append(Fact("Node", f"{words.short(name, 120)}{state}"))
    asked = mapping(mapping(it.spec.get("resources")).get("requests"))
    has, offers = mapping(it.status.get("capacity")), mapping(it.status.get("allocatable"))
    lines = tuple(
        (words.short(key, 80), *(words.short(str(part.get(key, "")), 40) for part in (asked, has, offers)))
        for key in sorted({*asked, *has, *offers})[:_ROWS]
    )
    if lines:
        items.append(Table(("resource", "asked for", "capacity", "allocatable"), lines))
    return Section("Machine", tuple(items))


def _node_class(spec: dict[str, Any]) -> list[Item]:
    reference = mapping(spec.get("nodeClassRef"))
    name = text(reference.get("name"))
    return [Fact("Node class", f"{words.short(text(reference.get('kind')), 80)} {words.short(name, 120)}")] if name else []


def node_pool(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a NodePool may use beside what it uses, and its NodeClaims by state."""
    items = _node_class(mapping(mapping(it.spec.get("template")).get("spec")))
    query = (
        "SELECT s.state, count(*) AS claims FROM states s JOIN objects o USING (object_id) WHERE s.api_group = 'karpenter.sh' "
        "AND s.kind = 'NodeClaim' AND json_extract_string(o.json, '$.metadata.labels.\"karpenter.sh/nodepool\"') = ? "
        "GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    counts = [f"{words.short(row['state'])} ({row['claims']})" for row in rows(con, query, it.name)]
    if counts:
        items.append(Fact("NodeClaims", ", ".join(counts)))
    limits, used = mapping(it.spec.get("limits")), mapping(it.status.get("resources"))
    lines = tuple(
        (words.short(key, 80), words.short(str(used.get(key, "")), 40), words.short(str(limits.get(key, "")), 40))
        for key in sorted({*limits, *used})[:_ROWS]
    )
    if lines:
        items.append(Table(("resource", "in use", "limit"), lines))
    return Section("Nodes", tuple(items))


def nic_policy(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The parts that the Network Operator applies, and the nodes that wait for its driver or whose upgrade failed."""
    items: list[Item] = []
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for part in mappings(it.status.get("appliedStates"))[:_ROWS]:
        state = text(part.get("state")) or ""
        lines.append(
            (words.short(text(part.get("name")), 80), words.short(state, 40), words.short(text(part.get("message")), words.QUOTE))
        )
        tones.append("error" if state in ("notReady", "error") else "")
    nodes = list(rows(con, "SELECT * FROM nic_nodes WHERE input IS NOT DISTINCT FROM ? ORDER BY name", it.input))
    late = [words.short(node["name"], 80) for node in nodes if node["waits"]]
    failed = [words.short(node["name"], 80) for node in nodes if "failed" in (node["upgrade"] or "")]
    for title, names in (("Wait for the driver", late), ("Upgrade failed", failed)):
        if names:
            items.append(Fact(title, f"nodes {words.some(names, 8)}", "warning"))
    if lines:
        items.append(Table(("part", "state", "message"), tuple(lines), tuple(tones)))
    return Section("Parts", tuple(items))


_GRAPHS = ("DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoModel", "DynamoGraphDeploymentRequest")
DETAILS: DetailsTable = {
    **{("nvidia.com", kind): (graph,) for kind in _GRAPHS},
    **{(group, "InferencePool"): (pool,) for group in pools.GROUPS},
    **{("keda.sh", kind): (scaled,) for kind in ("ScaledObject", "ScaledJob")},
    ("karpenter.sh", "NodeClaim"): (claim,),
    ("karpenter.sh", "NodePool"): (node_pool,),
    **{("mellanox.com", kind): (nic_policy,) for kind in ("NicClusterPolicy", "NicNodePolicy")},
}
