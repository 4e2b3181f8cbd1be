"""Every device and which claim holds it: Allocated, Free, or Cannot tell.

"Free" is said only where all claims of the cluster and all slices of the pool are in the bundle. Admin access occupies nothing. A
device that shares counters with one that is held (a GPU and its MIG partitions) is held too when what is left does not suffice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb

from analyzer.facts.dra import gpus, shapes
from analyzer.facts.dra.hosts import hosts, pinned
from analyzer.facts.dra.slices import Pool, counter_sets, devices_of, pools
from analyzer.facts.quantity import parse
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text
from analyzer.facts.whole import Whole

NAMED = 5
"""Claims that a message names."""

_HELD = """
SELECT c.input, d.driver, d.pool, d.device, c.namespace || '/' || c.name
FROM claim_devices d JOIN claims c USING (object_id) WHERE d.admin = ?
ORDER BY c.namespace, c.name
"""
_Counters = dict[tuple[str, str], Fraction]
_Holders = dict[tuple[int, str, str, str], list[str]]
_Taints = dict[tuple[str | None, str | None, str | None], list[str]]


@dataclass(frozen=True, slots=True)
class _Known:
    """What the bundle has: why "free" cannot be said (None where it can), all nodes (None where not whole), admin claims, and
    nodes by host name.
    """

    claims: str | None
    nodes: frozenset[tuple[int, str]] | None
    admins: _Holders
    hosts: dict[str, str]


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `devices` and the devices' rows of `states`.

    Needs `claims`, `claim_devices`, `device_taints`, `nodes` and `coverage`.
    """
    held, admins = _holders(con, admin=False), _holders(con, admin=True)
    held_whole = Whole.read(con)
    complete = held_whole.has("resource.k8s.io", "ResourceClaim")
    listed = held_whole.has("resource.k8s.io", "ResourceSlice")
    why = "the bundle does not have all claims of the cluster" if not complete else None
    why = why or ("the bundle does not have all ResourceSlices of the cluster" if not listed else None)
    nodes = None
    if held_whole.has("", "Node"):
        nodes = frozenset(con.execute("SELECT input, name FROM nodes").fetchall())
    taints = _taints(con)
    known = _Known(why, nodes, admins, hosts(con))
    insert_rows(con, "devices", (row for pool in pools(con) for row in _rows(pool, held, known, taints)))
    con.execute(
        "INSERT INTO states "
        "SELECT NULL, 'resource.k8s.io', 'Device', '', name, state, NULL, message, NULL FROM devices ORDER BY name"
    )


def _holders(con: duckdb.DuckDBPyConnection, *, admin: bool) -> _Holders:
    """The claims to which each device is allocated, with admin access or without."""
    held: _Holders = defaultdict(list)
    for number, driver, pool, device, claim in con.execute(_HELD, [admin]).fetchall():
        held[(number, driver, pool, device)].append(claim)
    return held


def _taints(con: duckdb.DuckDBPyConnection) -> _Taints:
    """The taints by driver, pool and device, each of them None where a taint is for all."""
    query = (
        "SELECT driver, pool, device, key || '=' || value || ':' || effect AS words FROM device_taints "
        "WHERE narrowed IS NULL ORDER BY words"
    )
    found: _Taints = defaultdict(list)
    for driver, pool, device, words in con.execute(query).fetchall():
        found[driver, pool, device].append(words)
    return found


def _tainted(taints: _Taints, pool: Pool, name: str | None) -> list[str]:
    """The taints of one device."""
    keys = product((None, pool.driver), (None, pool.name), (None, name))
    return sorted({words for key in keys for words in taints.get(key, ())})


def _rows(pool: Pool, held: _Holders, whole: _Known, taints: _Taints) -> Iterator[dict[str, Any]]:
    unknown = _why(pool, whole)
    left, takers = _left(pool, held)
    sums = _sums(pool)
    seen: set[str] = set()
    for item in pool.slices:
        spec = mapping(item.value.get("spec"))
        for idx, device in enumerate(devices_of(item)):
            name = text(device.get("name"))
            if name is None or name in seen:
                continue
            seen.add(name)
            fields = shapes.device(device)
            claims = held.get((pool.input, pool.driver, pool.name, name), [])
            needs = uses(fields)
            # A counter that is not defined here may be in a slice that lacks: what is left of it is not known.
            short = next((key for key, need in needs.items() if key in sums and left[key] < need), None)
            taken_by = sorted(takers.get(short, ())) if short and not claims else []
            node, place = _place(spec, fields, whole.hosts)
            state, message = _state(claims, taken_by, short, unknown or _nowhere(pool, node, place, whole))
            attributes = shapes.attributes(fields)
            yield {
                "slice_id": item.object_id,
                "input": pool.input,
                "idx": idx,
                "driver": pool.driver,
                "pool": pool.name,
                "device": name,
                "name": f"{pool.driver}/{pool.name}/{name}",
                "state": state,
                "message": message,
                "claims": list(claims),
                "taken_by": taken_by,
                "admin_claims": list(whole.admins.get((pool.input, pool.driver, pool.name, name), [])),
                "node": node,
                "place": place,
                "attributes": attributes,
                "capacity": shapes.capacity(fields),
                "taints": _tainted(taints, pool, name),
                "counters": [f"{key[0]}/{key[1]} {_part(need, sums.get(key))}" for key, need in sorted(needs.items())],
                "shared": fields.get("allowMultipleAllocations") is True,
                "gpu": gpus.part_of(pool.driver, attributes),
            }


def _why(pool: Pool, whole: _Known) -> str | None:
    """Why it cannot be told whether a device of the pool is free."""
    if whole.claims:
        return whole.claims
    if pool.wanted is None:
        return f"pool {pool.name} does not say how many slices it has"
    if not pool.complete:
        return f"pool {pool.name} is incomplete: {len(pool.slices)} of {pool.wanted} slices are there"
    invalid = pool.invalid
    if invalid:
        return f"pool {pool.name} is invalid: {invalid}"
    return None


def _nowhere(pool: Pool, node: str | None, place: str | None, whole: _Known) -> str | None:
    """Why no pod can reach a device: its node is gone, or nothing says where it is (the scheduler passes over such a slice)."""
    if node and whole.nodes is not None and (pool.input, node) not in whole.nodes:
        return f"its node {node} is not in the cluster"
    return None if place else "its slice does not say which nodes it is for"


def _state(claims: list[str], takers: list[str], short: tuple[str, str] | None, why: str | None) -> tuple[str, str | None]:
    if claims:
        more = f" and {len(claims) - NAMED} more" if len(claims) > NAMED else ""
        return "Allocated", f"held by claim {', '.join(claims[:NAMED])}{more}"
    if takers and short:
        return "Allocated", f"what it needs of {short[0]} ({short[1]}) is taken by claim {', '.join(takers[:NAMED])}"
    if why:
        return "Cannot tell", why
    if short:
        return "Cannot tell", f"it needs more of {short[0]} ({short[1]}) than there is"
    return "Free", None


def uses(fields: dict[str, Any]) -> _Counters:
    """What a device consumes of shared counters: (counter set, counter) → amount."""
    found: _Counters = {}
    for use in mappings(fields.get("consumesCounters")):
        for name, counter in mapping(use.get("counters")).items():
            amount = parse(mapping(counter).get("value"))
            if amount is not None:
                found[(text(use.get("counterSet")) or "", name)] = amount
    return found


def _left(pool: Pool, held: _Holders) -> tuple[_Counters, dict[tuple[str, str], set[str]]]:
    """What is left of the pool's shared counters, and which claims have taken of each."""
    left = _sums(pool)
    takers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in pool.slices:
        for device in devices_of(item):
            claims = held.get((pool.input, pool.driver, pool.name, text(device.get("name")) or ""), [])
            if claims:
                for key, amount in uses(shapes.device(device)).items():
                    left[key] = left.get(key, Fraction(0)) - amount
                    takers[key].update(claims)
    return left, takers


def _sums(pool: Pool) -> _Counters:
    """The pool's shared counters as the slices define them."""
    found: _Counters = {}
    for item in pool.slices:
        for one in counter_sets(item):
            for name, counter in mapping(one.get("counters")).items():
                found[(text(one.get("name")) or "", name)] = parse(mapping(counter).get("value")) or Fraction(0)
    return found


def _part(need: Fraction, whole: Fraction | None) -> str:
    """How much of a counter a device takes."""
    return f"{_amount(need)} of {_amount(whole)}" if whole is not None else _amount(need)


def _amount(value: Fraction) -> str:
    """A quantity as people write it: binary units where it is a whole number of them."""
    for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value >= size and value % size == 0:
            return f"{value // size:,}{unit}"
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):g}"


def _place(spec: dict[str, Any], fields: dict[str, Any], known: dict[str, str]) -> tuple[str | None, str | None]:
    """The node of a device, and where it can be reached in words; a slice may leave that to each device."""
    where = fields if spec.get("perDeviceNodeSelection") is True else spec
    node = text(where.get("nodeName")) or pinned(where.get("nodeSelector"), known)
    if node:
        return node, f"node {node}"
    if where.get("allNodes") is True:
        return None, "all nodes"
    return None, shapes.selector_words(where.get("nodeSelector"))
