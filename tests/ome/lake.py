"""Worlds for the commands about runtimes and status: shorthands over `pond`, and pods and events beside the service."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from analyzer.ome.runtime.effective import Effective, effective
from analyzer.ome.runtime.views import table_rows
from analyzer.ome.source import Source
from analyzer.ome.status.page import rows
from analyzer.ome.status.report import Status, status_of
from analyzer.ome.world import Absence, Thing, World
from tests.ome.pond import NAME, NAMESPACE, model, runtime, thing

NOW = datetime(2026, 11, 1, 12)  # noqa: DTZ001 - the database holds times without a zone


def world(*things: Thing, absent: dict[str, Absence] | None = None, bare: bool = False) -> World:
    """These objects, with a model and a runtime unless `bare`; `absent` says of kinds why what is not there is not there."""
    why = absent or {}
    held = [*(() if bare else (model(), runtime())), *things]
    return World.of(held, lambda kind, _namespace: why.get(kind, "not-found"))


def effect(own: Thing, *things: Thing, absent: dict[str, Absence] | None = None, bare: bool = False) -> Effective:
    """The evaluation of `runtime effective`."""
    return effective(world(own, *things, absent=absent, bare=bare), own, "ome")


def cells(found: Effective) -> dict[tuple[str, str], str]:
    """The table of `runtime effective` by scope and field; of several issues the words stand side by side."""
    held: dict[tuple[str, str], str] = {}
    for scope, field, value in table_rows(found)[1:]:
        held[scope, field] = f"{held[scope, field]} {value}" if (scope, field) in held else value
    return held


def issues(found: Effective) -> list[str]:
    """The issue codes, without revisions."""
    return [code for code, _ in found.issues]


def pod(name: str = "heron-0", component: str = "engine", *, ready: str = "True", **status: Any) -> Thing:
    """A running pod of the service."""
    labels = {"ome.io/inferenceservice": NAME} | ({"component": component} if component else {})
    base = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]} | status
    return thing("Pod", name, NAMESPACE, meta={"labels": labels}, status=base)


def event(name: str, about: Thing | None = None, **fields: Any) -> Thing:
    """A Warning event about the service or a pod."""
    kind, of = ("Pod", about) if about and about.kind == "Pod" else ("InferenceService", about)
    involved = {"kind": kind, "name": of.name if of else NAME, "namespace": NAMESPACE, "uid": f"u-{of.name if of else NAME}"}
    base = {"type": "Warning", "reason": "BackOff", "message": "waits", "count": 2, "lastTimestamp": "2026-11-01T11:00:00Z"}
    return thing("Event", name, NAMESPACE, **({"involvedObject": involved} | base | fields))


def status(own: Thing, *things: Thing, absent: dict[str, Absence] | None = None, bare: bool = False) -> Status:
    """The evaluation of `status`."""
    return status_of(Source(world(own, *things, absent=absent, bare=bare), NOW), own, "ome")


def page(found: Status, *, wide: bool = False) -> list[str]:
    """The page, a line a row: `FIELD: VALUE`."""
    return [f"{field}: {value}" for field, value in rows(found, wide=wide)]


def field(found: Status, name: str, *, wide: bool = False) -> list[str]:
    """The values of a field."""
    return [value for field, value in rows(found, wide=wide) if field == name]
