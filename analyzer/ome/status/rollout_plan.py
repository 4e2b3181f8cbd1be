"""What the rollout of an InferenceService is read from: its plan, its status, and the bounds of both (OME's projection)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.ome.candidates import DEPLOYMENT_MODE
from analyzer.ome.status.conditions import fits, size
from analyzer.ome.world import COMPONENTS, Thing, items, mapping, string

PHASES = (
    "Stable", "Canarying", "BlueGreenStandby", "Pending", "Paused", "Promoting", "RollingBack", "RolledBack", "Failed",
)  # fmt: skip
"""Phases of a component."""
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
    rollout = mapping(status.get("rollout"))
    run, last = mapping(rollout.get("activeRun")), mapping(rollout.get("lastRun"))
    steps = items(mapping(status.get("rolloutCoordination")).get("groups"))
    # Lists of groups and of what belongs to one group: there are as many components as groups at most.
    few = (service.spec.get("rollout"), rollout, run.get("plan"), last, status.get("rolloutCoordination"))
    targets = (one.get("targetRevisions") for one in (run, last))
    return (
        len(items(status.get("conditions"))) <= MAX_CONDITIONS
        and len(components) <= len(COMPONENTS)
        and all(_count(mapping(one).get("traffic")) <= MAX_TRAFFIC for one in components.values())
        and all(len(groups_of(one)) <= MAX_GROUPS for one in few)
        and all(_count(one) <= MAX_GROUPS for one in targets)
        and _count(mapping(status.get("canary")).get("metricResults")) <= MAX_METRICS
        and all(_in_step(group) for group in steps)
        and all(_small(group) for group in (*groups_of(service.spec.get("rollout")), *pinned(service)))
    )


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _members(group: Mapping[str, Any]) -> bool:
    return all(_count(group.get(name)) <= len(COMPONENTS) for name in ("components", "order"))


def _in_step(group: Mapping[str, Any]) -> bool:
    ratio = mapping(group.get("observedRatio"))
    return _members(group) and all(_count(ratio.get(name)) <= len(COMPONENTS) for name in ("original", "current", "newPods"))


def _small(group: Mapping[str, Any]) -> bool:
    canary = mapping(group.get("canary"))
    steps = items(canary.get("steps"))
    metrics = [items(mapping(step.get("analysis")).get("metrics")) for step in steps]
    return (
        _members(group)
        and len(steps) <= MAX_STEPS
        and _short(mapping(canary.get("prometheus")))
        and all(len(held) <= MAX_METRICS and all(fits(one, _METRIC) for one in held) for held in metrics)
    )


_METRIC = {"name": 253, "query": 4096, "threshold": 256}
_MAX_HEADERS, _MAX_HEADER, _MAX_HEADER_VALUE, _MAX_ADDRESS = 16, 256, 1024, 1024
"""Longer than this, in bytes, and the rollout is not read."""


def _short(source: Mapping[str, Any]) -> bool:
    """Whether the address of a Prometheus and its headers are short enough."""
    headers = mapping(source.get("headers"))
    return (
        size(source.get("serverAddress")) <= _MAX_ADDRESS
        and len(headers) <= _MAX_HEADERS
        and all(size(name) <= _MAX_HEADER and size(value) <= _MAX_HEADER_VALUE for name, value in headers.items())
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
