"""What the kernel's PCIe error reporting (AER) says: of which GPU it is, if it is one's at all.

A port above a device reports its errors and names the device only sometimes. Such a line is taken for a GPU's where that address
is known as one's, or where just one GPU of the log fell off the bus at that moment; all others are no matter of GPUs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from analyzer.facts.gpu import xid_codes
from analyzer.facts.gpu.xid_read import Event

NEAR_SECONDS = 60
"""So near to each other stand what the port says and what the driver says of one fault."""
NEAR_LINES = 50
"""The same where the lines have no time that can be compared."""


def settled(events: list[Event], known: Mapping[tuple[int, str], str], uuids: Mapping[tuple[int, str], str]) -> list[Event]:
    """The events, with each line of a port given to its GPU or left out.

    Args:
        events: all events.
        known: the UUIDs of (node, PCI address) that objects tell.
        uuids: the UUIDs of (log, PCI address) that logs tell.
    """
    of_nodes: set[tuple[int | None, str]] = set(known)
    of_logs = set(uuids)
    lost: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.port is None and event.pci and not event.switch:
            of_logs.add((event.log_id, event.pci))
            if event.where.node_id is not None:
                of_nodes.add((event.where.node_id, event.pci))
            if event.code == xid_codes.OFF_BUS:
                lost[event.log_id].append(event)
    kept = []
    for event in events:
        if event.port is None:
            kept.append(event)
        elif address := _gpu(event, of_nodes, of_logs, lost):
            kept.append(replace(event, pci=address))
    return kept


def _gpu(
    event: Event,
    of_nodes: AbstractSet[tuple[int | None, str]],
    of_logs: AbstractSet[tuple[int, str]],
    lost: Mapping[int, list[Event]],
) -> str | None:
    for address in filter(None, (event.pci, event.port)):
        if (event.where.node_id, address) in of_nodes or (event.log_id, address) in of_logs:
            return address
    near = {one.pci for one in lost.get(event.log_id, []) if one.boot == event.boot and _near(event, one)}
    return near.pop() if len(near) == 1 else None


def _near(one: Event, other: Event) -> bool:
    if one.at and other.at:
        return abs((one.at - other.at).total_seconds()) <= NEAR_SECONDS
    if one.front.uptime is not None and other.front.uptime is not None:
        return abs(one.front.uptime - other.front.uptime) <= NEAR_SECONDS
    return abs(one.line - other.line) <= NEAR_LINES
