"""GPU nodes and what they offer of each `nvidia.com/…` resource."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.gpu import labels
from analyzer.facts.gpu.requests import PREFIX, devices
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, stored

_VM = re.compile(r"(?:pgpu|[A-Z][A-Z0-9]\w*(?:-\w+)?)", re.ASCII)
_PAUSED_MIG, _PAUSED_DRIVER = "paused-for-mig-change", "paused-for-driver-upgrade"

_REQUESTED = """
SELECT p.input, p.node, r.resource, sum(r.request)
FROM gpu_requests r JOIN pods p USING (object_id)
WHERE p.node <> '' AND p.phase NOT IN ('Succeeded', 'Failed')
GROUP BY ALL
"""

# Where another driver offers the GPUs, or the operator is told not to run the plugin, `nvidia.com/gpu` is not expected. A
# GPUCluster has it run the DRA driver instead.
_NO_PLUGIN = """
SELECT EXISTS (
    SELECT 1 FROM objects WHERE api_group = 'nvidia.com' AND kind = 'ClusterPolicy' AND deleted_at IS NULL
        AND json_extract_string(json, '$.spec.devicePlugin.enabled') = 'false'
) OR (
    EXISTS (SELECT 1 FROM objects WHERE api_group = 'nvidia.com' AND kind = 'GPUCluster' AND deleted_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM objects WHERE api_group = 'nvidia.com' AND kind = 'ClusterPolicy' AND deleted_at IS NULL)
)
"""
_DRA = """
SELECT DISTINCT input, json_extract_string(json, '$.spec.nodeName') FROM objects
WHERE api_group = 'resource.k8s.io' AND kind = 'ResourceSlice' AND json_extract_string(json, '$.spec.driver') = 'gpu.nvidia.com'
"""


def kind_of(resource: str) -> str:
    """What a resource of `nvidia.com` is: gpu, mig, vm (KubeVirt's names of models, in capitals) or other (network…)."""
    name = resource.removeprefix(PREFIX)
    if name in {"gpu", "gpu.shared"}:
        return "gpu"
    if name.startswith("mig-"):
        return "mig"
    return "vm" if _VM.fullmatch(name) else "other"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_nodes` and `gpu_resources`; needs `pods` and `gpu_requests`."""
    requested: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    for number, node, resource, amount in con.execute(_REQUESTED).fetchall():
        requested[(number, node)][resource] = int(amount)
    plugin_off = bool((con.execute(_NO_PLUGIN).fetchone() or (False,))[0])
    by_driver = {(number, name) for number, name in con.execute(_DRA).fetchall()}
    nodes: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    for node in stored(con, [("", "Node")]):
        offered = list(_offered(node, requested[(node.input, node.name)]))
        own_plugin = not plugin_off and (node.input, node.name) not in by_driver
        if row := _row(node, offered, own_plugin=own_plugin):
            nodes.append(row)
            resources += offered
    insert_rows(con, "gpu_nodes", nodes)
    insert_rows(con, "gpu_resources", resources)


def _offered(node: Stored, requested: dict[str, int]) -> Iterator[dict[str, Any]]:
    status = mapping(node.value.get("status"))
    capacity, allocatable = mapping(status.get("capacity")), mapping(status.get("allocatable"))
    found = labels.read(node.value)
    for resource in sorted({*capacity, *allocatable}):
        if resource.startswith(PREFIX):
            yield {
                "object_id": node.object_id,
                "input": node.input,
                "node": node.name,
                "resource": resource,
                "kind": kind_of(resource),
                "capacity": devices(capacity.get(resource)),
                "allocatable": devices(allocatable.get(resource)),
                "requested": requested.get(resource, 0),
                "replicas": found.whole(f"{resource.removesuffix('.shared')}.replicas"),
            }


def _row(node: Stored, offered: list[dict[str, Any]], *, own_plugin: bool) -> dict[str, Any] | None:
    """The row of a Node; None where nothing speaks of NVIDIA GPUs."""
    found = labels.read(node.value)
    pci = labels.pci_label(found)
    if not (pci or offered or any(key.startswith(PREFIX) for key in found.labels)):
        return None
    paused = found.deploy(_PAUSED_MIG)
    upgrade_state = found.get("nvidia.com/gpu-driver-upgrade-state")
    gpus = [row for row in offered if row["kind"] != "other"]
    told = isinstance(mapping(node.value.get("status")).get("capacity"), dict)
    return {
        "object_id": node.object_id,
        "input": node.input,
        "name": node.name,
        "present": found.get("nvidia.com/gpu.present"),
        "pci_label": pci,
        "found_at": found.times.get("nvidia.com/gpu.present") or found.times.get(pci or ""),
        "product": found.get("nvidia.com/gpu.product"),
        "count": found.whole("nvidia.com/gpu.count"),
        "memory_mib": found.whole("nvidia.com/gpu.memory"),
        "replicas": found.whole("nvidia.com/gpu.replicas"),
        "sharing": found.get("nvidia.com/gpu.sharing-strategy"),
        "driver": labels.driver(found),
        "cuda": labels.cuda(found),
        "mig_capable": found.flag("nvidia.com/mig.capable"),
        "mig_strategy": found.get("nvidia.com/mig.strategy"),
        "mig_config": found.get("nvidia.com/mig.config"),
        "mig_state": found.get("nvidia.com/mig.config.state"),
        "mig_since": found.times.get("nvidia.com/mig.config.state"),
        "mig_set_at": found.times.get("nvidia.com/mig.config"),
        "mig_paused": paused,
        "mig_paused_since": found.newest([labels.DEPLOY + name for name in paused]),
        "driver_paused": found.deploy(_PAUSED_DRIVER),
        "opt_outs": found.deploy("false"),
        "workload_config": found.get("nvidia.com/gpu.workload.config"),
        "plugin_config": found.get("nvidia.com/device-plugin.config"),
        "upgrade_state": upgrade_state,
        "upgrade_since": labels.upgrade_since(found, upgrade_state),
        "upgrade_skip": found.flag("nvidia.com/gpu-driver-upgrade.skip") is True,
        "capacity": sum(row["capacity"] or 0 for row in gpus) if told else None,
        "allocatable": sum(row["allocatable"] or 0 for row in gpus) if told else None,
        "own_plugin": own_plugin,
    }
