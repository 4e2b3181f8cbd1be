"""RayClusters: whether the head is ready, whatever `status.state` says, and the state in KubeRay's order.

`status.state` turns to ready once and stays so when pods die; so does the condition RayClusterProvisioned. Conditions are
there from version 1.2 on (by default from 1.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from analyzer.facts.ray.base import RayPod
from analyzer.facts.ray.groups import NO_LIMIT, Group, count, read_groups
from analyzer.facts.told import Condition, Conditions, conditions
from analyzer.facts.values import Stored, flag, mapping, mappings, moment, number, text


@dataclass(slots=True)
class Cluster:
    """A RayCluster: what its object says, and what `settle` makes of it."""

    object_id: int
    input: int
    namespace: str
    name: str
    created_at: datetime | None
    deleted: bool
    suspend: bool
    conditions: Conditions
    said: str | None
    said_reason: str | None
    updated: datetime | None
    has_status: bool
    told_head: str | None
    head_service: str | None
    autoscaling: bool
    owner: tuple[str, str] | None
    status_wanted: int | None
    status_ready: int | None
    groups: list[Group]
    state: str = "Provisioning"
    reason: str | None = None
    message: str | None = None
    path: str | None = None
    since: datetime | None = None
    head: RayPod | None = None
    head_ready: bool | None = None
    head_told: str | None = None
    head_reason: str | None = None
    head_message: str | None = None
    head_since: datetime | None = None
    failure: dict[str, Any] = field(default_factory=dict)
    workers: dict[str, Any] = field(default_factory=dict)

    @property
    def provisioned(self) -> bool:
        """All its pods were ready once."""
        if "RayClusterProvisioned" in self.conditions:
            return self.conditions.true("RayClusterProvisioned") is not None
        return self.said in ("ready", "unhealthy")


def read(item: Stored) -> Cluster:
    """Reads one RayCluster."""
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    head = mapping(status.get("head"))
    owner = next(
        (
            (kind, name)
            for one in mappings(mapping(item.value.get("metadata")).get("ownerReferences"))
            if (kind := text(one.get("kind"))) in ("RayService", "RayJob") and kind and (name := text(one.get("name")))
        ),
        None,
    )
    return Cluster(
        item.object_id,
        item.input,
        item.namespace,
        item.name,
        item.created_at,
        item.deleted_at is not None,
        flag(spec.get("suspend")) or False,
        conditions(status),
        text(status.get("state")),
        text(status.get("reason")),
        moment(status.get("lastUpdateTime")),
        bool(status),
        text(head.get("podName")),
        text(head.get("serviceName")),
        flag(spec.get("enableInTreeAutoscaling")) or False,
        owner,
        number(status.get("desiredWorkerReplicas")),
        number(status.get("readyWorkerReplicas")),
        read_groups(spec),
    )


def settle(one: Cluster, pods: list[RayPod], *, pods_whole: bool) -> None:
    """Decides the state, judges the head, and counts the workers.

    Args:
        one: the cluster, changed in place.
        pods: those with its label.
        pods_whole: every pod of its namespace is in the bundle.
    """
    _judge_head(one, pods, pods_whole=pods_whole)
    failed = one.conditions.true("ReplicaFailure")
    if failed:
        one.failure = _failure(failed.reason, failed.message, failed.path, failed.since) | {"failure_old": False}
    elif one.said == "failed":
        path = "status.reason" if one.said_reason else "status.state"
        one.failure = _failure(None, one.said_reason, path, one.updated) | {"failure_old": True}
    _decide(one)
    _count(one, pods, known=bool(pods) or pods_whole)


def _failure(reason: str | None, message: str | None, path: str, since: datetime | None) -> dict[str, Any]:
    return {"failure_reason": reason, "failure_message": message, "failure_path": path, "failure_since": since}


def _judge_head(one: Cluster, pods: list[RayPod], *, pods_whole: bool) -> None:
    """Condition and pod are both asked: the condition copies the pod, and stays as it was where the operator is down."""
    heads = [pod for pod in pods if pod.role == "head" or pod.name == one.told_head]
    newest = max(heads, key=lambda pod: (not pod.deleted, pod.created_at or datetime.min, pod.name), default=None)  # noqa: DTZ901
    one.head = newest
    said = one.conditions.get("HeadPodReady")
    bad = said if said and said.status != "True" else None
    up = newest is not None and newest.works
    if bad and up and newest and newest.since and bad.since and newest.since > bad.since:
        # The pod got ready after the operator last looked.
        bad = None
    if bad:
        one.head_ready, one.head_told = False, "both" if newest and not up else "condition"
        one.head_reason, one.head_message, one.head_since = bad.reason, bad.message, bad.since
        if newest and not up and bad.reason in (None, "Unknown", "ContainersNotReady", "PodFailed"):
            one.head_message = newest.message or bad.message
    elif newest and not up:
        one.head_ready, one.head_told = False, "pod"
        one.head_reason, one.head_message, one.head_since = newest.words, newest.message, newest.since
    elif newest or said:
        one.head_ready = True
    elif pods_whole and one.provisioned:
        one.head_ready, one.head_told = False, "absence"


def _decide(one: Cluster) -> None:
    suspended, suspending = one.conditions.true("RayClusterSuspended"), one.conditions.true("RayClusterSuspending")
    ready = one.conditions.true("HeadPodReady")
    all_ready = one.conditions.true("RayClusterProvisioned")
    if one.deleted:
        one.state = "Deleting"
    elif suspended or one.said == "suspended":
        _say(one, "Suspended", suspended, "status.state")
    elif suspending or one.suspend:
        _say(one, "Suspending", suspending, "spec.suspend")
    elif one.failure:
        one.state, one.reason, one.message = "Failed", one.failure["failure_reason"], one.failure["failure_message"]
        one.path, one.since = one.failure["failure_path"], one.failure["failure_since"]
    elif one.provisioned and one.head_ready is False:
        one.state, one.reason, one.since = "Head not ready", one.head_reason, one.head_since
        one.message = one.head_message or ("there is no head pod" if one.head_told == "absence" else None)
        told = one.conditions.get("HeadPodReady")
        one.path = told.path if told and one.head_told in ("condition", "both") else None
    elif one.head_ready and (all_ready or (ready is None and one.said == "ready")):
        one.state, one.path = "Ready", all_ready.path if all_ready else "status.state"
        one.since = max((told.since for told in (ready, all_ready) if told and told.since), default=one.updated)
    elif one.head_ready is None and one.said == "ready" and not one.conditions:
        one.state, one.path, one.since = "Ready", "status.state", one.updated
    else:
        told = one.conditions.get("RayClusterProvisioned")
        _say(one, "Provisioning", told, None)
        one.since = one.since or one.created_at


def _say(one: Cluster, state: str, told: Condition | None, path: str | None) -> None:
    one.state, one.path = state, told.path if told else path
    if told:
        one.reason, one.message, one.since = told.reason, told.message or None, told.since


def _count(one: Cluster, pods: list[RayPod], *, known: bool) -> None:
    if known:
        count(one.groups, pods)
        wanted = min(sum(group.needed for group in one.groups), NO_LIMIT)
        ready = sum(min(group.ready or 0, group.needed) for group in one.groups)
        one.workers = {"workers_wanted": wanted, "workers_ready": ready, "workers_from": "pods"}
    elif one.status_wanted is not None:
        one.workers = {"workers_wanted": one.status_wanted, "workers_ready": one.status_ready or 0, "workers_from": "status"}
    else:
        return
    if one.workers["workers_ready"] < one.workers["workers_wanted"]:
        one.workers["workers_since"] = _short_since(one)


def _short_since(one: Cluster) -> datetime | None:
    """Since when workers are missing: by the pods that are not ready, and where some are not there at all by the status."""
    times = [group.since for group in one.groups if group.missing and group.since]
    if any(group.missing and (group.pods or 0) < group.needed for group in one.groups) or not times:
        told = one.conditions.get("RayClusterProvisioned")
        coming = told.since if told and told.status != "True" else None
        own = one.failure.get("failure_since") or coming or one.updated or one.created_at
        times += [own] if own else []
    return min(times, default=None)


def row(one: Cluster) -> dict[str, Any]:
    """The row of `ray_clusters`."""
    told = one.conditions.get("HeadPodReady")
    limits = [f"{group.name}: {group.limits}" for group in one.groups if not group.suspended]
    return {
        "object_id": one.object_id,
        "input": one.input,
        "namespace": one.namespace,
        "name": one.name,
        "state": one.state,
        "reason": one.reason,
        "message": one.message,
        "message_path": one.path,
        "since": one.since,
        "created_at": one.created_at,
        "deleted": one.deleted,
        "judged": one.has_status and one.state not in ("Deleting", "Suspended", "Suspending"),
        "said": one.said,
        "provisioned": one.provisioned,
        "head_pod": one.head.name if one.head else one.told_head,
        "head_pod_id": one.head.object_id if one.head else None,
        "head_pod_state": one.head.state if one.head else None,
        "head_ready": one.head_ready,
        "head_told": one.head_told,
        "head_reason": one.head_reason,
        "head_message": one.head_message,
        "head_path": told.path if told else None,
        "head_since": one.head_since,
        **one.failure,
        "autoscaling": one.autoscaling,
        "owner_kind": one.owner[0] if one.owner else None,
        "owner_name": one.owner[1] if one.owner else None,
        "head_service": one.head_service,
        **one.workers,
        "limits": "; ".join(limits[:20]) if one.autoscaling else None,
    }


def lacking(*, whole: bool) -> str:
    """What is said of a cluster that something names and that was not read.

    Args:
        whole: all RayClusters of the namespace are in the bundle.
    """
    return "does not exist" if whole else "is not in this bundle"


def trouble(one: Cluster, called: str) -> list[str]:
    """What is wrong with a cluster, in words, the most basic first.

    Args:
        one: the cluster.
        called: what it is to who asks: "its RayCluster reef".
    """
    found = []
    if one.failure:
        reason, said = one.failure["failure_reason"], one.failure["failure_message"]
        found.append(f"{called} failed ({reason or 'state failed'})" + (f': "{said[:300]}"' if said else ""))
        if reason == "FailedCreateHeadPod":
            # The head that is not there, and workers that wait for it, are nothing more.
            return found
    if one.head_ready is False:
        name = f" {one.head.name}" if one.head else ""
        why = f" ({one.head_reason})" if one.head_reason else ""
        quoted = f': "{one.head_message[:300]}"' if one.head_message else ""
        found.append(f"of {called} the head pod{name} is not ready{why}{quoted}")
    elif one.head_ready is None:
        found.append(f"nothing is known of the head pod of {called}")
    wanted, ready = one.workers.get("workers_wanted"), one.workers.get("workers_ready")
    if wanted is not None and ready is not None and ready < wanted:
        short = [group for group in one.groups if group.missing and group.why]
        groups = [f"{group.name}: {group.why}" for group in short]
        said = next((group.worst.message for group in short if group.worst and group.worst.message), None)
        reasons = f" ({'; '.join(groups[:4])})" if groups else ""
        found.append(f"of {called} {ready} of {wanted} workers are ready{reasons}" + (f': "{said[:300]}"' if said else ""))
    return found
