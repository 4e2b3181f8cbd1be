"""What stands around Kueue's queues: their rules and who holds their quota, cohorts, flavors, topologies, priorities."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.values import mapping, mappings, number, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.details.kueue_checks import target
from analyzer.show.model import Fact, Item, Section, Table, Text
from analyzer.show.subject import DetailsTable, Subject, one, rows, whole

_GROUP = "kueue.x-k8s.io"
_ROWS = 50


def cohort(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Where a Cohort stands in its tree, and who is in it."""
    row = one(con, "SELECT * FROM kueue_cohorts WHERE name = ?", it.name)
    if row is None:
        return Section("Cohort")
    facts: list[Item] = [Fact("Parent", words.short(row["parent"]) or "none: it is at the top")]
    if row["cycle"]:
        circle = ", ".join(words.short(name, 80) for name in row["cycle"][:_ROWS])
        facts.append(Fact("Parents", f"turn in a circle: {circle}. Kueue admits nothing in it", "error"))
    below = [
        words.short(child["name"], 80)
        for child in rows(con, "SELECT name FROM kueue_cohorts WHERE parent = ? ORDER BY name", it.name)
    ]
    if below:
        facts.append(Fact("Cohorts in it", words.some(below, 10)))
    query = """
        WITH held AS (
            SELECT object_id, string_agg(flavor || ' ' || resource || ': ' || coalesce(reserved, 'not said') || ' of '
                || coalesce(nominal, 'not said')
                || CASE WHEN coalesce(borrowed, '0') <> '0' THEN ', ' || borrowed || ' borrowed' ELSE '' END,
                '; ' ORDER BY contains(resource, '/') DESC, resource, flavor) AS quota
            FROM kueue_quota GROUP BY object_id
        )
        SELECT q.name, q.state, q.pending, h.quota FROM kueue_queues q LEFT JOIN held h USING (object_id)
        WHERE q.kind = 'ClusterQueue' AND q.cohort = ? ORDER BY q.name
    """
    found = list(rows(con, query, it.name))
    lines = tuple(
        (
            words.short(queue["name"], 120),
            words.short(queue["state"]) or "not said",
            "" if queue["pending"] is None else report_words.number(queue["pending"]),
            words.short(queue["quota"], 300),
        )
        for queue in found[:_ROWS]
    )
    if lines:
        facts.append(Table(("queue in it", "state", "waiting", "reserved of its quota"), lines))
    return Section("Cohort", (*facts, *words.more(len(found), _ROWS, "queue")))


def flavor(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The nodes that a ResourceFlavor stands for, what keeps pods off them, and what they offer beside what queues promise."""
    labels = [f"{words.short(key, 100)}={words.short(value, 100)}" for key, value in mapping(it.spec.get("nodeLabels")).items()]
    facts: list[Item] = [Fact("Nodes", f"those labelled {words.some(labels, 10)}" if labels else "any: it names no labels")]
    taints = [_taint(taint) for taint in mappings(it.spec.get("nodeTaints"))]
    if taints:
        facts.append(Fact("Taints", f"{words.some(taints, 10)}; a Workload must tolerate them"))
    tolerations = [words.short(text(one_of.get("key")), 100) or "every taint" for one_of in mappings(it.spec.get("tolerations"))]
    if tolerations:
        facts.append(Fact("Tolerates", words.some(tolerations, 10)))
    if text(it.spec.get("topologyName")):
        facts.append(Fact("Topology", target(con, it, "Topology")))
    query = """
        SELECT o.*, list(q.name ORDER BY q.kind, q.name) AS names, list(q.nominal ORDER BY q.kind, q.name) AS nominal
        FROM kueue_offers o JOIN kueue_quota q USING (flavor, resource) WHERE o.flavor = ? GROUP BY ALL ORDER BY o.resource
    """
    found = list(rows(con, query, it.name))
    if found and found[0]["nodes"] is not None:
        shut = f", {report_words.number(found[0]['closed_nodes'])} of them take no new pods" if found[0]["closed_nodes"] else ""
        facts.append(Fact("In this bundle", f"{report_words.plural(found[0]['nodes'], 'node')}{shut}"))
    lines = []
    for row in found[:_ROWS]:
        offered = row["offered"] if row["offered"] is not None else f"cannot tell: {words.short(row['why'])}"
        promised = [
            f"{words.short(name, 80)} {words.short(amount, 40) or 'not said'}"
            for name, amount in zip(row["names"], row["nominal"], strict=True)
        ]
        lines.append((words.short(row["resource"], 80), words.short(offered, 100), words.some(promised, 6)))
    if lines:
        facts.append(Table(("resource", "nodes offer", "quota of it"), tuple(lines)))
    else:
        facts.append(Fact("Quota", "no queue in this bundle names it"))
    return Section("Flavor", tuple(facts))


def _taint(taint: dict[str, Any]) -> str:
    """`key=value:effect`."""
    key, value, effect = (words.short(text(taint.get(name)), 100) for name in ("key", "value", "effect"))
    return f"{key}={value}:{effect}"


def topology(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Its levels from the top down, with how many domains and nodes have each, and the flavors that use it."""
    levels = [text(level.get("nodeLabel")) for level in mappings(it.spec.get("levels"))][:20]
    known = whole(con, "", "Node")
    lines = []
    for place, level in enumerate(levels, 1):
        row = (
            one(
                con,
                "SELECT count(DISTINCT json_extract_string(json, ?)) AS domains, count(json_extract_string(json, ?)) AS nodes "
                "FROM objects WHERE api_group = '' AND kind = 'Node'",
                *[f'$.metadata.labels."{level}"'] * 2,
            )
            if level and '"' not in level and "\\" not in level
            else None
        )
        counts = ("cannot tell",) * 2 if row is None or not known else (str(row["domains"]), str(row["nodes"]))
        lines.append((str(place), words.short(level, 200) or "no label", *counts))
    items: list[Item] = [Table(("", "level, as a node label", "domains", "nodes"), tuple(lines))] if lines else []
    query = (
        "SELECT o.name FROM kueue_references r JOIN objects o USING (object_id) "
        "WHERE r.target_kind = 'Topology' AND r.target_name = ? AND o.kind = 'ResourceFlavor' ORDER BY o.name"
    )
    used = [words.short(row["name"], 100) for row in rows(con, query, it.name)]
    items.append(Fact("Flavors", words.some(used, 10) if used else "none in this bundle names it"))
    if not known:
        items.append(Text("Nodes were not collected whole: domains cannot be counted."))
    return Section("Levels", tuple(items))


def priority(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A WorkloadPriorityClass: its value decides the place in queues, never that of pods on nodes."""
    value = number(it.value.get("value"))
    facts: list[Item] = [Fact("Value", report_words.number(value) if value is not None else "not said")]
    described = text(it.value.get("description"))
    if described:
        facts.append(Fact("Meant for", words.quoted(described)))
    return Section("Priority", tuple(facts))


def rules_of_queue(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """By what rules a ClusterQueue lets in: namespaces, checks, preemption, which flavor is tried next."""
    facts: list[Item] = []
    selector = it.spec.get("namespaceSelector")
    if selector is None:
        facts.append(Fact("Namespaces", "none: namespaceSelector is null, so it takes no Workload", "warning"))
    elif not mapping(selector):
        facts.append(Fact("Namespaces", "all"))
    else:
        labels = [
            f"{words.short(key, 80)}={words.short(str(value), 80)}"
            for key, value in mapping(mapping(selector).get("matchLabels")).items()
        ]
        more = len(mappings(mapping(selector).get("matchExpressions")))
        labels += [f"{report_words.plural(more, 'expression')}"] if more else []
        facts.append(Fact("Namespaces", f"those with {words.some(labels, 10)}" if labels else "all"))
    query = (
        "SELECT target_name, target_id FROM kueue_references WHERE object_id = ? AND target_kind = 'AdmissionCheck' ORDER BY path"
    )
    checks = [
        words.short(row["target_name"], 100) + ("" if row["target_id"] is not None else " (not in this bundle)")
        for row in rows(con, query, it.id)
    ]
    if checks:
        facts.append(Fact("Checks", words.some(checks, 10)))
    for label, key in (("Preempts", "preemption"), ("Other flavors", "flavorFungibility")):
        pairs = [
            f"{words.short(name, 60)} {words.short(value, 60)}"
            for name, value in mapping(it.spec.get(key)).items()
            if isinstance(value, str)
        ]
        if pairs:
            facts.append(Fact(label, ", ".join(pairs[:10])))
    return Section("Rules", tuple(facts))


def holders(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Workloads that hold a ClusterQueue's quota, those with most of it first."""
    query = """
        SELECT u.*, w.namespace, w.name, w.state, w.since FROM workload_usage u JOIN workloads w USING (object_id)
        WHERE u.cluster_queue = ? AND u.rank <= 10 ORDER BY contains(u.resource, '/') DESC, u.resource, u.flavor, u.rank
    """
    found = list(rows(con, query, it.name))
    lines = tuple(
        (
            f"{words.short(row['namespace'])}/{words.short(row['name'], 120)}",
            f"{words.short(row['amount'], 40)} {words.short(row['resource'], 80)}",
            words.short(row["flavor"], 80),
            f"{words.short(row['state'])}, {words.since(row['since'], it.as_of)}",
        )
        for row in found[:_ROWS]
    )
    most = max((row["holders"] for row in found), default=0)
    items: list[Item] = [Table(("workload", "holds", "flavor", "state"), lines)] if lines else []
    if most > 10:
        items.append(Text(f"Of {report_words.plural(most, 'holder')} the 10 with most are listed.", tone="dim"))
    return Section("Quota is held by", tuple(items))


DETAILS: DetailsTable = {
    (_GROUP, "ClusterQueue"): (rules_of_queue, holders),
    (_GROUP, "Cohort"): (cohort,),
    (_GROUP, "ResourceFlavor"): (flavor,),
    (_GROUP, "Topology"): (topology,),
    (_GROUP, "WorkloadPriorityClass"): (priority,),
}
