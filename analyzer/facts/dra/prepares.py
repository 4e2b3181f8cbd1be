"""Devices that a kubelet could not prepare for a pod, or could not take back from one that ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.dra import phrases
from analyzer.facts.rows import insert_rows

_EVENTS = """
SELECT h.object_id, h.event_id, p.node, h.message, h.times, h.first_at, h.last_at
FROM pod_holdups h JOIN pods p USING (object_id)
WHERE h.what = 'device'
UNION ALL
SELECT p.object_id, e.object_id, p.node, e.message, e.times, e.first_at, e.last_at
FROM events e JOIN pods p ON p.object_id = e.about_id
WHERE p.deleted_at IS NOT NULL AND e.type = 'Warning'
    AND regexp_matches(coalesce(e.message, ''), '(?i)unprepare dynamic resources')
QUALIFY row_number() OVER (PARTITION BY p.object_id ORDER BY e.last_at DESC NULLS LAST, e.object_id DESC) = 1
ORDER BY 1
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `device_prepares`; needs `pod_holdups`, `events` and `pods`."""
    insert_rows(con, "device_prepares", _rows(con.execute(_EVENTS).fetchall()))


def _rows(events: list[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for object_id, event_id, node, message, times, first_at, last_at in events:
        yield told(message or "") | {
            "object_id": object_id,
            "event_id": event_id,
            "node": node,
            "message": message,
            "times": times,
            "first_at": first_at,
            "last_at": last_at,
        }


def told(message: str) -> dict[str, Any]:
    """What a message of the kubelet, or of a driver's plugin, means: columns of `device_prepares`."""
    found = phrases.kubelet(message)
    return {
        "driver": found[1] if found and found[0].reason == "not-registered" else None,
        "cause": found[0].reason if found else "other",
        "words": found[0].words if found else "the reason is in the message",
        "remedy": found[0].remedy if found else "Read the log of the DRA driver's kubelet plugin on that node",
    }
