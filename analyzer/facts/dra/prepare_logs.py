"""Devices that could not be prepared, as logs tell: of the kubelet, and of the plugins of DRA drivers.

Events live an hour and a bundle may have none; the kubelet repeats in its log what it said in them, with the pod, and the plugin
names the claim. Only pods count that still wait (or end) and of which no event says the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.dra import prepares
from analyzer.facts.gpu import xid_lines
from analyzer.facts.rows import insert_rows

HITS = """
SELECT h.log_id, h.line, h.at, h.text, concat(h.before, chr(10), h.after), n.hits, f.input, coalesce(p.node, '')
FROM log_hits h JOIN log_hit_counts n USING (log_id, signature) JOIN logs l USING (log_id) JOIN files f ON f.file_id = l.file_id
LEFT JOIN pods p ON p.input = f.input AND l.pod <> '' AND p.namespace = l.namespace AND p.name = l.pod
WHERE h.signature = 'dra/prepare-failed' ORDER BY h.log_id, h.line
"""
_PODS = """
SELECT p.input, p.object_id, p.namespace || '/' || p.name, p.uid, p.node, p.deleted_at IS NOT NULL,
    (SELECT max(e.last_at) FROM events e
        WHERE e.about_id = p.object_id AND e.reason IN ('Pulling', 'Pulled', 'Created', 'Started')),
    coalesce((SELECT list(c.namespace || '/' || c.name) FROM pod_claims n JOIN claims c ON c.object_id = n.claim_id
        WHERE n.object_id = p.object_id), [])
FROM pods p
WHERE p.node <> '' AND (p.state = 'Starting' OR p.deleted_at IS NOT NULL)
    AND p.object_id NOT IN (SELECT object_id FROM device_prepares)
    AND (p.deleted_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM conditions c
        WHERE c.object_id = p.object_id AND c.type = 'PodReadyToStartContainers' AND c.status = 'True'))
"""
_POD = re.compile(r'\b(?:pod|object)=\\?"?([a-z0-9.-]{1,253}/[a-z0-9.-]{1,253})', re.ASCII)
_UID = re.compile(r'\bpodUID=\\?"?([0-9a-f-]{36})', re.ASCII)
_CLAIM = re.compile(r"[Cc]laim\W{1,4}([a-z0-9.-]{1,253}/[a-z0-9.-]{1,253})", re.ASCII)
_TAKING_BACK = re.compile(r"(?i)unprepare", re.ASCII)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds to `device_prepares` what only logs tell; needs `pod_claims`, `claims`, `conditions`, `events` and `log_hits`."""
    hits = con.execute(HITS).fetchall()
    if hits:
        insert_rows(con, "device_prepares", _rows(hits, con.execute(_PODS).fetchall()))


def _rows(hits: list[tuple[Any, ...]], pods: list[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One a pod: its newest line, one that tells a cause before one that does not."""
    by_name: dict[tuple[int, str], list[tuple[Any, ...]]] = defaultdict(list)
    for pod in pods:
        number, _, name, uid, *_, claims = pod
        for key in (f"pod {name}", f"uid {uid}", *(f"claim {claim}" for claim in claims)):
            by_name[number, key].append(pod)
    best: dict[int, tuple[tuple[bool, datetime, int], dict[str, Any]]] = {}
    for log_id, line, told_at, text, around, times, number, speaker in hits:
        at = told_at or xid_lines.front(text, around).at
        told = prepares.told(text)
        rank = (told["cause"] not in ("other", "driver"), at or datetime.min, line)  # noqa: DTZ901 - naive UTC, as in the tables
        for _, object_id, _, _, node, ends, started_at, _ in _of(text, number, by_name):
            wrong_node = speaker not in ("", node)
            if ends != takes_back(text) or wrong_node or (at and started_at and started_at >= at):
                continue
            if object_id not in best or rank > best[object_id][0]:
                best[object_id] = (
                    rank,
                    told
                    | {
                        "object_id": object_id,
                        "node": node,
                        "message": text,
                        "times": times,
                        "last_at": at,
                        "log_id": log_id,
                        "line": line,
                    },
                )
    yield from (row for _, row in best.values())


def named(text: str) -> tuple[str | None, list[str]]:
    """The pod and the claims that a line names, as namespace/name."""
    pod = _POD.search(text)
    return pod[1] if pod else None, list(dict.fromkeys(_CLAIM.findall(text)))


def takes_back(text: str) -> bool:
    """Whether a line speaks of devices that are taken back."""
    return bool(_TAKING_BACK.search(text))


def _of(text: str, number: int, pods: Mapping[tuple[int, str], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """The pods that a line speaks of: by uid, else by name, else by the claims that it names."""
    if found := _UID.search(text):
        return pods.get((number, f"uid {found[1]}"), [])
    pod, claims = named(text)
    if pod:
        return pods.get((number, f"pod {pod}"), [])
    return [one for claim in claims for one in pods.get((number, f"claim {claim}"), [])]
