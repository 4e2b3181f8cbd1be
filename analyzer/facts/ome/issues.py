"""The issues of an InferenceService with the field that shows each: what may be shown, and nothing that may hold a secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.ome.explain import Outcome
from analyzer.ome.names import is_subdomain
from analyzer.ome.report import Component, Issue
from analyzer.ome.world import Thing, mapping, string

_RESTS_ON_FORCE = {"ActiveConfigurationUnavailable", "BaseRequestsUnavailable", "SelectionUnexpected"}
_STATUS = {"SelectionNotReported", "StatusStale", "StatusInvalid", "StatusUnobserved"}
_MAX_WORDS = 4_000


def rows(service: Thing, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Rows of `ome_issues` of one service.

    What rests on a runtime or a class that was not collected is left out: we do not know whether the service has that issue.
    """
    components = {one.type: one for one in outcome.report.components}
    for issue in outcome.report.issues:
        one = components.get(issue.component)
        if _is_known(service, outcome, issue):
            path, value = _field(service, outcome, one, issue)
            yield {
                "object_id": service.object_id,
                "component": issue.component,
                "code": issue.code,
                "path": path,
                "value": value,
                "detail": _detail(outcome, one, issue)[:_MAX_WORDS] or None,
            }


def _is_known(service: Thing, outcome: Outcome, issue: Issue) -> bool:
    """Whether the bundle tells that the service has the issue, and not only that we cannot tell."""
    lost = outcome.unknown_classes.get(issue.component)
    if issue.code == "ClassUnreadable" and lost and lost.absence == "not-collected":
        return False
    if issue.code in _STATUS and not service.generation:
        return False
    return not (outcome.active.unknown and issue.code in _RESTS_ON_FORCE)


def _field(service: Thing, outcome: Outcome, one: Component | None, issue: Issue) -> tuple[str | None, str | None]:
    """Where an issue shows, and what stands there."""
    code, pin = issue.code, outcome.active.pin
    if code in _CHOSEN:
        field = f"status.components.{issue.component}.selectedAccelerator"
        return (f"{field}.acceleratorClass", one.selected if one else None) if code in _OF_CLASS else (field, None)
    if code in _STATUS or code in ("DeclaredClassInvalid", "PolicyInvalid"):
        return _of_spec(service, one, issue)
    if code == "ActiveRevisionInconsistent":
        path = "spec.runtime.revision" if pin.mode == "ExplicitPin" else "status.pinnedRevisionName"
        return path, pin.revision if is_subdomain(pin.revision) else None
    return _named(service) if code == "ActiveConfigurationUnavailable" else (None, None)


_OF_CLASS = {"ReportedClassMismatch", "ClassNotFound", "ClassForbidden", "ClassUnreadable", "ClassUnsupportedAPI"}
_CHOSEN = _OF_CLASS | {"ClassInvalid", "SelectionUnexpected", "RequestsNotReported", "NodeSelectorInvalid"}


def _of_spec(service: Thing, one: Component | None, issue: Issue) -> tuple[str | None, str | None]:
    """The field of what is asked for, or of the generation that the status speaks of."""
    intent = one.intent if one else None
    if issue.code == "PolicyInvalid":
        return f"spec.{issue.component}.acceleratorOverride.policy" if _overrides(service, issue) else _POLICY, None
    if issue.code == "DeclaredClassInvalid":
        return (intent.path if intent else None), None
    if issue.code == "SelectionNotReported":
        return (intent.path or None, intent.declared_class or intent.policy or None) if intent else (None, None)
    observed = service.status.get("observedGeneration")
    return ("metadata.generation", str(service.generation)) if observed is None else ("status.observedGeneration", str(observed))


_POLICY = "spec.acceleratorSelector.policy"


def _overrides(service: Thing, issue: Issue) -> bool:
    override = mapping(mapping(service.spec.get(issue.component)).get("acceleratorOverride"))
    return bool(string(override.get("policy")))


def _named(service: Thing) -> tuple[str | None, str | None]:
    """The runtime, else the model, that the service names."""
    for part in ("runtime", "model"):
        name = string(mapping(service.spec.get(part)).get("name"))
        if name:
            return f"spec.{part}.name", name if is_subdomain(name) else None
    return None, None


def _detail(outcome: Outcome, one: Component | None, issue: Issue) -> str:
    """What is behind an issue, in words."""
    force = outcome.active
    if issue.code in ("ActiveConfigurationUnavailable", "ActiveRevisionInconsistent"):
        return force.why
    if issue.code == "BaseRequestsUnavailable":
        return force.why or (one.base.why if one else "")
    if issue.code == "RequestsInvalid" and one:
        reported = one.selection == "Invalid"
        base = f"the base requests of the serving container: {one.base.why}" if one.base.state == "Invalid" else ""
        status = "the requests that the status reports are not valid" if reported and one.effective_state == "Invalid" else ""
        return base or status
    if issue.code == "ReportedClassMismatch" and one:
        return f"the spec names {one.intent.declared_class}, the status reports {one.selected}"
    return ""
