"""Reading a bundle's orders, with what they name and what they made, out of the tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import duckdb

from analyzer.facts.order import shapes
from analyzer.facts.order.fleet import load_fleet
from analyzer.facts.order.shapes import GROUP
from analyzer.facts.order.world import Order, Pod, Told, World
from analyzer.facts.values import Stored, mapping, stored, text
from analyzer.facts.whole import Whole

_HARD = (
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
)
"""The kubelet's reasons of a waiting container that waiting does not mend."""


def load(con: duckdb.DuckDBPyConnection) -> World:
    """Reads it all; the tables that are derived from are those that `analyzer.facts.order.derive` names."""
    orders = [_order(item) for item in _of_kinds(con, [shapes.SERVICE]) if shapes.is_order(item)]
    models = [shapes.read_model(item) for item in _of_kinds(con, shapes.MODEL_KINDS) if shapes.is_model(item)]
    groups = {order.group for order in orders} | {GROUP}
    classes = {}
    class_group = GROUP
    for item in _class_items(con, groups):
        one = shapes.read_class(item)
        classes[(one.input, one.name)] = one
        class_group = item.group if item.kind == shapes.CLASS else class_group
    _add_workloads(con, orders)
    _add_pods(con, orders)
    return World(
        con=con,
        orders=orders,
        classes=classes,
        models={(one.input, one.kind, one.namespace, one.name): one for one in models},
        events=_events(con),
        fleet=load_fleet(con),
        whole=Whole.read(con),
        as_of={number: moment for number, moment in con.execute("SELECT input, as_of FROM inputs").fetchall() if moment},
        class_group=class_group,
    )


def _of_kinds(con: duckdb.DuckDBPyConnection, kinds: Iterable[str]) -> Iterator[Stored]:
    """The objects of these kinds in any API group, but for those that other programs own."""
    rows = con.execute(
        "SELECT DISTINCT api_group, kind FROM objects WHERE kind IN (SELECT unnest(?::VARCHAR[])) "
        "AND api_group NOT IN ('serving.kserve.io', 'serving.kubeflow.org', 'ome.io')",
        [list(kinds)],
    ).fetchall()
    if rows:
        yield from stored(con, sorted(rows))


def _class_items(con: duckdb.DuckDBPyConnection, groups: set[str]) -> Iterator[Stored]:
    """Classes of orders: of the kind's own name, or in the groups of orders by their shape."""
    rows = con.execute(
        "SELECT DISTINCT api_group, kind FROM objects WHERE kind = ? OR (api_group IN (SELECT unnest(?::VARCHAR[])) "
        "AND ends_with(kind, 'Class'))",
        [shapes.CLASS, sorted(groups)],
    ).fetchall()
    if rows:
        yield from (item for item in stored(con, sorted(rows)) if shapes.is_class(item))


def _order(item: Stored) -> Order:
    status = mapping(item.value.get("status"))
    return Order(
        object_id=item.object_id,
        input=item.input,
        group=item.group,
        namespace=item.namespace,
        name=item.name,
        class_name=shapes.class_name(item.value),
        source=shapes.source(item.value),
        secret=shapes.secret(item.value),
        phase=shapes.phase(item.value),
        phase_path="status.phase" if text(status.get("phase")) else "status.state",
        generation=shapes.whole(mapping(item.value.get("metadata")).get("generation")),
        conditions=shapes.conditions(item.value),
        endpoint_type=text(mapping(status.get("model")).get("endpointType")),
        replans=shapes.replans(item.value),
        device_classes=shapes.device_classes(item.value),
        created_at=item.created_at,
        has_status=bool(status),
        uid=item.uid,
        constraints=mapping(status.get("constraints")),
    )


_WORKLOADS = """
SELECT w.owner_id, c.object_id, c.kind, c.name, c.wanted, c.ready
FROM owners w JOIN controllers c USING (object_id)
WHERE w.owner_kind = 'InferenceService' AND w.owner_id IS NOT NULL
ORDER BY c.object_id
"""

# A pod belongs to what owns it, and to what owns that: StatefulSet or Deployment → order.
_PODS = """
WITH RECURSIVE up AS (
    SELECT p.object_id AS pod_id, w.owner_id AS object_id, 1 AS step
    FROM pods p JOIN owners w USING (object_id) WHERE w.owner_id IS NOT NULL
    UNION
    SELECT u.pod_id, w.owner_id, u.step + 1 FROM up u JOIN owners w USING (object_id) WHERE w.owner_id IS NOT NULL AND u.step < 4
)
SELECT DISTINCT o.object_id, p.object_id, p.namespace, p.name, coalesce(p.ready, false), p.node = '', p.state, p.node,
    p.ready_since
FROM up u JOIN objects o ON o.object_id = u.object_id AND o.kind = 'InferenceService' JOIN pods p ON p.object_id = u.pod_id
WHERE p.deleted_at IS NULL AND p.state NOT IN ('Succeeded', 'Evicted', 'Rejected', 'Failed')
ORDER BY p.name, p.object_id
"""

# The container that keeps a pod from starting, else the one that ended last.
_CONTAINERS = """
SELECT c.object_id, c.container, c.restarts, c.status_path, CASE WHEN c.state = 'waiting' THEN c.reason END,
    c.end_words, c.end_reason, c.end_path, c.end_log_id, l.line, l.words
FROM containers c LEFT JOIN log_ends l ON l.log_id = c.end_log_id AND l.telling
WHERE c.object_id IN (SELECT unnest(?::BIGINT[])) AND c.type <> 'ephemeral'
ORDER BY c.object_id, c.type = 'main' DESC, c.idx
"""

_CLAIMS = """
SELECT p.object_id, coalesce(p.claim, p.ref), p.claim_id,
    CASE WHEN c.object_id IS NOT NULL THEN c.state IN ('Allocated', 'In use') END
FROM pod_claims p LEFT JOIN claims c ON c.object_id = p.claim_id
WHERE p.object_id IN (SELECT unnest(?::BIGINT[])) AND p.status <> 'not-needed'
ORDER BY p.object_id, p.ref
"""

_EVENTS = """
SELECT object_id, input, about_id, about_group, about_namespace, about_name, reason, coalesce(message, ''),
    first_at, last_at, coalesce(times, 1)
FROM events
WHERE about_kind = 'InferenceService' AND about_name <> ''
    AND about_group NOT IN ('serving.kserve.io', 'serving.kubeflow.org', 'ome.io')
ORDER BY about_namespace, about_name, reason, last_at DESC NULLS LAST, object_id
"""


def _add_workloads(con: duckdb.DuckDBPyConnection, orders: list[Order]) -> None:
    by_id = {order.object_id: order for order in orders}
    for owner, object_id, kind, name, wanted, ready in con.execute(_WORKLOADS).fetchall() if orders else ():
        if owner in by_id:
            by_id[owner].workloads.append((object_id, kind, name, wanted, ready))


def _add_pods(con: duckdb.DuckDBPyConnection, orders: list[Order]) -> None:
    by_id = {order.object_id: order for order in orders}
    pods: dict[int, Pod] = {}
    for owner, *row in con.execute(_PODS).fetchall() if orders else ():
        if owner in by_id:
            pods[row[0]] = Pod(*row)
            by_id[owner].pods.append(pods[row[0]])
    if not pods:
        return
    ends: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for object_id, *row in con.execute(_CONTAINERS, [list(pods)]).fetchall():
        ends[object_id].append(tuple(row))
    for object_id, rows in ends.items():
        _blame(pods[object_id], rows)
    for object_id, name, claim_id, allocated in con.execute(_CLAIMS, [list(pods)]).fetchall():
        pods[object_id].claims.append((name, claim_id, allocated))


def _blame(pod: Pod, rows: list[tuple[Any, ...]]) -> None:
    """Keeps of a pod's containers the one that cannot start, else the one that ended last."""
    hard = next((row for row in rows if row[3] in _HARD), None)
    row = hard or next((row for row in rows if row[4]), rows[0])
    pod.container, pod.restarts, pod.status_path = row[0], row[1] or 0, row[2]
    pod.stuck = row[3] if hard else None
    pod.end_words, pod.end_reason, pod.end_path, pod.log_id, pod.line, pod.words = row[4:]


def _events(con: duckdb.DuckDBPyConnection) -> list[Told]:
    return [Told(*row) for row in con.execute(_EVENTS).fetchall()]
