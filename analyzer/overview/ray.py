"""KubeRay: clusters with their head and worker groups, jobs, services with their Serve applications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Section, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, grouped, place, quoted, rows, said, sentences
from analyzer.overview.seen import Seen, not_all
from analyzer.render.words import plural
from analyzer.times import between

if TYPE_CHECKING:
    import duckdb

_GROUP: Final = "ray.io"
_QUERY: Final = (
    "SELECT 'RayCluster' AS kind, namespace, name, state, reason, message FROM ray_clusters UNION ALL "
    "SELECT 'RayJob', namespace, name, state, reason, message FROM ray_jobs UNION ALL "
    "SELECT 'RayService', namespace, name, state, reason, message FROM ray_services ORDER BY ALL"
)


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """Nothing where the bundle has nothing of Ray."""
    seen = Seen.read(con, marks)
    clusters, jobs, services = (list(rows(con, f"SELECT * FROM {name} ORDER BY namespace, name")) for name in _TABLES)  # noqa: S608
    tables = []
    columns: tuple[str, ...]
    if clusters:
        columns = ("Ray cluster, worker group", "State", "Head", "Workers", "Made for", "What is wrong")
        tables.append(table("Ray clusters and their worker groups", columns, _clusters(con, clusters, seen), "rows"))
    if jobs:
        columns = ("Ray job", "State", "Job", "Attempt", "Cluster", "Why, or what it waits for")
        tables.append(table("Ray jobs", columns, marks.ranked(_job(row, seen) for row in jobs), "jobs"))
    if services:
        columns = ("Ray service, Serve application", "State", "Serves", "Clusters", "Why")
        tables.append(table("Ray services and their Serve applications", columns, _services(con, services, seen), "rows"))
    if not tables:
        return ()
    counted = ((clusters, "cluster"), (jobs, "job"), (services, "service"))
    small = ", ".join(plural(len(found), noun) for found, noun in counted if found)
    return (Section("ray", "Ray", small, tuple(tables), tuple(_notes(seen, clusters)), _QUERY),)


_TABLES: Final = ("ray_clusters", "ray_jobs", "ray_services")


def _notes(seen: Seen, clusters: list[Row]) -> Iterator[str]:
    yield "A cluster's status stays ready once it was: head and workers are judged by their conditions and pods."
    if any(row.workers_from != "pods" for row in clusters):
        yield "Pods were not collected whole: where that matters, workers are counted by the status of the cluster."
    for kind in ("RayCluster", "RayJob", "RayService"):
        yield from not_all(seen.lists, _GROUP, kind, f"{kind}s")


def _clusters(con: duckdb.DuckDBPyConnection, found: list[Row], seen: Seen) -> list[Line]:
    groups = grouped(rows(con, "SELECT * FROM ray_groups ORDER BY object_id, idx"), lambda row: row.object_id)
    return seen.marks.in_blocks([_cluster(row, seen), *map(_group, groups.get(row.object_id, []))] for row in found)


def _cluster(row: Row, seen: Seen) -> Line:
    if row.head_ready is None:
        head = unknown("cannot tell", row.head_pod or "")
    elif row.head_ready:
        head = words("ready", row.head_pod or "")
    else:
        head = words("not ready", sentences(row.head_pod or "no head pod", row.head_pod_state or ""))
    why = said(row.failure_reason, row.failure_message) if row.failure_path else ""
    if not why and row.judged and row.head_ready is False:
        why = said(row.head_reason, row.head_message)
    lies = 'its status.state says "ready"' if row.said == "ready" and row.state not in ("Ready", "Deleting") else ""
    lies = lies or ('its status.state says "ready", its head is not' if row.said == "ready" and row.head_ready is False else "")
    cells = (
        machine(place(row.namespace, row.name)),
        seen.state(row),
        head,
        _of(row.workers_ready, row.workers_wanted, None),
        words(f"{row.owner_kind} {row.owner_name}" if row.owner_name else ""),
        words(why, lies),
    )
    return Line(cells, seen.marks.of(_GROUP, "RayCluster", row.namespace, row.name))


def _group(row: Row) -> Line:
    cells = (
        machine(row.group_name or "", f"worker group{f', {row.hosts} pods a replica' if row.hosts > 1 else ''}"),
        words("suspended" if row.suspended else ""),
        Cell(),
        _of(row.ready, row.wanted, row.limits),
        Cell(),
        words(cut(row.why or ""), sentences(row.pod or "", quoted(row.pod_message)) if row.missing else ""),
    )
    return Line(cells, None, 1)


def _of(ready: int | None, wanted: int | None, limits: str | None) -> Cell:
    """`2 of 4`, with what the autoscaler may do below."""
    below = limits if limits and limits != str(wanted) else ""
    if ready is None or wanted is None:
        return unknown("cannot tell", below)
    return words(f"{ready:,} of {wanted:,}", below)


def _job(row: Row, seen: Seen) -> Line:
    gone = ""
    if row.cluster and row.cluster_id is None:
        gone = "does not exist" if seen.lists.has(_GROUP, "RayCluster", row.namespace) else "not in this bundle"
    why = said(row.reason, row.message) if row.state not in ("Succeeded", "Running") else ""
    finishing = "the job has ended, its submitter has not" if row.finishing else ""
    if row.submitter_end:
        ago = between(row.submitter_end_at, seen.as_of.get(row.input))
        status = quoted(row.job_status or row.deployment_status)
        finishing = (
            f"deduced: it may be over, its submitter ended ({row.submitter_end}) {ago} before, while the status says {status}"
        )
    cells = (
        machine(place(row.namespace, row.name)),
        seen.state(row),
        machine(row.job_status or "", row.deployment_status or "new"),
        number(f"{row.attempt:,} of {row.attempts:,}") if row.attempts > 1 else Cell(),
        machine(row.cluster or "", gone),
        words(sentences(finishing, cut(row.waits_for or "")), why),
    )
    return Line(cells, seen.marks.of(_GROUP, "RayJob", row.namespace, row.name))


def _services(con: duckdb.DuckDBPyConnection, found: list[Row], seen: Seen) -> list[Line]:
    query = "SELECT * FROM ray_applications ORDER BY object_id, NOT unhealthy, role, app, deployment NULLS FIRST"
    # The deployments of an application that is well say nothing more than it does.
    telling = (row for row in rows(con, query) if row.deployment is None or row.unhealthy)
    apps = grouped(telling, lambda row: row.object_id)
    return seen.marks.in_blocks([_service(row, seen), *map(_application, apps.get(row.object_id, []))] for row in found)


def _service(row: Row, seen: Seen) -> Line:
    serves = unknown("cannot tell") if row.ready is None else words("yes" if row.ready else "no")
    if row.endpoints is not None:
        serves = Cell(serves.text, serves.kind, plural(row.endpoints, "endpoint"))
    clusters = sentences(
        f"active {row.active_cluster}" if row.active_cluster else "",
        f"pending {row.pending_cluster}" if row.pending_cluster else "",
    )
    upgrade = "rollback in progress" if row.rolling_back else "an upgrade is under way" if row.upgrading else ""
    blame = cut(row.blame or "", 400) if not row.ready or row.upgrading else ""
    why = said(row.reason, row.message) if row.state not in ("Ready", "Suspended", "Deleting") else ""
    cells = (
        machine(place(row.namespace, row.name), f"Service {row.serve_service}" if row.serve_service else ""),
        seen.state(row),
        serves,
        machine(clusters, cut(row.traffic or "")),
        words(sentences(upgrade, blame), why),
    )
    return Line(cells, seen.marks.of(_GROUP, "RayService", row.namespace, row.name))


def _application(row: Row) -> Line:
    part = f"deployment {row.deployment} of {row.app or '(no name)'}" if row.deployment else "Serve application"
    cells = (
        machine(row.deployment or row.app or "(no name)", part),
        machine(row.status or "", "unhealthy" if row.unhealthy else ""),
        Cell(),
        machine(row.cluster or "", row.role or ""),
        machine(quoted(row.message)),
    )
    return Line(cells, None, 1)
