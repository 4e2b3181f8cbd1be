"""Kueue: quota as trees of cohorts, local queues and checks, and the Workloads that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.engine.sections import Cell, Section, Table, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.kueue.base import GROUP
from analyzer.facts.whole import Whole
from analyzer.overview.marks import Marks, table
from analyzer.overview.quota import Quotas
from analyzer.overview.read import Row, lasting, measured, place, rows, said, sentences
from analyzer.overview.seen import not_all
from analyzer.overview.waiting import Waits
from analyzer.render.words import plural

if TYPE_CHECKING:
    import duckdb

_QUOTA_QUERY = (
    "SELECT q.cohort, q.name, q.flavor, q.resource, q.nominal, q.reserved, q.borrowed, q.used, q.share, q.borrowing_limit, "
    "q.lending_limit, o.offered FROM kueue_quota q LEFT JOIN kueue_offers o USING (flavor, resource) "
    "ORDER BY q.cohort, q.name, q.resource"
)
_WAITING_QUERY = (
    "SELECT cluster_queue, position, namespace, name, priority, wait_since, cause, wait_message FROM workloads WHERE waiting "
    "ORDER BY cluster_queue, wait_since"
)


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """Quota and queues, and what waits in them; nothing where the bundle has nothing of Kueue."""
    lists = Whole.read(con)
    return tuple(section for section in (_quota(con, marks, lists), _waiting(con, marks, lists)) if section)


def _quota(con: duckdb.DuckDBPyConnection, marks: Marks, lists: Whole) -> Section | None:
    quotas = Quotas(con, marks)
    tables = [one for one in (quotas.tree(), quotas.flavors(), _local(con, marks), _checks(con, marks)) if one]
    if not tables:
        return None
    notes = [
        "Kueue's own figures. Bars of one resource share one scale. A Cohort's status counts nothing: only its quota is shown."
    ]
    for kind in ("ClusterQueue", "Cohort", "ResourceFlavor"):
        notes += not_all(lists, GROUP, kind, f"{kind}s")
    return Section("queues", "Queues and quota", quotas.small, tuple(tables), tuple(notes), _QUOTA_QUERY)


def _waiting(con: duckdb.DuckDBPyConnection, marks: Marks, lists: Whole) -> Section | None:
    waits = Waits(con, marks, lists)
    tables = [one for one in (waits.causes(), waits.queues(), waits.moving()) if one]
    if not tables:
        return None
    small = f"{waits.waiting:,} of {plural(waits.all, 'Workload')} wait" if waits.whole else f"at least {waits.waiting:,} wait"
    return Section("waiting", "Waiting workloads", small, tuple(tables), tuple(waits.notes()), _WAITING_QUERY)


def _local(con: duckdb.DuckDBPyConnection, marks: Marks) -> Table | None:
    query = """
        SELECT * FROM kueue_queues WHERE kind = 'LocalQueue'
        ORDER BY coalesce(state, '') = 'Active', pending DESC, namespace, name
    """
    lines = [_local_line(row, marks) for row in rows(con, query)]
    columns = ("Local queue", "Cluster queue", "State", "Waiting", "Admitted", "Why")
    return table("Local queues", columns, marks.ranked(lines), "local queues") if lines else None


def _local_line(row: Row, marks: Marks) -> Line:
    stopped = f"stopPolicy {row.stop_policy}" if row.stop_policy else ""
    told = said(row.reason, row.message) if row.state not in (None, "Active") else ""
    lacks = "" if row.cluster_queue_id is not None or row.state == "Orphaned" else "not in this bundle"
    cells = (
        machine(place(row.namespace, row.name)),
        machine(row.cluster_queue or "", lacks) if row.cluster_queue else words("none named"),
        words(row.state) if row.state else unknown("not said"),
        *(unknown("not said") if count is None else number(f"{count:,}") for count in (row.pending, row.admitted)),
        words(sentences(stopped, told)),
    )
    return Line(cells, marks.of(GROUP, "LocalQueue", row.namespace, row.name))


def _checks(con: duckdb.DuckDBPyConnection, marks: Marks) -> Table | None:
    query = """
        SELECT o.name, o.input, c.status, c.reason, c.message, c.since,
            (SELECT count(DISTINCT w.object_id) FROM workload_checks w JOIN workloads l USING (object_id)
             WHERE w.check_id = o.object_id AND w.state IS DISTINCT FROM 'Ready' AND l.state = 'Waiting for admission checks'
            ) AS held
        FROM objects o LEFT JOIN conditions c ON c.object_id = o.object_id AND c.type = 'Active'
        WHERE o.api_group = ? AND o.kind = 'AdmissionCheck' ORDER BY o.name
    """
    as_of = measured(con)
    lines = []
    for row in rows(con, query, GROUP):
        bad = row.status != "True"
        active = {"True": "Active", "False": "Inactive"}.get(row.status or "", "")
        cells = (
            machine(row.name),
            words(active, lasting(row.since, as_of.get(row.input)) if bad else "") if active else unknown("no condition"),
            number(f"{row.held:,}") if row.held else Cell(),
            words(said(row.reason, row.message) if bad else ""),
        )
        lines.append(Line(cells, marks.of(GROUP, "AdmissionCheck", "", row.name)))
    columns = ("Admission check", "State", "Workloads that wait for it", "Why")
    return table("Admission checks", columns, marks.ranked(lines), "checks") if lines else None
