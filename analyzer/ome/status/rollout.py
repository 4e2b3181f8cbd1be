"""How far the rollout of an InferenceService is, by its own status: OME's summary, with the codes of what does not add up.

The plan is the one that a run has pinned, else that of the spec. Whether a status belongs to the current spec cannot be told
from it (OME's words: epoch Unverifiable), so a state is reported and never concluded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.ome.candidates import DEPLOYMENT_MODE
from analyzer.ome.runtime.modes import MODES, NATIVE
from analyzer.ome.world import Thing, integer, items, mapping, string

COMPONENTS = ("engine", "decoder", "router")
_PRIMARY = ("router", "engine", "decoder")
_PHASES = (
    "Stable", "Canarying", "BlueGreenStandby", "Pending", "Paused", "Promoting", "RollingBack", "RolledBack", "Failed",
)  # fmt: skip
_GROUP_PHASES = (
    "Idle", "Surging", "Waiting", "Shifting", "Draining", "ScalingDown", "Staged", "Failed", "RollingBack", "Paused",
)  # fmt: skip
_REPORTED = ("Failed", "RollingBack", "RolledBack", "Paused", "Unknown")
"""Phases that decide the reported state, the first one that there is."""
_RUNNING = {
    "Canarying", "BlueGreenStandby", "Pending", "Promoting", "Surging", "Waiting", "Shifting", "Updating", "Draining",
    "ScalingDown", "AwaitingNextComponent",
}  # fmt: skip
_NEED_CANARY = {"Pending", "Canarying", "Paused", "Promoting", "RollingBack", "RolledBack", "Failed"}
_RESIDUE = ("lifecycle", "rolloutPhase", "latestReadyRevision", "latestRolledoutRevision", "previousRolledoutRevision", "traffic")
_REVISIONS = ("latestRolledoutRevision", "latestReadyRevision", "previousRolledoutRevision")
_CONDITIONS = ("RolloutCoordinationReady", "RolloutPlanReady", "RolloutPlanDrift")
_HASH = re.compile(r"[0-9a-f]{8}", re.ASCII)
_PERCENT = re.compile(r"(\d{1,3})%", re.ASCII)
MAX_GROUPS, MAX_STEPS, MAX_METRICS, MAX_TRAFFIC, MAX_CONDITIONS = 3, 20, 10, 3, 64
"""Larger than this and the rollout is not read."""
_MAX_SERVICE_NAME = 63


@dataclass(frozen=True, slots=True)
class Rollout:
    """The summary: state, reported state, evidence, epoch, whether the groups are in step, and the codes of issues."""

    state: str
    reported: str
    evidence: str
    epoch: str
    coordination: str
    issues: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """OME's word for a summary with issues."""
        return ("PartialData",) if self.issues else ()


TOO_LARGE = Rollout("Unknown", "Unknown", "Unavailable", "Unverifiable", "Unknown", ())
"""What is shown of a rollout that is larger than OME reads."""


@dataclass(slots=True)
class _Reading:
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
    groups = [*_groups(service.spec.get("rollout")), *_pinned(service)]
    return (
        len(items(status.get("conditions"))) <= MAX_CONDITIONS
        and len(components) <= len(COMPONENTS)
        and all(len(items(mapping(one).get("traffic"))) <= MAX_TRAFFIC for one in components.values())
        and len(_groups(service.spec.get("rollout"))) <= MAX_GROUPS
        and len(_pinned(service)) <= MAX_GROUPS
        and len(items(mapping(status.get("rolloutCoordination")).get("groups"))) <= MAX_GROUPS
        and len(items(mapping(status.get("canary")).get("metricResults"))) <= MAX_METRICS
        and all(_small(group) for group in groups)
    )


def _small(group: Mapping[str, Any]) -> bool:
    steps = items(mapping(group.get("canary")).get("steps"))
    if len(_names(group.get("components"))) > len(COMPONENTS) or len(_names(group.get("order"))) > len(COMPONENTS):
        return False
    return len(steps) <= MAX_STEPS and all(
        len(items(mapping(step.get("analysis")).get("metrics"))) <= MAX_METRICS for step in steps
    )


def rollout_of(service: Thing) -> Rollout:
    """The rollout of an InferenceService, which is within the limits."""
    status = service.status
    read = _Reading(
        service,
        _pinned(service) if _active(service) else _groups(service.spec.get("rollout")),
        mapping(status.get("components")),
        items(mapping(status.get("rolloutCoordination")).get("groups")),
    )
    _read_groups(read)
    _read_components(read)
    coordination = _coordination(read)
    independent = "Independent" in read.strategy.values()
    proven = not read.groups and not independent and _proves_nothing(read)
    reported = _reported(read, independent=independent, proven=proven)
    if read.groups or _has_residue(service) or not (independent or proven):
        read.issues.add("EpochUnverifiable")
        return Rollout("Unknown", reported, "Reported", "Unverifiable", coordination, tuple(sorted(read.issues)))
    return Rollout(reported, reported, "Declared", "NotApplicable", coordination, tuple(sorted(read.issues)))


def _groups(rollout: Any) -> list[dict[str, Any]]:
    return items(mapping(rollout).get("groups"))


def _active(service: Thing) -> bool:
    return isinstance(mapping(service.status.get("rollout")).get("activeRun"), dict)


def _pinned(service: Thing) -> list[dict[str, Any]]:
    """The groups of the plan that a run has pinned."""
    run = mapping(mapping(service.status.get("rollout")).get("activeRun"))
    return [dict(mapping(one.get("group"))) for one in _groups(run.get("plan"))]


def _names(value: Any) -> list[str]:
    return [string(one) for one in value] if isinstance(value, list) else []


def _read_groups(read: _Reading) -> None:
    sequential = _is_sequential(read.groups)
    expected = {"0"} if sequential else set()
    if sequential:
        _read_group(read, "0", "Sequential", [_names(group.get("components"))[0] for group in read.groups])
    for number, group in enumerate(() if sequential else read.groups):
        names, kinds = (
            _names(group.get("components")),
            [one for one in ("canary", "blueGreen", "rollingUpdate") if group.get(one)],
        )
        known = [name for name in names if name in COMPONENTS and name not in read.strategy]
        if len(kinds) > 1 or not known or len(known) != len(names) or len(set(names)) != len(names):
            read.bad("SpecMalformed")
        strategy = {"canary": "Canary", "rollingUpdate": "RollingUpdate"}.get(kinds[0] if kinds else "", "BlueGreen")
        if strategy != "Canary":
            expected.add(str(number))
        if strategy == "Canary" and len(kinds) == 1:
            read.strategy |= dict.fromkeys(known, strategy)
            _read_canary(read, group, known)
        else:
            _read_group(read, str(number), strategy, known)
    for one in read.coordination:
        if string(one.get("name")) not in expected:
            read.bad("GroupStatusUnexpected")
    primaries = {_primary(_names(group.get("components"))) for group in read.groups if isinstance(group.get("canary"), dict)}
    held = {name for name, one in read.components.items() if isinstance(mapping(one).get("canary"), dict)}
    if held - primaries or (not read.groups and isinstance(read.service.status.get("canary"), dict)):
        read.bad("CanaryStatusUnexpected")


def _is_sequential(groups: Sequence[Mapping[str, Any]]) -> bool:
    """Whether groups of one component each follow one another: OME shows them as one."""
    names = [_names(group.get("components")) for group in groups]
    plain = all(len(one) == 1 and one[0] in COMPONENTS for one in names)
    others = any(isinstance(group.get(one), dict) for group in groups for one in ("canary", "rollingUpdate"))
    return len(groups) > 1 and plain and not others and len({one[0] for one in names}) == len(names)


def _read_group(read: _Reading, number: str, strategy: str, components: Sequence[str]) -> None:
    """A group that moves as one: its phase is that of the coordination status."""
    read.strategy |= dict.fromkeys(components, strategy)
    found = [one for one in read.coordination if string(one.get("name")) == number]
    phase = "Unknown"
    if not found:
        read.issues.add("GroupStatusMissing")
    else:
        if len(found) > 1 or found[0].get("policy") != strategy or _names(found[0].get("components")) != list(components):
            read.bad("StatusMalformed")
        told = string(found[0].get("phase"))
        if told in _GROUP_PHASES:
            phase = told
        elif told:
            read.bad("StatusMalformed")
        else:
            read.issues.add("GroupStatusMissing")
        if strategy == "Sequential" and phase == "Idle" and found[0].get("currentComponent"):
            phase = "AwaitingNextComponent"
    read.group_phases[number] = phase
    read.phases.append(phase)


def _primary(components: Sequence[str]) -> str:
    """The component whose traffic a canary moves."""
    return next((name for name in _PRIMARY if name in components), "")


def _read_canary(read: _Reading, group: Mapping[str, Any], components: Sequence[str]) -> None:
    primary = _primary(components)
    own = mapping(read.components.get(primary))
    phase = string(own.get("rolloutPhase")) if string(own.get("rolloutPhase")) in _PHASES else "Unknown"
    read.phases.append(phase)
    if phase == "BlueGreenStandby":
        read.bad("StatusMalformed")
    status = own.get("canary") if isinstance(own.get("canary"), dict) else _shared_canary(read)
    if not isinstance(status, dict):
        if phase in _NEED_CANARY:
            read.issues.add("CanaryStatusMissing")
        return
    hashes = [string(status.get(name)) for name in ("stableRevisionHash", "canaryRevisionHash", "rolledBackRevisionHash")]
    if any(one and not _HASH.fullmatch(one) for one in hashes) or not hashes[1]:
        read.bad("RevisionNameInvalid")
    steps, step = items(mapping(group.get("canary")).get("steps")), integer(status.get("currentStep"))
    if phase == "Stable":
        # A run that is over stands behind its last step, with all traffic on the new revision.
        if step != len(steps) or integer(status.get("observedTrafficWeight")) != 100 or not hashes[1]:
            read.bad("CanaryStepInvalid")
        return
    if phase not in _NEED_CANARY:
        read.bad("CanaryStatusUnexpected")
        return
    if not 0 <= step < len(steps):
        read.bad("CanaryStepInvalid")
        return
    _read_step(read, steps[step], status)


def _shared_canary(read: _Reading) -> Any:
    """The canary status of a service as a whole, which names no component: it counts where only one group can be meant."""
    several = sum(isinstance(group.get("canary"), dict) for group in read.groups) != 1
    own = any(isinstance(mapping(one).get("canary"), dict) for one in read.components.values())
    return None if several or own else read.service.status.get("canary")


def _read_step(read: _Reading, step: Mapping[str, Any], status: Mapping[str, Any]) -> None:
    if not _capacity(step.get("capacity", 0)):
        read.bad("CanaryStepInvalid")
    if not all(0 <= integer(one) <= 100 for one in (step.get("traffic"), status.get("observedTrafficWeight"))):
        read.bad("TrafficInvalid")
    if isinstance(step.get("analysis"), dict) and _inconclusive(step["analysis"], status):
        read.issues.add("AnalysisInconclusive")


def _capacity(value: Any) -> bool:
    """Whether a value is a count or a percentage."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value >= 0
    match = _PERCENT.fullmatch(string(value))
    return match is not None and int(match[1]) <= 100


def _inconclusive(analysis: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Whether metrics were evaluated, and one of those asked for has no value."""
    results = {string(one.get("name")): one for one in items(status.get("metricResults"))}
    asked = {string(one.get("name")) for one in items(analysis.get("metrics"))}
    failed = any(one.get("passed") is not True and string(one.get("value")) for one in results.values())
    return (
        bool(results) and not failed and (set(results) != asked or any(not string(one.get("value")) for one in results.values()))
    )


def _read_components(read: _Reading) -> None:
    declared = {name for name in COMPONENTS if isinstance(read.service.spec.get(name), dict)}
    if set(read.components) - set(COMPONENTS):
        read.bad("StatusMalformed")
    for name in COMPONENTS:
        if name in declared or name in read.components or name in read.strategy:
            _read_component(read, name)


def _read_component(read: _Reading, name: str) -> None:
    grouped = read.strategy.get(name, "")
    mode = _annotated_mode(read.service, name)
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


def _read_phase(read: _Reading, name: str, told: str, *, grouped: str, foreign: bool) -> None:
    """The phase of a component that has no lifecycle of its own."""
    if told and told not in _PHASES:
        read.bad("StatusMalformed")
    if not grouped:
        if not foreign:
            read.issues.add("ComponentStatusMissing")
        if read.strategy.get(name) == "Independent":
            read.phases.append(told if told in _PHASES else "Unknown")
        if not read.groups and told not in ("", "Stable"):
            read.bad("StatusMalformed")
    elif grouped == "Canary":
        primaries = {_primary(_names(group.get("components"))) for group in read.groups}
        if told or name in primaries:
            read.phases.append(told if told in _PHASES else "Unknown")
        if not told and name in primaries:
            read.issues.add("ComponentStatusMissing")
    elif told in _PHASES and _contradicts(next(iter(_group_phase(read, name)), "Unknown"), told):
        read.bad("StatusMalformed")


def _group_phase(read: _Reading, name: str) -> list[str]:
    """The phase of the group that a component moves with."""
    if "0" in read.group_phases and read.strategy.get(name) == "Sequential":
        return [read.group_phases["0"]]
    numbers = [str(number) for number, group in enumerate(read.groups) if name in _names(group.get("components"))]
    return [read.group_phases[number] for number in numbers if number in read.group_phases]


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


def _annotated_mode(service: Thing, name: str) -> str:
    return string(mapping(mapping(service.spec.get(name)).get("annotations")).get(DEPLOYMENT_MODE))


def _lifecycle_phase(read: _Reading, name: str, lifecycle: Mapping[str, Any]) -> str:
    current, update = string(lifecycle.get("currentRevision")), string(lifecycle.get("updateRevision"))
    if not current or not update:
        read.issues.add("ComponentStatusMissing")
        return "Unknown"
    start = f"{read.service.name}-{name}-"
    if any(one[:-8] != start or not _HASH.fullmatch(one[-8:]) for one in (current, update)):
        read.bad("RevisionNameInvalid")
        return "Unknown"
    return "Stable" if current == update else "Updating"


def _read_revisions(read: _Reading, name: str, own: Mapping[str, Any]) -> None:
    if any(string(own.get(one)) and not _revision(read.service.name, name, own[one]) for one in _REVISIONS):
        read.bad("RevisionNameInvalid")
    traffic = items(own.get("traffic"))
    shares = [integer(one.get("percent")) for one in traffic]
    revisions = [_revision(read.service.name, name, one.get("revisionName")) for one in traffic]
    wrong = sum(shares) != 100 or any(not 0 <= one <= 100 for one in shares)
    if traffic and (wrong or not all(revisions) or len(set(revisions)) != len(revisions)):
        read.bad("TrafficInvalid")


def _revision(service: str, component: str, name: Any) -> str:
    """The hash in the name of a revision's Service; empty where the name is not made of them. OME shortens long names."""
    text = string(name)
    digest = text[-8:]
    if not _HASH.fullmatch(digest):
        return ""
    whole = f"{service}-{component}-rev-{digest}"
    return digest if text == whole or (len(whole) > _MAX_SERVICE_NAME and len(text) <= _MAX_SERVICE_NAME) else ""


def _coordination(read: _Reading) -> str:
    """The condition that tells whether the groups are in step, where there are such; Invalid where it belies their phases."""
    if not read.group_phases:
        return "NotApplicable"
    found = [one for one in items(read.service.status.get("conditions")) if one.get("type") == "RolloutCoordinationReady"]
    if not found:
        return "Unobserved"
    status = string(found[0].get("status"))
    phases = set(read.group_phases.values())
    at_rest = phases <= {"Idle", "Staged", "AwaitingNextComponent", "Unknown"}
    expected = "False" if not at_rest else "Unknown" if "Unknown" in phases else "True"
    if len(found) > 1 or status != expected:
        read.bad("StatusMalformed")
        return "Invalid"
    return status


def _proves_nothing(read: _Reading) -> bool:
    """Whether it is certain that OME rolls nothing out: every component is declared to be run otherwise."""
    declared = [name for name in COMPONENTS if isinstance(read.service.spec.get(name), dict)]
    modes = [_annotated_mode(read.service, name) for name in declared]
    return not _has_residue(read.service) and all(mode in MODES and mode != NATIVE for mode in modes)


def _has_residue(service: Thing) -> bool:
    """Whether the status holds anything of a rollout."""
    status, rollout = service.status, mapping(service.status.get("rollout"))
    if isinstance(status.get("canary"), dict) or isinstance(status.get("rolloutCoordination"), dict):
        return True
    if rollout.get("activeRun") or rollout.get("lastRun") or rollout.get("groups"):
        return True
    if any(mapping(one).get(name) for one in mapping(status.get("components")).values() for name in _RESIDUE):
        return True
    return any(one.get("type") in _CONDITIONS for one in items(status.get("conditions")))


def _reported(read: _Reading, *, independent: bool, proven: bool) -> str:
    if read.malformed:
        return "Unknown"
    if not read.groups and not independent:
        return "NotConfigured" if proven else "Unknown"
    first = next((phase for phase in _REPORTED if phase in read.phases), "")
    if first:
        return first
    if _RUNNING.intersection(read.phases):
        return "InProgress"
    return "Staged" if "Staged" in read.phases else "Succeeded"
