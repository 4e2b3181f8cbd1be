"""Pinned runtime revisions: ControllerRevisions in OME's namespace, and whether one is consistent with what it claims to be.

The hash of a revision is taken over Go's own rendering of the spec. A bundle holds it with its keys in another order, so that
the hash cannot be computed from it: names are checked against the hash on the label, and the hash stays unverified.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.ome import decode
from analyzer.ome.names import is_revision_hash
from analyzer.ome.world import CLUSTER_RUNTIME, NAMESPACED_RUNTIME, REVISION, Lookup, Thing, World, mapping, string

RUNTIME_OF = "ome.io/runtime-of"
RUNTIME_KIND = "ome.io/runtime-of-kind"
RUNTIME_NAMESPACE = "ome.io/runtime-of-namespace"
REVISION_HASH = "ome.io/revision-hash"
CREATED_BY = "ome.io/created-by"
CONTROLLER = "ome-controller"

Mode = Literal["AutoSync", "InvalidPin", "ExplicitPin", "ManagedPin"]

_KINDS = (CLUSTER_RUNTIME, NAMESPACED_RUNTIME)


@dataclass(frozen=True, slots=True)
class Pin:
    """What an InferenceService says of the revision that it is to run: the mode, and the name of the revision, empty for none."""

    mode: Mode
    revision: str


NONE = Pin("AutoSync", "")
"""No pin."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A revision that was looked up. Without a `spec` nothing is in force, and `why` and `code` say why.

    `faults` are the checks of consistency that fail (OME's names of them).
    """

    lookup: Lookup
    spec: dict[str, Any] | None = None
    faults: tuple[str, ...] = ()
    why: str = ""
    code: str = ""


def pin_of(service: Thing) -> Pin:
    """How an InferenceService is pinned."""
    reference = mapping(service.spec.get("runtime"))
    if not string(reference.get("name")) or reference.get("autoSync") is not False:
        return Pin("AutoSync", "")
    kind = reference.get("kind")
    if kind is not None and kind not in _KINDS:
        return Pin("InvalidPin", "")
    explicit = string(reference.get("revision"))
    if explicit:
        return Pin("ExplicitPin", explicit)
    return Pin("ManagedPin", string(service.status.get("pinnedRevisionName")))


def read(world: World, service: Thing, pin: Pin, ome_namespace: str) -> Pinned:
    """Reads the revision of a pin that names one, and checks it."""
    lookup = world.get(REVISION, ome_namespace, pin.revision)
    if lookup.thing is None:
        return Pinned(lookup, why=lookup.words, code="revision-missing" if lookup.missing else "revision-unreadable")
    revision, runtime = lookup.thing, string(mapping(service.spec.get("runtime")).get("name"))
    data = revision.value.get("data")
    if not isinstance(data, dict) or not decode.runtime_reads(data):
        return Pinned(lookup, why=f"the data of {revision} does not decode as the spec of a runtime", code="revision-malformed")
    if pin.mode == "ExplicitPin" and revision.label(RUNTIME_OF) != runtime:
        return Pinned(lookup, why=f"{revision} is a revision of another runtime than {runtime}", code="revision-of-another")
    if data.get("disabled") is True:
        return Pinned(lookup, why=f"the runtime in {revision} is disabled", code="revision-disabled")
    faults = faults_of(world, revision, service, runtime)
    reported = string(service.status.get("pinnedRevisionName"))
    if reported and reported != pin.revision:
        faults += clashes(revision, world.get(REVISION, ome_namespace, reported).thing)
    return Pinned(lookup, data, faults)


def faults_of(world: World, revision: Thing, service: Thing, runtime: str) -> tuple[str, ...]:
    """The checks that a revision fails, in OME's order.

    Args:
        world: the objects.
        revision: the revision.
        service: the InferenceService that names it.
        runtime: the runtime that the service names.
    """
    kind = mapping(service.spec.get("runtime")).get("kind")
    # A kind that is none of OME's declares nothing that a revision could differ from.
    declared = kind is None or kind in _KINDS
    kind = kind or CLUSTER_RUNTIME
    expected = service.namespace if kind == NAMESPACED_RUNTIME else ""
    source, source_kind = revision.label(RUNTIME_OF), revision.label(RUNTIME_KIND)
    namespace, digest = revision.label(RUNTIME_NAMESPACE), revision.label(REVISION_HASH)
    name = f"r-{namespace}-{source}-{digest}" if source_kind == NAMESPACED_RUNTIME else f"cr-{source}-{digest}"
    valid_hash = is_revision_hash(digest)
    placed = source_kind in _KINDS and bool(namespace) == (source_kind == NAMESPACED_RUNTIME)
    number = revision.value.get("revision")
    data = revision.value.get("data")
    checks = (
        ("CreatedBy", revision.annotation(CREATED_BY) == CONTROLLER),
        ("SourceName", bool(source) and source == runtime),
        ("SourceKind", source_kind in _KINDS and (not declared or source_kind == kind)),
        ("SourceNamespace", placed and (not declared or namespace == expected)),
        ("HashLabelInvalid", valid_hash),
        ("NameHash", not (valid_hash and source and placed) or revision.name == name),
        ("Ordinal", isinstance(number, int) and not isinstance(number, bool) and number == 1),
        ("PayloadCanonicality", not isinstance(data, dict) or _FIELDS.issuperset(data)),
        ("ConflictingIdentity", revision.key not in world.twice),
    )
    return tuple(fault for fault, holds in checks if not holds)


_FIELDS = {
    "supportedModelFormats", "modelSizeRange", "disabled", "routerConfig", "engineConfig", "decoderConfig", "protocolVersions",
    "containers", "volumes", "nodeSelector", "affinity", "tolerations", "labels", "annotations", "imagePullSecrets",
    "schedulerName", "hostIPC", "dnsPolicy", "hostNetwork", "scalingPolicy", "acceleratorRequirements",
}  # fmt: skip
"""What OME (v1.3) knows in the spec of a runtime: a revision with anything else is not as OME wrote it."""


def clashes(one: Thing, other: Thing | None) -> tuple[str, ...]:
    """What two revisions that are read together must not have in common."""
    if other is None:
        return ()
    if _text(one) == _text(other):
        return ("DuplicateContentHash",)
    if one.label(REVISION_HASH) and one.label(REVISION_HASH) == other.label(REVISION_HASH):
        return ("ShortHashCollision",)
    return ()


def _text(revision: Thing) -> str:
    return json.dumps(revision.value.get("data"), sort_keys=True, default=str)
