"""What holds a pod that is bound to a node and has not started: the kubelet's events, sorted into causes.

Volumes, the network and devices are set up before any container exists, so that no container's status tells of them
(kubelet). Only events do, and old events stay after the trouble is over; a later step of the start refutes them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.startup import Missing, missing


@dataclass(frozen=True, slots=True)
class PodEvent:
    """One event about a Pod, as far as the start of the Pod goes."""

    event_id: int
    reason: str
    message: str
    field_path: str
    times: int
    first_at: datetime | None
    last_at: datetime | None


WORDS = {
    "missing": "an object that the pod mounts does not exist",
    "key": "an object that the pod mounts lacks a key",
    "host-path": "its hostPath is not there on the node, or of another type",
    "csi-driver": "the volume's CSI driver is not registered on the node",
    "multi-attach": "the volume is still attached to another node",
    "permission": "the storage refuses access",
    "timeout": "the volumes were not ready in time",
    "runtime-class": "its container runtime does not know the runtime that the pod asks for",
    "no-addresses": "the pod network has no address left",
    "network": "the pod network could not be set up (CNI)",
    "not-registered": "the node has no such DRA driver running",
    "other": "the reason is in the message",
}

_REASONS = {
    "FailedMount": "mount",
    "FailedMapVolume": "mount",
    "FailedAttachVolume": "attach",
    "FailedCreatePodSandBox": "sandbox",
    "NetworkNotReady": "sandbox",
    "FailedPrepareDynamicResources": "device",
}
_AFTER = {"Pulling", "Pulled", "Created", "Started"}
_VAGUE = {"timeout": 1, "other": 1}
_PASSING = re.compile(r'failed to sync (configmap|secret) cache|object "[^"]*"/"[^"]*" not registered', re.IGNORECASE)
_VOLUME = re.compile(r'volume "([^"]{1,253})"|unmounted volumes=\[([^\],]{1,253})', re.IGNORECASE)
_CAUSES: dict[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "mount": (
        ("host-path", re.compile(r"hostPath type check failed", re.IGNORECASE)),
        ("csi-driver", re.compile(r"list of registered CSI drivers|CSINode", re.IGNORECASE)),
        ("multi-attach", re.compile(r"multi-attach|already (used by|attached|exclusively attached)", re.IGNORECASE)),
        ("permission", re.compile(r"permission denied|access denied|not permitted", re.IGNORECASE)),
        ("timeout", re.compile(r"timed out waiting|deadline exceeded", re.IGNORECASE)),
    ),
    "sandbox": (
        (
            "runtime-class",
            re.compile(r"no runtime for|runtime ?handler|failed to get sandbox runtime|RuntimeClass", re.IGNORECASE),
        ),
        ("no-addresses", re.compile(r"no IP addresses|no available IP|no more IPs|failed to allocate for range", re.IGNORECASE)),
        ("network", re.compile(r"network|\bCNI\b|plugin type|multus", re.IGNORECASE)),
        ("timeout", re.compile(r"timed out|deadline exceeded", re.IGNORECASE)),
    ),
    "device": (("not-registered", re.compile(r"not registered|list of registered|could not find the requested", re.IGNORECASE)),),
}
_CAUSES["attach"] = _CAUSES["mount"]


def pod_events(con: duckdb.DuckDBPyConnection) -> dict[int, list[PodEvent]]:
    """The events that tell of the start of each Pod, by the Pod's object id."""
    reasons = [*_REASONS, *_AFTER, "Failed", "FailedScheduling", "InspectFailed"]
    found: dict[int, list[PodEvent]] = defaultdict(list)
    rows = con.execute(
        "SELECT about_id, object_id, reason, message, field_path, times, first_at, last_at FROM events "
        "WHERE about_id IS NOT NULL AND about_kind = 'Pod' AND list_contains(?, reason) ORDER BY last_at NULLS FIRST, object_id",
        [reasons],
    ).fetchall()
    for about_id, *row in rows:
        found[about_id].append(PodEvent(*row))
    return found


def holdups(
    object_id: int, spec: dict[str, Any], events: Iterable[PodEvent], prepared_at: datetime | None = None
) -> list[dict[str, Any]]:
    """The rows of `pod_holdups` for a Pod that is bound and has not started: of each kind the most telling event.

    Events that a later step refutes are left out: an image is pulled only after volumes, network and devices are there.
    `prepared_at` is since when the Pod's condition PodReadyToStartContainers is True, which is such a step too.
    """
    events = list(events)
    steps = [event.last_at for event in events if event.reason in _AFTER and event.last_at]
    after = max([*steps, *([prepared_at] if prepared_at else [])], default=None)
    best: dict[str, tuple[tuple[int, datetime], dict[str, Any]]] = {}
    for event in events:
        what = _REASONS.get(event.reason)
        if what is None or _PASSING.search(event.message) or (after and event.last_at and event.last_at <= after):
            continue
        row = _row(object_id, what, event, spec)
        rank = (-_VAGUE.get(row["cause"], 0), event.last_at or datetime.min)  # noqa: DTZ901 - naive UTC, as in the tables
        if row["what"] not in best or rank >= best[row["what"]][0]:
            best[row["what"]] = (rank, row)
    return [row for _, row in best.values()]


def _row(object_id: int, what: str, event: PodEvent, spec: dict[str, Any]) -> dict[str, Any]:
    volume = _VOLUME.search(event.message)
    name = (volume[1] or volume[2]) if volume else None
    gone = missing(event.message) if what == "mount" else None
    if gone and not gone.name:
        gone = Missing(gone.kind, _mounted(spec, name, gone.kind), gone.key)
    if gone:
        what, cause = "config", "key" if gone.key else "missing"
    else:
        words = event.message[:8_000]
        cause = next((cause for cause, pattern in _CAUSES[what] if pattern.search(words)), "other")
    return {
        "object_id": object_id,
        "event_id": event.event_id,
        "what": what,
        "cause": cause,
        "words": WORDS[cause],
        "config_kind": gone.kind if gone else None,
        "config_name": (gone.name or None) if gone else None,
        "config_key": gone.key if gone else None,
        "volume": name,
        "message": event.message,
        "times": event.times,
        "first_at": event.first_at,
        "last_at": event.last_at,
    }


def _mounted(spec: dict[str, Any], volume: str | None, kind: str) -> str:
    """The name of the ConfigMap or Secret behind a volume of the pod; empty where spec does not say."""
    for item in spec.get("volumes") or []:
        if isinstance(item, dict) and item.get("name") == volume:
            source = item.get("configMap" if kind == "ConfigMap" else "secret")
            if isinstance(source, dict):
                name = source.get("name" if kind == "ConfigMap" else "secretName")
                return name if isinstance(name, str) else ""
    return ""
