"""Gangs of pods that Volcano, KAI Scheduler or Grove place together, and the queues of the first two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Table, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.marks import table
from analyzer.overview.read import Row, foremost, place, rows, said, sentences
from analyzer.overview.seen import Seen
from analyzer.render.words import plural

if TYPE_CHECKING:
    import duckdb

_FINE: Final = frozenset({"Running", "Scheduled", "Completed", "Finished", "Succeeded", "Available", "Ready"})
_PARTS: Final = frozenset({"PodClique", "PodCliqueScalingGroup", "PodGang"})
"""Parts of a PodCliqueSet: they have a line only where something is wrong with them."""

_GANGS: Final = "SELECT * FROM gangs ORDER BY namespace, name, kind"
_QUEUES: Final = """
SELECT q.*,
    (SELECT list(r.resource || ' ' || coalesce(r.used, '0') || coalesce(' of ' || coalesce(r.most, r.quota), '')
            ORDER BY r.resource)
        FROM gang_queue_resources r WHERE r.object_id = q.object_id) AS uses,
    (SELECT count(*) FROM gangs g WHERE g.input = q.input AND g.api_group = q.api_group AND g.queue = q.name)::BIGINT AS groups,
    (SELECT count(*) FROM gangs g WHERE g.input = q.input AND g.api_group = q.api_group AND g.queue = q.name
        AND g.state IN ('Pending', 'Inqueue', 'Unschedulable', 'Unknown'))::BIGINT AS waiting
FROM gang_queues q ORDER BY q.project, q.name
"""


def tables(con: duckdb.DuckDBPyConnection, seen: Seen) -> list[Table]:
    """A table of gangs and one of their queues; those that there are."""
    made: list[Table] = []
    some, total = foremost((row for row in rows(con, _GANGS) if _of_its_own(row, seen)), seen.marks)
    if some:
        columns = ("Gang", "Of", "State", "Pods ready", "Queue", "Why")
        lines = seen.marks.ranked(_gang(row, seen) for row in some)
        made.append(table("Gangs of pods", columns, lines, "gangs", total=total))
    queues = [_queue(row, seen) for row in rows(con, _QUEUES)]
    if queues:
        heads = ("Queue", "Of", "State", "In use", "Groups that wait")
        made.append(table("Queues of gangs", heads, seen.marks.ranked(queues), "queues"))
    return made


def _of_its_own(row: Row, seen: Seen) -> bool:
    if row.kind not in _PARTS:
        return True
    return seen.marks.of(row.api_group, row.kind, row.namespace, row.name) is not None


def _gang(row: Row, seen: Seen) -> Line:
    pods = unknown("cannot tell")
    if row.pods is not None or seen.lists.has("", "Pod", row.namespace):
        pods = number(f"{row.pods_ready or 0:,} / {row.pods or 0:,}", f"{row.members:,} at once" if row.members else "")
    gated = f"{plural(row.pods_gated, 'pod')} behind a gate" if row.pods_gated else ""
    why = said(row.reason, row.message) if row.state not in _FINE else ""
    cells = (
        machine(place(row.namespace, row.name), f"{row.kind} of {row.parent}" if row.parent else row.kind),
        words(row.project),
        seen.state(row),
        pods,
        machine(row.queue) if row.queue else Cell(),
        words(gated, why),
    )
    return Line(cells, seen.marks.of(row.api_group, row.kind, row.namespace, row.name))


def _queue(row: Row, seen: Seen) -> Line:
    missing = f"queue {row.missing}, above it, does not exist" if row.missing else ""
    uses = sentences(*(row.uses or ()))
    cells = (
        machine(row.name, f"below {row.parent}" if row.parent else ""),
        words(row.project),
        seen.state(row),
        words(missing or uses, uses if missing else ""),
        number(f"{row.waiting:,} of {row.groups:,}"),
    )
    return Line(cells, seen.marks.of(row.api_group, "Queue", "", row.name))
