"""Edges of orders: class, model and Secret → order, and order → what it made."""

from __future__ import annotations

import duckdb

_CLASS = "SELECT class_id, object_id, 'order-class' FROM orders WHERE class_id IS NOT NULL"
_MODEL = "SELECT model_id, object_id, 'order-model' FROM orders WHERE model_id IS NOT NULL"
_PODS = "SELECT DISTINCT object_id, pod_id, 'order' FROM order_pods"
_WORKLOADS = "SELECT DISTINCT w.owner_id, w.object_id, 'order' FROM owners w JOIN orders o ON o.object_id = w.owner_id"
_CLAIMS = """
SELECT DISTINCT p.object_id, c.claim_id, 'order'
FROM order_pods p JOIN pod_claims c ON c.object_id = p.pod_id WHERE c.claim_id IS NOT NULL
"""
_VOLUMES = """
SELECT DISTINCT p.object_id, r.src, 'order' FROM order_pods p JOIN relations r ON r.dst = p.pod_id AND r.kind = 'pvc'
"""
# Replicas that wait on purpose, and what they are replicas of, where nothing else of it is missing.
_GROWTH = """
SELECT DISTINCT object_id, pod_id, 'order-growth' FROM order_pods WHERE grows
UNION ALL
SELECT g.object_id, c.object_id, 'order-growth'
FROM (SELECT object_id, count(*) AS waiting FROM order_pods WHERE grows GROUP BY object_id) g
JOIN owners w ON w.owner_id = g.object_id JOIN controllers c ON c.object_id = w.object_id AND c.wanted - c.ready = g.waiting
"""
# Pods of an order are its own also where no owner reference of theirs is a controller's.
_OWNED = """
SELECT DISTINCT p.pod_id, p.object_id, 'order-pod' FROM order_pods p
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds to `relations`: `order-class`, `order-model`, `order-pod`, `order-growth`,
    and `order` (order → workload, pods, claims, volumes).

    Needs `orders`, `order_pods`, `owners`, `controllers` and `pod_claims`.
    """
    for query in (_CLASS, _MODEL, _PODS, _WORKLOADS, _CLAIMS, _VOLUMES, _OWNED, _GROWTH):
        con.execute(f"INSERT INTO relations {query}")
