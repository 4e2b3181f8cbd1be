"""Kueue: quota beside what is used, who waits and why, pod sets with their flavors, and the queue of any job."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb

from analyzer.facts.kueue.base import show
from analyzer.facts.kueue.store import Use, uses_of
from analyzer.facts.kueue.waits import CAUSES
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import EVERY_KIND, DetailsTable, Subject, one, rows, whole

_GROUP = "kueue.x-k8s.io"
_WAITING = 50
_ROWS = 60
_SHOWN_CHECKS = 20


def queue(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a ClusterQueue or LocalQueue is set to, and how many Workloads its status counts."""
    row = one(con, "SELECT * FROM kueue_queues WHERE object_id = ?", it.id)
    if row is None:
        return Section("Queue")
    facts: list[Item] = []
    if row["kind"] == "LocalQueue":
        missing = "" if row["cluster_queue_id"] is not None else " (not in this bundle)"
        facts.append(Fact("Cluster queue", f"{words.short(row['cluster_queue']) or 'none named'}{missing}"))
    else:
        facts.append(Fact("Cohort", _cohort(con, row["cohort"])))
        if row["strategy"]:
            facts.append(Fact("Strategy", words.quoted(row["strategy"], 60)))
    if row["stop_policy"]:
        facts.append(Fact("Stopped by", f"stopPolicy {words.quoted(row['stop_policy'], 60)}"))
    counts = [
        f"{report_words.number(row[name])} {name}" for name in ("pending", "reserving", "admitted") if row[name] is not None
    ]
    facts.append(Fact("By its status", ", ".join(counts) or "no numbers"))
    if row["message"] and row["active"] != "True":
        facts.append(Fact("Kueue says", words.said(row["reason"], row["message"]), "warning"))
    return Section("Queue", tuple(facts))


def _cohort(con: duckdb.DuckDBPyConnection, name: str | None) -> str:
    """The cohort of a queue; it need not be an object, then it is no more than the queues that name it."""
    if not name:
        return "none"
    row = one(con, "SELECT object_id, queues FROM kueue_cohorts WHERE name = ?", name)
    if row is None or row["object_id"] is not None:
        return words.short(name)
    if not whole(con, _GROUP, "Cohort"):
        return (
            f"{words.short(name)} (Cohorts were not collected whole: whether it has quota or a parent of its own cannot be told)"
        )
    return f"{words.short(name)} (no Cohort object: it is the {report_words.plural(row['queues'], 'queue')} that name it)"


def quota(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Quota per flavor and resource: nominal, reserved, borrowed, in use, limits. A Cohort's status counts nothing."""
    found = list(rows(con, "SELECT * FROM kueue_quota WHERE object_id = ? ORDER BY resource_group, flavor, resource", it.id))
    lines = tuple(_quota(row) for row in found[:_ROWS])
    tones: tuple[Tone, ...] = tuple("warning" if (row["share"] or 0) > 100 else "" for row in found[:_ROWS])
    head = ("flavor", "resource", "nominal", "reserved", "borrowed", "share", "in use", "may borrow", "may lend")
    items: list[Item] = [Table(head, lines, tones)] if lines else []
    return Section("Quota", (*items, *words.more(len(found), _ROWS, "quota")))


def _quota(row: dict[str, Any]) -> tuple[str, ...]:
    borrowed = words.short(row["borrowed"], 40)
    return (
        words.short(row["flavor"], 80),
        words.short(row["resource"], 80),
        words.short(row["nominal"], 40),
        words.short(row["reserved"], 40) or ("not said" if row["kind"] == "ClusterQueue" else ""),
        "" if borrowed == "0" else borrowed,
        "" if row["share"] is None else f"{row['share']} %",
        words.short(row["used"], 40),
        words.short(row["borrowing_limit"], 40),
        words.short(row["lending_limit"], 40),
    )


def local_use(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the Workloads of a LocalQueue hold of its ClusterQueue's quota, per flavor and resource."""
    reserved = uses_of(it.status, "flavorsReservation")
    # v1beta1 calls it flavorUsage.
    used = uses_of(it.status, "flavorsUsage" if "flavorsUsage" in it.status else "flavorUsage")
    both = sorted(reserved.keys() | used.keys())
    lines = tuple(
        (
            words.short(flavor, 80),
            words.short(resource, 80),
            *(_held(part.get((flavor, resource)), resource) for part in (reserved, used)),
        )
        for flavor, resource in both[:_ROWS]
    )
    items: list[Item] = [Table(("flavor", "resource", "reserved", "in use"), lines)] if lines else []
    return Section("Use of the quota", (*items, *words.more(len(both), _ROWS, "amount")))


def _held(use: Use | None, resource: str) -> str:
    return "not said" if use is None or use.total is None else show(resource, use.total)


def waiting(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Workloads that wait in the queue, oldest first."""
    column = "queue_id" if it.is_a(_GROUP, "LocalQueue") else "cluster_queue_id"
    query = f"SELECT * FROM workloads WHERE waiting AND {column} = ? ORDER BY wait_since NULLS LAST, namespace, name"  # noqa: S608
    found = list(rows(con, query, it.id))
    if not found:
        return Section("Waiting")
    lines = tuple(_waiting(row, it) for row in found[:_WAITING])
    causes = Counter(row["cause"] or "unknown" for row in found)
    items: list[Item] = [Table(("workload", "place", "priority", "for", "why"), lines)]
    if len(causes) > 1 or len(found) > _WAITING:
        told = [f"{CAUSES.get(cause, cause)} ({report_words.number(many)})" for cause, many in causes.most_common(10)]
        items.insert(0, Text(f"By cause: {', '.join(told)}"))
    items += words.more(len(found), _WAITING, "workload")
    if not whole(con, _GROUP, "Workload", it.namespace or "*"):
        items.append(Text("Workloads were not collected whole: others may wait too."))
    return Section(f"Waiting ({report_words.plural(len(found), 'workload')}, oldest first)", tuple(items))


def _waiting(row: dict[str, Any], it: Subject) -> tuple[str, ...]:
    where = f"{words.short(row['namespace'])}/" if row["namespace"] != it.namespace else ""
    return (
        f"{where}{words.short(row['name'], 120)}",
        "" if row["position"] is None else str(row["position"]),
        "" if row["priority"] is None else str(row["priority"]),
        words.age(row["wait_since"], it.as_of),
        words.said(row["wait_reason"], row["wait_message"]) or words.short(row["state"]),
    )


def workload(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Where a Workload is queued, what it asks for, and what became of it so far."""
    row = one(con, "SELECT * FROM workloads WHERE object_id = ?", it.id)
    if row is None:
        return Section("In the queue")
    lacks = " (not in this bundle)" if row["queue"] and row["queue_id"] is None else ""
    facts: list[Item] = [Fact("Queue", f"{words.short(row['queue']) or 'none named'}{lacks}")]
    if row["cluster_queue"]:
        facts.append(Fact("Cluster queue", words.short(row["cluster_queue"])))
    if row["behind_id"] is not None:
        facts.append(Fact("Held back by", f"its queue, which is {words.short(row['behind_how']) or 'not active'}", "warning"))
    if row["priority"] is not None:
        facts.append(Fact("Priority", report_words.number(row["priority"])))
    if row["waiting"]:
        facts.append(Fact("Waits", words.since(row["wait_since"], it.as_of)))
        if row["position"] is not None:
            facts.append(Fact("Place", f"Deduced from priorities and times: {report_words.number(row['position'])} of its queue"))
        if row["wait_message"]:
            facts.append(Fact("Kueue says", words.said(row["wait_reason"], row["wait_message"])))
    if row["requests"]:
        facts.append(Fact("Asks for", words.short(row["requests"], words.QUOTE)))
    return Section("In the queue", (*facts, *_past(row)))


def _evictions(row: dict[str, Any]) -> list[Item]:
    if not row["evictions"]:
        return []
    least = "" if row["evictions_exact"] else "at least "
    by = f": {words.short(row['eviction_words'], words.QUOTE)}" if row["eviction_words"] else ""
    return [Fact("Evictions", f"{least}{report_words.number(row['evictions'])}{by}", "warning")]


def _past(row: dict[str, Any]) -> list[Item]:
    """What became of it so far: evictions, whom it made room for, deactivation."""
    facts = _evictions(row)
    if row["preemptor"]:
        facts.append(Fact("Made room for", f"Workload {words.short(row['preemptor'])}"))
    if row["pods_ready"] == "False" and row["state"] == "Admitted":
        facts.append(Fact("Pods", "it is admitted, and its pods are not ready", "warning"))
    if row["requeue_at"]:
        facts.append(Fact("Not tried before", report_words.stamp(words.aware(row["requeue_at"]))))
    if row["deactivated_by"]:
        reason = f": {words.short(row['deactivation'], words.QUOTE)}" if row["deactivation"] else ""
        facts.append(Fact("Deactivated by", f"{words.short(row['deactivated_by'])}{reason}"))
    return facts


def pod_sets(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What each pod set asks for, and the flavors it got."""
    found = list(rows(con, "SELECT * FROM workload_pod_sets WHERE object_id = ? ORDER BY idx, resource", it.id))
    lines = tuple(
        (
            words.short(row["pod_set"], 80),
            "" if row["count"] is None else report_words.number(row["count"]),
            words.short(row["resource"], 80),
            words.short(row["amount"], 40),
            words.short(row["flavor"], 80) or "none yet",
            words.short(row["topology"], 160),
        )
        for row in found[:_ROWS]
    )
    items: list[Item] = [Table(("pod set", "pods", "resource", "in all", "flavor", "topology"), lines)] if lines else []
    for name, domains in {row["pod_set"]: row for row in found if row["domain_count"]}.items():
        placed = words.some([words.short(one_of, 120) for one_of in domains["domains"] or ()], 8)
        more = domains["domain_count"] - len(domains["domains"] or ())
        rest = f" and {report_words.number(more)} more" if more > 0 else ""
        items.append(Text(f"Pods of {words.short(name, 80)} were put into {placed}{rest}"))
    return Section("Pod sets", (*items, *words.more(len(found), _ROWS, "request")))


def checks(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Its admission checks, followed to the objects made for them."""
    items: list[Item] = []
    for row in rows(con, "SELECT * FROM workload_checks WHERE object_id = ? ORDER BY idx LIMIT ?", it.id, _SHOWN_CHECKS):
        lacks = "" if row["check_id"] is not None else " (not in this bundle)"
        told = f": {words.quoted(row['message'])}" if row["message"] else ""
        state = f"{words.short(row['state'], 40) or 'no state'}, {words.since(row['since'], it.as_of)}"
        tone: Tone = "" if row["state"] == "Ready" else "warning"
        items.append(Text(f"{words.short(row['check_name'], 120)}{lacks} is {state}{told}", tone=tone))
        if row["request"]:
            says = f": {words.short(row['request_words'], words.QUOTE)}" if row["request_words"] else ""
            items.append(Text(f"ProvisioningRequest {words.short(row['request'])}{says}", 1))
    return Section("Admission checks", tuple(items))


def fits(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Our arithmetic over the cohort, shown only while it waits."""
    query = (
        "SELECT f.* FROM workload_fits f JOIN workloads w USING (object_id) WHERE f.object_id = ? AND w.waiting "
        "ORDER BY f.fits NULLS LAST, f.resource, f.flavor LIMIT ?"
    )
    items = [_fit(row) for row in rows(con, query, it.id, _SHOWN_CHECKS)]
    return Section("Could it ever fit (our arithmetic; Kueue decides)", tuple(items))


def _fit(row: dict[str, Any]) -> Text:
    what = words.short(row["resource"], 80)
    flavor = f" of flavor {words.short(row['flavor'], 80)}" if row["flavor"] else ""
    verdict = "cannot tell" if row["fits"] is None else "within what the queue could get" if row["fits"] else "more than that"
    tone: Tone = "warning" if row["fits"] is False else ""
    return Text(f"{what}{flavor}: Deduced: {verdict}. {words.short(row['words'], words.QUOTE)}", tone=tone)


def job(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Queue section of any job: its Workload, what state that is in, and why it waits."""
    if it.is_a(_GROUP, "Workload"):
        return Section("Queue")
    row = one(con, "SELECT * FROM kueue_jobs WHERE object_id = ?", it.id)
    if row is None:
        return Section("Queue")
    facts: list[Item] = [Fact("Queue", words.short(row["queue"]) or "none named by it")]
    load = one(con, "SELECT * FROM workloads WHERE object_id = ?", row["workload_id"])
    if load is None:
        whole_here = whole(con, _GROUP, "Workload", it.namespace)
        none = "there is none" if whole_here else "cannot tell: Workloads were not collected whole"
        told = f"{words.short(row['parent'])} has it" if row["parent"] else none
        return Section("Queue", (*facts, Fact("Workload", told, "" if row["parent"] else "warning")))
    state = f"{words.short(load['state'])}, {words.since(load['since'], it.as_of)}"
    facts.append(Fact("Workload", f"{words.short(load['name'], 120)}: {state}"))
    if load["waiting"]:
        if load["position"] is not None:
            facts.append(
                Fact("Place", f"Deduced from priorities and times: {report_words.number(load['position'])} of its queue")
            )
        facts.append(Fact("Why it waits", words.said(load["wait_reason"], load["wait_message"]) or "Kueue has not said"))
        if load["behind_id"] is not None:
            facts.append(
                Fact("Held back by", f"its queue, which is {words.short(load['behind_how']) or 'not active'}", "warning")
            )
    elif load["state"] in ("Evicted", "Deactivated", "Finished", "Waiting for admission checks"):
        why = words.why(load["reason"], load["message"], written=load["message_path"] is not None)
        if why:
            facts.append(Fact("Why", why))
    if load["cluster_queue"]:
        facts.append(Fact("Cluster queue", words.short(load["cluster_queue"], 120)))
    return Section("Queue", (*facts, *_evictions(load)))


DETAILS: DetailsTable = {
    (_GROUP, "ClusterQueue"): (queue, quota, waiting),
    (_GROUP, "LocalQueue"): (queue, local_use, waiting),
    (_GROUP, "Cohort"): (quota,),
    (_GROUP, "Workload"): (workload, pod_sets, checks, fits),
    EVERY_KIND: (job,),
}
