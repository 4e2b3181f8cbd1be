"""The labels that say what GPUs a node has and how they are set up.

Names and values are those of the NVIDIA GPU Operator, GPU feature discovery, the MIG manager and the driver upgrade
controller. When a label was written stands in an annotation of bundles that `triage collect` made.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from analyzer.facts.values import mapping, moment, text
from analyzer.managed import LABEL_TIMES

MAX_ANNOTATION = 1_000_000
"""Longest annotation that is read as JSON; the API server allows 256 KiB for all of an object."""
PCI = ("pci-10de.present", "pci-0302_10de.present", "pci-0300_10de.present")
"""Labels of node feature discovery for an NVIDIA device, by its PCI class."""
DEPLOY = "nvidia.com/gpu.deploy."

_NFD = "feature.node.kubernetes.io/"
_UPGRADE = "nvidia.com/gpu-driver-upgrade"
_STARTS = {
    "validation-required": f"{_UPGRADE}-validation-start-time",
    "wait-for-jobs-required": f"{_UPGRADE}-wait-for-pod-completion-start-time",
}
_YEAR_2000, _YEAR_2100 = 946_684_800, 4_102_444_800


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels and annotations of one Node, and since when labels stand as they do."""

    labels: dict[str, Any]
    annotations: dict[str, Any]
    times: dict[str, datetime]

    def get(self, key: str) -> str | None:
        """The value of a label; None where it is missing or empty."""
        return text(self.labels.get(key))

    def whole(self, key: str) -> int | None:
        """The value of a label that is a small whole number."""
        value = self.get(key)
        return int(value) if value and value.isascii() and value.isdigit() and len(value) < 10 else None

    def flag(self, key: str) -> bool | None:
        """The value of a label that is true or false."""
        return {"true": True, "false": False}.get(self.get(key) or "")

    def deploy(self, value: str) -> list[str]:
        """The parts of the GPU Operator whose deploy label has this value, by the label's last word."""
        return sorted(key.removeprefix(DEPLOY) for key, is_ in self.labels.items() if key.startswith(DEPLOY) and is_ == value)

    def newest(self, keys: list[str]) -> datetime | None:
        """When the newest of these labels was written."""
        return max((self.times[key] for key in keys if key in self.times), default=None)


def read(node: dict[str, Any]) -> Labels:
    """The labels of a Node object."""
    metadata = mapping(node.get("metadata"))
    annotations = mapping(metadata.get("annotations"))
    return Labels(mapping(metadata.get("labels")), annotations, _times(annotations.get(LABEL_TIMES)))


def _times(value: Any) -> dict[str, datetime]:
    if not isinstance(value, str) or len(value) > MAX_ANNOTATION:
        return {}
    try:
        found = mapping(orjson.loads(value))
    except orjson.JSONDecodeError:
        return {}
    return {key: at for key, when in found.items() if (at := moment(when)) is not None}


def pci_label(labels: Labels) -> str | None:
    """The label by which node feature discovery says that there is an NVIDIA device in the node."""
    return next((_NFD + name for name in PCI if labels.get(_NFD + name) == "true"), None)


def upgrade_since(labels: Labels, state: str | None) -> datetime | None:
    """Since when a driver upgrade is in this state: when its label was written, else the start noted for that step."""
    known = labels.times.get(f"{_UPGRADE}-state")
    started = labels.annotations.get(_STARTS.get(state or "", ""))
    if known or not isinstance(started, str) or not (started.isascii() and started.isdigit() and len(started) < 11):
        return known
    seconds = int(started)
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) if _YEAR_2000 < seconds < _YEAR_2100 else None


def cuda(labels: Labels) -> str | None:
    """The newest CUDA version that the driver knows (runtime version in older labels)."""
    full = labels.get("nvidia.com/cuda.runtime-version.full")
    major, minor = labels.get("nvidia.com/cuda.runtime.major"), labels.get("nvidia.com/cuda.runtime.minor")
    return full or (f"{major}.{minor}" if major and minor else None)


def driver(labels: Labels) -> str | None:
    """The version of the driver, from one label or from its parts."""
    parts = [labels.get(f"nvidia.com/cuda.driver.{part}") for part in ("major", "minor", "rev")]
    return labels.get("nvidia.com/cuda.driver-version.full") or ".".join(part for part in parts if part) or None
