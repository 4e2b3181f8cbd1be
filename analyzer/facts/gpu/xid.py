"""Errors of GPUs and NVSwitches in logs (Xid, SXid), by GPU and boot, with the node and the pods that they hit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb

from analyzer.facts.gpu import bug_reports, smi_health, xid_gpus, xid_pcie, xid_same
from analyzer.facts.gpu.log_hosts import boots_of, hosts_of
from analyzer.facts.gpu.xid_gpus import Group
from analyzer.facts.gpu.xid_lines import pci
from analyzer.facts.gpu.xid_read import Event, read
from analyzer.facts.gpu.xid_slots import Slots
from analyzer.facts.rows import insert_rows

_DEVICES = """
SELECT d.device, n.object_id,
    coalesce(json_extract_string(d.attributes, '$.uuid'), json_extract_string(d.attributes, '$."gpu.nvidia.com/uuid"')),
    coalesce(json_extract_string(d.attributes, '$."resource.kubernetes.io/pciBusID"'),
        json_extract_string(d.attributes, '$.pciBusID'), json_extract_string(d.attributes, '$."gpu.nvidia.com/pciBusID"'))
FROM devices d LEFT JOIN nodes n ON n.input = d.input AND n.name = d.node WHERE d.driver = 'gpu.nvidia.com'
"""

# Pods whose claims hold this very GPU, or a MIG device of it; else those of a process that a line names, where the bundle has a
# list of processes in which it still runs (lsof cuts names to 9 characters).
_HOLDERS = """
CREATE OR REPLACE TEMP TABLE xid_users AS
WITH held AS (
    SELECT g.gpu_id, p.object_id, true AS sure
    FROM xid_gpus g
    JOIN devices d ON d.input = g.input AND d.driver = 'gpu.nvidia.com' AND (d.node = g.node OR g.node IS NULL)
        AND list_contains(list_filter(json_extract_string(d.attributes,
            ['$.uuid', '$.parentUUID', '$."gpu.nvidia.com/uuid"', '$."gpu.nvidia.com/parentUUID"']),
            lambda value: value IS NOT NULL), g.uuid)
    JOIN claim_devices c ON c.driver = d.driver AND c.pool = d.pool AND c.device = d.device AND NOT coalesce(c.admin, false)
    LEFT JOIN claim_users u ON u.object_id = c.object_id
    LEFT JOIN pod_claims n ON n.claim_id = c.object_id AND u.resource <> 'pods'
    JOIN pods p ON p.input = g.input AND ((u.resource = 'pods' AND p.uid = u.uid) OR (p.object_id = n.object_id AND p.node <> ''))
), running AS (
    SELECT g.gpu_id, h.pod_id AS object_id, true AS sure
    FROM xid_gpus g JOIN xid_events e USING (gpu_id)
    JOIN gpu_holders h ON h.input = g.input AND h.node_id = g.node_id AND h.pid = e.pid AND h.pod_id IS NOT NULL
    WHERE g.boot = 0 AND NOT g.switch AND (e.process IS NULL OR starts_with(e.process, left(h.program, 9)))
        AND g.gpu_id NOT IN (SELECT gpu_id FROM held)
), using_some AS (
    SELECT DISTINCT g.gpu_id, p.object_id, false AS sure
    FROM xid_gpus g JOIN pods p ON p.input = g.input AND p.node = g.node AND p.state <> 'Rejected'
    JOIN gpu_requests q ON q.object_id = p.object_id
    WHERE g.node <> ''
)
SELECT DISTINCT * FROM held UNION ALL SELECT DISTINCT * FROM running UNION ALL
SELECT * FROM using_some s WHERE s.gpu_id NOT IN (SELECT gpu_id FROM held UNION ALL SELECT gpu_id FROM running)
"""
_NAMES = """
UPDATE xid_gpus SET pods = u.pods, sure = u.sure FROM (
    SELECT x.gpu_id, list(p.namespace || '/' || p.name ORDER BY p.namespace, p.name) AS pods, bool_and(x.sure) AS sure
    FROM xid_users x JOIN pods p USING (object_id) GROUP BY x.gpu_id
) u WHERE u.gpu_id = xid_gpus.gpu_id
"""
_EDGES = """
INSERT INTO relations SELECT DISTINCT g.node_id, x.object_id, 'gpu-user'
FROM xid_users x JOIN xid_gpus g USING (gpu_id) WHERE g.node_id IS NOT NULL AND g.verdict = 'hardware'
"""
_ANY = "SELECT 1 FROM log_hit_counts WHERE signature LIKE 'gpu/xid%' OR signature LIKE 'gpu/sxid%' LIMIT 1"
_FLOODS = "SELECT DISTINCT log_id FROM log_hit_counts WHERE signature IN ('gpu/xid', 'gpu/sxid') AND hits > kept"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of Xids and of reports, and adds the edges `gpu-user` (Node → Pod that uses its GPUs) to `relations`.

    Needs `log_hits`, `nodes`, `pods`, `gpu_requests` and the tables of Dynamic Resource Allocation.
    """
    hosts = hosts_of(con)
    reports = bug_reports.derive(con, hosts)
    health = smi_health.derive(con, hosts, reports)
    if con.execute(_ANY).fetchone() is None:
        return
    devices = [row for row in con.execute(_DEVICES).fetchall() if row[1] is not None]
    known = {(node_id, address): uuid for _, node_id, uuid, bus in devices if uuid and (address := pci(bus))}
    found = read(con, hosts, boots_of(con), reports, health)
    found = replace(found, events=xid_pcie.settled(found.events, known, found.uuids))
    groups = xid_same.merged(xid_gpus.groups_of(found, hosts, known))
    cleared = reports.cleared()
    groups = [xid_gpus.settled(group, cleared) for group in groups]
    slots = Slots(devices, reports.known, {log_id: hosts.where(log_id, None).node_id for log_id in reports.known}, groups)
    floods = {log_id for (log_id,) in con.execute(_FLOODS).fetchall()}
    jobs = xid_gpus.several_jobs(groups)
    insert_rows(
        con, "xid_gpus", (_row(number, group, floods, jobs) | {"slot": slots.of(group)} for number, group in enumerate(groups))
    )
    insert_rows(con, "xid_events", (row for number, group in enumerate(groups) for row in _events(number, group)))
    for query in (_HOLDERS, _NAMES, _EDGES, "DROP TABLE xid_users"):
        con.execute(query)


def _row(number: int, group: Group, floods: set[int], jobs: set[int]) -> dict[str, Any]:
    lead = group.events[0]
    codes, events = xid_gpus.counts_of(group)
    times = [event.at for event in group.events if event.at]
    verdict, severity = xid_gpus.verdict_of(group)
    alone = number in jobs and verdict == "application"
    return {
        "gpu_id": number,
        "input": group.input,
        "node_id": group.where.node_id,
        "node": group.where.node,
        "host": group.where.host or next((event.where.host for event in group.events if event.where.host), None),
        "how": group.where.how,
        "gpu": xid_gpus.name_of(group),
        "pci": group.pci,
        "uuid": group.uuid,
        "switch": group.switch,
        "boot": group.boot,
        "verdict": verdict,
        "severity": "warning" if alone else severity,
        "code": lead.code,
        "class": lead.meaning.cls,
        "name": lead.meaning.name,
        "action": lead.meaning.action,
        "codes": codes,
        "events": events,
        "least": any(event.log_id in floods for event in group.events),
        "first_at": min(times, default=None),
        "last_at": max(times, default=None),
        "stamp": lead.front.stamp,
        "recovery": xid_gpus.recovery_of(group),
        "programs": sorted({event.words.process for event in group.events if event.words.process}),
        "jobs": alone,
        "log_id": lead.log_id,
        "line": lead.line,
        "text": lead.text,
        "pods": [],
        "sure": False,
    }


def _events(number: int, group: Group) -> Iterator[dict[str, Any]]:
    logs: dict[int, list[Event]] = defaultdict(list)
    for event in group.events:
        logs[event.log_id].append(event)
    for found in logs.values():
        for event in sorted(found, key=lambda one: one.line):
            yield {
                "gpu_id": number,
                "log_id": event.log_id,
                "line": event.line,
                "at": event.at,
                "stamp": event.front.stamp,
                "source": event.source,
                "code": event.code,
                "switch": event.switch,
                "class": event.meaning.cls,
                "name": event.meaning.name,
                "action": event.meaning.action,
                "grade": event.words.grade,
                "recovery": event.words.recovery,
                "part": xid_gpus.part_of(event, group),
                "pid": event.words.pid,
                "process": event.words.process,
                "detail": event.words.detail,
            }
