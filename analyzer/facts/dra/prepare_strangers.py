"""Devices that could not be prepared for pods that the bundle does not have, as the logs of kubelets and drivers' plugins tell.

A log reaches further than the namespaces that were collected. Of such a pod it cannot be told what became of it, so only what was
said lately counts. A pod that is not there though its namespace was listed whole is gone; that its devices could not be prepared
again and again still tells of the node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.dra import prepare_logs, prepares
from analyzer.facts.gpu import xid_lines
from analyzer.facts.gpu.log_hosts import Where, hosts_of
from analyzer.facts.gpu.stack_words import near_end, told_lately
from analyzer.facts.rows import insert_rows
from analyzer.facts.whole import Whole

AGAIN = 2
"""So often it has to be said of a pod that is gone: a pod that is deleted while it starts makes one such line, too."""

_ENDS = """
SELECT l.log_id, l.first_line + l.lines - 1, i.as_of FROM logs l JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input
WHERE l.log_id IN (SELECT log_id FROM log_hit_counts WHERE signature = 'dra/prepare-failed')
"""
_CLAIMS = """
SELECT c.input, c.namespace || '/' || c.name, c.object_id,
    coalesce((SELECT list(c.namespace || '/' || u.name ORDER BY u.idx) FROM claim_users u
        WHERE u.object_id = c.object_id AND u.resource = 'pods'), []),
    EXISTS (SELECT 1 FROM pod_claims n WHERE n.claim_id = c.object_id)
FROM claims c
"""


@dataclass(slots=True)
class _Known:
    """What the bundle has: pods by name, and claims by name with their object, the pods they are for, and whether one is here."""

    pods: set[tuple[int, str]]
    claims: dict[tuple[int, str], tuple[int, list[str], bool]]
    whole: Whole


@dataclass(slots=True)
class _Stranger:
    """What is known of one pod, or of a claim the pod of which no line names; `gone`: it would be here if it were still there."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    gone: bool = False


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds rows without a pod of the bundle to `device_prepares`; needs `coverage`, `pods`, `nodes`, `claims` and `log_hits`."""
    hits = con.execute(prepare_logs.HITS).fetchall()
    if not hits:
        return
    known = _Known(
        set(con.execute("SELECT input, namespace || '/' || name FROM pods").fetchall()),
        {(number, name): (object_id, pods, here) for number, name, object_id, pods, here in con.execute(_CLAIMS).fetchall()},
        Whole.read(con),
    )
    hosts = hosts_of(con)
    ends = {log_id: (end, as_of) for log_id, end, as_of in con.execute(_ENDS).fetchall()}
    found: dict[tuple[int, str | None, str], _Stranger] = defaultdict(_Stranger)
    pods_of: dict[tuple[int, str], str] = {}
    lately: list[tuple[int, Where, str | None, list[str], dict[str, Any]]] = []
    for log_id, line, told_at, text, around, _, number, _ in hits:
        end, as_of = ends[log_id]
        front = xid_lines.front(text, around)
        at = told_at or front.at
        pod, claims = prepare_logs.named(text)
        if (
            prepare_logs.takes_back(text)
            or not told_lately(at, front.stamp, as_of, last=near_end(line, end))
            or not _strange(known, number, pod, claims)
        ):
            continue
        said = prepares.told(text) | {"message": text, "log_id": log_id, "line": line, "last_at": at}
        lately.append((number, hosts.where(log_id, front.host), pod, claims, said))
        if pod:
            pods_of.update({(number, claim): pod for claim in claims})
    for number, where, named, claims, said in lately:
        pod = (
            named
            or next((pods_of[number, claim] for claim in claims if (number, claim) in pods_of), None)
            or _user(known, number, claims)
        )
        one = found[number, where.node or where.host, f"pod {pod}" if pod else f"claim {claims[0]}"]
        one.lines.append(said | {"input": number, "node": where.node or where.host, "node_id": where.node_id})
        one.claims.update(claims)
        one.gone = known.whole.has("", "Pod", (pod or claims[0]).partition("/")[0])
    insert_rows(con, "device_prepares", _rows(found, known))


def _strange(known: _Known, number: int, pod: str | None, claims: list[str]) -> bool:
    """Whether a line speaks of a pod that is not in the bundle."""
    if pod:
        return (number, pod) not in known.pods
    for claim in claims:
        _, pods, here = known.claims.get((number, claim), (None, [], False))
        if here or any((number, name) in known.pods for name in pods):
            return False
    return bool(claims)


def _user(known: _Known, number: int, claims: list[str]) -> str | None:
    """The pod that a claim of the bundle is reserved for, where it is one only."""
    users = {name for claim in claims for name in known.claims.get((number, claim), (None, [], False))[1]}
    return users.pop() if len(users) == 1 else None


def _rows(found: dict[tuple[int, str | None, str], _Stranger], known: _Known) -> Iterator[dict[str, Any]]:
    for (number, _, stranger), one in found.items():
        if one.gone and len(one.lines) < AGAIN:
            continue
        best = max(one.lines, key=_rank)
        times = [said["last_at"] for said in one.lines if said["last_at"]]
        claims = sorted(one.claims)
        ids = [known.claims[number, claim][0] for claim in claims if (number, claim) in known.claims]
        yield best | {
            "stranger": stranger,
            "stranger_claims": claims,
            "gone": one.gone,
            "claim_id": ids[0] if len(ids) == 1 and len(claims) == 1 else None,
            "times": len(one.lines),
            "first_at": min(times, default=None),
            "last_at": max(times, default=None),
        }


def _rank(said: dict[str, Any]) -> tuple[bool, datetime, int]:
    return (said["cause"] not in ("other", "driver"), said["last_at"] or datetime.min, said["line"])  # noqa: DTZ901 - naive UTC
