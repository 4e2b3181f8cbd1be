"""The manifest of our own bundles → when it was collected, what was asked, what was refused, and the digests of its files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

import orjson

from analyzer.bundle.collect_errors import MAX_ERRORS, CollectError
from analyzer.bundle.job import Job, whole, write_error
from analyzer.bundle.manifest import MAX_MANIFEST_BYTES, VERSION, Log, Manifest, Request, manifest, told
from analyzer.bundle.rows import DIGESTS, DOCUMENTS, LOG_REQUESTS, REQUESTS, to_json

ROLE = "triage-manifest"
"""Role of what is kept of a manifest in table documents; its long lists have tables of their own."""

_KINDS = {"forbidden": "forbidden", "timed-out": "timeout", "truncated": "failed", "failed": "failed"}
"""Outcome of a request that did not give all → kind in table collect_errors. What is not served is no error."""


def read_manifest(job: Job, stream: BinaryIO) -> None:
    """`triage-manifest.json`."""
    data, cut = whole(job, stream, MAX_MANIFEST_BYTES)
    if not data or cut:
        return
    try:
        # Bytes that are no UTF-8 cost the name that they stand in, not the manifest.
        found = manifest(orjson.loads(data.decode("utf-8", "replace")))
    except ValueError:
        found = None
    if found is None:
        job.result.problem("no manifest of a triage bundle: what was asked for and refused is not known")
        return
    if found.dropped:
        job.result.problem(f"{found.dropped:,} entries of the manifest could not be read")
    job.result.at, job.result.at_line = found.ended, _line(data, b'"serverEnded"' if found.server_clock else b'"ended"')
    job.result.clock = "server" if found.server_clock else "client"
    _write_rows(job, found)
    for error in _errors(found, data):
        write_error(job, error)


def _write_rows(job: Job, found: Manifest) -> None:
    file_id = job.task.file_id
    for request in found.requests:
        job.sink.write(REQUESTS, {"file_id": file_id, "api_group": request.group, **_without(request, "group")})
    for log in found.logs:
        job.sink.write(LOG_REQUESTS, {"file_id": file_id, **asdict(log)})
    for digest in found.files:
        job.sink.write(DIGESTS, {"file_id": file_id, **asdict(digest)})
    if found.version:
        version = orjson.Fragment(to_json({"gitVersion": found.version}))
        job.sink.write(DOCUMENTS, {"file_id": file_id, "role": "cluster-version", "json": version})
    kept = {
        "format": VERSION,
        "tool": {"version": found.tool, "collector": found.collector},
        "redaction": found.redaction,
        "started": found.started,
        "ended": found.ended,
        "cluster": {"uid": found.uid, "version": found.version},
        "scope": {"namespaces": found.namespaces},
        "options": {"includeSecretKeys": found.secret_keys},
        "interrupted": found.interrupted,
        "leftOut": found.left_out,
        "redacted": found.redacted,
        "shortLogs": _short_logs(found),
    }
    job.sink.write(DOCUMENTS, {"file_id": file_id, "role": ROLE, "json": orjson.Fragment(to_json(kept))})


def _without(request: Request, name: str) -> dict[str, object]:
    row = asdict(request)
    del row[name]
    return row


def _short_logs(found: Manifest) -> list[dict[str, object]]:
    """How many logs are shorter than they were, or not there at all, for each reason, with one of them as an example."""
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    for log in found.logs:
        if log.outcome in ("truncated", "timed-out", "failed", "forbidden", "skipped"):
            counts[log.outcome] = counts.get(log.outcome, 0) + 1
            first.setdefault(
                log.outcome, f"{log.namespace}/{log.pod}/{log.container}" + (f": {log.message}" if log.message else "")
            )
    return [{"outcome": outcome, "count": count, "first": first[outcome]} for outcome, count in sorted(counts.items())]


def _errors(found: Manifest, data: bytes) -> Iterator[CollectError]:
    """What could not be got, with the line of its words."""
    places = _Places(data)
    for request in [one for one in found.requests if one.outcome in _KINDS][:MAX_ERRORS]:
        subject = f"{request.resource}.{request.group}".removeprefix("*.") if request.group else request.resource
        line = places.after(b'"requests"', request.message)
        yield CollectError(line, _KINDS[request.outcome], subject, told(request.outcome, request.namespace, request.message))
    seen: set[str] = set()
    for log in found.logs:
        if (
            log.outcome in ("forbidden", "failed", "timed-out")
            and (said := _log_words(log)) not in seen
            and len(seen) < MAX_ERRORS
        ):
            seen.add(said)
            subject = f"log of {log.namespace}/{log.pod}/{log.container}"
            yield CollectError(places.after(b'"logs"', log.message), _KINDS[log.outcome], subject, said)


def _log_words(log: Log) -> str:
    return told(log.outcome, "", log.message)


class _Places:
    """The lines of texts that follow each other in a file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._line = 1

    def after(self, key: bytes, text: str) -> int:
        """The line of a text behind this key and behind what was looked for last; that line again where it is not found.

        The words are masked and cut here, so that their start is looked for.
        """
        start = max(self._at, self._data.find(key))
        wanted = json.dumps(text[:60], ensure_ascii=False)[:-1].encode("utf-8", "replace") if text else key
        found = self._data.find(wanted, start)
        if found > self._at:
            self._line += self._data.count(b"\n", self._at, found)
            self._at = found
        return self._line


def _line(data: bytes, key: bytes) -> int:
    at = data.find(key)
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 1
