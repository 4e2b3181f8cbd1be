"""Kueue's Workloads that wait: by cause over the cluster, by queue with the oldest first, and those on their way in or out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import FOLDED, SHOWN, Cell, Table, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.kueue.base import GROUP
from analyzer.facts.kueue.waits import CAUSES
from analyzer.facts.whole import Whole
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, foremost, grouped, lasting, measured, place, quoted, rows, said, sentences
from analyzer.render.words import listed, plural
from analyzer.times import between

if TYPE_CHECKING:
    import duckdb

LISTED: Final = 50
"""Workloads of one queue that are listed at most."""

_DETAILS: Final = {
    "taint": "a taint that they do not tolerate",
    "affinity": "node affinity",
    "flavor-missing": "the flavor does not exist",
    "resource-not-covered": "a resource that the queue has no quota of",
    "localqueue-missing": "the LocalQueue does not exist",
    "clusterqueue-missing": "the ClusterQueue does not exist",
    "topology-level": "no node has the level of the topology",
    "topology-mismatch": "topology asked for or not",
    "namespace": "the queue does not take the namespace",
    "validation": "requests that are not valid",
    "limit-range": "a LimitRange",
    "dra": "devices of DRA",
    "borrowing-limit": "the borrowing limit",
    "preemption": "until others are preempted",
    "race": "others were faster",
}

_GROUP_QUERY = """
WITH waiting AS (
    SELECT w.cause, w.detail, w.cause_key, w.behind_how, coalesce(w.cluster_queue, w.namespace || '/' || w.queue) AS waits_in,
        w.namespace, w.name, w.input, w.wait_since, w.wait_reason, w.wait_message,
        q.kind AS behind_kind, q.namespace AS behind_space, q.name AS behind_name
    FROM workloads w LEFT JOIN kueue_queues q ON q.object_id = w.behind_id WHERE w.waiting
)
SELECT cause, detail, behind_how, behind_kind, behind_space, behind_name, count(*) AS many, count(DISTINCT waits_in) AS queues,
    arg_min(
        {'namespace': namespace, 'name': name, 'input': input, 'since': wait_since, 'reason': wait_reason, 'words': wait_message},
        (wait_since, namespace, name)
    ) AS oldest
FROM waiting GROUP BY cause, detail, cause_key, behind_how, behind_kind, behind_space, behind_name
ORDER BY many DESC, min(wait_since), min(name)
"""

_QUEUE_QUERY = """
WITH waiting AS (
    SELECT *, coalesce(cluster_queue, '') AS cluster, CASE WHEN cluster_queue IS NULL THEN namespace ELSE '' END AS space,
        CASE WHEN cluster_queue IS NULL THEN coalesce(queue, '') ELSE '' END AS local
    FROM workloads WHERE waiting
), by_cause AS (
    SELECT cluster, space, local, cause, count(*) AS many FROM waiting GROUP BY ALL
), causes AS (
    SELECT cluster, space, local, sum(many)::BIGINT AS many, list(cause ORDER BY many DESC, cause) AS causes,
        list(many ORDER BY many DESC, cause) AS counts
    FROM by_cause GROUP BY ALL
), oldest AS (
    SELECT cluster, space, local, min(wait_since) AS since, any_value(input) AS input FROM waiting GROUP BY ALL
)
SELECT c.*, o.since, o.input, q.strategy, q.cohort, q.state, q.pending
FROM causes c JOIN oldest o USING (cluster, space, local)
LEFT JOIN kueue_queues q ON q.kind = 'ClusterQueue' AND q.name = c.cluster AND c.cluster <> ''
ORDER BY o.since NULLS LAST, c.cluster, c.space, c.local
"""

_LISTED_QUERY = """
SELECT w.*, coalesce(w.cluster_queue, '') AS cluster, CASE WHEN w.cluster_queue IS NULL THEN w.namespace ELSE '' END AS space,
    CASE WHEN w.cluster_queue IS NULL THEN coalesce(w.queue, '') ELSE '' END AS local,
    told.namespace || '/' || told.name AS teller, coalesce(told.wait_message, w.wait_message) AS words
FROM workloads w LEFT JOIN workloads told ON told.object_id = w.told_by
WHERE w.waiting
QUALIFY row_number() OVER (PARTITION BY cluster, space, local ORDER BY w.wait_since NULLS LAST, w.namespace, w.name) <= ?
ORDER BY w.wait_since NULLS LAST, w.namespace, w.name
"""

_MOVING_QUERY = """
WITH checks AS (
    SELECT object_id, list(
        check_name || ' is ' || coalesce(state, 'without a state') || coalesce(': "' || message[:200] || '"', '') ORDER BY idx
    ) AS checks
    FROM workload_checks WHERE state IS DISTINCT FROM 'Ready' GROUP BY object_id
)
SELECT w.input, w.namespace, w.name, w.state, w.reason, w.message, w.since, w.cluster_queue, w.queue, w.evictions,
    w.evictions_exact, w.eviction_words, w.deactivated_by, w.deactivation, w.preemptor, w.pods_ready, c.checks
FROM workloads w LEFT JOIN checks c USING (object_id)
WHERE w.state IN ('Waiting for admission checks', 'Evicted') OR (w.state = 'Deactivated' AND w.deactivated_by = 'kueue')
    OR (w.evictions > 0 AND w.state NOT IN ('Finished', 'Deleting')) OR (w.state = 'Admitted' AND w.pods_ready = 'False')
ORDER BY list_position(['Deactivated', 'Waiting for admission checks', 'Evicted'], w.state), w.evictions DESC, w.since, w.name
"""


class Waits:
    """The tables of Workloads."""

    def __init__(self, con: duckdb.DuckDBPyConnection, marks: Marks, lists: Whole) -> None:
        """Reads what is shared by them."""
        self._con = con
        self._marks = marks
        self._as_of = measured(con)
        self.whole = lists.has(GROUP, "Workload")
        row = con.execute("SELECT count(*), count(*) FILTER (waiting) FROM workloads").fetchone()
        self.all, self.waiting = row or (0, 0)

    def causes(self) -> Table | None:
        """What the Workloads wait for, each cause once: twenty thousand of them are a few lines."""
        lines = [self._cause(row) for row in rows(self._con, _GROUP_QUERY)]
        if not lines:
            return None
        columns = ("They wait for", "Workloads", "Queues", "Oldest", "Kueue's words of the oldest")
        return table("What Workloads wait for, by cause", columns, self._marks.ranked(lines), "causes")

    def _cause(self, row: Row) -> Line:
        oldest = row.oldest
        why = CAUSES.get(row.cause or "", row.cause or "")
        below = _DETAILS.get(row.detail or "", "")
        finding = self._marks.of(GROUP, "Workload", oldest["namespace"], oldest["name"])
        if row.behind_name:
            why = f"held by {row.behind_kind} {place(row.behind_space, row.behind_name)}"
            below = f"which is {(row.behind_how or 'not active').lower()}"
            finding = finding or self._marks.of(GROUP, row.behind_kind, row.behind_space, row.behind_name)
        lasted = between(oldest["since"], self._as_of.get(oldest["input"]))
        cells = (
            words(why, below),
            number(f"{row.many:,}"),
            number(f"{row.queues:,}"),
            words(lasted) if lasted else unknown("cannot tell"),
            machine(_words(oldest["reason"], oldest["words"]), place(oldest["namespace"], oldest["name"])),
        )
        return Line(cells, finding)

    def queues(self) -> Table | None:
        """Each queue with those that wait in it, the oldest first; of many queues only how many wait."""
        found = list(rows(self._con, _QUEUE_QUERY))
        if not found:
            return None
        each = min(LISTED, max(0, (SHOWN + FOLDED) // len(found) - 1))
        below = grouped(rows(self._con, _LISTED_QUERY, each), _in) if each else {}
        lines = self._marks.in_blocks(self._queue(row, below.get(_in(row), [])) for row in found)
        columns = ("Queue, workload", "Waiting", "Place", "Priority", "Waits", "Why")
        return table("Waiting Workloads by queue, the oldest first", columns, lines, "rows")

    def _queue(self, row: Row, listed_rows: list[Row]) -> list[Line]:
        what = sentences(row.strategy or "", f"cohort {row.cohort}" if row.cohort else "")
        name = row.cluster or (place(row.space, row.local) if row.local else f"{row.space}, no queue named")
        kind = what if row.cluster else "its ClusterQueue is not known"
        held = row.state not in (None, "Active")
        told = ((cause or "", many) for cause, many in zip(row.causes, row.counts, strict=True))
        counts = [
            f"{row.state.lower() if held and cause == 'queue' else CAUSES.get(cause, cause)} ({many:,})" for cause, many in told
        ]
        pair = ("ClusterQueue", "", row.cluster) if row.cluster else ("LocalQueue", row.space, row.local)
        more = row.many - len(listed_rows)
        note = f"{more:,} of them not listed here" if listed_rows and more > 0 else ""
        lasted = between(row.since, self._as_of.get(row.input))
        cells = (
            machine(name, kind),
            number(f"{row.many:,}"),
            Cell(),
            Cell(),
            words(lasted),
            words(listed(counts), note),
        )
        return [Line(cells, self._marks.of(GROUP, *pair)), *(self._workload(one) for one in listed_rows)]

    def _workload(self, row: Row) -> Line:
        words_of = _words(row.wait_reason, row.words)
        below = sentences(f"told of {row.teller}, its equal" if row.teller else "", _evicted(row))
        lasted = between(row.wait_since, self._as_of.get(row.input))
        cells = (
            machine(place(row.namespace, row.name), f"asks for {cut(row.requests, 160)}" if row.requests else ""),
            Cell(),
            Cell() if row.position is None else number(f"{row.position:,}"),
            Cell() if row.priority is None else number(f"{row.priority:,}"),
            words(lasted) if lasted else unknown("cannot tell"),
            machine(words_of, below) if words_of else words(CAUSES.get(row.cause or "", ""), below),
        )
        return Line(cells, self._marks.of(GROUP, "Workload", row.namespace, row.name), 1)

    def moving(self) -> Table | None:
        """Those with quota that do not run yet, and those that lost it."""
        found, total = foremost(rows(self._con, _MOVING_QUERY), self._marks, (GROUP, "Workload"))
        if not found:
            return None
        columns = ("Workload", "State", "Since", "Evictions", "What to note")
        caption = "Workloads that wait for checks or for their pods, or were put out"
        return table(caption, columns, map(self._moving, found), "Workloads", total=total)

    def _moving(self, row: Row) -> Line:
        least = "" if row.evictions_exact or not row.evictions else "at least "
        by_kueue = f"deactivated by Kueue: {cut(row.deactivation or 'it does not say why')}"
        note = sentences(
            by_kueue if row.deactivated_by == "kueue" else "",
            "deactivated by a user: no fault" if row.deactivated_by == "user" else "",
            listed((cut(check) for check in row.checks), 3) if row.checks else "",
            "admitted, its pods are not ready" if row.state == "Admitted" and row.pods_ready == "False" else "",
            f"made room for {cut(row.preemptor, 160)}" if row.preemptor else "",
        )
        queue = row.cluster_queue or row.queue
        cells = (
            machine(place(row.namespace, row.name), f"queue {queue}" if queue else ""),
            words(row.state or ""),
            words(lasting(row.since, self._as_of.get(row.input))),
            number(f"{least}{row.evictions:,}") if row.evictions else Cell(),
            words(note or (quoted(row.message) if row.state == "Evicted" else ""), cut(row.eviction_words or "", 200)),
        )
        return Line(cells, self._marks.of(GROUP, "Workload", row.namespace, row.name))

    def notes(self) -> Iterator[str]:
        """What cannot be told."""
        if not self.whole:
            counted = self._con.execute("SELECT sum(pending) FROM kueue_queues WHERE kind = 'ClusterQueue'").fetchone()
            by_status = f" By their status {plural(int(counted[0]), 'Workload')} wait." if counted and counted[0] else ""
            yield f"Workloads were not collected whole: others may wait too.{by_status}"
        if self.waiting:
            yield (
                "The place in a queue is deduced from priority and time. In a queue with StrictFIFO the first holds up all "
                "behind it; with BestEffortFIFO smaller ones pass."
            )


def _in(row: Row) -> tuple[str, str, str]:
    """What a Workload waits in."""
    return row.cluster, row.space, row.local


def _words(reason: str | None, message: str | None) -> str:
    """Kueue's words. Reasons that it gives whatever the cause is, before 0.19, say nothing beside a message."""
    return said(None if message and reason in ("Pending", "Inadmissible") else reason, message)


def _evicted(row: Row) -> str:
    if not row.evictions:
        return ""
    return f"evicted {'' if row.evictions_exact else 'at least '}{plural(row.evictions, 'time')}"
