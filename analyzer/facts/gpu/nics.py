"""What the kernel says of RDMA network cards (mlx5) on hosts with GPUs: a card or cable at fault, a link that was up and is down.

Only machines with GPUs count, as far as the bundle tells which these are: a card elsewhere is no matter of GPUs. A port that
never had a link is not in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import duckdb
import orjson

from analyzer.facts.gpu import xid_lines
from analyzer.facts.gpu.log_hosts import Hosts, Where, boots_of

FAULT = "gpu/nic-fault"
"""The signature of a fault. The other one that is read here, gpu/nic-link, tells how links go down and up."""
DOWN = "gpu/nic-down"
"""The meaning of a link that is down."""

_HITS = """
SELECT h.signature, h.log_id, h.line, h.at, h.text, concat(h.before, chr(10), h.after), h.fields, n.hits - n.kept,
    l.first_line + l.lines - 1, i.as_of
FROM log_hits h JOIN log_hit_counts n USING (log_id, signature) JOIN logs l USING (log_id)
JOIN files f ON f.file_id = l.file_id JOIN inputs i ON i.input = f.input
WHERE h.signature IN ('gpu/nic-fault', 'gpu/nic-link') ORDER BY h.log_id, h.line, h.signature
"""
_UP = ("Link up", "Cable plugged")
_Key = tuple[str, int, str, str]
_NODES = "SELECT object_id FROM gpu_nodes"
_DRIVERS = """
SELECT DISTINCT log_id FROM log_hit_counts WHERE starts_with(signature, 'gpu/xid') OR starts_with(signature, 'gpu/sxid')
    OR starts_with(signature, 'gpu/bug-report-d')
"""


class Machines:
    """Which logs are of a machine with GPUs."""

    def __init__(self, con: duckdb.DuckDBPyConnection, hosts: Hosts) -> None:
        """Needs `gpu_nodes` and `log_hit_counts`."""
        self._hosts = hosts
        self._gpu_nodes = {row[0] for row in con.execute(_NODES).fetchall()}
        self._drivers = {row[0] for row in con.execute(_DRIVERS).fetchall()}
        self._listed = {number for number, _ in hosts.nodes}

    def has_gpus(self, log_id: int, node_id: int | None) -> bool:
        """Whether it has, or may have where the bundle has no nodes at all."""
        if node_id is not None:
            return node_id in self._gpu_nodes or log_id in self._drivers
        return log_id in self._drivers or self._hosts.input(log_id) not in self._listed


@dataclass(frozen=True, slots=True)
class Card:
    """A card that is at fault (`FAULT`) or whose link is down (`DOWN`), by the newest line of a log, whose last one is `end`."""

    signature: str
    log_id: int
    line: int
    text: str
    at: datetime | None
    stamp: str | None
    first_at: datetime | None
    times: int
    end: int
    as_of: datetime | None
    where: Where


def found(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> list[Card]:
    """The cards of machines with GPUs that are at fault, or lost a link that they had; needs `log_hits` and `gpu_nodes`."""
    rows = con.execute(_HITS).fetchall()
    if not rows:
        return []
    machines, boots = Machines(con, hosts), boots_of(con)
    last: dict[_Key, Card] = {}
    was_up: set[_Key] = set()
    for signature, log_id, line, told_at, text, around, fields, untold, end, as_of in rows:
        front = xid_lines.front(text, around)
        where = hosts.where(log_id, front.host)
        if boots.of(log_id, line) not in (None, 0) or not machines.has_gpus(log_id, where.node_id):
            continue
        told = orjson.loads(fields or "{}")
        key = (signature, log_id, told.get("device") or "", told.get("port") or "")
        state = told.get("state") or told.get("cable")
        if state in _UP:
            was_up.add(key)
            last.pop(key, None)
        elif signature == FAULT or key in was_up:
            at = told_at or front.at
            before = last.get(key)
            first_at = before.first_at if before else at
            # Lines that are counted and not kept may be of any card.
            kind, times = (FAULT, before.times + 1 if before else 1 + untold) if signature == FAULT else (DOWN, 1)
            last[key] = Card(kind, log_id, line, text, at, front.stamp, first_at, times, end, as_of, where)
    return list(last.values())
