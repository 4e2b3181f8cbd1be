"""The runtime configuration that an InferenceService would get now, without regard to a pin (OME's command line)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.ome import candidates, decode, formats, inherit
from analyzer.ome.world import (
    CLUSTER_MODEL,
    CLUSTER_RUNTIME,
    NAMESPACED_MODEL,
    NAMESPACED_RUNTIME,
    Lookup,
    Thing,
    World,
    mapping,
    string,
)

Outcome = Literal["available", "notFound", "disabled", "unreadable"]


@dataclass(frozen=True, slots=True)
class Live:
    """What came of resolving the runtime.

    Attributes:
        outcome: as OME's command tells it: `unreadable` is everything but a runtime that is there, missing or disabled.
        why: in words, empty where it is available.
        code: what is wrong, for findings: model-missing, model-disabled, no-runtime, runtime-missing…
        runtime: the runtime object, where one was found.
        spec: its spec, with what it inherits where it was named.
        unknown: what was not collected, so that the outcome is not known to us though OME knows it.
        choice: the candidates, where no runtime is named.
        model: the model object.
    """

    outcome: Outcome
    why: str = ""
    code: str = ""
    runtime: Thing | None = None
    spec: Mapping[str, Any] | None = None
    unknown: Lookup | None = None
    choice: candidates.Choice | None = None
    model: Thing | None = None
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """The model of an InferenceService, or why there is none; `assumed` tells what was taken for granted on the way."""

    thing: Thing | None
    lookup: Lookup | None = None
    assumed: str = ""


def model_of(world: World, service: Thing) -> Model:
    """The model as OME's command finds it: a BaseModel of the namespace first, whatever kind is named.

    Where the BaseModels of the namespace were not collected and the service asks for a ClusterBaseModel, that one is taken,
    as the controller does, and it is said so.
    """
    reference = mapping(service.spec.get("model"))
    name = string(reference.get("name"))
    spaced = world.get(NAMESPACED_MODEL, service.namespace, name)
    if spaced.thing:
        return Model(spaced.thing)
    clustered = world.get(CLUSTER_MODEL, "", name)
    wants_cluster = string(reference.get("kind")) in ("", CLUSTER_MODEL)
    if not spaced.missing:
        if spaced.absence == "not-collected" and wants_cluster and clustered.thing:
            return Model(clustered.thing, None, f"{spaced.words}; {clustered.thing}, which the service names, was taken")
        return Model(None, spaced)
    return Model(clustered.thing, clustered)


def resolve(world: World, service: Thing) -> Live:
    """Resolves the model and the runtime of an InferenceService.

    Raises:
        candidates.TooManyRuntimesError: OME's command would give up.
    """
    spec = service.spec
    model, assumed = None, ""
    name = string(mapping(spec.get("runtime")).get("name"))
    if isinstance(spec.get("model"), dict):
        found = model_of(world, service)
        model, assumed = found.thing, found.assumed
        if model is None:
            lookup = found.lookup
            return _lost(lookup, "model-missing") if lookup else Live("unreadable", "it names no model", "model-missing")
        if model.spec.get("disabled") is True:
            return Live("unreadable", f"{model} is disabled", "model-disabled", model=model)
    elif not name:
        return Live("unreadable", "it names neither a model nor a runtime", "nothing-named")
    live = _named(world, service, model) if name else _selected(world, service, model)
    if live.outcome == "available" and not isinstance(spec.get("engine"), dict):
        return _with(live, "unreadable", "it has no engine", "engine-missing", assumed)
    return _with(live, live.outcome, live.why, live.code, assumed)


def _with(live: Live, outcome: Outcome, why: str, code: str, assumed: str) -> Live:
    return Live(outcome, why, code, live.runtime, live.spec, live.unknown, live.choice, live.model, assumed)


def _lost(lookup: Lookup, code: str, model: Thing | None = None) -> Live:
    return Live("unreadable", lookup.words, code, unknown=lookup if lookup.unknown else None, model=model)


def find_runtime(world: World, service: Thing) -> Lookup:
    """The runtime that an InferenceService names, in the scopes that its kind permits."""
    reference = mapping(service.spec.get("runtime"))
    name, kind = string(reference.get("name")), reference.get("kind", CLUSTER_RUNTIME)
    spaced = (NAMESPACED_RUNTIME, service.namespace)
    clustered = (CLUSTER_RUNTIME, "")
    if kind == NAMESPACED_RUNTIME:
        order = [spaced]
    elif kind in (CLUSTER_RUNTIME, None):
        order = [clustered, spaced]
    else:
        order = [spaced, clustered]
    found = world.get(*order[0], name)
    for scope in order[1:]:
        if found.missing:
            found = world.get(*scope, name)
    first = world.get(*order[0], name)
    # Where no scope has it, the first one is the one that it was looked for in.
    return first if found.missing else found


def _named(world: World, service: Thing, model: Thing | None) -> Live:
    found = find_runtime(world, service)
    runtime = found.thing
    if found.missing:
        return Live("notFound", f"{found.words}", "runtime-missing", model=model)
    if runtime is None:
        return _lost(found, "runtime-unreadable", model)
    chain = inherit.resolve(world, runtime)
    if chain.spec is None:
        unknown = chain.lost if chain.lost and chain.lost.unknown else None
        return Live("unreadable", chain.fault, f"inheritance-{chain.code}", runtime, unknown=unknown, model=model)
    outcome, why, code = _merged_fault(world, service, chain, model)
    return Live(outcome, why, code, runtime, chain.spec, model=model)


def _merged_fault(world: World, service: Thing, chain: inherit.Chain, model: Thing | None) -> tuple[Outcome, str, str]:
    """What is wrong with a runtime that was found and merged: the outcome, why, and our word for it."""
    runtime, spec = chain.runtimes[0], chain.spec or {}
    if not all(_reads(world, one) for one in chain.runtimes):
        return "unreadable", f"the spec of {runtime} or of a parent does not decode", "runtime-malformed"
    if spec.get("disabled") is True:
        return "disabled", f"{runtime} is disabled", "runtime-disabled"
    if model and _is_sharded(model) and _auto_sync(service):
        reason = formats.unsupported(spec, model.spec)
        if reason:
            return "unreadable", f"{model} is sharded and {runtime.name} does not support it: {reason}", "model-sharded"
    return "available", "", ""


def _reads(world: World, runtime: Thing) -> bool:
    return world.once(("reads", runtime.key), lambda: decode.runtime_reads(runtime.value.get("spec")))


def _is_sharded(model: Thing) -> bool:
    return model.spec.get("distribution") == "Sharded"


def _auto_sync(service: Thing) -> bool:
    return mapping(service.spec.get("runtime")).get("autoSync") is not False


def _selected(world: World, service: Thing, model: Thing | None) -> Live:
    if model is None:
        return Live("unreadable", "it names neither a model nor a runtime", "nothing-named")
    choice = candidates.choose(world, service, model)
    malformed = next((one.runtime for one in choice.candidates if not _reads(world, one.runtime)), None)
    if malformed:
        return Live("unreadable", f"the spec of {malformed} does not decode", "runtime-malformed", choice=choice, model=model)
    if choice.lost:
        return Live("unreadable", choice.lost.words, "runtime-unreadable", unknown=choice.lost, choice=choice, model=model)
    runtime = choice.chosen
    if runtime is None:
        words = choice.words(model.name, formats.label(model.spec), service.namespace)
        return Live("unreadable", words, "no-runtime", choice=choice, model=model)
    return Live("available", "", "", runtime, runtime.spec, choice=choice, model=model)
