"""Worker groups of a RayCluster: how many workers are wanted, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.facts.ray.base import RayPod, told
from analyzer.facts.values import flag, mappings, number, text

NO_LIMIT = 2**31 - 1
"""What KubeRay takes for an unset maxReplicas, and its API server writes for it."""
MAX_GROUPS = 1_000


@dataclass(slots=True)
class Group:
    """A worker group; the counts are None where pods cannot be told."""

    name: str
    wanted: int
    hosts: int
    suspended: bool
    limits: str
    least: int | None = None
    """Workers that its autoscaler keeps at least; None where there is no autoscaler, which decides about all above them."""
    pods: int | None = None
    ready: int | None = None
    since: datetime | None = None
    why: str | None = None
    worst: RayPod | None = None

    @property
    def needed(self) -> int:
        """Workers that must be there: what an autoscaler asks for and nobody made yet is not missed."""
        return self.wanted if self.least is None else min(self.wanted, max(self.least, self.pods or 0))

    @property
    def missing(self) -> int | None:
        """Workers that are needed and not ready."""
        return None if self.ready is None else max(0, self.needed - self.ready)


def read_groups(spec: dict[str, Any]) -> list[Group]:
    """The worker groups of a RayCluster's spec, not counted yet."""
    autoscaling = flag(spec.get("enableInTreeAutoscaling")) or False
    groups = []
    for one in mappings(spec.get("workerGroupSpecs"))[:MAX_GROUPS]:
        least = max(0, number(one.get("minReplicas")) or 0)
        told_most = number(one.get("maxReplicas"))
        most = NO_LIMIT if told_most is None else max(0, told_most)
        replicas = min(max(0, number(one.get("replicas")) or 0, least), most)
        hosts = max(1, number(one.get("numOfHosts")) or 1)
        suspended = flag(one.get("suspend")) or False
        limits = _limits(least, most) if autoscaling else f"{replicas}"
        wanted = 0 if suspended else min(replicas * hosts, NO_LIMIT)
        kept = min(least * hosts, NO_LIMIT) if autoscaling else None
        groups.append(Group(text(one.get("groupName")) or "", wanted, hosts, suspended, limits, kept))
    return groups


def _limits(least: int, most: int) -> str:
    return f"at least {least}, no upper limit" if most >= NO_LIMIT else f"{least} to {most}"


def count(groups: list[Group], pods: list[RayPod]) -> None:
    """Counts the workers of each group.

    Args:
        groups: changed in place.
        pods: all pods of the cluster.
    """
    by_group: dict[str, list[RayPod]] = {}
    for pod in pods:
        if pod.role == "worker" and not pod.deleted:
            by_group.setdefault(pod.group or "", []).append(pod)
    for group in groups:
        mine = by_group.get(group.name, [])
        waiting = sorted((pod for pod in mine if not pod.works), key=lambda pod: (pod.since or datetime.max, pod.name))  # noqa: DTZ901
        group.pods, group.ready = len(mine), sum(pod.works for pod in mine)
        if group.missing and waiting:
            group.worst, group.since, group.why = waiting[0], waiting[0].since, told(waiting)


def rows(object_id: int, groups: list[Group]) -> list[dict[str, Any]]:
    """The rows of `ray_groups`."""
    return [
        {
            "object_id": object_id,
            "idx": index,
            "group_name": group.name,
            "wanted": group.wanted,
            "needed": group.needed,
            "hosts": group.hosts,
            "suspended": group.suspended,
            "limits": group.limits,
            "pods": group.pods,
            "ready": group.ready,
            "missing": group.missing,
            "since": group.since,
            "why": group.why,
            "pod": group.worst.name if group.worst else None,
            "pod_id": group.worst.object_id if group.worst else None,
            "pod_message": group.worst.message if group.worst else None,
        }
        for index, group in enumerate(groups)
    ]
