"""Every InferenceService of OME, evaluated as OME's command would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.ome import issues
from analyzer.facts.values import one_line
from analyzer.ome import candidates, decode
from analyzer.ome.active import DEFAULT_NAMESPACE
from analyzer.ome.classes import Picked, pick
from analyzer.ome.explain import NoComponentError, Outcome, explain
from analyzer.ome.live import find_runtime
from analyzer.ome.names import is_subdomain
from analyzer.ome.report import Component
from analyzer.ome.world import (
    CLASS,
    CLUSTER_MODEL,
    NAMESPACED_MODEL,
    SERVICE,
    Lookup,
    Thing,
    World,
    integer,
    mapping,
    string,
)

_MAX_WORDS = 4_000
_MAX_CANDIDATES = 100
"""Candidates that are kept of one service; OME looks at up to a thousand."""
_STATES = {"True": "Ready", "False": "Not ready"}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One InferenceService: the outcome, or why OME makes no report of it."""

    service: Thing
    outcome: Outcome | None
    refused: str = ""


def ome_namespace(con: duckdb.DuckDBPyConnection) -> str:
    """Where OME is installed: the namespace of its manager, else that of a revision which it made, else `ome`."""
    found = con.execute(
        """
        SELECT namespace FROM objects
        WHERE api_group = 'apps' AND ((kind = 'Deployment' AND name = 'ome-controller-manager')
            OR (kind = 'ControllerRevision' AND contains(json::VARCHAR, '"ome-controller"')))
        ORDER BY kind DESC, namespace LIMIT 1
        """
    ).fetchone()
    return str(found[0]) if found and found[0] else DEFAULT_NAMESPACE


def evaluate(con: duckdb.DuckDBPyConnection, world: World) -> list[Evaluated]:
    """Evaluates the InferenceServices, by namespace and name."""
    home = ome_namespace(con)
    return [_evaluated(world, thing, home) for thing in world.everywhere(SERVICE)[0] if thing.whole]


def _evaluated(world: World, service: Thing, home: str) -> Evaluated:
    if not decode.service_reads(dict(service.value)):
        return Evaluated(service, None, "it does not decode as an InferenceService: a value is of the wrong type or no quantity")
    try:
        return Evaluated(service, explain(world, service, home, "-"))
    except NoComponentError:
        return Evaluated(service, None, "it has neither an engine nor a decoder")
    except candidates.TooManyRuntimesError:
        return Evaluated(service, None, f"there are more than {candidates.MAX_RUNTIMES:,} runtimes")


def rows(con: duckdb.DuckDBPyConnection, world: World, evaluated: Sequence[Evaluated]) -> Iterator[dict[str, Any]]:
    """Rows of `ome_services`."""
    told = {
        row[0]: row[1:]
        for row in con.execute("SELECT object_id, input, created_at FROM objects WHERE api_group = 'ome.io'").fetchall()
    }
    ready: dict[int, tuple[Any, ...]] = {}
    unready: dict[int, list[str]] = {}
    for object_id, idx, kind, status, reason, message, since in con.execute(
        "SELECT object_id, idx, type, status, reason, message, since FROM conditions "
        "WHERE api_group = 'ome.io' AND kind = 'InferenceService' ORDER BY object_id, idx"
    ).fetchall():
        if kind == "Ready":
            ready.setdefault(object_id, (idx, status, reason, message, since))
        elif status != "True" and kind.endswith("Ready"):
            words = f"{kind}={status}" + (f" ({reason})" if reason else "") + (f": {message.rstrip('. ')}" if message else "")
            unready.setdefault(object_id, []).append(one_line(words, 300))
    for one in evaluated:
        service = one.service
        number, created = told[service.object_id]
        idx, status, reason, message, since = ready.get(service.object_id, (None, "", None, None, None))
        failure = mapping(mapping(service.status.get("modelStatus")).get("lastFailureInfo"))
        yield {
            "object_id": service.object_id,
            "input": number,
            "namespace": service.namespace,
            "name": service.name,
            "state": _STATES.get(status, "Unknown"),
            "ready_reason": reason,
            "ready_message": message,
            "ready_path": None if idx is None else f"status.conditions[{idx}]",
            "since": since or created,
            "failure_reason": string(failure.get("reason")) or None,
            "failure_message": string(failure.get("message")) or None,
            "unready": unready.get(service.object_id, []),
            "generation": _int64(service.metadata.get("generation")),
            "observed_generation": _int64(service.status.get("observedGeneration")),
            "deployment_mode": service.annotation(candidates.DEPLOYMENT_MODE)
            or string(service.spec.get("deploymentMode"))
            or None,
            "class_annotation": _class_annotation(service),
            **_in_force(world, one),
            **_model(world, service),
        }


def _class_annotation(service: Thing) -> str | None:
    name = service.annotation(candidates.CLASS_ANNOTATION)
    return name if is_subdomain(name) else None


def _int64(value: Any) -> int:
    return integer(value) if abs(integer(value)) <= decode.MAX_INT64 else 0


def _in_force(world: World, one: Evaluated) -> dict[str, Any]:
    """What is in force, as columns."""
    outcome = one.outcome
    if outcome is None:
        return {"no_report": one.refused}
    force, report = outcome.active, outcome.report
    runtime = force.live.runtime if force.live else None
    if runtime is None and string(mapping(one.service.spec.get("runtime")).get("name")):
        runtime = find_runtime(world, one.service).thing
    source = force.source
    return {
        "freshness": report.freshness,
        "report_state": report.state,
        "active": force.state,
        "active_code": force.code or None,
        "active_why": force.why[:_MAX_WORDS] or None,
        "source_id": source.object_id if source else None,
        "source_kind": source.kind if source else None,
        "source": (f"{source.namespace}/" if source.namespace else "") + source.name if source else None,
        "pin": force.pin.mode,
        "revision_faults": list(force.faults),
        "unknown": _unknown(force.unknown),
        "assumed": force.assumed or None,
        "runtime_id": runtime.object_id if runtime else None,
    }


def _unknown(lookup: Lookup | None) -> str | None:
    return lookup.words if lookup else None


def _model(world: World, service: Thing) -> dict[str, Any]:
    """The model that a service names, as the controller looks for it: of the kind that is named, and of no other."""
    reference = mapping(service.spec.get("model"))
    name = string(reference.get("name"))
    if not name:
        return {}
    kind = string(reference.get("kind")) or CLUSTER_MODEL
    named = world.get(kind, service.namespace if kind == NAMESPACED_MODEL else "", name)
    other_kind = CLUSTER_MODEL if kind == NAMESPACED_MODEL else NAMESPACED_MODEL
    other = world.get(other_kind, service.namespace if other_kind == NAMESPACED_MODEL else "", name)
    return {
        "model_kind": kind,
        "model_name": name,
        "model_id": named.thing.object_id if named.thing else None,
        "other_model_id": other.thing.object_id if other.thing else None,
        "model_missing": named.missing,
    }


def component_rows(world: World, evaluated: Sequence[Evaluated]) -> Iterator[dict[str, Any]]:
    """Rows of `ome_components`."""
    for one in evaluated:
        if one.outcome is None:
            continue
        for component in one.outcome.report.components:
            yield _component(world, one.service, one.outcome, component)


def _component(world: World, service: Thing, outcome: Outcome, one: Component) -> dict[str, Any]:
    intent, force = one.intent, outcome.active
    declared = world.get(CLASS, "", intent.declared_class) if intent.declared_class else None
    picked: Picked | None = None
    if intent.state in ("Class", "Policy") and force.spec is not None and force.state == "Available":
        picked = pick(world, service, force.spec, intent)
    lost = outcome.unknown_classes.get(one.type)
    return {
        "object_id": service.object_id,
        "component": one.type,
        "intent": intent.state,
        "declared_class": intent.declared_class or None,
        "policy": intent.policy or None,
        "intent_path": intent.path or None,
        "selection": one.selection,
        "selected_class": one.selected or None,
        "class_state": one.class_state,
        "class_unknown": lost.words if lost else None,
        "base_state": one.base.state,
        "base_why": one.base.why[:_MAX_WORDS] or None,
        "container": one.base.container or None,
        "base": _amounts(one.base.requests),
        "effective": _amounts(one.effective),
        "declared_missing": bool(declared and declared.missing),
        "declared_unknown": declared.words if declared and declared.unknown else None,
        "picked": picked.state if picked else None,
        "picked_class": picked.thing.name if picked and picked.thing else None,
        "picked_id": picked.thing.object_id if picked and picked.thing else None,
        "picked_why": picked.why if picked else None,
    }


def _amounts(requests: Sequence[tuple[str, str]]) -> str | None:
    return ",".join(f"{name}={amount}" for name, amount in requests) or None


def issue_rows(evaluated: Sequence[Evaluated]) -> Iterator[dict[str, Any]]:
    """Rows of `ome_issues`: of what is known. Where something was not collected, what rests on it is no issue of the service."""
    for one in evaluated:
        if one.outcome is not None:
            yield from issues.rows(one.service, one.outcome)


def candidate_rows(evaluated: Sequence[Evaluated]) -> Iterator[dict[str, Any]]:
    """Rows of `ome_candidates`."""
    for one in evaluated:
        live = one.outcome.active.live if one.outcome else None
        if live is None or live.choice is None or live.choice.lost:
            continue
        for position, candidate in enumerate(live.choice.candidates[:_MAX_CANDIDATES], 1):
            yield {
                "object_id": one.service.object_id,
                "position": position,
                "runtime_id": candidate.runtime.object_id,
                "kind": candidate.runtime.kind,
                "name": candidate.runtime.name,
                "score": None if candidate.reason else _int64(candidate.score),
                "reason": candidate.reason[:_MAX_WORDS] if candidate.reason else None,
            }
