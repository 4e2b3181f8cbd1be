"""The manifest of our own bundles (docs/bundle-format.md), read as what it is: text that anybody may have written.

What is of a wrong type is left out and counted; what is left out is told. Words are masked and cut to one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from analyzer import times
from analyzer.bundle.limits import MIB
from analyzer.bundle.text import one_line
from analyzer.redact import mask_text

VERSION = "triage.bundle/v1"

MAX_MANIFEST_BYTES = 128 * MIB
"""The manifest of 20,000 pods with two logs each takes 20 MiB."""

MAX_ENTRIES = 500_000
"""Requests, logs or files of one manifest that are read."""

MAX_NAMES = 10_000
"""Namespaces that a collection may be limited to, and entries of the short lists."""

MAX_NAME = 300
"""Characters of a name: Kubernetes allows 253, a path here is longer."""

MAX_PATH = 1500

WHOLE_GROUP = "*"
"""Resource of a request for what an API group serves; its kind here. It tells only what could not be had."""

OUTCOMES = ("ok", "forbidden", "not-served", "timed-out", "truncated", "failed")
LOG_OUTCOMES = ("ok", "none", "forbidden", "timed-out", "truncated", "failed", "skipped")

_UNSAID = {
    "forbidden": "the server refused it, and its words were not kept",
    "not-served": "the cluster does not serve it",
    "timed-out": "no answer in time",
    "truncated": "the list broke off before its end",
    "failed": "the request failed, and the collector does not say why",
}
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_MAX_INT = 2**62


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of the API server, and what came of it; `namespace` is `*` for all of them and for the cluster."""

    resource: str
    group: str
    version: str
    kind: str
    namespaced: bool
    namespace: str
    outcome: str
    status: int | None
    message: str
    objects: int | None


@dataclass(frozen=True, slots=True)
class Log:
    """One log that was asked for."""

    namespace: str
    pod: str
    container: str
    previous: bool
    outcome: str
    bytes: int | None
    left_out: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Digest:
    """A file as the collection wrote it; `path` is below the folder of the manifest."""

    path: str
    bytes: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """A manifest; `ended` is RFC 3339 UTC, of the server's clock where `server_clock`. `dropped` counts unreadable entries."""

    tool: str = ""
    collector: str = ""
    redaction: str = ""
    started: str | None = None
    ended: str | None = None
    server_clock: bool = False
    uid: str = ""
    version: str = ""
    namespaces: list[str] | None = None
    secret_keys: bool = False
    interrupted: str = ""
    requests: list[Request] = field(default_factory=list)
    logs: list[Log] = field(default_factory=list)
    files: list[Digest] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    redacted: dict[str, int] = field(default_factory=dict)
    dropped: int = 0


def manifest(value: Any) -> Manifest | None:
    """The manifest in a JSON value; None where it is none of ours."""
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("format"), str)
        or not value["format"].startswith("triage.bundle/")
    ):
        return None
    tool, cluster, scope, options = (_dict(value.get(key)) for key in ("tool", "cluster", "scope", "options"))
    found = Manifest(
        tool=_name(tool.get("version")),
        collector=_name(tool.get("collector")),
        redaction=_name(value.get("redaction")),
        started=_time(value.get("serverStarted")) or _time(value.get("started")),
        uid=_name(cluster.get("uid")),
        version=_name(cluster.get("version")),
        secret_keys=options.get("includeSecretKeys") is True,
    )
    served = _time(value.get("serverEnded"))
    found.ended, found.server_clock = served or _time(value.get("ended")), served is not None
    found.namespaces = _namespaces(found, scope.get("namespaces"))
    interrupted = value.get("interrupted")
    if interrupted not in (None, False, ""):
        found.interrupted = words(interrupted) if isinstance(interrupted, str) else "the manifest does not say by what"
    found.requests = list(_requests(found, value.get("requests")))
    found.logs = list(_logs(found, value.get("logs")))
    found.files = list(_files(found, value.get("files")))
    found.left_out = list(_left_out(found, value.get("leftOut")))
    counted = _dict(value.get("redacted"))
    for key, number in list(counted.items())[:MAX_NAMES]:
        if (count := _count(number)) is not None:
            found.redacted[_name(key)] = count
    return found


def told(outcome: str, namespace: str, message: str) -> str:
    """What came of a request that was not `ok`: the server's words, with the namespace where they do not name it.

    Everything that speaks of a request has the same words, so that what a refusal hides can be found by them.
    """
    said = message or _UNSAID.get(outcome, outcome)
    return said if namespace == "*" or namespace in said else f"{said} (namespace {namespace})"


def words(text: Any) -> str:
    """Words of a server or a collector: secrets masked, in one line; empty for anything but text."""
    return one_line(mask_text(text[:4000])) if isinstance(text, str) else ""


def _namespaces(found: Manifest, value: Any) -> list[str] | None:
    """What the collection was limited to. A scope that cannot be read proves nothing of the whole cluster: then none is known."""
    if value is None:
        return None
    if not isinstance(value, list):
        found.dropped += 1
        return []
    names = [name for entry in value[:MAX_NAMES] if (name := _name(entry))]
    found.dropped += len(value) - len(names)
    return sorted(set(names))


def _requests(found: Manifest, value: Any) -> Iterator[Request]:
    for entry in _entries(found, value):
        resource, outcome = _name(entry.get("resource")), entry.get("outcome")
        kind = WHOLE_GROUP if resource == WHOLE_GROUP else _name(entry.get("kind"))
        group, namespaced = entry.get("group", ""), entry.get("namespaced")
        space = entry.get("namespace")
        fine = bool(kind and resource) and outcome in OUTCOMES and isinstance(group, str) and isinstance(namespaced, bool)
        if not fine or (namespaced and not _name(space)) or (kind == WHOLE_GROUP and outcome == "ok"):
            found.dropped += 1
            continue
        yield Request(
            resource=resource,
            group=_name(group),
            version=_name(entry.get("version")),
            kind=kind,
            namespaced=bool(namespaced),
            namespace=_name(space) if namespaced else "*",
            outcome=str(outcome),
            status=_count(entry.get("status")),
            message=words(entry.get("message")),
            objects=_count(entry.get("objects")),
        )


def _logs(found: Manifest, value: Any) -> Iterator[Log]:
    for entry in _entries(found, value):
        namespace, pod, container = (_name(entry.get(key)) for key in ("namespace", "pod", "container"))
        if not (namespace and pod and container) or entry.get("outcome") not in LOG_OUTCOMES:
            found.dropped += 1
            continue
        yield Log(
            namespace,
            pod,
            container,
            previous=entry.get("previous") is True,
            outcome=entry["outcome"],
            bytes=_count(entry.get("bytes")),
            left_out=_count(entry.get("leftOut")),
            message=words(entry.get("message")),
        )


def _files(found: Manifest, value: Any) -> Iterator[Digest]:
    for entry in _entries(found, value):
        path, size, digest = entry.get("path"), _count(entry.get("bytes")), entry.get("sha256")
        fine = isinstance(path, str) and 0 < len(path) <= MAX_PATH and not path.startswith("/") and ".." not in path.split("/")
        if not fine or size is None or not isinstance(digest, str) or not _SHA256.match(digest):
            found.dropped += 1
            continue
        yield Digest(_clean(str(path)), size, digest)


def _left_out(found: Manifest, value: Any) -> Iterator[dict[str, Any]]:
    for entry in _entries(found, value, MAX_NAMES):
        yield {"what": words(entry.get("what")), "why": words(entry.get("why")), "count": _count(entry.get("count"))}


def _entries(found: Manifest, value: Any, limit: int = MAX_ENTRIES) -> Iterator[dict[str, Any]]:
    """The mappings of a list; anything else in it counts as dropped."""
    if value is None:
        return
    if not isinstance(value, list):
        found.dropped += 1
        return
    found.dropped += max(len(value) - limit, 0)
    for entry in value[:limit]:
        if isinstance(entry, dict):
            yield entry
        else:
            found.dropped += 1


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(value: Any) -> str:
    """A name in one line; empty for anything but text, and for text that is no name."""
    return _clean(value) if isinstance(value, str) and len(value) <= MAX_NAME else ""


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INT else None


def _time(value: Any) -> str | None:
    return times.rfc3339(times.parse(value))
