"""Which runtime OME picks for a model where the InferenceService names none, and why the others dropped out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.ome import formats
from analyzer.ome.world import CLUSTER_RUNTIME, NAMESPACED_RUNTIME, Lookup, Thing, World, items, mapping, string

MAX_RUNTIMES = 1000
"""More runtimes than this and OME's command gives up."""

DEPLOYMENT_MODE = "ome.io/deploymentMode"
CLASS_ANNOTATION = "ome.io/accelerator-class"
_MODES = ("RawDeployment", "OMENative", "MultiNode", "VirtualDeployment")
_COMPONENTS = (("engine", "engineConfig"), ("decoder", "decoderConfig"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A runtime that was looked at. `reason` is why it dropped out, None for one that qualifies; `score` is of such.

    `supports` is true where it passed all checks of the model, whether or not it may be selected automatically.
    """

    runtime: Thing
    reason: str | None
    score: int = 0
    supports: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """All candidates, the ones that qualify first and best first, and what keeps the list from being whole."""

    candidates: tuple[Candidate, ...]
    lost: Lookup | None = None

    @property
    def chosen(self) -> Thing | None:
        """The runtime that OME picks; None where none qualifies or the list is not whole."""
        first = self.candidates[0] if self.candidates else None
        return first.runtime if first and first.reason is None and self.lost is None else None

    def count(self, kind: str) -> int:
        """How many candidates are of a kind."""
        return sum(candidate.runtime.kind == kind for candidate in self.candidates)

    def words(self, model: str, label: str, namespace: str) -> str:
        """Why none was chosen, in the words of OME's own message, with every candidate."""
        cluster, spaced = self.count(CLUSTER_RUNTIME), self.count(NAMESPACED_RUNTIME)
        text = (
            f"no runtime found to support model {model} with format {label} in namespace {namespace}. "
            f"Checked {len(self.candidates)} runtimes ({spaced} namespace-scoped, {cluster} cluster-scoped)."
        )
        excluded = "; ".join(f"{one.runtime.name} ({one.reason})" for one in self.candidates if one.reason)
        return f"{text} Excluded runtimes: {excluded}" if excluded else text


class TooManyRuntimesError(Exception):
    """There are more than `MAX_RUNTIMES` candidates."""


def choose(world: World, service: Thing, model: Thing) -> Choice:
    """Looks at every runtime that may serve a model.

    Args:
        world: the objects.
        service: the InferenceService, which names no runtime.
        model: its model.

    Raises:
        TooManyRuntimesError: OME's command would give up.
    """
    names, modes = tuple(required_classes(service)), tuple(sorted(_modes(service).items()))
    asked = (model.key, names, modes)
    return world.once(("choice", service.namespace, *asked), lambda: _choice(world, service.namespace, model, names, dict(modes)))


def _choice(world: World, namespace: str, model: Thing, names: Sequence[str], modes: Mapping[str, str]) -> Choice:
    spaced, lost = world.all(NAMESPACED_RUNTIME, namespace)
    clustered, lost_too = world.all(CLUSTER_RUNTIME)
    if len(spaced) + len(clustered) > MAX_RUNTIMES:
        raise TooManyRuntimesError
    asked = (model.key, tuple(names), tuple(sorted(modes.items())))
    shared = world.once(("candidates", *asked), lambda: [_judged(one, model.spec, names, modes) for one in clustered])
    found = [*(_judged(one, model.spec, names, modes) for one in spaced), *shared]
    found.sort(
        key=lambda one: (
            one.reason is not None,
            one.runtime.kind != NAMESPACED_RUNTIME,
            -one.score,
            0.0 if one.reason else formats.distance(one.runtime.spec, model.spec),
            one.runtime.name,
        )
    )
    return Choice(tuple(found), lost or lost_too)


def required_classes(service: Thing) -> list[str]:
    """The classes that a runtime must list to be chosen; an empty name is one that nobody lists."""
    spec = service.spec
    annotations = mapping(service.metadata.get("annotations"))
    names = [annotations[CLASS_ANNOTATION]] if CLASS_ANNOTATION in annotations else []
    selectors = [spec.get("acceleratorSelector")]
    selectors += [mapping(spec.get(part)).get("acceleratorOverride") for part, _ in _COMPONENTS]
    names += [mapping(one)["acceleratorClass"] for one in selectors if mapping(one).get("acceleratorClass") is not None]
    return list(dict.fromkeys(string(name) for name in names))


def listed_classes(spec: Mapping[str, Any]) -> list[str]:
    """The classes that a runtime lists."""
    listed = mapping(spec.get("acceleratorRequirements")).get("acceleratorClasses")
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def _modes(service: Thing) -> dict[str, str]:
    """The deployment mode that each component asks for."""
    found = {}
    for part, _ in _COMPONENTS:
        component = service.spec.get(part)
        if not isinstance(component, dict):
            continue
        mode = string(mapping(component.get("annotations")).get(DEPLOYMENT_MODE)) or string(service.spec.get("deploymentMode"))
        if mode in _MODES:
            found[part] = mode
    return found


def _judged(runtime: Thing, model: Mapping[str, Any], names: Sequence[str], modes: Mapping[str, str]) -> Candidate:
    spec = runtime.spec
    reason = _excluded(spec, model, names, modes)
    if reason:
        return Candidate(runtime, reason)
    if not selectable(spec):
        return Candidate(runtime, "no supported format has autoSelect: true", supports=True)
    score = formats.score(spec, model)
    if score <= 0:
        return Candidate(runtime, f"its score for the model is {score}", supports=True)
    return Candidate(runtime, None, score, supports=True)


def selectable(spec: Mapping[str, Any]) -> bool:
    """Whether any entry of a runtime lets it be selected automatically; it need not be the one that fits the model."""
    return any(entry.get("autoSelect") is True for entry in items(spec.get("supportedModelFormats")))


def incompatible(service: Thing, spec: Mapping[str, Any], model: Mapping[str, Any]) -> str | None:
    """Why a runtime does not pass OME's checks for an InferenceService and its model; None where it does.

    Args:
        service: the InferenceService, with the classes and modes that it asks for.
        spec: the runtime's spec.
        model: the model's spec.
    """
    return _excluded(spec, model, required_classes(service), _modes(service))


def _excluded(spec: Mapping[str, Any], model: Mapping[str, Any], names: Sequence[str], modes: Mapping[str, str]) -> str | None:
    """The first check that a runtime fails."""
    if spec.get("disabled") is True:
        return "runtime is disabled"
    listed = listed_classes(spec)
    if any(name not in listed for name in names):
        return "runtime does not support the required accelerator class"
    for part, config in _COMPONENTS:
        ours = string(mapping(mapping(spec.get(config)).get("annotations")).get(DEPLOYMENT_MODE))
        if part in modes and ours in _MODES and ours != modes[part]:
            return f"runtime {part} deployment mode {ours} does not match requested {part} deployment mode {modes[part]}"
    return formats.unsupported(spec, model)
