"""JobSet: restarts against their limit, why it failed, its groups of Jobs, the Jobs themselves."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows, whole

_GROUP = "jobset.x-k8s.io"
_JOBS = 50
_GROUPS = 50


def restarts(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Restarts that count, policies, and who looks after it."""
    row = one(con, "SELECT * FROM jobsets WHERE object_id = ?", it.id)
    if row is None:
        return Section("Restarts")
    facts: list[Item] = []
    if row["max_restarts"] is None:
        facts.append(Fact("Restarts", "no failure policy: the first failed Job fails it, there are no restarts and no limit"))
    else:
        left = row["restarts_left"]
        tone: Tone = "warning" if row["counted"] and left <= 1 else ""
        facts.append(Fact("Restarts", f"{row['counted']} of {row['max_restarts']} used, {left} left", tone))
        facts.append(Fact("Counted by", words.short(row["counted_by"], words.QUOTE)))
    if row["restarts"] != row["counted"]:
        facts.append(Fact("In all", report_words.plural(row["restarts"], "restart")))
    for label, key in (("Success policy", "success"), ("Startup policy", "startup"), ("Controller", "controller_version")):
        if row[key]:
            facts.append(Fact(label, words.short(row[key])))
    if row["managed_by"]:
        facts.append(Fact("Managed by", f"{words.quoted(row['managed_by'], 120)}, not by JobSet's own controller"))
    return Section("Restarts", tuple(facts))


def failure(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Job that failed first, its reason, its pod, and what that pod's log says."""
    row = one(con, "SELECT * FROM jobsets WHERE object_id = ? AND failed_job IS NOT NULL", it.id)
    if row is None:
        return Section("Failed first")
    told = "" if row["failed_job_said"] else "Deduced from times: "
    facts: list[Item] = [Fact("Job", f"{told}{words.short(row['failed_job'], 120)}", "error")]
    if row["failed_job_note"]:
        facts.append(Fact("Why", f"cannot tell: {words.short(row['failed_job_note'])}"))
    elif row["failed_job_reason"] or row["failed_job_message"]:
        facts.append(Fact("Why", words.said(row["failed_job_reason"], row["failed_job_message"])))
    if row["failed_pod"]:
        end = f": container {words.short(row['failed_container'])} ended with {words.short(row['failed_words'])}"
        facts.append(Fact("Pod", f"{words.short(row['failed_pod'], 120)}{end if row['failed_container'] else ''}"))
    last = one(
        con,
        "SELECT end_message FROM containers WHERE object_id = ? AND container = ? AND trim(end_message) <> ''",
        row["failed_pod_id"],
        row["failed_container"],
    )
    if last:
        facts.append(Fact("Its last message", words.quoted(last["end_message"])))
    said = one(con, "SELECT text FROM log_ends WHERE log_id = ? AND telling", row["failed_log_id"])
    if said:
        facts.append(Fact("Its log says", words.quoted(said["text"])))
    return Section("Failed first", tuple(facts))


def groups(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The replicated Jobs, and what those wait for that are not made yet."""
    found = list(rows(con, "SELECT * FROM jobset_groups WHERE object_id = ? ORDER BY idx", it.id))
    lines = tuple(
        (
            words.short(row["group_name"], 80),
            f"{row['ready']} of {row['replicas']}",
            *(str(row[name]) for name in ("active", "succeeded", "failed")),
            f"waits for {words.short(row['waits_for'])}" if row["waits_for"] else words.short(row["depends_on"]),
        )
        for row in found[:_GROUPS]
    )
    tones: tuple[Tone, ...] = tuple("error" if row["failed"] else "" for row in found[:_GROUPS])
    items: list[Item] = [Table(("group", "ready", "active", "succeeded", "failed", "depends on"), lines, tones)] if lines else []
    return Section("Jobs by group", (*items, *words.more(len(found), _GROUPS, "group")))


def jobs(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Its Jobs, those that do not run first."""
    query = (
        "SELECT j.*, o.name FROM jobset_jobs j JOIN objects o USING (object_id) WHERE j.jobset_id = ? "
        "ORDER BY list_position(['Failed', 'Deleting', 'Pending', 'Suspended', 'Running', 'Complete'], j.state), o.name"
    )
    found = list(rows(con, query, it.id))
    lines = tuple(_job(row, it) for row in found[:_JOBS])
    tones: tuple[Tone, ...] = tuple("error" if row["state"] == "Failed" else "" for row in found[:_JOBS])
    items: list[Item] = [Table(("job", "state", "attempt", "pods ready", "why"), lines, tones)] if lines else []
    items += words.more(len(found), _JOBS, "job")
    if not whole(con, "batch", "Job", it.namespace):
        items.append(Text("Jobs were not collected whole: it may have others."))
    return Section("Jobs", tuple(items))


def _job(row: dict[str, Any], it: Subject) -> tuple[str, ...]:
    since = f", {words.since(row['since'], it.as_of)}" if row["since"] else ""
    attempt = "" if row["attempt"] is None else f"{row['attempt']}{' (earlier)' if row['old'] else ''}"
    return (
        words.short(row["name"], 120),
        f"{words.short(row['state'])}{since}",
        attempt,
        str(row["ready"]),
        words.said(row["reason"], row["message"]),
    )


DETAILS: DetailsTable = {(_GROUP, "JobSet"): (restarts, failure, groups, jobs)}
