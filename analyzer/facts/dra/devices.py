"""Every device and which claim holds it: Allocated, Free, or Cannot tell.

"Free" is said only where all claims of the cluster and all slices of the pool are in the bundle. Admin access occupies nothing. A
device that shares counters with one that is held (a GPU and its MIG partitions) is held too when what is left does not suffice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb

from analyzer.facts.dra import shapes
from analyzer.facts.dra.slices import Pool, counter_sets, devices_of, pools
from analyzer.facts.quantity import parse
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text
from analyzer.facts.whole import Whole

NAMED = 5
"""Claims that a message names."""

_HELD = """
SELECT c.input, d.driver, d.pool, d.device, c.namespace || '/' || c.name
FROM claim_devices d JOIN claims c USING (object_id) WHERE NOT d.admin
ORDER BY c.namespace, c.name
"""
_Counters = dict[tuple[str, str], Fraction]
_Holders = dict[tuple[int, str, str, str], list[str]]


@dataclass(frozen=True, slots=True)
class _Known:
    """What the bundle has whole: why "free" cannot be said (None where it can), and all nodes (None where not whole)."""

    claims: str | None
    nodes: frozenset[tuple[int, str]] | None


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `devices` and the devices' rows of `states`.

    Needs `claims`, `claim_devices`, `device_taints`, `nodes` and `coverage`.
    """
    held: _Holders = defaultdict(list)
    for number, driver, pool, device, claim in con.execute(_HELD).fetchall():
        held[(number, driver, pool, device)].append(claim)
    held_whole = Whole.read(con)
    complete = held_whole.has("resource.k8s.io", "ResourceClaim")
    listed = held_whole.has("resource.k8s.io", "ResourceSlice")
    why = "the bundle does not have all claims of the cluster" if not complete else None
    why = why or ("the bundle does not have all ResourceSlices of the cluster" if not listed else None)
    nodes = None
    if held_whole.has("", "Node"):
        nodes = frozenset(con.execute("SELECT input, name FROM nodes").fetchall())
    taints = _taints(con)
    insert_rows(con, "devices", (row for pool in pools(con) for row in _rows(pool, held, _Known(why, nodes), taints)))
    con.execute(
        "INSERT INTO states "
        "SELECT NULL, 'resource.k8s.io', 'Device', '', name, state, NULL, message, NULL FROM devices ORDER BY name"
    )


def _taints(con: duckdb.DuckDBPyConnection) -> list[tuple[str | None, str | None, str | None, str]]:
    query = "SELECT driver, pool, device, key || '=' || value || ':' || effect AS words FROM device_taints ORDER BY words"
    return con.execute(query).fetchall()


def _rows(
    pool: Pool, held: _Holders, whole: _Known, taints: list[tuple[str | None, str | None, str | None, str]]
) -> Iterator[dict[str, Any]]:
    why = _why(pool, whole)
    left, takers = _left(pool, held)
    own = [taint for taint in taints if taint[0] in {None, pool.driver} and taint[1] in {None, pool.name}]
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
            short = next((key for key, need in uses(fields).items() if left.get(key, Fraction(0)) < need), None)
            state, message = _state(claims, sorted(takers.get(short, ())) if short else [], short, why)
            node, place = _place(spec, fields)
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
                "node": node,
                "place": place,
                "attributes": shapes.attributes(fields),
                "capacity": shapes.capacity(fields),
                "taints": sorted({taint[3] for taint in own if taint[2] in {None, name}}),
                "shared": fields.get("allowMultipleAllocations") is True,
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
    if pool.node and whole.nodes is not None and (pool.input, pool.node) not in whole.nodes:
        return f"its node {pool.node} is not in the cluster"
    return None


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
    left: _Counters = {}
    for item in pool.slices:
        for one in counter_sets(item):
            for name, counter in mapping(one.get("counters")).items():
                left[(text(one.get("name")) or "", name)] = parse(mapping(counter).get("value")) or Fraction(0)
    takers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in pool.slices:
        for device in devices_of(item):
            claims = held.get((pool.input, pool.driver, pool.name, text(device.get("name")) or ""), [])
            if claims:
                for key, amount in uses(shapes.device(device)).items():
                    left[key] = left.get(key, Fraction(0)) - amount
                    takers[key].update(claims)
    return left, takers


def _place(spec: dict[str, Any], fields: dict[str, Any]) -> tuple[str | None, str | None]:
    """The node of a device, and where it can be reached in words; a slice may leave that to each device."""
    where = fields if spec.get("perDeviceNodeSelection") is True else spec
    node = text(where.get("nodeName")) or shapes.pinned(where.get("nodeSelector"))
    if node:
        return node, f"node {node}"
    if where.get("allNodes") is True:
        return None, "all nodes"
    return None, shapes.selector_words(where.get("nodeSelector"))
