"""How each component of an InferenceService is deployed, and what says so (OME's order of precedence)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.ome.active import VIRTUAL
from analyzer.ome.candidates import DEPLOYMENT_MODE
from analyzer.ome.merge import stripped
from analyzer.ome.requests import component_of
from analyzer.ome.world import COMPONENTS, Thing, mapping, string

NATIVE, RAW = "OMENative", "RawDeployment"
MODES = (RAW, NATIVE, "MultiNode", VIRTUAL)


@dataclass(frozen=True, slots=True)
class Mode:
    """The deployment mode of a component, and where it comes from, in OME's words."""

    component: str
    mode: str
    source: str


def modes_of(service: Thing, runtime_spec: Mapping[str, Any]) -> tuple[Mode, ...]:
    """The mode of every component that the service has, merged with a runtime.

    Args:
        service: the InferenceService.
        runtime_spec: spec of the runtime.
    """
    return tuple(_mode(service, runtime_spec, part) for part in COMPONENTS if isinstance(service.spec.get(part), dict))


def _mode(service: Thing, runtime_spec: Mapping[str, Any], part: str) -> Mode:
    if service.annotation(DEPLOYMENT_MODE) == VIRTUAL:
        return Mode(part, VIRTUAL, "ServiceAnnotation")
    merged = component_of(stripped(dict(service.spec[part])), runtime_spec, part)
    annotated = string(mapping(merged.get("annotations")).get(DEPLOYMENT_MODE))
    if annotated in MODES:
        return Mode(part, annotated, "ComponentAnnotation")
    declared = string(service.spec.get("deploymentMode"))
    if declared in (RAW, NATIVE):
        return Mode(part, declared, "ServiceSpec")
    if part != "router" and any(isinstance(merged.get(node), dict) for node in ("leader", "worker")):
        return Mode(part, NATIVE, "LeaderWorkerShape")
    return Mode(part, RAW, "Default")
