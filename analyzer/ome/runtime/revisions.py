"""The pinned revisions that an InferenceService names, each with what is wrong with it in the words of `runtime effective`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from analyzer.ome import decode, pins
from analyzer.ome.world import REVISION, Lookup, Thing, World, mapping, string

_ISSUES = {
    "CreatedBy": "RevisionNotOMEManaged",
    "SourceName": "RevisionSourceMismatch",
    "SourceKind": "RevisionSourceMismatch",
    "SourceNamespace": "RevisionSourceMismatch",
    "Ordinal": "RevisionOrdinalUnexpected",
    "HashLabelInvalid": "RevisionHashInvalid",
    "NameHash": "RevisionNameMismatch",
    "PayloadCanonicality": "RevisionPayloadNonCanonical",
    "ConflictingIdentity": "ConflictingRevision",
    "DuplicateContentHash": "DuplicateRevisionContent",
    "ShortHashCollision": "RevisionHashCollision",
}
"""OME's checks of a revision → the issue that its command shows. The checks of the hash itself need Go's own rendering."""
_OF_CONTENT = ("HashLabelInvalid", "NameHash", "PayloadCanonicality")
"""Checks that rest on what a revision holds: OME does not make them where it does not decode."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision that was looked for; `spec` is None where it is not there or does not decode."""

    name: str
    lookup: Lookup
    spec: dict[str, Any] | None = None
    issues: tuple[str, ...] = ()

    @property
    def absence(self) -> str:
        """Why it could not be read, in OME's word; empty where it could."""
        if self.lookup.thing:
            return ""
        return "NotFound" if self.lookup.missing else unread(self.lookup)

    @property
    def disabled(self) -> bool:
        """The runtime in it is disabled."""
        return self.spec is not None and self.spec.get("disabled") is True

    @property
    def hash(self) -> str:
        """The hash on its label, empty where that cannot be one or does not fit its name. It is not verified."""
        thing = self.lookup.thing
        wrong = {"RevisionHashInvalid", "RevisionNameMismatch", "RevisionHashCollision"}
        return thing.label(pins.REVISION_HASH) if thing and not wrong.intersection(self.issues) else ""


def unread(lookup: Lookup | None) -> str:
    """OME's word for an object that may be there and could not be read."""
    return "Forbidden" if lookup and lookup.absence == "forbidden" else "Unreadable"


def named(world: World, service: Thing, ome_namespace: str) -> tuple[Revision, ...]:
    """The revision that the spec asks for and the one that the status reports, each once; none where no runtime is named.

    Args:
        world: the objects.
        service: the InferenceService.
        ome_namespace: where OME keeps revisions.
    """
    reference = mapping(service.spec.get("runtime"))
    runtime = string(reference.get("name"))
    if not runtime:
        return ()
    names = (string(reference.get("revision")), string(service.status.get("pinnedRevisionName")))
    found = [
        _read(world, world.get(REVISION, ome_namespace, name), name, service, runtime) for name in dict.fromkeys(names) if name
    ]
    return _compared(found)


def _read(world: World, lookup: Lookup, name: str, service: Thing, runtime: str) -> Revision:
    thing = lookup.thing
    if thing is None:
        return Revision(name, lookup, issues=("RevisionNotFound" if lookup.missing else "RevisionUnavailable",))
    data = thing.value.get("data")
    faults = pins.faults_of(world, thing, service, runtime)
    if not isinstance(data, dict) or not decode.runtime_reads(data):
        issues = [_ISSUES[fault] for fault in faults if fault not in _OF_CONTENT]
        return Revision(name, lookup, None, tuple(dict.fromkeys((*issues, "RevisionPayloadMalformed"))))
    issues = [_ISSUES[fault] for fault in faults]
    if data.get("disabled") is True:
        issues.append("RevisionDisabled")
    return Revision(name, lookup, data, tuple(dict.fromkeys(issues)))


def _compared(found: Sequence[Revision]) -> tuple[Revision, ...]:
    if len(found) == 2:
        one, other = found
        if one.spec is not None and other.spec is not None and one.lookup.thing:
            more = tuple(_ISSUES[fault] for fault in pins.clashes(one.lookup.thing, other.lookup.thing))
            return tuple(replace(revision, issues=(*revision.issues, *more)) for revision in found)
    return tuple(found)
