"""The runtime that an InferenceService runs with and the accelerator that it asks for, each in one line of the status page."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.ome.active import VIRTUAL
from analyzer.ome.candidates import DEPLOYMENT_MODE
from analyzer.ome.explain import NoComponentError, Outcome, explain
from analyzer.ome.report import Component
from analyzer.ome.runtime.effective import Effective, effective
from analyzer.ome.safe import shown
from analyzer.ome.world import REVISION, Thing, World, mapping, string

_UNPROBED = "AutoSelectionNotProbed"


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime: Reported, Partial, NotConfigured or Unavailable with a reason; details where it was worked out."""

    state: str
    available: bool = False
    reason: str = ""
    name: str = ""
    kind: str = ""
    origin: str = ""
    pin: str = ""
    freshness: str = ""

    @property
    def evidence(self) -> str:
        """OME's word for where it comes from."""
        return "Computed" if self.state in ("Reported", "Partial") else "Unavailable"


@dataclass(frozen=True, slots=True)
class Accelerator:
    """The accelerator settings: a state as of `Runtime`, or Invalid, and a row a component."""

    state: str
    reason: str = ""
    freshness: str = ""
    components: tuple[Component, ...] = ()

    @property
    def evidence(self) -> str:
        """OME's word for where it comes from."""
        return "Computed" if self.state in ("Reported", "Partial", "Invalid") else "Unavailable"


@dataclass(frozen=True, slots=True)
class Summaries:
    """Both, and what they rest on where a runtime is named."""

    runtime: Runtime
    accelerator: Accelerator
    effective: Effective | None = None


def summaries(world: World, service: Thing, ome_namespace: str, collected_at: str) -> Summaries:
    """Works out both for an InferenceService. OME's page chooses no runtime itself where none is named.

    Args:
        world: the objects.
        service: the InferenceService, which decodes.
        ome_namespace: where OME keeps pinned revisions.
        collected_at: the bundle's collection time, as a report shows it.
    """
    if service.annotation(DEPLOYMENT_MODE) == VIRTUAL:
        own = _accelerator(_explained(world, service, ome_namespace, collected_at), VIRTUAL)
        return Summaries(Runtime("Unavailable", reason=VIRTUAL), own)
    if not string(mapping(service.spec.get("runtime")).get("name")):
        asks = any(isinstance(service.spec.get(name), dict) for name in ("engine", "decoder"))
        own = Accelerator("Unavailable", _UNPROBED) if asks else Accelerator("NotConfigured")
        if string(mapping(service.spec.get("model")).get("name")):
            return Summaries(Runtime("Unavailable", reason=_UNPROBED), own)
        return Summaries(Runtime("NotConfigured"), own)
    found = effective(world, service, ome_namespace)
    return Summaries(_runtime(found), _accelerator(_explained(world, service, ome_namespace, collected_at)), found)


def _explained(world: World, service: Thing, ome_namespace: str, collected_at: str) -> Outcome | None:
    """The evaluation of `accelerator explain`; None where there is neither engine nor decoder."""
    try:
        return explain(world, service, ome_namespace, collected_at)
    except NoComponentError:
        return None


def _runtime(found: Effective) -> Runtime:
    active = found.active
    whole = found.live.available and active.available and not found.issues
    state = "Reported" if whole else "Partial"
    if not active.available or active.runtime is None:
        return Runtime(state, pin=found.pin_state, freshness=found.status)
    origin = REVISION if active.revision else "LiveRuntime"
    own = {"name": shown(active.runtime.name), "kind": active.runtime.kind, "origin": origin}
    return Runtime(state, available=True, **own, pin=found.pin_state, freshness=found.status)


def _accelerator(outcome: Outcome | None, reason: str = "") -> Accelerator:
    if outcome is None or outcome.report.state == "NotConfigured":
        return Accelerator("NotConfigured")
    report = outcome.report
    return Accelerator(report.state, reason, report.freshness, report.components)
