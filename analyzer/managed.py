"""What is kept of metadata.managedFields, which are large and dropped: by the collector, and by the reader of any bundle.

They alone tell when a label was last written, and who wrote an object. Both are kept in annotations of the object
(docs/bundle-format.md). Fields of any shape are taken, since they come from a server or a bundle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MANAGERS = "triage.dev/field-managers"
"""Annotation: JSON list of mappings with manager, operation, time and subresource."""
LABEL_TIMES = "triage.dev/label-times"
"""Annotation: JSON, label key → RFC 3339 time of the newest manager that owns the label."""
MAX_LABELS = 500
"""Labels of one object whose times are kept."""

_KEYS = ("manager", "operation", "time", "subresource")
_MAX_TIME = 40


def managers(fields: list[Any], most: int, longest: int | None = None) -> list[dict[str, str]]:
    """Who wrote the object, how and when, in their order; the newest `most` where there are more.

    Args:
        fields: managedFields.
        most: how many are kept.
        longest: characters that are kept of a value; None for all.
    """
    entries = [
        {key: entry[key][:longest] for key in _KEYS if isinstance(entry.get(key), str)}
        for entry in fields
        if isinstance(entry, dict) and isinstance(entry.get("manager"), str)
    ]
    return entries if len(entries) <= most else sorted(entries, key=lambda entry: entry.get("time", ""), reverse=True)[:most]


def label_times(fields: list[Any], wanted: Callable[[str], bool]) -> dict[str, str]:
    """When each label that is `wanted` was last written, by key; at most `MAX_LABELS` of them."""
    times: dict[str, str] = {}
    for entry in fields:
        when = entry.get("time") if isinstance(entry, dict) else None
        if not isinstance(when, str) or len(when) > _MAX_TIME:
            continue
        owned: Any = entry.get("fieldsV1")
        for step in ("f:metadata", "f:labels"):
            owned = owned.get(step) if isinstance(owned, dict) else None
        for name in owned if isinstance(owned, dict) else ():
            key = name.removeprefix("f:") if isinstance(name, str) else ""
            if wanted(key) and times.get(key, "") < when and (key in times or len(times) < MAX_LABELS):
                times[key] = when
    return dict(sorted(times.items()))
