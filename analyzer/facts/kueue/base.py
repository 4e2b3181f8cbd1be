"""What all of Kueue's facts share: its group, amounts as text, labels."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from analyzer.facts import quantity
from analyzer.facts.values import text

GROUP = "kueue.x-k8s.io"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def shown(resource: str, written: Any) -> str | None:
    """A quantity as it stands in an object, in the words of `show`; None where it is none."""
    if isinstance(written, str) and len(written) <= quantity.MAX_LENGTH:
        return _shown(resource, written)
    value = quantity.amount(written)
    return None if value is None else show(resource, value)


@lru_cache(maxsize=20_000)
def _shown(resource: str, written: str) -> str | None:
    # By the text: to find a fraction in a cache costs more than to find a text.
    value = quantity.amount(written)
    return None if value is None else show(resource, value)


@lru_cache(maxsize=20_000)
def show(resource: str, value: Fraction) -> str:
    """A quantity as people write it, exact: cpu in cores or milli-cores, bytes with a binary suffix where that is whole."""
    if value.denominator == 1:
        whole = value.numerator
        if resource != "cpu" and abs(whole) >= 1024 and whole % 1024 == 0 and _is_bytes(resource):
            power = 0
            while whole % 1024 == 0 and power < len(_BINARY):
                whole //= 1024
                power += 1
            return f"{whole}{_BINARY[power - 1]}"
        return str(whole)
    milli = value * 1000
    if milli.denominator == 1:
        return f"{milli.numerator}m"
    return f"{-(-milli.numerator // milli.denominator)}m"


def rounded(resource: str, value: Fraction) -> Fraction:
    """The amount as Kueue counts it: cpu in whole milli-cores, everything else in whole units, rounded up."""
    scaled = value * 1000 if resource == "cpu" else value
    whole = Fraction(-(-scaled.numerator // scaled.denominator))
    return whole / 1000 if resource == "cpu" else whole


def _is_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage", "storage") or resource.startswith("hugepages-")


def label(value: dict[str, Any], key: str, part: str = "labels") -> str | None:
    """A label (or annotation) of an object."""
    metadata = value.get("metadata")
    held = metadata.get(part) if isinstance(metadata, dict) else None
    return text(held.get(key)) if isinstance(held, dict) else None
