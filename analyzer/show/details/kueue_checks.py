"""Admission checks of Kueue: who answers them, requests for nodes, other clusters (MultiKueue)."""

from __future__ import annotations

import duckdb

from analyzer import times
from analyzer.facts.values import mapping, mappings, number, strings, text
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import DetailsTable, Subject, lacking, one, rows, whole

_GROUP = "kueue.x-k8s.io"
_ROWS = 50

_CONTROLLERS = {
    "kueue.x-k8s.io/provisioning-request": "the cluster's autoscaler makes nodes first (ProvisioningRequest)",
    "kueue.x-k8s.io/multikueue": "another cluster runs it (MultiKueue)",
}


def check(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Who answers an AdmissionCheck, with what parameters, and who waits for it."""
    controller = text(it.spec.get("controllerName"))
    meaning = _CONTROLLERS.get(controller or "", "")
    facts: list[Item] = [Fact("Controller", f"{words.short(controller) or 'none named'}{f': {meaning}' if meaning else ''}")]
    if mapping(it.spec.get("parameters")):
        kind = words.short(text(mapping(it.spec.get("parameters")).get("kind")), 80) or "parameters"
        facts.append(Fact("Parameters", f"{kind} {target(con, it)}"))
    active = one(con, "SELECT status FROM conditions WHERE object_id = ? AND type = 'Active'", it.id)
    if active is None:
        facts.append(Fact("Active", "it has no such condition: no controller answers to that name", "warning"))
    query = (
        "SELECT DISTINCT q.name FROM kueue_references r JOIN kueue_queues q USING (object_id) "
        "WHERE r.target_kind = 'AdmissionCheck' AND r.target_name = ? ORDER BY q.name"
    )
    queues = [words.short(row["name"], 100) for row in rows(con, query, it.name)]
    facts.append(Fact("Asked by", f"cluster queues {words.some(queues, 10)}" if queues else "no cluster queue in this bundle"))
    query = """
        SELECT w.namespace, w.name, c.state, c.since, c.message FROM workload_checks c JOIN workloads w USING (object_id)
        WHERE c.check_name = ? AND c.state IS DISTINCT FROM 'Ready' AND w.state NOT IN ('Finished', 'Deactivated', 'Deleting')
        ORDER BY w.state <> 'Waiting for admission checks', c.since NULLS LAST, w.namespace, w.name
    """
    found = list(rows(con, query, it.name))
    lines = tuple(
        (
            f"{words.short(row['namespace'])}/{words.short(row['name'], 120)}",
            words.short(row["state"]) or "no state",
            words.age(row["since"], it.as_of),
            words.quoted(row["message"]) if row["message"] else "",
        )
        for row in found[:_ROWS]
    )
    if lines:
        facts.append(Table(("workload", "state", "for", "says"), lines))
    return Section("Check", (*facts, *words.more(len(found), _ROWS, "workload")))


def request(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a ProvisioningRequest asks for, and the Workload that it was made for."""
    facts: list[Item] = [Fact("Class", words.short(text(it.spec.get("provisioningClassName")), 120) or "none named")]
    sets = [
        f"{number(entry.get('count')) or 0} pods as {words.short(text(mapping(entry.get('podTemplateRef')).get('name')), 120)}"
        for entry in mappings(it.spec.get("podSets"))
    ]
    if sets:
        facts.append(Fact("Asks for", words.some(sets)))
    given = mapping(it.spec.get("parameters"))
    if given:
        pairs = [f"{words.short(key, 80)}={words.short(str(value), 80)}" for key, value in given.items()]
        facts.append(Fact("Parameters", words.some(pairs, 10)))
    row = one(
        con,
        "SELECT w.name, w.state, c.check_name, c.state AS check_state FROM workload_checks c JOIN workloads w USING (object_id) "
        "WHERE c.request_id = ?",
        it.id,
    )
    if row:
        asked = f"{words.short(row['check_name'], 120)} ({words.short(row['check_state']) or 'no state'})"
        facts.append(Fact("Made for", f"Workload {words.short(row['name'], 120)} ({words.short(row['state'])}), check {asked}"))
    return Section("Request", tuple(facts))


def request_config(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How a check's ProvisioningRequests are made, and how often they are tried."""
    facts: list[Item] = [Fact("Class", words.short(text(it.spec.get("provisioningClassName")), 120) or "none named")]
    managed = strings(it.spec.get("managedResources"))
    if managed:
        facts.append(Fact("Only for", words.some([words.short(name, 80) for name in managed], 10)))
    retry = mapping(it.spec.get("retryStrategy"))
    limit, base, most = (number(retry.get(key)) for key in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"))
    said = [
        f"{limit} times" if limit is not None else "as often as Kueue does by itself",
        f"first after {times.age(base)}" if base is not None else "",
        f"at most {times.age(most)} apart" if most is not None else "",
    ]
    facts.append(Fact("Tried again", ", ".join(part for part in said if part)))
    return Section("Requests", tuple(facts))


def remote_config(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The clusters of a MultiKueueConfig, with what each says of its connection."""
    named = strings(it.spec.get("clusters"))
    known = whole(con, _GROUP, "MultiKueueCluster")
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for name in named[:_ROWS]:
        row = one(
            con,
            "SELECT c.status, c.reason, c.message FROM objects o "
            "LEFT JOIN conditions c ON c.object_id = o.object_id AND c.type = 'Active' "
            "WHERE o.api_group = ? AND o.kind = 'MultiKueueCluster' AND o.name = ?",
            _GROUP,
            name,
        )
        if row is None:
            lines.append((words.short(name, 120), "does not exist" if known else "not in this bundle", ""))
        else:
            state = {"True": "active", "False": "not active"}.get(row["status"] or "", "says nothing")
            lines.append(
                (words.short(name, 120), state, words.said(row["reason"], row["message"]) if row["status"] != "True" else "")
            )
        tones.append("" if row is not None and row["status"] == "True" else "warning")
    items: list[Item] = [Table(("cluster", "connection", "why"), tuple(lines), tuple(tones))] if lines else []
    return Section("Clusters", (*items, *words.more(len(named), _ROWS, "cluster")))


def remote_cluster(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How Kueue reaches another cluster; its kubeconfig is never read."""
    # v1beta2 puts both ways below clusterSource.
    source = mapping(it.spec.get("clusterSource")) or it.spec
    config, profile = mapping(source.get("kubeConfig")), mapping(source.get("clusterProfileRef"))
    facts: list[Item] = []
    if config:
        kind = words.short(text(config.get("locationType")), 40) or "Secret"
        facts.append(Fact("Kubeconfig", f"{kind} {words.short(text(config.get('location')), 200) or 'not named'} (never shown)"))
    if profile:
        facts.append(Fact("ClusterProfile", words.short(text(profile.get("name")), 120) or "not named"))
    query = (
        "SELECT o.name FROM kueue_references r JOIN objects o USING (object_id) "
        "WHERE r.target_kind = 'MultiKueueCluster' AND r.target_name = ? ORDER BY o.name"
    )
    used = [words.short(row["name"], 100) for row in rows(con, query, it.name)]
    facts.append(Fact("Used by", f"MultiKueueConfig {words.some(used, 10)}" if used else "no MultiKueueConfig in this bundle"))
    return Section("Connection", tuple(facts))


def target(con: duckdb.DuckDBPyConnection, it: Subject, kind: str | None = None) -> str:
    """The name of what it refers to, and whether that is there."""
    row = one(
        con,
        "SELECT * FROM kueue_references WHERE object_id = ? AND (? IS NULL OR target_kind = ?) ORDER BY path LIMIT 1",
        it.id, kind, kind,
    )  # fmt: skip
    if row is None:
        return "not named"
    if row["target_id"] is not None:
        return words.short(row["target_name"], 120)
    return f"{words.short(row['target_name'], 120)}{lacking(con, _GROUP, row['target_kind'])}"


DETAILS: DetailsTable = {
    (_GROUP, "AdmissionCheck"): (check,),
    (_GROUP, "ProvisioningRequestConfig"): (request_config,),
    (_GROUP, "MultiKueueConfig"): (remote_config,),
    (_GROUP, "MultiKueueCluster"): (remote_cluster,),
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): (request,),
}
