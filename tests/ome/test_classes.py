"""The class that the controller must have picked."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.ome.classes import Picked, pick
from analyzer.ome.intent import intent_of
from analyzer.ome.world import Thing, World
from tests.ome.pond import service, thing


def klass(name: str, memory: str = "80Gi", **spec: Any) -> Thing:
    return thing(
        "AcceleratorClass", name, spec={"vendor": "pond", "family": "marsh", "capabilities": {"memoryGB": memory}} | spec
    )


def picked(selector: dict[str, Any], *classes: Thing, listed: list[str] | None = None) -> Picked:
    own = service(acceleratorSelector=selector)
    names = [one.name for one in classes] if listed is None else listed
    spec = {"acceleratorRequirements": {"acceleratorClasses": names}}
    return pick(World.of(classes, lambda _kind, _namespace: "not-found"), own, spec, intent_of(own, "engine"))


def name(found: Picked) -> str:
    return found.thing.name if found.thing else found.state


BIG, SMALL = klass("big", "141Gi"), klass("small", "40Gi")


@pytest.mark.parametrize(
    ("selector", "classes", "wanted"),
    [
        ({"acceleratorClass": "small"}, [BIG, SMALL], "small"),
        ({"acceleratorClass": "none"}, [BIG, SMALL], "missing"),
        ({"policy": "FirstAvailable"}, [BIG, SMALL], "big"),
        ({"policy": "FirstAvailable", "constraints": {"maxMemory": 80}}, [BIG, SMALL], "small"),
        ({"policy": "BestFit"}, [BIG, SMALL], "crash"),
        ({"policy": "BestFit"}, [BIG], "big"),
        ({"policy": "BestFit", "constraints": {"minMemory": 40}}, [BIG, SMALL], "small"),
        ({"policy": "BestFit", "constraints": {}}, [BIG, SMALL], "unknown"),
        ({"policy": "MostCapable"}, [SMALL, BIG], "big"),
        ({"policy": "Cheapest"}, [BIG, SMALL], "none"),
        ({"policy": "Cheapest"}, [klass("a", cost={"perHour": "3"}), klass("b", cost={"perHour": "9", "spotPerHour": "1"})], "b"),
        ({"policy": "Cheapest"}, [klass("a", cost={"tier": "high"}), klass("b", cost={"tier": "low"})], "b"),
        ({"policy": "Cheapest"}, [klass("a", cost={"tier": "odd"}), klass("b", cost={"tier": "medium"})], "unknown"),
        ({"policy": "FirstAvailable", "constraints": {"excludedClasses": ["big", "small"]}}, [BIG, SMALL], "none"),
        ({"policy": "FirstAvailable", "constraints": {"architectureFamilies": ["POND-Marsh"]}}, [BIG, SMALL], "big"),
        ({"policy": "FirstAvailable", "constraints": {"architectureFamilies": ["heath"]}}, [BIG, SMALL], "none"),
        ({"policy": "FirstAvailable", "constraints": {"requiredFeatures": ["fp8"]}}, [BIG], "none"),
    ],
)
def test_policies(selector: dict[str, Any], classes: list[Thing], wanted: str) -> None:
    assert name(picked(selector, *classes)) == wanted


def test_versions_of_architectures_are_compared_as_text() -> None:
    new, old = klass("new", capabilities={"computeCapability": "10.0"}), klass("old", capabilities={"computeCapability": "9.0"})
    assert name(picked({"policy": "FirstAvailable", "constraints": {"minArchitectureVersion": "9.0"}}, new, old)) == "old"


def test_a_runtime_without_classes_and_a_candidate_that_is_missing() -> None:
    assert picked({"acceleratorClass": "big"}, BIG, listed=[]).state == "none"
    assert picked({"policy": "FirstAvailable"}, BIG, listed=["big", "gone"]).state == "unknown"
