"""Nodes of the table that `kubectl get nodes` prints, with or without `-o wide` (kubectl, pkg/printers), read as Node objects.

A column begins where its heading does, and a cell may hold single spaces. What a table cannot tell apart stays open: NotReady
stands there for a condition Ready that is False, and for one that is Unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from analyzer.bundle.documents.described import NODE_NAME, Described
from analyzer.bundle.text import clean

MAX_LINE = 4_096
"""Bytes that are looked at in one line."""

_HEADING = re.compile(r"\S+(?: \S+)*")
_INFO = {
    "VERSION": "kubeletVersion",
    "OS-IMAGE": "osImage",
    "KERNEL-VERSION": "kernelVersion",
    "CONTAINER-RUNTIME": "containerRuntimeVersion",
}
_ADDRESSES = {"INTERNAL-IP": "InternalIP", "EXTERNAL-IP": "ExternalIP"}
_NOTHING = {"", "<none>", "<unknown>"}
_ROLE = "node-role.kubernetes.io/"
_READY = {"Ready": "True", "NotReady": "False"}
_CORDONED = "SchedulingDisabled"


def listed(data: bytes) -> Iterator[Described]:
    """The nodes of a table, in its order; rows that do not stand below their headings are passed over."""
    columns: list[tuple[str, int]] = []
    at = 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = clean(raw[:MAX_LINE].rstrip()).rstrip()
        if text.startswith("NAME ") and "STATUS" in text:
            columns = [(found[0], found.start()) for found in _HEADING.finditer(text)]
        elif columns and (cells := _cells(text, columns)) and NODE_NAME.fullmatch(cells.get("NAME", "")):
            yield Described(cells["NAME"], _node(cells), number, at, len(raw))
        at += len(raw) + 1


def _cells(text: str, columns: list[tuple[str, int]]) -> dict[str, str]:
    """The cells of a row by heading; empty where a word runs over the beginning of a column."""
    if any(0 < begin <= len(text) and text[begin - 1] != " " for _, begin in columns):
        return {}
    ends = [begin for _, begin in columns[1:]] + [len(text)]
    return {heading: text[begin:end].strip() for (heading, begin), end in zip(columns, ends, strict=True)}


def _node(cells: dict[str, str]) -> dict[str, Any]:
    told = {heading: cell for heading, cell in cells.items() if cell not in _NOTHING}
    roles = [role for role in told.get("ROLES", "").split(",") if role]
    metadata = {"name": told["NAME"], "labels": {_ROLE + role: "" for role in roles}}
    words = told.get("STATUS", "").split(",")
    ready = next((word for word in words if word in _READY), None)
    status: dict[str, Any] = {}
    if ready:
        status["conditions"] = [{"type": "Ready", "status": _READY[ready], "reason": ready}]
    if info := {field: told[heading] for heading, field in _INFO.items() if heading in told}:
        status["nodeInfo"] = info
    if addresses := [{"type": kind, "address": told[heading]} for heading, kind in _ADDRESSES.items() if heading in told]:
        status["addresses"] = addresses
    spec = {"unschedulable": True} if _CORDONED in words else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}
