"""The report of `runtime effective` as text: a row a fact, the wide table, JSON and YAML, in OME's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.ome import envelope
from analyzer.ome.cells import columns, end, middle, told_apart
from analyzer.ome.runtime.effective import Effective, Reference, View
from analyzer.ome.safe import shown
from analyzer.ome.world import CLUSTER_RUNTIME, NAMESPACED_RUNTIME, REVISION, SERVICE, Thing, string
from analyzer.times import parse, rfc3339

KIND = "RuntimeEffectiveReport"
_WIDTH = 54
"""Widest value of the table."""
_CODE_WIDTH, _SPACE_WIDTH = 28, 20
_SHORT = {CLUSTER_RUNTIME: "CSR", NAMESPACED_RUNTIME: "SR"}
_WIDE = (
    "VIEW", "STATE", "REASON", "RUNTIME", "REVISION", "HASH", "COMPONENT", "MODE", "MODE-SOURCE", "PIN", "PIN-STATE", "SYNC",
    "STATUS", "DRIFT", "LIVE-RELATION", "ISSUES",
)  # fmt: skip


def render(found: Effective, form: str, collected_at: str) -> str:
    """The report in one of `envelope.FORMATS`, with a line break at its end."""
    if form in ("json", "yaml"):
        return envelope.machine(as_dict(found, collected_at), form)
    return columns(wide_rows(found) if form == "wide" else table_rows(found))


def table_rows(found: Effective) -> list[tuple[str, str, str]]:
    """The cells of the table, its head first."""
    rows = [("SCOPE", "FIELD", "VALUE")]
    rows += [("Live", *row) for row in _view_rows(found.live)]
    rows += [("Active", *row) for row in _view_rows(found.active)]
    drift = _drift(found)
    service = (
        ("PIN", f"{found.pin_mode}/{found.pin_state}"),
        ("SYNC", found.sync),
        ("STATUS", found.status),
        ("DRIFT", drift),
        ("LIVE-RELATION", found.relation),
    )
    rows += [("Service", field, end(value, _WIDTH)) for field, value in service]
    return rows + [("Service", "ISSUE", _issue(code, revision)) for code, revision in found.issues]


def context_rows(found: Effective) -> list[tuple[str, str, str]]:
    """The cells of the table that `runtime explain` puts below its own, its head first."""
    head, *rows = table_rows(found)
    selected = found.live.runtime
    told = [
        ("Service", "SELECTION", found.selection),
        ("Service", "SOURCE", _whole(selected) if selected else "-"),
        ("Source", "INHERITANCE", "Unavailable" if found.inheritance.reason else "Observed"),
    ]
    if found.inheritance.reason:
        told.append(("Source", "REASON", found.inheritance.reason))
    told += [("Source", "ROOT-FIRST", _whole(Reference(one.kind, one.namespace, one.name))) for one in found.inheritance.chain]
    return [head, *told, ("Service", "CAVEAT", "Independent snapshot; not rollout convergence"), *rows]


def _whole(runtime: Reference) -> str:
    """A runtime in one cell, cut in its middle as a whole."""
    parts = (_SHORT[runtime.kind], runtime.namespace, shown(runtime.name))
    return middle("/".join(part for part in parts if part), _WIDTH)


def _view_rows(view: View) -> Iterator[tuple[str, str]]:
    yield "STATE", _state(view)
    if view.reason:
        yield "REASON", view.reason
    if view.runtime:
        yield "RUNTIME", _short(view.runtime)
    if view.revision:
        yield "REVISION", told_apart(shown(view.revision.name), _WIDTH)
    if view.hash:
        yield "HASH", view.hash
    for one in view.modes:
        yield one.component.upper(), end(f"{one.mode} ({one.source})", _WIDTH)


def _state(view: View) -> str:
    return "Available" if view.available else "Unavailable"


def _short(runtime: Reference) -> str:
    kind = _SHORT[runtime.kind]
    if not runtime.namespace:
        return f"{kind}/{told_apart(shown(runtime.name), _WIDTH - len(kind) - 1)}"
    width = _WIDTH - len(kind) - 2 - _SPACE_WIDTH
    return f"{kind}/{told_apart(runtime.namespace, _SPACE_WIDTH)}/{told_apart(shown(runtime.name), width)}"


def _issue(code: str, revision: str) -> str:
    revision = shown(revision) if revision else ""
    text = f"{code}({revision})" if revision else code
    if len(text) <= _WIDTH:
        return text
    if not revision:
        return told_apart(code, _WIDTH)
    return f"{told_apart(code, _CODE_WIDTH)}({told_apart(revision, _WIDTH - _CODE_WIDTH - 2)})"


def _drift(found: Effective) -> str:
    return f"{found.drift}/{found.drift_cause}" if found.drift_cause else found.drift


def wide_rows(found: Effective) -> list[tuple[str, ...]]:
    """The cells of the wide table, its head first."""
    issues = ",".join(f"{code}({shown(revision)})" if revision else code for code, revision in found.issues)
    service = (found.pin_mode, found.pin_state, found.sync, found.status, _drift(found), found.relation, issues or "-")
    rows: list[tuple[str, ...]] = [_WIDE]
    for name, view in (("Live", found.live), ("Active", found.active)):
        own = view.runtime
        runtime = "/".join(part for part in (own.kind, own.namespace, shown(own.name)) if part) if own else "-"
        revision = shown(view.revision.name) if view.revision else "-"
        head = (name, _state(view), view.reason or "-", runtime, revision, view.hash or "-")
        modes = [(one.component, one.mode, one.source) for one in view.modes] or [("-", "-", "-")]
        rows += [(*head, *mode, *service) for mode in modes]
    return rows


def content_of(found: Effective) -> dict[str, Any]:
    """What the JSON form says: optional fields without a value are left out, lists are always there."""
    selected = found.live.runtime
    return {
        "selection": envelope.given({"source": found.selection}, runtime=_reference(selected) if selected else None),
        "inheritance": envelope.given(
            {
                "state": "Unavailable" if found.inheritance.reason else "Observed",
                "sources": [_thing(one) for one in found.inheritance.chain],
            },
            unavailableReason=found.inheritance.reason,
        ),
        "pin": _pin(found),
        "live": _view(found.live, "LiveRuntime"),
        "active": _view(found.active, "LiveRuntime" if found.active is found.live else REVISION),
        "liveToActive": found.relation,
        "issues": [envelope.given({"code": code}, revision=shown(revision)) for code, revision in found.issues],
    }


def as_dict(found: Effective, collected_at: str) -> dict[str, Any]:
    """The JSON form."""
    own = found.service
    content = content_of(found)
    metadata = {"namespace": own.namespace, "name": own.name}
    return envelope.envelope(KIND, metadata, collected_at, content, _sources(found, collected_at), found.warnings)


def _pin(found: Effective) -> dict[str, Any]:
    observed = found.service.status.get("observedGeneration")
    fields = envelope.given(
        {"mode": found.pin_mode, "state": found.pin_state},
        requestedRevision=shown(found.requested),
        reportedRevision=shown(found.reported),
    )
    status = {"generation": found.service.generation, "observedGeneration": observed or 0, "freshness": found.status}
    drift = envelope.given({"state": found.drift}, cause=found.drift_cause)
    return fields | {"status": status, "reportedDrift": drift, "syncState": found.sync}


def _view(view: View, origin: str) -> dict[str, Any]:
    revision = view.revision
    fields = envelope.given(
        {"state": _state(view)},
        origin=origin if view.available else "",
        source=_reference(view.runtime) if view.runtime else None,
        revision=_revision(revision.name, revision.lookup.thing) if revision else None,
        hash=view.hash,
    )
    if view.hash:
        # Only here: OME prints a hash that it has computed, this one is what the label says.
        fields["hashVerified"] = False
    fields["components"] = [
        {"type": one.component, "deploymentMode": one.mode, "deploymentModeSource": one.source} for one in view.modes
    ]
    return envelope.given(fields, unavailableReason=view.reason)


def _reference(runtime: Reference) -> dict[str, Any]:
    if runtime.thing:
        return _thing(runtime.thing)
    fields = envelope.given({"apiVersion": "ome.io/v1beta1", "kind": runtime.kind}, namespace=runtime.namespace)
    return fields | {"name": shown(runtime.name)}


def _thing(thing: Thing) -> dict[str, Any]:
    fields = envelope.given({"apiVersion": "ome.io/v1beta1", "kind": thing.kind}, namespace=thing.namespace)
    return envelope.given(
        fields | {"name": shown(thing.name)}, uid=string(thing.metadata.get("uid")), generation=thing.generation
    )


def _revision(name: str, thing: Thing | None) -> dict[str, Any]:
    if thing is None:
        return {"name": shown(name)}
    made = rfc3339(parse(thing.metadata.get("creationTimestamp")))
    return envelope.given(
        {"namespace": thing.namespace, "name": shown(name)},
        uid=string(thing.metadata.get("uid")),
        createdAt=made,
    )


def _sources(found: Effective, collected_at: str) -> list[dict[str, Any]]:
    used = {one.key: one for one in (found.service, found.resolved.model, *found.inheritance.chain) if one}
    if found.live.available and found.live.runtime and found.live.runtime.thing:
        used[found.live.runtime.thing.key] = found.live.runtime.thing
    used |= {one.lookup.thing.key: one.lookup.thing for one in found.revisions if one.lookup.thing}
    rows = [_source(one, collected_at) for one in used.values() if found.live.available or one.kind in (SERVICE, REVISION)]
    lost = found.live.runtime
    if lost and not found.live.available:
        rows.append(envelope.source(lost.kind, lost.namespace, shown(lost.name), collected_at, unavailable=found.live.reason))
    rows += [
        envelope.source(REVISION, "", shown(one.name), collected_at, unavailable=one.absence)
        for one in found.revisions
        if one.absence
    ]
    return sorted(rows, key=lambda row: (row["kind"], row.get("namespace", ""), row["name"]))


def _source(thing: Thing, collected_at: str) -> dict[str, Any]:
    generation = 0 if thing.kind == REVISION else thing.generation
    uid = string(thing.metadata.get("uid"))
    return envelope.source(thing.kind, thing.namespace, shown(thing.name), collected_at, uid=uid, generation=generation)


def notes(found: Effective) -> list[str]:
    """What the report cannot say for lack of evidence, in words: OME's command has no place for it."""
    said = []
    if found.resolved.unknown:
        said.append(f"{found.resolved.unknown.words}: the live runtime cannot be told from this bundle")
    elif found.resolved.why:
        said.append(found.resolved.why)
    if found.resolved.assumed:
        said.append(found.resolved.assumed)
    said += [one.lookup.words for one in found.revisions if one.lookup.unknown]
    if found.active.hash:
        said.append(f"hash {found.active.hash} is that on the label of the revision: it cannot be computed from a bundle")
    if found.live.available and found.active.available and found.active is not found.live:
        said.append("LIVE-RELATION is deduced from what the two specs hold, not from their hashes")
    return said
