"""LLMInferenceServices, InferenceGraphs and TrainedModels: state, what is to blame, what they name.

Sources: KServe's API types of these kinds (v1alpha1, v1alpha2) and their controllers, 0.8 to 0.20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.kserve.base import GROUP, bare_uri, conditions, stopped
from analyzer.facts.kserve.services import blame
from analyzer.facts.told import Condition
from analyzer.facts.values import Stored, mapping, mappings, stored, text
from analyzer.facts.whole import Whole

LLM, GRAPH, TRAINED = "LLMInferenceService", "InferenceGraph", "TrainedModel"
MAX_REFERENCES = 1_000
"""Names in one object that are read."""

_BLAME = {
    LLM: (
        "PresetsCombined",
        "MainWorkloadReady",
        "WorkerWorkloadReady",
        "PrefillWorkloadReady",
        "PrefillWorkerWorkloadReady",
        "ScalingReady",
        "PrefillScalingReady",
        "WorkloadsReady",
        "GatewaysReady",
        "HTTPRoutesReady",
        "InferencePoolReady",
        "SchedulerWorkloadReady",
        "TokenizerReady",
        "RouterReady",
        "Ready",
    ),
    GRAPH: ("ConfigurationsReady", "ConfigurationReady", "RoutesReady", "RouteReady", "Ready"),
    TRAINED: ("InferenceServiceReady", "IsMMSPredictor", "MemoryResourceAvailable", "Ready"),
}
"""The most basic condition first."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in an object: a service, a config, a node of a graph or a URL."""

    what: str
    name: str
    path: str
    missing: bool | None = None
    target_kind: str = ""
    other_namespaces: bool = False
    """One of that name in another namespace may be meant: then nothing says that it is missing."""


def rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Rows of `kserve_others`."""
    for item in stored(con, [(GROUP, kind) for kind in _BLAME]):
        yield _row(item)


def _row(item: Stored) -> dict[str, Any]:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    told = conditions(status)
    blamed = blame(told, _BLAME[item.kind])
    ready = told.get("Ready")
    presets = told.get("PresetsCombined")
    stale = item.kind == LLM and presets is not None and presets.is_false and ready is not None and ready.status == "True"
    model = mapping(spec.get("model"))
    state = _state(item, told)
    fine = state in ("Ready", "Stopped", "Deleting") and not stale
    return {
        "object_id": item.object_id,
        "input": item.input,
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "state": state,
        "ready": ready.status if ready else None,
        "blamed": None if fine or blamed is None else blamed.type,
        "reason": None if fine or blamed is None else blamed.reason,
        "message": None if fine or blamed is None else blamed.message,
        "blamed_path": None if fine or blamed is None else blamed.words_path,
        "since": _since(item, told, blamed, stale=stale),
        "stale_ready": stale,
        "url": bare_uri(status.get("url")),
        "storage": bare_uri(model.get("uri")) or bare_uri(model.get("storageUri")),
        "model": text(model.get("name")),
    }


def _state(item: Stored, told: dict[str, Condition]) -> str:
    if item.deleted_at is not None:
        return "Deleting"
    if stopped(item.value, told):
        return "Stopped"
    ready = told.get("Ready")
    if ready is not None and ready.status == "True":
        return "Ready"
    if ready is not None and ready.is_false:
        return "Not ready"
    bad = any(told[name].is_false for name in _BLAME[item.kind] if name in told)
    return "Not ready" if bad else "Progressing"


def _since(item: Stored, told: dict[str, Condition], blamed: Condition | None, *, stale: bool) -> Any:
    if item.deleted_at is not None:
        return item.deleted_at
    ready = told.get("Ready")
    if not stale and ready is not None and ready.since is not None:
        return ready.since
    return (blamed.since if blamed else None) or item.created_at


def reference_rows(con: duckdb.DuckDBPyConnection, lists: Whole) -> Iterator[dict[str, Any]]:
    """Rows of `kserve_references`."""
    known = {
        (kind, namespace, name): object_id
        for kind, namespace, name, object_id in con.execute(
            "SELECT kind, namespace, name, object_id FROM objects WHERE api_group = ? "
            "AND kind IN ('InferenceService', 'InferenceGraph', 'LLMInferenceServiceConfig') ORDER BY object_id DESC",
            [GROUP],
        ).fetchall()
    }
    for item in stored(con, [(GROUP, kind) for kind in _BLAME]):
        for count, one in enumerate(_READ[item.kind](mapping(item.value.get("spec")))):
            if count >= MAX_REFERENCES:
                break
            target = known.get((one.target_kind, item.namespace, one.name))
            missing = one.missing
            if one.target_kind and target is None:
                missing = True if lists.has(GROUP, one.target_kind, item.namespace) and not one.other_namespaces else None
            elif target is not None:
                missing = False
            yield {
                "object_id": item.object_id,
                "path": one.path,
                "what": one.what,
                "name": one.name,
                "target_id": target,
                "missing": missing,
            }


def _of_llm(spec: dict[str, Any]) -> Iterator[Reference]:
    """Configs are looked for in the namespace of the service, then in that of KServe."""
    for index, reference in enumerate(mappings(spec.get("baseRefs"))):
        name = text(reference.get("name"))
        if name:
            path = f"spec.baseRefs[{index}].name"
            yield Reference("config", name, path, target_kind="LLMInferenceServiceConfig", other_namespaces=True)


def _of_graph(spec: dict[str, Any]) -> Iterator[Reference]:
    """Each step leads to a service, to another node of the graph or to a URL."""
    nodes = mapping(spec.get("nodes"))
    for node, router in nodes.items():
        for index, step in enumerate(mappings(mapping(router).get("steps"))):
            path = f'spec.nodes["{node}"].steps[{index}]'
            target, inner, url = text(step.get("serviceName")), text(step.get("nodeName")), bare_uri(step.get("serviceUrl"))
            if target:
                yield Reference("service", target, f"{path}.serviceName", target_kind="InferenceService")
            if inner:
                yield Reference("node", inner, f"{path}.nodeName", missing=inner not in nodes)
            if url:
                yield Reference("url", url, f"{path}.serviceUrl")


def _of_trained(spec: dict[str, Any]) -> Iterator[Reference]:
    name = text(spec.get("inferenceService"))
    if name:
        yield Reference("service", name, "spec.inferenceService", target_kind="InferenceService")


_READ: dict[str, Callable[[dict[str, Any]], Iterator[Reference]]] = {LLM: _of_llm, GRAPH: _of_graph, TRAINED: _of_trained}
