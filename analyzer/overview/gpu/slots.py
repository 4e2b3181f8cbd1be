"""What the GPUs of one node are doing: a slot each for the drawing, and the same in words.

Kubernetes counts devices and does not say which one a pod holds. Only a GPU that a log or a claim names by its number stands in
its own slot; the others fill the drawing from the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.engine.sections import DRAWN, Slot
from analyzer.overview.read import sentences
from analyzer.render.words import listed


@dataclass(frozen=True, slots=True)
class Broken:
    """A GPU for which a log tells a fault that lasts: its number on the node where something names it, and the fault in words."""

    slot: int | None
    words: str
    off_bus: bool


@dataclass(frozen=True, slots=True)
class Rest:
    """What becomes of the GPUs that nothing holds: how they are drawn, and why in words behind their number."""

    slot: Slot
    words: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A node whose GPUs are counted, not named.

    Attributes:
        total: its GPUs.
        split: of these, cut into MIG devices of which some are held.
        unhealthy: GPUs that the kubelet does not call healthy.
        held: GPUs that pods on it ask for.
        least: pods were not collected whole: more may be held.
        broken: GPUs that logs call broken.
        rest: what becomes of the others.
    """

    total: int
    split: int
    unhealthy: int
    held: int
    least: bool
    broken: tuple[Broken, ...]
    rest: Rest


@dataclass(frozen=True, slots=True)
class Drawn:
    """The slots, empty where nothing is drawn (a node with more GPUs than `DRAWN` has words alone), and the words."""

    slots: tuple[Slot, ...]
    words: str


def counted(node: Counted) -> Drawn:
    """The drawing of a node whose GPUs are counted."""
    broken = node.broken[: node.total]
    lost = min(node.total, max(len(broken), node.unhealthy))
    left = node.total - lost
    split = min(node.split, left)
    held = min(node.held, left - split)
    rest = left - split - held
    told = [
        *(_fault(one) for one in broken),
        f"{lost - len(broken)} {'more ' if broken else ''}unhealthy" if lost > len(broken) else "",
        f"{'at least ' if node.least else ''}{held} allocated" if held or (node.least and not split) else "",
        f"{split} split by MIG, in use" if split else "",
        f"{rest} {node.rest.words}" if rest else "",
        f"{node.held - held} more asked for than there are healthy ones" if node.held > held and not split else "",
    ]
    filling: list[Slot] = [*["allocated"] * held, *["mig"] * split, *[node.rest.slot] * rest]  # type: ignore[list-item]
    return Drawn(_laid(node.total, broken, lost, filling), sentences(*told))


def _fault(one: Broken) -> str:
    name = "1 GPU" if one.slot is None else f"GPU {one.slot}"
    return f"{name} {'lost' if one.off_bus else 'faulty'} ({one.words})"


def _laid(total: int, broken: Sequence[Broken], lost: int, filling: list[Slot]) -> tuple[Slot, ...]:
    """Named faults in their own slots, everything else from the left, faults of no known place at the end."""
    if total > DRAWN:
        return ()
    own = {one.slot for one in broken if one.slot is not None and one.slot < total}
    queue: list[Slot] = filling + ["lost"] * (lost - len(own))
    return tuple("lost" if place in own else queue.pop(0) for place in range(total))


def named(slots: Sequence[tuple[str, Slot, str]]) -> Drawn:
    """The drawing of a node whose GPUs a driver publishes one by one: (name, slot, words) in the order of their numbers."""
    groups: dict[str, list[str]] = {}
    for name, _, said in slots:
        groups.setdefault(said, []).append(name)
    told = [f"{len(names)} {said}" if len(names) > 1 else f"{names[0]} {said}" for said, names in groups.items()]
    return Drawn(tuple(slot for _, slot, _ in slots) if len(slots) <= DRAWN else (), listed(told, 6))
