"""Whether a node offers the MIG devices of the layout that was applied to it.

With strategy `mixed` the device plugin offers each profile as a resource of its own (`nvidia.com/mig-1g.10gb`), with `single`
all devices as `nvidia.com/gpu`, which works for uniform layouts only; GPU feature discovery then adds `-MIG-1g.10gb` to the
product, or `-MIG-INVALID`. With `none` no MIG device is offered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.gpu.mig_configs import Rule
from analyzer.facts.rows import insert_rows

_GPU = "nvidia.com/gpu"
_MIG = "nvidia.com/mig-"

_NODES = """
SELECT g.object_id, g.mig_state, coalesce(g.mig_strategy, p.strategy), g.product, g.count,
    coalesce(g.sharing, 'none') <> 'none' OR coalesce(g.replicas, 1) > 1
        OR EXISTS (SELECT 1 FROM gpu_resources r
            WHERE r.object_id = g.object_id AND (r.replicas > 1 OR ends_with(r.resource, '.shared'))),
    m.configmap_id, g.mig_config,
    coalesce(': ' || m.configmap_error, '')
FROM gpu_nodes g
LEFT JOIN mig_managers m USING (object_id)
LEFT JOIN (
    SELECT input, any_value(json_extract_string(json, '$.spec.mig.strategy')) AS strategy FROM objects
    WHERE api_group = 'nvidia.com' AND kind = 'ClusterPolicy' GROUP BY input
) p ON p.input = g.input
WHERE g.mig_capable IS DISTINCT FROM false AND g.present IS DISTINCT FROM 'false'
    AND (g.mig_state = 'success' OR contains(coalesce(g.product, ''), '-MIG-') OR g.count = 0)
ORDER BY g.object_id
"""


@dataclass(frozen=True, slots=True)
class Node:
    """What a node is and offers: resource → devices registered with the kubelet."""

    strategy: str | None
    product: str
    count: int | None
    shared: bool
    offers: dict[str, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The differences in words, or why it cannot be told (`unknown`); neither where all is as it should be."""

    differences: tuple[str, ...] = ()
    resource: str | None = None
    unknown: str | None = None


def invalid(node: Node) -> Verdict | None:
    """What the labels alone say is wrong, whatever the layout."""
    if "MIG-INVALID" in node.product:
        words = (
            f"the product label is {node.product}: not all GPUs have the same MIG devices, as strategy single needs, or some none"
        )
        return Verdict((words,))
    if node.count == 0:
        return Verdict(("label nvidia.com/gpu.count is 0: no GPU or MIG device is found on the node",))
    return None


def judge(node: Node, rules: Sequence[Rule]) -> Verdict:
    """Holds what a node offers against the rules of the layout that was applied to it."""
    made = [rule for rule in rules if rule.profile and rule.per_gpu]
    if unknown := _unknown(node, rules):
        return Verdict(unknown=unknown)
    if node.strategy == "mixed":
        return _mixed(node, made)
    slices = {name: amount for name, amount in node.offers.items() if name.startswith(_MIG) and amount}
    if slices:
        name, amount = min(slices.items())
        return Verdict((f"{amount} {name} are offered, though the MIG strategy is {node.strategy}",), name)
    if node.strategy == "single":
        return _single(node, made)
    words = "the layout makes MIG devices, and the MIG strategy is none, so that they are not offered"
    return Verdict((words,), _GPU) if made else Verdict()


def _unknown(node: Node, rules: Sequence[Rule]) -> str | None:
    if any(rule.filtered for rule in rules):
        return "the layout depends on the model of each GPU (device-filter)"
    if node.shared:
        return "its GPUs are shared, which changes the numbers"
    return None if node.strategy in {"none", "single", "mixed"} else "its MIG strategy is not known"


def _mixed(node: Node, made: Sequence[Rule]) -> Verdict:
    wanted: dict[str, int] = defaultdict(int)
    for rule in made:
        gpus = rule.devices if rule.devices is not None else node.count
        if gpus is None:
            return Verdict(unknown="how many GPUs it has is not labelled")
        wanted[_MIG + str(rule.profile).replace("+", ".")] += gpus * (rule.per_gpu or 0)
    offered = {name: amount for name, amount in node.offers.items() if name.startswith(_MIG)}
    different = [name for name in sorted({*wanted, *offered}) if wanted.get(name, 0) != offered.get(name, 0)]
    words = tuple(f"{offered.get(name, 0)} {name} instead of {wanted.get(name, 0)}" for name in different)
    known = next((name for name in different if name in node.offers), None)
    return Verdict(words, known)


def _single(node: Node, made: Sequence[Rule]) -> Verdict:
    profiles = sorted({str(rule.profile) for rule in made})
    _, mig, labelled = node.product.partition("-MIG-")
    offered = node.offers.get(_GPU, 0)
    each = {rule.per_gpu or 1 for rule in made}
    everywhere = len(each) == 1 and all(rule.devices is None for rule in made)
    words = None
    if not profiles:
        words = f"the product label is {node.product}, though the layout has MIG disabled" if mig else None
    elif len(profiles) > 1:
        words = f"the layout mixes {', '.join(profiles)}, which strategy single cannot offer"
    elif not offered:
        words = f"no {_GPU} instead of one for each {profiles[0]}"
    elif node.product and not mig:
        words = f"whole GPUs ({node.product}) instead of {profiles[0]} devices"
    elif mig and labelled != profiles[0].replace("+", "."):
        words = f"devices of profile {labelled} instead of {profiles[0]}"
    elif everywhere and offered % min(each):
        words = f"{offered} {_GPU}, which is no multiple of the {min(each)} {profiles[0]} that each GPU should have"
    return Verdict((words,), _GPU if _GPU in node.offers else None) if words else Verdict()


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `mig_layouts`; needs `gpu_nodes`, `gpu_resources`, `mig_managers` and `mig_configs`."""
    insert_rows(con, "mig_layouts", list(_rows(con)))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    nodes = con.execute(_NODES).fetchall()
    if not nodes:
        return
    offers: dict[int, dict[str, int]] = defaultdict(dict)
    for object_id, resource, amount in con.execute(
        "SELECT object_id, resource, coalesce(capacity, 0) FROM gpu_resources"
    ).fetchall():
        offers[object_id][resource] = amount
    layouts: dict[tuple[int, str], list[Rule]] = defaultdict(list)
    query = "SELECT object_id, config, idx, filtered, devices, enabled, profile, per_gpu FROM mig_configs ORDER BY object_id, idx"
    for object_id, *rule in con.execute(query).fetchall():
        layouts[(object_id, rule[0])].append(Rule(*rule))
    for object_id, state, strategy, product, count, shared, configmap, config, error in nodes:
        node = Node(strategy, product or "", count, shared, offers[object_id])
        verdict = invalid(node)
        if verdict is None and state == "success" and config is not None:
            rules = layouts.get((configmap, config), [])
            verdict = judge(node, rules) if rules else Verdict(unknown=f"its layout {config} is not known{error}")
        if verdict is None:
            continue
        yield {
            "object_id": object_id,
            "strategy": strategy,
            "differences": list(verdict.differences),
            "resource": verdict.resource,
            "unknown": verdict.unknown,
        }
