"""Sections of `nvidia-smi -q` in newer and older spellings, and what lspci says of a link."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts.gpu.smi_sections import of_lspci, of_section


def told(section: str, below: str) -> dict[str, tuple[object, int]]:
    """Field → value and line; the heading is line 10."""
    return {one.field: (one.value, one.line) for one in of_section(section, 10, f"    {section}", below)}


def test_errors_in_newer_spelling() -> None:
    below = """        Volatile
            SRAM Correctable              : 5
            SRAM Uncorrectable Parity     : 0
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 1
        Aggregate
            SRAM Uncorrectable            : N/A
            DRAM Uncorrectable            : N/A
        Aggregate Uncorrectable SRAM Sources
            SRAM L2                       : 7
    Retired Pages
        Single Bit ECC                    : 9"""
    assert told("ECC Errors", below) == {"ecc_volatile": (3, 14)}


def test_errors_in_older_spelling() -> None:
    below = """        Volatile
            Single Bit
                Device Memory     : 8
                Total             : 8
            Double Bit
                Device Memory     : 0
                Total             : 0
        Aggregate
            Double Bit
                Total             : 4"""
    assert told("ECC Errors", below) == {"ecc_volatile": (0, 17), "ecc_aggregate": (4, 20)}


def test_the_same_key_in_several_sections() -> None:
    assert told(
        "MIG Mode", "        Current : Enabled\n        Pending : Disabled\n    ECC Mode\n        Current : Disabled"
    ) == {
        "mig_current": ("Enabled", 11),
        "mig_pending": ("Disabled", 12),
    }
    assert told("MIG Mode", "        Current : N/A\n        Pending : N/A") == {}
    rows = """        Correctable Error : 1
        Uncorrectable Error : 2
        Pending : Yes
        Remapping Failure Occurred : No"""
    assert told("Remapped Rows", rows) == {
        "remapped_correctable": (1, 11),
        "remapped_uncorrectable": (2, 12),
        "remap_pending": (True, 13),
        "remap_failed": (False, 14),
    }
    assert told("Retired Pages", "        Double Bit ECC : 3\n        Pending : No") == {
        "retired_double": (3, 11),
        "retire_pending": (False, 12),
    }
    assert told("Fabric", "        State : Completed\n        Status : Success") == {
        "fabric_state": ("Completed", 11),
        "fabric_status": ("Success", 12),
    }


def test_reasons_of_the_clocks() -> None:
    below = """        Idle                              : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Active"""
    assert told("Clocks Throttle Reasons", below) == {"slowdowns": (["HW Slowdown", "HW Thermal Slowdown"], 13)}
    assert told("Clocks Event Reasons", below.replace(": Active", ": Not Active")) == {"slowdowns": ([], 14)}


def test_widths_of_links() -> None:
    below = """            PCIe Generation
                Current : 1
            Link Width
                Max : 16x
                Current : 8x"""
    assert told("GPU Link Info", below) == {"link_max": (16, 14), "link_width": (8, 15)}
    lines = """\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM
\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x{}
00: de 10
\tLnkSta:\tSpeed 1GT/s, Width x1 (downgraded)"""
    assert list(of_lspci(10, lines.format("16"))) == []
    assert [(one.field, one.value, one.line) for one in of_lspci(10, lines.format("8 (downgraded)"))] == [
        ("lspci_width", 8, 12),
        ("lspci_max", 16, 12),
    ]


@given(
    st.sampled_from(["ECC Errors", "MIG Mode", "Remapped Rows", "GPU Link Info", "other"]),
    st.lists(st.sampled_from(["        ", "            ", "Volatile", "Pending", " : ", "Yes", "9" * 20, "\n", "\t", "x" * 300])),
)
def test_any_lines_are_read_or_left(section: str, parts: list[str]) -> None:
    below = "".join(parts)
    last = 10 + below.count("\n") + 1
    assert all(10 < one.line <= last for one in of_section(section, 10, f"    {section}", below))
    assert all(10 < one.line <= last for one in of_lspci(10, below))
