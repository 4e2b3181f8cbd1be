"""What rules read of managedFields, kept while the rest is dropped, in the annotations in which `triage collect` keeps it.

Of GPU nodes managedFields alone tell since when a MIG change or a driver upgrade is in its state; of objects of the inference
modules, whether somebody wrote a launch setting by hand or the module did.
"""

from __future__ import annotations

from typing import Any

import orjson

from analyzer.managed import LABEL_TIMES, MANAGERS, label_times, managers

LABELS = ("nvidia.com/", "feature.node.kubernetes.io/pci-")
"""Begin of the labels whose times are kept."""
GROUPS = ("ai.deckhouse.io", "inference.deckhouse.io")
"""API groups whose objects keep their managers."""
MAX_MANAGERS = 20
_MAX_TEXT = 100


def keep_label_times(metadata: dict[str, Any], fields: Any) -> None:
    """Adds when its labels were written to a Node's metadata, which is changed in place; `fields` may be anything."""
    if isinstance(fields, list):
        _annotate(metadata, LABEL_TIMES, label_times(fields, lambda key: key.startswith(LABELS)))


def keep_managers(metadata: dict[str, Any], fields: Any) -> None:
    """Adds who wrote an object to its metadata, which is changed in place; `fields` may be anything."""
    if isinstance(fields, list):
        _annotate(metadata, MANAGERS, managers(fields, MAX_MANAGERS, _MAX_TEXT))


def _annotate(metadata: dict[str, Any], name: str, value: dict[str, str] | list[dict[str, str]]) -> None:
    """An annotation that is there already stays: our own collector wrote it."""
    annotations = metadata.get("annotations")
    if annotations is not None and not isinstance(annotations, dict):
        return
    if value and name not in (annotations or {}):
        metadata["annotations"] = {**(annotations or {}), name: orjson.dumps(value).decode()}
