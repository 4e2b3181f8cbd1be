"""The groups of a rollout: how far each is by its status, and what of that does not add up (OME's rollout projection)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.ome.names import is_revision_hash
from analyzer.ome.status.rollout_plan import PHASES, Reading, names_of, primary_of
from analyzer.ome.world import COMPONENTS, integer, items, mapping, string

_GROUP_PHASES = (
    "Idle", "Surging", "Waiting", "Shifting", "Draining", "ScalingDown", "Staged", "Failed", "RollingBack", "Paused",
)  # fmt: skip
_STRATEGIES = {"canary": "Canary", "blueGreen": "BlueGreen", "rollingUpdate": "RollingUpdate"}
_NEED_CANARY = {"Pending", "Canarying", "Paused", "Promoting", "RollingBack", "RolledBack", "Failed"}
_PERCENT = re.compile(r"(\d{1,3})%", re.ASCII)


def read_groups(read: Reading) -> None:
    """Goes through the groups of the plan, and the statuses that belong to none."""
    sequential = _is_sequential(read.groups)
    expected = {"0"} if sequential else set()
    if sequential:
        _read_group(read, "0", "Sequential", [names_of(group.get("components"))[0] for group in read.groups])
    for number, group in enumerate(() if sequential else read.groups):
        names = names_of(group.get("components"))
        kinds = [one for one in _STRATEGIES if isinstance(group.get(one), dict)]
        known = [name for name in names if name in COMPONENTS and name not in read.strategy]
        if len(kinds) > 1 or not known or len(known) != len(names) or len(set(names)) != len(names):
            read.bad("SpecMalformed")
        if "canary" not in kinds:
            expected.add(str(number))
        if len(kinds) > 1:
            read.strategy |= dict.fromkeys(known, "Unknown")
            read.phases.append("Unknown")
        elif kinds == ["canary"]:
            read.strategy |= dict.fromkeys(known, "Canary")
            _read_canary(read, group, known)
        else:
            _read_group(read, str(number), _STRATEGIES[kinds[0]] if kinds else "BlueGreen", known)
    for one in read.coordination:
        if string(one.get("name")) not in expected:
            read.bad("GroupStatusUnexpected")
    primaries = {primary_of(names_of(group.get("components"))) for group in read.groups if isinstance(group.get("canary"), dict)}
    held = {name for name, one in read.components.items() if isinstance(mapping(one).get("canary"), dict)}
    if held - primaries or (not read.groups and isinstance(read.service.status.get("canary"), dict)):
        read.bad("CanaryStatusUnexpected")


def _is_sequential(groups: Sequence[Mapping[str, Any]]) -> bool:
    """Whether groups of one component each follow one another: OME shows them as one."""
    names = [names_of(group.get("components")) for group in groups]
    plain = all(len(one) == 1 and one[0] in COMPONENTS for one in names)
    others = any(isinstance(group.get(one), dict) for group in groups for one in ("canary", "rollingUpdate"))
    return len(groups) > 1 and plain and not others and len({one[0] for one in names}) == len(names)


def _read_group(read: Reading, number: str, strategy: str, components: Sequence[str]) -> None:
    """A group that moves as one: its phase is that of the coordination status."""
    read.strategy |= dict.fromkeys(components, strategy)
    found = [one for one in read.coordination if string(one.get("name")) == number]
    phase = "Unknown"
    if not found:
        read.issues.add("GroupStatusMissing")
    else:
        if len(found) > 1 or found[0].get("policy") != strategy or names_of(found[0].get("components")) != list(components):
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


def _read_canary(read: Reading, group: Mapping[str, Any], components: Sequence[str]) -> None:
    primary = primary_of(components)
    own = mapping(read.components.get(primary))
    phase = string(own.get("rolloutPhase")) if string(own.get("rolloutPhase")) in PHASES else "Unknown"
    read.phases.append(phase)
    if phase == "BlueGreenStandby":
        read.bad("StatusMalformed")
    status = own.get("canary") if isinstance(own.get("canary"), dict) else _shared_canary(read)
    if not isinstance(status, dict):
        if phase in _NEED_CANARY:
            read.issues.add("CanaryStatusMissing")
        return
    hashes = [string(status.get(name)) for name in ("stableRevisionHash", "canaryRevisionHash", "rolledBackRevisionHash")]
    if any(one and not is_revision_hash(one) for one in hashes) or not hashes[1]:
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


def _shared_canary(read: Reading) -> Any:
    """The canary status of a service as a whole, which names no component: it counts where only one group can be meant."""
    several = sum(isinstance(group.get("canary"), dict) for group in read.groups) != 1
    own = any(isinstance(mapping(one).get("canary"), dict) for one in read.components.values())
    return None if several or own else read.service.status.get("canary")


def _read_step(read: Reading, step: Mapping[str, Any], status: Mapping[str, Any]) -> None:
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
