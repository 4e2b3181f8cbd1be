"""LeaderWorkerSets: what they say, beside what their groups of pods say.

Source of fields and labels: the API types and controllers of kubernetes-sigs/lws. A set may say Available while pods of a group
are not ready: the condition follows the leader's StatefulSet.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import duckdb
import orjson

from analyzer.facts.ray.base import RayPod, told
from analyzer.facts.rows import insert_rows
from analyzer.facts.told import conditions
from analyzer.facts.values import Stored, mapping, number, stored, text
from analyzer.facts.whole import Whole

GROUP = "leaderworkerset.x-k8s.io"
_LABEL = "leaderworkerset.sigs.k8s.io/"
MAX_GROUPS = 10_000
"""Groups of one set that are looked at for pods that are missing altogether."""

_PODS = """
SELECT p.object_id, p.namespace, p.name, o.json -> '$.metadata.labels', p.phase, p.ready, p.ready_since, p.state,
    p.reason, p.message, p.since, p.created_at, p.deleted_at
FROM pods p JOIN objects o USING (object_id)
WHERE contains(o.json::VARCHAR, '"leaderworkerset.sigs.k8s.io/name"') ORDER BY p.object_id
"""

_RECREATED = """
SELECT about_id, least(sum(times), 2147483647)::INTEGER, min(first_at), max(last_at) FROM events
WHERE about_kind = 'LeaderWorkerSet' AND reason IN ('RecreateGroup', 'RecreateGroupOnPodRestart') AND about_id IS NOT NULL
GROUP BY about_id
"""

_VALUES = """
SELECT count(DISTINCT json_extract_string(json -> '$.metadata.labels', '$.' || '"' || replace($label, '"', '') || '"'))::INTEGER
FROM objects WHERE api_group = '' AND kind = 'Node' AND deleted_at IS NULL
"""
MAX_LABELS = 100
"""Node labels whose values are counted."""

_Groups = dict[int, list[RayPod]]


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `lws` and `lws_groups`, their rows of `states`, and `part` edges to pods."""
    sets = list(stored(con, [(GROUP, "LeaderWorkerSet")]))
    if not sets:
        return
    pods = _pods(con)
    whole = Whole.read(con)
    again = {row[0]: row[1:] for row in con.execute(_RECREATED).fetchall()}
    domains = _domains(con, sets, known=whole.has("", "Node"))
    rows: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for item in sets:
        mine = pods.get((item.namespace, item.name), {})
        known = bool(mine) or whole.has("", "Pod", item.namespace)
        times, since, last = again.get(item.object_id, (0, None, None))
        anew = {"recreated": times, "recreated_since": since, "recreated_last": last}
        rows.append(_row(item, mine, known=known) | anew | domains.get(item.object_id, {}))
        groups += _group_rows(item.object_id, mine)
        edges += [{"src": item.object_id, "dst": pod.object_id, "kind": "part"} for group in mine.values() for pod in group]
    insert_rows(con, "lws", rows)
    insert_rows(con, "lws_groups", groups)
    insert_rows(con, "relations", edges)
    con.execute(
        "INSERT INTO states SELECT object_id, ?, 'LeaderWorkerSet', namespace, name, state, reason, message, since FROM lws "
        "ORDER BY object_id",
        [GROUP],
    )


def _domains(con: duckdb.DuckDBPyConnection, sets: list[Stored], *, known: bool) -> dict[int, dict[str, Any]]:
    """Of sets whose groups each take one value of a node label for themselves: the label, and how many values there are."""
    found: dict[int, dict[str, Any]] = {}
    counted: dict[str, int] = {}
    for item in sets:
        key = text(mapping(mapping(item.value.get("metadata")).get("annotations")).get(f"{_LABEL}exclusive-topology"))
        if key is None:
            continue
        if known and key not in counted and len(counted) < MAX_LABELS:
            (counted[key],) = con.execute(_VALUES, {"label": key}).fetchone() or (0,)
        found[item.object_id] = {"exclusive": key, "domains": counted.get(key)}
    return found


def _pods(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], _Groups]:
    found: dict[tuple[str, str], _Groups] = {}
    for row in con.execute(_PODS).fetchall():
        object_id, namespace, name, labels, phase, ready, turned, state, reason, message, since, created, deleted = row
        marks = mapping(orjson.loads(labels)) if labels else {}
        owner, index = text(marks.get(f"{_LABEL}name")), text(marks.get(f"{_LABEL}group-index"))
        if owner is None or index is None or not (index.isascii() and index.isdigit() and len(index) < 10):
            continue
        role = "leader" if marks.get(f"{_LABEL}worker-index") == "0" else "worker"
        pod = RayPod(
            object_id, namespace, name, owner, role, index, phase, bool(ready), state, reason, message,
            turned or since or created, created, deleted is not None,
        )  # fmt: skip
        found.setdefault((namespace, owner), {}).setdefault(int(index), []).append(pod)
    return found


def _order(pod: RayPod) -> tuple[bool, datetime, str]:
    return (pod.role != "leader", pod.since or datetime.max, pod.name)  # noqa: DTZ901 - naive as all times of the tables


def _row(item: Stored, groups: _Groups, *, known: bool) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    template = mapping(spec.get("leaderWorkerTemplate"))
    replicas, size = number(spec.get("replicas")), number(template.get("size"))
    wanted = 1 if replicas is None else max(0, replicas)
    size = 1 if size is None else max(1, size)
    said = conditions(status)
    available, updating = said.get("Available"), said.get("UpdateInProgress")
    ready = number(status.get("readyReplicas")) or 0
    if item.deleted_at is not None:
        state, cause = "Deleting", None
    elif wanted == 0:
        state, cause = "Scaled to zero", None
    elif available and available.status == "True":
        state, cause = "Ready", available
    elif updating and updating.status == "True":
        state, cause = "Updating", updating
    elif available is None and status and ready >= wanted:
        state, cause = "Ready", None
    else:
        state, cause = "Not ready", available or said.get("Progressing")
    waiting = sorted((pod for index, pods in groups.items() if index < wanted for pod in pods if not pod.works), key=_order)
    lacking = sum(sum(pod.works for pod in groups.get(index, ())) < size for index in range(min(wanted, MAX_GROUPS)))
    return {
        "object_id": item.object_id,
        "input": item.input,
        "namespace": item.namespace,
        "name": item.name,
        "state": state,
        "reason": cause.reason if cause else None,
        "message": (cause.message or None) if cause else None,
        "message_path": cause.path if cause else None,
        "since": cause.since if cause else item.deleted_at or (item.created_at if state == "Not ready" else None),
        "available": available.status if available else None,
        "wanted": wanted,
        "ready": ready,
        "size": size,
        "short": lacking if known else None,
        "short_since": min((pod.since for pod in waiting if pod.since), default=None),
        "short_words": told(waiting),
        "leader_first": text(spec.get("startupPolicy")) == "LeaderReady",
    }


def _group_rows(object_id: int, groups: _Groups) -> list[dict[str, Any]]:
    rows = []
    for index, pods in sorted(groups.items()):
        waiting = sorted((pod for pod in pods if not pod.works), key=_order)
        first = waiting[0] if waiting else None
        leader = next((pod.words for pod in pods if pod.role == "leader"), None)
        rows.append(
            {
                "object_id": object_id,
                "group_index": index,
                "pods": len(pods),
                "ready": sum(pod.works for pod in pods),
                "leader": leader,
                "why": told(waiting),
                "pod": first.name if first else None,
                "pod_id": first.object_id if first else None,
                "pod_message": first.message if first else None,
                "since": first.since if first else None,
            }
        )
    return rows
