"""Admission checks of Workloads, followed to the ProvisioningRequests made for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.kueue.load import Load
from analyzer.facts.kueue.store import Told

_PROVISIONING = "kueue.x-k8s.io/provisioning-request"

# Of the conditions of a request the one that says most.
_REQUESTS = """
SELECT o.object_id, o.namespace, o.name,
  list(struct_pack(type := c.type, status := c.status, reason := c.reason, message := c.message) ORDER BY
    list_position(['Failed', 'CapacityRevoked', 'BookingExpired', 'Provisioned', 'Accepted'], c.type)) FILTER (c.type IS NOT NULL)
FROM objects o LEFT JOIN conditions c ON c.object_id = o.object_id
  AND c.type IN ('Failed', 'CapacityRevoked', 'BookingExpired', 'Provisioned', 'Accepted')
WHERE o.api_group = 'autoscaling.x-k8s.io' AND o.kind = 'ProvisioningRequest'
GROUP BY ALL ORDER BY o.object_id
"""


@dataclass(frozen=True, slots=True)
class Request:
    """A ProvisioningRequest with its words."""

    object_id: int
    name: str
    words: str


def rows(con: duckdb.DuckDBPyConnection, loads: Sequence[Load], told: Told) -> Iterator[dict[str, Any]]:
    """Rows of `workload_checks`."""
    with_checks = [one for one in loads if one.checks]
    requests: dict[tuple[str, str], list[tuple[int, Request]]] = {}
    if any(check.controller == _PROVISIONING for check in told.of("AdmissionCheck")):
        for object_id, namespace, name, listed in con.execute(_REQUESTS).fetchall():
            # WORKLOAD-CHECK-ATTEMPT
            base, _, attempt = name.rpartition("-")
            number = int(attempt) if attempt.isascii() and attempt.isdigit() and len(attempt) < 10 else 0
            found = Request(object_id, name, _words(listed or []))
            requests.setdefault((namespace, base if number else name), []).append((number, found))
    for one in with_checks:
        for check in one.checks:
            thing = told.get("AdmissionCheck", check.name)
            made = max(requests.get((one.namespace, f"{one.name}-{check.name}"), ()), key=lambda pair: pair[0], default=None)
            yield {
                "object_id": one.object_id,
                "idx": check.index,
                "check_name": check.name,
                "check_id": thing.object_id if thing else None,
                "controller": thing.controller if thing else None,
                "state": check.state,
                "message": check.message,
                "since": check.since,
                "retries": check.retries,
                "request": made[1].name if made else None,
                "request_id": made[1].object_id if made else None,
                "request_words": made[1].words if made else None,
            }


def _words(conditions: list[dict[str, Any]]) -> str:
    """What a request says: a failure before all, else the furthest it came."""
    true = [one for one in conditions if one["status"] == "True"]
    chosen = true[0] if true else (conditions[0] if conditions else None)
    if chosen is None:
        return "has no condition yet"
    told = f"{chosen['type']}={chosen['status']}"
    if chosen["reason"]:
        told += f" ({chosen['reason']})"
    return f'{told}: "{" ".join(chosen["message"].split())[:300]}"' if chosen["message"] else told
