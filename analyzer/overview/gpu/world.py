"""GPU nodes as the map of them needs them: what each has, who holds it, what its logs say, what keeps pods away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from analyzer.facts.dra.gpus import ALL_NODES
from analyzer.facts.gpu.nodes import kind_of
from analyzer.facts.whole import Whole
from analyzer.overview.gpu.slots import Broken
from analyzer.overview.nodenames import natural
from analyzer.overview.read import Row, grouped, measured, rows, users

if TYPE_CHECKING:
    import duckdb

_OFF_BUS: Final = "Xid 79"

# A Node that only bears a label of the operator, for instance that it has no GPU, is none. What no kubelet reports (labels
# alone were collected) is not known to be nothing.
_NODES: Final = f"""
SELECT g.*, n.state, n.since, n.cordoned, n.cordoned_since, json_extract(o.json, '$.status.capacity') IS NOT NULL AS reported
FROM ({ALL_NODES}) g LEFT JOIN nodes n USING (object_id) LEFT JOIN objects o USING (object_id)
WHERE g.present IS DISTINCT FROM 'false' AND (g.present = 'true' OR g.product IS NOT NULL OR g.count > 0 OR g.capacity > 0)
    OR g.capacity > 0 OR g.published > 0
"""  # noqa: S608 - a constant
_RESOURCES: Final = "SELECT * FROM gpu_resources WHERE kind <> 'other' ORDER BY resource"
_HOLDERS: Final = """
SELECT p.input, p.node, p.namespace, p.name, r.resource, r.request FROM gpu_requests r JOIN pods p USING (object_id)
WHERE p.node <> '' AND p.phase NOT IN ('Succeeded', 'Failed') AND r.request > 0 ORDER BY p.namespace, p.name
"""
_FAULTS: Final = """
SELECT node_id, slot, codes, name, code FROM xid_gpus
WHERE node_id IS NOT NULL AND boot = 0 AND verdict = 'hardware' AND severity = 'error' AND NOT switch
ORDER BY slot NULLS LAST, gpu
"""
# A kubelet that refused a pod with GPUs lately refuses the next one too.
_REFUSED: Final = """
SELECT p.input, p.node, max(p.since) FROM pods p JOIN gpu_requests r USING (object_id)
WHERE p.state = 'Rejected' AND NOT p.made_good AND p.node <> '' GROUP BY ALL
"""
_DEVICES: Final = """
SELECT input, node, driver, device, gpu, state, message, claims, taken_by, taints, attributes
FROM devices WHERE gpu IS NOT NULL AND node IS NOT NULL
"""
_PROGRAMS: Final = """
SELECT node_id, program, pod FROM gpu_holders WHERE node_id IS NOT NULL AND part <> 'driver' ORDER BY rank
"""
_LAYOUTS: Final = """
SELECT m.object_id, sum(c.per_gpu) FROM mig_managers m JOIN gpu_nodes g USING (object_id)
JOIN mig_configs c ON c.object_id = m.configmap_id AND c.config = g.mig_config
GROUP BY m.object_id HAVING count(*) FILTER (c.filtered OR c.devices IS NOT NULL OR c.profile IS NULL) = 0
"""


@dataclass(frozen=True, slots=True)
class World:
    """What the map is made from, by Node where it is a list of rows.

    Attributes:
        nodes: the GPU nodes in the order of their names.
        resources: Node → what it offers of each resource.
        holders: (input, name of the Node) → rows of pods with what they ask for.
        programs: Node → programs that had its GPUs open when the bundle was collected, with the pod where that is known.
        faults: Node → broken GPUs by its logs, of the newest boot.
        refused: (input, name of the Node) → when its kubelet last refused a pod with GPUs that nothing made good.
        gone: names of Nodes that do not exist, for which GPUs are still published.
        devices: (input, name of the Node) → its GPUs, and parts of these, that DRA drivers publish.
        users: claim as namespace/name → the pods it is reserved for.
        per_gpu: Node → MIG devices that its layout makes of each GPU, where that is the same for all.
        as_of: input → the moment ages are measured at.
        missing: which lists are not whole, in words; empty where both pods and nodes are.
    """

    nodes: tuple[Row, ...]
    gone: tuple[str, ...]
    resources: dict[int, list[Row]]
    holders: dict[tuple[int, str], list[Row]]
    programs: dict[int, list[Row]]
    faults: dict[int, list[Broken]]
    refused: dict[tuple[int, str], datetime | None]
    devices: dict[tuple[int, str], list[Row]]
    users: dict[str, list[str]]
    per_gpu: dict[int, int]
    as_of: dict[int, datetime | None]
    missing: str


def read(con: duckdb.DuckDBPyConnection) -> World | None:
    """Reads it all; None where the bundle has no GPU node."""
    found = sorted(rows(con, _NODES), key=lambda node: natural(node.name))
    nodes = [node for node in found if not node.gone]
    if not nodes:
        return None
    held = Whole.read(con)
    lacking = [word for kind, word in (("Pod", "pods"), ("Node", "nodes")) if not held.has("", kind)]
    faults: dict[int, list[Broken]] = {}
    for row in rows(con, _FAULTS):
        codes = row.codes or []
        lead = codes[0].split(" (")[0] if codes else row.name
        off_bus = any(code.split(" (")[0] == _OFF_BUS for code in codes) or row.code is None
        faults.setdefault(row.node_id, []).append(Broken(row.slot, lead, off_bus))
    devices = sorted(rows(con, _DEVICES), key=lambda one: natural(one.device))
    holders = (row for row in rows(con, _HOLDERS) if kind_of(row.resource) != "other")
    return World(
        nodes=tuple(nodes),
        gone=tuple(node.name for node in found if node.gone),
        resources=grouped(rows(con, _RESOURCES), lambda row: row.object_id),
        holders=grouped(holders, _on),
        programs=grouped(rows(con, _PROGRAMS), lambda row: row.node_id),
        faults=faults,
        refused={(number, node): since for number, node, since in con.execute(_REFUSED).fetchall()},
        devices=grouped(devices, _on),
        users=users(con),
        per_gpu={node: int(amount) for node, amount in con.execute(_LAYOUTS).fetchall() if amount},
        as_of=measured(con),
        missing=" and ".join(lacking),
    )


def _on(row: Row) -> tuple[int, str]:
    return row.input, row.node
