"""What of the cluster the parts of the GPU Operator are held against: DaemonSets, GPU nodes, and what was collected whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import orjson

from analyzer.facts.gpu import labels
from analyzer.facts.gpu.components import Component, workload
from analyzer.facts.gpu.policies import Operator, Policy
from analyzer.facts.whole import Whole

_DAEMONSETS = """
SELECT o.object_id, o.namespace, o.name, coalesce(json_extract_string(o.json, '$.spec.updateStrategy.type') = 'OnDelete', false),
    c.object_id IS NOT NULL, coalesce(c.wanted, 0), coalesce(c.ready, 0), coalesce(c.updated, 0), coalesce(c.observed, true),
    coalesce(json_extract_string(o.json, '$.metadata.labels."app.kubernetes.io/component"') = 'nvidia-driver', false)
        OR EXISTS (SELECT 1 FROM owners w WHERE w.object_id = o.object_id AND w.owner_kind = 'NVIDIADriver')
FROM objects o LEFT JOIN controllers c ON c.object_id = o.object_id
WHERE o.api_group = 'apps' AND o.kind = 'DaemonSet' AND o.deleted_at IS NULL
ORDER BY o.namespace, o.name, o.object_id
"""
_NODES = """
SELECT g.name, g.workload_config, g.opt_outs, list_concat(g.mig_paused, g.driver_paused), g.found_at, o.created_at, o.json,
    g.upgrade_state
FROM gpu_nodes g JOIN objects o USING (object_id)
WHERE coalesce(g.present, 'true') <> 'false' AND (g.present = 'true' OR g.pci_label IS NOT NULL OR g.capacity > 0)
    AND o.deleted_at IS NULL
ORDER BY g.name
"""


@dataclass(frozen=True, slots=True)
class DaemonSet:
    """A DaemonSet; `status` is False where the bundle has none of it, `of_driver` is True where an NVIDIADriver made it."""

    id: int
    namespace: str
    name: str
    on_delete: bool
    status: bool
    wanted: int
    ready: int
    updated: int
    observed: bool
    of_driver: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A GPU node as the operator's deploy labels have it."""

    name: str
    workload: str
    deploy: dict[str, str]
    truths: frozenset[str]
    opt_outs: frozenset[str]
    paused: frozenset[str]
    since: datetime | None
    upgrade_state: str | None

    def needs(self, component: Component) -> bool:
        """Whether the part belongs on the node and nobody has switched it off there."""
        wanted = self.workload in component.workloads and (component.only is None or component.only in self.truths)
        return wanted and not self.opt_outs & {"operands", component.name}


@dataclass(frozen=True, slots=True)
class World:
    """What of the cluster the parts are held against."""

    operator: Operator
    policy: Policy
    daemonsets: tuple[DaemonSet, ...]
    nodes: tuple[Node, ...]
    no_nodes: bool
    listed: bool
    pods_listed: bool
    drivers_listed: bool


def world_of(con: duckdb.DuckDBPyConnection, operator: Operator, policy: Policy) -> World:
    """Reads it. Needs `gpu_nodes`, `owners`, `controllers` and `coverage`."""
    daemonsets = tuple(DaemonSet(*row) for row in con.execute(_DAEMONSETS).fetchall())
    nodes = tuple(_node(row, policy) for row in con.execute(_NODES).fetchall())
    whole = Whole.read(con)
    return World(
        operator,
        policy,
        daemonsets,
        nodes,
        no_nodes=not nodes and (whole.has("", "Node") or policy.said.reason == "NoGPUNodes"),
        listed=whole.has("apps", "DaemonSet", operator.namespace or "*"),
        pods_listed=whole.has("", "Pod", operator.namespace or ""),
        drivers_listed=whole.has("nvidia.com", "NVIDIADriver"),
    )


def _node(row: tuple[Any, ...], policy: Policy) -> Node:
    name, config, opt_outs, paused, found_at, created_at, text, upgrade = row
    found = labels.read(orjson.loads(text))
    deploy = {key.removeprefix(labels.DEPLOY): str(value) for key, value in found.labels.items() if key.startswith(labels.DEPLOY)}
    truths = frozenset(key for key, value in found.labels.items() if value == "true")
    since = max((at for at in (found_at, created_at) if at), default=None)
    return Node(
        name, workload(policy.spec, config), deploy, truths, frozenset(opt_outs or ()), frozenset(paused or ()), since, upgrade
    )
