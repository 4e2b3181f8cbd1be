"""How the modules themselves are: what stands behind "did not answer" and "could not look it up"."""

from __future__ import annotations

from datetime import datetime

from analyzer.facts.order.proof.base import LONG_MINUTES, Proof
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.world import Order, World

_PODS = """
SELECT object_id, namespace || '/' || name, state, restarts, ready, input FROM pods
WHERE namespace IN (SELECT unnest(?::VARCHAR[])) AND input = ? ORDER BY namespace, name
"""
_SHORT = """
SELECT c.object_id, c.kind || ' ' || c.namespace || '/' || c.name, coalesce(c.available, c.ready, 0), c.wanted
FROM controllers c JOIN objects o USING (object_id)
WHERE c.namespace IN (SELECT unnest(?::VARCHAR[])) AND o.input = ? AND c.kind IN ('Deployment', 'StatefulSet', 'DaemonSet')
ORDER BY c.namespace, c.name
"""
_MODULES = """
SELECT object_id, name, json_extract_string(json, '$.status.phase') FROM objects
WHERE api_group = 'deckhouse.io' AND kind = 'Module' AND name IN (SELECT unnest(?::VARCHAR[])) AND input = ? ORDER BY name
"""
_RESTARTS = 3
"""From this many restarts on, a pod that runs is worth a word."""


def troubles(world: World, order: Order, proof: Proof, modules: tuple[str, ...]) -> None:
    """Says whether the modules' pods, controllers and their own objects are well.

    Args:
        world: what the bundle has.
        order: the order; only its own input counts.
        proof: what is added to.
        modules: names of modules; their namespaces are d8-NAME.
    """
    spaces = [f"d8-{name}" for name in modules]
    con, number = world.con, order.input
    pods = world.once(("pods", modules, number), lambda: con.execute(_PODS, [spaces, number]).fetchall())
    counted = world.once(("short", modules, number), lambda: con.execute(_SHORT, [spaces, number]).fetchall())
    told = world.once(("phases", modules, number), lambda: con.execute(_MODULES, [list(modules), number]).fetchall())
    short = [row for row in counted if row[3] and row[2] < row[3]]
    phases = [row for row in told if row[2]]
    for object_id, name, state, restarts, ready, _ in pods:
        if not ready and state not in ("Succeeded", "Terminating"):
            proof.fit("module-pod", name=name, state=state)
            proof.quote(object_id, "metadata.name", name.rpartition("/")[2], "Declared")
        elif (restarts or 0) >= _RESTARTS:
            proof.fit("module-restarts", name=name, number=restarts)
    for object_id, name, there, wanted in short:
        proof.fit("module-short", name=name, number=there, wanted=wanted)
        proof.quote(object_id, "spec.replicas", wanted, "Declared")
    for object_id, name, phase in phases:
        if phase != "Ready":
            proof.fit("module-phase", name=name, phase=phase)
            proof.quote(object_id, "status.phase", phase)
    if proof.verdict != "unknown":
        return
    if pods or phases:
        proof.doubt("modules-well", names=list(modules))
    else:
        proof.doubt("modules-not-collected", names=spaces)


def long(world: World, order: Order, said: Said) -> bool:
    """Whether a condition has stood for LONG_MINUTES at the end of the collection."""
    now: datetime | None = world.as_of.get(order.input)
    return bool(now and said.since and (now - said.since).total_seconds() >= LONG_MINUTES * 60)
