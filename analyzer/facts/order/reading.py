"""Reading an order's conditions: the first that is not True is what is wrong, those after it are its consequences.

The state says that something is wrong, the conditions say what. `LaunchPlanInForce` is no fault whatever its status: the order
serves on the plan that it holds. `ScalingHealthy` is about growth and stands apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from analyzer.facts.order.reasons import PERMANENT, PLAN_IN_FORCE
from analyzer.facts.order.shapes import READING, SCALING, Said
from analyzer.facts.order.world import Order


@dataclass(frozen=True, slots=True)
class Reading:
    """What an order's conditions say."""

    root: Said | None
    """The first that is not True."""
    consequences: tuple[Said, ...]
    """Later ones that are not True either."""
    in_force: Said | None
    """The condition that says that the old plan is in force."""
    growth: Said | None
    """ScalingHealthy, where it says that growth is not well."""


@dataclass(frozen=True, slots=True)
class State:
    """The state of an order; `deduced` where it gives none itself."""

    name: str
    reason: str | None
    message: str | None
    since: datetime | None
    deduced: bool = False


def read(order: Order) -> Reading:
    """The reading of one order's conditions."""
    found = [said for kind in READING if (said := order.condition(kind))]
    in_force = next((said for said in found if said.reason == PLAN_IN_FORCE), None)
    wrong = [said for said in found if not said.true and said.reason != PLAN_IN_FORCE]
    root = wrong[0] if wrong else None
    growth = order.condition(SCALING)
    if growth and (growth.true or (root and (growth.reason == root.reason or (growth.status != "False" and not growth.reason)))):
        growth = None
    return Reading(root, tuple(wrong[1:]), in_force, growth)


def state(order: Order) -> State:
    """The state of one order: its own word, else what its conditions amount to."""
    said = read(order)
    telling = said.root or said.growth or said.in_force
    reason = telling.reason or None if telling else None
    message = telling.message or None if telling else None
    since = telling.since if telling else None
    ready = order.condition("Ready")
    if telling is None and ready is not None:
        since = ready.since
    if order.phase:
        return State(order.phase, reason, message, since)
    if said.root is None and ready is not None and ready.true:
        return State("Degraded" if said.growth else "Ready", reason, message, since, deduced=True)
    if not order.conditions:
        words = "it has no status: nothing has looked at this order yet" if not order.has_status else "it has no conditions"
        return State("Pending", None, words, order.created_at, deduced=True)
    return State("Failed" if reason in PERMANENT else "Pending", reason, message, since, deduced=True)


def disagreement(order: Order) -> str | None:
    """Why the state that an order gives itself does not go with its conditions; None where it does, or gives none.

    The words are ids of `words.yaml`.
    """
    said, phase = read(order), order.phase
    reason = said.root.reason if said.root else None
    if phase == "Pending" and reason == "ServiceUnhealthy":
        return "pending-but-was-ready"
    if phase == "Failed" and reason == "HealthCheckFailed":
        return "failed-but-never-ready"
    if phase == "Ready" and said.root:
        return "ready-but-not"
    scaling = order.condition(SCALING)
    if phase == "Degraded" and scaling and scaling.true:
        return "degraded-but-grows"
    if (
        phase in ("Pending", "Failed")
        and said.root is None
        and all((one := order.condition(kind)) and (one.true or one.reason == PLAN_IN_FORCE) for kind in READING)
    ):
        return "not-ready-but-true"
    return None
