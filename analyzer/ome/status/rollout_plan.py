"""What the rollout of an InferenceService is read from: its plan, its status, and the bounds of both (OME's projection)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.ome.candidates import DEPLOYMENT_MODE
from analyzer.ome.world import Thing, items, mapping, string

COMPONENTS = ("engine", "decoder", "router")
PHASES = (
    "Stable", "Canarying", "BlueGreenStandby", "Pending", "Paused", "Promoting", "RollingBack", "RolledBack", "Failed",
)  # fmt: skip
"""Phases of a component."""
HASH = re.compile(r"[0-9a-f]{8}", re.ASCII)
_PRIMARY = ("router", "engine", "decoder")
MAX_GROUPS, MAX_STEPS, MAX_METRICS, MAX_TRAFFIC, MAX_CONDITIONS = 3, 20, 10, 3, 64
"""Larger than this and the rollout is not read."""


@dataclass(slots=True)
class Reading:
    """What is known while the status is gone through; `malformed` says that nothing can be reported."""

    service: Thing
    groups: list[dict[str, Any]]
    components: Mapping[str, Any]
    coordination: list[dict[str, Any]]
    issues: set[str] = field(default_factory=set)
    malformed: bool = False
    strategy: dict[str, str] = field(default_factory=dict)
    phases: list[str] = field(default_factory=list)
    group_phases: dict[str, str] = field(default_factory=dict)

    def bad(self, code: str) -> None:
        """Notes an issue that leaves the state unknown."""
        self.issues.add(code)
        self.malformed = True


def within_limits(service: Thing) -> bool:
    """Whether a rollout is small enough to be read."""
    status, components = service.status, mapping(service.status.get("components"))
    groups = [*groups_of(service.spec.get("rollout")), *pinned(service)]
    return (
        len(items(status.get("conditions"))) <= MAX_CONDITIONS
        and len(components) <= len(COMPONENTS)
        and all(len(items(mapping(one).get("traffic"))) <= MAX_TRAFFIC for one in components.values())
        and len(groups_of(service.spec.get("rollout"))) <= MAX_GROUPS
        and len(pinned(service)) <= MAX_GROUPS
        and len(items(mapping(status.get("rolloutCoordination")).get("groups"))) <= MAX_GROUPS
        and len(items(mapping(status.get("canary")).get("metricResults"))) <= MAX_METRICS
        and all(_small(group) for group in groups)
    )


def _small(group: Mapping[str, Any]) -> bool:
    steps = items(mapping(group.get("canary")).get("steps"))
    if len(names_of(group.get("components"))) > len(COMPONENTS) or len(names_of(group.get("order"))) > len(COMPONENTS):
        return False
    return len(steps) <= MAX_STEPS and all(
        len(items(mapping(step.get("analysis")).get("metrics"))) <= MAX_METRICS for step in steps
    )


def groups_of(rollout: Any) -> list[dict[str, Any]]:
    """The groups of a plan."""
    return items(mapping(rollout).get("groups"))


def has_run(service: Thing) -> bool:
    """Whether a run is under way, which has a plan of its own."""
    return isinstance(mapping(service.status.get("rollout")).get("activeRun"), dict)


def pinned(service: Thing) -> list[dict[str, Any]]:
    """The groups of the plan that a run has pinned."""
    run = mapping(mapping(service.status.get("rollout")).get("activeRun"))
    return [dict(mapping(one.get("group"))) for one in groups_of(run.get("plan"))]


def names_of(value: Any) -> list[str]:
    """The texts of a list, anything else in it as an empty one."""
    return [string(one) for one in value] if isinstance(value, list) else []


def primary_of(components: Sequence[str]) -> str:
    """The component whose traffic a canary moves."""
    return next((name for name in _PRIMARY if name in components), "")


def annotated_mode(service: Thing, name: str) -> str:
    """The deployment mode that a component of the service is annotated with."""
    return string(mapping(mapping(service.spec.get(name)).get("annotations")).get(DEPLOYMENT_MODE))
