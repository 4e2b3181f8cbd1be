"""One row a container of a Pod: its spec and status side by side, and what its words mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from analyzer.facts import images, startup
from analyzer.facts.exit_codes import end_words
from analyzer.facts.holdups import PodEvent
from analyzer.facts.values import flag, mapping, mappings, moment, number, text

LOOP_RESTARTS = 3
LOOP_WITHIN = timedelta(minutes=10)
"""A container that restarted LOOP_RESTARTS times, the last time this short before the collection, loops (catalogue)."""

_LISTS = (
    ("initContainers", "initContainerStatuses", "init"),
    ("containers", "containerStatuses", "main"),
    ("ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"),
)
_LOST = frozenset({"Unknown", "ContainerStatusUnknown"})


@dataclass(frozen=True, slots=True)
class OwnLogs:
    """The ids of a container's logs. `rotated` has the newest one that kubelet put away of each run of the container.

    kubelet numbers the runs of a container as restartCount does, and names log files by them.
    """

    current: int | None = None
    previous: int | None = None
    rotated: Mapping[int, int] = field(default_factory=dict)

    def of(self, restarts: int) -> tuple[int | None, int | None]:
        """The logs of the run with that number and of the one before it."""
        current = self.rotated.get(restarts) if self.current is None else self.current
        return current, self.rotated.get(restarts - 1) if self.previous is None else self.previous


Logs = Mapping[tuple[str, str, str], OwnLogs]
"""(namespace, pod, container) → its logs."""


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What the rows of a Pod's containers need to know of the Pod."""

    object_id: int
    namespace: str
    name: str
    as_of: datetime | None
    initialized: bool | None
    events: tuple[PodEvent, ...]


def containers(pod: PodFacts, spec: dict[str, Any], status: dict[str, Any], logs: Logs) -> list[dict[str, Any]]:
    """The rows of `containers` for one Pod, in the order init, main, ephemeral."""
    policy = text(spec.get("restartPolicy")) or "Always"
    rows = []
    for spec_list, status_list, kind in _LISTS:
        states = {text(item.get("name")): (i, item) for i, item in enumerate(mappings(status.get(status_list)))}
        for idx, item in enumerate(mappings(spec.get(spec_list))):
            name = text(item.get("name"))
            if name is None:
                continue
            at, state = states.get(name, (None, {}))
            row = _declared(pod, item, name, idx, "sidecar" if kind == "init" and item.get("restartPolicy") == "Always" else kind)
            row["status_path"] = None if at is None else f"status.{status_list}[{at}]"
            row |= _reported(state)
            row["log_id"], row["previous_log_id"] = logs.get((pod.namespace, pod.name, name), OwnLogs()).of(row["restarts"])
            row |= _last_end(row)
            row["looping"] = _looping(row, pod.as_of, policy)
            row["failing"] = _failing(row, pod.initialized)
            row |= _words(row, pod, spec_list)
            rows.append(row)
    return rows


def _declared(pod: PodFacts, item: dict[str, Any], name: str, idx: int, kind: str) -> dict[str, Any]:
    limit = mapping(mapping(item.get("resources")).get("limits")).get("memory")
    return {
        "object_id": pod.object_id,
        "namespace": pod.namespace,
        "pod": pod.name,
        "container": name,
        "type": kind,
        "idx": idx,
        "image": text(item.get("image")),
        "memory_limit": None if limit is None else str(limit)[:100],
    }


def _reported(status: dict[str, Any]) -> dict[str, Any]:
    """The columns that a container's status gives; of the three states the one that is there."""
    state = mapping(status.get("state"))
    name = next((name for name in ("waiting", "running", "terminated") if isinstance(state.get(name), dict)), "none")
    now = mapping(state.get(name))
    last = mapping(mapping(status.get("lastState")).get("terminated"))
    return {
        "ready": flag(status.get("ready")),
        "started": flag(status.get("started")),
        "restarts": max(number(status.get("restartCount")) or 0, 0),
        "state": name,
        "reason": text(now.get("reason")),
        "message": text(now.get("message")),
        "exit_code": number(now.get("exitCode")),
        "signal": number(now.get("signal")),
        "started_at": moment(now.get("startedAt")),
        "finished_at": moment(now.get("finishedAt")),
        "last_reason": text(last.get("reason")),
        "last_message": text(last.get("message")),
        "last_exit_code": number(last.get("exitCode")),
        "last_signal": number(last.get("signal")),
        "last_started_at": moment(last.get("startedAt")),
        "last_finished_at": moment(last.get("finishedAt")),
        "ended_at": None,
        "end_words": None,
        "end_reason": None,
    }


def _last_end(row: Mapping[str, Any]) -> dict[str, Any]:
    """The last end of a container: its current state where that is terminated, else lastState."""
    now = row["state"] == "terminated"
    before = "" if now else "last_"
    code, signal = row[f"{before}exit_code"], row[f"{before}signal"]
    if row["status_path"] is None or (code is None and not signal):
        return {}
    reason, start, end = row[f"{before}reason"], row[f"{before}started_at"], row[f"{before}finished_at"]
    # Of an ended container the current log is the one of its last run; of a waiting or running one the previous is.
    logs = (row["log_id"], row["previous_log_id"]) if now else (row["previous_log_id"], row["log_id"])
    return {
        "end_path": f"{row['status_path']}.{'state' if now else 'lastState'}.terminated",
        "end_reason": reason,
        "end_code": code,
        "end_words": end_words(code, signal, reason),
        "end_message": row[f"{before}message"],
        "ended_at": end,
        "ran_seconds": max(int((end - start).total_seconds()), 0) if start and end else None,
        "end_log_id": logs[0] if logs[0] is not None else logs[1],
    }


def _looping(row: Mapping[str, Any], as_of: datetime | None, policy: str) -> bool:
    """Whether the container starts and ends again and again."""
    if row["type"] == "ephemeral":
        return False
    if row["state"] == "waiting" and row["reason"] == "CrashLoopBackOff":
        return True
    if row["restarts"] < LOOP_RESTARTS or as_of is None or row["ended_at"] is None or as_of - row["ended_at"] > LOOP_WITHIN:
        return False
    finished = row["state"] == "terminated" and row["exit_code"] == 0 and (row["type"] == "init" or policy != "Always")
    return not finished


def _failing(row: Mapping[str, Any], initialized: bool | None) -> bool:
    """Whether the container loops, or is an init container that failed and has not succeeded since."""
    if row["type"] != "init":
        return bool(row["looping"])
    if initialized or (row["state"] == "terminated" and row["exit_code"] == 0):
        return False
    if row["looping"]:
        return True
    if row["state"] == "terminated":
        return row["exit_code"] is not None and row["reason"] not in _LOST
    failed = row["last_exit_code"] not in {None, 0} and row["last_reason"] not in _LOST
    return failed and row["reason"] not in images.PULL_REASONS and not str(row["reason"]).startswith("CreateContainer")


def _words(row: Mapping[str, Any], pod: PodFacts, spec_list: str) -> dict[str, Any]:
    """What the reasons and messages mean."""
    reason, message = row["reason"], row["message"]
    if row["state"] == "waiting" and reason in images.PULL_REASONS:
        image = row["image"] or ""
        event = None
        if not images.says_why(message, image):
            event = _pull_event(pod.events, f"spec.{spec_list}{{{row['container']}}}", image)
        said = event.message if event else message
        cause = images.pull_cause(reason, said, image)
        if cause == "other" and (said is None or said.startswith("Back-off pulling image")):
            cause = "unknown"
        return {
            "pull_cause": cause,
            "pull_words": images.WORDS[cause],
            "pull_message": said,
            "pull_event_id": event.event_id if event else None,
        }
    unstarted = reason if row["state"] in {"waiting", "terminated"} else None
    if unstarted == "CrashLoopBackOff" and row["last_reason"] in {"StartError", "ContainerCannotRun"}:
        unstarted, message = row["last_reason"], row["last_message"]
    gone = startup.missing(message) if reason == "CreateContainerConfigError" else None
    if gone:
        return {"config_kind": gone.kind, "config_name": gone.name or None, "config_key": gone.key}
    if unstarted in startup.START_REASONS and unstarted != "CrashLoopBackOff":
        cause = startup.start_cause(message)
        return {"start_cause": cause, "start_words": startup.START_WORDS[cause]}
    return {}


def _pull_event(events: Iterable[PodEvent], field_path: str, image: str) -> PodEvent | None:
    """The newest event that says why this container's image could not be pulled."""
    found = None
    for event in events:
        if event.reason not in {"Failed", "InspectFailed"} or (event.field_path and event.field_path != field_path):
            continue
        if images.says_why(event.message, image) and "pull" in event.message:
            found = event
    return found
