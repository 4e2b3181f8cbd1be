"""What keeps cordoned nodes from being drained: pods that a PodDisruptionBudget does not let go.

`kubectl drain` and every controller that drains evict through the API server, which refuses while the budget allows no
disruption (`status.disruptionsAllowed`). Pods of DaemonSets and static pods are left alone, and pods that are being deleted
already need no eviction. With `unhealthyPodEvictionPolicy: AlwaysAllow` a pod that is not ready may go at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts import selectors
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, number, stored, text

# Pods on cordoned nodes that a drain has to evict, and those of their namespaces that a budget may count.
_PODS = """
SELECT p.object_id, p.namespace, p.name, n.object_id, coalesce(p.ready, false), o.json -> '$.metadata.labels'
FROM pods p JOIN objects o USING (object_id)
LEFT JOIN nodes n ON n.name = p.node AND n.cordoned
    AND p.owner_kind NOT IN ('DaemonSet', 'Node') AND NOT p.mirror AND p.deleted_at IS NULL
WHERE p.phase NOT IN ('Succeeded', 'Failed')
    AND p.namespace IN (
        SELECT namespace FROM objects WHERE api_group = 'policy' AND kind = 'PodDisruptionBudget'
    )
"""

# A pod that is being deleted on a cordoned node keeps the drain waiting.
_LEAVING = """
INSERT INTO relations
SELECT p.object_id, n.object_id, 'drain'
FROM pods p JOIN nodes n ON n.name = p.node
WHERE n.cordoned AND p.deleted_at IS NOT NULL AND p.owner_kind NOT IN ('DaemonSet', 'Node')
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `drain_blocks`, and the edges `drain` (budget or leaving pod → Node) and `budget` (pod that is not ready → budget).

    Needs `pods` and `nodes`.
    """
    con.execute(_LEAVING)
    budgets = [budget for budget in stored(con, [("policy", "PodDisruptionBudget")]) if _is_spent(budget)]
    if not budgets:
        return
    pods: dict[str, list[tuple[Any, ...]]] = {}
    for object_id, namespace, name, node, ready, labels in con.execute(_PODS).fetchall():
        known = mapping(orjson.loads(labels) if labels else None)
        pods.setdefault(namespace, []).append((object_id, name, node, ready, known))
    rows: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for budget in budgets:
        for object_id, name, node, ready in _covered(budget, pods.get(budget.namespace, [])):
            if not ready:
                edges.append({"src": object_id, "dst": budget.object_id, "kind": "budget"})
            if node is not None and (ready or not _lets_unready_go(budget)):
                rows.append(_row(budget, object_id, name, node))
    insert_rows(con, "drain_blocks", rows)
    drains = sorted({(row["budget_id"], row["node_id"]) for row in rows})
    insert_rows(con, "relations", [*edges, *({"src": src, "dst": dst, "kind": "drain"} for src, dst in drains)])


def _is_spent(budget: Stored) -> bool:
    status = mapping(budget.value.get("status"))
    return (
        budget.deleted_at is None
        and number(status.get("disruptionsAllowed")) == 0
        and (number(status.get("expectedPods")) or 0) > 0
    )


def _lets_unready_go(budget: Stored) -> bool:
    return text(mapping(budget.value.get("spec")).get("unhealthyPodEvictionPolicy")) == "AlwaysAllow"


def _covered(budget: Stored, pods: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    selector = mapping(budget.value.get("spec")).get("selector")
    if not isinstance(selector, dict):
        return
    for object_id, name, node, ready, labels in pods:
        # An empty selector covers every pod of the namespace (policy/v1).
        if not selector or selectors.selects(selector, labels):
            yield object_id, name, node, ready


def _row(budget: Stored, pod_id: int, pod: str, node_id: int) -> dict[str, Any]:
    status = mapping(budget.value.get("status"))
    return {
        "node_id": node_id,
        "pod_id": pod_id,
        "namespace": budget.namespace,
        "pod": pod,
        "budget_id": budget.object_id,
        "budget": budget.name,
        "expected": number(status.get("expectedPods")),
        "healthy": number(status.get("currentHealthy")),
        "desired": number(status.get("desiredHealthy")),
    }
