"""The conditions of an InferenceService: which one says whether it is ready, and whether that can be relied on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.ome.safe import MESSAGE_WIDTH, REASON_WIDTH, text
from analyzer.ome.world import Thing, items, string
from analyzer.times import parse

MAX_CONDITIONS = 64
"""More conditions than this are not looked at."""
MAX_TYPE, MAX_REASON, MAX_MESSAGE = 253, 1024, 4096
"""Longest parts of a condition, in bytes."""
_MAX_SCALED_TYPE = 256
"""Longest type of a condition of an autoscaler or of the traffic."""
SKEW = timedelta(minutes=15)
"""How far behind the end of a collection a time may lie: a bundle tells that end by its own clock, and to the minute at best."""
STATUSES = ("True", "False", "Unknown")
_SEVERITIES = ("", "Warning", "Info")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was looked at: Complete, Partial or LimitExceeded, and what was wrong with it."""

    state: str
    total: int
    inspected: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """What a condition says: its status or NotRecorded, Valid, Invalid or Unavailable; reason and message fit to be shown."""

    status: str
    validity: str
    inspection: Inspection
    reason: str = ""
    message: str = ""


def ready(service: Thing, kind: str, now: datetime | None) -> Ready:
    """What the condition of a type says.

    Args:
        service: the InferenceService.
        kind: Ready, or that of a component, such as EngineReady: then only conditions of this type are looked at.
        now: when the bundle was collected, naive UTC; None where nothing says.
    """
    conditions = items(service.status.get("conditions"))
    if len(conditions) > MAX_CONDITIONS:
        return Ready("NotRecorded", "Invalid", Inspection("LimitExceeded", MAX_CONDITIONS + 1, 0, ()))
    if kind != "Ready":
        conditions = [one for one in conditions if one.get("type") == kind]
    warnings: set[str] = set()
    own: list[Mapping[str, Any]] = []
    invalid = False
    for one in conditions:
        faults = _faults(one, now)
        warnings |= faults
        if one.get("type") != kind:
            continue
        invalid = invalid or bool(faults)
        if own and _told(own[0]) != _told(one):
            invalid = True
            warnings.add("ConflictingReadyConditions")
        elif own:
            warnings.add("DuplicateReadyConditions")
        own.append(one)
    inspection = Inspection("Partial" if warnings else "Complete", len(conditions), len(conditions), tuple(sorted(warnings)))
    return _ready(own, inspection, invalid=invalid)


def _ready(own: Sequence[Mapping[str, Any]], inspection: Inspection, *, invalid: bool) -> Ready:
    if not own:
        return Ready("NotRecorded", "Unavailable", inspection)
    status = string(own[0].get("status"))
    if status not in STATUSES or "ConflictingReadyConditions" in inspection.warnings:
        status = "NotRecorded"
    if invalid:
        return Ready(status, "Invalid", inspection)
    reason, message = min((string(one.get("reason")), string(one.get("message"))) for one in own)
    return Ready(status, "Valid", inspection, text(reason, REASON_WIDTH), text(message, MESSAGE_WIDTH))


def _told(condition: Mapping[str, Any]) -> tuple[str, str]:
    return string(condition.get("status")), string(condition.get("severity"))


def _faults(condition: Mapping[str, Any], now: datetime | None) -> set[str]:
    """What is wrong with one condition, in OME's words."""
    found = set()
    parts = [condition.get(name) for name in ("type", "reason", "message", "severity")]
    if any(size(part) > most for part, most in zip(parts, (MAX_TYPE, MAX_REASON, MAX_MESSAGE), strict=False)):
        found.add("OversizedConditionRecord")
    texts = all(part is None or isinstance(part, str) for part in parts)
    if not texts or not parts[0] or condition.get("status") not in STATUSES or string(parts[3]) not in _SEVERITIES:
        found.add("InvalidConditionRecord")
    if later(parse(condition.get("lastTransitionTime")), now):
        found.add("FutureConditionTimestamp")
    return found


def is_short(condition: Mapping[str, Any]) -> bool:
    """Whether a condition of an autoscaler or of the traffic is short enough for its status to be read."""
    return fits(condition, {"type": _MAX_SCALED_TYPE, "reason": MAX_REASON, "message": MAX_MESSAGE})


def fits(holder: Mapping[str, Any], limits: Mapping[str, int]) -> bool:
    """Whether no text of a mapping is longer than the bytes that `limits` gives for its key."""
    return all(size(holder.get(name)) <= most for name, most in limits.items())


def size(part: object) -> int:
    """The length of a text in bytes, as OME's limits count it; 0 where it is no text."""
    return len(string(part).encode("utf-8", "surrogatepass"))


def later(moment: datetime | None, now: datetime | None) -> bool:
    """Whether a time lies behind the end of the collection; False where either is not known."""
    return moment is not None and now is not None and moment > now.replace(tzinfo=UTC) + SKEW
