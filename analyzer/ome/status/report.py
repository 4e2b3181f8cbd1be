"""The status of an InferenceService put together from its sections, and its JSON form (`StatusReport`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from analyzer.ome import ask, envelope, safe
from analyzer.ome.report import Component
from analyzer.ome.runtime import views
from analyzer.ome.source import Source
from analyzer.ome.status import autoscale, conditions, events, placement, pods, rollout, rollout_plan, summaries, traffic
from analyzer.ome.world import COMPONENTS, SERVICE, Thing, integer, mapping
from analyzer.times import rfc3339

KIND = "StatusReport"
MAX_ISSUES = 64
"""Issues that the report holds; each pod and each event counts."""
_LIMIT = "CollectionLimitExceeded"
_CONDITION = {"engine": "EngineReady", "decoder": "DecoderReady", "router": "RouterReady"}


@dataclass(frozen=True, slots=True)
class Part:
    """A component: what its condition says, and its pods."""

    name: str
    ready: conditions.Ready
    counts: pods.Counts
    evidence: str


@dataclass(frozen=True, slots=True)
class Status:
    """All sections. `issues` are codes, `notes` say in words what the page cannot say for lack of evidence."""

    service: Thing
    collected_at: str
    ready: conditions.Ready
    runtime: str
    model: str
    generation: int
    observed: int
    parts: tuple[Part, ...]
    read_pods: pods.Observation
    read_events: pods.Observation
    rows: tuple[events.Event, ...]
    rolled: rollout.Rollout
    scaling: autoscale.Autoscale
    placed: placement.Placement
    routed: traffic.Traffic
    told: summaries.Summaries
    issues: tuple[str, ...]
    notes: tuple[str, ...]


def status_of(source: Source, service: Thing, ome_namespace: str) -> Status:
    """Evaluates one InferenceService.

    Args:
        source: the bundle, read around the namespace of the service.
        service: the InferenceService, which decodes.
        ome_namespace: where OME keeps pinned revisions.
    """
    world, now = source.world, source.collected_at
    held = pods.pods_of(world, service)
    seen = events.events_of(world, service, held.accepted, now)
    small = rollout_plan.within_limits(service)
    scaling, placed = autoscale.autoscale_of(service), placement.placement_of(service)
    told = summaries.summaries(world, service, ome_namespace, source.stamp)
    generation, observed = service.generation, integer(service.status.get("observedGeneration"))
    issues = _limited(held, seen, small=small, scaled=not scaling.too_large)
    issues |= {"PlacementUnavailable"} if placed.unavailable else set()
    issues |= {"InvalidGeneration"} if min(generation, observed) < 0 else set()
    return Status(
        service,
        source.stamp,
        conditions.ready(service, "Ready", now),
        safe.name(mapping(service.spec.get("runtime")).get("name")),
        safe.name(mapping(service.spec.get("model")).get("name")),
        max(generation, 0),
        max(observed, 0),
        tuple(_parts(service, held, source)),
        held.observation,
        seen.observation,
        seen.rows,
        rollout.rollout_of(service) if small else rollout.TOO_LARGE,
        scaling,
        placed,
        traffic.traffic_of(service),
        told,
        tuple(sorted(issues)),
        tuple(_notes(source, held, seen, told)),
    )


def _limited(held: pods.Pods, seen: events.Events, *, small: bool, scaled: bool) -> set[str]:
    """The issues of what was read; where they are more than OME's report holds only that is said."""
    # OME notes what is wrong with a pod when it reads and again when it counts, that a pod is of no component only once.
    once = held.issues.get("UnsupportedComponent", 0)
    count = 2 * sum(held.issues.values()) - once + sum(seen.issues.values()) + 2 * (not small) + 2 * (not scaled)
    if count > MAX_ISSUES:
        return {_LIMIT}
    found = {*held.issues, *seen.issues}
    found |= set() if small else {_LIMIT, "RolloutUnavailable"}
    return found | (set() if scaled else {_LIMIT, "AutoscaleUnavailable"})


def _parts(service: Thing, held: pods.Pods, source: Source) -> Iterator[Part]:
    evidence = "Unavailable" if held.observation.state == "Unavailable" else "Observed"
    for name in COMPONENTS:
        mine = held.of(name)
        if mine or isinstance(service.spec.get(name), dict):
            yield Part(name, conditions.ready(service, _CONDITION[name], source.collected_at), pods.counts(mine), evidence)


def _notes(source: Source, held: pods.Pods, seen: events.Events, told: summaries.Summaries) -> Iterator[str]:
    for lost in (held.lost, seen.lost):
        if lost:
            yield lost.words
    if told.effective:
        yield from views.notes(told.effective)
    yield from ask.undated(source)


def as_dict(found: Status) -> dict[str, Any]:
    """The JSON form: optional fields without a value are left out, lists are always there."""
    own = found.service
    content = {
        "ready": _ready(found.ready),
        **envelope.given({}, runtime=found.runtime, model=found.model),
        "generation": found.generation,
        "observedGeneration": found.observed,
        "generationFreshness": "Unverifiable",
        "components": [_part(part) for part in found.parts],
        "pods": _observation(found.read_pods),
        "events": _observation(found.read_events),
        "recentEvents": [_event(event) for event in found.rows],
        "rollout": _rollout(found.rolled),
        "autoscale": _scaling(found.scaling),
        "placement": _placed(found.placed),
        "traffic": _traffic(found.routed),
        "runtimeSummary": _runtime(found.told.runtime),
        "accelerator": _accelerator(found.told.accelerator),
        "issues": list(found.issues),
    }
    metadata = {"namespace": own.namespace, "name": own.name}
    used = envelope.source(SERVICE, own.namespace, own.name, found.collected_at, generation=found.generation)
    return envelope.envelope(KIND, metadata, found.collected_at, content, [used])


def _ready(ready: conditions.Ready) -> dict[str, Any]:
    own = ready.inspection
    fields = envelope.given({"status": ready.status, "validity": ready.validity}, reason=ready.reason, message=ready.message)
    inspection = {"state": own.state, "total": own.total, "inspected": own.inspected, "warnings": list(own.warnings)}
    return fields | {"inspection": inspection}


def _part(part: Part) -> dict[str, Any]:
    ready = {"type": part.name, "ready": part.ready.status, "validity": part.ready.validity}
    return ready | {"pods": asdict(part.counts), "evidence": part.evidence}


def _observation(one: pods.Observation) -> dict[str, Any]:
    fields = envelope.given({"state": one.state}, reason=one.reason)
    return fields | {"observed": one.count, "truncated": one.truncated, "skippedTargets": one.skipped}


def _event(event: events.Event) -> dict[str, Any]:
    fields: dict[str, Any] = envelope.given(
        {"kind": event.kind, "name": event.name}, reason=event.reason, message=event.message
    ) | {"count": event.count}
    return envelope.given(fields, lastSeen=rfc3339(event.last))


def _rollout(one: rollout.Rollout) -> dict[str, Any]:
    summary = {
        "state": one.state,
        "reportedState": one.reported,
        "evidence": one.evidence,
        "epoch": one.epoch,
        "coordinationReady": one.coordination,
    }
    return {"summary": summary, "issues": list(one.issues), "warnings": list(one.warnings)}


def _scaling(one: autoscale.Autoscale) -> dict[str, Any]:
    return {
        "summary": {"state": one.state},
        "evidence": one.evidence,
        "components": [_scale(row) for row in one.components],
        "issues": [envelope.given({"code": code}, component=component) for component, code in one.issues],
    }


def _scale(row: autoscale.Scale) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": row.component,
        "state": row.state,
        "class": row.scaler,
        "managedBy": row.manager,
        "targetEvidence": row.target,
        "replicaEvidence": row.replicas,
        "conditionEvidence": row.conditions,
    }
    counts = {"currentReplicas": row.current, "desiredReplicas": row.desired}
    return fields | {name: count for name, count in counts.items() if count is not None}


def _placed(one: placement.Placement) -> dict[str, Any]:
    fields: dict[str, Any] = envelope.given(
        {"state": one.state, "mode": one.mode, "modeEvidence": one.mode_evidence, "phase": one.phase},
        reportedCluster=one.cluster,
    )
    return fields | {
        "candidates": asdict(one.homes),
        "endpointState": one.endpoint,
        "admittedReplicas": _count(one.admitted),
        "readyReplicas": _count(one.ready),
        "evidence": one.evidence,
        "freshness": one.freshness,
    }


def _count(word: str) -> dict[str, Any]:
    return {"value": int(word), "state": "Reported"} if word.isdecimal() else {"state": word}


def _traffic(one: traffic.Traffic) -> dict[str, Any]:
    optional = {
        "translator": one.translator,
        "algorithm": one.algorithm,
        "policyReady": one.policy,
        "policyFreshness": one.freshness,
    }
    return envelope.given({"state": one.state}, **optional) | {"evidence": one.evidence}


def _runtime(one: summaries.Runtime) -> dict[str, Any]:
    fields = envelope.given(
        {"state": one.state}, reason=one.reason, activeName=one.name, activeKind=one.kind, activeOrigin=one.origin
    ) | {"activeState": "Available" if one.available else "Unavailable"}
    return envelope.given(fields, pinState=one.pin, statusFreshness=one.freshness) | {"evidence": one.evidence}


def _accelerator(one: summaries.Accelerator) -> dict[str, Any]:
    fields = envelope.given({"state": one.state}, reason=one.reason, statusFreshness=one.freshness)
    return fields | {"evidence": one.evidence, "components": [_component(row) for row in one.components]}


def _component(row: Component) -> dict[str, Any]:
    declared = row.intent.declared_class if row.intent.state == "Class" else ""
    fields = envelope.given({"type": row.type, "intent": row.intent.state}, declaredClass=declared)
    return envelope.given(fields | {"selection": row.selection}, selectedClass=row.selected) | {"class": row.class_state}
