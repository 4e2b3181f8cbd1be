"""What was not collected and matters for the object: without it, silence proves nothing."""

from __future__ import annotations

import duckdb

from analyzer.show import words
from analyzer.show.model import Item, Section, Text
from analyzer.show.subject import Subject, one

_STATUS = {
    "partial": "were collected in part",
    "not-collected": "were not collected",
    "forbidden": "were forbidden to the collector",
    "removed": "were removed from the bundle",
}
_OWNERS_OF_PODS = frozenset(
    {
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "DeploymentConfig",
        "Job",
        "CronJob",
        "Node",
        "Service",
    }
)


def missing(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Events, pods, logs and owners that nobody collected."""
    if not it.target.is_object:
        return Section("Not collected")
    items: list[Item] = []
    items += _kind(con, "", "Event", it, "so what the cluster said of it may be missing")
    if it.target.kind in _OWNERS_OF_PODS:
        items += _kind(con, "", "Pod", it, "so it may have others")
    items += _logs(con, it)
    if it.as_of is None:
        items.append(Text("Nothing says when the bundle was collected: ages are unknown."))
    return Section("Not collected", tuple(items))


def _kind(con: duckdb.DuckDBPyConnection, group: str, kind: str, it: Subject, so: str) -> list[Item]:
    """A sentence where the kind was not collected whole in the object's namespace."""
    row = one(con, "SELECT status, scope, reason FROM coverage WHERE api_group = ? AND kind = ?", group, kind)
    if row is None:
        return [Text(f"{kind}s were not collected, {so}.")]
    if row["status"] in ("complete", "absent"):
        # Events about cluster-scoped objects lie in the namespace default.
        where = it.namespace or "default"
        if "*" in row["scope"] or where in row["scope"]:
            return []
        return [Text(f"{kind}s of namespace {words.short(where, 80)} were not collected, {so}.")]
    reason = f" ({words.short(row['reason'], 200)})" if row["reason"] else ""
    return [Text(f"{kind}s {_STATUS.get(row['status'], 'were not collected')}{reason}, {so}.")]


def _logs(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    if not it.is_a("", "Pod"):
        return []
    row = one(con, "SELECT count(*) AS number FROM logs WHERE namespace = ? AND pod = ?", it.namespace, it.name)
    return [] if row and row["number"] else [Text("The bundle has no log of this pod.")]
