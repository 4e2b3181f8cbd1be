"""Lines about errors of GPUs and NVSwitches as events, in the order of their logs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import duckdb
import orjson

from analyzer.facts.gpu import xid_codes, xid_lines
from analyzer.facts.gpu.bug_reports import Reports
from analyzer.facts.gpu.log_hosts import Boots, Hosts, Where
from analyzer.facts.gpu.smi_health import Health
from analyzer.facts.gpu.smi_sections import RESETS

_HITS = """
SELECT h.log_id, h.line, h.at, h.text, h.before, h.after, h.signature, h.fields FROM log_hits h
WHERE h.signature LIKE 'gpu/xid%' OR h.signature LIKE 'gpu/sxid%' ORDER BY h.log_id, h.line, h.signature
"""
_UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_LABEL = re.compile(r'(UUID|pci_bus_id|Hostname)="([^"]{1,260})"', re.ASCII)

_KERNEL = frozenset({"gpu/xid", "gpu/xid-memory", "gpu/xid-bus", "gpu/xid-firmware", "gpu/xid-nvlink", "gpu/xid-recovery"})
_SOURCES = {
    "gpu/sxid-fabric-manager": "fabric-manager",
    "gpu/xid-plugin": "device-plugin",
    "gpu/xid-dra-driver": "dra-driver",
    "gpu/xid-dcgm": "dcgm",
    "gpu/xid-metric": "dcgm",
    "gpu/xid-cuda-ecc": "cuda",
    "gpu/xid-gpu-lost": "nvml",
    "gpu/xid-smi-remap": "nvidia-smi",
    "gpu/xid-smi-sram": "nvidia-smi",
    "gpu/xid-smi-pending": "nvidia-smi",
    "gpu/xid-smi-recovery": "nvidia-smi",
    "gpu/xid-smi-reset": "nvidia-smi",
    "gpu/xid-smi-err": "nvidia-smi",
    "gpu/xid-lspci": "lspci",
    "gpu/xid-pcie": "pcie",
}
_LOST = xid_codes.Meaning(
    "the GPU is lost: the driver no longer reaches it", "Drain the node and reboot it; look for Xid 79", "hardware", 2
)
_REMAP = xid_codes.Meaning(
    "memory rows could not be remapped", "Drain the node and reset the GPU; have it replaced if the failure stays", "hardware", 2
)
_SRAM = xid_codes.Meaning(
    "uncorrectable errors of the GPU's SRAM exceed the limit at which NVIDIA replaces it",
    "Drain the node, run NVIDIA's field diagnostic on the GPU and ask for its replacement with the result",
    "hardware",
    2,
)
"""NVIDIA's policy (GPU Memory Error Management): the flag is one of the two criteria for a return."""
_WAITING = {
    "remap_pending": xid_codes.Meaning(
        "memory rows wait to be remapped until the GPU is reset",
        "Drain the node and reset the GPU when it is idle, so that the remapping takes effect",
        "hardware",
        3,
        wear=True,
    ),
    "retire_pending": xid_codes.Meaning(
        "memory pages wait to be retired until the driver is loaded anew",
        "Drain the node and reset the GPU, or reboot, so that the pages are retired",
        "hardware",
        3,
        wear=True,
    ),
}
_UNREAD = xid_codes.Meaning(
    "nvidia-smi cannot read what it shows of the GPU (ERR!)",
    "Look for Xid errors of that GPU in the kernel's log; drain the node and reset the GPU, or reboot",
    "hardware",
    3,
)
_GONE = xid_codes.Meaning(
    "the GPU does not answer on the PCIe bus",
    "Drain the node and reboot it (power cycle where that does not help); look for Xid 79",
    "hardware",
    2,
)
_BUS = xid_codes.Meaning(
    "an uncorrectable error on the GPU's PCIe link",
    "Drain the node; look at the PCIe link, its riser or switch, power and seating of the GPU, and for Xid 79",
    "hardware",
    2,
)
_ASKS = xid_codes.Meaning("the driver asks for a recovery of the GPU", "Do what it says", "verdict", 8)
_ECC = xid_codes.Meaning(
    "CUDA reports an uncorrectable ECC error", "Drain the node and reset the GPU; look for Xid 48, 94 or 95", "hardware", 2
)


_WITHOUT_CODE = {
    "gpu/xid-gpu-lost": _LOST,
    "gpu/xid-cuda-ecc": _ECC,
    "gpu/xid-smi-remap": _REMAP,
    "gpu/xid-smi-sram": _SRAM,
    "gpu/xid-smi-recovery": _ASKS,
    "gpu/xid-smi-reset": _ASKS,
    "gpu/xid-lspci": _GONE,
    "gpu/xid-pcie": _BUS,
    "gpu/xid-smi-err": _UNREAD,
}


@dataclass(frozen=True, slots=True)
class _Hit:
    log_id: int
    line: int
    at: datetime | None
    text: str
    before: str
    after: str
    signature: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line about an error of a GPU, or of an NVSwitch where `switch` is true.

    `port` is the PCIe port that says so where it is not certain that it speaks of a GPU at all; `pci` is what it names then.
    """

    log_id: int
    line: int
    at: datetime | None
    front: xid_lines.Front
    words: xid_lines.Words
    where: Where
    text: str
    source: str
    switch: bool
    code: int | None
    meaning: xid_codes.Meaning
    pci: str | None
    uuid: str | None
    boot: int | None
    section: int
    port: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """All events, and the UUIDs of PCI addresses by the log that tells them."""

    events: list[Event]
    uuids: dict[tuple[int, str], str]


def read(con: duckdb.DuckDBPyConnection, hosts: Hosts, boots: Boots, reports: Reports, health: Health) -> Found:
    """The events of all logs; needs `log_hits`."""
    events: list[Event] = []
    uuids = reports.uuids()
    seen: set[tuple[int, int]] = set()
    for log_id, line, at, text, before, after, signature, fields in con.execute(_HITS).fetchall():
        told = {name: value for name, value in orjson.loads(fields or "{}").items() if value}
        if signature == "gpu/xid-uuid":
            address = xid_lines.pci(told.get("pci"))
            if address:
                uuids[log_id, address] = told["uuid"]
            continue
        # One line may have several signatures.
        if (log_id, line) in seen:
            continue
        hit = _Hit(log_id, line, at, text, before or "", after or "", signature)
        found = [event for one, words in _told(hit, told) if (event := _event(hit, one, words, hosts, boots, reports, health))]
        if found:
            seen.add((log_id, line))
            events += found
    return Found(list(_without_more(_with_boots(events))), uuids)


def _told(hit: _Hit, told: dict[str, Any]) -> list[tuple[dict[str, Any], xid_lines.Words]]:
    """What a line tells, and its words: of the kernel several times, where several messages stand in one line."""
    if hit.signature in _KERNEL:
        several = list(xid_lines.xids(xid_lines.message(hit.text)))
        if several:
            return [(told | {"pci": pci, "code": code}, xid_lines.words(words)) for pci, code, words in several]
    return [(told, xid_lines.words(hit.text))]


def _event(
    hit: _Hit, told: dict[str, Any], words: xid_lines.Words, hosts: Hosts, boots: Boots, reports: Reports, health: Health
) -> Event | None:
    log_id, line, text, signature = hit.log_id, hit.line, hit.text, hit.signature
    if "Xid (" in text and signature in ("gpu/xid-off-bus", "gpu/xid-gpu-lost"):
        return None  # its own signature reads it
    front = xid_lines.front(text, f"{hit.before}\n{hit.after}")
    switch = signature.startswith("gpu/sxid")
    grade = told.get("grade", "").lower().replace("-", "") or words.grade
    code = _code(told)
    address, uuid, host = xid_lines.pci(told.get("pci")), _uuid(told.get("uuid")), front.host
    if signature == "gpu/xid-metric":
        labels = dict(_LABEL.findall(text))
        address, uuid, host = xid_lines.pci(labels.get("pci_bus_id")), _uuid(labels.get("UUID")), labels.get("Hostname")
    if signature == "gpu/xid-off-bus":
        code, address = xid_codes.OFF_BUS, xid_lines.named_pci(text) or xid_lines.named_pci(hit.before)
    if signature == "gpu/xid-gpu-lost":
        address = xid_lines.named_pci(text)
    port = waits = None
    if signature == "gpu/xid-pcie" and told["driver"] != "nvidia":
        named = told.get("from")
        port, address = address, xid_lines.pci(named) if named else xid_lines.requester(told["id"]) if "id" in told else None
    if signature == "gpu/xid-smi-err":
        address = xid_lines.named_pci(text) or xid_lines.named_pci(hit.before)
    elif signature.startswith("gpu/xid-smi-"):
        address = reports.gpu_above(log_id, line)
        state = health.pending(log_id, address, line) if signature == "gpu/xid-smi-pending" else _states(signature, told)
        if state is None or health.newer(log_id, address, state, line):
            return None  # of another section, or the log says otherwise later
        waits = _WAITING.get(state)
    if waits:
        meaning = waits
    elif signature in _WITHOUT_CODE:
        meaning = replace(_WITHOUT_CODE[signature], wear=grade == "nonfatal" or signature == "gpu/xid-smi-err")
    elif code is None:
        return None
    else:
        meaning = xid_codes.of_switch(code, grade) if switch else xid_codes.of_gpu(code, grade)
    recovery = told.get("recovery") or (RESETS[told["what"]][1] if "what" in told else None)
    words = replace(words, grade=grade or None, recovery=recovery or words.recovery)
    return Event(
        log_id=log_id,
        line=line,
        at=hit.at or front.at,
        front=front,
        words=words,
        where=hosts.where(log_id, host),
        text=text,
        source=_SOURCES.get(signature, "kernel"),
        switch=switch,
        code=code,
        meaning=meaning,
        pci=address,
        uuid=uuid,
        boot=boots.of(log_id, line),
        section=boots.section(log_id, line),
        port=port,
    )


def _states(signature: str, told: dict[str, Any]) -> str:
    """The field of `gpu_health` that a line of `nvidia-smi -q` fills."""
    if "what" in told:
        return RESETS[told["what"]][0]
    return {"gpu/xid-smi-recovery": "recovery", "gpu/xid-smi-sram": "sram_exceeded"}.get(signature, "remap_failed")


def _code(told: dict[str, Any]) -> int | None:
    value = told.get("code") or told.get("code2") or ("64" if "index3" in told else None)
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else None


def _uuid(value: str | None) -> str | None:
    """The UUID of a GPU; of a MIG device in the older spelling that of its GPU."""
    if not value:
        return None
    found = _UUID.search(value)
    return found[0] if found else value if value.startswith(("GPU-", "MIG-")) else None


def _with_boots(events: list[Event]) -> Iterator[Event]:
    """Boots where nothing marks them: by the ids that journald gives, and where the kernel's clock begins anew."""
    logs: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        logs[event.log_id].append(event)
    for found in logs.values():
        numbers: list[int] = []
        ids: dict[str, int] = {}
        number, last = 0, 0.0
        for event in found:
            if event.front.boot:
                number = ids.setdefault(event.front.boot, len(ids))
            elif event.front.uptime is not None:
                number += event.front.uptime < last - 1
                last = event.front.uptime
            numbers.append(number)
        newest = max(numbers)
        for event, one in zip(found, numbers, strict=True):
            yield replace(event, boot=one - newest) if event.boot is None else event


def _without_more(events: Iterator[Event]) -> Iterator[Event]:
    """Without the lines that only continue a SXid that the same log tells whole."""
    kept = list(events)
    whole = {(event.log_id, event.pci, event.code) for event in kept if event.switch and not event.words.more}
    for event in kept:
        if not (event.switch and event.words.more and (event.log_id, event.pci, event.code) in whole):
            yield event
