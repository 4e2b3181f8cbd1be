"""What all of KServe's facts share: its group, conditions, bare URIs, whether a kind was collected whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.values import mapping, mappings, moment, text
from analyzer.redact.shapes import mask_urls

GROUP = "serving.kserve.io"
SERVICE_LABEL = "serving.kserve.io/inferenceservice"
STOP = "serving.kserve.io/stop"

_KNOWN = ("complete", "absent")
_TAIL = re.compile(r"[?#].*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition with its place."""

    type: str
    status: str
    reason: str | None
    message: str | None
    since: datetime | None
    path: str

    @property
    def is_false(self) -> bool:
        """It says no."""
        return self.status == "False"


def conditions(status: dict[str, Any]) -> dict[str, Condition]:
    """The conditions of a status by type, the first of each."""
    found: dict[str, Condition] = {}
    for index, item in enumerate(mappings(status.get("conditions"))):
        kind, state = text(item.get("type")), text(item.get("status"))
        if kind and state and kind not in found:
            message = bare_text(text(item.get("message")))
            reason = text(item.get("reason"))
            place = f"status.conditions[{index}].{'message' if message else 'reason' if reason else 'status'}"
            found[kind] = Condition(kind, state, reason, message, moment(item.get("lastTransitionTime")), place)
    return found


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


def stopped(value: dict[str, Any], told: dict[str, Condition]) -> bool:
    """Stopped by its annotation, which counts in capitals too, or by its condition."""
    condition = told.get("Stopped")
    return (annotation(value, STOP) or "").lower() == "true" or (condition is not None and condition.status == "True")


@dataclass(frozen=True, slots=True)
class Lists:
    """Coverage of the kinds of a group: status, and the namespaces that were looked at whole (`*` for all)."""

    status: dict[tuple[str, str], str]
    scope: dict[tuple[str, str], frozenset[str]]

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection) -> Lists:
        """Reads `coverage`."""
        rows = con.execute("SELECT api_group, kind, status, scope FROM coverage").fetchall()
        return cls(
            {(group, kind): status for group, kind, status, _ in rows},
            {(group, kind): frozenset(scope or ()) for group, kind, _, scope in rows},
        )

    def whole_in(self, kind: str, namespace: str = "*", group: str = GROUP) -> bool:
        """Every object of the kind in that namespace (of the cluster) is in the bundle."""
        key = (group, kind)
        return self.status.get(key) in _KNOWN and bool(self.scope.get(key, frozenset()) & {"*", namespace})
