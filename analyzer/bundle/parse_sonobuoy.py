"""What Sonobuoy records about its own run: what it was told to ask for, what it asked, and its log."""

from __future__ import annotations

import re
from typing import Any, BinaryIO

import orjson

from analyzer import times
from analyzer.bundle.collect_errors import MAX_ERRORS, make
from analyzer.bundle.formats.sonobuoy import CONFIG, QUERIES
from analyzer.bundle.job import Job, whole, write_error
from analyzer.bundle.limits import MIB
from analyzer.bundle.rows import DOCUMENTS, to_json
from analyzer.redact import mask_document

MAX_RECORD_BYTES = 64 * MIB
"""One file of the record: the queries of 10,000 namespaces take 20 MiB."""

_PLUGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", re.ASCII)
_NOT_RESOURCES = {"podlogs", "serverversion", "servergroups"}
_UNSAID = "the query failed (Sonobuoy does not say why)"


def read_config(job: Job, stream: BinaryIO) -> None:
    """`meta/config.json`: which resources, by which selector, whether the logs are those of previous containers, which plugins.

    Nothing else of it is kept: of the plugins it also holds the environment.
    """
    value = _json(job, stream)
    if not isinstance(value, dict):
        return
    resources = value.get("Resources")
    # None asks for all that the server has.
    asked = sorted({text.lower() for text in resources if isinstance(text, str)}) if isinstance(resources, list) else None
    selector = _inside(value, "Filters", "LabelSelector")
    previous = _inside(value, "Limits", "PodLogs", "Previous") is True
    kept = {"resources": asked, "selector": selector if isinstance(selector, str) else "", "previous": previous}
    _write(job, CONFIG, kept | {"plugins": _plugins(value.get("Plugins"))})


def _plugins(value: Any) -> list[str]:
    """The names of the plugins that were to run; versions since 0.11 do not say them here."""
    names = {one.get("name") for one in value if isinstance(one, dict)} if isinstance(value, list) else set()
    return sorted(name for name in names if isinstance(name, str) and _PLUGIN.fullmatch(name))[:MAX_ERRORS]


def read_queries(job: Job, stream: BinaryIO) -> None:
    """`meta/query-time.json` (first versions: `results.json`): one mapping a query, with its error where it failed."""
    value = _json(job, stream)
    if not isinstance(value, list):
        return
    asked: set[tuple[str, str]] = set()
    failed: set[tuple[str, str]] = set()
    for query in value:
        resource = query.get("queryobj") if isinstance(query, dict) else None
        if not isinstance(resource, str) or not resource or resource.lower() in _NOT_RESOURCES:
            continue
        space = query.get("namespace")
        key = (resource.lower(), space if isinstance(space, str) and space else job.task.assignment.hint.namespace)
        if query.get("error") is None:
            asked.add(key)
        else:
            _failed(job, key[0], query["error"], failed)
            failed.add(key)
    rows = [{"resource": resource, "namespace": namespace} for resource, namespace in sorted(asked - failed)]
    _write(job, QUERIES, {"asked": rows})


def read_run_log(job: Job, stream: BinaryIO) -> None:
    """`meta/run.log`: the time of its last line is the end of the collection; its errors are of the collection.

    Failed queries are told by the record of the queries, with what they were about.
    """
    seen: set[str] = set()
    number = 0
    while line := stream.readline(MIB):
        number += 1
        entry = _entry(line)
        moment = times.parse(entry.get("time")) if isinstance(entry.get("time"), str) else None
        if moment:
            job.result.at, job.result.at_line = times.rfc3339(moment), number
        words = entry.get("msg")
        if entry.get("level") not in ("error", "fatal") or not isinstance(words, str) or words.startswith("error querying "):
            continue
        error = make(number, words, "", sure=True)
        if error and error.message not in seen and len(seen) < MAX_ERRORS:
            seen.add(error.message)
            write_error(job, error)
        job.tick()
    if not number:
        job.result.status = "empty"


def _entry(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _failed(job: Job, resource: str, error: Any, failed: set[tuple[str, str]]) -> None:
    """One error a resource: each namespace gives the same."""
    if len(failed) >= MAX_ERRORS or any(resource == known for known, _ in failed):
        return
    words = _inside(error, "ErrStatus", "message") if isinstance(error, dict) else error
    found = make(1, words if isinstance(words, str) and words.strip() else _UNSAID, resource, sure=True)
    if found:
        write_error(job, found)


def _json(job: Job, stream: BinaryIO) -> Any:
    data, cut = whole(job, stream, MAX_RECORD_BYTES)
    if not data.strip() or cut:
        return None
    try:
        return orjson.loads(data)
    except ValueError:
        job.result.problem("no JSON")
        return None


def _inside(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _write(job: Job, role: str, value: dict[str, Any]) -> None:
    text = to_json(mask_document(value, role))
    job.sink.write(DOCUMENTS, {"file_id": job.task.file_id, "role": role, "json": orjson.Fragment(text)})
