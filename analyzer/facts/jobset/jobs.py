"""The Jobs of JobSets: which attempt they are of, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import orjson

from analyzer.facts.jobset.children import Child
from analyzer.facts.jobset.sets import JobSet
from analyzer.facts.told import Condition, conditions
from analyzer.facts.values import mapping, number, text

LABEL = "jobset.sigs.k8s.io/"

_JOBS = """
SELECT o.object_id, o.namespace, o.name, o.created_at, o.deleted_at, o.json -> '$.metadata.labels', o.json -> '$.status',
    o.json -> '$.spec.suspend', w.owner_id, w.owner_name
FROM objects o LEFT JOIN owners w ON w.object_id = o.object_id AND w.controller AND w.owner_kind = 'JobSet'
WHERE o.api_group = 'batch' AND o.kind = 'Job'
    AND (w.object_id IS NOT NULL OR contains(o.json::VARCHAR, 'jobset.sigs.k8s.io/jobset-name'))
ORDER BY o.object_id
"""


def of(con: duckdb.DuckDBPyConnection, sets: Mapping[tuple[str, str], JobSet]) -> dict[int, list[Child]]:
    """The Jobs of each JobSet, by the owner that they name, else by their label.

    Args:
        con: the database.
        sets: the JobSets by namespace and name.
    """
    found: dict[int, list[Child]] = {}
    by_id = {one.object_id: one for one in sets.values()}
    for object_id, namespace, name, created, deleted, labels, status, suspend, owner_id, owner in con.execute(_JOBS).fetchall():
        marks = mapping(orjson.loads(labels)) if labels else {}
        called = text(marks.get(f"{LABEL}jobset-name")) or text(owner) or ""
        one = by_id.get(owner_id) or sets.get((namespace, called))
        if one is None:
            continue
        told = mapping(orjson.loads(status)) if status else {}
        known = conditions(told)
        attempt = _whole(marks.get(f"{LABEL}restart-attempt"))
        state, why = _state(known, told, deleted=deleted is not None, suspend=suspend == "true")
        found.setdefault(one.object_id, []).append(
            Child(
                object_id,
                one.object_id,
                name,
                text(marks.get(f"{LABEL}replicatedjob-name")),
                _whole(marks.get(f"{LABEL}job-index")),
                attempt,
                attempt is not None and attempt < one.restarts,
                state,
                why,
                created,
                {key: max(0, number(told.get(key)) or 0) for key in ("active", "ready", "succeeded", "failed")},
            )
        )
    return found


def _state(
    known: Mapping[str, Condition], status: Mapping[str, Any], *, deleted: bool, suspend: bool
) -> tuple[str, Condition | None]:
    for kind in ("Failed", "Complete"):
        if kind in known and known[kind].status == "True":
            return kind, known[kind]
    if deleted:
        return "Deleting", None
    if "Suspended" in known and known["Suspended"].status == "True":
        return "Suspended", known["Suspended"]
    if suspend:
        return "Suspended", None
    return ("Running" if number(status.get("active")) else "Pending"), None


def _whole(value: Any) -> int | None:
    """A label that is a number."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else None


def row(job: Child) -> dict[str, Any]:
    """The row of `jobset_jobs`."""
    return {
        "object_id": job.object_id,
        "jobset_id": job.jobset_id,
        "group_name": job.group,
        "job_index": job.index,
        "attempt": job.attempt,
        "old": job.old,
        "state": job.state,
        "reason": job.condition.reason if job.condition else None,
        "message": job.condition.message if job.condition else None,
        "path": job.condition.path if job.condition else None,
        "since": job.condition.since if job.condition else None,
        "created_at": job.created_at,
        **job.counts,
    }
