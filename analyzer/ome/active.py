"""The runtime configuration in force for an InferenceService: the live one, or that of its pinned revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.ome import candidates, live, pins
from analyzer.ome.world import REVISION, Lookup, Thing, World

State = Literal["Available", "Inconsistent", "Unavailable"]

VIRTUAL = "VirtualDeployment"
DEFAULT_NAMESPACE = "ome"
"""Where OME is installed unless somebody chose another namespace."""


@dataclass(frozen=True, slots=True)
class Active:
    """What is in force.

    Attributes:
        state: Unavailable where nothing is, Inconsistent where a pinned revision is, that contradicts itself.
        why, code: in words and as a word of ours, why nothing is in force or what is inconsistent.
        source: the runtime or the revision that is in force.
        spec: the runtime's spec.
        pin: how the service is pinned.
        live: what the runtime is now; None where it was not looked at.
        faults: the checks of consistency that the revision fails.
        unknown: what was not collected, so that we do not know what OME knows.
        assumed: what was taken for granted, in words, empty where nothing was.
    """

    state: State
    why: str = ""
    code: str = ""
    source: Thing | None = None
    spec: Mapping[str, Any] | None = None
    pin: pins.Pin = pins.NONE
    live: live.Live | None = None
    faults: tuple[str, ...] = ()
    unknown: Lookup | None = None
    assumed: str = ""

    @property
    def unverified(self) -> bool:
        """It rests on a revision whose hash could not be computed."""
        return self.source is not None and self.source.kind == REVISION


def resolve(world: World, service: Thing, ome_namespace: str) -> Active:
    """Finds what is in force.

    Args:
        world: the objects.
        service: the InferenceService.
        ome_namespace: where OME keeps its revisions.

    Raises:
        candidates.TooManyRuntimesError: OME's command would give up.
    """
    if service.annotation(candidates.DEPLOYMENT_MODE) == VIRTUAL:
        return Active("Unavailable", f"it is deployed as {VIRTUAL}, which has no runtime of its own", "virtual")
    now, pin = live.resolve(world, service), pins.pin_of(service)
    if now.outcome in ("unreadable", "disabled"):
        return _none(now, pin)
    if pin.mode == "InvalidPin":
        kind = "spec.runtime.kind is neither ClusterServingRuntime nor ServingRuntime"
        return Active("Unavailable", kind, "pin-invalid", pin=pin, live=now, assumed=now.assumed)
    if pin.revision:
        return _pinned(world, service, pin, now, ome_namespace)
    if now.outcome == "notFound":
        return _none(now, pin)
    return Active("Available", source=now.runtime, spec=now.spec, pin=pin, live=now, assumed=now.assumed)


def _pinned(world: World, service: Thing, pin: pins.Pin, now: live.Live, ome_namespace: str) -> Active:
    held = pins.read(world, service, pin, ome_namespace)
    if held.spec is None:
        unknown = held.lookup if held.lookup.unknown else None
        return Active("Unavailable", held.why, held.code, pin=pin, live=now, unknown=unknown, assumed=now.assumed)
    revision, why, code = held.lookup.thing, "", ""
    if held.faults:
        why, code = f"{revision} contradicts itself: {', '.join(held.faults)}", "revision-inconsistent"
    state: State = "Inconsistent" if held.faults else "Available"
    return Active(state, why, code, revision, held.spec, pin, now, held.faults, assumed=now.assumed)


def _none(now: live.Live, pin: pins.Pin) -> Active:
    return Active("Unavailable", now.why, now.code, pin=pin, live=now, unknown=now.unknown, assumed=now.assumed)
