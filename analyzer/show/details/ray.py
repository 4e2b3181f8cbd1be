"""KubeRay: head and worker groups, attempts and submitter of jobs, clusters and applications of services; LeaderWorkerSets."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.values import flag, moment, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, lacking, one, rows, whole

_GROUP = "ray.io"
_ROWS = 50
_DEEPEST = 80
"""Most columns that a line of YAML is indented by."""


def cluster(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the status says beside what the head pod says."""
    row = one(con, "SELECT * FROM ray_clusters WHERE object_id = ?", it.id)
    if row is None:
        return Section("Cluster")
    facts: list[Item] = []
    if row["said"]:
        stays = " (it stays so when pods fail)" if row["said"] == "ready" and row["state"] != "Ready" else ""
        facts.append(Fact("status.state", f"{words.quoted(row['said'], 60)}{stays}"))
    facts.append(_head(row, it))
    if row["workers_wanted"] is not None:
        tone: Tone = "warning" if row["workers_ready"] < row["workers_wanted"] else ""
        by = "" if row["workers_from"] == "pods" else ", by its status: pods were not collected whole"
        facts.append(Fact("Workers", f"{row['workers_ready']} of {row['workers_wanted']} ready{by}", tone))
    if row["limits"]:
        facts.append(Fact("Autoscaler may keep", words.short(row["limits"], words.QUOTE)))
    elif row["autoscaling"]:
        facts.append(Fact("Autoscaling", "on"))
    if row["failure_path"]:
        facts.append(Fact("Failure", words.said(row["failure_reason"], row["failure_message"]) or "state failed", "error"))
    if row["owner_name"]:
        facts.append(Fact("Made for", f"{words.short(row['owner_kind'])} {words.short(row['owner_name'], 120)}"))
    if row["head_service"]:
        facts.append(Fact("Head Service", words.short(row["head_service"], 120)))
    return Section("Cluster", tuple(facts))


def _head(row: dict[str, Any], it: Subject) -> Fact:
    name = words.short(row["head_pod"], 120) or "no head pod is known"
    state = f" ({words.short(row['head_pod_state'])})" if row["head_pod_state"] else ""
    if row["head_ready"] is None:
        return Fact("Head", f"{name}{state}, cannot tell whether it is ready")
    if row["head_ready"]:
        return Fact("Head", f"{name}{state}, ready", "good")
    why = words.said(row["head_reason"], row["head_message"])
    told = f": {why}" if why else ""
    return Fact("Head", f"{name}{state}, not ready {words.since(row['head_since'], it.as_of)}{told}", "error")


def worker_groups(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Worker groups, counted from pods."""
    found = list(rows(con, "SELECT * FROM ray_groups WHERE object_id = ? ORDER BY idx", it.id))
    lines = tuple(
        (
            words.short(row["group_name"], 80),
            "cannot tell" if row["ready"] is None else f"{row['ready']} of {row['wanted']}",
            words.short(row["limits"], 80),
            "suspended" if row["suspended"] else words.short(row["why"], 300),
        )
        for row in found[:_ROWS]
    )
    tones: tuple[Tone, ...] = tuple("warning" if row["missing"] else "" for row in found[:_ROWS])
    items: list[Item] = [Table(("group", "ready", "replicas", "not ready"), lines, tones)] if lines else []
    return Section("Worker groups", (*items, *words.more(len(found), _ROWS, "group")))


def job(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Both status fields, attempts, cluster, submitter, and what it waits for. Its runtime environment is not shown."""
    row = one(con, "SELECT * FROM ray_jobs WHERE object_id = ?", it.id)
    if row is None:
        return Section("Job")
    facts: list[Item] = [
        Fact(
            "Status",
            f"deployment {words.short(row['deployment_status']) or 'new'}, job {words.short(row['job_status']) or 'none yet'}",
        )
    ]
    if row["attempts"] > 1:
        facts.append(Fact("Attempt", f"{row['attempt']} of {row['attempts']}"))
    if row["cluster"]:
        lacks = "" if row["cluster_id"] is not None else lacking(con, _GROUP, "RayCluster", it.namespace)
        facts.append(Fact("Ray cluster", f"{words.short(row['cluster'], 120)}{lacks}"))
    facts.append(Fact("Submitted by", words.short(row["mode"])))
    if row["submitter"]:
        none = " (there is none)" if whole(con, "batch", "Job", it.namespace) else " (not in this bundle)"
        lacks = "" if row["submitter_id"] is not None else none
        facts.append(Fact("Submitter", f"Job {words.short(row['submitter'], 120)}{lacks}"))
    entrypoint = it.spec.get("entrypoint")
    if isinstance(entrypoint, str) and entrypoint:
        facts.append(Fact("Entrypoint", words.quoted(entrypoint)))
    for label, key in (("Started", "started_at"), ("Ended", "ended_at")):
        if row[key]:
            facts.append(Fact(label, words.ago(row[key], it.as_of)))
    if row["submitter_end"]:
        ended = f"its submitter ended ({row['submitter_end']}) {words.ago(row['submitter_end_at'], it.as_of)}"
        said = words.quoted(row["job_status"] or row["deployment_status"], 60)
        facts.append(Fact("It may be over", f"Deduced: {ended}, while the status still says {said}", "warning"))
    if row["finishing"]:
        facts.append(Fact("Finishing", f"the job is {words.short(row['job_status'])}, its submitter has not ended", "warning"))
    if row["waits_for"]:
        facts.append(Fact("Waits for", words.short(row["waits_for"], 2 * words.QUOTE), "warning"))
    return Section("Job", tuple(facts))


def cron(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A RayCronJob's schedule, and the RayJobs that it made, the newest first."""
    zone = f", time zone {words.quoted(it.spec['timeZone'], 60)}" if text(it.spec.get("timeZone")) else ""
    items: list[Item] = [
        Fact("Schedule", f"{words.quoted(it.spec.get('schedule') or '', 100)}{zone}"),
        Fact("Suspended", "yes" if flag(it.spec.get("suspend")) else "no"),
    ]
    last = moment(it.status.get("lastScheduleTime"))
    if last:
        items.append(Fact("Last started", words.ago(last, it.as_of)))
    query = (
        "SELECT r.* FROM owners o JOIN ray_jobs r USING (object_id) WHERE o.owner_id = ? "
        "ORDER BY r.created_at DESC NULLS LAST, r.name"
    )
    found = list(rows(con, query, it.id))
    lines = tuple(
        (
            words.short(row["name"], 120),
            f"{words.short(row['state'])}, {words.since(row['since'], it.as_of)}",
            words.said(row["reason"], row["message"]),
        )
        for row in found[:_ROWS]
    )
    if lines:
        items.append(Table(("Ray job", "state", "why"), lines))
    if not whole(con, _GROUP, "RayJob", it.namespace):
        items.append(Text("RayJobs were not collected whole: it may have made others."))
    return Section("Schedule", (*items, *words.more(len(found), _ROWS, "Ray job")))


def service(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Which cluster serves, which is being made ready, and what keeps the service from being ready."""
    row = one(con, "SELECT * FROM ray_services WHERE object_id = ?", it.id)
    if row is None:
        return Section("Service")
    ready = "cannot tell" if row["ready"] is None else "yes" if row["ready"] else "no"
    tone: Tone = "" if row["ready"] is None else "good" if row["ready"] else "error"
    facts: list[Item] = [Fact("Serves", f"{ready}, {words.since(row['ready_since'], it.as_of)}", tone)]
    for role in ("active", "pending"):
        name = row[f"{role}_cluster"]
        if name:
            lacks = "" if row[f"{role}_id"] is not None else lacking(con, _GROUP, "RayCluster", it.namespace)
            facts.append(Fact(f"{role.capitalize()} cluster", f"{words.short(name, 120)}{lacks}"))
    if row["rolling_back"]:
        facts.append(Fact("Upgrade", "Rollback in progress", "warning"))
    elif row["upgrading"]:
        facts.append(Fact("Upgrade", f"under way; the active cluster {'goes on serving' if row['ready'] else 'does not serve'}"))
    if row["traffic"]:
        facts.append(Fact("Traffic", words.short(row["traffic"])))
    if row["endpoints"] is not None:
        facts.append(Fact("Serve endpoints", report_words.number(row["endpoints"])))
    facts.append(Fact("Serve Service", words.short(row["serve_service"], 120)))
    if row["blame"] and (not row["ready"] or row["upgrading"]):
        facts.append(Fact("What is wrong", words.short(row["blame"], 2 * words.QUOTE), "warning"))
    return Section("Service", tuple(facts))


def applications(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Serve applications and deployments with their messages, unhealthy ones first."""
    query = "SELECT * FROM ray_applications WHERE object_id = ? ORDER BY NOT unhealthy, role, app, deployment NULLS FIRST"
    found = list(rows(con, query, it.id))
    lines = tuple(
        (
            words.short(row["app"], 80) or "(no name)",
            words.short(row["deployment"], 80),
            words.short(row["role"]),
            words.short(row["status"]) or "none",
            words.quoted(row["message"]) if row["message"] else "",
        )
        for row in found[:_ROWS]
    )
    tones: tuple[Tone, ...] = tuple("error" if row["unhealthy"] else "" for row in found[:_ROWS])
    items: list[Item] = [Table(("application", "deployment", "cluster", "status", "message"), lines, tones)] if lines else []
    return Section("Serve applications", (*items, *words.more(len(found), _ROWS, "row")))


def serve_config(_: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Serve config, as it was masked before it was stored."""
    config = it.spec.get("serveConfigV2")
    if not isinstance(config, str) or not config.strip():
        return Section("Serve config")
    if config.startswith("[masked:"):
        return Section("Serve config", (Text("It could not be read safely and is not shown."),))
    lines = config.rstrip("\n").split("\n")
    shown: list[Item] = [_line(line) for line in lines[: 4 * _ROWS]]
    return Section("Serve config (secrets masked)", (*shown, *words.more(len(lines), 4 * _ROWS, "line")))


def _line(line: str) -> Text:
    """One line of YAML with its indentation, which runs of blanks lose otherwise."""
    body = line.lstrip(" ")
    return Text(words.short(body, words.QUOTE), columns=min(len(line) - len(body), _DEEPEST))


def logs(_: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How to read the logs of its parts, those of several pods merged by time."""
    roles = ("head", "workers", "submitter") if it.target.kind == "RayJob" else ("head", "workers")
    what = f"{it.target.kind.lower()}.{_GROUP}/{it.target.name} -n {it.namespace}"
    return Section("Logs", tuple(Text(f"triage logs BUNDLE {words.short(what, words.QUOTE)} --role {role}") for role in roles))


def lws(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A LeaderWorkerSet's groups, counted from their pods, those that are not ready first."""
    row = one(con, "SELECT * FROM lws WHERE object_id = ?", it.id)
    if row is None:
        return Section("Groups")
    tone: Tone = "warning" if row["ready"] < row["wanted"] else ""
    facts: list[Item] = [
        Fact("By its status", f"{row['ready']} of {report_words.plural(row['wanted'], 'group')} ready", tone),
        Fact("Pods a group", report_words.number(row["size"])),
    ]
    if row["leader_first"]:
        facts.append(Fact("Startup", "workers are made when their leader is ready"))
    if row["short"] is None:
        facts.append(Fact("By its pods", "cannot tell: pods were not collected whole"))
    elif row["short"]:
        facts.append(Fact("By its pods", f"{report_words.plural(row['short'], 'group')} not whole", "warning"))
    if row["recreated"]:
        facts.append(
            Fact("Made anew", f"{report_words.plural(row['recreated'], 'event')} that a whole group was recreated", "warning")
        )
    query = "SELECT * FROM lws_groups WHERE object_id = ? ORDER BY ready = pods, group_index"
    found = list(rows(con, query, it.id))
    lines = tuple(
        (
            str(group["group_index"]),
            f"{group['ready']} of {row['size']}",
            words.short(group["leader"]) or "none",
            words.short(group["why"], 300),
        )
        for group in found[:_ROWS]
    )
    if lines:
        facts.append(Table(("group", "pods ready", "leader", "not ready"), lines))
    return Section("Groups", (*facts, *words.more(len(found), _ROWS, "group")))


DETAILS: DetailsTable = {
    (_GROUP, "RayCluster"): (cluster, worker_groups, logs),
    (_GROUP, "RayJob"): (job, logs),
    (_GROUP, "RayCronJob"): (cron,),
    (_GROUP, "RayService"): (service, applications, serve_config, logs),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (lws,),
}
