"""Nodes: their state, what holds them back, their GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts import cordons
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, moment, stored, text

_ROLE = "node-role.kubernetes.io/"
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_NO_STATUS = "The bundle has this Node without a status."


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `nodes`, and the Nodes' rows of `states`."""
    rows = con.execute(
        "SELECT name, json_extract_string(json, '$.spec.renewTime') FROM objects "
        "WHERE api_group = 'coordination.k8s.io' AND kind = 'Lease' AND namespace = 'kube-node-lease'"
    ).fetchall()
    leases = {str(name): moment(renewed) for name, renewed in rows}
    insert_rows(con, "nodes", _rows(con, leases))
    con.execute(
        "INSERT INTO states SELECT object_id, '', 'Node', '', name, state, reason, message, since FROM nodes ORDER BY object_id"
    )


def _rows(con: duckdb.DuckDBPyConnection, leases: dict[str, datetime | None]) -> Iterator[dict[str, Any]]:
    for node in stored(con, [("", "Node")]):
        yield _row(node, leases.get(node.name))


def _row(node: Stored, renewed: datetime | None) -> dict[str, Any]:
    meta, spec, status = (mapping(node.value.get(part)) for part in ("metadata", "spec", "status"))
    labels = mapping(meta.get("labels"))
    conditions = mappings(status.get("conditions"))
    ready = next((item for item in conditions if item.get("type") == "Ready"), {})
    taints = mappings(spec.get("taints"))
    cordon = next((taint for taint in taints if taint.get("key") == _UNSCHEDULABLE), {})
    cordoned = spec.get("unschedulable") is True
    cordoned_since = moment(cordon.get("timeAdded")) if cordoned else None
    state = _state(text(ready.get("status")), cordoned)
    beats = [moment(item.get("lastHeartbeatTime")) for item in conditions]
    info = mapping(status.get("nodeInfo"))
    gpu, gpus = _gpus(labels, mapping(status.get("capacity")))
    hint = cordons.explain(node.value) if cordoned else None
    return {
        "object_id": node.object_id,
        "input": node.input,
        "name": node.name,
        "state": state,
        "reason": text(ready.get("reason")),
        "message": text(ready.get("message")) if status else _NO_STATUS,
        "since": cordoned_since if state == "Cordoned" else moment(ready.get("lastTransitionTime")),
        "ready": text(ready.get("status")),
        "cordoned": cordoned,
        "cordoned_since": cordoned_since,
        "cordon_hint": hint.words if hint else None,
        "cordon_path": hint.path if hint else None,
        "cordon_value": hint.value if hint else None,
        "roles": sorted(label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE)),
        "taints": [f"{taint.get('key')}={taint.get('value') or ''}:{taint.get('effect')}" for taint in taints],
        "kubelet": text(info.get("kubeletVersion")),
        "os": text(info.get("osImage")),
        "kernel": text(info.get("kernelVersion")),
        "runtime": text(info.get("containerRuntimeVersion")),
        "gpu": gpu,
        "gpus": gpus,
        "heartbeat_at": max((beat for beat in [*beats, renewed] if beat is not None), default=None),
    }


def _state(ready: str | None, cordoned: bool) -> str:
    """The catalogue's state: the first of Unknown, Not ready, Cordoned and Ready that applies."""
    if ready not in ("True", "False"):
        return "Unknown"
    if ready == "False":
        return "Not ready"
    return "Cordoned" if cordoned else "Ready"


def _gpus(labels: dict[str, Any], capacity: dict[str, Any]) -> tuple[bool, int | None]:
    """Whether the node has GPUs, and how many: by GPU feature discovery's label, else by the device plugin's resource.

    With time slicing the resource counts replicas, so the label comes first. MIG slices are no GPUs: a node that
    offers only slices has GPUs of an unknown number.
    """
    counted = _whole(labels.get("nvidia.com/gpu.count"))
    offered = _whole(capacity.get("nvidia.com/gpu"))
    slices = any(_whole(value) for name, value in capacity.items() if name.startswith("nvidia.com/mig-"))
    gpu = labels.get("nvidia.com/gpu.present") == "true" or bool(counted) or bool(offered) or slices
    if not gpu:
        return False, 0
    return True, counted if counted is not None else offered or None


def _whole(value: Any) -> int | None:
    """A small whole number written as text or as a number."""
    word = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 7 else None
