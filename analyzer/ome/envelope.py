"""What all reports of OME's command have around their content (`cli.ome.io/v1alpha1`), and how a report becomes text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

API_VERSION = "cli.ome.io/v1alpha1"
FORMATS = ("table", "wide", "json", "yaml")


def given(fields: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Fields, with those of the optional ones that have a value: OME leaves the others out."""
    return fields | {key: value for key, value in optional.items() if value}


def envelope(
    kind: str,
    metadata: dict[str, str],
    collected_at: str,
    content: dict[str, Any],
    sources: Sequence[dict[str, Any]] = (),
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """A whole report.

    Args:
        kind: as in `StatusReport`.
        metadata: namespace and name; what is empty is left out.
        collected_at: the bundle's collection time, as a report shows it.
        content: what it says.
        sources: the objects that it rests on.
        warnings: codes.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": given({}, **metadata),
        "collectedAt": collected_at,
        "sources": list(sources),
        "content": content,
        "warnings": [{"code": code} for code in sorted(set(warnings))],
    }


def identity(kind: str, namespace: str, name: str) -> dict[str, Any]:
    """The fields that name an object; one of a cluster-scoped kind has no namespace."""
    return given({"kind": kind}, namespace=namespace) | {"name": name}


def source(
    kind: str, namespace: str, name: str, collected_at: str, *, uid: str = "", generation: int = 0, unavailable: str = ""
) -> dict[str, Any]:
    """An object that a report rests on, or could not use: `unavailable` says why."""
    evidence = "Unavailable" if unavailable else "Observed"
    fields = given(identity(kind, namespace, name), uid=uid, generation=generation) | {
        "evidence": evidence,
        "collectedAt": collected_at,
    }
    return given(fields, unavailableReason=unavailable)


def machine(report: dict[str, Any], form: str) -> str:
    """A report as JSON or YAML, with a line break at its end."""
    if form == "json":
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    from analyzer.show.yamltext import yaml_of

    return yaml_of(report)
