"""One GPU node: what its GPUs are doing, what of them is offered, and who holds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from analyzer.engine.sections import DRAWN, Cell, Slot, machine, number, unknown, words
from analyzer.overview.gpu import published
from analyzer.overview.gpu.published import is_published
from analyzer.overview.gpu.slots import Counted, Drawn, Rest, counted
from analyzer.overview.gpu.world import World
from analyzer.overview.read import Row, sentences
from analyzer.render.words import listed

_REFUSING: Final = timedelta(hours=1)
"""A refusal counts as going on when it is no older, or when a GPU of the node is unhealthy."""


@dataclass(frozen=True, slots=True)
class View:
    """One node as it is shown.

    Attributes:
        drawn: its GPUs, drawn and in words.
        offered: how many are allocatable of how many.
        holders: the pods or claims that hold them.
        users: how many of these there are.
        own_slots: some GPU stands in its own slot.
        by_name: all of them do: a driver publishes each by its name.
    """

    drawn: Drawn
    offered: Cell
    holders: Cell
    users: int
    own_slots: bool = False
    by_name: bool = False


def view_of(node: Row, world: World) -> View:
    """What is shown of a node."""
    if not is_published(node, world):
        return _counted(node, world)
    cell, users = published.holders(node, world, *_holders(node, world))
    drawn = published.drawn(node, world, _away(node, world))
    return View(drawn, published.offered(node, world), cell, users, own_slots=True, by_name=True)


def _counted(node: Row, world: World) -> View:
    """A node whose GPUs are counted as a resource."""
    resources = world.resources.get(node.object_id, [])
    holders, users = _holders(node, world)
    if not node.reported:
        total = node.count or 0
        slot: Slot = "unknown"
        drawn = Drawn((slot,) * total if total <= DRAWN else (), f"{total} cannot tell" if total else "cannot tell")
        return View(drawn, unknown("cannot tell", "its status was not collected"), holders, users)
    parts = [one for one in resources if one.kind == "mig" and one.capacity]
    wholes = [one for one in resources if one.kind in ("gpu", "vm") and one.capacity is not None]
    single = "-MIG-" in (node.product or "")
    offered = _offered(wholes, parts)
    shared = node.sharing not in (None, "", "none") or any(one.resource == "nvidia.com/gpu.shared" for one in wholes)
    if not resources or (not parts and not any(one.capacity for one in wholes)):
        return View(_nothing(node, world), offered, holders, users)
    if shared or single or any(one.kind == "vm" and one.capacity for one in wholes):
        drawn = _in_parts(node, [*wholes, *parts], world, "shares" if shared else "MIG devices" if single else "devices")
        return View(drawn, offered, holders, users)
    capacity = sum(one.capacity or 0 for one in wholes)
    healthy = sum(one.allocatable or 0 for one in wholes)
    # Strategy mixed: GPUs that are cut no longer count as whole ones.
    total = max(node.count or 0, capacity)
    cut = total - capacity if parts else 0
    used = sum(one.requested or 0 for one in parts)
    faults = tuple(world.faults.get(node.object_id, ()))
    rest = _rest(node, world, gone=not parts and healthy == 0)
    unhealthy = 0 if healthy == 0 else total - cut - healthy
    held = sum(one.requested or 0 for one in wholes)
    drawn = counted(Counted(total, cut if used else 0, unhealthy, held, bool(world.missing), faults, rest))
    mig = "; ".join(_use(one, world) for one in parts)
    said = Drawn(drawn.slots, sentences(drawn.words, mig))
    return View(said, offered, holders, users, own_slots=any(one.slot is not None for one in faults))


def _in_parts(node: Row, parts: list[Row], world: World, noun: str) -> Drawn:
    """Only shares or MIG devices are counted: how many GPUs there are, only a layout tells, and no slot can be told."""
    told = sentences(*(_use(one, world, noun) for one in parts if one.capacity))
    per_gpu = world.per_gpu.get(node.object_id)
    total = (node.count or 0) // per_gpu if per_gpu and noun == "MIG devices" else 0
    used = any(one.requested for one in parts)
    rest = _rest(node, world, gone=all(not one.allocatable for one in parts if one.capacity))
    slot: Slot = "mig" if used else rest.slot
    return Drawn((slot,) * total, sentences(told, "" if rest.slot == "free" or used else rest.words))


def _use(one: Row, world: World, noun: str = "") -> str:
    name = noun or one.resource.removeprefix("nvidia.com/").removeprefix("mig-")
    least = "at least " if world.missing else ""
    healthy = one.allocatable or 0
    lost = f", {(one.capacity or 0) - healthy} unhealthy" if healthy < (one.capacity or 0) else ""
    return f"{least}{one.requested or 0} of {one.capacity or 0} {name} in use{lost}"


def _nothing(node: Row, world: World) -> Drawn:
    """No GPU is registered with the kubelet."""
    total = node.count or 0
    if {"operands", "device-plugin", "driver"} & set(node.opt_outs or ()):
        return Drawn((), "none offered: switched off on purpose")
    if node.own_plugin is False or node.workload_config in ("vm-passthrough", "vm-vgpu"):
        slot: Slot = "unknown"
        return Drawn((slot,) * min(total, DRAWN), "not counted by the kubelet: offered another way")
    if not total:
        return Drawn((), "none offered")
    rest = _rest(node, world, gone=True)
    faults = tuple(world.faults.get(node.object_id, ()))
    return counted(Counted(total, 0, 0, 0, least=False, broken=faults, rest=rest))


def _away(node: Row, world: World) -> Rest | None:
    """What keeps pods from GPUs that nothing holds, None where nothing does."""
    if world.missing:
        return Rest("unknown", "cannot tell")
    if node.state in ("Not ready", "Unknown"):
        return Rest("blocked", "held by none, but the node is not ready")
    as_of, refused = world.as_of.get(node.input), world.refused.get((node.input, node.name))
    sick = bool(world.faults.get(node.object_id)) or (node.allocatable or 0) < (node.capacity or 0)
    if refused and (sick or (as_of is not None and as_of - refused <= _REFUSING)):
        return Rest("blocked", "free by count, but the kubelet refuses pods with GPUs")
    if node.cordoned:
        return Rest("cordoned", "free, but the node is cordoned")
    return None


def _rest(node: Row, world: World, *, gone: bool) -> Rest:
    """What becomes of the GPUs that nothing holds; `gone`: the kubelet offers none of them."""
    # Without all pods they may be held as well.
    either = "in use or " if world.missing else ""
    if node.mig_state == "failed":
        return Rest("mig-failed", f"{either}waiting for MIG layout {node.mig_config or '(not named)'}, which failed")
    if node.mig_state in ("pending", "rebooting"):
        return Rest("blocked", f"{either}out of reach while the MIG layout is changed ({node.mig_state})")
    if node.driver_paused:
        return Rest("blocked", f"{either}out of reach while the driver is changed")
    away = _away(node, world)
    if gone and (away is None or away.slot != "unknown"):
        return Rest("blocked", "not offered by the kubelet")
    return away or Rest("free", "free")


def _offered(wholes: list[Row], parts: list[Row]) -> Cell:
    shown = [one for one in [*wholes, *parts] if one.capacity or one.allocatable]
    if not shown:
        return number("0 / 0") if wholes else words("none")
    kinds = {"gpu": wholes, "MIG": parts}
    sums = [
        (name, sum(one.allocatable or 0 for one in some), sum(one.capacity or 0 for one in some))
        for name, some in kinds.items()
        if any(one.capacity or one.allocatable for one in some)
    ]
    (name, healthy, capacity), *more = sums
    below = [*(f"{ok} / {of} {what}" for what, ok, of in more), "MIG devices" if name == "MIG" else ""]
    return number(f"{healthy} / {capacity}", sentences(*below))


def _holders(node: Row, world: World) -> tuple[Cell, int]:
    found = world.holders.get((node.input, node.name), [])
    if not found:
        return _no_pod(world.programs.get(node.object_id, []), known=not world.missing), 0
    by_pod: dict[str, int] = {}
    for one in found:
        name = f"{one.namespace}/{one.name}"
        by_pod[name] = by_pod.get(name, 0) + one.request
    told = [f"{name} ({count})" for name, count in by_pod.items()]
    return machine(listed(told, 3), "at least these" if world.missing else ""), len(by_pod)


def _no_pod(programs: list[Row], *, known: bool) -> Cell:
    """No pod asks for its GPUs; `programs` may have them open all the same."""
    if programs:
        opened = listed(list(dict.fromkeys(one.pod or one.program for one in programs)), 2)
        return machine(
            opened, "by what was open there; " + ("no pod asks for them" if known else "not all pods are in the bundle")
        )
    return words("nobody") if known else unknown("cannot tell")
