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
# Pods of an order are its own also where no owner reference of theirs is a controller's.
_OWNED = """
SELECT DISTINCT p.pod_id, p.object_id, 'order-pod' FROM order_pods p
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds to `relations`: `order-class`, `order-model`, `order-pod`, and `order` (order → workload, pods, claims, volumes).

    Needs `orders`, `order_pods`, `owners` and `pod_claims`.
    """
    for query in (_CLASS, _MODEL, _PODS, _WORKLOADS, _CLAIMS, _VOLUMES, _OWNED):
        con.execute(f"INSERT INTO relations {query}")
