"""ClassResolved: is the class there, is it ready, does it admit the namespace."""

from __future__ import annotations

from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.shapes import CLASS, Class, Said
from analyzer.facts.order.world import Order, World, nearest

_NAME = "spec.inferenceServiceClassName"


def whole(world: World) -> bool:
    """Whether the bundle has every class."""
    return world.whole.has(world.class_group, CLASS)


def later(made: object, said: Said) -> bool:
    """Whether something was made after a condition took its turn."""
    return bool(made is not None and said.since is not None and made > said.since)  # type: ignore[operator]


def absent(world: World, order: Order, proof: Proof) -> None:
    """Says of a class that the bundle lacks whether it is missing or was not collected."""
    others = [one.name for one in world.classes_of(order)]
    near = nearest(order.class_name or "", others)
    if whole(world):
        proof.confirm("class-missing", name=order.class_name or "", near=near) if near else proof.confirm("class-none")
    elif near:
        proof.doubt("class-not-among", name=order.class_name or "", near=near)
    else:
        proof.doubt("classes-not-collected")


def not_found(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ClassNotFound."""
    proof.quote(order.object_id, _NAME, order.class_name, "Declared")
    found = world.class_of(order)
    if found is None:
        absent(world, order, proof)
        for one in world.classes_of(order)[:3]:
            proof.quote(one.object_id, "metadata.name", one.name, "Declared")
        return
    proof.quote(found.object_id, "metadata.name", found.name, "Declared")
    if later(found.created_at, said):
        proof.refute("class-made", fixed=True, name=found.name, at=found.created_at)
    else:
        proof.refute("class-there", name=found.name, at=found.created_at)


def not_ready(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ClassNotReady."""
    found = world.class_of(order)
    if found is None:
        absent(world, order, proof)
        return
    if found.ready:
        ready = next((one for one in found.conditions if one.type == "Ready"), None)
        proof.quote(
            found.object_id, f"status.conditions[{ready.idx}].status" if ready else "status.phase", "True" if ready else "Ready"
        )
        since = ready.since if ready else None
        proof.refute("class-ready", fixed=later(since, said), name=found.name, at=since)
        return
    wrong = [one for one in found.conditions if not one.true]
    for one in wrong[:3]:
        proof.confirm(
            "class-says",
            name=found.name,
            condition=one.type,
            status=one.status,
            reason=one.reason or "-",
            words=one.message or "-",
        )
        proof.quote(found.object_id, f"status.conditions[{one.idx}].message", one.message or one.reason)
    if not wrong and found.phase:
        proof.confirm("class-phase", name=found.name, phase=found.phase)
        proof.quote(found.object_id, "status.phase", found.phase)
    elif not wrong:
        proof.doubt("class-silent", name=found.name)


def not_admitted(world: World, order: Order, said: Said, proof: Proof) -> None:
    """NamespaceNotAllowed."""
    del said
    proof.quote(order.object_id, _NAME, order.class_name, "Declared")
    found = world.class_of(order)
    if found is None:
        absent(world, order, proof)
        return
    path = found.paths.get("allowednamespaces", "spec.admissionPolicy")
    if found.selects:
        proof.doubt("admits-by-selector", name=found.name)
    elif found.namespaces is None:
        proof.doubt("admits-unlisted", name=found.name)
    elif order.namespace in found.namespaces or "*" in found.namespaces:
        proof.quote_each(found.object_id, path, found.namespaces)
        proof.refute("admits", name=found.name, namespace=order.namespace)
        return
    else:
        proof.confirm("admits-not", name=found.name, namespace=order.namespace, listed=list(found.namespaces) or ["-"])
        proof.quote_each(found.object_id, path, found.namespaces)
    note_others(world, order, found, proof)


def note_others(world: World, order: Order, found: Class, proof: Proof) -> None:
    """Other classes that list the order's namespace."""
    others = [one for one in world.classes_of(order) if one is not found and one.namespaces and order.namespace in one.namespaces]
    if others:
        proof.note("others-admit", namespace=order.namespace, names=[one.name for one in others])
        for one in others[:2]:
            proof.quote(one.object_id, one.paths.get("allowednamespaces", "spec.admissionPolicy"), order.namespace, "Declared")


PROVERS = {"ClassNotFound": not_found, "ClassNotReady": not_ready, "NamespaceNotAllowed": not_admitted}
