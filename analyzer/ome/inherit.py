"""Runtimes that inherit from others: the chain of parents, and the spec that comes of it (OME's runtime resolver)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analyzer.ome.merge import merged, stripped
from analyzer.ome.world import CLUSTER_RUNTIME, NAMESPACED_RUNTIME, Lookup, Thing, World

INHERIT_FROM = "ome.io/inherit-from"
MAX_CHAIN = 5
"""Most runtimes in a chain, the first one among them."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A runtime with its parents, itself first, and the merged spec; without a spec `fault` says what is wrong.

    `code` is OME's: ParentMissing, CycleDetected or MaxDepthExceeded; `lost` is the parent that could not be looked up.
    """

    runtimes: tuple[Thing, ...]
    spec: dict[str, Any] | None
    fault: str = ""
    code: str = ""
    lost: Lookup | None = None


def resolve(world: World, runtime: Thing) -> Chain:
    """Follows a runtime's parents and merges their specs, the topmost first."""
    return world.once(("chain", runtime.key), lambda: _resolved(world, runtime))


def _resolved(world: World, runtime: Thing) -> Chain:
    chain = [runtime]
    while parent := chain[-1].annotation(INHERIT_FROM):
        if any(one.name == parent for one in chain):
            return Chain(tuple(chain), None, f"{chain[-1]} inherits from {parent}, which is in its own chain", "CycleDetected")
        if len(chain) >= MAX_CHAIN:
            return Chain(tuple(chain), None, f"{runtime} inherits over more than {MAX_CHAIN} levels", "MaxDepthExceeded")
        found = parent_of(world, runtime, parent)
        if found.thing is None:
            return Chain(tuple(chain), None, f"{chain[-1]} inherits from {parent}: {found.words}", "ParentMissing", found)
        chain.append(found.thing)
    spec: dict[str, Any] = {}
    for one in reversed(chain):
        spec = merged(spec, dict(one.spec)) if spec else stripped(dict(one.spec))
    return Chain(tuple(chain), spec)


def parent_of(world: World, head: Thing, name: str) -> Lookup:
    """A parent in the chain of a runtime: for a namespaced one it is looked for in its namespace first, at every step."""
    if head.kind == NAMESPACED_RUNTIME:
        found = world.get(NAMESPACED_RUNTIME, head.namespace, name)
        if not found.missing:
            return found
    return world.get(CLUSTER_RUNTIME, "", name)
