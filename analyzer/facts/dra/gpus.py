"""GPUs that drivers of Dynamic Resource Allocation publish: what each device is of a GPU, and which nodes have some.

A driver that serves GPUs is called `gpu.VENDOR` (gpu.nvidia.com, gpu.amd.com, gpu.intel.com). Attribute `type` tells what a
device is: NVIDIA's driver says gpu, mig or vfio, AMD's amdgpu or amdgpu-partition, Intel's gpu or vf. A MIG device names its
GPU in attribute `parentUUID`. Such a node needs neither a label of the GPU Operator nor a resource `nvidia.com/…`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import duckdb
import orjson

from analyzer.facts.quantity import parse
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping
from analyzer.facts.whole import Whole

NVIDIA: Final = "gpu.nvidia.com"
_TYPES: Final = {"gpu": "whole", "mig": "part", "vfio": "vm"}
_PART: Final = re.compile(r"mig|vf|.*partition.*", re.ASCII)
_MIB: Final = 2**20
_MOST: Final = 4
"""Different models or versions of one node that are named."""

ALL_NODES: Final = """
SELECT g.* REPLACE (
        coalesce(g.object_id, d.object_id) AS object_id, coalesce(g.input, d.input) AS input, coalesce(g.name, d.name) AS name,
        coalesce(g.product, d.product) AS product, coalesce(g.count, d.gpus) AS count,
        coalesce(g.memory_mib, d.memory_mib) AS memory_mib, coalesce(g.driver, d.driver) AS driver,
        coalesce(g.cuda, d.cuda) AS cuda, coalesce(g.own_plugin, false) AS own_plugin),
    g.product IS NOT NULL AS labelled, d.drivers, d.gpus AS published, d.complete, coalesce(d.gone, false) AS gone
FROM gpu_nodes g FULL JOIN gpu_device_nodes d ON d.input = g.input AND d.name = g.name
"""
"""GPU nodes by label or resource and those by device: a row of `gpu_nodes`, in which devices tell what no label does."""

_DEVICES: Final = """
SELECT d.input, d.node, d.driver, d.gpu, d.attributes, d.capacity, p.complete, n.object_id
FROM devices d LEFT JOIN device_pools p ON p.input = d.input AND p.driver = d.driver AND p.pool = d.pool
LEFT JOIN nodes n ON n.input = d.input AND n.name = d.node
WHERE d.gpu IS NOT NULL AND d.node IS NOT NULL ORDER BY d.input, d.node, d.driver, d.pool, d.idx
"""


def part_of(driver: str, attributes: Mapping[str, Any]) -> str | None:
    """What a device is of a GPU: whole, part (a MIG device, a partition), vm (handed to virtual machines); None for no GPU."""
    if not driver.startswith("gpu."):
        return None
    kind = told(driver, attributes, "type")
    if driver == NVIDIA:
        return _TYPES.get(str(kind)) if kind else "whole"
    if kind and _PART.fullmatch(str(kind)):
        return "part"
    return "vm" if kind == "vfio" else "whole"


def told(driver: str, attributes: Mapping[str, Any], *names: str) -> Any:
    """The first of these attributes that is there, with the driver's name before it or without; None where none is."""
    found = (attributes.get(key) for name in names for key in (name, f"{driver}/{name}"))
    return next((value for value in found if value not in (None, "")), None)


@dataclass(slots=True)
class _Node:
    """What the devices of one node tell."""

    object_id: int | None
    complete: bool = True
    drivers: dict[str, None] = field(default_factory=dict)
    wholes: set[str] = field(default_factory=set)
    parents: set[str] = field(default_factory=set)
    machines: set[str] = field(default_factory=set)
    buses: set[str] = field(default_factory=set)
    parts: int = 0
    words: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, driver: str, gpu: str, attributes: dict[str, Any], capacity: dict[str, Any], number: int) -> None:
        self.drivers[driver] = None
        own = str(told(driver, attributes, "uuid") or number)
        bus = str(told(driver, attributes, "pciBusID", "resource.kubernetes.io/pciBusID") or own)
        if gpu == "whole":
            self.wholes.add(own)
        elif gpu == "vm":
            self.machines.add(bus)
        else:
            self.parts += 1
            self.parents.add(str(told(driver, attributes, "parentUUID") or ""))
        if gpu != "vm":
            self.buses.add(bus)
        for key, value in (
            ("product", told(driver, attributes, "productName", "model", "product", "family")),
            ("driver", told(driver, attributes, "driverVersion")),
            ("cuda", told(driver, attributes, "cudaDriverVersion")),
            ("memory", _mib(capacity) if gpu != "part" else None),
        ):
            if value is not None:
                self.words[key][str(value)] = None

    def row(self) -> dict[str, Any]:
        parents = self.parents - self.wholes - {""}
        alone = 1 if "" in self.parents and not self.wholes and not parents else 0
        # The same GPU may be published whole and for virtual machines.
        machines = self.machines - self.buses
        memory = list(self.words["memory"])
        return {
            "object_id": self.object_id,
            "drivers": list(self.drivers),
            "gpus": len(self.wholes) + len(parents) + alone + len(machines),
            "parts": self.parts,
            "memory_mib": int(memory[0]) if len(memory) == 1 else None,
            "complete": self.complete,
        } | {key: ", ".join(islice(self.words[key], _MOST)) or None for key in ("product", "driver", "cuda")}


def _mib(capacity: Mapping[str, Any]) -> int | None:
    amount = next((parse(value) for key, value in capacity.items() if key.rpartition("/")[2] == "memory"), None)
    return int(amount / _MIB) if amount is not None and 0 < amount < _MIB * _MIB * _MIB else None


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_device_nodes`; needs `devices`, `device_pools`, `nodes` and `coverage`."""
    found: dict[tuple[int, str], _Node] = {}
    for number, row in enumerate(con.execute(_DEVICES).fetchall()):
        at, name, driver, gpu, attributes, capacity, complete, object_id = row
        node = found.setdefault((at, name), _Node(object_id))
        node.complete = node.complete and bool(complete)
        node.add(driver, gpu, _json(attributes), _json(capacity), number)
    all_nodes = Whole.read(con).has("", "Node")
    insert_rows(
        con,
        "gpu_device_nodes",
        (
            node.row() | {"input": at, "name": name, "gone": all_nodes and node.object_id is None}
            for (at, name), node in found.items()
        ),
    )


def _json(value: str | None) -> dict[str, Any]:
    return mapping(orjson.loads(value)) if value else {}
