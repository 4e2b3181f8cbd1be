"""The cluster in tables, with something of everything: every kind of cell, every drawing, depths, what is folded."""

from __future__ import annotations

from dataclasses import replace

from analyzer.engine.model import Report
from analyzer.engine.sections import (
    FOLDED,
    SHOWN,
    Bar,
    Cell,
    Devices,
    Row,
    Section,
    Slot,
    Table,
    machine,
    number,
    unknown,
    words,
)

from .sample import SAMPLE

DRAWN: tuple[tuple[tuple[Slot, ...], str], ...] = (
    (("allocated", "allocated", "blocked", "blocked", "blocked", "lost", "blocked", "blocked"),
     "GPU 5 lost; 2 allocated; 5 free by count, but every new GPU pod is rejected"),
    (("mig-failed",) * 6 + ("allocated", "mig-failed"), "7 without instances; GPU 6 held by jl-anna-0"),
    (("allocated",) * 8, "8 allocated"),
    (("allocated",) * 4 + ("free",) * 4, "4 allocated, 4 free"),
    (("cordoned",) * 8, "8 free, but cordoned"),
    (("mig",) * 8, "56 of 56 1g.10gb instances in use"),
    (("allocated",) * 4 + ("unknown",) * 4, "4 allocated by pods; 4 cannot tell: the node's file is cut off"),
    (("free",), "1 free"),
    (("allocated",) * 16, "16 allocated"),
)  # fmt: skip
FOUND = {0: "n1", 1: "c1", 6: "i1", 8: "p1"}


def _node(index: int) -> Row:
    slots, says = DRAWN[index % len(DRAWN)]
    name = f"rack{index // 40 + 1}-gpu-{index:03d}"
    count = len(slots)
    cells = (
        machine(name),
        Cell(drawing=Devices(slots)),
        unknown("cannot tell") if "unknown" in slots else words(f"{count - slots.count('lost')} / {count}"),
        words(says),
    )
    return Row(cells, FOUND.get(index))


GPUS = Section(
    "gpu-nodes", "GPU nodes", "340 nodes, 2,606 GPUs",
    (
        Table("GPU nodes and the state of their GPUs", ("Node", "GPUs", "Allocatable", "In words"),
              tuple(_node(index) for index in range(SHOWN)), tuple(_node(index) for index in range(SHOWN, SHOWN + FOLDED)),
              f"{340 - SHOWN - FOLDED} more nodes"),
    ),
    ("A symbol stands in its own slot only where a log or a claim names the GPU; the others are filled from the left.",),
    "SELECT node, devices FROM gpu_nodes ORDER BY node",
)  # fmt: skip


def _quota(queue: str, flavor: str, bar: Bar | None, says: str, finding: str | None = None, depth: int = 0) -> Row:
    def figure(value: float | None) -> Cell:
        return unknown("not collected") if value is None else number(f"{value:,.0f}")

    if bar is None:
        return Row((machine(queue), *(Cell(),) * 4, words(says)), finding, depth)
    numbers = (figure(bar.nominal), figure(bar.reserved), figure(bar.borrowed), figure(bar.used))
    return Row((machine(queue, flavor), *numbers, Cell(below=says, drawing=bar)), finding, depth)


QUEUES = Section(
    "queues", "Queues and quota", "cohort ai",
    (
        Table(
            "Quota per queue and flavor", ("Queue, flavor, resource", "Nominal", "Reserved", "Borrowed", "Used", "Drawn"),
            (
                _quota("ai", "", None, "cohort of 4 queues"),
                _quota("train-cq", "h100, nvidia.com/gpu", Bar(112, 40, 48, 8, 44, 56), "", "n4", 1),
                _quota("eval-cq", "h100, nvidia.com/gpu", Bar(112, 24, 0, 0, 0), "", None, 1),
                _quota("serving-cq", "h100-mig, nvidia.com/mig-1g.10gb", Bar(112, 112, 70, 0, 70, 56),
                       "Nodes offer 56: quota promises twice what exists", "p1", 1),
                _quota("research-cq", "h200-spot, nvidia.com/gpu", Bar(112, 16, None), "Flavor missing", "n1", 2),
            ),
        ),
        Table(
            "What waits", ("Workload", "State", "Why", "For"),
            (
                Row((machine("research/job-sweep-3", "priority 1000"), words("Waits"),
                     machine("couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor "
                             "h100, 24 more needed"), words("19 h")), "n1"),
                Row((machine("research/job-sweep-4"), words("Waits"), unknown("cannot tell", "the object has no condition"),
                     Cell())),
            ),
        ),
    ),
    ("Kueue's own figures. Bars of one resource share one scale.",),
    "SELECT * FROM kueue_quota WHERE flavor = 'h100'",
)  # fmt: skip

SERVING = Section(
    "serving", "Model serving", "4 services",
    (
        Table(
            "Inference services", ("Service", "Kind", "Runtime", "State", "Ready pods", "Why"),
            (
                Row((machine("serving/embed-bge-m3"), words("KServe"), machine("tei-1.6"), words("Not ready"), number("0 / 14"),
                     words("no node offers a free mig-1g.10gb")), "c1"),
                Row((machine("serving/chat-70b"), words("KServe"), machine("vllm-0.9"), words("Ready, failing"), number("2 / 3"),
                     words("a replica is killed for memory")), "n3"),
                Row((machine("serving/embed-e5-large"), words("KServe"), machine("tei-1.6"), words("Ready"), number("28 / 28"),
                     Cell())),
                Row((machine("serving/asr-whisper"), words("KServe"), machine("triton-25.06"), words("Stopped"), number("0 / 0"),
                     words("stop annotation set by its owner: no fault"))),
                Row((words("any namespace"), words("OME"), Cell(), unknown("cannot tell"), unknown("not collected"),
                     words("OME objects were not collected"))),
            ),
        ),
    ),
)  # fmt: skip

RACK = Section(
    "rack", "One large machine", "",
    (Table("Machines", ("Node", "GPUs"), (Row((machine("rack9-all"), Cell("72 free", drawing=Devices(("free",) * 72)))),)),),
)  # fmt: skip
OVERVIEW = (GPUS, QUEUES, SERVING)
CLUSTER: Report = replace(SAMPLE, overview=(*OVERVIEW, RACK))
"""The sample with its cluster in tables."""
_FEW = replace(GPUS, tables=(replace(GPUS.tables[0], rows=GPUS.tables[0].rows[:9], folded=GPUS.tables[0].rows[9:11]),))
SMALL: Report = replace(SAMPLE, overview=(_FEW, QUEUES, SERVING, RACK))
"""The same with few nodes."""


def largest() -> tuple[Section, ...]:
    """Six sections, each as large as the limits allow: 150 rows of 12 columns of texts, numbers and 16 GPUs."""
    says = "insufficient unused quota for nvidia.com/gpu in flavor h100, 24 more needed, as the scheduler said at last"
    row = Row(
        (machine("tenant-with-a-long-name/service-with-a-long-name-0", "KServe"), Cell("", drawing=Devices(("allocated",) * 16)),
         number("1,024"), unknown("cannot tell"), words(says), machine("vllm-0.9")), "n1",
    )  # fmt: skip
    table = Table("Rows", ("Name", "GPUs", "Count", "State", "Why", "Runtime"), (row,) * SHOWN, (row,) * FOLDED, "1,200 more")
    return tuple(Section(f"part-{letter}", f"Part {letter}", "", (table,), ("A note.",) * 3, "SELECT 1") for letter in "abcdef")


def crowded() -> Report:
    """Tables as wide as they may be: twelve columns of words, of names, of numbers, each with a finding and a deep row."""
    names = tuple(f"Column {index}" for index in range(1, 13))
    tables = (
        Table("Words", names, tuple(Row((words("no more than a few words"),) * 12, "n1", depth) for depth in range(9))),
        Table("Names", names, (Row((machine("tenant-a/service-with-a-long-name-0", "and.one.more.name/below"),) * 12, "c1"),)),
        Table("Numbers", names, (Row((words("sum"), *(number("1,234,567,890"),) * 11), "p1"),)),
        Table("GPUs", names[:6], (Row((words("node"), *(Cell(drawing=Devices(("free",) * 10_000)),) * 2, *(number(1),) * 3)),)),
        Table("Bars", names[:6], (Row((words("queue"), *(Cell("x", drawing=Bar(9, 4, 5, 1, 3, 8)),) * 4, words("x")), "n1"),)),
    )  # fmt: skip
    return replace(SAMPLE, overview=(Section("wide", "Wide tables", "", tables),))
