"""Everything that is no known bundle: manifests, lists printed by kubectl, a single log.

Used only where no root of a real format is in the input. What a file holds is decided by its name and its first
bytes, so that a folder of manifests with a README works and a folder of unrelated files is told to be no bundle.
"""

from __future__ import annotations

from analyzer.bundle.formats.base import (
    GUESS_JSON,
    HOST_LOG_NAME,
    Assignment,
    Root,
    Tree,
    base_name,
    is_log_name,
    is_objects_name,
    skip,
)
from analyzer.bundle.formats.nvidia_bug_report import as_log, is_report
from analyzer.bundle.types import Hint

MAX_GUESS_BYTES = 16 * 1024 * 1024
"""Files of a folder whose name says nothing are looked into up to this size."""

_SINGLE = "single"
_TEXT = (".txt", ".out", ".dump")


def detect(tree: Tree, *, folder: bool) -> list[Root]:
    """The whole input, with the lowest score. `folder` tells whether the input is one."""
    return [Root("plain", "", 1, _SINGLE if len(tree.paths) == 1 and not folder else "")]


def classify(root: Root, path: str, size: int) -> Assignment:
    """What a file of an input without a known format is."""
    name = base_name(path)
    if root.part == _SINGLE and ".json" in name.lower():
        return Assignment("objects", "guess", name="log")
    if is_objects_name(name):
        is_json = name.lower().endswith(".json")
        return (
            Assignment("objects", "guess", Hint(json=True), name=GUESS_JSON)
            if is_json
            else Assignment("objects", "objects", Hint())
        )
    if root.part == _SINGLE:
        # A file that somebody names a log may be any text; one that does not (a README) must look like a log.
        return Assignment("log", "guess", name="single" if is_log_name(name) else "log")
    if is_log_name(name):
        return as_log() if is_report(name) else Assignment("log", "guess", name="log")
    if HOST_LOG_NAME.search(name) or (size <= MAX_GUESS_BYTES and ("." not in name.lstrip(".") or name.endswith(_TEXT))):
        return Assignment("objects", "guess", name="log")
    return skip("no YAML, no JSON and no log")
