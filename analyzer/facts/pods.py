"""Pods and their containers, with the state of every Pod."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.containers import Logs, OwnLogs, PodFacts, containers
from analyzer.facts.holdups import PodEvent, holdups, pod_events
from analyzer.facts.pod_states import Condition, Pod, is_ready, state_of
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, moment, stored, strings, text

_PAGE = 2_000
_INT32 = 2**31 - 1
_MIRROR = "kubernetes.io/config.mirror"

# A Job makes a new pod for each one that fails, until it succeeds or gives up: only the last failure counts. A pod of an
# Indexed Job is made good only by one of the same index; pods that were made side by side do not replace each other.
_REPLACED = """
UPDATE pods SET made_good = found.good, replaced = found.good OR found.newer FROM (
    WITH work AS (
        SELECT p.object_id, p.namespace, p.phase, p.created_at, p.since, o.owner_id, o.owner_uid, o.owner_name,
            coalesce(
                json_extract_string(b.json, '$.metadata.annotations."batch.kubernetes.io/job-completion-index"'),
                json_extract_string(b.json, '$.metadata.labels."batch.kubernetes.io/job-completion-index"')
            ) AS part
        FROM pods AS p
        JOIN owners AS o ON o.object_id = p.object_id AND o.controller AND o.owner_kind = 'Job'
        JOIN objects AS b ON b.object_id = p.object_id
    ), last AS (
        SELECT owner_uid, owner_name, namespace, part,
            max(created_at) AS made_at, max(created_at) FILTER (phase <> 'Failed') AS alive_at
        FROM work GROUP BY ALL
    )
    SELECT w.object_id,
        coalesce(l.made_at > w.created_at AND l.made_at >= coalesce(w.since, w.created_at), false) AS newer,
        coalesce(l.alive_at > w.created_at AND l.alive_at >= coalesce(w.since, w.created_at), false)
        OR EXISTS (SELECT 1 FROM conditions AS c WHERE c.object_id = w.owner_id AND c.type = 'Complete' AND c.status = 'True')
        OR (w.part IS NULL AND (
            coalesce(try_cast(json_extract_string(j.json, '$.status.succeeded') AS BIGINT), 0) > 0
            OR coalesce(try_cast(json_extract_string(j.json, '$.status.active') AS BIGINT), 0) > 0
        )) AS good
    FROM work AS w
    JOIN last AS l ON l.owner_uid = w.owner_uid AND l.owner_name = w.owner_name AND l.namespace = w.namespace
        AND l.part IS NOT DISTINCT FROM w.part
    LEFT JOIN objects AS j ON j.object_id = w.owner_id
    WHERE w.phase = 'Failed'
) AS found WHERE found.object_id = pods.object_id
"""


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known beside the Pods themselves."""

    as_of: dict[int, datetime | None]
    logs: Logs
    events: dict[int, list[PodEvent]]
    owners: dict[int, tuple[int | None, str, str, str]]


@dataclass(slots=True)
class _Rows:
    pods: list[dict[str, Any]]
    containers: list[dict[str, Any]]
    states: list[dict[str, Any]]
    holdups: list[dict[str, Any]]


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `pods`, `containers`, `pod_holdups` and the Pods' rows of `states`.

    `inputs.as_of`, `events`, `top_owners` and `logs` are filled before. A Pod without status (a manifest) has no row.
    """
    around = _Around(_as_of(con), _logs(con), pod_events(con), _owners(con))
    for rows in _batches(con, around):
        insert_rows(con, "pods", rows.pods)
        insert_rows(con, "containers", rows.containers)
        insert_rows(con, "states", rows.states)
        insert_rows(con, "pod_holdups", rows.holdups)
    con.execute(_REPLACED)


def _batches(con: duckdb.DuckDBPyConnection, around: _Around) -> Iterator[_Rows]:
    rows = _Rows([], [], [], [])
    for item in stored(con, [("", "Pod")]):
        _add(rows, item, around)
        if len(rows.pods) >= _PAGE:
            yield rows
            rows = _Rows([], [], [], [])
    yield rows


def _as_of(con: duckdb.DuckDBPyConnection) -> dict[int, datetime | None]:
    return dict(con.execute("SELECT input, as_of FROM inputs").fetchall())


def _owners(con: duckdb.DuckDBPyConnection) -> dict[int, tuple[int | None, str, str, str]]:
    query = "SELECT object_id, owner_id, owner_group, owner_kind, owner_name FROM top_owners SEMI JOIN objects USING (object_id)"
    return {row[0]: row[1:] for row in con.execute(query).fetchall()}


def _logs(con: duckdb.DuckDBPyConnection) -> Logs:
    """For each container its current, its previous and its rotated logs; of several the longest of the newest input.

    A log of an input in which the pod was not seen is that of an earlier pod of the same name.
    """
    query = r"""
        WITH seen AS (
            SELECT DISTINCT o.namespace, o.name AS pod, f.input
            FROM objects o JOIN sources s USING (object_id) JOIN files f ON f.file_id = s.file_id
            WHERE o.api_group = '' AND o.kind = 'Pod'
        ), its AS (
            -- kubelet puts the log of run N away as N.log.YYYYMMDD-HHMMSS, and may compress it.
            SELECT l.*, try_cast(regexp_extract(f.path, '(?:^|/)([0-9]{1,9})\.log[^/]*$', 1) AS INTEGER) AS run,
                regexp_extract(f.path, '[0-9]{8}-[0-9]{6}') AS put_away,
                (coalesce(i.collected_at, TIMESTAMP '1970-01-01'), i.input, l.bytes) AS rank
            FROM logs l JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input
            WHERE l.pod <> '' AND l.source IN ('current', 'previous', 'rotated') AND l.bytes > 0
                AND EXISTS (SELECT 1 FROM seen s WHERE s.namespace = l.namespace AND s.pod = l.pod AND s.input = f.input)
        )
        SELECT namespace, pod, container, arg_max(log_id, rank) FILTER (source = 'current'),
            arg_max(log_id, rank) FILTER (source = 'previous'),
            list((run, log_id) ORDER BY put_away, rank, log_id) FILTER (source = 'rotated' AND run IS NOT NULL)
        FROM its GROUP BY ALL
    """
    return {(row[0], row[1], row[2]): OwnLogs(row[3], row[4], dict(row[5] or ())) for row in con.execute(query).fetchall()}


def _conditions(status: dict[str, Any]) -> dict[str, Condition]:
    found = {}
    for item in mappings(status.get("conditions")):
        if name := text(item.get("type")):
            status_, reason, message, since = (item.get(key) for key in ("status", "reason", "message", "lastTransitionTime"))
            found[name] = Condition(text(status_), text(reason), text(message), moment(since))
    return found


def _add(rows: _Rows, item: Stored, around: _Around) -> None:
    """Adds the rows of one Pod."""
    metadata, spec, status = (mapping(item.value.get(key)) for key in ("metadata", "spec", "status"))
    phase = text(status.get("phase"))
    if phase is None:
        return
    conditions = _conditions(status)
    as_of = around.as_of.get(item.input)
    initialized = conditions["Initialized"].status == "True" if "Initialized" in conditions else None
    events = tuple(around.events.get(item.object_id, ()))
    facts = PodFacts(item.object_id, item.namespace, item.name, as_of, initialized, events)
    its_containers = containers(facts, spec, status, around.logs)
    node = text(spec.get("nodeName")) or ""
    held = []
    if node and phase in {"Pending", "Running"} and item.deleted_at is None and _waits(its_containers):
        prepared = conditions.get("PodReadyToStartContainers")
        ready_at = (prepared.since or datetime.max) if prepared and prepared.status == "True" else None  # noqa: DTZ901 - naive UTC
        held = holdups(item.object_id, spec, events, ready_at)
    scheduling = [event.message for event in events if event.reason == "FailedScheduling"]
    pod = Pod(
        node=node,
        phase=phase,
        reason=text(status.get("reason")),
        message=text(status.get("message")),
        started_at=moment(status.get("startTime")),
        created_at=item.created_at,
        deleted_at=item.deleted_at,
        as_of=as_of,
        gates=[name for gate in mappings(spec.get("schedulingGates")) if (name := text(gate.get("name")))],
        conditions=conditions,
        containers=its_containers,
        config_holdup=next((row["message"] for row in held if row["what"] == "config"), None),
        scheduling_event=scheduling[-1] if scheduling and not node else None,
    )
    state = state_of(pod)
    rows.containers += its_containers
    rows.holdups += held
    rows.pods.append(_pod_row(item, metadata, spec, pod, around) | _state_columns(state))
    rows.states.append(
        {"object_id": item.object_id, "api_group": "", "kind": "Pod", "namespace": item.namespace, "name": item.name}
        | _state_columns(state)
    )


def _waits(rows: list[dict[str, Any]]) -> bool:
    """Whether no container has started and none has got as far as its image or its command."""
    early = {None, "ContainerCreating", "PodInitializing"}
    return all(row["state"] in {"waiting", "none"} and row["reason"] in early for row in rows if row["type"] != "ephemeral")


def _state_columns(state: Any) -> dict[str, Any]:
    return {"state": state.state, "reason": state.reason, "message": state.message, "since": state.since}


def _pod_row(item: Stored, metadata: dict[str, Any], spec: dict[str, Any], pod: Pod, around: _Around) -> dict[str, Any]:
    owner_id, owner_group, owner_kind, owner_name = around.owners.get(item.object_id, (None, "", "", ""))
    scheduled, initialized = pod.condition("PodScheduled"), pod.condition("Initialized")
    claims = spec.get("resourceClaims")
    return {
        "object_id": item.object_id,
        "input": item.input,
        "namespace": item.namespace,
        "name": item.name,
        "uid": item.uid,
        "node": pod.node,
        "phase": pod.phase,
        "ready": is_ready(pod),
        "ready_since": pod.condition("Ready").since,
        "restarts": min(sum(row["restarts"] for row in pod.containers if row["type"] != "ephemeral"), _INT32),
        "created_at": item.created_at,
        "deleted_at": item.deleted_at,
        "scheduler": text(spec.get("schedulerName")) or "default-scheduler",
        "restart_policy": text(spec.get("restartPolicy")) or "Always",
        "scheduled_reason": scheduled.reason if scheduled.status == "False" else None,
        "initialized": initialized.status == "True",
        "started_at": pod.started_at,
        "claims": isinstance(claims, list) and bool(claims),
        "owner_id": owner_id,
        "owner_group": owner_group,
        "owner_kind": owner_kind,
        "owner_name": owner_name,
        "owner_key": f"{owner_kind} {item.namespace}/{owner_name}" if owner_kind else None,
        "made_good": False,
        "replaced": False,
        "finalizers": strings(metadata.get("finalizers")),
        "gates": list(pod.gates),
        "mirror": _MIRROR in mapping(metadata.get("annotations")),
    }
