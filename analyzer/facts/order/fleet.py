"""The accelerators of a cluster as far as orders ask for them: devices in slices, who holds them, and PhysicalGPUs.

A driver takes a device that is in use out of its slices. So "free" is a difference of sets, and the largest device of the
slices is not the largest of the fleet: a PhysicalGPU is listed also while it is in use. What selectors match is never said.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb
import orjson

from analyzer.facts.order.shapes import read_gpu
from analyzer.facts.quantity import parse
from analyzer.facts.values import mapping, stored
from analyzer.facts.whole import Whole

GPU_GROUP, GPU_KIND = "gpu.deckhouse.io", "PhysicalGPU"
GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Device:
    """A published device; `memory` is in bytes, None where its capacity does not say."""

    slice_id: int
    input: int
    idx: int
    name: str
    state: str
    claims: tuple[str, ...]
    memory: Fraction | None
    memory_path: str
    written: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """A PhysicalGPU; `memory` is in bytes."""

    object_id: int
    input: int
    name: str
    memory: Fraction | None
    works: bool
    gap: str | None


@dataclass(frozen=True, slots=True)
class Fleet:
    """All of them; `*_whole` say that the bundle has every object of the kind."""

    devices: tuple[Device, ...]
    gpus: tuple[Gpu, ...]
    rows: tuple[dict[str, Any], ...]
    unpublished: dict[int, tuple[str, ...]]
    """Input → devices that a claim holds and no slice has."""
    slices_whole: bool
    claims_whole: bool
    gpus_whole: bool

    def of(self, number: int) -> tuple[list[Device], list[Gpu]]:
        """Devices and GPUs of one input's cluster."""
        return [one for one in self.devices if one.input == number], [one for one in self.gpus if one.input == number]


_DEVICES = "SELECT slice_id, input, idx, name, state, claims, capacity FROM devices ORDER BY name"
_HELD = """
SELECT c.input, h.driver || '/' || h.pool || '/' || h.device
FROM claim_devices h JOIN claims c USING (object_id)
WHERE NOT EXISTS (
    SELECT 1 FROM devices d WHERE d.input = c.input AND d.driver = h.driver AND d.pool = h.pool AND d.device = h.device
)
ORDER BY ALL
"""


def load_fleet(con: duckdb.DuckDBPyConnection) -> Fleet:
    """Reads it; needs `devices`, `claims`, `claim_devices` and `coverage`."""
    rows = [read_gpu(item) for item in stored(con, [(GPU_GROUP, GPU_KIND)])]
    unpublished: dict[int, list[str]] = {}
    for number, name in con.execute(_HELD).fetchall():
        unpublished.setdefault(number, []).append(name)
    whole = Whole.read(con)
    return Fleet(
        devices=tuple(_device(row) for row in con.execute(_DEVICES).fetchall()),
        gpus=tuple(_gpu(row) for row in rows),
        rows=tuple(rows),
        unpublished={number: tuple(dict.fromkeys(names)) for number, names in unpublished.items()},
        slices_whole=whole.has("resource.k8s.io", "ResourceSlice"),
        claims_whole=whole.has("resource.k8s.io", "ResourceClaim"),
        gpus_whole=whole.has(GPU_GROUP, GPU_KIND),
    )


def _device(row: tuple[Any, ...]) -> Device:
    slice_id, number, idx, name, state, claims, capacity = row
    found = mapping(orjson.loads(capacity)) if capacity else {}
    key = next((key for key in found if key.rpartition("/")[2].lower() == "memory"), "")
    path = f"spec.devices[{idx}].capacity.{key}" if "." not in key else f'spec.devices[{idx}].capacity["{key}"]'
    written = str(found.get(key) or "")
    return Device(slice_id, number, idx, name, state, tuple(claims or ()), parse(found.get(key)) if key else None, path, written)


def _gpu(row: dict[str, Any]) -> Gpu:
    memory = row["memory_mib"]
    works = row["driver_ready"] is not False and row["healthy"] is not False
    return Gpu(
        row["object_id"], row["input"], row["name"], None if memory is None else Fraction(memory) * 1024**2, works, row["gap"]
    )
