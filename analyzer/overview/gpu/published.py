"""GPUs of one node that DRA drivers publish, each by its name: what each is doing, and which claims hold it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import orjson

from analyzer.engine.sections import Cell, Slot, machine, number, unknown, words
from analyzer.facts.dra.gpus import NVIDIA, told
from analyzer.overview.gpu.slots import Drawn, Rest, named
from analyzer.overview.gpu.world import World
from analyzer.overview.read import Row, grouped, sentences
from analyzer.render.words import listed, plural

_KEPT: Final = (":NoSchedule", ":NoExecute")
_DIGITS: Final = 9
"""A longer number behind a device's name is not that of a GPU."""


def is_published(node: Row, world: World) -> bool:
    """Whether its GPUs are told by devices; those of another maker beside GPUs that the kubelet counts are not."""
    devices = world.devices.get((node.input, node.name), [])
    return bool(devices) and (any(one.driver == NVIDIA for one in devices) or not _counted(node, world))


def drawn(node: Row, world: World, away: Rest | None) -> Drawn:
    """Each GPU by its name; of one that is published in parts alone the parts are counted.

    Args:
        node: the node.
        world: what the map is made from.
        away: what keeps pods from GPUs that nothing holds, None where nothing does.
    """
    devices = world.devices[node.input, node.name]
    away = _sharpened(node, world, away)
    broken = {one.slot: one for one in world.faults.get(node.object_id, ()) if one.slot is not None}
    cut = any(one.gpu == "part" for one in devices)
    slots: list[tuple[str, Slot, str]] = []
    for at, device in enumerate(one for one in devices if one.gpu == "whole"):
        tail = device.device.rpartition("-")[2]
        fault = broken.get(int(tail) if tail.isdecimal() and len(tail) <= _DIGITS else at)
        slots.append((device.device, *_whole(device, f"lost ({fault.words})" if fault else "", away, cut=cut)))
    slots += _parents(devices, away)
    if not slots:
        slots = [(one.device, *_whole(one, "", away, cut=False)) for one in devices if one.gpu == "vm"]
    found = named(slots)
    return Drawn(found.slots, sentences(found.words, *_parts(devices)))


def offered(node: Row, world: World) -> Cell:
    """How many GPUs are published; beside them what the kubelet offers of the same."""
    least = "" if node.complete else "at least "
    published = f"{least}{node.published}"
    counted = _counted(node, world)
    if counted:
        both = f"{sum(one.allocatable or 0 for one in counted)} / {sum(one.capacity or 0 for one in counted)}"
        return number(both, f"by the device plugin; {published} of the same by DRA")
    return number(published, "by DRA")


def holders(node: Row, world: World, pods: Cell, users: int) -> tuple[Cell, int]:
    """The claims that hold them with their pods, and how many these are; beside them the pods that the kubelet gave GPUs to.

    Args:
        node: the node.
        world: what the map is made from.
        pods: the pods that ask for GPUs which the kubelet counts.
        users: how many of these there are.
    """
    devices = world.devices[node.input, node.name]
    claims = list(dict.fromkeys(claim for one in devices for claim in one.claims))
    if not claims:
        known = all(one.state == "Free" for one in devices) and node.complete and not world.missing
        return (pods, users) if users else (words("nobody") if known else unknown("cannot tell"), 0)
    used = [f"{claim} (used by {listed(world.users[claim], 2)})" if world.users.get(claim) else claim for claim in claims]
    least = "" if node.complete and all(one.state != "Cannot tell" for one in devices) else ", at least these"
    # Where the kubelet offers none, pods that ask for the resource got it as claims (extendedResourceName of a class).
    beside = f"pods by count: {pods.text}" if users and _counted(node, world) else ""
    return machine(listed(used, 3), sentences(f"resource claims{least}", beside)), len(claims)


def _counted(node: Row, world: World) -> list[Row]:
    """What the kubelet offers of GPUs."""
    return [one for one in world.resources.get(node.object_id, []) if one.kind in ("gpu", "mig") and one.allocatable]


def _sharpened(node: Row, world: World, away: Rest | None) -> Rest | None:
    """What keeps pods away, or hides which GPUs are free: a lost one of no known number, pods that hold the same by count."""
    if away is not None:
        return away
    if _counted(node, world):
        return Rest("unknown", "cannot tell: the device plugin offers the same GPUs")
    hidden = [one for one in world.faults.get(node.object_id, ()) if one.slot is None]
    if hidden:
        lost = plural(len(hidden), "GPU")
        return Rest(
            "unknown", f"cannot tell: {lost} of the node {'is' if len(hidden) == 1 else 'are'} faulty ({hidden[0].words})"
        )
    return None


def _whole(device: Row, fault: str, away: Rest | None, *, cut: bool) -> tuple[Slot, str]:
    if fault:
        return "lost", fault
    if device.claims:
        return "allocated", "allocated"
    if device.taken_by:
        return ("mig", "split, parts of it allocated") if cut else ("allocated", "allocated as another device")
    rest = (away or Rest("free", "free")) if device.state == "Free" else Rest("unknown", "cannot tell")
    if rest.slot != "unknown" and any(taint.endswith(_KEPT) for taint in device.taints):
        return "blocked", "free, but tainted"
    return rest.slot, rest.words


def _parents(devices: list[Row], away: Rest | None) -> Iterator[tuple[str, Slot, str]]:
    """The GPUs of which only parts are published."""
    wholes = {_told(one, "uuid") for one in devices if one.gpu == "whole"}
    parts = [one for one in devices if one.gpu == "part" and (_told(one, "parentUUID") not in wholes if wholes else True)]
    for parent, own in grouped(parts, lambda one: _told(one, "parentUUID")).items():
        name = next((one.device.partition("-mig-")[0] for one in own if "-mig-" in one.device), "") or str(parent or "1 GPU")
        if wholes and not parent:
            continue
        states = [_whole(one, "", away, cut=True) for one in own]
        if any(one.claims for one in own):
            yield name, "mig", "split, parts of it allocated"
        elif set(states) == {("free", "free")}:
            yield name, "free", "split, no part of it allocated"
        elif len(set(states)) == 1:
            yield name, states[0][0], f"split, {states[0][1]}"
        else:
            yield name, "unknown", "split, cannot tell what is free"


def _parts(devices: list[Row]) -> Iterator[str]:
    """How many parts of each size are held; those that may be made of a whole GPU are told where some are."""
    parts = [one for one in devices if one.gpu == "part"]
    for profile, own in grouped(parts, lambda one: str(_told(one, "profile") or "parts")).items():
        held = sum(bool(one.claims) for one in own)
        least = "at least " if any(one.state == "Cannot tell" for one in own) else ""
        if held or not any(one.gpu == "whole" for one in devices):
            yield f"{least}{held} of {len(own)} {profile} in use"


def _told(device: Row, name: str) -> str | None:
    value = told(device.driver, orjson.loads(device.attributes) if device.attributes else {}, name)
    return None if value is None else str(value)
