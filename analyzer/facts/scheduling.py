"""The scheduler's message of every Pending Pod, taken apart into `scheduling_causes`."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.scheduler_message import parse


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `scheduling_causes` from the messages of the Pods whose state is Pending; `pods` is filled before."""
    rows = con.execute("SELECT object_id, message FROM pods WHERE state = 'Pending' AND message IS NOT NULL").fetchall()
    insert_rows(con, "scheduling_causes", (cause for object_id, message in rows for cause in _causes(object_id, message)))


def _causes(object_id: int, message: str) -> list[dict[str, Any]]:
    parsed = parse(message)
    return [
        {
            "object_id": object_id,
            "idx": idx,
            "nodes": cause.nodes,
            "nodes_total": parsed.nodes_total,
            "cause": cause.cause,
            "resource": cause.resource,
            "taint": cause.taint,
            "text": cause.text,
        }
        for idx, cause in enumerate(parsed.causes)
    ]
