"""On which clusters an InferenceService is placed, by its own status (multi-cluster routing, alpha in OME v1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from analyzer.ome import safe
from analyzer.ome.names import is_subdomain
from analyzer.ome.world import Thing, is_count, items, mapping, string

MAX_CANDIDATES = 256
"""More candidate clusters than this and they are not read."""
MAX_KEPT = 64
"""Candidate clusters that are counted."""
_MAX_URL = 4096
_MODES = ("Single", "All", "Split")
_PHASES = ("Pending", "Admitting", "Racing", "Placed", "Failed")
_HOME_PHASES = ("", "Admitting", "Admitted", "Placed")
_SIGNS = (
    "ome.io/accelerator-requirements",
    "ome.io/cluster-selector",
    "ome.io/placement-origin",
    "ome.io/placement-origin-uid",
    "ome.io/placement-control-plane",
)
_FINALIZER = "ome.io/placement"


@dataclass(frozen=True, slots=True)
class Homes:
    """The candidate clusters: whether they can be relied on, how many there are and how many count."""

    state: str = "NotRecorded"
    total: int = 0
    kept: int = 0
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """The placement in OME's words; `admitted` and `ready` are a number, or a word where none can be vouched for."""

    state: str
    mode: str = "NotApplicable"
    mode_evidence: str = "NotApplicable"
    phase: str = "NotRecorded"
    cluster: str = ""
    homes: Homes = Homes()
    endpoint: str = "NotRecorded"
    admitted: str = "NotApplicable"
    ready: str = "NotApplicable"
    evidence: str = "Unavailable"
    freshness: str = "NotApplicable"

    @property
    def shown(self) -> bool:
        """There are details."""
        return self.state in ("Reported", "Partial")

    @property
    def unavailable(self) -> bool:
        """The candidates are more than are read."""
        return self.homes.state == "BudgetExceeded"


def placement_of(service: Thing) -> Placement:
    """The placement of an InferenceService."""
    status = service.status.get("placement")
    declared = service.spec.get("placement")
    if not (isinstance(status, dict) or isinstance(declared, dict) or _has_sign(service)):
        return Placement("NotConfigured")
    mode, evidence = _mode(declared)
    if not isinstance(status, dict):
        count = "Unknown" if mode == "Split" else "NotApplicable"
        return Placement("NotReported", mode, evidence, admitted=count, ready=count)
    told = string(status.get("phase"))
    phase = told if told in _PHASES else "Unknown" if told else "NotRecorded"
    cluster = safe.name(status.get("cluster"))
    homes = _homes(status.get("candidates"))
    endpoint = _endpoint(status.get("endpoint"))
    admitted = ready = "NotApplicable"
    if mode == "Split":
        admitted, ready = (_sum(status.get("candidates"), homes, name) for name in ("admittedReplicas", "readyReplicas"))
    whole = (
        mode != "Unknown"
        and phase not in ("Unknown", "NotRecorded")
        and endpoint != "InvalidEndpoint"
        and homes.state in ("Validated", "NotRecorded")
        and not homes.truncated
        and not (status.get("cluster") and not cluster)
        and all(string(one.get("phase")) in _HOME_PHASES for one in items(status.get("candidates")))
        and not (mode == "Split" and phase == "Placed" and not (admitted.isdecimal() and ready.isdecimal()))
        and "Unavailable" not in (admitted, ready)
    )
    state = "Reported" if whole else "Partial"
    return Placement(state, mode, evidence, phase, cluster, homes, endpoint, admitted, ready, "Reported", "Unverifiable")


def _has_sign(service: Thing) -> bool:
    meta = service.metadata
    finalizers = meta.get("finalizers")
    if isinstance(finalizers, list) and _FINALIZER in finalizers:
        return True
    return any(sign in mapping(meta.get(name)) for name in ("annotations", "labels") for sign in _SIGNS)


def _mode(declared: Any) -> tuple[str, str]:
    mode = mapping(declared).get("mode")
    if not mode:
        return "Single", "Defaulted"
    return (mode if mode in _MODES else "Unknown"), "Declared"


def _homes(value: Any) -> Homes:
    """The candidates, each cluster once."""
    held = items(value)
    if len(held) > MAX_CANDIDATES:
        return Homes("BudgetExceeded", MAX_CANDIDATES + 1, truncated=True)
    if not all(_is_home(one) for one in held):
        return Homes("MalformedPayload", len(held))
    found: dict[str, Mapping[str, Any]] = {}
    for one in held:
        if found.setdefault(one["cluster"], one) != one:
            return Homes("ConflictingDuplicates", len(held))
    return Homes("Validated", len(found), min(len(found), MAX_KEPT), len(found) > MAX_KEPT)


def _is_home(home: Mapping[str, Any]) -> bool:
    counts = (0 if home.get(name) is None else home[name] for name in ("admittedReplicas", "readyReplicas"))
    return (
        all(map(is_count, counts))
        and is_subdomain(home.get("cluster"))
        and (home.get("phase") is None or isinstance(home["phase"], str))
    )


def _sum(value: Any, homes: Homes, name: str) -> str:
    """The replicas of all candidates; a word where one does not tell, for 0 may be one that Go left out."""
    if homes.state == "NotRecorded" or (homes.state == "Validated" and not homes.total):
        return "Unknown"
    if homes.state != "Validated" or homes.truncated:
        return "Unavailable"
    counts = {one["cluster"]: one.get(name) or 0 for one in items(value)}
    return str(sum(counts.values())) if all(counts.values()) else "Unknown"


def _endpoint(value: Any) -> str:
    """Whether the status records an address that can be one; the address itself is never shown."""
    if value is None or value == "":
        return "NotRecorded"
    return "Present" if is_address(value) else "InvalidEndpoint"


def is_address(value: Any) -> bool:
    """Whether a value is an address by http or https with a host that can be one."""
    if not isinstance(value, str) or len(value) > _MAX_URL or not value.isprintable() or "\\" in value or " " in value:
        return False
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host or port == 0 or parts.netloc.endswith(":"):
        return False
    return ":" in host or is_subdomain(host.rstrip("."))
