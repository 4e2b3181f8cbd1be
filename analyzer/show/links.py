"""What an object is linked to, in words: the relations of the bundle, both ways.

A relation says that trouble in `src` shows in `dst`. `WORDS` has for each kind of relation what the source says of the other
and what the other says of the source; a domain that adds a kind of relation adds a line. A kind without words is still told.
"""

from __future__ import annotations

from typing import Any, Final

import duckdb

from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Section
from analyzer.show.subject import Subject, rows

SHOWN = 10
"""Most objects that are named for one kind of relation; the rest is counted."""

WORDS: Final[dict[str, tuple[str, str]]] = {
    "owner": ("", "Owns"),
    "node": ("", "Runs on"),
    "taint": ("Keeps out", "Kept out by"),
    "claim": ("Claim of", "Claim"),
    "slice": ("Publishes devices in", "Published for"),
    "device": ("Devices held by", "Holds devices of"),
    "mig-manager": ("Keeps the MIG manager from", "MIG manager kept away by"),
    "plugin-config": ("Names the configuration of", "Takes its configuration from"),
    "validation": ("Keeps the driver's upgrade from ending on", "Driver validated by"),
    "mig-client": ("MIG change waits for", "Waited for by the MIG change of"),
    "pvc": ("", "Uses claim"),
    "pv": ("Bound to", "Volume"),
    "service": ("Served by", ""),
    "backend": ("Behind", "Calls"),
    "content": ("Holds back", "Held back by"),
    "discovery": ("Named by", "Names"),
    "component": ("Part of", "Part"),
    "named": ("Named by", "Names"),
    "operator": ("Named by", "Names"),
    "csr": ("Certificate for", "Asked for by"),
    "pool": ("In pool", "In the pool"),
    "csv": ("Original or newer of", "Copy or older of"),
    "subscription": ("Installs", "Installed by"),
    "catalog": ("Serves", "Catalog"),
    "quota": ("Refuses", "Refused by"),
    "webhook": ("Concerns", "Called for it"),
    "drain": ("Keeps from draining", "Kept from draining by"),
    "budget": ("Counted by", "Counts"),
    "gpu": ("Lacks GPUs for", "GPUs lack on"),
    "gpu-user": ("Has faulty GPUs for", "Uses GPUs of"),
    "gpu-words": ("Cannot give GPUs to", "Says what is wrong on"),
    "gpu-chain": ("Waited for by", "Waits for"),
    "gpu-part": ("Keeps from being ready", "Kept from being ready by"),
    "refused": ("Refused", "Refused by"),
    "operand": ("Makes GPUs usable on", "Its GPU components"),
    "queue": ("Queues", "Queued in"),
    "flavor": ("Used by", "Uses"),
    "cohort": ("Shared by", "In cohort"),
    "check": ("Asked by", "Asks"),
    "manager": ("Looks after", "Looked after by"),
    "workload": ("Starts", "Started through"),
    "member": ("Counted by", "Counts"),
    "gang-queue": ("Passes over", "Passed over with"),
    "picker": ("Picks pods for", "Endpoint picker"),
    "node-pool": ("Makes", "Made for"),
    "node-claim": ("Launched by", "Its node"),
    "nominated": ("Meant for", "Meant to run on"),
    "route": ("Sends requests to", "Reached by route"),
    "nic": ("Waited for by", "Waits for"),
    "nic-upgrade": ("Failed upgrade of", "Upgrade failed on"),
    "queued": ("", ""),
    "part": ("", ""),
    "head": ("Head of", "Head"),
    "ray": ("Used by", "Uses"),
    "gang": ("Schedules together", "In gang"),
    "serving": ("Serves", "Served by"),
    "runtime": ("Runs", "Runtime"),
    "model": ("Loaded by", "Model"),
    "class": ("Picked for", "Accelerator class"),
    "step": ("Used by", "Uses"),
    "loader": ("", ""),
    "order-class": ("Ordered from by", "Class"),
    "order-model": ("Ordered by", "Model"),
    "order-pod": ("", ""),
    "order-growth": ("Could grow by", "Growth of"),
    "served": ("", ""),
    "declared": ("", ""),
    "order": ("", "Made for"),
}
"""Kind of relation → what `src` says of `dst`, what `dst` says of `src`; empty where another section tells it."""

_QUERY = """
SELECT r.kind, r.out, o.api_group, o.kind AS other_kind, o.namespace, o.name, s.state,
    count(*) OVER (PARTITION BY r.kind, r.out) AS total
FROM (
    SELECT DISTINCT kind, true AS out, dst AS other FROM relations WHERE src = $id AND dst <> $id
    UNION ALL SELECT DISTINCT kind, false, src FROM relations WHERE dst = $id AND src <> $id
) r
JOIN objects o ON o.object_id = r.other
LEFT JOIN states s ON s.object_id = o.object_id AND s.kind = o.kind AND s.name = o.name AND s.namespace = o.namespace
QUALIFY row_number() OVER (PARTITION BY r.kind, r.out ORDER BY o.kind, o.namespace, o.name) <= $most
ORDER BY r.out, r.kind, o.kind, o.namespace, o.name
"""


def links(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The objects that it is linked to, with their states."""
    told: dict[str, list[dict[str, Any]]] = {}
    for row in rows(con, _QUERY, id=it.id, most=SHOWN):
        label = _label(row["kind"], out=row["out"])
        if label:
            told.setdefault(label, []).append(row)
    facts = [Fact(label, _named(found, it)) for label, found in told.items()]
    facts += _refers(con, it)
    return Section("Linked to", tuple(facts))


def _label(kind: str, *, out: bool) -> str:
    if kind not in WORDS:
        return f"{words.short(kind, 40)} of" if out else words.short(kind, 40).capitalize()
    return WORDS[kind][0 if out else 1]


def _named(found: list[dict[str, Any]], it: Subject) -> str:
    listed = []
    for row in found:
        name = words.thing(row["api_group"], row["other_kind"], row["namespace"], row["name"], beside=it.namespace)
        listed.append(f"{words.short(name)} ({words.short(row['state'], 60)})" if row["state"] else words.short(name))
    total = sum({(row["kind"], row["out"]): row["total"] for row in found}.values())
    left = total - len(found)
    return ", ".join(listed) + (f" and {report_words.number(left)} more" if left > 0 else "")


_OWNED = """
SELECT o.api_group, o.kind AS other_kind, o.namespace, o.name, NULL AS state, 'owner' AS kind,
    false AS out, count(*) OVER () AS total
FROM owners w JOIN objects o USING (object_id) WHERE w.owner_id = ? AND o.object_id NOT IN (
    SELECT src FROM relations WHERE dst = ? AND kind = 'owner')
ORDER BY o.kind, o.namespace, o.name LIMIT 10
"""


def _refers(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Fact]:
    """What it owns without trouble spreading from there (a Node's mirror pods)."""
    found = list(rows(con, _OWNED, it.id, it.id))
    return [Fact("Owns", _named(found, it))] if found else []
