"""Whether a gateway took the traffic policy of an InferenceService, by its own status (OME's summary of `traffic status`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from analyzer.ome.names import is_subdomain, revision_hash
from analyzer.ome.status.conditions import MAX_CONDITIONS, STATUSES, is_short
from analyzer.ome.status.placement import is_address
from analyzer.ome.world import COMPONENTS, Thing, integer, items, mapping, string
from analyzer.times import parse

READY, UNSUPPORTED = "BackendPolicyReady", "BackendPolicyUnsupportedFields"
MAX_ROUTES, MAX_ENDPOINTS, MAX_SHARES = 4, 16, 8
"""More than this is cut, which makes the summary Partial."""
_MAX_PATH, _MAX_ENDPOINT = 256, 512
_MAX_ALGORITHM = 256
_ALGORITHMS = ("Default", "RoundRobin", "LeastRequest", "Random", "ConsistentHash")
_TRANSLATORS = {
    ("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy"): "envoy-gateway",
    ("networking.istio.io/v1", "DestinationRule"): "istio",
}
_REASONS = {
    "True": ("AcceptedByGateway",),
    "Unknown": ("Pending",),
    "False": ("ConflictingPolicy", "NoTranslatorAvailable", "GatewayRejected", "TranslationFailed"),
}
"""Status of BackendPolicyReady → the reasons that it can have."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The summary in OME's words; all but the state is empty where nothing is reported."""

    state: str
    evidence: str = "Unavailable"
    translator: str = ""
    algorithm: str = ""
    policy: str = ""
    freshness: str = ""


def traffic_of(service: Thing) -> Traffic:
    """The traffic policy of an InferenceService."""
    status = service.status.get("traffic")
    told = mapping(status)
    held = items(told.get("conditions"))
    if len(held) > MAX_CONDITIONS or len(string(told.get("algorithm"))) > _MAX_ALGORITHM or not all(map(is_short, held)):
        return Traffic("Unavailable")
    ready, unsupported, sound = _conditions(service, told)
    policy, known = _policy(told.get("backendPolicyResource"))
    routes = told.get("targetedHTTPRoutes")
    names = routes if isinstance(routes, list) else []
    sound &= not isinstance(status, dict) or told.get("algorithm") in _ALGORITHMS
    sound &= known and all(is_subdomain(one) for one in names) and not (names and told.get("backendPolicyResource") is None)
    sound &= not (ready and ready.status == "True" and not policy)
    endpoints, fit = _endpoints(service)
    shares, whole = _shares(service)
    if not (sound and fit and whole):
        state = "Invalid"
    elif not isinstance(status, dict) or ready is None:
        return Traffic("Unavailable")
    else:
        cut = len({*map(str, names)}) > MAX_ROUTES or endpoints > MAX_ENDPOINTS or shares > MAX_SHARES
        state = _state(ready, partial=cut or unsupported)
    algorithm = string(told.get("algorithm"))
    return Traffic(
        state,
        "Reported",
        policy or "Unavailable",
        algorithm if algorithm in _ALGORITHMS else "Unknown",
        ready.status if ready else "Unknown",
        ready.freshness if ready else "Unavailable",
    )


@dataclass(frozen=True, slots=True)
class _Condition:
    status: str
    freshness: str


def _state(ready: _Condition, *, partial: bool) -> str:
    if ready.freshness != "Current":
        return "Partial"
    if ready.status == "False":
        return "Degraded"
    if partial:
        return "Partial"
    return "Reported" if ready.status == "True" else "Pending"


def _conditions(service: Thing, told: Mapping[str, Any]) -> tuple[_Condition | None, bool, bool]:
    """The condition of the policy, whether fields of it are not supported, and whether all of that is sound."""
    held = items(told.get("conditions"))
    found = {kind: [one for one in held if one.get("type") == kind] for kind in (READY, UNSUPPORTED)}
    sound = all(len(one) <= 1 for one in found.values())
    ready = None
    for one in found[READY][:1]:
        status, reason = string(one.get("status")), one.get("reason")
        valid = reason in _REASONS.get(status, ()) and parse(one.get("lastTransitionTime")) is not None
        sound &= valid
        ready = _Condition(status if valid else "Unknown", _freshness(one.get("observedGeneration"), service.generation))
    unsupported = False
    for one in found[UNSUPPORTED][:1]:
        valid = one.get("status") == "True" and one.get("reason") == "UnsupportedField"
        sound &= valid and parse(one.get("lastTransitionTime")) is not None
        unsupported = valid or one.get("status") in STATUSES
    return ready, unsupported, sound


def _freshness(observed: Any, generation: int) -> str:
    """How the generation of a condition compares; one that is not recorded, or ahead, says nothing."""
    number = integer(observed)
    if number == generation and number:
        return "Current"
    return "Stale" if 0 < number < generation else "Unverifiable"


def _policy(value: Any) -> tuple[str, bool]:
    """Who translates the policy, by the object that it became, and whether that object can be one."""
    if value is None:
        return "", True
    translator = _TRANSLATORS.get((string(mapping(value).get("apiVersion")), string(mapping(value).get("kind"))), "")
    sound = bool(translator) and is_subdomain(mapping(value).get("name"))
    return translator if sound else "", sound


def _endpoints(service: Thing) -> tuple[int, bool]:
    """How many addresses the status holds, and whether all can be one."""
    status = service.status
    held = [one.get("url") for one in items(status.get("addresses"))]
    if not held:
        held = [one for one in (status.get("url"), mapping(status.get("address")).get("url")) if one]
    return len({str(one) for one in held}), all(_is_endpoint(one) for one in held)


def _is_endpoint(value: Any) -> bool:
    if not is_address(value) or len(value) > _MAX_ENDPOINT:
        return False
    parts = urlsplit(value)
    return not (parts.query or parts.fragment or parts.username or value.endswith(("?", "#"))) and len(parts.path) <= _MAX_PATH


def _shares(service: Thing) -> tuple[int, bool]:
    """How many revisions of one component share its traffic at most, and whether all shares can be."""
    components = mapping(service.status.get("components"))
    sound = not set(components) - set(COMPONENTS)
    most = 0
    for name in COMPONENTS:
        held = items(mapping(components.get(name)).get("traffic"))
        if not held:
            continue
        shares = [integer(one.get("percent")) for one in held]
        names = [string(one.get("revisionName")) for one in held]
        named = all(revision_hash(service.name, name, one) for one in names) and len(set(names)) == len(names)
        sound &= named and sum(shares) == 100 and all(0 <= one <= 100 for one in shares)
        most = max(most, len(names))
    return most, sound
