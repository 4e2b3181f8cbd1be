"""Queues of Volcano and KAI Scheduler: what they may use beside what they use.

Sources: the API types of both, and KAI Scheduler's documentation of its units (CPU in thousandths, memory in MB, -1: no limit).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import orjson

from analyzer.facts import quantity
from analyzer.facts.related.gangs import KAI, PROJECTS, VOLCANO
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, stored, text
from analyzer.facts.whole import Whole

MAX_RESOURCES = 64
"""Resources of one queue that are read."""
MAX_DEPTH = 20
"""Queues above one that are followed; so a circle of queues ends too."""
_KAI_RESOURCES = (("cpu", "cpu", "m"), ("memory", "memory", "M"), ("gpu", "nvidia.com/gpu", ""))
"""A resource in the queue's spec, in its status, and the suffix that makes its number a quantity."""

_STATE = """
UPDATE gang_queues SET state = CASE
    WHEN object_id IN (SELECT object_id FROM gang_queue_resources WHERE at_most) THEN 'At its limit' ELSE 'Active' END
WHERE api_group = 'scheduling.run.ai' AND state IS NULL
"""
_STATES = """
INSERT INTO states
SELECT object_id, api_group, 'Queue', '', name, state, NULL,
    CASE WHEN state = 'Orphaned' THEN 'queue ' || missing || ', above it, does not exist'
        WHEN state = 'At its limit' THEN 'at its limit of ' || (SELECT string_agg(resource, ', ' ORDER BY resource)
            FROM gang_queue_resources r WHERE r.object_id = gang_queues.object_id AND r.at_most) END,
    since
FROM gang_queues ORDER BY object_id
"""

_WAITING = """
SELECT g.object_id, q.object_id, o.json -> '$.spec.minResources'
FROM gangs g JOIN gang_queues q ON q.api_group = g.api_group AND q.name = g.queue
JOIN objects o ON o.object_id = g.object_id
WHERE g.api_group = 'scheduling.volcano.sh' AND g.state = 'Pending' AND json_type(o.json, '$.spec.minResources') = 'OBJECT'
ORDER BY g.object_id
"""

# A queue that the scheduler passes over shows in the groups that name it, but for those that it looked at.
_EDGES = """
INSERT INTO relations
SELECT q.object_id, g.object_id, 'gang-queue'
FROM gang_queues q JOIN gangs g ON g.api_group = q.api_group AND g.queue = q.name
WHERE coalesce(g.reason, 'QueueDoesNotExist') = 'QueueDoesNotExist'
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gang_queues`, `gang_queue_resources`, `gang_excess`, rows of `states`, and edges to groups.

    Needs `coverage`, `gangs`.
    """
    queues = list(stored(con, [(VOLCANO, "Queue"), (KAI, "Queue")]))
    if not queues:
        return
    rows = [_row(item) for item in queues]
    whole = Whole.read(con)
    above = {(row["api_group"], row["name"]): row["parent"] for row in rows}
    for row in rows:
        if row["api_group"] == KAI and whole.has(KAI, "Queue"):
            row["missing"] = _missing(row, above)
            if row["missing"] and row["state"] is None:
                row["state"] = "Orphaned"
    insert_rows(con, "gang_queues", rows)
    insert_rows(con, "gang_queue_resources", (row for item in queues for row in _resources(item)))
    con.execute(_STATE)
    con.execute(_STATES)
    con.execute(_EDGES)
    insert_rows(con, "gang_excess", list(_excess(con)))


def _missing(row: dict[str, Any], above: dict[tuple[str, str], str | None]) -> str | None:
    """The first queue above that does not exist: with it KAI Scheduler passes over all that are below."""
    name = row["parent"]
    for _ in range(MAX_DEPTH):
        key = (row["api_group"], name)
        if not name:
            return None
        if key not in above:
            return str(name)
        name = above[key]
    return None


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    state = None
    if item.group == VOLCANO:
        state = (text(status.get("state")) or "Unknown")[:100]
    return {
        "object_id": item.object_id,
        "input": item.input,
        "api_group": item.group,
        "project": PROJECTS[item.group],
        "name": item.name,
        "parent": text(spec.get("parentQueue" if item.group == KAI else "parent")),
        "state": "Deleting" if item.deleted_at else state,
        "since": item.deleted_at,
    }


def _resources(item: Stored) -> Iterator[dict[str, Any]]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    used, asked = mapping(status.get("allocated")), mapping(status.get("requested"))
    if item.group == KAI:
        given = mapping(spec.get("resources"))
        for name, resource, suffix in _KAI_RESOURCES:
            one = mapping(given.get(name))
            quota, most = _kai(one.get("quota"), suffix), _kai(one.get("limit"), suffix)
            if one or resource in used or resource in asked:
                yield _resource(item, resource, quota, most, used, asked)
        return
    most_of, deserved = mapping(spec.get("capability")), mapping(spec.get("deserved"))
    for resource in sorted({*most_of, *deserved, *used})[:MAX_RESOURCES]:
        yield _resource(item, resource, _amount(deserved.get(resource)), _amount(most_of.get(resource)), used, asked)


def _resource(
    item: Stored, resource: str, quota: str | None, most: str | None, used: dict[str, Any], asked: dict[str, Any]
) -> dict[str, Any]:
    taken = _amount(used.get(resource))
    value = quantity.parse(taken) or Fraction(0)
    limit, share = quantity.parse(most), quantity.parse(quota)
    return {
        "object_id": item.object_id,
        "resource": resource,
        "quota": quota,
        "most": most,
        "used": taken,
        "asked": _amount(asked.get(resource)),
        "at_most": limit is not None and value >= limit and value > 0,
        "over_quota": share is not None and value > share,
    }


def _excess(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """What groups of Volcano that wait ask for (minResources) beyond what their queue may use beside what it uses."""
    limits: dict[int, list[tuple[str, str, str | None]]] = {}
    for queue_id, resource, most, used in con.execute(
        "SELECT object_id, resource, most, used FROM gang_queue_resources WHERE most IS NOT NULL ORDER BY object_id, resource"
    ).fetchall():
        limits.setdefault(queue_id, []).append((resource, most, used))
    for object_id, queue_id, least in con.execute(_WAITING).fetchall() if limits else ():
        asks = mapping(orjson.loads(least))
        for resource, most, used in limits.get(queue_id, ()):
            ask, limit, taken = quantity.parse(asks.get(resource)), quantity.parse(most), quantity.parse(used) or Fraction(0)
            if ask is not None and limit is not None and ask > 0 and ask + taken > limit:
                yield {
                    "object_id": object_id,
                    "resource": resource,
                    "asks": _amount(asks.get(resource)),
                    "used": used or "0",
                    "most": most,
                    "never": ask > limit,
                }


def _kai(value: object, suffix: str) -> str | None:
    """A number of a queue's spec as a quantity; None where it stands for no limit or says nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value > 1e15:
        return None
    return f"{value:g}{suffix}" if value != int(value) else f"{int(value)}{suffix}"


def _amount(value: object) -> str | None:
    """A quantity as it is written; None where it is none."""
    return str(value) if quantity.parse(value) is not None else None
