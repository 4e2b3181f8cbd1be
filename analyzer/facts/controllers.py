"""What the controllers of pods want, and what their status says they have."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, flag, mapping, mappings, moment, number, stored, text

_KINDS = (
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("", "ReplicationController"),
    ("apps.openshift.io", "DeploymentConfig"),
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `controllers`. An object without status (a manifest) has no row: what it has is not known."""
    insert_rows(con, "controllers", (_row(item) for item in stored(con, _KINDS) if mapping(item.value.get("status"))))


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    generation = number(mapping(item.value.get("metadata")).get("generation"))
    observed = number(status.get("observedGeneration"))
    row: dict[str, Any] = {
        "object_id": item.object_id,
        "api_group": item.group,
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "observed": generation is None or observed is None or observed >= generation,
        "paused": flag(spec.get("paused")) or False,
        "available_since": next(
            (
                moment(condition.get("lastTransitionTime"))
                for condition in mappings(status.get("conditions"))
                if text(condition.get("type")) == "Available"
            ),
            None,
        ),
    }
    if item.kind == "DaemonSet":
        available = number(status.get("numberAvailable")) or 0
        return row | {
            "wanted": number(status.get("desiredNumberScheduled")) or 0,
            "created": number(status.get("currentNumberScheduled")) or 0,
            "ready": max(number(status.get("numberReady")) or 0, available),
            "available": available,
            "updated": number(status.get("updatedNumberScheduled")) or 0,
        }
    replicas = number(spec.get("replicas"))
    available = number(status.get("availableReplicas")) or 0
    return row | {
        "wanted": 1 if replicas is None else replicas,
        "created": number(status.get("replicas")) or 0,
        # A pod that is available has been ready for a while, so a status that leaves `ready` out still says this much.
        "ready": max(number(status.get("readyReplicas")) or 0, available),
        "available": available,
        "updated": number(status.get("updatedReplicas")) or 0,
    }
