"""What the codes of NVIDIA's kernel driver (Xid) and NVSwitch driver (SXid) mean; the tables are data beside this module.

Sources: NVIDIA's Xid catalogue and fabric manager guide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec

from analyzer.facts.data import beside

RECOVERY = 154
"""The Xid with which the driver says what recovery a GPU needs."""
OFF_BUS = 79
NVLINK5 = range(144, 151)
"""Xids of NVLink 5, whose lines say themselves whether they are fatal."""
GRAVE = frozenset({"hardware", "fabric", "driver", "unknown"})
"""Classes that are no application's fault."""
STAYS = frozenset({64, 157})
"""Xids that a reboot does not undo."""

LAST_TIER = 9


@dataclass(frozen=True, slots=True)
class Meaning:
    """A code: whose matter it is, how near to the cause (`tier`, 1 is nearest), what it means and what to do.

    `wear` tells that nothing has failed: the driver, or the switch, dealt with it. `listed` is False for a code that is in no
    list: it never leads where one that is known counts as much.
    """

    name: str
    action: str
    cls: str
    tier: int
    wear: bool = False
    listed: bool = True


class _Row(msgspec.Struct, frozen=True, rename={"cls": "class"}, forbid_unknown_fields=True):
    codes: tuple[int, ...]
    cls: str
    tier: int
    name: str
    action: str
    wear: bool = False


class _Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fatal: tuple[str, ...]
    grave: tuple[str, ...]
    harmless: tuple[str, ...]
    names: dict[str, str]
    action: dict[str, str]


@lru_cache(maxsize=1)
def gpu_codes() -> dict[int, Meaning]:
    """All known Xids."""
    rows = beside(__file__, "xid.yaml", list[_Row])
    return {code: Meaning(row.name, row.action, row.cls, row.tier, row.wear) for row in rows for code in row.codes}


def of_gpu(code: int, grade: str | None = None) -> Meaning:
    """What a Xid means; `grade` is what its line says of itself: fatal or nonfatal."""
    known = gpu_codes().get(code)
    if known is None:
        return Meaning(
            "a code that NVIDIA's catalogue does not describe",
            "Contact the vendor with nvidia-bug-report.sh",
            "unknown",
            4,
            listed=False,
        )
    if code in NVLINK5 and grade == "nonfatal":
        return replace(known, tier=8, wear=True, action="Nothing at once; watch whether fatal errors of that link follow")
    return known


def of_switch(code: int, grade: str | None = None) -> Meaning:
    """What a SXid means; what its line says of itself counts more than the table, but for those that are always fatal."""
    table, graded = _switch(), _graded()
    known = graded.get(code)
    if known == "fatal" or grade == "fatal":
        kind, tier, wear = "fatal", 1, False
    elif known == "harmless" or grade == "nonfatal":
        kind, tier, wear = "harmless", 8, True
    elif known == "grave":
        kind, tier, wear = "grave", 4, True
    else:
        return Meaning(
            "a code of the NVSwitch that is in no list",
            "Contact the vendor with nvidia-bug-report.sh",
            "unknown",
            4,
            wear=True,
            listed=False,
        )
    plain = {
        "fatal": "fatal error of the NVSwitch",
        "grave": "error of the NVSwitch",
        "harmless": "error that the NVSwitch corrected",
    }
    name = table.names.get(str(code), plain[kind])
    cls = "information" if kind == "harmless" else "fabric"
    return Meaning(name, table.action[kind], cls, tier, wear, listed=known is not None)


@lru_cache(maxsize=1)
def _switch() -> _Switch:
    return beside(__file__, "sxid.yaml", _Switch)


@lru_cache(maxsize=1)
def _graded() -> dict[int, str]:
    table = _switch()
    found: dict[int, str] = {}
    for grade, spans in (("harmless", table.harmless), ("grave", table.grave), ("fatal", table.fatal)):
        for span in spans:
            first, _, last = span.partition("-")
            found |= dict.fromkeys(range(int(first), int(last or first) + 1), grade)
    return found
