"""Nodes as `kubectl describe` prints them (kubectl, pkg/describe), and as a plain list of labels, read as Node objects.

Only what is printed of the object itself is taken: labels, annotations, taints, conditions, addresses, capacity, allocatable and
system information. What `describe` adds up (pods, requests) or counts back from now (events) is not the object's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from analyzer.bundle.text import clean

MAX_ENTRIES = 2_000
"""Labels, annotations or resources that are read of one node."""
MAX_TEXT = 100_000
"""Longest value that is kept of one line."""

NODE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)
"""What a node may be called."""
_NAME = re.compile(rb"^Name:[ \t]+(?P<name>[a-z0-9][a-z0-9.-]{0,252})[ \t]*\r?$", re.MULTILINE)
_FIELD = re.compile(r"(?P<key>[A-Z][A-Za-z -]{0,60}):(?P<value>.*)")
_BLOCK_NAME = re.compile(rb"^(?P<name>[a-z0-9][a-z0-9.-]{0,252}):?[ \t]*\r?$", re.MULTILINE)
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,330}", re.ASCII)
_COLUMNS = ("type", "status", "lastHeartbeatTime", "lastTransitionTime", "reason", "message")
_NOTHING = {"<none>", "<unset>", "<unknown>", ""}
_INFO = {
    "Machine ID": "machineID",
    "Kernel Version": "kernelVersion",
    "OS Image": "osImage",
    "Operating System": "operatingSystem",
    "Architecture": "architecture",
    "Container Runtime Version": "containerRuntimeVersion",
    "Kubelet Version": "kubeletVersion",
}
_LAST = {"Non-terminated Pods", "Pods", "Allocated resources", "Events"}
"""Behind the node's own fields; which of them is printed hangs on what the account may read."""
_LAST_OWN = "System Info"
"""The last of the node's own fields; a text that somebody shortened on purpose may end with it."""
_TIME = "%a, %d %b %Y %H:%M:%S %z"


@dataclass(frozen=True, slots=True)
class Described:
    """One node with the place of its text: `line` from 1, `offset` and `length` in bytes; `cut` where its text ends too early."""

    name: str
    value: dict[str, Any]
    line: int
    offset: int
    length: int
    cut: bool = False


def described(data: bytes) -> Iterator[Described]:
    """The nodes of a description, in its order. A part that makes no sense is left out of its node."""
    for name, line, at, _, stop in _parts(_NAME, data):
        fields = _fields(clean(data[at:stop]))
        whole = _LAST & fields.keys() or (_LAST_OWN in fields and data.endswith(b"\n", at, stop))
        yield Described(name, _node(name, fields), line, at, stop - at, cut=not whole)


def labelled(data: bytes) -> Iterator[Described]:
    """The nodes of a list of labels: a node's name, then lines of `- key=value`."""
    for name, line, at, begin, stop in _parts(_BLOCK_NAME, data):
        labels = dict(_labels(clean(data[begin:stop]).splitlines()))
        if labels:
            metadata = {"name": name, "labels": labels}
            yield Described(name, {"apiVersion": "v1", "kind": "Node", "metadata": metadata}, line, at, stop - at)


def _parts(heading: re.Pattern[bytes], data: bytes) -> Iterator[tuple[str, int, int, int, int]]:
    """The part below each heading: its name, line and offset, where what follows the heading begins, and where it ends."""
    found = list(heading.finditer(data))
    line, at = 1, 0
    for match, following in zip_longest(found, found[1:]):
        line += data.count(b"\n", at, match.start())
        at = match.start()
        yield clean(match["name"]), line, at, match.end(), following.start() if following else len(data)


def _labels(lines: list[str]) -> Iterator[tuple[str, str]]:
    for text in lines[:MAX_ENTRIES]:
        if text.startswith("- "):
            key, sign, value = text[2:].strip().partition("=")
            if sign and key:
                yield key.strip().strip('"'), value.strip().strip('"')[:MAX_TEXT]


def _node(name: str, fields: dict[str, list[str]]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": _pairs(fields.get("Labels", []), "=")}
    annotations = _pairs(fields.get("Annotations", []), ":")
    if annotations:
        metadata["annotations"] = annotations
    created = _moment(_first(fields, "CreationTimestamp"))
    if created:
        metadata["creationTimestamp"] = created
    spec: dict[str, Any] = {}
    taints = [taint for line in fields.get("Taints", []) if (taint := _taint(line))]
    if taints:
        spec["taints"] = taints
    if _first(fields, "Unschedulable") == "true":
        spec["unschedulable"] = True
    if provider := _first(fields, "ProviderID"):
        spec["providerID"] = provider
    status: dict[str, Any] = {key.lower(): _pairs(fields[key], ":") for key in ("Capacity", "Allocatable") if key in fields}
    conditions = _conditions(fields.get("Conditions", []))
    if conditions:
        status["conditions"] = conditions
    info = _pairs(fields.get("System Info", []), ":")
    kept = {field: info[words] for words, field in _INFO.items() if info.get(words)}
    if kept:
        status["nodeInfo"] = kept
    addresses = [{"type": kind, "address": address} for kind, address in _pairs(fields.get("Addresses", []), ":").items()]
    if addresses:
        status["addresses"] = addresses
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def _fields(text: str) -> dict[str, list[str]]:
    """Each field with its lines: what stands behind the colon, and the indented lines below."""
    fields: dict[str, list[str]] = {}
    lines: list[str] = []
    for raw in text.splitlines():
        if raw[:1] not in {" ", "\t"}:
            found = _FIELD.match(raw)
            lines = []
            if found and found["key"] not in fields:
                fields[found["key"]] = lines
                if found["value"].strip():
                    lines.append(found["value"].strip())
        elif raw.strip() and len(lines) < MAX_ENTRIES:
            lines.append(raw.rstrip())
    return fields


def _first(fields: dict[str, list[str]], key: str) -> str:
    value = (fields.get(key) or [""])[0].strip()
    return "" if value in _NOTHING else value


def _pairs(lines: list[str], sign: str) -> dict[str, str]:
    """`key=value` or `key: value` lines; lines that go on with a value are passed over."""
    found: dict[str, str] = {}
    for line in lines:
        key, there, value = line.strip().partition(sign)
        key = key.strip()
        if there and (_KEY.fullmatch(key) or key in _INFO):
            found.setdefault(key, value.strip()[:MAX_TEXT])
    return found


def _taint(line: str) -> dict[str, str] | None:
    """`key=value:Effect` or `key:Effect`."""
    words, sign, effect = line.strip().rpartition(":")
    if not sign or not words or " " in words:
        return None
    key, _, value = words.partition("=")
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def _conditions(lines: list[str]) -> list[dict[str, str]]:
    """The table of conditions: its columns begin where those of the head do."""
    head = next((number for number, line in enumerate(lines) if line.split()[:2] == ["Type", "Status"]), None)
    if head is None:
        return []
    found = []
    for line in lines[head + 1 :]:
        cells = re.split(r"\s{2,}", line.strip(), maxsplit=len(_COLUMNS) - 1)
        if len(cells) < 2 or set(cells[0]) == {"-"}:
            continue
        row = dict(zip(_COLUMNS, cells, strict=False))
        for key in ("lastHeartbeatTime", "lastTransitionTime"):
            row[key] = _moment(row.get(key, "")) or ""
        found.append({key: value for key, value in row.items() if value})
    return found


def _moment(text: str) -> str | None:
    """A time as `describe` prints it (RFC 1123 with a numeric zone) as RFC 3339 UTC."""
    try:
        return datetime.strptime(text, _TIME).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return None
