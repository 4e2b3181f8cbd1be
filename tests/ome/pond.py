"""A small cluster with OME, as plain objects: a service, its model, a runtime and classes, each of which a test may change."""

from __future__ import annotations

from typing import Any

from analyzer.ome.explain import Outcome, explain
from analyzer.ome.printing import render, table_rows, wide_rows
from analyzer.ome.world import Absence, Thing, World

NAMESPACE, NAME = "pond", "heron"
AT = "2026-11-01T12:00:00Z"


def thing(kind: str, name: str, namespace: str = "", **parts: Any) -> Thing:
    """An object; `meta` goes into its metadata, the rest beside it."""
    meta = {"name": name, "uid": f"u-{name}", "resourceVersion": "7", "generation": 2} | parts.pop("meta", {})
    if namespace:
        meta["namespace"] = namespace
    return Thing(kind, namespace, name, {"metadata": meta, **parts})


def container(requests: dict[str, Any] | None = None, name: str | None = "ome-container") -> dict[str, Any]:
    """A container with these requests."""
    held: dict[str, Any] = {} if name is None else {"name": name}
    return held if requests is None else held | {"resources": {"requests": requests}}


def runtime(name: str = "skiff", namespace: str = "", meta: dict[str, Any] | None = None, **spec: Any) -> Thing:
    """A runtime whose engine and decoder ask for two cores, unless the spec says otherwise."""
    base = {"engineConfig": {"runner": container({"cpu": "2"})}, "decoderConfig": {"runner": container({"cpu": "2"})}}
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    return thing(kind, name, namespace, spec=base | spec, meta=meta or {})


def model(**spec: Any) -> Thing:
    """The model of the service."""
    return thing("ClusterBaseModel", "reed", spec={"modelFormat": {"name": "safetensors"}, "modelParameterSize": "7B"} | spec)


def service(
    *, status: dict[str, Any] | None = None, annotations: dict[str, str] | None = None, generation: int = 4, **spec: Any
) -> Thing:
    """An engine on the named runtime, its status current. A part of the spec given as None is left out."""
    base = {"model": {"name": "reed"}, "runtime": {"name": "skiff", "kind": "ClusterServingRuntime"}, "engine": {}} | spec
    meta = {"generation": generation} | ({"annotations": annotations} if annotations else {})
    kept = {key: value for key, value in base.items() if value is not None}
    return thing("InferenceService", NAME, NAMESPACE, spec=kept, status={"observedGeneration": 4} | (status or {}), meta=meta)


def revision(
    name: str = "cr-skiff-0a1b2c3d", spec: Any = None, *, number: int = 1, by: str = "ome-controller", **labels: str
) -> Thing:
    """A pinned revision of the runtime; labels are those of OME without their prefix, `_` for `-`."""
    held = {
        "runtime-of": "skiff",
        "runtime-of-kind": "ClusterServingRuntime",
        "runtime-of-namespace": "",
        "revision-hash": "0a1b2c3d",
    }
    held |= {key.replace("_", "-"): value for key, value in labels.items()}
    meta = {"labels": {f"ome.io/{key}": value for key, value in held.items()}, "annotations": {"ome.io/created-by": by}}
    data = {"engineConfig": {"runner": container({"cpu": "7"})}} if spec is None else spec
    return thing("ControllerRevision", name, "ome", data=data, revision=number, meta=meta)


def chosen(component: str = "engine", **fields: Any) -> dict[str, Any]:
    """A status that reports a selection for a component."""
    return {"components": {component: {"selectedAccelerator": fields}}}


def run(own: Thing, *others: Thing, absent: dict[str, Absence] | None = None, bare: bool = False) -> Outcome:
    """The evaluation of a service among these objects, with a model and a runtime unless `bare`.

    `absent` says of kinds why what is not there is not there; of all others it does not exist.
    """
    things = [*(() if bare else (model(), runtime())), *others, own]
    why = absent or {}
    return explain(World.of(things, lambda kind, _namespace: why.get(kind, "not-found")), own, "ome", AT)


def row(outcome: Outcome, number: int = 0) -> str:
    """The cells of one component after its name, as the vectors write them."""
    return " | ".join(table_rows(outcome.report)[1 + number][1:])


def codes(outcome: Outcome) -> list[str]:
    """The issues by code, those of one component without its name."""
    return [issue.code for issue in outcome.report.issues]


def wide(outcome: Outcome, *start: str) -> list[tuple[str, ...]]:
    """The rows of the wide table that begin so, without what they begin with."""
    return [cells[len(start) :] for cells in wide_rows(outcome.report) if cells[: len(start)] == start]


def text(outcome: Outcome, form: str = "wide") -> str:
    """The report as it is printed."""
    return render(outcome.report, form)
