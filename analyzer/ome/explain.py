"""From the objects to the report of `kubectl ome accelerator explain`. The order of the checks is that of OME's command."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from analyzer.ome import active, requests
from analyzer.ome.intent import Intent, intent_of
from analyzer.ome.names import is_label_value, is_qualified, is_subdomain
from analyzer.ome.report import RANK, Component, Issue, Report, Source
from analyzer.ome.world import CLASS, SERVICE, Lookup, Thing, World, integer, mapping, string

COMPONENTS = ("engine", "decoder")
MAX_SELECTOR = 64
"""Most entries of a reported node selector."""

Freshness = Literal["Current", "Stale", "Unobserved", "Invalid"]

_UNAVAILABLE = {
    "ActiveConfigurationUnavailable",
    "BaseRequestsUnavailable",
    "ClassForbidden",
    "ClassNotFound",
    "ClassUnreadable",
    "ClassUnsupportedAPI",
}
_CLASS_STATES = {
    "not-found": "NotFound",
    "forbidden": "Forbidden",
    "unsupported": "UnsupportedAPI",
    "not-collected": "Unreadable",
    "failed": "Unreadable",
    "damaged": "Unreadable",
}


class NoComponentError(Exception):
    """The InferenceService has neither an engine nor a decoder: there is nothing to report. The text is OME's."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The report, and what is behind it: what is in force, and the classes that could not be looked up (by component)."""

    report: Report
    active: active.Active
    unknown_classes: Mapping[str, Lookup]


def explain(world: World, service: Thing, ome_namespace: str, collected_at: str) -> Outcome:
    """Evaluates one InferenceService.

    Args:
        world: the objects of the bundle.
        service: the InferenceService, which decodes.
        ome_namespace: where OME keeps pinned revisions.
        collected_at: the bundle's collection time, as the report shows it.

    Raises:
        NoComponentError: it has neither an engine nor a decoder.
        candidates.TooManyRuntimesError: there are more runtimes than OME's command reads.
    """
    parts = [part for part in COMPONENTS if isinstance(service.spec.get(part), dict)]
    force = active.resolve(world, service, ome_namespace)
    if not parts:
        virtual = force.code == "virtual"
        raise NoComponentError(_VIRTUAL_EMPTY if virtual else _EMPTY)
    fresh = freshness(service)
    found = [_project(world, service, part, force, fresh) for part in parts]
    components = tuple(one.component for one in found)
    issues = {Issue(one.type, code) for one in components for code in one.issues}
    issues |= {Issue(name, "UnexpectedComponentEvidence") for name in _unexpected(service)}
    ordered = tuple(sorted(issues, key=lambda issue: issue.order))
    state = _state(components, ordered)
    sources = {Source(SERVICE, service.namespace, service.name, service.generation)}
    if force.source:
        generation = 0 if force.unverified else force.source.generation
        sources.add(Source(force.source.kind, force.source.namespace, force.source.name, generation))
    sources |= {one.source for one in found if one.source}
    report = Report(
        service.namespace,
        service.name,
        collected_at,
        state,
        fresh,
        components,
        ordered,
        tuple(sorted(sources, key=lambda one: (one.kind, one.namespace, one.name, str(one.generation), one.evidence))),
        _warnings(state, ordered),
    )
    return Outcome(report, force, {one.component.type: one.unknown for one in found if one.unknown})


_EMPTY = "project accelerator explain report: accelerator projection evidence is invalid"
_VIRTUAL_EMPTY = "resolve virtual accelerator evidence: accelerator projection evidence is invalid"


def freshness(service: Thing) -> Freshness:
    """How the generation that the status speaks of compares with the service's own."""
    observed, generation = integer(service.status.get("observedGeneration")), service.generation
    if observed == 0:
        return "Unobserved"
    if observed == generation:
        return "Current"
    return "Stale" if observed < generation else "Invalid"


@dataclass(frozen=True, slots=True)
class _Projected:
    component: Component
    source: Source | None = None
    unknown: Lookup | None = None


def _project(world: World, service: Thing, part: str, force: active.Active, fresh: Freshness) -> _Projected:
    """One component, check by check."""
    intent = intent_of(service, part)
    base = requests.Base("Unavailable", why=force.why)
    if force.state == "Available" and force.spec is not None:
        base = requests.base_requests(service.spec, force.spec, part)
    issues = list(intent.issues)
    if base.state == "Unavailable" and force.state != "Unavailable":
        issues.append("BaseRequestsUnavailable")
    if base.state == "Invalid":
        issues.append("RequestsInvalid")
    if force.state == "Inconsistent":
        issues.append("ActiveRevisionInconsistent")
    if force.state == "Unavailable":
        issues.append("ActiveConfigurationUnavailable")
    one = Component(part, intent, base)
    chosen = _selection(service, part)
    if intent.state == "NotConfigured" and chosen is None:
        configured = replace(one, selection="NotConfigured", reason="NotReported", effective_state="NotConfigured")
        return _Projected(_with(configured, issues))
    if force.state == "Unavailable":
        if intent.state == "NotConfigured":
            issues.append("SelectionUnexpected")
        return _Projected(_with(one, issues))
    if fresh != "Current":
        issues.append({"Stale": "StatusStale", "Unobserved": "StatusUnobserved", "Invalid": "StatusInvalid"}[fresh])
        if fresh == "Invalid":
            one = replace(one, selection="Invalid", reason="Invalid", effective_state="Invalid")
        return _Projected(_with(one, issues))
    if chosen is None:
        issues.append("SelectionNotReported")
        return _Projected(_with(replace(one, selection="NotReported", reason="NotReported"), issues))
    return _reported(world, service, one, chosen, issues)


def _selection(service: Thing, part: str) -> Mapping[str, Any] | None:
    """What the status reports as selected for a component."""
    component = mapping(mapping(service.status.get("components")).get(part))
    chosen = component.get("selectedAccelerator")
    return chosen if isinstance(chosen, dict) else None


def _reported(world: World, service: Thing, one: Component, chosen: Mapping[str, Any], issues: list[str]) -> _Projected:
    """A component whose status reports a selection: nothing of one that is not valid is shown."""
    name, selector = string(chosen.get("acceleratorClass")), mapping(chosen.get("nodeSelector"))
    asked = chosen.get("resourceRequests")
    effective = requests.canonical(mapping(asked), longest=requests.MAX_QUANTITY)
    faults = []
    if effective is None:
        faults.append("RequestsInvalid")
    if not is_subdomain(name):
        faults.append("ClassInvalid")
    if not _selects(selector):
        faults.append("NodeSelectorInvalid")
    if faults or effective is None:
        return _Projected(
            _with(replace(one, selection="Invalid", reason="Invalid", effective_state="Invalid"), [*issues, *faults])
        )
    reason = string(chosen.get("reason"))
    one = replace(
        one,
        selection="Reported",
        selected=name,
        reason="Reported" if reason else "NotReported",
        digest=digest(reason) if reason else "",
        effective_state="NotReported" if asked is None else "Reported",
        effective=effective,
    )
    if asked is None:
        issues.append("RequestsNotReported")
    if one.intent.state == "NotConfigured":
        issues.append("SelectionUnexpected")
    if one.intent.declared_class and one.intent.declared_class != name:
        issues.append("ReportedClassMismatch")
    lookup = world.get(CLASS, "", name)
    state = _class_state(lookup, service)
    if state != "Observed":
        issues.append(f"Class{state}")
    generation = lookup.thing.generation if lookup.thing and state == "Observed" else 0
    reason_word = "" if state == "Observed" else "MalformedPayload" if state == "Invalid" else state
    source = Source(CLASS, "", name, generation, reason_word)
    return _Projected(_with(replace(one, class_state=state), issues), source, lookup if lookup.unknown else None)


def _class_state(lookup: Lookup, service: Thing) -> str:
    """What came of reading the reported class.

    A class without uid or resourceVersion is malformed, unless the bundle lacks them everywhere: some are made without.
    """
    if lookup.thing is None:
        return _CLASS_STATES[lookup.absence]
    own = lookup.thing.metadata
    expected = [field for field in ("uid", "resourceVersion") if service.metadata.get(field)]
    return "Observed" if all(own.get(field) for field in expected) and not own.get("namespace") else "Invalid"


def _selects(selector: Mapping[str, Any]) -> bool:
    return len(selector) <= MAX_SELECTOR and all(
        is_qualified(key) and is_label_value(string(value)) for key, value in selector.items()
    )


def digest(reason: str) -> str:
    """What stands in for a reason, which may hold a credential."""
    return "rs1:" + hashlib.sha256(reason.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _with(component: Component, issues: list[str]) -> Component:
    return replace(component, issues=tuple(sorted(dict.fromkeys(issues))))


def _unexpected(service: Thing) -> set[str]:
    """Components other than engine and decoder with a selection: the router by its name, others without one."""
    components = mapping(service.status.get("components"))
    names = {name for name in components if name not in COMPONENTS and _selection(service, name) is not None}
    return {name if name in RANK else "" for name in names}


def _state(components: tuple[Component, ...], issues: tuple[Issue, ...]) -> str:
    for one in components:
        states = (one.intent.state, one.selection, one.base.state, one.effective_state, one.class_state)
        if "Invalid" in states:
            return "Invalid"
    nothing = all(one.selection == "NotConfigured" and one.base.state == "Available" for one in components)
    if nothing and not issues:
        return "NotConfigured"
    if issues or any(one.base.state == "Unavailable" for one in components):
        return "Partial"
    return "Reported"


def _warnings(state: str, issues: tuple[Issue, ...]) -> tuple[str, ...]:
    codes = {issue.code for issue in issues}
    found = {"PartialData"} if state in ("Partial", "Invalid") else set()
    if "StatusStale" in codes:
        found.add("StaleEvidence")
    if codes & _UNAVAILABLE:
        found.add("SourceUnavailable")
    return tuple(sorted(found))


def asks(intent: Intent) -> bool:
    """Whether a component asks for a class or a policy at all."""
    return intent.state != "NotConfigured"
