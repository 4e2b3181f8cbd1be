"""How far the rollout of an InferenceService is, by its own status: OME's summary, with the codes of what does not add up.

The plan is the one that a run has pinned, else that of the spec. Whether a status belongs to the current spec cannot be told
from it (OME's words: epoch Unverifiable), so a state is reported and never concluded.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.ome.runtime.modes import MODES, NATIVE
from analyzer.ome.status.rollout_components import read_components
from analyzer.ome.status.rollout_groups import read_groups
from analyzer.ome.status.rollout_plan import Reading, annotated_mode, groups_of, has_run, pinned
from analyzer.ome.world import COMPONENTS, Thing, items, mapping, string

_REPORTED = ("Failed", "RollingBack", "RolledBack", "Paused", "Unknown")
"""Phases that decide the reported state, the first one that there is."""
_RUNNING = {
    "Canarying", "BlueGreenStandby", "Pending", "Promoting", "Surging", "Waiting", "Shifting", "Updating", "Draining",
    "ScalingDown", "AwaitingNextComponent",
}  # fmt: skip
_RESIDUE = ("lifecycle", "rolloutPhase", "latestReadyRevision", "latestRolledoutRevision", "previousRolledoutRevision", "traffic")
_CONDITIONS = ("RolloutCoordinationReady", "RolloutPlanReady", "RolloutPlanDrift")


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


def rollout_of(service: Thing) -> Rollout:
    """The rollout of an InferenceService, which is within the limits."""
    status = service.status
    read = Reading(
        service,
        pinned(service) if has_run(service) else groups_of(service.spec.get("rollout")),
        mapping(status.get("components")),
        items(mapping(status.get("rolloutCoordination")).get("groups")),
    )
    read_groups(read)
    read_components(read)
    coordination = _coordination(read)
    independent = "Independent" in read.strategy.values()
    proven = not read.groups and not independent and _proves_nothing(read)
    reported = _reported(read, independent=independent, proven=proven)
    if read.groups or _has_residue(service) or not (independent or proven):
        read.issues.add("EpochUnverifiable")
        return Rollout("Unknown", reported, "Reported", "Unverifiable", coordination, tuple(sorted(read.issues)))
    return Rollout(reported, reported, "Declared", "NotApplicable", coordination, tuple(sorted(read.issues)))


def _coordination(read: Reading) -> str:
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


def _proves_nothing(read: Reading) -> bool:
    """Whether it is certain that OME rolls nothing out: every component is declared to be run otherwise."""
    declared = [name for name in COMPONENTS if isinstance(read.service.spec.get(name), dict)]
    modes = [annotated_mode(read.service, name) for name in declared]
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


def _reported(read: Reading, *, independent: bool, proven: bool) -> str:
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
