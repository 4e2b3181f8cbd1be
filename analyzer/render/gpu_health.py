"""A row of table `gpu_health` in words, as the report and `triage show` tell it: only what is not as it should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.render.words import listed, plural

Told = tuple[str, tuple[str, ...]]
"""Words, empty where all is well or nothing is known, and the fields of `gpu_health` that they stand for."""


def told_of(row: Mapping[str, Any]) -> Iterator[Told]:
    """What is told of a GPU, the gravest first."""
    recovery = row["recovery"]
    asks = f"the driver asks for: {recovery}" if recovery not in (None, "None") else ""
    yield asks, ("recovery", "reset_required", "drain_recommended")
    yield "memory rows could not be remapped" if row["remap_failed"] else "", ("remap_failed",)
    yield "more SRAM errors than NVIDIA's limit allows" if row["sram_exceeded"] else "", ("sram_exceeded",)
    yield "memory rows wait to be remapped until a reset" if row["remap_pending"] else "", ("remap_pending",)
    yield "memory pages wait to be retired" if row["retire_pending"] else "", ("retire_pending",)
    for name, since in (("ecc_volatile", "since the driver was loaded"), ("ecc_aggregate", "in its life")):
        yield f"{plural(row[name], 'uncorrectable memory error')} {since}" if row[name] else "", (name,)
    rows = row["remapped_uncorrectable"]
    yield f"{plural(rows, 'memory row')} remapped for uncorrectable errors" if rows else "", ("remapped_uncorrectable",)
    pages = row["retired_double"]
    yield f"{plural(pages, 'memory page')} retired for double-bit errors" if pages else "", ("retired_double",)
    yield f"slowed down: {listed(row['slowdowns'], 3)}" if row["slowdowns"] else "", ("slowdowns",)
    now, later = row["mig_current"], row["mig_pending"]
    yield (
        f"MIG mode is {now}, {later} from the next reset on" if now and later and now != later else "",
        ("mig_current", "mig_pending"),
    )
    state, status = row["fabric_state"], row["fabric_status"]
    joined = state in (None, "Completed", "Not Supported") and status in (None, "Success")
    yield (
        "" if joined else f"NVLink fabric: {listed([one for one in (state, status) if one], 2)}",
        ("fabric_state", "fabric_status"),
    )
    narrow = row["link_width"] and row["link_max"] and row["link_width"] < row["link_max"]
    lanes = (row["lspci_width"], row["lspci_max"]) if row["lspci_width"] else (row["link_width"], row["link_max"])
    of = f" of {lanes[1]}" if lanes[1] else ""
    yield (
        f"PCIe link uses {lanes[0]}{of} lanes" if narrow or row["lspci_width"] else "",
        (
            "link_width",
            "link_max",
            "lspci_width",
            "lspci_max",
        ),
    )
