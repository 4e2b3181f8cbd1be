"""The scheduler's message of every Pending Pod, taken apart into `scheduling_causes`."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.oversize import Offers
from analyzer.facts.rows import insert_rows
from analyzer.facts.scheduler_message import parse


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `scheduling_causes` from the messages of the Pods whose state is Pending; `pods` is filled before."""
    rows = con.execute(
        "SELECT p.object_id, p.input, p.message, o.json -> '$.spec' FROM pods AS p JOIN objects AS o USING (object_id) "
        "WHERE p.state = 'Pending' AND p.message IS NOT NULL"
    ).fetchall()
    offers = Offers(con)
    insert_rows(con, "scheduling_causes", (cause for row in rows for cause in _causes(offers, *row)))


def _causes(offers: Offers, object_id: int, origin: int, message: str, spec: str | None) -> list[dict[str, Any]]:
    parsed = parse(message)
    found = []
    for idx, cause in enumerate(parsed.causes):
        asked, largest = offers.too_big(origin, spec, cause.resource) if cause.resource else (None, None)
        found.append(
            {
                "object_id": object_id,
                "idx": idx,
                "nodes": cause.nodes,
                "nodes_total": parsed.nodes_total,
                "cause": cause.cause,
                "resource": cause.resource,
                "taint": cause.taint,
                "text": cause.text,
                "asked": asked,
                "largest": largest,
            }
        )
    return found
