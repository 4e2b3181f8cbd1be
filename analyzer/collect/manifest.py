"""The bundle's manifest: what was asked, how it went, what is not in the bundle (docs/bundle-format.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import msgspec

from analyzer import __version__, times
from analyzer.collect.archive import Member
from analyzer.collect.lists import Request
from analyzer.collect.logs import TakenLog

FORMAT = "triage.bundle/v1"
NAME = "triage-manifest.json"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which cluster it was: uid of the namespace kube-system, version and platform of its API server; None: unknown."""

    uid: str | None
    version: str | None
    platform: str | None


@dataclass(frozen=True, slots=True)
class Times:
    """Begin and end, by the collector's clock and by the server's."""

    started: datetime
    ended: datetime
    server_started: datetime | None
    server_ended: datetime | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a collection went, for its manifest and for the summary on the terminal."""

    cluster: Cluster
    times: Times
    namespaces: Sequence[str] | None
    options: dict[str, Any]
    interrupted: str | None
    requests: Sequence[Request]
    logs: Sequence[TakenLog]
    left_out: Counter[tuple[str, str]]
    redacted: Counter[str]


def manifest(outcome: Outcome, members: Iterable[Member]) -> bytes:
    """The manifest as indented JSON, its keys and lists in a fixed order."""
    files = sorted(members, key=lambda member: member.path)
    logs = [log for log in outcome.logs if log.path is not None]
    clock = outcome.times
    value = {
        "format": FORMAT,
        "tool": {"name": "bundle-triage", "version": __version__, "collector": "python"},
        "redaction": "full",
        "started": times.rfc3339(clock.started),
        "ended": times.rfc3339(clock.ended),
        "serverStarted": times.rfc3339(clock.server_started),
        "serverEnded": times.rfc3339(clock.server_ended),
        "cluster": asdict(outcome.cluster),
        "scope": {"namespaces": None if outcome.namespaces is None else sorted(outcome.namespaces)},
        "options": outcome.options,
        "interrupted": outcome.interrupted or False,
        "requests": [asdict(request) for request in sorted(outcome.requests, key=_request_key)],
        "logs": [_log(log) for log in sorted(outcome.logs, key=_log_key)],
        "leftOut": [{"what": what, "why": why, "count": count} for (what, why), count in sorted(outcome.left_out.items())],
        "redacted": dict(sorted(outcome.redacted.items())),
        "counts": {
            "objects": sum(request.objects for request in outcome.requests),
            "files": len(files),
            "logs": len(logs),
            "logBytes": sum(log.bytes for log in logs),
        },
        "files": [asdict(member) for member in files],
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _request_key(request: Request) -> tuple[str, ...]:
    return request.group, request.resource, request.version, request.namespace


def _log_key(log: TakenLog) -> tuple[object, ...]:
    return log.wanted.namespace, log.wanted.pod, log.wanted.container, log.wanted.previous


def _log(log: TakenLog) -> dict[str, Any]:
    return {
        "namespace": log.wanted.namespace,
        "pod": log.wanted.pod,
        "container": log.wanted.container,
        "previous": log.wanted.previous,
        "outcome": log.outcome,
        "bytes": log.bytes,
        "leftOut": log.left_out,
        "message": log.message,
    }
