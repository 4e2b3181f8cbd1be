"""Jobs that run to an end, and gangs of pods: state, tries, queue, what failed first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Section, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.gangs import tables as gang_tables
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, foremost, place, quoted, rows, said, sentences, share
from analyzer.overview.seen import Seen, more_pods
from analyzer.render.words import plural

if TYPE_CHECKING:
    import duckdb

_DONE: Final = frozenset({"Completed", "Complete", "Succeeded", "COMPLETED"})

_TELLING: Final = ("JobSet ", "RayJob ", "TrainJob ")
"""Owners whose own lines tell what became of their Jobs."""

_QUERY: Final = (
    "SELECT kind, namespace, name, state, reason, message, coalesce(failed_pod, stuck_pod) AS pod,"
    " coalesce(failed_words, stuck_words) AS pod_words FROM job_runs WHERE kind <> 'JobSet' "
    "UNION ALL "
    "SELECT 'JobSet', namespace, name, state, reason, message, failed_pod, failed_words FROM jobsets UNION ALL "
    "SELECT 'LeaderWorkerSet', namespace, name, state, reason, message, NULL, short_words FROM lws UNION ALL "
    "SELECT kind, namespace, name, state, reason, message, NULL, NULL FROM gangs ORDER BY ALL"
)

_RUNS: Final = """
SELECT r.*, coalesce(r.failed_pod, r.stuck_pod) AS bad_pod, coalesce(r.failed_words, r.stuck_words) AS bad_words,
    q.queue, q.workload_id, q.parent AS queue_parent, w.state AS queued
FROM job_runs r LEFT JOIN kueue_jobs q USING (object_id) LEFT JOIN workloads w ON w.object_id = q.workload_id
WHERE r.kind <> 'JobSet'
ORDER BY r.over, r.namespace, r.name, r.kind
"""
_SETS: Final = """
SELECT s.*, q.queue, q.workload_id, q.parent AS queue_parent, w.state AS queued, r.parent, r.pods, r.pods_ready,
    coalesce(r.failed_pod, r.stuck_pod) AS bad_pod, r.failed_container AS bad_container,
    coalesce(r.failed_words, r.stuck_words) AS bad_words,
    (SELECT sum(replicas) FROM jobset_groups g WHERE g.object_id = s.object_id)::BIGINT AS jobs,
    (SELECT sum(coalesce(ready, 0) + coalesce(succeeded, 0)) FROM jobset_groups g WHERE g.object_id = s.object_id)::BIGINT AS good
FROM jobsets s LEFT JOIN kueue_jobs q USING (object_id) LEFT JOIN workloads w ON w.object_id = q.workload_id
LEFT JOIN job_runs r USING (object_id)
ORDER BY s.state = 'Completed', s.namespace, s.name
"""
_GANGS: Final = """
SELECT l.*, q.queue, q.workload_id, q.parent AS queue_parent, w.state AS queued
FROM lws l LEFT JOIN kueue_jobs q USING (object_id) LEFT JOIN workloads w ON w.object_id = q.workload_id
ORDER BY l.namespace, l.name
"""


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """JobSets, training jobs and the like, batch Jobs with a queue or a finding, LeaderWorkerSets, gangs; nothing without any."""
    seen = Seen.read(con, marks)
    some_sets, sets = foremost(rows(con, _SETS), marks, ("jobset.x-k8s.io", "JobSet"))
    some_runs, runs = foremost((row for row in rows(con, _RUNS) if _of_its_own(row, marks)), marks)
    jobs = [*(_set(row, seen) for row in some_sets), *(_run(row, seen) for row in some_runs)]
    total = sets + runs
    gangs = [_gang(row, seen) for row in rows(con, _GANGS)]
    tables = []
    if jobs:
        columns = ("Job", "State", "Tries", "Pods ready", "Queue", "What failed first, or why")
        tables.append(table("Jobs", columns, marks.ranked(jobs), "jobs", total=total))
    if gangs:
        columns = ("LeaderWorkerSet", "State", "Groups ready", "By their pods", "Queue", "Why")
        tables.append(table("Groups of leaders and workers", columns, marks.ranked(gangs), "sets"))
    groups = gang_tables(con, seen)
    tables += groups
    if not tables:
        return ()
    counted = [plural(count, noun) for count, noun in ((total, "job"), (len(gangs), "LeaderWorkerSet")) if count]
    counted += [one.caption.lower() for one in groups]
    notes = ["Jobs of batch/v1 stand here where they have a queue or a finding."] if jobs else []
    notes += more_pods(seen.lists)
    return (Section("jobs", "Jobs", ", ".join(counted), tuple(tables), tuple(notes), _QUERY),)


def _set(row: Row, seen: Seen) -> Line:
    first = f"Job {row.failed_job}" if row.failed_job else ""
    if row.failed_job and not row.failed_job_said:
        first += ", deduced from times"
    if row.failed_pod:
        ended = f" ended with {row.failed_words}" if row.failed_words else ""
        first = sentences(first, f"pod {row.failed_pod}{ended}")
    elif row.bad_pod and row.state not in ("Completed", "Suspended"):
        first = sentences(first, _trouble(row.bad_pod, row.bad_container, row.bad_words))
    elif row.failed_job_reason or row.failed_job_message:
        first = sentences(first, said(row.failed_job_reason, row.failed_job_message))
    why = quoted(row.message) if row.state not in ("Completed", "Running", "Suspended") else ""
    waits = f"waits for {cut(row.waits_for)}" if row.waits_for else ""
    tries = Cell()
    if row.max_restarts is not None:
        below = f"{plural(row.restarts_left, 'restart')} left" if row.counted else "restarts"
        tries = number(f"{row.counted:,} of {row.max_restarts:,}", below)
    elif row.restarts:
        tries = number(f"{row.restarts:,}", "restarts")
    good = f"{row.good or 0:,} of {plural(row.jobs, 'job')}" if row.jobs is not None else ""
    ready = Cell("", "number", good) if row.pods is None else Cell(f"{row.pods_ready:,} / {row.pods:,}", "number", good)
    cells = (
        _name(row, "JobSet"),
        seen.state(row),
        tries,
        ready,
        _queue(row, seen),
        words(sentences(first, waits), why),
    )
    return Line(cells, seen.marks.of("jobset.x-k8s.io", "JobSet", row.namespace, row.name))


def _of_its_own(row: Row, marks: Marks) -> bool:
    """A batch/v1 Job has a line only with a queue or a finding, and where no line of its owner tells of it."""
    if row.api_group != "batch":
        return True
    if row.parent is not None and row.parent.startswith(_TELLING):
        return False
    queued = (row.queue is not None or row.workload_id is not None) and not row.queue_parent
    return queued or marks.of(row.api_group, row.kind, row.namespace, row.name) is not None


def _run(row: Row, seen: Seen) -> Line:
    """A job of another kind."""
    finding = seen.marks.of(row.api_group, row.kind, row.namespace, row.name)
    tries = Cell()
    if row.counted and row.used:
        of = f" of {row.allowed:,}" if row.allowed is not None else ""
        tries = number(f"{row.used:,}{of}", row.counted)
    first = _trouble(row.bad_pod, row.failed_container, row.bad_words) if row.bad_pod else ""
    fine = row.state in _DONE or row.state in ("Running", "Suspended", "Created", "Pending")
    cells = (
        _name(row, row.kind),
        seen.state(row),
        tries,
        Cell() if row.pods is None else share(row.pods_ready, row.pods),
        _queue(row, seen),
        words(first, "" if fine else said(row.reason if row.reason != row.state else None, row.message)),
    )
    return Line(cells, finding)


def _trouble(pod: str, container: str | None, ended: str | None) -> str:
    """`pod a-0, container main: exit code 1`."""
    where = f"pod {pod}, container {container}" if container else f"pod {pod}"
    return f"{where}: {ended}" if ended else where


def _gang(row: Row, seen: Seen) -> Line:
    if row.short is None:
        by_pods = unknown("cannot tell", "pods were not collected whole")
    else:
        by_pods = words(f"{plural(row.short, 'group')} not whole" if row.short else "all whole")
    again = f"{plural(row.recreated, 'event')} that a group was made anew" if row.recreated else ""
    why = said(row.reason, row.message) if row.state not in ("Ready", "Scaled to zero") else ""
    cells = (
        machine(place(row.namespace, row.name), f"{row.size} pods a group"),
        seen.state(row),
        share(row.ready, row.wanted),
        by_pods,
        _queue(row, seen),
        words(sentences(cut(row.short_words or ""), again), why),
    )
    return Line(cells, seen.marks.of("leaderworkerset.x-k8s.io", "LeaderWorkerSet", row.namespace, row.name))


def _name(row: Row, kind: str) -> Cell:
    return machine(place(row.namespace, row.name), f"{kind} of {row.parent}" if row.parent else kind)


def _queue(row: Row, seen: Seen) -> Cell:
    """The queue that it names, and what its Workload is in."""
    if row.queue is None and row.workload_id is None:
        return Cell()
    if row.queued:
        return machine(row.queue or "none named", f"its Workload: {row.queued}")
    if row.queue_parent:
        return machine(row.queue or "none named", f"{row.queue_parent} has the Workload")
    whole = seen.lists.has("kueue.x-k8s.io", "Workload")
    return machine(row.queue or "none named", "no Workload" if whole else "its Workload is not in this bundle")
