"""Who wrote an object of the inference modules, kept while the rest of managedFields is dropped.

A launch setting that somebody wrote by hand and one that the module wrote differ in nothing else. It is kept as `triage collect`
keeps it (docs/bundle-format.md): in an annotation, a JSON list.
"""

from __future__ import annotations

from typing import Any

import orjson

GROUPS = ("ai.deckhouse.io", "inference.deckhouse.io")
"""API groups whose objects keep it."""
ANNOTATION = "triage.dev/field-managers"
"""JSON list of mappings with manager, operation, time and subresource."""
MAX_MANAGERS = 20
_KEYS = ("manager", "operation", "time", "subresource")
_MAX_TEXT = 100


def keep(metadata: dict[str, Any], fields: Any) -> None:
    """Adds the annotation to an object's metadata where its managedFields name anybody; one that is there stays.

    Args:
        metadata: of the object; changed in place.
        fields: its managedFields, anything at all.
    """
    annotations = metadata.get("annotations")
    if not isinstance(fields, list) or (annotations is not None and not isinstance(annotations, dict)):
        return
    known = [
        {key: entry[key][:_MAX_TEXT] for key in _KEYS if isinstance(entry.get(key), str)}
        for entry in fields[:MAX_MANAGERS]
        if isinstance(entry, dict) and isinstance(entry.get("manager"), str)
    ]
    if known and ANNOTATION not in (annotations or {}):
        metadata["annotations"] = {**(annotations or {}), ANNOTATION: orjson.dumps(known).decode()}
