"""Gangs of pods: PodGroups of Volcano and KAI Scheduler, and the sets, cliques and gangs of Grove, with their pods counted.

Sources: the API types and controllers of Volcano, KAI Scheduler and Grove. A pod names its gang by annotation (Volcano,
KAI Scheduler) or label (Grove); pods of cliques and sets are found along their owners.
"""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.told import Condition
from analyzer.facts.values import Stored, mapping, mappings, moment, number, stored, text

VOLCANO, KAI, GROVE, GROVE_GANG = "scheduling.volcano.sh", "scheduling.run.ai", "grove.io", "scheduler.grove.io"
PROJECTS = {VOLCANO: "Volcano", KAI: "KAI Scheduler", GROVE: "Grove", GROVE_GANG: "Grove"}
_KINDS = [
    (VOLCANO, "PodGroup"),
    (KAI, "PodGroup"),
    *((GROVE, kind) for kind in ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique")),
    (GROVE_GANG, "PodGang"),
]
GROUPS = tuple(dict.fromkeys(group for group, _ in _KINDS))
MAX_PARTS = 1_000
"""Groups of one PodGang whose pods are added up, and conditions of one PodGroup that are read."""
_OVER = ("Running", "Completed", "Succeeded", "Finished")

# A gang waits as a whole; its pods name it. A pod that fails shows in its gang.
_NAMED = """
INSERT INTO relations
SELECT g.object_id, p.object_id, 'gang'
FROM gangs g JOIN (
    SELECT object_id, namespace, json_extract_string(json, $path) AS gang
    FROM objects WHERE api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, $word)
) p ON p.namespace = g.namespace AND p.gang = g.name
WHERE g.api_group = $group AND g.kind = $kind
"""
_NAMES = (
    (VOLCANO, "PodGroup", "annotations", "scheduling.k8s.io/group-name"),
    (KAI, "PodGroup", "annotations", "pod-group-name"),
    (GROVE_GANG, "PodGang", "labels", "grove.io/podgang"),
)
_MEMBERS = """
INSERT INTO relations
SELECT r.dst, r.src, 'member' FROM relations r JOIN gangs g ON g.object_id = r.src JOIN pods p ON p.object_id = r.dst
WHERE r.kind = 'gang' AND g.kind = 'PodGang' AND p.state <> 'Gated'
"""

# Beyond what is needed at least, gangs wait for their base gang.
_BASES = """
INSERT INTO relations
SELECT b.object_id, g.object_id, 'gang'
FROM gangs g JOIN objects o USING (object_id)
JOIN gangs b ON b.kind = 'PodGang' AND b.namespace = g.namespace
    AND b.name = json_extract_string(o.json, '$.metadata.labels."grove.io/base-podgang"')
WHERE g.kind = 'PodGang'
"""

_COUNTED = """
WITH RECURSIVE below(gang_id, object_id, depth) AS (
    SELECT object_id, object_id, 0 FROM gangs WHERE api_group = 'grove.io'
    UNION
    SELECT b.gang_id, w.object_id, b.depth + 1 FROM below b JOIN owners w ON w.owner_id = b.object_id AND w.controller
    WHERE b.depth < 4
), mine AS (
    SELECT gang_id, object_id FROM below
    UNION
    SELECT r.src, r.dst FROM relations r JOIN gangs g ON g.object_id = r.src WHERE r.kind = 'gang'
), counted AS (
    SELECT m.gang_id, count(*) AS pods, count(*) FILTER (p.ready) AS ready,
        count(*) FILTER (p.phase = 'Pending' AND coalesce(p.node, '') = '') AS waiting,
        count(*) FILTER (p.state = 'Gated') AS gated,
        count(*) FILTER (p.phase = 'Running') AS running, count(*) FILTER (p.phase IN ('Succeeded', 'Failed')) AS over
    FROM mine m JOIN pods p USING (object_id) WHERE p.deleted_at IS NULL GROUP BY m.gang_id
)
UPDATE gangs SET pods = c.pods, pods_ready = c.ready, pods_waiting = c.waiting, pods_gated = c.gated,
    state = coalesce(gangs.state, CASE
        WHEN c.waiting > 0 AND gangs.message_path IS NOT NULL THEN 'Unschedulable' WHEN c.waiting > 0 THEN 'Pending'
        WHEN c.over = c.pods THEN 'Finished' WHEN c.running > 0 THEN 'Running' ELSE 'Scheduled' END)
FROM counted c WHERE gangs.object_id = c.gang_id
"""

# What KAI Scheduler said of a group may stay when its pods have their nodes.
_STALE = """
UPDATE gangs SET reason = NULL, message = NULL, message_path = NULL, since = NULL
WHERE api_group = 'scheduling.run.ai' AND state <> 'Deleting' AND pods_waiting = 0 AND pods >= coalesce(members, 1)
"""

_PARENTS = """
UPDATE gangs SET parent = w.owner_kind || ' ' || w.owner_name, parent_id = w.owner_id
FROM owners w WHERE w.object_id = gangs.object_id AND w.controller
"""

# KAI Scheduler writes no phase: a group is told by what the scheduler says of it, else by its pods.
_STATES = """
INSERT INTO states
SELECT object_id, api_group, kind, namespace, name, state, reason, message, since FROM gangs g
WHERE NOT EXISTS (SELECT 1 FROM states s WHERE s.object_id = g.object_id) ORDER BY object_id
"""
_UNCOUNTED = """
UPDATE gangs SET state = CASE WHEN message_path IS NULL THEN 'Pending' ELSE 'Unschedulable' END WHERE state IS NULL
"""
_OF_GROVE = """
UPDATE gangs SET state = s.state, reason = s.reason, message = s.message, since = s.since
FROM states s WHERE s.object_id = gangs.object_id AND gangs.api_group IN ('grove.io', 'scheduler.grove.io')
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gangs`, rows of `states` for PodGroups, and `gang` and `member` edges. Needs `states` of Grove, `owners`, `pods`."""
    if not insert_rows(con, "gangs", (_row(item) for item in stored(con, _KINDS))):
        return
    con.execute(_OF_GROVE)
    here = {row[0] for row in con.execute("SELECT DISTINCT api_group FROM gangs").fetchall()}
    for group, kind, part, key in _NAMES:
        if group not in here:
            continue
        con.execute(_NAMED, {"path": f'$.metadata.{part}."{key}"', "word": f'"{key}"', "group": group, "kind": kind})
    con.execute(_MEMBERS)
    con.execute(_PARENTS)
    con.execute(_COUNTED)
    con.execute(_BASES)
    con.execute(_STALE)
    con.execute(_UNCOUNTED)
    con.execute(_STATES)


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    phase = text(status.get("phase"))
    said: Condition | None = None
    if item.group == VOLCANO:
        said = None if phase in _OVER else _last(status, "conditions", "Unschedulable")
        phase = phase or "Pending"
    elif item.group == KAI:
        said = None if phase in _OVER else _last(status, "schedulingConditions", "UnschedulableOnNodePool")
    if item.group == GROVE:
        members = number(spec.get("minAvailable")) if item.kind == "PodClique" else None
        phase = _available(spec, status)
    elif item.group == GROVE_GANG:
        members = sum(max(0, number(one.get("minReplicas")) or 0) for one in mappings(spec.get("podgroups"))[:MAX_PARTS])
    else:
        members = number(spec.get("minMember"))
    errors = mappings(status.get("lastErrors"))
    error = errors[0] if errors else {}
    return {
        "object_id": item.object_id,
        "input": item.input,
        "api_group": item.group,
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "project": PROJECTS[item.group],
        "queue": text(spec.get("queue")) or ("default" if item.group == VOLCANO else None),
        "state": "Deleting" if item.deleted_at else phase[:100] if phase else None,
        "reason": said.reason if said else None,
        "message": said.message if said else None,
        "message_path": said.words_path if said else None,
        "since": item.deleted_at or (said.since if said else None),
        "members": members,
        "error": text(error.get("description")),
        "error_at": moment(error.get("observedAt")),
    }


def _available(spec: dict[str, Any], status: dict[str, Any]) -> str | None:
    """The state of a set of Grove by its numbers, for where no condition tells it; None where there are none either."""
    wanted = number(spec.get("replicas"))
    wanted = 1 if wanted is None else wanted
    there = number(status.get("availableReplicas"))
    there = number(status.get("readyReplicas")) if there is None else there
    if wanted == 0:
        return "Scaled to zero"
    return None if there is None else "Available" if there >= wanted else "Not available"


def _last(status: dict[str, Any], key: str, kind: str) -> Condition | None:
    """The last condition of that type that holds; KAI Scheduler has one a node pool, and may give its reasons as a list."""
    found: Condition | None = None
    for index, one in enumerate(mappings(status.get(key))[:MAX_PARTS]):
        if one.get("type") != kind or one.get("status", "True") != "True":
            continue
        place = f"status.{key}[{index}]"
        reasons = mappings(one.get("reasons"))
        first = reasons[0] if reasons else {}
        if text(first.get("reason")) or text(first.get("message")):
            place += ".reasons[0]"
        else:
            first = one
        found = Condition(
            kind, "True", text(first.get("reason")), text(first.get("message")), moment(one.get("lastTransitionTime")), place
        )
    return found
