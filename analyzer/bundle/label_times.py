"""When the labels of a Node were last written, kept while the rest of managedFields is dropped.

managedFields are large and tell readers little, so they are not stored. Of GPU nodes they alone tell since when a MIG change or a
driver upgrade is in its state. That is kept as `triage collect` keeps it: in an annotation, label key → time.
"""

from __future__ import annotations

from typing import Any

import orjson

ANNOTATION = "triage.dev/label-times"
"""JSON, label key → RFC 3339 time of the newest manager that owns the label."""
PREFIXES = ("nvidia.com/", "feature.node.kubernetes.io/pci-")
"""Labels whose times are kept."""
MAX_LABELS = 500
"""Labels whose times are kept of one Node."""


def keep(metadata: dict[str, Any], fields: Any) -> None:
    """Adds the annotation to a Node's metadata where its managedFields tell anything; one that is there stays.

    Args:
        metadata: of the Node; changed in place.
        fields: its managedFields, anything at all.
    """
    annotations = metadata.get("annotations")
    if not isinstance(fields, list) or (annotations is not None and not isinstance(annotations, dict)):
        return
    times = _times(fields)
    if times and ANNOTATION not in (annotations or {}):
        metadata["annotations"] = {**(annotations or {}), ANNOTATION: orjson.dumps(dict(sorted(times.items()))).decode()}


def _times(fields: list[Any]) -> dict[str, str]:
    times: dict[str, str] = {}
    for entry in fields:
        when = entry.get("time") if isinstance(entry, dict) else None
        if not isinstance(when, str) or len(when) > 40:
            continue
        owned: Any = entry.get("fieldsV1")
        for step in ("f:metadata", "f:labels"):
            owned = owned.get(step) if isinstance(owned, dict) else None
        for name in owned if isinstance(owned, dict) else ():
            key = name.removeprefix("f:") if isinstance(name, str) else ""
            if key.startswith(PREFIXES) and times.get(key, "") < when and (key in times or len(times) < MAX_LABELS):
                times[key] = when
    return times
