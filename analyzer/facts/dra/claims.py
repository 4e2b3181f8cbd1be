"""ResourceClaims: their state, what they ask for, what they hold and who uses them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.dra import shapes
from analyzer.facts.dra.hosts import hosts, pinned
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, moment, stored, strings, text

KIND = ("resource.k8s.io", "ResourceClaim")


@dataclass(slots=True)
class _Rows:
    claims: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    devices: list[dict[str, Any]] = field(default_factory=list)
    users: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _State:
    state: str
    reason: str | None
    message: str | None
    since: datetime | None


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `claims`, `claim_requests`, `claim_devices`, `claim_users` and the claims' rows of `states`; needs `nodes`."""
    known = hosts(con)
    rows = _Rows()
    for claim in stored(con, [KIND]):
        if not shapes.is_classic(claim.value):
            _add(rows, claim, known)
    insert_rows(con, "claims", rows.claims)
    insert_rows(con, "claim_requests", rows.requests)
    insert_rows(con, "claim_devices", rows.devices)
    insert_rows(con, "claim_users", rows.users)
    con.execute(
        "INSERT INTO states SELECT object_id, 'resource.k8s.io', 'ResourceClaim', namespace, name, state, reason, message, since "
        "FROM claims ORDER BY object_id"
    )


def _add(rows: _Rows, claim: Stored, known: dict[str, str]) -> None:
    spec, status = mapping(claim.value.get("spec")), mapping(claim.value.get("status"))
    allocation = shapes.allocation(status)
    results = mappings(mapping((allocation or {}).get("devices")).get("results"))
    conditions = _conditions(status)
    devices = [_device(claim.object_id, idx, result, conditions) for idx, result in enumerate(results)]
    users = [_user(claim.object_id, idx, user) for idx, user in enumerate(mappings(status.get("reservedFor")))]
    unbound = sorted({name for result in results for name in _unbound(result, conditions)})
    allocated_at = moment((allocation or {}).get("allocationTimestamp"))
    selector = (allocation or {}).get("nodeSelector")
    node = pinned(selector, known)
    state = _state(claim, allocation, devices, users)
    rows.devices += devices
    rows.users += users
    for request in shapes.requests(spec):
        rows.requests.append(
            {
                "object_id": claim.object_id,
                "request": request.name,
                "class": request.device_class,
                "mode": request.mode,
                "count": request.count,
                "admin": request.admin,
                "selectors": list(request.selectors),
                "path": request.path,
            }
        )
    rows.claims.append(
        {
            "object_id": claim.object_id,
            "input": claim.input,
            "namespace": claim.namespace,
            "name": claim.name,
            "uid": claim.uid,
            "state": state.state,
            "reason": state.reason,
            "message": state.message,
            "since": state.since,
            "requests": shapes.in_words(spec),
            "devices": [_key(row) for row in devices],
            "node": node,
            "node_selector": None if node else shapes.selector_words(selector),
            "users": [_user_words(row) for row in users],
            "unbound": unbound,
            "allocated_at": allocated_at,
        }
    )


def _key(row: dict[str, Any]) -> str:
    return f"{row['driver']}/{row['pool']}/{row['device']}"


def _user_words(row: dict[str, Any]) -> str:
    return str(row["name"]) if row["resource"] == "pods" else f"{row['resource']}/{row['name']}"


def _user(object_id: int, idx: int, user: dict[str, Any]) -> dict[str, Any]:
    return {
        "object_id": object_id,
        "idx": idx,
        "resource": text(user.get("resource")) or "",
        "name": text(user.get("name")) or "",
        "uid": text(user.get("uid")) or "",
    }


_Key = tuple[str, str, str, str]


def _of(item: dict[str, Any]) -> _Key:
    parts = (text(item.get(name)) or "" for name in ("driver", "pool", "device", "shareID"))
    return tuple(parts)  # type: ignore[return-value]


def _conditions(status: dict[str, Any]) -> dict[_Key, list[tuple[str, dict[str, Any]]]]:
    """The conditions that drivers report of allocated devices: device → (field, condition)."""
    found: dict[_Key, list[tuple[str, dict[str, Any]]]] = {}
    for idx, item in enumerate(mappings(status.get("devices"))):
        for number, condition in enumerate(mappings(item.get("conditions"))):
            found.setdefault(_of(item), []).append((f"status.devices[{idx}].conditions[{number}]", condition))
    return found


def _unbound(result: dict[str, Any], conditions: dict[_Key, list[tuple[str, dict[str, Any]]]]) -> list[str]:
    """The binding conditions of an allocated device that are not True."""
    true = {condition.get("type") for _, condition in conditions.get(_of(result), []) if condition.get("status") == "True"}
    return [name for name in strings(result.get("bindingConditions")) if name not in true]


def _device(
    object_id: int, idx: int, result: dict[str, Any], conditions: dict[_Key, list[tuple[str, dict[str, Any]]]]
) -> dict[str, Any]:
    failures = strings(result.get("bindingFailureConditions"))
    path, failed = next(
        (
            (path, condition)
            for path, condition in conditions.get(_of(result), [])
            if condition.get("status") == "True" and condition.get("type") in failures
        ),
        (None, {}),
    )
    driver, pool, device, share = _of(result)
    return {
        "object_id": object_id,
        "idx": idx,
        "request": text(result.get("request")) or "",
        "driver": driver,
        "pool": pool,
        "device": device,
        "share": share or None,
        "admin": result.get("adminAccess") is True,
        "failed": text(failed.get("type")),
        "failed_path": path,
        "failed_message": text(failed.get("message")) or text(failed.get("reason")),
        "failed_since": moment(failed.get("lastTransitionTime")),
    }


def _state(
    claim: Stored, allocation: dict[str, Any] | None, devices: list[dict[str, Any]], users: list[dict[str, Any]]
) -> _State:
    """The first state of the catalogue that applies."""
    held = ", ".join(_key(row) for row in devices[:8]) + (f" and {len(devices) - 8} more" if len(devices) > 8 else "")
    used = ", ".join(_user_words(row) for row in users[:8])
    failed = next((row for row in devices if row["failed"]), None)
    if claim.deleted_at is not None:
        words = f"holds {held}" if held else None
        return _State("Deleting", None, f"{words or 'not allocated'}{f', used by {used}' if used else ''}", claim.deleted_at)
    if failed is not None:
        words = f"{_key(failed)}: {failed['failed']} is True"
        message = f"{words}, {failed['failed_message']}" if failed["failed_message"] else words
        return _State("Binding failed", failed["failed"], message, failed["failed_since"])
    if allocation is None:
        odd = f"it is reserved for {used}, though nothing is allocated" if users else None
        return _State("Pending", None, odd, claim.created_at)
    since = moment(allocation.get("allocationTimestamp"))
    if users:
        return _State("In use", None, f"{held or 'no device'}, used by {used}", since)
    return _State("Allocated", None, held or "no device", since)
