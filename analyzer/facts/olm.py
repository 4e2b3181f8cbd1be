"""Operators installed by the Operator Lifecycle Manager: ClusterServiceVersion, InstallPlan, Subscription.

OLM copies the ClusterServiceVersion of an operator that watches all namespaces into each of them, with reason
`Copied` and the phase of the original. Field meanings are those of the API operators.coreos.com/v1alpha1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, moment, one_line, strings, text

GROUP = "operators.coreos.com"
_WAITING = ("InstallReady", "Installing", "Replacing")
_SUBSCRIPTION_FAULTS = ("InstallPlanFailed", "ResolutionFailed", "BundleUnpackFailed")
_MET = ("Present", "Satisfied")
_UNMET_SHOWN = 3

Key = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class Operators:
    """The three kinds by namespace and name."""

    versions: dict[Key, dict[str, Any]] = field(default_factory=dict)
    plans: dict[Key, dict[str, Any]] = field(default_factory=dict)
    subscriptions: dict[Key, dict[str, Any]] = field(default_factory=dict)
    failed_plans: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """Failed InstallPlans by the ClusterServiceVersion that they install."""
    wanted: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """Subscriptions by their current ClusterServiceVersion."""
    plans_in_use: dict[str, set[str]] = field(default_factory=dict)
    """Namespace → the InstallPlans that its Subscriptions point to."""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `olm_installs`, and the relations `csv`, `subscription` and `catalog`."""
    operators = _load(con)
    insert_rows(con, "olm_installs", _installs(operators))
    insert_rows(con, "relations", _relations(con, operators))


def _load(con: duckdb.DuckDBPyConnection) -> Operators:
    found = Operators()
    for kind, table, spec in (
        ("ClusterServiceVersion", found.versions, ["replaces"]),
        ("InstallPlan", found.plans, ["clusterServiceVersionNames"]),
        ("Subscription", found.subscriptions, ["source", "sourceNamespace"]),
    ):
        # The rest of a ClusterServiceVersion's spec is large and of no use here.
        fields = "".join(f", json -> '$.spec.{name}'" for name in spec)
        rows = con.execute(
            "SELECT object_id, namespace, name, deleted_at IS NOT NULL, json -> '$.metadata.labels', json -> '$.status'"  # noqa: S608
            f"{fields} FROM objects WHERE api_group = ? AND kind = ? ORDER BY object_id",
            [GROUP, kind],
        ).fetchall()
        for object_id, namespace, name, deleted, labels, status, *values in rows:
            table[(namespace, name)] = {
                "id": object_id,
                "deleted": deleted,
                "labels": mapping(_json(labels)),
                "status": mapping(_json(status)),
                **dict(zip(spec, map(_json, values), strict=True)),
            }
    for (namespace, _), plan in found.plans.items():
        if _plan_words(plan):
            found.failed_plans |= {(namespace, name): plan for name in strings(plan["clusterServiceVersionNames"])}
    for (namespace, _), subscription in found.subscriptions.items():
        found.wanted[(namespace, str(subscription["status"].get("currentCSV")))] = subscription
        if name := _plan_name(subscription):
            found.plans_in_use.setdefault(namespace, set()).add(name)
    return found


def _json(value: str | None) -> Any:
    return orjson.loads(value) if value else None


def _installs(found: Operators) -> Iterator[dict[str, Any]]:
    """All rows of `olm_installs`."""
    told: set[int] = set()
    failed: set[tuple[str, str | None]] = set()
    for (namespace, name), version in found.versions.items():
        row = _version_row(namespace, name, version)
        if not row["copied"]:
            plan = found.failed_plans.get((namespace, name))
            subscription = found.wanted.get((namespace, name))
            if plan:
                told.add(plan["id"])
                row |= _plan_words(plan)
            if subscription:
                told.add(subscription["id"])
                row |= _subscription_words(subscription)
        yield row
    for (namespace, name), plan in found.plans.items():
        # A Subscription that points to another InstallPlan has moved on.
        in_use = found.plans_in_use.get(namespace) or {name}
        if plan["id"] not in told and name in in_use and (words := _plan_words(plan)):
            failed.add((namespace, name))
            yield _bare(plan, namespace, name, "InstallPlan", words["plan_message"], words["plan_path"]) | words
    for (namespace, name), subscription in found.subscriptions.items():
        current = text(subscription["status"].get("currentCSV"))
        settled = (namespace, current) in found.versions
        if subscription["id"] in told or subscription["deleted"] or settled or (namespace, _plan_name(subscription)) in failed:
            continue
        if words := _subscription_words(subscription):
            message, path = words["subscription_message"], words["subscription_path"]
            yield _bare(subscription, namespace, name, "Subscription", message, path) | words


def _version_row(namespace: str, name: str, version: dict[str, Any]) -> dict[str, Any]:
    status = version["status"]
    phase, reason, message = text(status.get("phase")), text(status.get("reason")), text(status.get("message"))
    reason_path, message_path = "status.reason", "status.message"
    source = text(version["labels"].get("olm.copiedFrom"))
    copied = reason == "Copied" or (source is not None and source != namespace)
    if copied:
        conditions = mappings(status.get("conditions"))
        last = conditions[-1] if conditions else {}
        reason, message = text(last.get("reason")), text(last.get("message"))
        reason_path = f"status.conditions[{len(conditions) - 1}].reason" if conditions else "status.phase"
        message_path = f"status.conditions[{len(conditions) - 1}].message" if conditions else "status.phase"
    unmet, unmet_path = _unmet(status)
    return {
        "object_id": version["id"],
        "home": source or _home(status) if copied else namespace,
        "namespace": namespace,
        "name": name,
        "kind": "ClusterServiceVersion",
        "copied": copied,
        "verdict": "well" if version["deleted"] else _verdict(phase, reason),
        "phase": phase,
        "reason": reason,
        "message": message,
        "reason_path": reason_path,
        "message_path": message_path,
        "since": moment(status.get("lastTransitionTime")),
        "unmet": unmet,
        "unmet_path": unmet_path,
    }


def _home(status: dict[str, Any]) -> str:
    """OLM's message on a copy: "The operator is running in NAMESPACE but is managing this namespace"."""
    words = (text(status.get("message")) or "").split()
    return words[5] if words[:5] == ["The", "operator", "is", "running", "in"] and len(words) > 5 else ""


def _verdict(phase: str | None, reason: str | None) -> str:
    if phase == "Failed" or (phase == "Pending" and reason == "RequirementsNotMet"):
        return "failed"
    return "waiting" if phase in _WAITING else "well"


def _unmet(status: dict[str, Any]) -> tuple[str | None, str | None]:
    """The requirements that are not met, in words, and the field of the first."""
    words, path = [], None
    for index, need in enumerate(mappings(status.get("requirementStatus"))):
        if need.get("status") in _MET or not text(need.get("kind")):
            continue
        path = path or f"status.requirementStatus[{index}].{'message' if text(need.get('message')) else 'status'}"
        why = text(need.get("message")) or text(need.get("status")) or "not met"
        words.append(f"{need['kind']} {need.get('name') or ''}: {one_line(why, 200)}")
    more = len(words) - _UNMET_SHOWN
    return ("; ".join(words[:_UNMET_SHOWN]) + (f"; and {more} more" if more > 0 else "") if words else None), path


def _plan_words(plan: dict[str, Any]) -> dict[str, Any]:
    """What a failed InstallPlan says; empty where it did not fail."""
    status = plan["status"]
    if status.get("phase") != "Failed" or plan["deleted"]:
        return {}
    for index, condition in enumerate(mappings(status.get("conditions"))):
        if condition.get("status") == "False" and text(condition.get("message")):
            path = f"status.conditions[{index}].message"
            return {"plan_id": plan["id"], "plan_message": condition["message"], "plan_path": path}
    message = text(status.get("message"))
    return {
        "plan_id": plan["id"],
        "plan_message": message or "Failed",
        "plan_path": "status.message" if message else "status.phase",
    }


def _subscription_words(subscription: dict[str, Any]) -> dict[str, Any]:
    """What a Subscription says went wrong; empty where nothing did."""
    for index, condition in enumerate(mappings(subscription["status"].get("conditions"))):
        if condition.get("type") in _SUBSCRIPTION_FAULTS and condition.get("status") == "True":
            message = text(condition.get("message")) or text(condition.get("reason")) or ""
            where = "message" if text(condition.get("message")) else "reason" if message else "type"
            return {
                "subscription_id": subscription["id"],
                "subscription_message": f"{condition['type']}: {message}" if message else condition["type"],
                "subscription_path": f"status.conditions[{index}].{where}",
            }
    return {}


def _bare(thing: dict[str, Any], namespace: str, name: str, kind: str, message: str, path: str) -> dict[str, Any]:
    """A row of an InstallPlan or a Subscription that has no ClusterServiceVersion."""
    status = thing["status"]
    conditions = mappings(status.get("conditions"))
    times = [
        moment(condition.get("lastTransitionTime"))
        for index, condition in enumerate(conditions)
        if path.startswith(f"status.conditions[{index}].")
    ]
    return {
        "object_id": thing["id"],
        "home": namespace,
        "namespace": namespace,
        "name": name,
        "kind": kind,
        "copied": False,
        "verdict": "failed",
        "phase": text(status.get("phase")) or text(status.get("state")),
        "reason": text(conditions[0].get("reason")) if conditions else None,
        "message": message,
        "reason_path": path,
        "message_path": path,
        "since": times[0] if times else None,
    }


def _plan_name(subscription: dict[str, Any]) -> str | None:
    return text(mapping(subscription["status"].get("installPlanRef")).get("name"))


def _relations(con: duckdb.DuckDBPyConnection, found: Operators) -> Iterator[dict[str, Any]]:
    for (namespace, name), version in found.versions.items():
        source = text(version["labels"].get("olm.copiedFrom"))
        original = found.versions.get((source or "", name))
        if original and source != namespace:
            yield {"src": original["id"], "dst": version["id"], "kind": "csv"}
        replaced = found.versions.get((namespace, version["replaces"] if isinstance(version["replaces"], str) else ""))
        if replaced:
            yield {"src": version["id"], "dst": replaced["id"], "kind": "csv"}
    for (namespace, _), plan in found.plans.items():
        for name in strings(plan["clusterServiceVersionNames"]):
            if (namespace, name) in found.versions:
                yield {"src": plan["id"], "dst": found.versions[(namespace, name)]["id"], "kind": "subscription"}
    catalogs = {
        (namespace, name): object_id
        for object_id, namespace, name in con.execute(
            "SELECT object_id, namespace, name FROM objects WHERE api_group = ? AND kind = 'CatalogSource'", [GROUP]
        ).fetchall()
    }
    for (namespace, _), subscription in found.subscriptions.items():
        version = found.versions.get((namespace, str(subscription["status"].get("currentCSV"))), {})
        if version:
            yield {"src": subscription["id"], "dst": version["id"], "kind": "subscription"}
        catalog = catalogs.get((str(subscription["sourceNamespace"]), str(subscription["source"])))
        if catalog is not None:
            yield {"src": catalog, "dst": subscription["id"], "kind": "catalog"}
