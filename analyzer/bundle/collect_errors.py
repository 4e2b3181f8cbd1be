"""What a collection says that it could not get: `gather.logs`, `*.stderr`, `*-errors.json`, log errors in a dump.

Most of what a gathering prints is chatter. Only lines that say that something was asked for and not given count; a
log of a previous container that never ran, or a named object that does not exist, is an answer and no error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analyzer.bundle.limits import MIB
from analyzer.bundle.text import clean, one_line
from analyzer.redact import mask_text

MAX_ERROR_BYTES = 64 * MIB
"""Of a log of the collection, this much is looked at."""

MAX_ERRORS = 200
"""Errors kept of one file; equal ones count once."""

_LINE_BYTES = 4096

# Answers, not failures.
_CHATTER = re.compile(
    r"previous terminated container .* not found|is waiting to start|\(NotFound\)|\" not found\s*\Z|No resources found"
    r"|one or more errors occurr?ed while gathering|errors? occurr?ed:\s*\Z|Wrote inspect data|not found, skipping",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "forbidden",
        re.compile(r"\bforbidden\b|\bunauthorized\b|must be logged in to the server|cannot (?:list|get) resource", re.IGNORECASE),
    ),
    (
        "not-served",
        re.compile(
            r"doesn't have a resource type|could not find the requested resource|no matches for kind|the server has no resource",
            re.IGNORECASE,
        ),
    ),
    ("timeout", re.compile(r"timed?[ -]?out\b|deadline exceeded|TLS handshake timeout", re.IGNORECASE)),
)
_FAILED = re.compile(
    r"^\s*(?:error|fatal)\b|Error from server|unable to (?:retrieve|connect|get|pull|read|gather)"
    r"|failed to (?:get|list|retrieve|read|pull|start|gather)|connection refused|no such host"
    r"|gather did not start|gather never finished|back-off pulling",
    re.IGNORECASE,
)
# The client of a must-gather puts the pod and the stream before each line.
_PREFIX = re.compile(r"^\[[^\]]{1,200}\]\s+(?:OUT|POD)?\s*(?:\d{4}-\d\d-\d\dT\S+\s+)?")
_STAMP = re.compile(r"^(?:\d{4}-\d\d-\d\d[T ]\S+\s+|[EWIF]\d{4} \S+\s+\d+ [^\]]{1,100}\]\s*)")
_RESOURCE_IN_GROUP = re.compile(r'resource "([^"]+)" in API group "([^"]*)"')
_RESOURCE_TYPE = re.compile(r'resource type "([^"]+)"')
_FORBIDDEN_SUBJECT = re.compile(r"([a-z0-9.\-]+)(?: \"[^\"]*\")? is forbidden")
_KIND_SUBJECT = re.compile(r'no matches for kind "([^"]+)"')


@dataclass(frozen=True, slots=True)
class CollectError:
    """One thing that the collection could not get; the fields are those of table part_errors."""

    line: int
    kind: str
    subject: str
    message: str


def classify_message(message: str, *, sure: bool) -> str | None:
    """The kind of error that a message tells of: forbidden, not-served, timeout or failed; None where it is no error.

    Args:
        message: one line.
        sure: the file holds nothing but errors, so whatever is no known chatter is one.
    """
    if not message.strip() or _CHATTER.search(message):
        return None
    for kind, pattern in _KINDS:
        if pattern.search(message) and (sure or kind in ("forbidden", "not-served") or _FAILED.search(message)):
            return kind
    return "failed" if sure or _FAILED.search(message) else None


def subject_of(message: str) -> str:
    """The resource (plural with group) that a message is about, as far as it says; else empty."""
    found = _RESOURCE_IN_GROUP.search(message)
    if found:
        return f"{found[1]}.{found[2]}" if found[2] else found[1]
    for pattern in (_RESOURCE_TYPE, _FORBIDDEN_SUBJECT, _KIND_SUBJECT):
        found = pattern.search(message)
        if found:
            return found[1]
    return ""


def make(line: int, message: str, subject: str, *, sure: bool) -> CollectError | None:
    """An error from a message of the collection, masked and in one line; None where the message is no error."""
    kind = classify_message(message, sure=sure)
    if kind is None:
        return None
    named = subject_of(message)
    if _RESOURCE_IN_GROUP.search(message):
        # The API server's own words say best what was refused.
        subject = named
    return CollectError(line, kind, subject or named, one_line(mask_text(message)))


def errors_in_text(data: bytes, subject: str, *, sure: bool) -> Iterator[CollectError]:
    """The errors that a text file tells of, each once.

    Args:
        data: the file, at most `MAX_ERROR_BYTES`.
        subject: what all of it is about, or empty.
        sure: the file holds nothing but errors.
    """
    seen: set[tuple[str, str, str]] = set()
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = _STAMP.sub("", _PREFIX.sub("", clean(raw[:_LINE_BYTES]).strip()))
        found = make(number, text, subject, sure=sure)
        if found and (key := (found.kind, found.subject, found.message)) not in seen:
            seen.add(key)
            yield found
            if len(seen) == MAX_ERRORS:
                return


def errors_in_json(data: bytes, subject: str) -> list[CollectError] | None:
    """The errors in a file of strings (a list, or a mapping of namespaces or names); None where it is no such file.

    troubleshoot writes them beside each collector's files; its `collector-errors/` hold one mapping each, with the
    keys `collector` and `error`.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    found: dict[tuple[str, str], CollectError] = {}
    for about, message in _messages(value):
        # A map holds one message a namespace, mostly the same one: the subject stays the resource.
        at = data.find(json.dumps(message, ensure_ascii=False).encode())
        line = data.count(b"\n", 0, at) + 1 if at >= 0 else 1
        error = make(line, message, subject or about, sure=True)
        if error:
            found.setdefault((error.kind, error.message), error)
    return list(found.values())[:MAX_ERRORS]


def _messages(value: Any) -> Iterator[tuple[str, str]]:
    """Pairs of what a message is about and the message."""
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield "", item
    elif isinstance(value, dict):
        if isinstance(value.get("error"), str):
            yield str(value.get("collector") or ""), value["error"]
            return
        for key, item in value.items():
            if isinstance(item, str):
                yield str(key), item
            elif isinstance(item, list):
                yield from ((str(key), text) for text in item if isinstance(text, str))
