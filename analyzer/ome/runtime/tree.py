"""Who inherits from a runtime, what it inherits from itself, and which InferenceServices name any of them (`runtime tree`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from analyzer.ome import inherit
from analyzer.ome.live import find_runtime
from analyzer.ome.names import is_subdomain
from analyzer.ome.world import (
    CLUSTER_RUNTIME,
    EVERYWHERE,
    NAMESPACED_RUNTIME,
    SERVICE,
    Lookup,
    Thing,
    World,
    mapping,
    string,
)

MAX_LISTED = 1_000
"""Most objects of a kind that OME's command lists."""

Key = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Node:
    """A runtime of a path: the name of its parent as declared, and the runtime that it was resolved to, if any."""

    key: Key
    parent: str = ""
    resolved: Key | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a chain: ParentMissing, CycleDetected or MaxDepthExceeded. `path` goes from the head upwards."""

    code: str
    parent: str
    path: tuple[Key, ...]

    @property
    def subject(self) -> Key:
        """The runtime whose chain it is."""
        return self.path[0]


@dataclass(frozen=True, slots=True)
class Path:
    """One runtime with all that it inherits from, root first, and the services that name it."""

    nodes: tuple[Node, ...]
    users: tuple[Key, ...]
    fault: Fault | None = None

    @property
    def head(self) -> Key:
        """The runtime itself."""
        return self.nodes[-1].key


@dataclass(frozen=True, slots=True)
class Context:
    """The paths that are resolved in one place: `namespace` is empty for the cluster."""

    namespace: str
    complete: bool
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """One list that the tree rests on. `namespace` is `*` for all of them, empty for a cluster-scoped kind."""

    kind: str
    namespace: str
    count: int
    status: Literal["Complete", "Truncated", "Unavailable"]
    lost: Lookup | None = None


@dataclass(frozen=True, slots=True)
class Stray:
    """An InferenceService that cannot be attributed to a runtime: why, in OME's words, and the runtime that it names."""

    key: Key
    state: str
    reason: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """The whole tree. `target` is None where all runtimes were asked for; `unknown` are parents that nobody looked for."""

    target: Key | None
    namespace: str
    contexts: tuple[Context, ...]
    lists: tuple[Listed, ...]
    strays: tuple[Stray, ...]
    unknown: tuple[Lookup, ...]

    @property
    def complete(self) -> bool:
        """Every list is whole."""
        return all(one.status == "Complete" for one in self.lists)

    @property
    def warnings(self) -> tuple[str, ...]:
        """OME's words for what is not whole."""
        states = {one.status for one in self.lists}
        found = {"Truncated": "Truncated", "Unavailable": "SourceUnavailable"}
        codes = {found[state] for state in states if state in found}
        return tuple(sorted(codes | {"PartialData"})) if codes else ()


class TargetError(Exception):
    """There is no tree to show; the text says why."""


def tree(world: World, name: str, kind: str, namespace: str) -> Tree:
    """The tree around a runtime, or of all runtimes.

    Args:
        world: the objects.
        name: the runtime; empty for all.
        kind: its kind; empty where only one runtime may have the name.
        namespace: where a namespaced runtime lies; empty, only without a name: everywhere.

    Raises:
        TargetError: it is not there, two have its name, there are more runtimes than OME lists, or OME is not installed.
    """
    if world.judge(CLUSTER_RUNTIME, "") == "unsupported":
        raise TargetError("runtime tree requires runtimes: the cluster does not serve ClusterServingRuntime (ome.io)")
    target = _target(world, name, kind, namespace) if name else None
    scope = namespace if (target is None or target.kind == NAMESPACED_RUNTIME) else ""
    clustered, lost = world.all(CLUSTER_RUNTIME)
    spaced, lost_spaced = _in(world, NAMESPACED_RUNTIME, scope)
    services, lost_services = _in(world, SERVICE, scope)
    lists = (
        _listed(CLUSTER_RUNTIME, "", clustered, lost),
        _listed(NAMESPACED_RUNTIME, scope or EVERYWHERE, spaced, lost_spaced),
        _listed(SERVICE, scope or EVERYWHERE, services, lost_services),
    )
    for one in lists[:2]:
        if one.status == "Truncated":
            raise TargetError(
                f"runtime tree requires complete runtime evidence: {one.kind} collection is truncated (more than "
                f"{MAX_LISTED:,} runtimes); narrow the runtime scope, then retry"
            )
    kept = services[:MAX_LISTED]
    users, strays = _attributed(world, kept)
    contexts, unknown = _contexts(world, target, clustered, spaced, users)
    return Tree(target.key if target else None, scope, contexts, lists, strays, unknown)


def _in(world: World, kind: str, scope: str) -> tuple[list[Thing], Lookup | None]:
    return world.all(kind, scope) if scope else world.everywhere(kind)


def _listed(kind: str, namespace: str, found: Sequence[Thing], lost: Lookup | None) -> Listed:
    if len(found) > MAX_LISTED:
        return Listed(kind, namespace, MAX_LISTED, "Truncated")
    return Listed(kind, namespace, len(found), "Unavailable" if lost else "Complete", lost)


def _target(world: World, name: str, kind: str, namespace: str) -> Thing:
    places = ((NAMESPACED_RUNTIME, namespace), (CLUSTER_RUNTIME, ""))
    looked = [world.get(one, space, name) for one, space in places if kind in ("", one)]
    found = [lookup.thing for lookup in looked if lookup.thing]
    if len(found) > 1:
        raise TargetError(
            f'runtime "{name}" is ambiguous; pass --kind ServingRuntime or --kind ClusterServingRuntime: '
            f'runtime target is ambiguous: "{name}" matched {len(found)} runtimes'
        )
    if not found:
        unread = "; ".join(lookup.words for lookup in looked if lookup.unknown)
        more = f" ({unread})" if unread else ""
        raise TargetError(f'project runtime inheritance tree: runtime target was not found: "{name}"{more}')
    return found[0]


def _contexts(
    world: World, target: Thing | None, clustered: Iterable[Thing], spaced: Iterable[Thing], users: dict[Key, list[Key]]
) -> tuple[tuple[Context, ...], tuple[Lookup, ...]]:
    """The cluster first, then namespaces by name; in each the target first, then by kind and name."""
    unknown: dict[str, Lookup] = {}
    heads: dict[str, list[Thing]] = {}
    for one in (*(() if target and target.kind == NAMESPACED_RUNTIME else clustered), *spaced):
        if target is None or any(other.key == target.key for other in inherit.resolve(world, one).runtimes):
            heads.setdefault(one.namespace, []).append(one)
    found = []
    for namespace in sorted(heads):
        mine = sorted(heads[namespace], key=lambda one: (not (target and one.key == target.key), one.name))
        paths = []
        for head in mine:
            chain = inherit.resolve(world, head)
            paths.append(_path(world, head, chain, users.get(head.key, ())))
            if chain.lost and chain.lost.unknown:
                unknown[chain.lost.what] = chain.lost
        kinds = ((CLUSTER_RUNTIME, ""), (NAMESPACED_RUNTIME, namespace))
        complete = not any(world.all(kind, space)[1] for kind, space in kinds if namespace or kind == CLUSTER_RUNTIME)
        found.append(Context(namespace, complete, tuple(paths)))
    return tuple(found), tuple(unknown.values())


def _path(world: World, head: Thing, chain: inherit.Chain, users: Sequence[Key]) -> Path:
    things = chain.runtimes
    declared = [one.annotation(inherit.INHERIT_FROM) for one in things]
    closing = inherit.parent_of(world, head, declared[-1]).thing if declared[-1] else None
    resolved = [*(one.key for one in things[1:]), closing.key if closing else None]
    nodes = [Node(one.key, parent, key) for one, parent, key in zip(things, declared, resolved, strict=True)]
    return Path(tuple(reversed(nodes)), tuple(sorted(users)), _fault(chain, declared[-1], closing))


def _fault(chain: inherit.Chain, parent: str, closing: Thing | None) -> Fault | None:
    """What is wrong with a chain; nothing is said of a parent that was not looked for."""
    if chain.spec is not None or (chain.lost and chain.lost.unknown):
        return None
    path = [one.key for one in chain.runtimes]
    if chain.code == "CycleDetected" and closing:
        path.append(closing.key)
    return Fault(chain.code, parent, tuple(path))


def _attributed(world: World, services: Iterable[Thing]) -> tuple[dict[Key, list[Key]], tuple[Stray, ...]]:
    """The services by the runtime that they name, and those that name none that can be told."""
    users: dict[Key, list[Key]] = {}
    strays = []
    for one in services:
        name = string(mapping(one.spec.get("runtime")).get("name"))
        if one.key in world.twice:
            strays.append(Stray(one.key, "Ambiguous", "DuplicateInferenceService"))
        elif not name:
            strays.append(Stray(one.key, "Unresolved", "AutomaticSelection"))
        elif not is_subdomain(name):
            strays.append(Stray(one.key, "Invalid", "InvalidRuntimeName"))
        else:
            found = find_runtime(world, one)
            if found.thing:
                users.setdefault(found.thing.key, []).append(one.key)
            else:
                # Not a word of OME's, whose command needs whole lists: here nobody looked whether the runtime exists.
                reason = "RuntimeUnavailable" if found.unknown else "RuntimeNotFound"
                strays.append(Stray(one.key, "Unresolved", reason, name))
    return users, tuple(strays)
