"""Pods that a bundle holds twice: in the list of their namespace, and printed again in a file of their own.

`oc adm inspect` writes both, so that half of a must-gather's largest kind would be parsed for nothing. A file whose
text is that of an item of the list just read, but for indentation and where lines are folded, gets the item's row again
under its own place. Any other difference, and the file is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.bundle.limits import MIB
from analyzer.bundle.task import Task

MAX_HELD_BYTES = 64 * MIB
"""Text of lists that a worker keeps at most; beyond it, pods are parsed again."""

_POD = re.compile(r"(.*/|)namespaces/([^/]+)/(?:core/pods\.(?:yaml|json)|pods/([^/]+)/[^/]+\.(?:yaml|json))")
_START = re.compile(rb"(?:---[ \t]*\r?\n)?")


def pod_folder(task: Task) -> str:
    """The namespace folder whose pods this file holds, in the layout of `oc adm inspect`; empty for any other file."""
    if task.assignment.hint.kind != "Pod" or task.assignment.hint.group or task.assignment.reader != "objects":
        return ""
    found = _POD.fullmatch(task.path)
    return f"{found[1]}namespaces/{found[2]}" if found else ""


def is_list(task: Task) -> bool:
    """Whether a file with a `pod_folder` is the list; the others hold one pod each."""
    return task.path.rpartition("/")[2].startswith("pods.")


@dataclass(slots=True)
class Twins:
    """The pods of the list read last, by name: their text and their row."""

    folder: str = ""
    held: int = 0
    pods: dict[str, tuple[bytes, Mapping[str, Any]]] = field(default_factory=dict)

    def begin(self, folder: str) -> None:
        """Forget what was kept; from now on pods of this folder are."""
        self.folder, self.held = folder, 0
        self.pods.clear()

    def keep(self, name: str, text: bytes, row: Mapping[str, Any]) -> None:
        """Keep one item of the list: its text with the dash it begins with, and the row written for it."""
        self.held += 2 * len(text)
        if self.held <= MAX_HELD_BYTES:
            self.pods[name] = (text, row)

    def row(self, task: Task, data: bytes) -> dict[str, Any] | None:
        """The row of a file that holds a pod of the list again, under its own place; None where it must be parsed."""
        if pod_folder(task) != self.folder:
            return None
        kept = self.pods.pop(task.path.rsplit("/", 2)[1], None)
        if kept is None or not kept[0].startswith(b"-"):
            return None
        start = _START.match(data)
        begin = start.end() if start else 0
        if kept[0][1:].split() != data[begin:].split():
            return None
        own = {"file_id": task.file_id, "idx": 0, "line": 1 + data.count(b"\n", 0, begin)}
        return {**kept[1], **own, "byte_offset": begin, "byte_length": len(data) - begin}
