"""The report of `kubectl ome accelerator explain`: its parts, and its JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analyzer.ome.envelope import envelope, given, source
from analyzer.ome.intent import Intent
from analyzer.ome.requests import Base, Requests

RANK = {"engine": 0, "decoder": 1, "router": 2}
"""The order of components among the issues; anything else comes after them."""


@dataclass(frozen=True, slots=True)
class Component:
    """One row of the report. States are OME's words; `selected` is the class that the status reports, empty for none."""

    type: str
    intent: Intent
    base: Base
    selection: str = "Unavailable"
    selected: str = ""
    reason: str = "Unavailable"
    digest: str = ""
    class_state: str = "NotRequested"
    effective_state: str = "Unavailable"
    effective: Requests = ()
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """An object that the report rests on; `reason` says why it could not be used, `generation` is 0 where there is none."""

    kind: str
    namespace: str
    name: str
    generation: int
    reason: str = ""

    @property
    def evidence(self) -> str:
        """OME's word for whether it could be used."""
        return "Unavailable" if self.reason else "Observed"

    @property
    def path(self) -> str:
        """Namespace and name, as the report shows them."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue; `component` is empty where it belongs to none that OME knows."""

    component: str
    code: str

    @property
    def order(self) -> tuple[int, str, str]:
        """How issues are sorted."""
        return RANK.get(self.component, len(RANK)), self.component, self.code


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report. `collected_at` is RFC 3339 in UTC, or `-` where the bundle does not say when it was collected."""

    namespace: str
    name: str
    collected_at: str
    state: str
    freshness: str
    components: tuple[Component, ...]
    issues: tuple[Issue, ...]
    sources: tuple[Source, ...]
    warnings: tuple[str, ...]

    def issue_count(self, component: Component) -> int:
        """What the column ISS shows: the issues of a component, and those that belong to no row."""
        rows = {one.type for one in self.components}
        return sum(issue.component == component.type or issue.component not in rows for issue in self.issues)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: optional fields without a value are left out, lists are always there."""
        content = {
            "summary": {"state": self.state, "statusFreshness": self.freshness},
            "components": [_component(component) for component in self.components],
            "issues": [given({"code": issue.code}, component=issue.component) for issue in self.issues],
        }
        metadata = {"namespace": self.namespace, "name": self.name}
        sources = [
            source(one.kind, one.namespace, one.name, self.collected_at, generation=one.generation, unavailable=one.reason)
            for one in self.sources
        ]
        return envelope("AcceleratorExplainReport", metadata, self.collected_at, content, sources, self.warnings)


def _component(one: Component) -> dict[str, Any]:
    intent = given(
        {"state": one.intent.state},
        policy=one.intent.policy,
        policySource=one.intent.policy_source,
        declaredClass=one.intent.declared_class,
        classSource=one.intent.class_source,
    )
    selection = given({"state": one.selection}, **{"class": one.selected}) | {
        "reason": given({"state": one.reason}, digest=one.digest)
    }
    return {
        "type": one.type,
        "intent": intent,
        "selection": selection,
        "class": given({"state": one.class_state}, name=one.selected),
        "requests": {
            "baseState": one.base.state,
            "base": _amounts(one.base.requests),
            "effectiveState": one.effective_state,
            "effective": _amounts(one.effective),
        },
        "issues": list(one.issues),
    }


def _amounts(requests: Requests) -> list[dict[str, str]]:
    return [{"name": name, "quantity": amount} for name, amount in requests]
