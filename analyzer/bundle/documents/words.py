"""Words for what is wrong, and what tells an error message or a Go dump from an object."""

from __future__ import annotations

import re
from typing import Any

_GO_KEYS = frozenset({"ObjectMeta", "TypeMeta", "ListMeta", "InvolvedObject", "Items"})
_ERROR_TEXT = re.compile(
    r"\b(error|errors|forbidden|unauthorized|not found|no matches|unable|failed|failure|denied|refused|timed? ?out"
    r"|deadline exceeded"
    r"|doesn't have|does not have|no resources found|unavailable|bad gateway|connection)\b",
    re.IGNORECASE,
)
_TEXT_CHARS = 200


def split_version(api: str) -> tuple[str, str]:
    """Group and version of an apiVersion (`apps/v1`, `v1`)."""
    group, _, version = api.rpartition("/")
    return group, version


def is_go_dump(value: dict[str, Any]) -> bool:
    """Whether a mapping is a Go struct printed with its field names, as some old tools did."""
    if "apiVersion" in value or "items" in value:
        return False
    return bool(_GO_KEYS & value.keys()) or {"Spec", "Status"} <= value.keys()


def count_nameless(values: object) -> int:
    """How many of these came from an API server and do not say what they are (a tool printed them without their kind)."""
    return sum(1 for value in values if _is_nameless(value)) if isinstance(values, list) else 0


def _is_nameless(value: object) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) and not value.get("kind") else None
    if not isinstance(metadata, dict) or not {"name", "uid"} <= metadata.keys():
        return False
    # The lists of a container runtime have names and uids too, but no version.
    return "resourceVersion" in metadata or "creationTimestamp" in metadata


def error_text(text: str) -> str:
    """The first line of a text that is an error message, shortened; empty where it does not look like one."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return short(line) if _ERROR_TEXT.search(line) else ""


def short(text: str) -> str:
    """A text that is fit for a message: one line, printable, not long."""
    clean = "".join(char if char.isprintable() else " " for char in text[: 2 * _TEXT_CHARS])
    return clean if len(clean) <= _TEXT_CHARS else clean[: _TEXT_CHARS - 1] + "…"


def what(value: object) -> str:
    """A word for a value of the wrong kind; never the value."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "a boolean"
    words = {str: "empty", int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    return words.get(type(value), "no text")
