"""Which runtime KServe takes for a model, by its own rules, with every candidate and what drops it.

Source: KServe's predictor controller (`reconcileModel`, `GetSupportingRuntimes` and the sorts beside it), 0.8 to 0.20.
Before 0.12 it knows no priority, before 0.15 it does not look at workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from analyzer.facts.kserve.runtimes import CLUSTER, LOCAL, Format, Runtime

DEFAULT_PROTOCOL = "v1"
_PROTOCOLS = {"v1": 1, "v2": 2, "grpc-v1": 3, "grpc-v2": 4}
_UNKNOWN_PROTOCOL = 5
_BEGIN = datetime(1970, 1, 1)  # noqa: DTZ001 - the tables hold naive UTC

Verdict = Literal["named", "automatic", "none", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Model:
    """What a predictor asks of a runtime. `protocol` is None where spec does not say."""

    format: str
    version: str | None = None
    protocol: str | None = None
    named: str | None = None
    workers: bool = False
    model_mesh: bool = False
    controller: tuple[int, int] | None = None
    """Version of KServe's controller, None where the bundle does not say: then its rules are those of now."""

    @property
    def by_priority(self) -> bool:
        """The controller sorts by priority."""
        return self.controller is None or self.controller >= (0, 12)

    @property
    def by_workers(self) -> bool:
        """The controller looks at workerSpec."""
        return self.controller is None or self.controller >= (0, 15)


@dataclass(frozen=True, slots=True)
class Filter:
    """Why a runtime drops out: a word, a sentence without its subject, and the field that says so."""

    name: str
    words: str
    path: str = ""
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A runtime that was looked at. `runtime` is None for a named one that is not there."""

    runtime: Runtime | None
    kind: str
    name: str
    filters: tuple[Filter, ...]
    near: bool
    """It is for the format of the model."""

    @property
    def fits(self) -> bool:
        """Nothing drops it."""
        return not self.filters


@dataclass(frozen=True, slots=True)
class Choice:
    """The verdict, the runtime, why, and all that was looked at: those that fit in KServe's order, then the others."""

    verdict: Verdict
    chosen: Candidate | None
    words: str
    candidates: tuple[Candidate, ...]


def choose(model: Model, local: Sequence[Runtime], cluster: Sequence[Runtime], unknown: Sequence[str] = ()) -> Choice:
    """KServe's choice.

    Args:
        model: what the predictor asks for.
        local: the ServingRuntimes of its namespace.
        cluster: the ClusterServingRuntimes.
        unknown: the kinds of which the bundle may lack objects; with any the answer is mostly "cannot tell".
    """
    if model.named is not None:
        return _named(model, model.named, local, cluster, unknown)
    return _automatic(model, local, cluster, unknown)


def _named(model: Model, name: str, local: Sequence[Runtime], cluster: Sequence[Runtime], unknown: Sequence[str]) -> Choice:
    """A runtime of the namespace goes before one of the cluster of the same name; autoSelect, workers and models do not count."""
    own = next((one for one in local if one.name == name), None)
    found = own or next((one for one in cluster if one.name == name), None)
    if found is None:
        gone = Candidate(
            None, LOCAL, name, (Filter("missing", "does not exist, in the namespace and in the cluster"),), near=True
        )
        if unknown:
            return Choice("cannot tell", None, f"spec names {name}, which is not in the bundle, and {_lacking(unknown)}", (gone,))
        return Choice("none", None, f"spec names {name}, which does not exist", (gone,))
    candidate = Candidate(found, found.kind, found.name, tuple(_named_filters(model, found)), near=True)
    if own is None and LOCAL in unknown:
        return Choice(
            "cannot tell", None, f"a ServingRuntime {name} of the namespace would go first, and {_lacking([LOCAL])}", (candidate,)
        )
    if candidate.fits:
        return Choice("named", candidate, "spec names it, and it is enabled and serves the format", (candidate,))
    return Choice("none", None, f"spec names {name}, which {candidate.filters[0].words}", (candidate,))


def _automatic(model: Model, local: Sequence[Runtime], cluster: Sequence[Runtime], unknown: Sequence[str]) -> Choice:
    looked: list[Candidate] = []
    for kind in (local, cluster):
        for one in _base_order(kind):
            near = any(entry.name == model.format for entry in one.formats)
            looked.append(Candidate(one, one.kind, one.name, tuple(_filters(model, one)), near))
    fits = [
        candidate
        for kind in (LOCAL, CLUSTER)
        for candidate in _by_priority(model, [one for one in looked if one.fits and one.kind == kind])
    ]
    others = sorted((one for one in looked if not one.fits), key=lambda one: not one.near)
    candidates = (*fits, *others)
    if unknown:
        return Choice("cannot tell", None, _lacking(unknown), candidates)
    if not fits:
        none = "none of them fits" if looked else "the namespace has no ServingRuntime, and the cluster no ClusterServingRuntime"
        return Choice("none", None, none, candidates)
    return Choice("automatic", fits[0], _why_first(model, fits), candidates)


def _base_order(runtimes: Iterable[Runtime]) -> list[Runtime]:
    """The lowest protocol first, then the newest, then by name."""
    return sorted(runtimes, key=lambda one: (_lowest(one), -((one.created_at or _BEGIN) - _BEGIN).total_seconds(), one.name))


def _lowest(one: Runtime) -> int:
    return min((_PROTOCOLS.get(protocol, _UNKNOWN_PROTOCOL) for protocol in one.protocols), default=_UNKNOWN_PROTOCOL)


def _by_priority(model: Model, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The highest priority first, those without one last; the order before is kept."""

    def rank(candidate: Candidate) -> tuple[bool, int]:
        priority = _priority(model, candidate)
        return (priority is None, -(priority or 0))

    return sorted(candidates, key=rank)


def _priority(model: Model, candidate: Candidate) -> int | None:
    return candidate.runtime.priority(model.format) if candidate.runtime and model.by_priority else None


def _filters(model: Model, one: Runtime) -> Iterable[Filter]:
    """What drops a runtime that no spec names."""
    if one.disabled:
        yield Filter("disabled", "is disabled", "spec.disabled", "true")
    if one.multi_model != model.model_mesh:
        said = "serves many models at once (ModelMesh)" if one.multi_model else "serves one model, not many (ModelMesh)"
        yield Filter("multi-model", said, "spec.multiModel", "true" if one.multi_model else None)
    yield from _format_filters(model, one, named=False)
    yield from _protocol_filter(model.protocol or DEFAULT_PROTOCOL, one, given=model.protocol is not None)
    if not model.by_workers:
        return
    if one.workers and not model.workers:
        yield Filter("multi-node", "is for several nodes (workerSpec), which the service does not ask for", "spec.workerSpec")
    if model.workers and not one.workers:
        yield Filter("multi-node", "has no workerSpec, and the service wants several nodes")


def _named_filters(model: Model, one: Runtime) -> Iterable[Filter]:
    """What makes KServe refuse a runtime that spec names, in its order."""
    if one.disabled:
        yield Filter("disabled", "is disabled", "spec.disabled", "true")
    if model.protocol is not None:
        yield from _protocol_filter(model.protocol, one, given=True)
    yield from _format_filters(model, one, named=True)


def _protocol_filter(wanted: str, one: Runtime, *, given: bool) -> Iterable[Filter]:
    if one.protocols and wanted not in one.protocols:
        asked = f"protocol {wanted}" if given else f"protocol {wanted} (the default, since spec names none)"
        said = ", ".join(one.protocols)
        yield Filter("protocol", f"does not speak {asked} but {said}", "spec.protocolVersions[0]", one.protocols[0])


def _format_filters(model: Model, one: Runtime, *, named: bool) -> Iterable[Filter]:
    """Format and version must be equal as they are written, among entries with autoSelect unless spec names the runtime."""
    same = [entry for entry in one.formats if entry.name == model.format]
    if not same:
        listed = sorted({entry.name for entry in one.formats})
        more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
        said = f"for {', '.join(listed[:5])}{more}" if listed else "for no format"
        place = one.formats[0] if one.formats else None
        path, value = (f"{place.path}.name", place.name) if place else ("", None)
        yield Filter("format", f"is {said}, not for format {model.format}", path, value)
        return
    fitting = [entry for entry in same if model.version is None or entry.version == model.version]
    if not fitting:
        yield _version_filter(model, same)
    elif not named and not any(entry.auto for entry in fitting):
        # The entries that do fit but for autoSelect are what keeps the runtime out.
        yield Filter(
            "auto-select",
            "is not picked by itself: autoSelect is not true for this format",
            f"{fitting[0].path}.name",
            fitting[0].name,
        )


def _version_filter(model: Model, same: Sequence[Format]) -> Filter:
    versions = [entry.version or "no version" for entry in same]
    return Filter(
        "version",
        f"is for {model.format} {', '.join(versions[:5])}, not version {model.version}",
        f"{same[0].path}.{'version' if same[0].version else 'name'}",
        same[0].version or same[0].name,
    )


def _why_first(model: Model, fits: Sequence[Candidate]) -> str:
    first = fits[0]
    where = "of the namespace" if first.kind == LOCAL else "of the cluster"
    if len(fits) == 1:
        return f"it is the only one that fits ({where})"
    second = fits[1]
    if second.kind != first.kind:
        return f"of {len(fits)} that fit, those of the namespace go first"
    mine, other = _priority(model, first), _priority(model, second)
    if mine != other:
        return f"of {len(fits)} that fit, it has the highest priority for {model.format} ({mine})"
    if first.runtime and second.runtime and _lowest(first.runtime) != _lowest(second.runtime):
        return f"of {len(fits)} that fit, it speaks the lowest protocol"
    if first.runtime and second.runtime and first.runtime.created_at != second.runtime.created_at:
        return f"of {len(fits)} that fit, it is the newest"
    return f"of {len(fits)} that fit, its name comes first"


def _lacking(unknown: Sequence[str]) -> str:
    return f"the bundle may lack some {' and '.join(f'{kind}s' for kind in unknown)}"
