"""The status of an InferenceService as a page of FIELD and VALUE, in OME's words and order; wide, JSON and YAML, too."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.ome import envelope
from analyzer.ome.cells import columns, end
from analyzer.ome.status import autoscale, events, placement, summaries
from analyzer.ome.status.report import Part, Status, as_dict
from analyzer.times import rfc3339

FIELD_WIDTH, VALUE_WIDTH = 20, 57
"""Widest cells of the page."""
Row = tuple[str, str]

_DETAILS: tuple[Row, ...] = (
    ("Full safe values", "Use -o json or -o yaml"),
    ("Rollout detail", "kubectl ome rollout status NAME"),
    ("Autoscale detail", "kubectl ome autoscale status NAME"),
    ("Placement detail", "kubectl ome placement status NAME"),
    ("Traffic detail", "kubectl ome traffic status NAME"),
    ("Runtime detail", "kubectl ome runtime effective NAME"),
    ("Accelerator detail", "kubectl ome accelerator explain NAME"),
)


def render(found: Status, form: str) -> str:
    """The report in one of `envelope.FORMATS`, with a line break at its end."""
    if form in ("json", "yaml"):
        return envelope.machine(as_dict(found), form)
    return columns(rows(found, wide=form == "wide"))


def rows(found: Status, *, wide: bool) -> list[Row]:
    """The cells of the page, its head first."""
    told = [*_head(found, wide=wide), *_seen(found, wide=wide)]
    for part in found.parts:
        told += _part(part, wide=wide)
    told += [*_rollout(found, wide=wide), *_scaling(found.scaling, wide=wide), *_placed(found.placed, wide=wide)]
    told += [*_traffic(found, wide=wide), *_runtime(found.told.runtime, wide=wide)]
    told += [*_accelerator(found.told.accelerator, wide=wide)]
    for event in found.rows:
        told += _event(event, wide=wide)
    told += [("Issue", code) for code in found.issues]
    told += _DETAILS
    if wide:
        told += [
            ("Collected at", found.collected_at),
            ("Source generation", str(found.generation)),
            ("Source evidence", "Observed"),
        ]
    return [("FIELD", "VALUE"), *((end(field, FIELD_WIDTH), end(value, VALUE_WIDTH)) for field, value in told)]


def _head(found: Status, *, wide: bool) -> Iterator[Row]:
    ready = found.ready
    yield "Name", found.service.name
    yield "Namespace", found.service.namespace
    yield "Ready", f"{ready.status} / {ready.validity}"
    yield "Ready reason", ready.reason
    if wide:
        own = ready.inspection
        yield "Ready message", ready.message
        yield "Condition inspection", f"{own.state} {own.inspected}/{own.total}"
        for code in own.warnings:
            yield "Condition warning", code
    yield "Declared runtime", found.runtime
    yield "Model", found.model
    yield "Generation", f"{found.generation} observed={found.observed}; advisory Unverifiable"


def _seen(found: Status, *, wide: bool) -> Iterator[Row]:
    for field, one in (("Pod observation", found.read_pods), ("Event observation", found.read_events)):
        yield field, f"{one.state} count={one.count} truncated={_bool(one.truncated)} {one.reason}".rstrip()
    if wide:
        yield "Pod targets skipped", str(found.read_pods.skipped)
        yield "Event targets skip", str(found.read_events.skipped)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _part(part: Part, *, wide: bool) -> Iterator[Row]:
    own = part.counts
    ready = f"{part.ready.status} / {part.ready.validity}"
    yield part.name, f"{ready}; Ready pods={own.ready}/{own.total} restarts={own.restarts}"
    if wide:
        phases = f"R={own.running} P={own.pending} F={own.failed} S={own.succeeded} U={own.unknown} deleting={own.terminating}"
        yield f"{part.name} Pod total", str(own.total)
        yield f"{part.name} Pod Ready", str(own.ready)
        yield f"{part.name} restarts", str(own.restarts)
        yield f"{part.name} phases", phases
        yield f"{part.name} evidence", part.evidence


def _rollout(found: Status, *, wide: bool) -> Iterator[Row]:
    own = found.rolled
    yield "Rollout", f"{own.state} reported={own.reported}"
    yield "Rollout evidence", f"{own.evidence} / {own.epoch}"
    if wide:
        yield "Coordination Ready", own.coordination
        for code in own.issues:
            yield "Rollout issue", code
        for code in own.warnings:
            yield "Rollout warning", code


def _scaling(own: autoscale.Autoscale, *, wide: bool) -> Iterator[Row]:
    unusable = "Unavailable; parent read, no usable scaler status"
    yield "Autoscaling", unusable if own.unusable else f"{own.state} / {own.evidence} parent status"
    for row in own.components:
        current, desired = ("-" if count is None else str(count) for count in (row.current, row.desired))
        yield f"Scale {row.component}", f"{row.state} {row.scaler}/{row.manager} {current}->{desired} ({row.replicas})"
        if wide:
            yield "Scale target", f"{row.component} / {row.target}"
            yield "Scale conditions", f"{row.component} / {row.conditions}"
    if wide:
        for component, code in own.issues:
            yield "Autoscale issue", f"{component} / {code}"


def _placed(own: placement.Placement, *, wide: bool) -> Iterator[Row]:
    yield "Placement", f"{own.state} / {own.mode} / {own.phase}"
    if own.shown:
        homes = own.homes
        yield "Placement homes", f"{homes.state} {homes.kept}/{homes.total} truncated={_bool(homes.truncated)}"
        if own.cluster:
            yield "Reported cluster", own.cluster
        yield "Placement endpoint", f"{own.endpoint} (reported; not probed)"
        if own.mode == "Split":
            yield "Placement replicas", f"admitted={own.admitted} ready={own.ready} (reported)"
    if wide:
        yield "Placement evidence", f"{own.evidence} / {own.freshness}"
        yield "Placement mode", own.mode_evidence


def _traffic(found: Status, *, wide: bool) -> Iterator[Row]:
    own = found.routed
    yield "Traffic", f"{own.state} / {own.evidence} parent status"
    if wide and own.state != "Unavailable":
        yield "Traffic policy Ready", f"{own.policy} / {own.freshness}"
        yield "Traffic translator", own.translator
        yield "Traffic algorithm", own.algorithm


def _runtime(own: summaries.Runtime, *, wide: bool) -> Iterator[Row]:
    available = "Available" if own.available else "Unavailable"
    yield "Runtime active", f"{own.state} / {available} {own.reason}".rstrip()
    if wide:
        if own.available:
            yield "Active runtime name", own.name
            yield "Active runtime kind", own.kind
            yield "Active origin", own.origin
        if own.pin:
            yield "Runtime pin", own.pin
        if own.freshness:
            yield "Runtime freshness", own.freshness


def _accelerator(own: summaries.Accelerator, *, wide: bool) -> Iterator[Row]:
    yield "Accelerator", f"{own.state} / {own.evidence} {own.reason}".rstrip()
    for row in own.components:
        yield f"Accelerator {row.type}", f"{row.selection} ({row.class_state})"
        if wide:
            declared = row.intent.declared_class if row.intent.state == "Class" else ""
            yield "Declared class", " ".join(part for part in (f"{row.type} /", declared, f"({row.intent.state})") if part)


def _event(event: events.Event, *, wide: bool) -> Iterator[Row]:
    yield f"Warning {event.kind}", f"{event.name} {event.reason}".rstrip()
    if wide:
        yield "Event message", event.message
        yield "Event count", str(event.count)
        if event.last:
            yield "Event last seen", rfc3339(event.last) or ""
