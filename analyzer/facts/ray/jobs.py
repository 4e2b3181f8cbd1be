"""RayJobs: the state from both status fields, retries told from failures, and what an initialising job waits for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.facts.values import Stored, flag, mapping, moment, number, text

_NOT_RETRIED = frozenset({"DeadlineExceeded", "JobStatusCheckTimeoutExceeded"})
_LEGACY_FAILING = frozenset({"FailedToGetOrCreateRayCluster", "FailedJobDeploy", "FailedToGetJobStatus"})
_ENDED = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
_WITH_SUBMITTER = "K8sJobMode"


@dataclass(slots=True)
class RayJob:
    """A RayJob."""

    object_id: int
    input: int
    namespace: str
    name: str
    created_at: datetime | None
    deleted: bool
    suspend: bool
    deployment: str
    job: str
    reason: str | None
    message: str | None
    failed: int
    backoff: int | None
    selected: bool
    """It uses a cluster that it did not make (spec.clusterSelector)."""
    mode: str
    cluster: str | None
    started: datetime | None
    ended: datetime | None
    has_status: bool
    state: str = "Pending"
    since: datetime | None = None
    waits_for: str | None = None

    @property
    def attempts(self) -> int:
        """Attempts that it may have."""
        return (self.backoff or 0) + 1

    @property
    def attempt(self) -> int:
        """The attempt that is at work, or was the last."""
        over = self.state in ("Failed", "Succeeded", "Stopped")
        return max(1, min(self.failed if over and self.state == "Failed" else self.failed + 1, self.attempts))

    @property
    def finishing(self) -> bool:
        """The job has ended and the operator still waits for its submitter."""
        return self.deployment == "Running" and self.job in _ENDED

    @property
    def initializing(self) -> bool:
        """It has not begun. `Waiting` is no trouble: in interactive mode the user starts the job."""
        return self.state == "Pending" and self.has_status and self.deployment not in ("Waiting", "Running")


def read(item: Stored) -> RayJob:
    """Reads one RayJob, with its state."""
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    backoff = number(spec.get("backoffLimit"))
    one = RayJob(
        item.object_id,
        item.input,
        item.namespace,
        item.name,
        item.created_at,
        item.deleted_at is not None,
        flag(spec.get("suspend")) or False,
        text(status.get("jobDeploymentStatus")) or "",
        text(status.get("jobStatus")) or "",
        text(status.get("reason")),
        text(status.get("message")),
        max(0, number(status.get("failed")) or 0),
        max(0, backoff) if backoff is not None else None,
        bool(mapping(spec.get("clusterSelector"))),
        text(spec.get("submissionMode")) or _WITH_SUBMITTER,
        text(status.get("rayClusterName")),
        moment(status.get("startTime")),
        moment(status.get("endTime")),
        bool(status),
    )
    one.state = _state(one)
    one.since = _since(one)
    return one


def _state(one: RayJob) -> str:
    if one.deployment == "Complete":
        return {"FAILED": "Failed", "STOPPED": "Stopped"}.get(one.job, "Succeeded")
    if one.deployment == "Retrying" or (one.deployment == "Failed" and _will_retry(one)):
        return "Retrying"
    if one.deployment in ("Failed", "ValidationFailed"):
        return "Failed"
    if one.deployment in ("Suspending", "Suspended") or one.suspend:
        return "Suspended"
    return "Failed" if one.deployment in _LEGACY_FAILING else "Running" if one.deployment == "Running" else "Pending"


def _will_retry(one: RayJob) -> bool:
    """KubeRay tries again while attempts are left, but not after a deadline, and not on a cluster that it did not make."""
    if one.backoff is None or one.selected or one.failed < 1:
        return False
    return one.failed < one.backoff + 1 and one.reason not in _NOT_RETRIED


def _since(one: RayJob) -> datetime | None:
    if one.state in ("Failed", "Succeeded", "Stopped"):
        return one.ended
    if one.state == "Retrying":
        return one.ended or one.started
    return one.started or one.created_at


def row(one: RayJob, cluster_id: int | None, submitter_id: int | None) -> dict[str, Any]:
    """The row of `ray_jobs`."""
    path = "status.message" if one.message else "status.jobDeploymentStatus" if one.deployment else None
    return {
        "object_id": one.object_id,
        "input": one.input,
        "namespace": one.namespace,
        "name": one.name,
        "state": one.state,
        "reason": one.reason or (one.deployment if one.state == "Failed" else None),
        "message": one.message,
        "message_path": path,
        "since": one.since,
        "created_at": one.created_at,
        "deleted": one.deleted,
        "deployment_status": one.deployment or None,
        "job_status": one.job or None,
        "mode": one.mode,
        "cluster": one.cluster,
        "cluster_id": cluster_id,
        "submitter": one.name if one.mode == _WITH_SUBMITTER else None,
        "submitter_id": submitter_id,
        "attempt": one.attempt,
        "attempts": one.attempts,
        "started_at": one.started,
        "ended_at": one.ended,
        "finishing": one.finishing,
        "initializing": one.initializing and not one.deleted,
        "waits_for": one.waits_for,
    }
