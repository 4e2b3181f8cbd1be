"""Jobs of any kind that run to an end: state, tries so far, pods, the pod that failed first or else one that cannot start.

Sources of the counters: the API types of batch/v1, Kubeflow's training operator, AppWrapper and Volcano. Of JobSets more is known
in tables of their own, of RayJobs all.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.told import Conditions, conditions
from analyzer.facts.values import flag, mapping, number, text

TRAINING = ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob")
"""Kinds of Kubeflow's training operator."""
_KINDS = (
    ("batch", "Job"),
    ("jobset.x-k8s.io", "JobSet"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("batch.volcano.sh", "Job"),
    ("sparkoperator.k8s.io", "SparkApplication"),
    *(("kubeflow.org", kind) for kind in TRAINING),
)
GROUPS = tuple(dict.fromkeys(group for group, _ in _KINDS))
_RETRY_LIMIT = "workload.codeflare.dev.appwrapper/retryLimit"
_OVER = frozenset({"complete", "completed", "succeeded", "failed", "terminated", "aborted", "deleting"})
_MAX_REPLICA_TYPES = 50

# Of batch/v1 Jobs, those that ended well are left out unless they have a queue: clusters keep tens of thousands of them.
_OBJECTS = """
SELECT o.object_id, o.input, o.api_group, o.kind, o.namespace, o.name, o.created_at, o.deleted_at,
    o.json -> '$.status', o.json -> '$.spec.suspend', o.json -> '$.spec.backoffLimit', o.json -> '$.spec.runPolicy.backoffLimit',
    o.json -> '$.spec.maxRetry', json_extract_string(o.json, '$.metadata.annotations."{retry}"'),
    s.state, s.reason, s.message, s.since, w.owner_id, w.owner_kind, w.owner_name
FROM objects o LEFT JOIN states s USING (object_id) LEFT JOIN owners w ON w.object_id = o.object_id AND w.controller
WHERE ({kinds}) AND (o.api_group <> 'batch' OR o.object_id IN (SELECT object_id FROM kueue_jobs) OR o.object_id NOT IN (
    SELECT object_id FROM conditions WHERE api_group = 'batch' AND type = 'Complete' AND status = 'True'))
QUALIFY row_number() OVER (PARTITION BY o.object_id ORDER BY w.owner_name) = 1
ORDER BY o.object_id
""".format(  # noqa: S608 - constants
    retry=_RETRY_LIMIT, kinds=" OR ".join(f"(o.api_group = '{group}' AND o.kind = '{kind}')" for group, kind in _KINDS)
)

_PODS = """
WITH RECURSIVE below(job_id, object_id, depth) AS (
    SELECT object_id, object_id, 0 FROM job_runs
    UNION
    SELECT b.job_id, w.object_id, b.depth + 1 FROM below b JOIN owners w ON w.owner_id = b.object_id AND w.controller
    WHERE b.depth < 6
), mine AS (
    SELECT DISTINCT b.job_id, p.object_id, p.name, p.phase, p.ready, p.since, p.state, p.reason
    FROM below b JOIN pods p USING (object_id)
), counted AS (
    SELECT job_id, count(*) AS pods, count(*) FILTER (ready) AS pods_ready, count(*) FILTER (phase = 'Failed') AS pods_failed
    FROM mine GROUP BY job_id
), failed AS (
    SELECT m.job_id, m.object_id AS pod_id, m.name AS pod, c.container, c.end_code, coalesce(c.end_words, CASE
        WHEN m.state = 'Failed' THEN m.reason WHEN m.reason <> m.state THEN m.state || ' (' || m.reason || ')' ELSE m.state END
    ) AS words
    FROM mine m
    LEFT JOIN containers c ON c.object_id = m.object_id AND c.type IN ('init', 'main', 'sidecar') AND c.end_code <> 0
    WHERE m.phase = 'Failed' OR c.failing
    QUALIFY row_number() OVER (PARTITION BY m.job_id
        ORDER BY m.phase <> 'Failed', m.since NULLS LAST, m.name, c.type = 'sidecar', c.ended_at NULLS LAST, c.idx) = 1
), stuck AS (
    SELECT m.job_id, m.object_id AS pod_id, m.name AS pod, m.state || coalesce(' (' || m.reason || ')', '') AS words
    FROM mine m
    WHERE m.phase <> 'Failed' AND (m.state IN ('Image pull failing', 'Config missing', 'Init failing', 'Crash looping')
        OR (m.state = 'Pending' AND m.reason = 'Unschedulable'))
    QUALIFY row_number() OVER (PARTITION BY m.job_id ORDER BY m.state = 'Pending', m.since NULLS LAST, m.name) = 1
)
UPDATE job_runs SET pods = c.pods, pods_ready = c.pods_ready, pods_failed = c.pods_failed,
    failed_pod = f.pod, failed_pod_id = f.pod_id, failed_container = f.container, failed_words = f.words,
    failed_code = f.end_code,
    stuck_pod = CASE WHEN f.pod IS NULL THEN s.pod END, stuck_pod_id = CASE WHEN f.pod IS NULL THEN s.pod_id END,
    stuck_words = CASE WHEN f.pod IS NULL THEN s.words END
FROM counted c LEFT JOIN failed f USING (job_id) LEFT JOIN stuck s USING (job_id) WHERE job_runs.object_id = c.job_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `job_runs`. Needs `states`, `conditions`, `owners`, `pods`, `containers`, `kueue_jobs`."""
    if insert_rows(con, "job_runs", _rows(con)):
        con.execute(_PODS)


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for row in con.execute(_OBJECTS).fetchall():
        object_id, origin, group, kind, namespace, name, created, deleted = row[:8]
        status, spec_values = mapping(_read(row[8])), [_read(value) for value in row[9:13]]
        state: str | None
        if group == "batch":
            state, reason, message, since = _batch(conditions(status), status, suspended=flag(spec_values[0]))
        else:
            state, reason, message, since = row[14:18]
            state = state or text(mapping(status.get("applicationState")).get("state"))
        if deleted is not None:
            state, since = "Deleting", deleted
        counted, used, allowed = _tries(group, kind, status, spec_values, row[13])
        yield {
            "object_id": object_id,
            "input": origin,
            "api_group": group,
            "kind": kind,
            "namespace": namespace,
            "name": name,
            "state": state,
            "reason": reason,
            "message": message,
            "since": since or created,
            "over": (state or "").lower() in _OVER,
            "counted": counted,
            "used": used,
            "allowed": allowed,
            "parent_id": row[18],
            "parent": f"{row[19]} {row[20]}" if row[19] else None,
        }


def _batch(
    known: Conditions, status: dict[str, Any], *, suspended: bool | None
) -> tuple[str, str | None, str | None, datetime | None]:
    """The state of a batch/v1 Job, as its controller's conditions tell it."""
    for kind in ("Failed", "Complete"):
        if over := known.true(kind):
            return kind, over.reason, over.message, over.since
    held = known.get("Suspended")
    if suspended or (held is not None and held.is_true):
        return "Suspended", held.reason if held else None, held.message if held else None, held.since if held else None
    return ("Running" if number(status.get("active")) else "Pending"), None, None, None


def _tries(
    group: str, kind: str, status: dict[str, Any], spec: list[Any], limit: str | None
) -> tuple[str | None, int | None, int | None]:
    """What is counted of its tries, how many there were, how many it may have."""
    _, backoff, policy, retries = spec
    if group == "batch":
        return "failed pods", number(status.get("failed")) or 0, number(backoff)
    if group == "kubeflow.org":
        types = [mapping(value) for value in mapping(status.get("replicaStatuses")).values()][:_MAX_REPLICA_TYPES]
        return "failed pods", sum(max(0, number(one.get("failed")) or 0) for one in types), number(policy)
    if kind == "AppWrapper":
        allowed = int(limit) if limit and limit.isascii() and limit.isdigit() and len(limit) < 9 else None
        return "retries", number(status.get("resettingCount")) or 0, allowed
    if group == "batch.volcano.sh":
        return "retries", number(status.get("retryCount")) or 0, number(retries)
    return None, None, None


def _read(held: str | None) -> Any:
    return orjson.loads(held) if held else None
