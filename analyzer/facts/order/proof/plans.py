"""Planned, as far as the planner, the class and the recipes decide; and the plan that stays in force."""

from __future__ import annotations

import re

import orjson

from analyzer.facts.order import shapes
from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.proof.classes import absent, later
from analyzer.facts.order.proof.health import long, troubles
from analyzer.facts.order.reasons import PLANNER
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.world import MODULE, Order, World, nearest
from analyzer.facts.values import Stored, mapping, mappings, stored, strings, text
from analyzer.managed import MANAGERS

_INNER = re.compile(rf"\b({'|'.join(PLANNER)})\b")
_PLAN_KIND = re.compile(r"plan|launch|setting|recipe", re.IGNORECASE)
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_BY_HAND = re.compile(r"kubectl|before-first-apply|helm|argocd|werf|lens|k9s|terraform|ansible", re.IGNORECASE)
_MAX_PLANS = 5


def planner(world: World, order: Order, said: Said, proof: Proof) -> None:
    """PlannerRequestFailed."""
    troubles(world, order, proof, (MODULE,))
    _lasting(world, order, said, proof)


def preemption(world: World, order: Order, said: Said, proof: Proof) -> None:
    """PlanningPreemptionFailed."""
    found = world.class_of(order)
    if found and found.priority_class:
        value = world.con.execute(
            "SELECT object_id, json_extract_string(json, '$.value') FROM objects WHERE api_group = 'scheduling.k8s.io' "
            "AND kind = 'PriorityClass' AND name = ? AND input = ?",
            [found.priority_class, order.input],
        ).fetchone()
        if value:
            proof.note("priority-value", name=found.priority_class, value=str(value[1]))
            proof.quote(value[0], "value", value[1], "Declared")
    budgets = world.once(("budgets", order.input), lambda: _budgets(world, order))
    if budgets:
        proof.fit("budgets-forbid", names=[name for _, name in budgets])
        proof.quote(budgets[0][0], "status.disruptionsAllowed", "0")
    troubles(world, order, proof, (MODULE,))
    _lasting(world, order, said, proof)


def _budgets(world: World, order: Order) -> list[tuple[int, str]]:
    """PodDisruptionBudgets that allow none, in namespaces where devices are held."""
    return world.con.execute(
        "SELECT o.object_id, o.namespace || '/' || o.name FROM objects o "
        "WHERE o.api_group = 'policy' AND o.kind = 'PodDisruptionBudget' "
        "AND o.input = ? AND json_extract_string(o.json, '$.status.disruptionsAllowed') = '0' "
        "AND o.namespace IN (SELECT namespace FROM claims WHERE input = ? AND state IN ('Allocated', 'In use')) ORDER BY 2",
        [order.input, order.input],
    ).fetchall()


def _lasting(world: World, order: Order, said: Said, proof: Proof) -> None:
    if long(world, order, said):
        proof.note("lasts-long")


def not_a_placement(world: World, order: Order, said: Said, proof: Proof) -> None:
    """LaunchPlanNotAPlacement: who wrote the stored launch setting decides who acts."""
    del said
    plans = list(_plans(world, order))
    hand = [one for one in plans if _by_hand(one)]
    own = [one for one in plans if one not in hand and _by_module(one, order)]
    for one in (hand or own or plans)[:2]:
        proof.quote(one.object_id, "metadata.name", one.name, "Declared")
    if hand:
        proof.confirm("plan-by-hand", names=[f"{one.kind} {one.name}" for one in hand])
        proof.decide("by-hand", owner="workload", waiting="no")
    elif own:
        proof.confirm("plan-by-module", names=[f"{one.kind} {one.name}" for one in own])
        proof.decide("by-module", owner="platform", waiting="no")
    elif plans:
        proof.doubt("plan-by-whom", names=[f"{one.kind} {one.name}" for one in plans])
    else:
        proof.doubt("plan-not-seen", namespace=order.namespace)


def _plans(world: World, order: Order) -> list[Stored]:
    """What looks like a stored launch setting in the order's namespace: those that name the order, if there are any."""
    every = world.once(("plans", order.group), lambda: _all_plans(world, order.group))
    found = every.get((order.input, order.namespace), [])
    named = [item for item in found if order.name in item.name or order.name in _mentions(item) or _owned(item, order)]
    return (named or (found if len(found) == 1 else []))[:_MAX_PLANS]


def _all_plans(world: World, group: str) -> dict[tuple[int, str], list[Stored]]:
    """Every such object of an API group, by input and namespace."""
    rows = world.con.execute("SELECT DISTINCT kind FROM objects WHERE api_group = ? AND namespace <> ''", [group]).fetchall()
    kinds = [(group, kind) for (kind,) in rows if _PLAN_KIND.search(kind) and kind != shapes.SERVICE]
    found: dict[tuple[int, str], list[Stored]] = {}
    for item in stored(world.con, kinds) if kinds else ():
        found.setdefault((item.input, item.namespace), []).append(item)
    return found


def _mentions(item: Stored) -> list[str]:
    """Names in the spec of an object, two levels deep."""
    spec = mapping(item.value.get("spec"))
    inner = [value for one in spec.values() if isinstance(one, dict) for value in one.values()]
    return strings([*spec.values(), *inner])


def _owned(item: Stored, order: Order) -> bool:
    metadata = mapping(item.value.get("metadata"))
    return any(
        owner.get("kind") == shapes.SERVICE and owner.get("name") == order.name
        for owner in mappings(metadata.get("ownerReferences"))
    )


def _managers(item: Stored) -> list[str]:
    """Who wrote the spec of an object, by what was kept of its managedFields."""
    written = text(mapping(mapping(item.value.get("metadata")).get("annotations")).get(MANAGERS))
    try:
        known = orjson.loads(written) if written else []
    except orjson.JSONDecodeError:
        known = []
    return [name for one in mappings(known) if not one.get("subresource") and (name := text(one.get("manager")))]


def _by_hand(item: Stored) -> bool:
    """Whether somebody made it with a client: kubectl's annotation, or a manager that is no controller."""
    annotations = mapping(mapping(item.value.get("metadata")).get("annotations"))
    return _APPLIED in annotations or any(_BY_HAND.search(name) for name in _managers(item))


def _by_module(item: Stored, order: Order) -> bool:
    return _owned(item, order) or any(not _BY_HAND.search(name) for name in _managers(item))


def priority_class(world: World, order: Order, said: Said, proof: Proof) -> None:
    """PriorityClassNotFound."""
    found = world.class_of(order)
    if found is None:
        absent(world, order, proof)
        proof.verdict = "unknown"
        return
    name = found.priority_class
    if name is None:
        proof.doubt("priority-unnamed", name=found.name)
        return
    proof.quote(found.object_id, found.priority_path, name, "Declared")
    known = world.named("scheduling.k8s.io", "PriorityClass")
    there = known.get((order.input, "", name))
    if there:
        proof.quote(there[0], "metadata.name", name, "Declared")
        proof.refute("priority-there", fixed=later(there[1], said), name=name, at=there[1])
    elif world.whole.has("scheduling.k8s.io", "PriorityClass"):
        names = [other for number, _, other in known if number == order.input]
        proof.confirm("priority-missing", name=name, of=found.name, near=nearest(name, names) or ["-"])
    else:
        proof.doubt("priorities-not-collected", name=name, of=found.name)


def quantization(world: World, order: Order, said: Said, proof: Proof) -> None:
    """QuantizationMismatch."""
    del said
    model = world.model_of(order)
    if model and model.quantization:
        proof.fit("quantization-is", model=str(model), own=model.quantization)
        proof.quote(model.object_id, "status.resolved.quantization", model.quantization)
    else:
        proof.doubt("recipes-unseen")


def runtime(world: World, order: Order, said: Said, proof: Proof) -> None:
    """NoCompatibleRuntimeAvailable."""
    del said
    model = world.model_of(order)
    if model and (model.format or model.architecture):
        told = [word for word in (model.format, model.architecture, model.quantization) if word]
        proof.fit("model-is", model=str(model), names=told)
        proof.quote(model.object_id, "status.resolved.format", model.format)
    products = sorted({row["product"] for row in world.fleet.rows if row["input"] == order.input and row["product"]})
    if products:
        proof.note("products-are", names=products)
    if not proof.said:
        proof.doubt("recipes-unseen")


def in_force(world: World, order: Order, said: Said, proof: Proof) -> None:
    """LaunchPlanInForce: never a fault; the planner's own reason is told, and is no finding."""
    del world
    inner = _INNER.search(said.message)
    ready = sum(pod.ready for pod in order.pods)
    if order.serves:
        proof.confirm("serves", number=ready) if ready else proof.confirm("serves-unseen")
        said_ready = order.condition("Ready")
        if said_ready:
            proof.quote(order.object_id, f"status.conditions[{said_ready.idx}].status", "True")
    else:
        proof.doubt("serves-not")
    if inner:
        proof.cause = inner[1]
        proof.note("inner-reason", reason=inner[1])


PROVERS = {
    "PlannerRequestFailed": planner,
    "PlanningPreemptionFailed": preemption,
    "LaunchPlanNotAPlacement": not_a_placement,
    "PriorityClassNotFound": priority_class,
    "QuantizationMismatch": quantization,
    "NoCompatibleRuntimeAvailable": runtime,
    "LaunchPlanInForce": in_force,
}
