"""The sections of `nvidia-smi -q`, and what `lspci -v` says of a link: lines that mean something only by what they stand under.

The same keys stand in several sections (Current and Pending, Volatile and Aggregate), told apart by their indentation alone.
Spellings are those of nvidia-smi since release 418, lspci's those of pciutils 3.5 and newer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"\d{1,15}", re.ASCII)
_WIDTH = re.compile(r"(\d{1,3})x", re.ASCII)
_LINK = re.compile(r"\s+Lnk(?P<what>Cap|Sta):.{0,80}?\bWidth x(?P<width>\d{1,3})(?P<less> \(downgraded\))?", re.ASCII)
NOT_TOLD = frozenset({"N/A", "[N/A]"})
"""What nvidia-smi writes where the GPU does not say."""
_YES_NO = {"Yes": True, "No": False}
_UNCORRECTED = ("Volatile", "Aggregate")
_SLOWDOWNS = ("HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown")
_ACTIVE = "Active"
RESETS = {"Reset Required": ("reset_required", "Reset"), "Drain and Reset Recommended": ("drain_recommended", "Drain and Reset")}
"""What drivers before GPU Recovery Action say of a reset: the field, and the same as a recovery action."""

Value = str | int | bool | list[str]


@dataclass(frozen=True, slots=True)
class Told:
    """What a line says: the column that it fills, its value, the line's number in the file and its text."""

    field: str
    value: Value
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Leaf:
    path: tuple[str, ...]
    value: str
    line: int
    text: str


def of_section(section: str, line: int, text: str, below: str) -> Iterator[Told]:
    """What a section says of its GPU.

    Args:
        section: its heading.
        line: the heading's number in the file.
        text: the heading as it is written.
        below: the lines after it; those that are not indented deeper are no part of it.
    """
    read = _READERS.get(section)
    if read is not None:
        yield from read(list(_leaves(line, text, below)))


def _leaves(line: int, text: str, below: str) -> Iterator[_Leaf]:
    """The lines with a value that stand under a heading, each with the headings between."""
    top = len(text) - len(text.lstrip(" "))
    over: list[tuple[int, str]] = []
    for number, one in enumerate(below.split("\n"), line + 1):
        indent = len(one) - len(one.lstrip(" "))
        key, _, value = one.strip().partition(":")
        if indent <= top or not key:
            return
        while over and over[-1][0] >= indent:
            over.pop()
        over.append((indent, key.rstrip()))
        if value:
            yield _Leaf(tuple(name for _, name in over), value.strip(), number, one)


def _number(leaf: _Leaf) -> int | None:
    return int(leaf.value) if _NUMBER.fullmatch(leaf.value) else None


def _named(names: dict[str, str], leaves: list[_Leaf]) -> Iterator[Told]:
    """Values of keys that stand in the section itself: yes or no, numbers, else words; N/A says nothing."""
    for leaf in leaves:
        if len(leaf.path) == 1 and leaf.path[0] in names and leaf.value not in NOT_TOLD:
            number = _number(leaf)
            value = _YES_NO.get(leaf.value, leaf.value if number is None else number)
            yield Told(names[leaf.path[0]], value, leaf.line, leaf.text)


def _remapped(leaves: list[_Leaf]) -> Iterator[Told]:
    names = {
        "Correctable Error": "remapped_correctable",
        "Uncorrectable Error": "remapped_uncorrectable",
        "Pending": "remap_pending",
        "Remapping Failure Occurred": "remap_failed",
    }
    yield from _typed(_named(names, leaves))


def _retired(leaves: list[_Leaf]) -> Iterator[Told]:
    names = {
        "Single Bit ECC": "retired_single",
        "Double Bit ECC": "retired_double",
        "Pending": "retire_pending",
        "Pending Page Blacklist": "retire_pending",
    }
    yield from _typed(_named(names, leaves))


def _typed(told: Iterator[Told]) -> Iterator[Told]:
    """Only counts and yes or no: what else stands there says nothing."""
    for one in told:
        flag = one.field.endswith(("_pending", "_failed"))
        if isinstance(one.value, bool) if flag else type(one.value) is int:
            yield one


def _mig(leaves: list[_Leaf]) -> Iterator[Told]:
    for one in _named({"Current": "mig_current", "Pending": "mig_pending"}, leaves):
        if one.value in ("Enabled", "Disabled"):
            yield one


def _fabric(leaves: list[_Leaf]) -> Iterator[Told]:
    for one in _named({"State": "fabric_state", "Status": "fabric_status"}, leaves):
        if isinstance(one.value, str):
            yield one


def _slowed(leaves: list[_Leaf]) -> Iterator[Told]:
    """Which of the hardware's own reasons to slow the clocks down are active."""
    known = [leaf for leaf in leaves if leaf.path[-1] in _SLOWDOWNS]
    active = [leaf for leaf in known if leaf.value == _ACTIVE]
    if known:
        # The reason behind a slowdown stands below it, and says more.
        shown = (active or known)[-1]
        yield Told("slowdowns", [leaf.path[-1] for leaf in active], shown.line, shown.text)


def _reset(leaves: list[_Leaf]) -> Iterator[Told]:
    for leaf in leaves:
        if leaf.value in _YES_NO and len(leaf.path) == 1 and leaf.path[0] in RESETS:
            yield Told(RESETS[leaf.path[0]][0], _YES_NO[leaf.value], leaf.line, leaf.text)


def _link(leaves: list[_Leaf]) -> Iterator[Told]:
    for leaf in leaves:
        width = _WIDTH.fullmatch(leaf.value)
        if width and leaf.path[0] == "Link Width" and leaf.path[-1] in ("Current", "Max"):
            yield Told("link_width" if leaf.path[-1] == "Current" else "link_max", int(width[1]), leaf.line, leaf.text)


def _errors(leaves: list[_Leaf]) -> Iterator[Told]:
    """Uncorrectable errors: newer drivers count them by memory, older ones as a total of double bits."""
    for kind in _UNCORRECTED:
        mine = [leaf for leaf in leaves if leaf.path[0] == kind and _number(leaf) is not None]
        counted = [leaf for leaf in mine if len(leaf.path) == 2 and "Uncorrectable" in leaf.path[1]] or [
            leaf for leaf in mine if leaf.path[1:] == ("Double Bit", "Total")
        ]
        if counted:
            shown = next((leaf for leaf in counted if _number(leaf)), counted[-1])
            yield Told(f"ecc_{kind.lower()}", sum(_number(leaf) or 0 for leaf in counted), shown.line, shown.text)
    for leaf in leaves:
        if leaf.path[-1] == "SRAM Threshold Exceeded" and leaf.value in _YES_NO:
            yield Told("sram_exceeded", _YES_NO[leaf.value], leaf.line, leaf.text)


_READERS: dict[str, Callable[[list[_Leaf]], Iterator[Told]]] = {
    "MIG Mode": _mig,
    "ECC Errors": _errors,
    "Retired Pages": _retired,
    "Remapped Rows": _remapped,
    "Clocks Event Reasons": _slowed,
    "Clocks Throttle Reasons": _slowed,
    "GPU Reset Status": _reset,
    "GPU Link Info": _link,
    "Fabric": _fabric,
}


def of_lspci(line: int, below: str) -> Iterator[Told]:
    """Width of the PCIe link that lspci tells below a device: only where it is less than what the device can.

    The speed says nothing: a GPU that idles lowers it.

    Args:
        line: the number of the device's line in the file.
        below: the lines after it; the first that is not indented ends it.
    """
    most = None
    for number, text in enumerate(below.split("\n"), line + 1):
        if not text[:1].isspace():
            return
        found = _LINK.match(text)
        if found is None:
            continue
        width = int(found["width"])
        if found["what"] == "Cap":
            most = width
        elif found["less"] or (most is not None and 0 < width < most):
            yield Told("lspci_width", width, number, text)
            if most is not None:
                yield Told("lspci_max", most, number, text)
