"""The Warning events of an InferenceService and its pods, newest first, within OME's limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.ome.safe import MESSAGE_WIDTH, REASON_WIDTH, shown, text
from analyzer.ome.source import EVENT, POD
from analyzer.ome.status.conditions import MAX_MESSAGE, MAX_REASON, later, size
from analyzer.ome.status.pods import Observation, is_ready, unlisted
from analyzer.ome.world import GROUP, SERVICE, Lookup, Thing, World, is_count, mapping, string
from analyzer.times import parse

MAX_EVENTS = 100
"""Events that a page shows."""
MAX_EVENTS_EACH = 25
"""Events that are read of one object."""
MAX_EVENT_PODS = 15
"""Pods whose events are read: first those that are not ready or are being deleted."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, its texts fit to be shown."""

    kind: str
    name: str
    reason: str
    message: str
    count: int
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Events:
    """The events, how reading them went, and the issues of those that do not count, with how many there are."""

    rows: tuple[Event, ...]
    observation: Observation
    issues: Mapping[str, int]
    lost: Lookup | None = None


def events_of(world: World, service: Thing, pods: Iterable[Thing], now: datetime | None) -> Events:
    """The Warning events of an InferenceService and of those of its pods that need a look most.

    Args:
        world: the objects, with the Warning events of the namespace.
        service: the InferenceService.
        pods: its pods that count.
        now: when the bundle was collected, naive UTC; None where nothing says.
    """
    listed, lost = world.all(EVENT, service.namespace)
    ordered = sorted(pods, key=lambda pod: (_is_well(pod), pod.name))
    targets = {(SERVICE, service.name): service} | {(POD, pod.name): pod for pod in ordered[:MAX_EVENT_PODS]}
    skipped = max(len(ordered) - MAX_EVENT_PODS, 0)
    found: dict[tuple[str, str], list[Event]] = {}
    issues: Counter[str] = Counter()
    for thing in listed:
        about = _about(thing)
        key = (string(about.get("kind")), string(about.get("name")))
        target = targets.get(key)
        if target is None or not _of_ome(key[0], about) or thing.value.get("type") != "Warning" or _another(about, target):
            continue
        if not _bound(about, target):
            issues["EventIdentityRejected"] += 1
            continue
        event = _event(thing, key, now)
        if event is None:
            issues["EventMalformed"] += 1
        else:
            found.setdefault(key, []).append(event)
    kept, cut = _within(found)
    count = min(len(kept) + issues["EventMalformed"], MAX_EVENTS)
    observation = _observation(count, lost, truncated=cut or skipped > 0, skipped=skipped)
    return Events(kept, observation, +issues, lost)


def _within(found: Mapping[tuple[str, str], list[Event]]) -> tuple[tuple[Event, ...], bool]:
    """The events within the limits, newest first, and whether any was left out."""
    each = [sorted(events, key=_order) for events in found.values()]
    rows = sorted((event for events in each for event in events[:MAX_EVENTS_EACH]), key=_order)
    return tuple(rows[:MAX_EVENTS]), len(rows) > MAX_EVENTS or any(len(events) > MAX_EVENTS_EACH for events in each)


def _observation(count: int, lost: Lookup | None, *, truncated: bool, skipped: int) -> Observation:
    if lost:
        return Observation("Partial" if count else "Unavailable", count, truncated, unlisted(lost), skipped)
    return Observation("Partial" if truncated else "Reported", count, truncated, "", skipped)


def _order(event: Event) -> tuple[float, str, str, str, str, int]:
    when = event.last.timestamp() if event.last else float("-inf")
    return -when, event.kind, event.name, event.reason, event.message, event.count


def _is_well(pod: Thing) -> bool:
    return pod.status.get("phase") == "Running" and is_ready(pod) and not pod.metadata.get("deletionTimestamp")


def _about(thing: Thing) -> Mapping[str, Any]:
    """The object that an event is about, in either API."""
    return mapping(thing.value.get("involvedObject")) or mapping(thing.value.get("regarding"))


def _of_ome(kind: str, about: Mapping[str, Any]) -> bool:
    """Whether an event about an InferenceService is about one of OME: KServe has one too."""
    version = string(about.get("apiVersion"))
    return kind != SERVICE or not version or version.startswith(f"{GROUP}/")


def _another(about: Mapping[str, Any], target: Thing) -> bool:
    """Whether an event is about an object that had the name before."""
    uid, own = string(about.get("uid")), string(target.metadata.get("uid"))
    return bool(uid and own and uid != own)


def _bound(about: Mapping[str, Any], target: Thing) -> bool:
    """Whether an event names its object by namespace and uid, as far as the object has one."""
    if string(about.get("namespace")) not in ("", target.namespace):
        return False
    return bool(about.get("uid")) or not target.metadata.get("uid")


def _event(thing: Thing, key: tuple[str, str], now: datetime | None) -> Event | None:
    """An event that can be shown; None where it is malformed."""
    value = thing.value
    reason, message = value.get("reason"), value.get("message") or value.get("note")
    series = mapping(value.get("series"))
    count = series.get("count") if series else value.get("count", value.get("deprecatedCount"))
    count = 0 if count is None else count
    if not is_count(count):
        return None
    texts = (reason, message)
    if any(part is not None and not isinstance(part, str) for part in texts):
        return None
    if size(reason) > MAX_REASON or size(message) > MAX_MESSAGE:
        return None
    first = parse(value.get("firstTimestamp") or value.get("deprecatedFirstTimestamp"))
    last = parse(value.get("lastTimestamp") or value.get("deprecatedLastTimestamp"))
    at, seen = parse(value.get("eventTime")), parse(series.get("lastObservedTime"))
    if (series and seen is None) or (seen and at and seen < at) or (first and last and last < first):
        return None
    times = [moment for moment in (first, last, at, seen) if moment]
    if any(later(moment, now) for moment in times):
        return None
    kind, name = key
    newest = max(times) if times else None
    return Event(kind, shown(name), text(reason, REASON_WIDTH), text(message, MESSAGE_WIDTH), count, newest)
