"""Processes that the kernel ended for want of memory, by its log: of which pod and container they were, where that can be told.

The kernel names the cgroup of the process, in which the kubelet has put the pod's uid and the runtime the container's id.
Where a line names no cgroup, the one container of that node that was ended by SIGKILL just then counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import duckdb
import orjson

from analyzer.facts.gpu.log_hosts import Hosts, hosts_of
from analyzer.facts.gpu.xid_lines import front
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text

NEAR = timedelta(seconds=30)
"""So near to one another are the kernel's time and the container runtime's for one end."""
SAME_LINES = 12
"""The lines about one process stand within so many of each other."""

_HITS = """
SELECT h.log_id, h.line, h.at, h.text, h.before, h.after, h.fields FROM log_hits h
WHERE h.signature = 'pod/kernel-oom' ORDER BY h.log_id, h.line
"""
_PODS = r"""
SELECT p.input, p.object_id, p.uid, o.json->'$.status',
    CASE WHEN p.mirror THEN json_extract_string(o.json, '$.metadata.annotations."kubernetes.io/config.hash"') END
FROM pods p JOIN objects o USING (object_id)
"""
_ENDS = """
SELECT c.object_id, c.container, p.input, p.node, c.ended_at, c.end_reason, c.end_code
FROM containers c JOIN pods p USING (object_id) WHERE c.type <> 'ephemeral'
"""
_UID = re.compile(r"pod([0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12})\b", re.ASCII)
_CONTAINER = re.compile(r"\b([0-9a-f]{64})\b", re.ASCII)
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_KILLED = (137, 9)


@dataclass(frozen=True, slots=True)
class _Kill:
    log_id: int
    line: int
    at: datetime | None
    stamp: str | None
    host: str | None
    text: str
    pid: int
    task: str
    memcg: str | None = None
    scope: str | None = None
    rss: int | None = None


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `oom_kills`; needs `log_hits`, `pods`, `containers` and `nodes`."""
    hits = con.execute(_HITS).fetchall()
    if not hits:
        return
    hosts = hosts_of(con)
    pods = _Pods(con)
    insert_rows(con, "oom_kills", (_row(kill, hosts, pods) for kill in _once(_kills(hits), hosts)))


def _kills(hits: Iterable[tuple[Any, ...]]) -> Iterator[_Kill]:
    """One a process: the lines about it are one."""
    open_kill: _Kill | None = None
    told: tuple[int, int, str] | None = None
    for log_id, line, at, words, before, after, fields in hits:
        said = {name: value for name, value in orjson.loads(fields or "{}").items() if value}
        if "memcg2" in said:
            told = (log_id, line, said["memcg2"])
            continue
        pid = int(said.get("pid") or said["pid2"])
        rss = int(said["rss"]) * 1024 if "rss" in said else None
        scope = "node" if said.get("constraint") == "CONSTRAINT_NONE" or said.get("who") == "Out" else "limit"
        if open_kill and (open_kill.log_id, open_kill.pid) == (log_id, pid) and line - open_kill.line <= SAME_LINES:
            memcg = open_kill.memcg or said.get("memcg")
            open_kill = replace(open_kill, rss=rss or open_kill.rss, memcg=memcg)
            continue
        if open_kill:
            yield open_kill
        front_ = front(words, f"{before or ''}\n{after or ''}")
        old = told[2] if told and told[0] == log_id and 0 <= line - told[1] <= 10 * SAME_LINES else None
        told = None
        open_kill = _Kill(
            log_id,
            line,
            at or front_.at,
            front_.stamp,
            front_.host,
            words,
            pid,
            said.get("task") or said.get("task2") or "",
            said.get("memcg") or old,
            scope,
            rss,
        )
    if open_kill:
        yield open_kill


def _once(kills: Iterable[_Kill], hosts: Hosts) -> Iterator[_Kill]:
    """Without what another log of the same host tells too, as dmesg and the journal do; the one with a time counts."""
    told: dict[tuple[Any, ...], list[_Kill]] = defaultdict(list)
    for kill in kills:
        where = hosts.where(kill.log_id, kill.host)
        host = where.node or where.host or kill.log_id
        told[hosts.input(kill.log_id), host, kill.pid, kill.task, kill.memcg].append(kill)
    for same in told.values():
        log_id = next((kill for kill in same if kill.at), same[0]).log_id
        yield from (kill for kill in same if kill.log_id == log_id)


def _row(kill: _Kill, hosts: Hosts, pods: _Pods) -> dict[str, Any]:
    where = hosts.where(kill.log_id, kill.host)
    number = hosts.input(kill.log_id)
    pod_id, container, how = pods.of(number, kill, where.node)
    return {
        "log_id": kill.log_id,
        "line": kill.line,
        "input": number,
        "at": kill.at,
        "stamp": kill.stamp,
        "text": kill.text,
        "pid": kill.pid,
        "process": kill.task,
        "rss": kill.rss,
        "scope": kill.scope,
        "of_pod": bool(kill.memcg and "kubepods" in kill.memcg) or pod_id is not None,
        "pod_id": pod_id,
        "container": container,
        "how": how,
        "node_id": where.node_id,
        "node": where.node or where.host,
    }


class _Pods:
    """The pods and containers by what a cgroup names."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._by_uid: dict[tuple[int, str], int] = {}
        self._by_container: dict[tuple[int, str], tuple[int, str]] = {}
        self._of_pod: dict[int, list[tuple[str, datetime | None, str | None, int | None]]] = defaultdict(list)
        self._ends: dict[tuple[int, str], list[tuple[datetime, int, str]]] = defaultdict(list)
        for number, object_id, uid, status, mirror in con.execute(_PODS).fetchall():
            for name in (uid, mirror):
                if name:
                    self._by_uid[number, _plain(name)] = object_id
            for container, found in _ids(status):
                self._by_container[number, found] = (object_id, container)
        for object_id, container, number, node, ended_at, reason, code in con.execute(_ENDS).fetchall():
            self._of_pod[object_id].append((container, ended_at, reason, code))
            if node and ended_at and (reason == "OOMKilled" or code in _KILLED):
                self._ends[number, node].append((ended_at, object_id, container))

    def of(self, number: int, kill: _Kill, node: str | None) -> tuple[int | None, str | None, str | None]:
        """Pod, container, and what they were told by."""
        found = _CONTAINER.findall(kill.memcg or "")
        known = next((one for name in reversed(found) if (one := self._by_container.get((number, name)))), None)
        if known:
            return *known, "the kernel names the container's id"
        uid = _UID.search(kill.memcg or "")
        pod_id = self._by_uid.get((number, _plain(uid[1]))) if uid else None
        if pod_id is not None:
            return pod_id, self._ended(pod_id, kill), "the kernel names the pod's uid"
        if kill.memcg is None and kill.at and node:
            near = [(pod, name) for at, pod, name in self._ends[number, node] if abs(at - kill.at) <= NEAR]
            if len(near) == 1:
                return *near[0], "that container of the node was ended by SIGKILL just then"
        return None, None, None

    def _ended(self, pod_id: int, kill: _Kill) -> str | None:
        """The container of a pod that ended just then, else the one that was ended for want of memory, else the only one."""
        ends = self._of_pod[pod_id]
        near = [name for name, at, _, code in ends if at and kill.at and abs(at - kill.at) <= NEAR and code != 0]
        told = [name for name, _, reason, _ in ends if reason == "OOMKilled"]
        return next((found[0] for found in (near, told, [name for name, *_ in ends]) if len(found) == 1), None)


def _plain(uid: str) -> str:
    return uid.replace("-", "").replace("_", "").lower()


def _ids(status: str | None) -> Iterator[tuple[str, str]]:
    """Each container and an id of one of its runs."""
    told = mapping(orjson.loads(status) if status else None)
    for one in (item for kind in _STATUSES for item in mappings(told.get(kind))):
        name = text(one.get("name"))
        runs = (one, *(mapping(mapping(one.get(state)).get("terminated")) for state in ("state", "lastState")))
        for value in (text(run.get("containerID")) for run in runs):
            if name and value:
                yield name, value.rpartition("/")[2]
