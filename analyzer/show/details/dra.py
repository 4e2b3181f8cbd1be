"""Dynamic Resource Allocation: claims and their templates, device classes, and the claims of a Pod.

CEL expressions are shown as written; which devices one would match only the scheduler can say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.dra import shapes
from analyzer.facts.values import mapping, mappings, strings, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows, whole

GROUP = "resource.k8s.io"
_MANY = 40
_SELECTORS = 5
_NOTE = Text("Which devices a CEL expression matches only the scheduler can say.", tone="dim")
_TONES: dict[str, Tone] = {"Binding failed": "error", "Pending": "warning", "Deleting": "warning"}
_HOW = {
    "direct": "named",
    "template": "made from a template",
    "group": "shared with its pod group",
    "extended": "made by the scheduler for a resource",
    "unknown": "in a way of another release",
}
_STATUS = {
    "missing": "does not exist",
    "not-created": "not made yet",
    "not-owned": "exists, but was made for another pod",
    "not-needed": "on purpose none is made",
    "unknown": "cannot tell: not all claims are in the bundle",
}


def asked(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a claim (or a template's claim) asks for, as written: requests, alternatives in their order, constraints, settings."""
    spec = mapping(it.spec.get("spec")) if it.target.kind == "ResourceClaimTemplate" else it.spec
    items: list[Item] = []
    selects = False
    for request in list(shapes.requests(spec))[:_MANY]:
        at = "else " if request.name.partition("/")[2] and items and not _first(request.path) else ""
        items.append(Text(f"{at}{words.short(request.words, 300)}"))
        for expression in request.selectors[:_SELECTORS]:
            selects = True
            items.append(Text(f"selected by {words.quoted(expression, 400)}", 1))
        for verb, asked_for in (("with a capacity of", request.capacity), ("tolerates taints", request.tolerates)):
            if asked_for:
                items.append(Text(f"{verb} {words.some([words.short(one_of, 160) for one_of in asked_for])}", 1))
    for constraint in mappings(mapping(spec.get("devices")).get("constraints"))[:_MANY]:
        attribute = text(constraint.get("matchAttribute")) or text(constraint.get("distinctAttribute"))
        kind = "the same" if constraint.get("matchAttribute") else "a different"
        named = words.some([words.short(name, 80) for name in strings(constraint.get("requests"))])
        if attribute:
            items.append(Text(f"with {kind} {words.short(attribute, 120)} for {named or 'all requests'}"))
    items += _settings(mapping(spec.get("devices")))
    return Section("Asks for", (*items, _NOTE) if selects else tuple(items))


def _first(path: str) -> bool:
    return ".firstAvailable[0]" in path


def _settings(devices: dict[str, Any]) -> Iterator[Item]:
    """Settings for a driver, as JSON text."""
    for config in mappings(devices.get("config"))[:_SELECTORS]:
        opaque = mapping(config.get("opaque"))
        if opaque:
            shown = orjson.dumps(opaque.get("parameters")).decode("utf-8", "replace")
            yield Text(
                f"settings for driver {words.short(text(opaque.get('driver')) or '(not named)', 120)}: {words.short(shown, 400)}"
            )


def allocated(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the claim got, where, and for whom."""
    row = one(con, "SELECT * FROM claims WHERE object_id = ?", it.id)
    if row is None:
        old = shapes.is_classic(it.value)
        return Section("Allocation", (Text("It is of v1alpha2, another model, which is not read here."),) if old else ())
    state = f"{row['state']}, {words.since(row['since'], it.as_of)}" if row["since"] else row["state"]
    facts: list[Item] = [Fact("State", state, _TONES.get(row["state"], ""))]
    if row["message"] and row["state"] in ("Binding failed", "Pending"):
        facts.append(Fact("Why", words.short(row["message"], words.QUOTE)))
    if row["allocated_at"]:
        facts.append(Fact("Allocated", words.ago(row["allocated_at"], it.as_of)))
    if row["node"]:
        facts.append(Fact("Node", words.thing("", "Node", "", row["node"])))
    elif row["node_selector"]:
        facts.append(Fact("Nodes", f"those with {words.short(row['node_selector'], words.QUOTE)}"))
    elif row["state"] in ("Allocated", "In use"):
        facts.append(Fact("Nodes", "any"))
    if row["unbound"]:
        facts.append(
            Fact("Not ready yet", f"the driver has not set {words.some([words.short(name, 80) for name in row['unbound']])}")
        )
    facts.append(Fact("Used by", _users(con, it)))
    query = (
        "SELECT h.*, d.state, d.taints FROM claim_devices h LEFT JOIN devices d "
        "ON d.input = ? AND d.driver = h.driver AND d.pool = h.pool AND d.device = h.device WHERE h.object_id = ? ORDER BY h.idx"
    )
    found = list(rows(con, query, it.input, it.id))
    lines = tuple(
        (
            words.short(one_of["request"], 80),
            words.short(one_of["device"], 100),
            words.short(one_of["driver"], 100),
            words.short(one_of["pool"], 100),
            _about(one_of),
        )
        for one_of in found[:_MANY]
    )
    if lines:
        facts.append(Table(("for request", "device", "driver", "pool", "remark"), lines))
    facts += words.more(len(found), _MANY, "device")
    return Section("Allocation", tuple(facts))


def _about(row: dict[str, Any]) -> str:
    told = []
    if row["admin"]:
        told.append("admin access: it occupies nothing")
    if row["share"]:
        told.append(f"share {words.short(row['share'], 60)}")
    if row["failed"]:
        told.append(f"{words.short(row['failed'], 80)}: {words.quoted(row['failed_message'] or '', 200)}")
    if row["state"] is None:
        told.append("no slice in the bundle has it")
    if row["taints"]:
        told.append(f"tainted {words.some([words.short(taint, 120) for taint in row['taints']], 3)}")
    return "; ".join(told)


def used_by_none(con: duckdb.DuckDBPyConnection, claim: dict[str, Any]) -> str:
    """Who uses a claim that is reserved for nobody: nobody does, where its status and all pods are in the bundle."""
    if "status" not in claim:
        return "cannot tell: the bundle has it without its status"
    return "nobody" if whole(con, "", "Pod") else "cannot tell: it is reserved for nobody, but not all pods are in the bundle"


def _users(con: duckdb.DuckDBPyConnection, it: Subject) -> str:
    found = list(rows(con, "SELECT * FROM claim_users WHERE object_id = ? ORDER BY idx", it.id))
    named = [
        words.thing("", "Pod", it.namespace, row["name"], beside=it.namespace)
        if row["resource"] == "pods"
        else f"{words.short(row['resource'], 60)} {words.short(row['name'])}"
        for row in found
    ]
    return words.some(named, 10) or used_by_none(con, it.value)


def needed_by(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Pods that name the claim, and those that wait for it."""
    query = (
        "SELECT p.namespace, p.name, p.state, n.how, w.why, (SELECT list(DISTINCT r.words ORDER BY r.words) FROM dra_reasons r "
        "WHERE r.object_id = p.object_id) AS reasons FROM pod_claims n JOIN pods p USING (object_id) "
        "LEFT JOIN claim_waits w ON w.object_id = n.object_id AND w.ref = n.ref WHERE n.claim_id = ? "
        "ORDER BY w.why IS NULL, p.name"
    )
    found = list(rows(con, query, it.id))
    lines = tuple(
        (
            f"{words.short(row['namespace'], 80)}/{words.short(row['name'], 120)}",
            words.short(row["state"], 40),
            _HOW.get(row["how"], ""),
            (words.some([words.short(reason) for reason in row["reasons"] or ()]) or "waits for it") if row["why"] else "",
        )
        for row in found[:_MANY]
    )
    items: list[Item] = [Table(("pod", "state", "claim is", "waits"), lines)] if lines else []
    items += words.more(len(found), _MANY, "pod")
    return Section("Needed by", tuple(items))


def made(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Pods that need a claim from this template, with the claim that each got."""
    query = (
        "SELECT p.name, p.state, n.claim, n.status, c.state AS held FROM pod_claims n JOIN pods p USING (object_id) "
        "LEFT JOIN claims c ON c.object_id = n.claim_id "
        "WHERE n.template = ? AND p.namespace = ? AND p.input = ? ORDER BY n.status, p.name"
    )
    found = list(rows(con, query, it.name, it.namespace, it.input))
    lines = tuple(
        (
            words.short(row["name"], 120),
            words.short(row["state"], 40),
            words.short(row["claim"], 120),
            words.short(row["held"], 40) or _STATUS.get(row["status"], ""),
        )
        for row in found[:_MANY]
    )
    items: list[Item] = (
        [Table(("pod", "state", "claim", "the claim is"), lines)] if lines else [Text("no pod of the bundle needs it")]
    )
    items += words.more(len(found), _MANY, "pod")
    return Section("Claims made from it", tuple(items))


def selection(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How a DeviceClass selects devices, as written."""
    expressions = [text(mapping(one_of.get("cel")).get("expression")) for one_of in mappings(it.spec.get("selectors"))]
    items: list[Item] = [Text(words.quoted(expression, 400)) for expression in expressions[:_SELECTORS] if expression]
    items = [*items, _NOTE] if items else [Text("any device: it has no selector")]
    extended = text(it.spec.get("extendedResourceName"))
    if extended:
        items.append(Fact("Stands for", f"resource {words.short(extended, 120)}, when a container asks for it"))
    return Section("Selects devices by", (*items, *_settings(it.spec)))


def asked_by(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The claims that ask for the class, those that wait first."""
    query = (
        "SELECT DISTINCT c.namespace, c.name, c.state, c.since FROM claim_requests r JOIN claims c USING (object_id) "
        "WHERE r.class = ? AND c.input = ? ORDER BY c.state <> 'Pending', c.namespace, c.name"
    )
    found = list(rows(con, query, it.name, it.input))
    lines = tuple(
        (
            f"{words.short(row['namespace'], 80)}/{words.short(row['name'], 120)}",
            words.short(row["state"], 40),
            words.age(row["since"], it.as_of),
        )
        for row in found[:_MANY]
    )
    items: list[Item] = [Table(("claim", "state", "for"), lines)] if lines else []
    items += words.more(len(found), _MANY, "claim")
    if not items:
        items.append(Text("no claim" if whole(con, GROUP, "ResourceClaim") else "cannot tell: not all claims are in the bundle"))
    return Section("Asked for by", tuple(items))


def of_pod(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The claims of a Pod, and why it waits for one: the scheduler's words with what they mean."""
    query = (
        "SELECT n.*, c.state, c.devices, c.node FROM pod_claims n LEFT JOIN claims c ON c.object_id = n.claim_id "
        "WHERE n.object_id = ? ORDER BY n.ref"
    )
    found = list(rows(con, query, it.id))
    lines = tuple(
        (
            words.short(row["ref"], 60),
            words.short(row["claim"], 120) or f"from template {words.short(row['template'], 100)}",
            _HOW.get(row["how"], ""),
            row["state"] if row["status"] == "found" and row["state"] else _STATUS.get(row["status"], ""),
            words.some([words.short(device, 120) for device in row["devices"] or ()], 3),
        )
        for row in found[:_MANY]
    )
    tones: tuple[Tone, ...] = tuple(
        "warning" if row["status"] in ("missing", "not-created", "not-owned") or row["state"] == "Pending" else ""
        for row in found[:_MANY]
    )
    items: list[Item] = [Table(("for", "claim", "is", "state", "devices"), lines, tones)] if lines else []
    for row in rows(con, "SELECT * FROM dra_reasons WHERE object_id = ? ORDER BY idx LIMIT ?", it.id, _MANY):
        count = f" ({report_words.plural(row['nodes'], 'node')})" if row["nodes"] is not None else ""
        items.append(Text(f"the scheduler says {words.quoted(row['text'], 300)}{count}"))
        items.append(Text(f"Deduced: {words.short(row['words'])}", 1))
    for row in rows(con, "SELECT * FROM device_prepares WHERE object_id = ?", it.id):
        items.append(
            Text(f"the kubelet says {words.quoted(row['message'] or '', 400)}, last {words.ago(row['last_at'], it.as_of)}")
        )
        items.append(Text(f"Deduced: {words.short(row['words'])}. {words.short(row['remedy'], words.QUOTE)}", 1))
    items += _health(it)
    return Section("Resource claims", tuple(items))


def _health(it: Subject) -> Iterator[Item]:
    """What the kubelet says of the health of a Pod's devices (status.containerStatuses[].allocatedResourcesStatus)."""
    for container in mappings(it.status.get("containerStatuses"))[:_MANY]:
        for resource in mappings(container.get("allocatedResourcesStatus"))[:_MANY]:
            for device in mappings(resource.get("resources"))[:_MANY]:
                health = text(device.get("health"))
                if health in ("Unhealthy", "Unknown"):
                    named = words.short(device.get("resourceID"), 200)
                    why = f", {words.quoted(text(device.get('message')) or '', 300)}" if text(device.get("message")) else ""
                    yield Text(
                        f"the kubelet says device {named} of container {words.short(container.get('name'), 80)} "
                        f"({words.short(resource.get('name'), 120)}) is {health}{why}",
                        tone="error" if health == "Unhealthy" else "warning",
                    )


def domain(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A ComputeDomain of NVIDIA's DRA driver: its state, the template of its claims, and each node's part in it."""
    state = text(it.status.get("status"))
    facts: list[Item] = [Fact("State", words.short(state, 60), "" if state == "Ready" else "warning")] if state else []
    nodes = it.spec.get("numNodes")
    if isinstance(nodes, int) and not isinstance(nodes, bool):
        facts.append(Fact("Nodes wanted", report_words.number(nodes) if nodes else "as many as its pods run on"))
    channel = mapping(it.spec.get("channel"))
    template = text(mapping(channel.get("resourceClaimTemplate")).get("name"))
    if template:
        facts.append(Fact("Claims from", words.thing(GROUP, "ResourceClaimTemplate", it.namespace, template)))
    if text(channel.get("allocationMode")):
        facts.append(Fact("Channels", words.short(channel.get("allocationMode"), 60)))
    found = mappings(it.status.get("nodes"))
    lines = tuple(
        tuple(words.short(one_of.get(key), 120) for key in ("name", "status", "cliqueID", "ipAddress"))
        for one_of in found[:_MANY]
    )
    tones: tuple[Tone, ...] = tuple("" if one_of.get("status") in ("Ready", None) else "warning" for one_of in found[:_MANY])
    if lines:
        facts.append(Table(("node", "state", "clique", "address"), lines, tones))
    facts += words.more(len(found), _MANY, "node")
    return Section("Compute domain", tuple(facts))


DETAILS: DetailsTable = {
    (GROUP, "ResourceClaim"): (allocated, asked, needed_by),
    (GROUP, "ResourceClaimTemplate"): (asked, made),
    (GROUP, "DeviceClass"): (selection, asked_by),
    ("resource.nvidia.com", "ComputeDomain"): (domain,),
    ("", "Pod"): (of_pod,),
}
