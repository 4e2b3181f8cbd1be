"""What makes pods: Deployments and their like by table `controllers`, Jobs and CronJobs by their own fields."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer import times
from analyzer.facts.values import flag, mapping, moment, number, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Text
from analyzer.show.subject import DetailsTable, Subject, one, rows

_REFUSALS = 5


def rollout(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Pods wanted and there, by the controller's own status."""
    row = one(con, "SELECT * FROM controllers WHERE object_id = ?", it.id)
    if row is None:
        return Section("Rollout")
    wanted = row["wanted"]
    of = "an unknown number" if wanted is None else report_words.plural(wanted, "pod")
    counts = [(name, row[name]) for name in ("created", "updated", "ready", "available") if row[name] is not None]
    told = ", ".join(f"{report_words.number(count)} {name}" for name, count in counts) or "its status has no numbers"
    short = wanted is not None and row["ready"] is not None and row["ready"] < wanted
    facts: list[Item] = [Fact("Wanted", of), Fact("By its status", told, "warning" if short else "")]
    if row["paused"]:
        facts.append(Fact("Paused", "yes: changes are not rolled out"))
    if row["observed"] is False:
        facts.append(Fact("Status", "of an older generation: its controller has not seen the last change yet", "warning"))
    if row["available_since"]:
        facts.append(Fact("Available", f"last changed {words.ago(row['available_since'], it.as_of)}"))
    return Section("Rollout", tuple(facts))


def refusals(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Pods of it that a quota refused."""
    found = list(rows(con, "SELECT * FROM quota_refusals WHERE object_id = ? ORDER BY last_at DESC NULLS LAST, resource", it.id))
    items: list[Item] = [
        Text(
            f"Quota {words.short(row['quota'])}, {words.short(row['resource'])}: requested {row['requested'] or 'unknown'}, "
            f"used {row['used'] or 'unknown'} of {row['hard'] or 'unknown'}: {words.quoted(row['message'] or '')}"
        )
        for row in found[:_REFUSALS]
    ]
    return Section("Refused by a quota", (*items, *words.more(len(found), _REFUSALS, "refusal")))


def job(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A Job's counts against what it is to reach, and its limits."""
    spec, status = it.spec, it.status
    facts: list[Item] = [
        Fact("To complete", _count(spec, "completions", "not set: the first success is enough")),
        Fact("By its status", ", ".join(f"{number(status.get(name)) or 0} {name}" for name in ("active", "succeeded", "failed"))),
        Fact("In parallel", _count(spec, "parallelism", "1")),
        Fact("Retries allowed", _count(spec, "backoffLimit", "not said (the API server sets 6)")),
    ]
    if flag(spec.get("suspend")):
        facts.append(Fact("Suspended", "yes"))
    deadline = number(spec.get("activeDeadlineSeconds"))
    if deadline is not None:
        facts.append(Fact("Deadline", times.age(deadline)))
    started, ended = moment(status.get("startTime")), moment(status.get("completionTime"))
    if started:
        facts.append(Fact("Started", words.ago(started, it.as_of)))
    if ended:
        took = f", after {times.age((ended - started).total_seconds())}" if started else ""
        facts.append(Fact("Completed", f"{words.ago(ended, it.as_of)}{took}"))
    return Section("Job", tuple(facts))


def cron(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A CronJob's schedule and its last runs."""
    spec, status = it.spec, it.status
    zone = f", time zone {words.quoted(spec['timeZone'], 60)}" if text(spec.get("timeZone")) else ""
    active = status.get("active")
    facts: list[Item] = [
        Fact("Schedule", f"{words.quoted(spec.get('schedule') or '', 100)}{zone}"),
        Fact("Suspended", "yes" if flag(spec.get("suspend")) else "no"),
        Fact("Running now", report_words.plural(len(active), "Job") if isinstance(active, list) else "none by its status"),
    ]
    for label, name in (("Last started", "lastScheduleTime"), ("Last success", "lastSuccessfulTime")):
        when = moment(status.get(name))
        if when:
            facts.append(Fact(label, words.ago(when, it.as_of)))
    return Section("Schedule", tuple(facts))


def _count(values: dict[str, Any], name: str, otherwise: str) -> str:
    value = number(values.get(name))
    return otherwise if value is None else report_words.number(value)


def selection(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The labels by which it selects pods."""
    selector = mapping(it.spec.get("selector"))
    labels = mapping(selector.get("matchLabels")) or {key: value for key, value in selector.items() if isinstance(value, str)}
    named = [f"{words.short(key, 100)}={words.short(value, 100)}" for key, value in labels.items()]
    return Section("Selects pods by", (Text(words.some(named, 10)),) if named else ())


_CONTROLLER = (rollout, refusals, selection)

DETAILS: DetailsTable = {
    ("apps", "Deployment"): _CONTROLLER,
    ("apps", "StatefulSet"): _CONTROLLER,
    ("apps", "DaemonSet"): _CONTROLLER,
    ("apps", "ReplicaSet"): _CONTROLLER,
    ("", "ReplicationController"): _CONTROLLER,
    ("apps.openshift.io", "DeploymentConfig"): _CONTROLLER,
    ("batch", "Job"): (job, refusals),
    ("batch", "CronJob"): (cron,),
}
