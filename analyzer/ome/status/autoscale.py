"""What the status of an InferenceService says of its autoscalers: a class, who manages it, a target, counts, conditions.

Only what OME's controller wrote is looked at, as its command does; an HPA or a ScaledObject is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.ome.names import is_qualified, is_subdomain
from analyzer.ome.status import policy
from analyzer.ome.status.conditions import STATUSES, is_short
from analyzer.ome.world import COMPONENTS, Thing, is_count, items, mapping, string
from analyzer.times import parse

MAX_CONDITIONS = 64
"""More conditions of one autoscaler than this and the status is not read."""
_OWNER = {"HPA": "OME", "KEDA": "OME", "External": "External", "None": "None"}
"""Class → who must manage it."""
_SOURCES = ("isvc", "policy", "runtime", "legacy", "default")
_TARGETS = (("apps/v1", "Deployment"), ("ome.io/v1beta1", "InferenceReplica"))
_TYPES = {"HPA": ("AbleToScale", "ScalingActive", "ScalingLimited"), "KEDA": ("Ready", "Active", "Fallback", "Paused")}
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)
_MAX_TYPE, _MAX_REASON, _MAX_MESSAGE = 316, 1024, 32768


@dataclass(frozen=True, slots=True)
class Scale:
    """The autoscaler of one component, in OME's words; counts are None where they cannot be shown."""

    component: str
    state: str
    scaler: str = "Unknown"
    manager: str = "Unknown"
    target: str = "NotReported"
    replicas: str = "NotReported"
    conditions: str = "NotReported"
    current: int | None = None
    desired: int | None = None
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Autoscale:
    """The whole: a state, its evidence, the components, and issues as (component, code); too large a status is not read."""

    state: str
    evidence: str
    components: tuple[Scale, ...] = ()
    issues: tuple[tuple[str, str], ...] = ()
    too_large: bool = False

    @property
    def unusable(self) -> bool:
        """There are components, and none says anything of an autoscaler."""
        return self.state == "Unavailable" and self.evidence == "Reported"


def autoscale_of(service: Thing) -> Autoscale:
    """The autoscalers of an InferenceService."""
    held = mapping(service.status.get("components"))
    told = [items(mapping(mapping(one).get("autoscaler")).get("conditions")) for one in held.values()]
    large = any(len(one) > MAX_CONDITIONS or not all(is_short(condition) for condition in one) for one in told)
    if len(held) > len(COMPONENTS) or large:
        return Autoscale("Unavailable", "Unavailable", too_large=True)
    rows = tuple(_scale(service, name, mapping(held[name])) for name in COMPONENTS if name in held)
    unknown = bool(set(held) - set(COMPONENTS))
    issues = [("", "UnknownComponentStatus")] if unknown else []
    # An issue of the whole service comes last: its rank is behind that of every component.
    issues = [(row.component, code) for row in rows for code in row.issues] + issues
    return Autoscale(_summary(rows, unknown=unknown), "Reported" if rows or unknown else "Unavailable", rows, tuple(issues))


def _summary(rows: tuple[Scale, ...], *, unknown: bool) -> str:
    states = {row.state for row in rows}
    if unknown or "Invalid" in states:
        return "Invalid"
    if not states or states == {"NotReported"}:
        return "Unavailable"
    return "Partial" if states & {"Partial", "NotReported"} else "Reported"


def _scale(service: Thing, name: str, status: Mapping[str, Any]) -> Scale:
    target, issues = _target(status.get("scaleTargetRef"))
    scaler = status.get("autoscaler")
    if not isinstance(scaler, dict):
        state = "Invalid" if target == "Invalid" else "NotReported"
        return Scale(name, state, target=target, issues=tuple(sorted({*issues, "AutoscalerNotReported"})))
    kind, manager = string(scaler.get("class")), string(scaler.get("managedBy"))
    kind_ok, manager_ok = kind in _OWNER, manager in ("OME", "External", "None")
    source_ok = string(scaler.get("specSource")) in _SOURCES
    issues |= _named((kind_ok, "ClassInvalid"), (manager_ok, "ManagedByInvalid"), (source_ok, "SpecSourceInvalid"))
    unfit = policy.issue_of(scaler, service.spec.get(name), service.generation, _well_formed)
    issues |= {unfit} if unfit else set()
    owned = kind_ok and manager_ok and _OWNER[kind] == manager
    if kind_ok and manager_ok and not owned:
        issues.add("OwnershipMismatch")
    replicas, current, desired = "Invalid", None, None
    conditions = "Invalid"
    if owned and manager == "OME":
        replicas, current, desired, more = _counts(scaler)
        conditions, others = _conditions(kind, scaler)
        issues |= more | others
    elif owned:
        replicas = conditions = "Unavailable"
    malformed = False
    if kind in ("External", "None"):
        replicas, conditions, malformed, more = _uncalled(scaler, replicas, conditions)
        issues |= more
    state = _state(target, replicas, conditions, valid=owned and source_ok and not unfit, managed=manager == "OME")
    if malformed and state == "Reported":
        state = "Partial"
    shown = (kind if kind_ok else "Unknown", manager if manager_ok else "Unknown")
    return Scale(name, state, *shown, target, replicas, conditions, current, desired, tuple(sorted(issues)))


def _named(*checks: tuple[bool, str]) -> set[str]:
    return {code for holds, code in checks if not holds}


def _target(value: Any) -> tuple[str, set[str]]:
    if not isinstance(value, dict):
        return "NotReported", {"ScaleTargetNotReported"}
    known = (value.get("apiVersion"), value.get("kind")) in _TARGETS
    return ("Reported", set()) if known and is_subdomain(value.get("name")) else ("Invalid", {"ScaleTargetInvalid"})


def _counts(scaler: Mapping[str, Any]) -> tuple[str, int | None, int | None, set[str]]:
    """The replicas that OME's scaler has and wants. A count of 0 may be one that Go left out."""
    current, desired = (scaler.get(name, 0) for name in ("currentReplicas", "desiredReplicas"))
    last = scaler.get("lastScaleTime")
    if not (is_count(current) and is_count(desired)) or (last is not None and parse(last) is None):
        return "Invalid", None, None, {"ReplicaEvidenceInvalid"}
    if current == 0 or desired == 0:
        return "Ambiguous", current, desired, {"ReplicaEvidenceAmbiguous"}
    return "Reported", current, desired, set()


def _conditions(kind: str, scaler: Mapping[str, Any]) -> tuple[str, set[str]]:
    """The conditions of a scaler that OME manages."""
    found: dict[str, set[tuple[str, str]]] = {}
    invalid = False
    for one in items(scaler.get("conditions")):
        if _well_formed(one) and one["type"] == policy.RESOLVED:
            continue
        if not _well_formed(one) or one["type"] not in _TYPES[kind]:
            invalid = True
            continue
        found.setdefault(one["type"], set()).add((one["status"], one["lastTransitionTime"]))
    clash = any(len(told) > 1 for told in found.values())
    issues = _named((not clash, "ConditionConflict"), (not invalid, "ConditionInvalid"))
    if issues:
        return "Unavailable", issues
    return ("Reported" if found else "NotReported"), issues


def _uncalled(scaler: Mapping[str, Any], replicas: str, conditions: str) -> tuple[str, str, bool, set[str]]:
    """What a scaler that OME does not manage says all the same."""
    issues = set()
    if scaler.get("currentReplicas") or scaler.get("desiredReplicas") or scaler.get("lastScaleTime") is not None:
        replicas = "Invalid"
        issues.add("UnexpectedScalerEvidence")
    told = items(scaler.get("conditions"))
    malformed = any(not _well_formed(one) for one in told)
    if malformed:
        issues.add("ConditionInvalid")
    if any(_well_formed(one) and one["type"] != policy.RESOLVED for one in told):
        conditions = "Invalid"
        issues.add("UnexpectedScalerEvidence")
    return replicas, conditions, malformed, issues


def _well_formed(condition: Mapping[str, Any]) -> bool:
    """Whether a condition is one that Kubernetes takes (apimachinery's validation)."""
    kind, reason, message = (string(condition.get(name)) for name in ("type", "reason", "message"))
    observed = condition.get("observedGeneration", 0)
    return (
        bool(kind)
        and len(kind) <= _MAX_TYPE
        and is_qualified(kind)
        and condition.get("status") in STATUSES
        and parse(condition.get("lastTransitionTime")) is not None
        and len(reason) <= _MAX_REASON
        and _REASON.fullmatch(reason) is not None
        and len(message) <= _MAX_MESSAGE
        and isinstance(observed, int)
        and observed >= 0
    )


def _state(target: str, replicas: str, conditions: str, *, valid: bool, managed: bool) -> str:
    if not valid or "Invalid" in (target, replicas, conditions):
        return "Invalid"
    lacking = target == "NotReported" or replicas in ("Ambiguous", "NotReported") or conditions == "NotReported"
    return "Partial" if lacking or (managed and conditions == "Unavailable") else "Reported"
