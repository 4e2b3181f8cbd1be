"""What a component asks for: a class, a policy, or nothing (OME's accelerator selector)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.ome.names import is_subdomain
from analyzer.ome.world import Thing, mapping, string

POLICIES = ("BestFit", "Cheapest", "MostCapable", "FirstAvailable")

State = Literal["Class", "Policy", "NotConfigured", "Invalid"]
Where = Literal["Component", "Service"]


@dataclass(frozen=True, slots=True)
class Intent:
    """The class and the policy that count, each with where it stands; empty where there is none that is valid.

    `path` is where the value that counts stands in the InferenceService. `issues` are DeclaredClassInvalid and PolicyInvalid.
    """

    state: State
    declared_class: str = ""
    class_source: Where | None = None
    policy: str = ""
    policy_source: Where | None = None
    issues: tuple[str, ...] = ()
    path: str = ""


def intent_of(service: Thing, component: str) -> Intent:
    """What a component asks for: its own override first, then the service's selector; a class goes before a policy."""
    override = mapping(mapping(service.spec.get(component)).get("acceleratorOverride"))
    selector = mapping(service.spec.get("acceleratorSelector"))
    places: tuple[tuple[Where, str], ...] = (
        ("Component", f"spec.{component}.acceleratorOverride"),
        ("Service", "spec.acceleratorSelector"),
    )
    held = (override, selector)
    state: State = "NotConfigured"
    name, class_source, policy, policy_source, path = "", None, "", None, ""
    issues: list[str] = []
    classed = next((index for index, one in enumerate(held) if one.get("acceleratorClass") is not None), None)
    if classed is not None:
        path = f"{places[classed][1]}.acceleratorClass"
        if is_subdomain(held[classed]["acceleratorClass"]):
            state, name, class_source = "Class", held[classed]["acceleratorClass"], places[classed][0]
        else:
            state = "Invalid"
            issues.append("DeclaredClassInvalid")
    wished = next((index for index, one in enumerate(held) if string(one.get("policy"))), None)
    if wished is not None:
        path = path or f"{places[wished][1]}.policy"
        if held[wished]["policy"] in POLICIES:
            policy, policy_source = held[wished]["policy"], places[wished][0]
            state = "Policy" if classed is None else state
        else:
            state = "Invalid"
            issues.append("PolicyInvalid")
    return Intent(state, name, class_source, policy, policy_source, tuple(issues), path)
