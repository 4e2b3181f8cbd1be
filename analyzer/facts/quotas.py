"""ResourceQuotas that have refused something: the words of the API server, held against what the quota says now.

The quota plug-in of the API server refuses with
`exceeded quota: NAME, requested: R=Q[,R=Q], used: R=Q[,R=Q], limited: R=Q[,R=Q]`, and names only what does not fit.
Controllers keep these words in FailedCreate events and in the condition ReplicaFailure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import orjson

from analyzer.facts import quantity
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, text

_REFUSED = re.compile(
    r"exceeded quota: (?P<quota>[a-z0-9][-a-z0-9.]{0,252}), requested: (?P<requested>[^:]{1,4000}?), "
    r"used: (?P<used>[^:]{1,4000}?), limited: (?P<limited>[^:\s]{1,4000})"
)

# The newest refusal of each object by each of its messages' places.
_SAID = """
SELECT e.about_id, e.input, e.about_namespace, e.object_id, 'message', e.message, e.times, e.first_at, e.last_at
FROM events e
WHERE e.type = 'Warning' AND contains(e.message, 'exceeded quota: ') AND e.about_namespace <> ''
UNION ALL
SELECT c.object_id, o.input, c.namespace, c.object_id, 'status.conditions[' || c.idx || '].message', c.message, 1, c.since, NULL
FROM conditions c JOIN objects o USING (object_id)
WHERE c.type = 'ReplicaFailure' AND c.status = 'True' AND contains(c.message, 'exceeded quota: ')
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `quota_refusals`, and the edges `quota` (ResourceQuota → the object whose pods it refused).

    Needs `events` and `conditions`.
    """
    said = con.execute(_SAID).fetchall()
    if not said:
        return
    quotas = {
        (origin, namespace, name): (object_id, orjson.loads(status or "null"))
        for origin, namespace, name, object_id, status in con.execute(
            "SELECT input, namespace, name, object_id, json -> '$.status' FROM objects "
            "WHERE api_group = '' AND kind = 'ResourceQuota' AND deleted_at IS NULL"
        ).fetchall()
    }
    rows = [row for words in said for row in _rows(words, quotas)]
    insert_rows(con, "quota_refusals", rows)
    con.execute(
        "INSERT INTO relations SELECT DISTINCT quota_id, object_id, 'quota' FROM quota_refusals "
        "WHERE quota_id IS NOT NULL AND object_id IS NOT NULL"
    )


def _rows(said: tuple[Any, ...], quotas: dict[tuple[int, str, str], tuple[int, Any]]) -> Iterator[dict[str, Any]]:
    about, origin, namespace, source, path, message, times, first_at, last_at = said
    match = _REFUSED.search(message)
    if match is None:
        return
    requested, used, limited = (_amounts(match[part]) for part in ("requested", "used", "limited"))
    quota_id, status = quotas.get((origin, namespace, match["quota"]), (None, None))
    hard, now = (mapping(mapping(status).get(part)) for part in ("hard", "used"))
    for resource, asked in requested.items():
        limit, taken = text(hard.get(resource)) or limited.get(resource), text(now.get(resource)) or used.get(resource)
        amounts = [quantity.parse(value) for value in (asked, taken, limit)]
        yield {
            "object_id": about,
            "input": origin,
            "namespace": namespace,
            "quota": match["quota"],
            "quota_id": quota_id,
            "resource": resource,
            "requested": asked,
            "used": taken,
            "hard": limit,
            "current": resource in hard,
            "exceeds": _exceeds(amounts),
            "source_id": source,
            "source_path": path,
            "message": message,
            "times": times,
            "first_at": first_at,
            "last_at": last_at,
        }


def _amounts(words: str) -> dict[str, str]:
    """`cpu=2,requests.memory=4Gi` as a mapping."""
    pairs = (part.strip().partition("=") for part in words.split(","))
    return {resource: amount for resource, separator, amount in pairs if separator and quantity.parse(amount) is not None}


def _exceeds(amounts: list[Fraction | None]) -> bool | None:
    """Whether request and use together are more than the limit; None where one of the three is not known."""
    asked, taken, limit = amounts
    return None if asked is None or taken is None or limit is None else asked + taken > limit
