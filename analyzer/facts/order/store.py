"""What was read of orders, classes, models, GPUs and pods, as rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.order.reading import state
from analyzer.facts.order.world import Order, World
from analyzer.facts.rows import insert_rows


def write(con: duckdb.DuckDBPyConnection, world: World) -> None:
    """Fills `orders`, `order_classes`, `order_models`, `order_gpus`, `order_pods` and the orders' rows of `states`."""
    insert_rows(con, "orders", (_order(world, order) for order in world.orders))
    insert_rows(con, "order_classes", _classes(world))
    insert_rows(con, "order_models", _models(world))
    insert_rows(con, "order_gpus", world.fleet.rows)
    insert_rows(con, "order_pods", _pods(world))
    insert_rows(con, "states", _states(world))


def _order(world: World, order: Order) -> dict[str, Any]:
    found, model = world.class_of(order), world.model_of(order)
    space = order.source.namespace or ("" if order.source.kind == "ClusterModel" else order.namespace)
    return {
        "object_id": order.object_id,
        "input": order.input,
        "api_group": order.group,
        "namespace": order.namespace,
        "name": order.name,
        "class": order.class_name,
        "class_id": found.object_id if found else None,
        "source": order.source.source,
        "model_kind": order.source.kind,
        "model_namespace": space,
        "model": order.source.name,
        "model_id": model.object_id if model else None,
        "secret": order.secret,
        "state": state(order).name,
        "phase": order.phase,
        "generation": order.generation,
        "observed": order.observed,
        "endpoint_type": order.endpoint_type,
        "replans": order.replans,
        "replicas": next((wanted for _, _, _, wanted, _ in order.workloads if wanted is not None), None),
        "pods": len(order.pods),
        "ready_pods": sum(pod.ready for pod in order.pods),
        "serves": order.serves,
    }


def _classes(world: World) -> Iterator[dict[str, Any]]:
    for one in world.classes.values():
        yield {
            "object_id": one.object_id,
            "input": one.input,
            "name": one.name,
            "ready": one.ready,
            "namespaces": None if one.namespaces is None else list(one.namespaces),
            "selects": one.selects,
            "endpoint_types": None if one.endpoint_types is None else list(one.endpoint_types),
            "formats": None if one.formats is None else list(one.formats),
            "max_parameters": one.max_parameters,
            "scaling": one.scaling,
            "min_replicas": _small(one.min_replicas),
            "max_replicas": _small(one.max_replicas),
            "priority_class": one.priority_class,
            "device_classes": list(one.device_classes),
        }


def _models(world: World) -> Iterator[dict[str, Any]]:
    for one in world.models.values():
        ready = one.ready
        yield {
            "object_id": one.object_id,
            "input": one.input,
            "kind": one.kind,
            "namespace": one.namespace,
            "name": one.name,
            "phase": one.phase,
            "reason": ready.reason or None if ready else None,
            "message": ready.message or None if ready else None,
            "since": ready.since if ready else None,
            "format": one.format,
            "parameters": one.parameters,
            "endpoint_types": None if one.endpoint_types is None else list(one.endpoint_types),
            "quantization": one.quantization,
            "architecture": one.architecture,
        }


def _pods(world: World) -> Iterator[dict[str, Any]]:
    for order in world.orders:
        grown = _has_what_it_needs(world, order)
        for pod in order.pods:
            yield {
                "object_id": order.object_id,
                "pod_id": pod.pod_id,
                "namespace": pod.namespace,
                "pod": pod.name,
                "ready": pod.ready,
                "pending": pod.pending,
                "stuck": pod.stuck,
                "container": pod.container,
                "restarts": pod.restarts,
                "status_path": pod.status_path,
                "unallocated": pod.unallocated,
                "allocated": bool(pod.claims) and all(allocated for _, _, allocated in pod.claims),
                "grows": grown and pod.pending and bool(pod.unallocated),
            }


def _has_what_it_needs(world: World, order: Order) -> bool:
    """Whether the order serves with as many replicas as its class asks for at least, so that more of them are growth."""
    found = world.class_of(order)
    least = max(1, (found.min_replicas if found else None) or 1)
    return order.serves and sum(pod.ready for pod in order.pods) >= least


def _states(world: World) -> Iterator[dict[str, Any]]:
    for order in world.orders:
        found = state(order)
        yield {
            "object_id": order.object_id,
            "api_group": order.group,
            "kind": "InferenceService",
            "namespace": order.namespace,
            "name": order.name,
            "state": found.name,
            "reason": found.reason,
            "message": found.message,
            "since": found.since,
        }


def _small(value: int | None) -> int | None:
    return value if value is not None and value < 2**31 else None
