"""One JobSet: its state in the order that its controller decides, and the restarts that count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.jobset.children import Child
from analyzer.facts.jobset.groups import Group, read_groups
from analyzer.facts.told import Condition, Conditions, conditions
from analyzer.facts.values import Stored, flag, mapping, mappings, number, strings, text

_OWN = "jobset.sigs.k8s.io/jobset-controller"
_IGNORING = frozenset({"RestartJobSetAndIgnoreMaxRestarts", "RestartJobAndIgnoreMaxRestarts"})
_FIRST = re.compile(r"\(first failed job: ([a-z0-9][a-z0-9.-]{0,252})\)\s*$")
_VERSION = re.compile(r":v?(\d{1,4})\.(\d{1,4})(?:\.\d{1,6})?(?:[-+.].{0,60})?(?:@|$)")
_MAX_MESSAGE = 40_000

_IMAGES = """
SELECT DISTINCT unnest(json_extract_string(json, '$.spec.template.spec.containers[*].image')) AS image FROM objects
WHERE api_group = 'apps' AND kind = 'Deployment' AND (name = 'jobset-controller-manager' OR name LIKE '%jobset-controller%')
ORDER BY image
"""


@dataclass(slots=True)
class JobSet:
    """A JobSet: what its object says, and what `settle` makes of it."""

    object_id: int
    input: int
    namespace: str
    name: str
    created_at: datetime | None
    deleted: bool
    conditions: Conditions
    terminal: str | None
    suspend: bool
    managed_by: str | None
    policy: bool
    max_restarts: int | None
    ignoring: bool
    restarts: int
    counting: int | None
    """status.restartsCountTowardsMax, None where it is not there."""
    per_job: int
    """What the Jobs that were restarted alone add to it."""
    groups: list[Group]
    success: str | None
    startup: str | None
    state: str = "Pending"
    reason: str | None = None
    message: str | None = None
    path: str | None = None
    since: datetime | None = None
    version: str | None = None
    counted: int = 0
    counted_by: str = ""
    counted_path: str | None = None
    failed: dict[str, Any] = field(default_factory=dict)

    @property
    def left(self) -> int | None:
        """Restarts that are left, None without a limit."""
        return None if self.max_restarts is None else max(0, self.max_restarts - self.counted)


def controller_version(con: duckdb.DuckDBPyConnection) -> tuple[int, int] | None:
    """Major and minor version of JobSet's controller by the image of its Deployment; None where that does not say (one)."""
    found = {
        (int(match[1]), int(match[2]))
        for (image,) in con.execute(_IMAGES).fetchall()
        if image and "jobset" in image and (match := _VERSION.search(image[-300:]))
    }
    return found.pop() if len(found) == 1 else None


def read(item: Stored) -> JobSet:
    """Reads one JobSet."""
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    policy = mapping(spec.get("failurePolicy"))
    has_policy = isinstance(spec.get("failurePolicy"), dict)
    manager = text(spec.get("managedBy"))
    listed = mappings(status.get("replicatedJobsStatus")) or mappings(status.get("ReplicatedJobsStatus"))
    return JobSet(
        item.object_id,
        item.input,
        item.namespace,
        item.name,
        item.created_at,
        item.deleted_at is not None,
        conditions(status),
        text(status.get("terminalState")),
        flag(spec.get("suspend")) or False,
        None if manager in (None, _OWN) else manager,
        has_policy,
        max(0, number(policy.get("maxRestarts")) or 0) if has_policy else None,
        any(text(rule.get("action")) in _IGNORING for rule in mappings(policy.get("rules"))),
        max(0, number(status.get("restarts")) or 0),
        number(status.get("restartsCountTowardsMax")),
        sum(_sum(one.get("jobRestartsCountTowardsMax")) for one in listed),
        read_groups(spec, listed),
        _success(mapping(spec.get("successPolicy"))),
        text(mapping(spec.get("startupPolicy")).get("startupPolicyOrder")),
    )


def _sum(values: Any) -> int:
    return sum(max(0, number(value) or 0) for value in values) if isinstance(values, list) else 0


def _success(policy: dict[str, Any]) -> str | None:
    operator, targets = text(policy.get("operator")), strings(policy.get("targetReplicatedJobs"))
    if operator is None:
        return None
    return f"{operator} of {', '.join(targets[:20])}" if targets else operator


def settle(one: JobSet, jobs: Sequence[Child], version: tuple[int, int] | None, *, jobs_whole: bool) -> None:
    """Decides the state, counts the restarts and finds the Job that failed first.

    Args:
        one: the JobSet, changed in place.
        jobs: its Jobs.
        version: that of its controller.
        jobs_whole: every Job of the cluster is in the bundle.
    """
    one.version = f"{version[0]}.{version[1]}" if version else None
    _decide(one, jobs)
    _count(one, version)
    one.failed = _first_failed(one, jobs, whole=jobs_whole)


def _decide(one: JobSet, jobs: Sequence[Child]) -> None:
    ended = [(kind, one.conditions.true(kind)) for kind in ("Failed", "Completed")]
    if one.deleted:
        one.state = "Deleting"
        return
    for kind, told in ended:
        if told or one.terminal == kind:
            _say(one, kind, told)
            if told is None:
                one.path = "status.terminalState"
            return
    suspended = one.conditions.get("Suspended")
    if one.conditions.true("Suspended") or (one.suspend and suspended is None):
        _say(one, "Suspended", suspended)
    elif told := one.conditions.true("RestartingJobSet"):
        _say(one, "Restarting", told)
    elif "RestartingJobSet" not in one.conditions and _restarts(one, jobs):
        one.state = "Restarting"
        one.message = (
            "Jobs of an earlier attempt are still there" if any(job.old for job in jobs) else "not all Jobs are ready again"
        )
        one.since = min((job.created_at for job in jobs if job.created_at and not job.old), default=None)
    elif told := one.conditions.true("StartupPolicyInProgress"):
        _say(one, "Starting", told)
    elif any(group.active or group.ready for group in one.groups):
        one.state = "Running"
        one.since = min((job.created_at for job in jobs if job.created_at and not job.old), default=None)
    else:
        resumed = suspended.since if suspended else None
        one.state, one.since = "Pending", resumed or one.created_at
        if one.managed_by:
            one.message = f"spec.managedBy gives it to {one.managed_by}: JobSet's own controller leaves it alone"


def _say(one: JobSet, state: str, told: Condition | None) -> None:
    one.state = state
    if told:
        one.reason, one.message, one.since, one.path = told.reason, told.message, told.since, told.path


def _restarts(one: JobSet, jobs: Sequence[Child]) -> bool:
    """Before 0.12 no condition says that a JobSet restarts."""
    if one.restarts == 0:
        return False
    return any(job.old for job in jobs) or not all(group.all_ready for group in one.groups)


def _count(one: JobSet, version: tuple[int, int] | None) -> None:
    old = version is not None and version < (0, 6)
    if one.counting is not None and not old:
        one.counted, one.counted_path = max(0, one.counting), "status.restartsCountTowardsMax"
        one.counted_by = "status.restartsCountTowardsMax"
    elif one.ignoring and not old:
        # Since 0.6 the field is left out only where it is 0, and here restarts that do not count were allowed.
        one.counted_by = "no restart counts so far: status.restartsCountTowardsMax is not there"
    else:
        one.counted = one.restarts
        one.counted_path = "status.restarts" if one.restarts else None
        one.counted_by = "status.restarts, since every restart counts"
    if one.per_job:
        one.counted = min(one.counted + one.per_job, 2**31 - 1)
        one.counted_path = None
        one.counted_by += f", and restarts of single Jobs ({one.per_job})"


def _first_failed(one: JobSet, jobs: Sequence[Child], *, whole: bool) -> dict[str, Any]:
    told = one.conditions.get("Failed") if one.state == "Failed" else one.conditions.true("RestartingJobSet")
    match = _FIRST.search(told.message[-_MAX_MESSAGE:]) if told and told.message else None
    failed = [job for job in jobs if job.state == "Failed"]
    if match is None:
        if one.state != "Failed" or not failed:
            return {}
        first = min(failed, key=lambda job: (_turned(job), job.name))
        return {"failed_job": first.name, "failed_job_said": False} | _told(first)
    name = match[1]
    row: dict[str, Any] = {"failed_job": name, "failed_job_said": True}
    same = next((job for job in jobs if job.name == name), None)
    if same is None:
        return row | {"failed_job_note": "it is gone" if whole else "it is not in this bundle"}
    # A restart makes a new Job of the same name; while one is under way the failed Job is of the attempt before.
    attempt = one.restarts if one.state == "Failed" else one.restarts - 1
    if same.state != "Failed" or same.attempt not in (None, attempt):
        return row | {
            "failed_job_id": same.object_id,
            "failed_job_note": "the Job of that name in this bundle is of another attempt",
        }
    return row | _told(same)


def _turned(job: Child) -> datetime:
    return (job.condition.since if job.condition else None) or datetime.max  # noqa: DTZ901 - naive as all times of the tables


def _told(job: Child) -> dict[str, Any]:
    told = job.condition
    return {
        "failed_job_id": job.object_id,
        "failed_job_reason": told.reason if told else None,
        "failed_job_message": told.message if told else None,
        "failed_job_path": told.path if told else None,
    }


def row(one: JobSet) -> dict[str, Any]:
    """The row of `jobsets`."""
    waits = [f"{group.name}: {group.waits_for}" for group in one.groups if group.waits_for]
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
        "managed_by": one.managed_by,
        "controller_version": one.version,
        "policy": one.policy,
        "max_restarts": one.max_restarts,
        "restarts": one.restarts,
        "counted": one.counted,
        "counted_by": one.counted_by,
        "counted_path": one.counted_path,
        "restarts_left": one.left,
        "attempt": one.restarts,
        "success": one.success,
        "startup": one.startup,
        "waits_for": "; ".join(waits[:20]) or None,
        **one.failed,
    }


def group_rows(one: JobSet) -> Iterator[dict[str, Any]]:
    """The rows of `jobset_groups`."""
    for index, group in enumerate(one.groups):
        yield {
            "object_id": one.object_id,
            "idx": index,
            "group_name": group.name,
            "replicas": group.replicas,
            "active": group.active,
            "ready": group.ready,
            "succeeded": group.succeeded,
            "failed": group.failed,
            "suspended": group.suspended,
            "all_ready": group.all_ready,
            "depends_on": ", ".join(f"{name} {status}" for name, status in group.depends_on) or None,
            "waits_for": group.waits_for,
        }
