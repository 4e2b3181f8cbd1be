"""Errors grouped by GPU and boot: which of them leads, how grave the whole is, and what the driver asks for.

One fault of a GPU makes many lines: an uncorrectable memory error (48) is followed by what the driver did about it (63, 94) and
by applications that were cleaned up (45). The one that is nearest to the cause leads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from analyzer.facts.gpu import xid_codes
from analyzer.facts.gpu.log_hosts import Hosts, Where
from analyzer.facts.gpu.xid_read import Event, Found

MANY_PIDS = 3
"""From so many processes of one name on, seen on one GPU alone, the GPU is suspected."""
NOTHING = "None"
"""The recovery of Xid 154 that says that none is needed."""

_Place = tuple[Any, ...]
_EARLY, _LATE = datetime(1, 1, 1), datetime(9999, 1, 1)  # noqa: DTZ001 - as the tables, naive UTC


@dataclass(frozen=True, slots=True)
class Group:
    """The events of one GPU and boot, in the order of cause before consequence.

    `cleared`: nvidia-smi says later that the driver asks for no recovery any more.
    """

    where: Where
    input: int
    switch: bool
    pci: str | None
    uuid: str | None
    boot: int
    events: list[Event]
    cleared: bool = False


def groups_of(found: Found, hosts: Hosts, known: Mapping[tuple[int, str], str]) -> list[Group]:
    """The events by GPU and boot; `known` has the UUIDs of (node, PCI address) that objects tell."""
    places: dict[int, set[_Place]] = defaultdict(set)
    for event in found.events:
        places[event.log_id].add(_place(event, hosts))
    uuids = {(place, pci): uuid for (log_id, pci), uuid in found.uuids.items() for place in places[log_id]}
    made: dict[tuple[Any, ...], list[Event]] = defaultdict(list)
    for event in found.events:
        place = _place(event, hosts)
        uuid = event.uuid
        if uuid is None and event.pci and not event.switch:
            uuid = uuids.get((place, event.pci)) or known.get((event.where.node_id or -1, event.pci))
        made[place, event.switch, uuid or event.pci, event.boot or 0].append(event)
    groups = []
    for (_, switch, name, boot), events in made.items():
        events.sort(key=rank)
        pci = next((event.pci for event in events if event.pci), None)
        uuid = name if name and name != pci else next((event.uuid for event in events if event.uuid), None)
        where = next((event.where for event in events if event.where.node), events[0].where)
        groups.append(Group(where, hosts.input(events[0].log_id), switch, pci, uuid, boot, events))
    return sorted(groups, key=_order)


def _order(group: Group) -> tuple[Any, ...]:
    return (group.input, group.where.node or group.where.host or "", group.events[0].log_id, group.pci or "", -group.boot)


def rank(event: Event) -> tuple[Any, ...]:
    """Cause before consequence; of codes that count as much one that is known; the driver's own words before those of others."""
    meaning = event.meaning
    return (meaning.tier, not meaning.listed, event.source != "kernel", event.at or _LATE, event.log_id, event.line)


def _place(event: Event, hosts: Hosts) -> _Place:
    """The host that an event is of; where nothing tells, the log."""
    where = event.where
    if where.node:
        return ("node", hosts.input(event.log_id), where.node)
    if where.host:
        return ("host", hosts.input(event.log_id), where.host)
    return ("log", event.log_id)


def name_of(group: Group) -> str:
    """A GPU or NVSwitch in words."""
    what = "NVSwitch" if group.switch else "GPU"
    if group.uuid and group.pci:
        return f"{what} {group.uuid} (PCI {group.pci})"
    if group.uuid or group.pci:
        return f"{what} {group.uuid or f'at PCI {group.pci}'}"
    return f"{what} that the log does not name"


def settled(group: Group, cleared: Collection[tuple[int, str]]) -> Group:
    """The group with whether what the driver asked for was done; `cleared` are GPUs (log, PCI address) that need nothing now."""
    asked = [event for event in group.events if event.words.recovery]
    done = all(event.source == "kernel" and (event.log_id, group.pci) in cleared for event in asked)
    return replace(group, cleared=True) if asked and done and group.boot == 0 else group


def recovery_of(group: Group) -> str | None:
    """The last recovery that the driver asked for."""
    if group.cleared:
        return NOTHING
    asked = [event for event in group.events if event.words.recovery]
    return max(asked, key=lambda one: (one.at or _EARLY, one.log_id, one.line)).words.recovery if asked else None


def verdict_of(group: Group) -> tuple[str, str]:
    """Whose matter it is (hardware, application or information) and how grave."""
    grave = [event for event in group.events if event.meaning.cls in xid_codes.GRAVE]
    recovery = recovery_of(group)
    failed = [event for event in grave if not event.meaning.wear]
    # A nonfatal error of a link, or one that a switch corrected, is no more than a note.
    noted = all(event.meaning.tier >= xid_codes.LAST_TIER - 1 for event in grave)
    if recovery == NOTHING and not any(event.code in xid_codes.STAYS for event in failed):
        return ("hardware", "info" if noted and not failed else "warning") if grave else _mild(group)
    if recovery not in (None, NOTHING):
        return "hardware", _of_boot(group, "error")
    if failed:
        known = any(event.meaning.cls != "unknown" for event in failed)
        return "hardware", _of_boot(group, "error" if known else "warning")
    if grave:
        return "hardware", "info" if noted else "warning"
    return _mild(group)


def _of_boot(group: Group, severity: str) -> str:
    """What a reboot made good is no error any more."""
    return severity if group.boot == 0 or any(event.code in xid_codes.STAYS for event in group.events) else "warning"


def _mild(group: Group) -> tuple[str, str]:
    applied = any(event.meaning.cls in ("application", "consequence") for event in group.events)
    return ("application", "info") if applied else ("information", "info")


def counts_of(group: Group) -> tuple[list[str], int]:
    """Each code with how often it was seen, the leading one first, and all lines; logs repeat one another."""
    logs: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for event in group.events:
        logs[event.log_id, event.section][_label(event)] += 1
    order = list(dict.fromkeys(_label(event) for event in group.events))
    most = {label: max(counter[label] for counter in logs.values()) for label in order}
    told = [label if most[label] == 1 else f"{label} ({most[label]} times)" for label in order]
    return told, max(counter.total() for counter in logs.values())


def _label(event: Event) -> str:
    if event.code is None:
        return event.meaning.name
    return f"{'SXid' if event.switch else 'Xid'} {event.code}"


def part_of(event: Event, group: Group) -> str:
    """What a line is in what befell its GPU: cause, consequence, verdict (the recovery that the driver asks for) or beside.

    The code that leads is the cause, but for those that only follow others. What the driver did about the cause, and what was
    cleaned up after it, is consequence; an error of an application beside a fault of the GPU may be either, and is neither.
    """
    lead = group.events[0]
    if event.meaning.cls == "verdict":
        return "verdict"
    if event.meaning.cls == "consequence":
        return "consequence"
    if event.source == "pcie" and (event.log_id, event.boot) == (lead.log_id, lead.boot):
        return "cause" if event.line <= lead.line else "consequence"
    if event.code == lead.code:
        return "cause"
    grave = event.meaning.cls in xid_codes.GRAVE and lead.meaning.cls in xid_codes.GRAVE
    later = not (event.at and lead.at) or event.at >= lead.at
    return "consequence" if grave and later and event.meaning.tier > lead.meaning.tier else "beside"


def several_jobs(groups: list[Group]) -> set[int]:
    """Groups (by position) whose errors of applications come from several jobs, and only on that GPU.

    Several programs on one GPU are several jobs. One program with several processes may be one job that was started again: it
    counts where no other GPU saw an error of that program.
    """
    on: dict[str, set[int]] = defaultdict(set)
    pids: list[dict[str, set[int]]] = []
    for number, group in enumerate(groups):
        mine: dict[str, set[int]] = defaultdict(set)
        for event in group.events:
            if event.meaning.cls == "application" and event.words.process:
                on[event.words.process].add(number)
                mine[event.words.process].update([event.words.pid] if event.words.pid is not None else [])
        pids.append(mine)
    suspect = set()
    for number, mine in enumerate(pids):
        alone = {process: found for process, found in mine.items() if on[process] == {number}}
        if len(alone) > 1 or any(len(found) >= MANY_PIDS for found in alone.values()):
            suspect.add(number)
    return suspect
