"""One event that is told by several: the kernel knows a GPU by its PCI address, the device plugin by its UUID, others by neither.

Where no line says which UUID an address has, what the others say is taken for the GPU of that node with the same errors, if there
is just one such.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta

from analyzer.facts.gpu.xid_gpus import Group, rank

EARLIER = timedelta(minutes=1)
"""So much earlier than the kernel's words those of others about the same event may be stamped."""
_MEANT = {"nvml": frozenset({79}), "cuda": frozenset({48, 94, 95, 171, 172})}
"""Xids behind words that name none, by who says them."""


def merged(groups: list[Group]) -> list[Group]:
    """The groups, those without a PCI address within the one that they speak of."""
    places: dict[tuple[int, str, int], list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        place = group.where.node or group.where.host
        if place and not group.switch:
            places[group.input, place, group.boot].append(number)
    claimed: dict[int, list[int]] = defaultdict(list)
    for numbers in places.values():
        named = [number for number in numbers if groups[number].pci]
        for number in (one for one in numbers if not groups[one].pci):
            same = [one for one in named if _same(groups[one], groups[number])]
            if len(same) == 1:
                claimed[same[0]].append(number)
    gone: set[int] = set()
    found = dict(enumerate(groups))
    for number, others in claimed.items():
        uuids = {uuid for one in others if (uuid := groups[one].uuid)}
        if len(uuids) > 1:
            continue  # several GPUs, of which one has that address
        gone.update(others)
        events = sorted((event for one in (number, *others) for event in groups[one].events), key=rank)
        uuid = groups[number].uuid or next((uuid for uuid in uuids if uuid.startswith("GPU-")), None)
        found[number] = replace(groups[number], events=events, uuid=uuid)
    return [group for number, group in found.items() if number not in gone]


def _same(kernel: Group, other: Group) -> bool:
    if kernel.uuid and other.uuid:
        return False  # both are known, and differ
    codes = {event.code for event in kernel.events if event.code is not None}
    begun = min((event.at for event in kernel.events if event.at), default=None)
    return all(
        (event.code in codes if event.code is not None else not codes.isdisjoint(_MEANT.get(event.source, ())))
        and not (begun and event.at and event.at < begun - EARLIER)
        for event in other.events
    )
