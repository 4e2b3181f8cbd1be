"""The replicated Jobs of a JobSet: how many are ready, and what the others wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analyzer.facts.values import mapping, mappings, number, text

MAX_GROUPS = 1_000
_COUNTS = ("active", "ready", "succeeded", "failed", "suspended")


@dataclass(slots=True)
class Group:
    """One replicated Job with the numbers of its status."""

    name: str
    replicas: int
    depends_on: list[tuple[str, str]]
    """(name of the other, Ready or Complete)"""
    known: bool
    """The status speaks of it."""
    active: int
    ready: int
    succeeded: int
    failed: int
    suspended: int
    waits_for: str | None = None

    @property
    def all_ready(self) -> bool:
        """Its Jobs are all ready or have ended well."""
        return self.ready + self.succeeded >= self.replicas

    def reached(self, status: str) -> bool:
        """Whether what depends on it may start."""
        if not self.known:
            return self.replicas == 0
        if status == "Complete":
            return self.succeeded >= self.replicas
        return self.ready + self.succeeded + self.failed >= self.replicas


def read_groups(spec: dict[str, Any], listed: list[dict[str, Any]]) -> list[Group]:
    """The groups in the order of the spec, with what they wait for.

    Args:
        spec: that of the JobSet.
        listed: status.replicatedJobsStatus.
    """
    status = {text(one.get("name")): one for one in listed}
    groups = []
    for one in mappings(spec.get("replicatedJobs"))[:MAX_GROUPS]:
        name = text(one.get("name")) or ""
        told = mapping(status.get(name))
        replicas = number(one.get("replicas"))
        needs = [
            (other, text(item.get("status")) or "Ready")
            for item in mappings(one.get("dependsOn"))
            if (other := text(item.get("name")))
        ]
        active, ready, done, failed, held = (max(0, number(told.get(key)) or 0) for key in _COUNTS)
        groups.append(
            Group(name, 1 if replicas is None else max(0, replicas), needs, bool(told), active, ready, done, failed, held)
        )
    _wait(groups, in_order=text(mapping(spec.get("startupPolicy")).get("startupPolicyOrder")) == "InOrder")
    return groups


def _wait(groups: list[Group], *, in_order: bool) -> None:
    """A group that has no Jobs yet waits for those that it names, or that stand before it where the order counts."""
    by_name = {group.name: group for group in groups}
    held: str | None = None
    for group in groups:
        made = group.active or group.ready or group.succeeded or group.failed
        unmet = [
            f"{name} to be {status.lower()}"
            for name, status in group.depends_on
            if name in by_name and not by_name[name].reached(status)
        ]
        if not made and unmet:
            group.waits_for = ", ".join(unmet[:10])
        elif not made and in_order and held:
            group.waits_for = f"{held} to be ready"
        if in_order and held is None and not group.reached("Ready"):
            held = group.name
