"""What all of KServe's facts share: its group, conditions, bare URIs, whether a kind was collected whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analyzer.facts import told as any_told
from analyzer.facts.told import Condition, Conditions
from analyzer.facts.values import mapping, text
from analyzer.redact.shapes import mask_urls

GROUP = "serving.kserve.io"
SERVICE_LABEL = "serving.kserve.io/inferenceservice"
STOP = "serving.kserve.io/stop"

_TAIL = re.compile(r"[?#].*", re.DOTALL)


def conditions(status: dict[str, Any]) -> Conditions:
    """The conditions of a status by type, with messages in which URLs are bare."""
    found = any_told.conditions(status)
    return Conditions({kind: replace(one, message=bare_text(one.message)) for kind, one in found.items()})


def bare_text(value: str | None) -> str | None:
    """A text in which URLs have no user, password, query and fragment."""
    return mask_urls(value) if value else value


def bare_uri(value: Any) -> str | None:
    """A URI without user, password, query and fragment; None where it is no text."""
    said = text(value)
    return _TAIL.sub("", mask_urls(said)) or None if said else None


def annotation(value: dict[str, Any], key: str) -> str | None:
    """An annotation of an object."""
    return text(mapping(mapping(value.get("metadata")).get("annotations")).get(key))


def stopped(value: dict[str, Any], told: Mapping[str, Condition]) -> bool:
    """Stopped by its annotation, which counts in capitals too, or by its condition."""
    condition = told.get("Stopped")
    return (annotation(value, STOP) or "").lower() == "true" or (condition is not None and condition.is_true)
