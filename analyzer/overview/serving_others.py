"""Model serving by NVIDIA Dynamo, and the pools of pods that gateways send requests to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.read import Row, place, rows, said
from analyzer.overview.seen import Seen
from analyzer.render.words import listed

if TYPE_CHECKING:
    import duckdb

_DYNAMO: Final = "nvidia.com"

_GRAPHS: Final = """
WITH RECURSIVE mine AS (
    SELECT s.*, o.input FROM states s JOIN objects o USING (object_id)
    WHERE s.api_group = 'nvidia.com'
        AND s.kind IN ('DynamoGraphDeployment', 'DynamoComponentDeployment', 'DynamoModel', 'DynamoGraphDeploymentRequest')
), below(graph_id, object_id, depth) AS (
    SELECT object_id, object_id, 0 FROM mine
    UNION
    SELECT b.graph_id, w.object_id, b.depth + 1 FROM below b JOIN owners w ON w.owner_id = b.object_id AND w.controller
    WHERE b.depth < 6
), counted AS (
    SELECT b.graph_id, count(*) AS pods, count(*) FILTER (p.ready) AS pods_ready
    FROM below b JOIN pods p USING (object_id) GROUP BY b.graph_id
), ready AS (
    SELECT object_id, reason, message, since FROM conditions
    WHERE type = 'Ready' AND status = 'False' AND api_group = 'nvidia.com'
    QUALIFY row_number() OVER (PARTITION BY object_id ORDER BY idx) = 1
)
SELECT m.* EXCLUDE (reason, message, since), coalesce(r.reason, m.reason) AS reason,
    coalesce(nullif(trim(r.message), ''), m.message) AS message, coalesce(m.since, r.since) AS since,
    r.object_id IS NOT NULL AS unready, c.pods, c.pods_ready, w.owner_kind || ' ' || w.owner_name AS parent
FROM mine m LEFT JOIN counted c ON c.graph_id = m.object_id LEFT JOIN ready r ON r.object_id = m.object_id
LEFT JOIN owners w ON w.object_id = m.object_id AND w.controller
QUALIFY row_number() OVER (PARTITION BY m.object_id ORDER BY w.owner_name) = 1
ORDER BY m.namespace, m.name, m.kind
"""
_POOLS: Final = """
SELECT p.*, o.api_group FROM inference_pools p JOIN objects o USING (object_id) ORDER BY p.namespace, p.name
"""


def lines(con: duckdb.DuckDBPyConnection, seen: Seen) -> Iterator[Line]:
    """Rows for the table of services."""
    yield from (_graph(row, seen) for row in rows(con, _GRAPHS))
    yield from (_pool(row, seen) for row in rows(con, _POOLS))


def _graph(row: Row, seen: Seen) -> Line:
    pods = Cell()
    if row.pods:
        pods = number(f"{row.pods_ready:,} / {row.pods:,}")
    elif row.kind.endswith("Deployment"):
        pods = number("0 / 0") if seen.lists.has("", "Pod", row.namespace) else unknown("cannot tell")
    cells = (
        machine(place(row.namespace, row.name), f"of {row.parent}" if row.parent else ""),
        words("NVIDIA Dynamo", row.kind),
        seen.state(row),
        pods,
        Cell(),
        words("", said(row.reason, row.message) if row.unready or row.state != "Ready" else ""),
    )
    return Line(cells, seen.marks.of(_DYNAMO, row.kind, row.namespace, row.name))


def _pool(row: Row, seen: Seen) -> Line:
    gone = row.picker and row.picker_id is None and seen.lists.has("", "Service", row.namespace)
    cells = (
        machine(place(row.namespace, row.name), listed(row.parents, 3) if row.parents else ""),
        words("Gateway", "InferencePool"),
        seen.state(row),
        Cell(),
        machine(f"picker {row.picker}") if row.picker else Cell(),
        words("its endpoint picker is not there" if gone else "", said(row.reason, row.message)),
    )
    return Line(cells, seen.marks.of(row.api_group, "InferencePool", row.namespace, row.name))
