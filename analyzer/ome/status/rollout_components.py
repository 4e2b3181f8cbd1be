"""The components of a rollout: the phase of each, alone or with its group, its revisions and traffic (OME's projection)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.ome.names import is_revision_hash, revision_hash
from analyzer.ome.runtime.modes import MODES, NATIVE
from analyzer.ome.status.rollout_plan import PHASES, Reading, annotated_mode, names_of, primary_of
from analyzer.ome.world import COMPONENTS, integer, items, mapping, string

_REVISIONS = ("latestRolledoutRevision", "latestReadyRevision", "previousRolledoutRevision")


def read_components(read: Reading) -> None:
    """Goes through the components that are declared, grouped or have a status."""
    declared = {name for name in COMPONENTS if isinstance(read.service.spec.get(name), dict)}
    if set(read.components) - set(COMPONENTS):
        read.bad("StatusMalformed")
    for name in COMPONENTS:
        if name in declared or name in read.components or name in read.strategy:
            _read_component(read, name)


def _read_component(read: Reading, name: str) -> None:
    grouped = read.strategy.get(name, "")
    mode = annotated_mode(read.service, name)
    foreign = mode in MODES and mode != NATIVE
    if not grouped and mode == NATIVE:
        read.strategy[name] = "Independent"
    if name not in read.components:
        if grouped or not foreign:
            read.issues.add("ComponentStatusMissing")
        if grouped or read.strategy.get(name) == "Independent":
            read.phases.append("Unknown")
        return
    own = mapping(read.components[name])
    told = string(own.get("rolloutPhase"))
    if not grouped and isinstance(own.get("lifecycle"), dict):
        read.strategy[name] = "Independent"
        phase = _lifecycle_phase(read, name, mapping(own["lifecycle"]))
        if told and told != phase:
            read.bad("StatusMalformed")
        read.phases.append(phase)
    else:
        _read_phase(read, name, told, grouped=grouped, foreign=foreign)
    _read_revisions(read, name, own)


def _read_phase(read: Reading, name: str, told: str, *, grouped: str, foreign: bool) -> None:
    """The phase of a component that has no lifecycle of its own."""
    if told and told not in PHASES:
        read.bad("StatusMalformed")
    if not grouped:
        if not foreign:
            read.issues.add("ComponentStatusMissing")
        if read.strategy.get(name) == "Independent":
            read.phases.append(told if told in PHASES else "Unknown")
        if not read.groups and told not in ("", "Stable"):
            read.bad("StatusMalformed")
    elif grouped == "Canary":
        primaries = {primary_of(names_of(group.get("components"))) for group in read.groups}
        if told or name in primaries:
            read.phases.append(told if told in PHASES else "Unknown")
        if not told and name in primaries:
            read.issues.add("ComponentStatusMissing")
    elif told in PHASES and _contradicts(_group_phase(read, name), told):
        read.bad("StatusMalformed")


def _group_phase(read: Reading, name: str) -> str:
    """The phase of the group that a component moves with."""
    if "0" in read.group_phases and read.strategy.get(name) == "Sequential":
        return read.group_phases["0"]
    numbers = [str(number) for number, group in enumerate(read.groups) if name in names_of(group.get("components"))]
    return next((read.group_phases[number] for number in numbers if number in read.group_phases), "Unknown")


def _contradicts(group: str, component: str) -> bool:
    """Whether the phase of a component cannot be, next to that of its group."""
    allowed = {
        "Idle": {"Stable"},
        "AwaitingNextComponent": {"Stable"},
        "Staged": {"Stable", "BlueGreenStandby"},
        "Failed": {"Stable", "Failed"},
        "RollingBack": {"Stable", "RollingBack", "RolledBack"},
    }
    if group in allowed:
        return component not in allowed[group]
    if group == "Unknown":
        return False
    return component in {"Failed", "RollingBack", "RolledBack"} or (component == "Paused" and group != "Paused")


def _lifecycle_phase(read: Reading, name: str, lifecycle: Mapping[str, Any]) -> str:
    current, update = string(lifecycle.get("currentRevision")), string(lifecycle.get("updateRevision"))
    if not current or not update:
        read.issues.add("ComponentStatusMissing")
        return "Unknown"
    start = f"{read.service.name}-{name}-"
    if any(one[:-8] != start or not is_revision_hash(one[-8:]) for one in (current, update)):
        read.bad("RevisionNameInvalid")
        return "Unknown"
    return "Stable" if current == update else "Updating"


def _read_revisions(read: Reading, name: str, own: Mapping[str, Any]) -> None:
    if any(string(own.get(one)) and not revision_hash(read.service.name, name, own[one]) for one in _REVISIONS):
        read.bad("RevisionNameInvalid")
    traffic = items(own.get("traffic"))
    shares = [integer(one.get("percent")) for one in traffic]
    revisions = [revision_hash(read.service.name, name, string(one.get("revisionName"))) for one in traffic]
    wrong = sum(shares) != 100 or any(not 0 <= one <= 100 for one in shares)
    if traffic and (wrong or not all(revisions) or len(set(revisions)) != len(revisions)):
        read.bad("TrafficInvalid")
