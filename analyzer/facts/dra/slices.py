"""Pools of devices: which ResourceSlices count, and whether all of a pool is there.

A driver replaces a pool by slices of a higher generation, and says in each how many there are (`resourceSliceCount`). Until all
are there the scheduler does not trust the pool (kube-scheduler's allocator).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb

from analyzer.facts.dra import shapes
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, moment, stored, text

_INT32 = 2**31
KIND = ("resource.k8s.io", "ResourceSlice")
UNKNOWN = "unknown"
"""What stands for the driver of a slice that does not name one."""
MAX_GENERATION = 2**63 - 1
"""Largest generation that the API allows."""


@dataclass(slots=True)
class Pool:
    """One pool of a driver in one input: the slices of its newest generation."""

    input: int
    driver: str
    name: str
    generation: int
    wanted: int | None
    slices: list[Stored] = field(default_factory=list)

    @property
    def invalid(self) -> str | None:
        """What in the pool contradicts itself; None where nothing does, or where slices lack that may hold what is missed."""
        if not self.complete:
            return None
        devices = Counter(name for item in self.slices for name in device_names(item))
        twice = sorted(name for name, count in devices.items() if count > 1)
        if twice:
            return f"device {twice[0]} is there {devices[twice[0]]} times"
        sets = Counter(text(one.get("name")) for item in self.slices for one in counter_sets(item))
        twice = sorted(str(name) for name, count in sets.items() if count > 1)
        if twice:
            return f"counter set {twice[0]} is there more than once"
        known = {text(one.get("name")): set(mapping(one.get("counters"))) for item in self.slices for one in counter_sets(item)}
        for item in self.slices:
            for device in devices_of(item):
                for use in mappings(shapes.device(device).get("consumesCounters")):
                    name = text(use.get("counterSet"))
                    if name not in known or not set(mapping(use.get("counters"))) <= known[name]:
                        return f"device {device.get('name')} consumes counters of {name}, which the pool does not define so"
        return None

    @property
    def complete(self) -> bool:
        """All slices are there."""
        return self.wanted is not None and len(self.slices) == self.wanted

    @property
    def node(self) -> str | None:
        """The node that all its slices belong to."""
        names = {text(mapping(item.value.get("spec")).get("nodeName")) for item in self.slices}
        return next(iter(names)) if len(names) == 1 else None


def devices_of(item: Stored) -> list[dict[str, Any]]:
    """The devices of a slice."""
    return mappings(mapping(item.value.get("spec")).get("devices"))


def device_names(item: Stored) -> list[str]:
    """Their names."""
    return [name for device in devices_of(item) if (name := text(device.get("name")))]


def counter_sets(item: Stored) -> list[dict[str, Any]]:
    """The counter sets that a slice defines."""
    return mappings(mapping(item.value.get("spec")).get("sharedCounters"))


def pools(con: duckdb.DuckDBPyConnection) -> list[Pool]:
    """The pools, of each the newest generation."""
    found: dict[tuple[int, str, str], Pool] = {}
    for item in stored(con, [KIND]):
        spec = mapping(item.value.get("spec"))
        # A slice that was salvaged from damaged text may lack what the API asks for: its devices are told all the same.
        pool, driver = mapping(spec.get("pool")), text(spec.get("driver")) or UNKNOWN
        name, given = text(pool.get("name")) or item.name, pool.get("generation")
        generation = given if isinstance(given, int) and _is_generation(given) else 0
        count = pool.get("resourceSliceCount")
        wanted = count if isinstance(count, int) and _is_generation(count) and count < _INT32 else None
        key = (item.input, driver, name)
        if key not in found or found[key].generation < generation:
            found[key] = Pool(item.input, driver, name, generation, wanted)
        if found[key].generation == generation:
            found[key].slices.append(item)
    return list(found.values())


def _is_generation(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_GENERATION


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `device_pools` and the slices' rows of `device_taints`, and those of DeviceTaintRules."""
    found = pools(con)
    insert_rows(con, "device_pools", (_row(pool) for pool in found))
    insert_rows(con, "device_taints", _taints(con, found))


def _row(pool: Pool) -> dict[str, Any]:
    invalid = pool.invalid
    return {
        "slice_id": pool.slices[0].object_id,
        "input": pool.input,
        "driver": pool.driver,
        "pool": pool.name,
        "generation": pool.generation,
        "slices": len(pool.slices),
        "wanted": pool.wanted,
        "complete": pool.complete and invalid is None,
        "invalid": invalid,
        "node": pool.node,
    }


_MEANINGS = {
    "gpu.nvidia.com/xid": "the driver saw a critical error (Xid) of this GPU",
    "gpu.nvidia.com/gpu-lost": "the GPU is lost",
    "gpu.nvidia.com/unmonitored": "the health of this GPU is not watched",
}


def _taint(taint: dict[str, Any]) -> dict[str, Any]:
    effect, key = text(taint.get("effect")), text(taint.get("key")) or ""
    return {
        "key": key,
        "value": text(taint.get("value")) or "",
        "effect": effect if effect in {"NoSchedule", "NoExecute"} else "None",
        "since": moment(taint.get("timeAdded")),
        "words": _MEANINGS.get(key),
    }


def _taints(con: duckdb.DuckDBPyConnection, found: list[Pool]) -> Iterator[dict[str, Any]]:
    for pool in found:
        for item in pool.slices:
            for idx, device in enumerate(devices_of(item)):
                prefix = f"spec.devices[{idx}]" + (".basic" if isinstance(device.get("basic"), dict) else "")
                for number, taint in enumerate(mappings(shapes.device(device).get("taints"))):
                    row = _taint(taint)
                    yield row | {
                        "source_id": item.object_id,
                        "path": f"{prefix}.taints[{number}].key",
                        "driver": pool.driver,
                        "pool": pool.name,
                        "device": text(device.get("name")),
                    }
    for rule in stored(con, [("resource.k8s.io", "DeviceTaintRule")]):
        spec = mapping(rule.value.get("spec"))
        selector, row = spec.get("deviceSelector"), _taint(mapping(spec.get("taint")))
        # An empty selector is for all devices, a missing one for none (Kubernetes API types).
        if row["key"] and rule.deleted_at is None and isinstance(selector, dict):
            yield row | {
                "source_id": rule.object_id,
                "path": "spec.taint.key",
                "driver": text(selector.get("driver")),
                "pool": text(selector.get("pool")),
                "device": text(selector.get("device")),
                "narrowed": _narrowed(selector),
            }


def _narrowed(selector: dict[str, Any]) -> str | None:
    """By what else a rule selects devices, in words: which these are only the scheduler can say (a class is CEL as well)."""
    by_class, expressions = text(selector.get("deviceClassName")), mappings(selector.get("selectors"))
    told = [f"class {by_class}" if by_class else "", "a CEL expression" if expressions else ""]
    return " and ".join(part for part in told if part) or None
