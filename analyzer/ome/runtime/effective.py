"""The runtime of an InferenceService in two views: as it is now, and as the service is meant to run it (`runtime effective`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.ome import candidates, inherit, pins
from analyzer.ome import live as runtimes
from analyzer.ome.explain import freshness
from analyzer.ome.names import is_subdomain
from analyzer.ome.runtime import contents, revisions
from analyzer.ome.runtime.modes import Mode, modes_of
from analyzer.ome.world import CLUSTER_RUNTIME, NAMESPACED_RUNTIME, Thing, World, items, mapping, string

SYNC = "ome.io/runtime-sync"
DRIFTED = "RuntimeDrifted"
_CAUSES = ("RevisionMismatch", "RevisionMissing", "SourceRuntimeMissing", "RuntimeMismatch", "PinAdvanced")
_STALE = {"Stale": "StatusStale", "Unobserved": "StatusUnobserved", "Invalid": "StatusInvalid"}
_BROKEN = {"ParentMissing": "NotFound", "CycleDetected": "Cycle", "MaxDepthExceeded": "MaxDepthExceeded"}


@dataclass(frozen=True, slots=True)
class Reference:
    """A runtime that is named: found or not. `thing` is None where it is not at hand."""

    kind: str
    namespace: str
    name: str
    thing: Thing | None = None


@dataclass(frozen=True, slots=True)
class View:
    """One view; without a `reason` it is available. `hash` is that on the label of the revision, not verified."""

    reason: str = ""
    runtime: Reference | None = None
    revision: revisions.Revision | None = None
    hash: str = ""
    modes: tuple[Mode, ...] = ()
    spec: Mapping[str, Any] | None = None

    @property
    def available(self) -> bool:
        """It can be shown."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The chain of the live runtime, root first; `reason` says why there is none."""

    chain: tuple[Thing, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Effective:
    """All that the command says of one InferenceService. Words are OME's; `issues` are codes with the revision, if any."""

    service: Thing
    selection: str
    inheritance: Inheritance
    live: View
    active: View
    pin_mode: str
    pin_state: str
    sync: str
    status: str
    drift: str
    drift_cause: str
    relation: str
    revisions: tuple[revisions.Revision, ...]
    issues: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    resolved: runtimes.Live

    @property
    def requested(self) -> str:
        """The revision that the spec asks for."""
        return string(mapping(self.service.spec.get("runtime")).get("revision"))

    @property
    def reported(self) -> str:
        """The revision that the status reports."""
        return string(self.service.status.get("pinnedRevisionName"))


def effective(world: World, service: Thing, ome_namespace: str) -> Effective:
    """Evaluates one InferenceService.

    Args:
        world: the objects of the bundle.
        service: the InferenceService, which decodes.
        ome_namespace: where OME keeps pinned revisions.
    """
    nothing = not _named(service) and not string(mapping(service.spec.get("model")).get("name"))
    try:
        now = runtimes.resolve(world, service)
    except candidates.TooManyRuntimesError:
        now = runtimes.Live("unreadable", f"there are more than {candidates.MAX_RUNTIMES:,} runtimes", "too-many")
    found = revisions.named(world, service, ome_namespace)
    pin, inheritance = pins.pin_of(service), _inheritance(world, now)
    first = _live_view(service, now, nothing=nothing)
    state, active = _active(service, pin, now, first, found, nothing=nothing)
    drift, cause = _drift(service)
    status = freshness(service)
    if inheritance.reason and not first.available:
        inheritance = Inheritance((), first.reason)
    issues = _issues(service, now, state, status, found, nothing=nothing)
    if inheritance.reason:
        issues.add(("InheritanceUnavailable", ""))
    if drift == "Malformed":
        issues.add(("ReportedDriftConflict", ""))
    if not active.available and pin.mode in ("ManagedPin", "ExplicitPin"):
        issues.add(("ActiveRevisionUnavailable", ""))
    warnings = _warnings(status, issues, inherits=first.available and bool(inheritance.reason))
    return Effective(
        service,
        "Explicit" if _named(service) else "Selected",
        inheritance,
        first,
        active,
        pin.mode,
        state,
        _sync(service),
        status,
        drift,
        cause,
        _relation(first, active),
        found,
        tuple(sorted(issues)),
        warnings,
        now,
    )


def _named(service: Thing) -> str:
    return string(mapping(service.spec.get("runtime")).get("name"))


def _declared(service: Thing) -> tuple[str, str]:
    """Kind and namespace that the service declares for its runtime; empty where the kind is none."""
    kind = mapping(service.spec.get("runtime")).get("kind")
    if kind is None or kind == CLUSTER_RUNTIME:
        return CLUSTER_RUNTIME, ""
    return (NAMESPACED_RUNTIME, service.namespace) if kind == NAMESPACED_RUNTIME else ("", "")


def _reference(service: Thing) -> Reference | None:
    """The runtime that the service names, as it declares it; None where its kind is none or its name can be none."""
    (kind, namespace), name = _declared(service), _named(service)
    return Reference(kind, namespace, name) if kind and is_subdomain(name) else None


def _live_view(service: Thing, now: runtimes.Live, *, nothing: bool) -> View:
    if now.outcome == "available" and now.runtime and now.spec is not None:
        own = Reference(now.runtime.kind, now.runtime.namespace, now.runtime.name, now.runtime)
        return View(runtime=own, modes=modes_of(service, now.spec), spec=now.spec)
    if nothing:
        return View("NotConfigured")
    reason = {"notFound": "NotFound", "disabled": "Disabled"}.get(now.outcome) or revisions.unread(now.unknown)
    if now.code == "runtime-unreadable" and now.unknown is None:
        reason = "UnsupportedAPI"
    return View(reason, _reference(service))


def _inheritance(world: World, now: runtimes.Live) -> Inheritance:
    if now.outcome != "available" or now.runtime is None:
        return Inheritance((), "Unreadable")
    chain = inherit.resolve(world, now.runtime)
    if chain.spec is not None:
        return Inheritance(tuple(reversed(chain.runtimes)))
    if chain.lost and chain.lost.unknown:
        return Inheritance((), revisions.unread(chain.lost))
    return Inheritance((), _BROKEN[chain.code])


def _active(
    service: Thing, pin: pins.Pin, now: runtimes.Live, first: View, found: tuple[revisions.Revision, ...], *, nothing: bool
) -> tuple[str, View]:
    """The state of the pin, and the view of what is in force: the order of the checks is OME's."""
    held = next((one for one in found if one.name == pin.revision), None) if pin.revision else None
    reference = _reference(service)
    if now.outcome in ("unreadable", "disabled"):
        return "Unavailable", View("NotConfigured" if nothing else (held and held.absence) or first.reason, reference, held)
    if pin.mode == "InvalidPin":
        return "InvalidIntent", View("MalformedPayload", reference)
    if held is None:
        if now.outcome != "available":
            return "Unavailable", View(first.reason if pin.mode == "AutoSync" else "Unreadable", reference)
        return ("AwaitingPin" if pin.mode == "ManagedPin" else "NotApplicable"), first
    state = _held(service, pin, held)
    if state not in ("Resolved", "DesiredReportedMismatch") or held.spec is None:
        reason = {"RevisionMissing": "NotFound", "RevisionDisabled": "Disabled", "RevisionInvalid": "MalformedPayload"}
        return state, View(reason.get(state) or revisions.unread(held.lookup), reference, held)
    if reference and first.runtime and _same(reference, first.runtime):
        reference = first.runtime
    return state, View("", reference, held, held.hash, modes_of(service, held.spec), held.spec)


def _held(service: Thing, pin: pins.Pin, held: revisions.Revision) -> str:
    """The state of a pin whose revision was looked for."""
    thing = held.lookup.thing
    if thing is None:
        return "RevisionMissing" if held.lookup.missing else "Unavailable"
    foreign = pin.mode == "ExplicitPin" and thing.label(pins.RUNTIME_OF) != _named(service)
    if held.spec is None or foreign:
        return "RevisionInvalid"
    if held.disabled:
        return "RevisionDisabled"
    if not isinstance(service.spec.get("engine"), dict):
        return "RevisionInvalid"
    reported = string(service.status.get("pinnedRevisionName"))
    return "DesiredReportedMismatch" if pin.mode == "ExplicitPin" and reported not in ("", held.name) else "Resolved"


def _same(one: Reference, other: Reference) -> bool:
    return (one.kind, one.namespace, one.name) == (other.kind, other.namespace, other.name)


def _relation(first: View, active: View) -> str:
    """How the two views relate by what they hold: the hashes that OME compares cannot be computed from a bundle."""
    if not first.available or not active.available:
        return "Unknown"
    return "Equal" if active is first else contents.compare(first.spec, active.spec)


def _sync(service: Thing) -> str:
    asked, done = service.annotation(SYNC), string(service.status.get("lastRuntimeSyncToken"))
    if not asked:
        return "StatusOnly" if done else "Absent"
    return "Acknowledged" if asked == done else "Pending"


def _drift(service: Thing) -> tuple[str, str]:
    """State and cause of the condition by which OME reports that the runtime moved away from its pin."""
    found = [one for one in items(service.status.get("conditions")) if one.get("type") == DRIFTED]
    if len(found) != 1:
        return ("Malformed", "") if found else ("NotReported", "")
    status, reason = found[0].get("status"), string(found[0].get("reason"))
    state = f"Reported{status}" if status in ("True", "False", "Unknown") else "Malformed"
    return state, reason if reason in _CAUSES else "Other"


def _issues(
    service: Thing,
    now: runtimes.Live,
    state: str,
    status: str,
    found: tuple[revisions.Revision, ...],
    *,
    nothing: bool,
) -> set[tuple[str, str]]:
    issues = {(code, revision.name) for revision in found for code in revision.issues}
    if _named(service) and not _declared(service)[0]:
        issues.add(("InvalidDeclaredKind", ""))
    if now.outcome != "available" and not nothing:
        issues.add(("LiveRuntimeUnavailable", ""))
    if status in _STALE:
        issues.add((_STALE[status], ""))
    if state == "AwaitingPin":
        issues.add(("ActiveRevisionUnreported", ""))
    follows = mapping(service.spec.get("runtime")).get("autoSync") is not False
    if follows and _named(service) and _incompatible(service, now):
        issues.add(("DeclaredCompatibilityMismatch", ""))
    return issues


def _incompatible(service: Thing, now: runtimes.Live) -> bool:
    """Whether the live runtime fails OME's checks for the model."""
    if now.outcome != "available" or now.model is None or now.spec is None:
        return False
    return candidates.incompatible(service, now.spec, now.model.spec) is not None


def _warnings(status: str, issues: set[tuple[str, str]], *, inherits: bool) -> tuple[str, ...]:
    codes = {code for code, _ in issues}
    found = {"PartialData"} if status != "Current" else set()
    if status in ("Stale", "Invalid"):
        found.add("StaleEvidence")
    if codes & {"LiveRuntimeUnavailable", "RevisionNotFound", "RevisionUnavailable"} or inherits:
        found |= {"PartialData", "SourceUnavailable"}
    return tuple(sorted(found))
