"""Which AcceleratorClass OME's controller must have picked for a component. It records it nowhere but in the pods.

Only what follows from the objects is told: where two classes score the same, a candidate is missing, or a weight is not
public, nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from analyzer.ome import quantity
from analyzer.ome.candidates import listed_classes
from analyzer.ome.intent import Intent
from analyzer.ome.world import CLASS, Thing, World, integer, mapping, string

State = Literal["class", "none", "missing", "unknown", "crash"]

_GIB = 2**30
_TIERS = {"low": 0, "medium": 1, "high": 2}
_MEMORY, _BANDWIDTH, _COMPUTE = Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)


@dataclass(frozen=True, slots=True)
class Picked:
    """What the controller did.

    Attributes:
        state: `class` picked one, `none` applied none, `missing` failed because the named class does not exist, `crash` hit
            the known crash of BestFit without constraints, `unknown` cannot be told.
        thing: the class.
        why: how that follows, in words.
    """

    state: State
    why: str
    thing: Thing | None = None


def pick(world: World, service: Thing, spec: Mapping[str, Any], intent: Intent) -> Picked:
    """The class that the controller must have picked for a component that asks for a class or a policy.

    Args:
        world: the objects.
        service: the InferenceService.
        spec: the runtime's spec in force.
        intent: what the component asks for.
    """
    listed = listed_classes(spec)
    if not listed:
        return Picked(
            "none", "the runtime lists no classes in acceleratorRequirements.acceleratorClasses, and OME then applies none"
        )
    if intent.declared_class:
        found = world.get(CLASS, "", intent.declared_class)
        if found.thing:
            return Picked("class", f"{intent.declared_class} is named", found.thing)
        return Picked("missing" if found.missing else "unknown", found.words)
    if intent.state != "Policy":
        return Picked("unknown", "what it asks for is not valid")
    return _by_policy(world, service, listed, intent.policy)


def _by_policy(world: World, service: Thing, listed: Sequence[str], policy: str) -> Picked:
    lookups = [world.get(CLASS, "", name) for name in dict.fromkeys(listed)]
    lost = next((lookup for lookup in lookups if lookup.thing is None), None)
    if lost:
        return Picked("unknown", lost.words)
    wanted = mapping(service.spec.get("acceleratorSelector")).get("constraints")
    limits = mapping(wanted)
    fit = [lookup.thing for lookup in lookups if lookup.thing and _passes(lookup.thing, limits)]
    if not fit:
        return Picked("none", "no class that the runtime lists passes the constraints, and OME then applies none")
    if len(fit) == 1:
        return Picked("class", f"{fit[0].name} is the only class that passes", fit[0])
    return _ranked(fit, policy, limits if isinstance(wanted, dict) else None)


def _ranked(fit: Sequence[Thing], policy: str, limits: Mapping[str, Any] | None) -> Picked:
    """The class of several that pass; `limits` is None where the service has no constraints at all."""
    if policy == "FirstAvailable":
        return Picked("class", f"{fit[0].name} is the first class listed", fit[0])
    if policy == "Cheapest":
        return _cheapest(fit)
    if policy == "MostCapable":
        return _best(fit, _capability(fit, limits or {}), "the most capable")
    if limits is None:
        return Picked("crash", "BestFit without constraints over several classes crashes the controller (OME issue 627)")
    if integer(limits.get("minComputePerformanceTFLOPS")):
        return Picked("unknown", "how BestFit weighs compute performance is not known well enough")
    return _best(fit, lambda one: _memory_fit(one, limits), "the best fit")


def _passes(one: Thing, limits: Mapping[str, Any]) -> bool:
    """Whether a class passes the constraints of the service; those of a component do not count."""
    vendor, family = string(one.spec.get("vendor")), string(one.spec.get("family"))
    held = mapping(one.spec.get("capabilities"))
    families = _texts(limits.get("architectureFamilies"))
    names = {family.lower(), f"{vendor}-{family}".lower()}
    features = {feature.lower() for feature in _texts(held.get("features"))}
    low, high = integer(limits.get("minMemory")), integer(limits.get("maxMemory"))
    memory = _memory(one)
    least = string(limits.get("minArchitectureVersion"))
    return (
        one.name not in _texts(limits.get("excludedClasses"))
        and (not families or any(wanted.lower() in names for wanted in families))
        and not (low and (memory is None or memory < low))
        and not (high and (memory is None or memory > high))
        and all(feature.lower() in features for feature in _texts(limits.get("requiredFeatures")))
        # OME compares versions as text: "10.0" comes before "9.0".
        and not (least and string(held.get("computeCapability")) < least)
    )


def _memory(one: Thing) -> int | None:
    """Memory of a class in whole GiB."""
    value = mapping(one.spec.get("capabilities")).get("memoryGB")
    parsed = quantity.parse(value) if value is not None else None
    return None if parsed is None else int(parsed.value // _GIB)


def _number(value: Any) -> Fraction | None:
    parsed = quantity.parse(value) if value is not None else None
    return None if parsed is None else parsed.value


def _cheapest(fit: Sequence[Thing]) -> Picked:
    """By the hour where any class says so, else by tokens, else by tier."""
    costs = {one.name: mapping(one.spec.get("cost")) for one in fit}

    def hourly(one: Thing) -> Fraction | None:
        spot = _number(costs[one.name].get("spotPerHour"))
        return spot if spot is not None else _number(costs[one.name].get("perHour"))

    def by_tokens(one: Thing) -> Fraction | None:
        return _number(costs[one.name].get("perMillionTokens"))

    for cost in (hourly, by_tokens):
        priced = [one for one in fit if cost(one) is not None]
        if priced:
            return _best(priced, lambda one, cost=cost: -(cost(one) or Fraction(0)), "the cheapest")  # type: ignore[misc]
    tiered = [one for one in fit if costs[one.name].get("tier")]
    if not tiered:
        return Picked("none", "no class that passes has a cost, and OME then applies none")
    return _best(tiered, lambda one: Fraction(-_TIERS.get(string(costs[one.name]["tier"]).lower(), 1)), "the cheapest by tier")


def _memory_fit(one: Thing, limits: Mapping[str, Any]) -> Fraction:
    low, memory = integer(limits.get("minMemory")), _memory(one)
    return Fraction(low, memory) if low and memory else Fraction(1)


def _capability(fit: Sequence[Thing], limits: Mapping[str, Any]) -> Callable[[Thing], Fraction]:
    """Memory, bandwidth and performance, each in parts of the most that any of the classes has."""
    preferred = (_texts(limits.get("preferredPrecisions")) or ["fp16"])[0].lower()
    field = {"fp32": "fp32Tflops", "fp16": "fp16Tflops", "fp8": "int8Tops", "int8": "int8Tops", "int4": "int4Tops"}.get(
        preferred, ""
    )

    def parts(one: Thing) -> tuple[Fraction, Fraction, Fraction]:
        held = mapping(one.spec.get("capabilities"))
        values = (held.get("memoryGB"), held.get("memoryBandwidthGBps"), mapping(held.get("performance")).get(field))
        first, second, third = (_number(value) or Fraction(0) for value in values)
        return first, second, third

    most = [max(column) or Fraction(1) for column in zip(*(parts(one) for one in fit), strict=True)]

    def score(one: Thing) -> Fraction:
        weights = zip((_MEMORY, _BANDWIDTH, _COMPUTE), parts(one), most, strict=True)
        return sum((weight * value / top for weight, value, top in weights), Fraction(0))

    return score


def _best(fit: Sequence[Thing], score: Callable[[Thing], Fraction], words: str) -> Picked:
    ranked = sorted(fit, key=score, reverse=True)
    if len(ranked) > 1 and score(ranked[0]) == score(ranked[1]):
        return Picked("unknown", f"{ranked[0].name} and {ranked[1].name} are equally good")
    return Picked("class", f"{ranked[0].name} is {words} of {len(fit)} classes", ranked[0])


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def node_selector(one: Thing) -> dict[str, str]:
    """The labels that nodes of a class have, and that its pods ask for."""
    held = mapping(mapping(one.spec.get("discovery")).get("nodeSelector"))
    return {key: value for key, value in held.items() if isinstance(value, str)}
