"""Reports of nvidia-bug-report.sh: alone, packed, beside manifests; and logs of GPUs as a bundle of their own."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer import times
from analyzer.bundle.formats import recognise
from analyzer.bundle.formats.nvidia_bug_report import is_report
from analyzer.bundle.host_clock import HostClock
from analyzer.bundle.logs import time_of
from analyzer.bundle.parse_nvidia import masked, written_at
from analyzer.bundle.types import Entry
from tests.program import said

ROOT = Path(__file__).parents[2]
REPORT = """____________________________________________

Start of NVIDIA bug report log file.

Date: Sun Nov  1 12:00:00 UTC 2026
uname: Linux forge-7 5.15.0-100-generic #1-Ubuntu SMP x86_64 GNU/Linux

____________________________________________

/usr/bin/journalctl -b -0:

Nov 01 10:00:00 forge-7 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.

____________________________________________

/usr/bin/nvidia-smi --query

GPU 00000000:1B:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Serial Number                         : 1650124014249
    GPU UUID                              : GPU-00c0ffee-0001-0002-0003-000000000001
    GSP Firmware Version                  : 535.129.03
    MIG Mode
        Current                           : Enabled
        Pending                           : Disabled
    Clocks Throttle Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active

____________________________________________

dmidecode
	Serial Number: F0RGE7SER
	UUID: 4c4c4544-0000-1111-2222-333344445555
	link/ether 0c:42:a1:de:ad:01 brd
____________________________________________

"""


def analyzed(path: Path, out: Path) -> duckdb.DuckDBPyConnection:
    """The database that an analysis leaves."""
    done = said("analyze", path, "-o", out, "--format", "json", "--format", "md", "--jobs", "1")
    assert (done.returncode, done.stderr) == (0, "")
    return duckdb.connect(str(out / "bundle.duckdb"), read_only=True)


@pytest.mark.parametrize("packed", [False, True])
def test_a_report_alone(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("nvidia-bug-report.log" + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(REPORT.encode()) if packed else REPORT.encode())
    con = analyzed(path, tmp_path / "out")
    assert con.execute("SELECT format, format_at FROM inputs").fetchall() == [
        ("nvidia-bug-report", datetime(2026, 11, 1, 12, tzinfo=UTC).replace(tzinfo=None))
    ]
    found = con.execute("SELECT host, pci, uuid, code, severity FROM xid_gpus").fetchall()
    assert found == [("forge-7", "0000:1b:00", "GPU-00c0ffee-0001-0002-0003-000000000001", 79, "error")]
    assert con.execute("SELECT code FROM findings WHERE code = 'gpu/HardwareFault'").fetchall()
    assert con.execute("SELECT count(*) FROM bug_report_gpus").fetchall() == [(1,)]
    con.close()
    kept = (tmp_path / "out" / "bundle.duckdb").read_bytes()
    assert b"Serial Number" in kept
    for number in (b"1650124014249", b"F0RGE7SER", b"4c4c4544", b"0c:42:a1"):
        assert number not in kept


def test_the_lines_of_a_report_are_dated_by_its_own_clock(tmp_path: Path) -> None:
    listed = "*** ls: -r--r--r-- 1 root root 0 2026-11-01 12:00:04.000000000 +0100 /proc/driver/nvidia/./version\n"
    path = tmp_path / "nvidia-bug-report.log"
    path.write_text(REPORT.replace("UTC 2026", "CET 2026").replace("/usr/bin/journalctl", listed + "\n/usr/bin/journalctl"))
    con = analyzed(path, tmp_path / "out")
    assert con.execute("SELECT as_of::VARCHAR FROM inputs").fetchall() == [("2026-11-01 11:00:00",)]
    found = con.execute("""SELECT "at"::VARCHAR, stamp FROM xid_events""").fetchall()
    assert found == [("2026-11-01 09:00:00", "Nov 01 10:00:00")]
    assert con.execute("SELECT since::VARCHAR FROM findings WHERE code = 'gpu/HardwareFault'").fetchall() == [
        ("2026-11-01 09:00:00",)
    ]


@pytest.mark.parametrize(
    ("code", "address", "slot"),
    [("79", "0000:3b:00", 1), ("48", "0000:86:00", 2), ("48", "0000:1b:00", 0), ("48", "0000:ff:00", None)],
)
def test_the_number_of_a_gpu_counts_the_one_that_is_lost(tmp_path: Path, code: str, address: str, slot: int | None) -> None:
    gone = "Unable to determine the device handle for GPU1: 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
    later = "GPU 00000000:86:00.0\n    Product Name                          : NVIDIA A100-SXM4-80GB\n\n"
    text = REPORT.replace("0000:1b:00): 79", f"{address}): {code}").replace(
        "nvidia-smi --query\n", "nvidia-smi --query\n\n" + gone
    )
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "nvidia-bug-report_forge-7.log").write_text(
        text.replace("_" * 44 + "\n\ndmi", later + "_" * 44 + "\n\ndmi")
    )
    (tmp_path / "sent" / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: forge-7}\nstatus: {}\n")
    con = analyzed(tmp_path / "sent", tmp_path / "out")
    assert con.execute("SELECT slot FROM xid_gpus WHERE pci = ?", [address]).fetchall() == [(slot,)]


PROC = """*** /proc/driver/nvidia/./gpus/0000:{bus}:00.0/information
*** ls: -r--r--r-- 1 root root 0 2026-11-01 12:00:00.000000000 +0000 /proc/driver/nvidia/./gpus/0000:{bus}:00.0/information
Model: \t\t NVIDIA A100-SXM4-80GB
IRQ:   \t\t 25{minor}
GPU UUID: \t {uuid}
Video BIOS: \t ??.??.??.??.??
Bus Location: \t 0000:{bus}:00.0
Device Minor: \t {minor}
GPU Firmware: \t N/A

____________________________________________

"""


def test_the_kernel_module_knows_a_gpu_that_nvidia_smi_does_not_reach(tmp_path: Path) -> None:
    uuid = "GPU-00c0ffee-0001-0002-0003-00000000003b"
    module = PROC.format(bus="1b", minor=0, uuid="GPU-????????-????-????-????-????????????") + PROC.format(
        bus="3b", minor=1, uuid=uuid
    )
    path = tmp_path / "nvidia-bug-report.log"
    path.write_text(
        REPORT.replace("/usr/bin/journalctl", module + "/usr/bin/journalctl").replace("(PCI:0000:1b:00)", "(PCI:0000:3b:00)")
    )
    con = analyzed(path, tmp_path / "out")
    assert con.execute("SELECT pci, uuid, minor, firmware FROM bug_report_gpus ORDER BY pci").fetchall() == [
        ("0000:1b:00", "GPU-00c0ffee-0001-0002-0003-000000000001", 0, "535.129.03"),
        ("0000:3b:00", uuid, 1, None),
    ]
    assert con.execute("SELECT pci, uuid FROM xid_gpus").fetchall() == [("0000:3b:00", uuid)]


def test_a_report_beside_manifests_is_one_of_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "sent"
    (folder / "hosts").mkdir(parents=True)
    (folder / "hosts" / "nvidia-bug-report_forge-7.log.gz").write_bytes(gzip.compress(REPORT.encode()))
    (folder / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: forge-7}\nstatus: {}\n")
    con = analyzed(folder, tmp_path / "out")
    assert con.execute("SELECT format, format_at FROM inputs").fetchall() == [("plain", None)]
    assert con.execute("SELECT node, node_id IS NOT NULL FROM xid_gpus").fetchall() == [("forge-7", True)]
    found = con.execute("SELECT node, pci, mig_current, mig_pending, slowdowns, remap_failed FROM gpu_health").fetchall()
    assert found == [("forge-7", "0000:1b:00", "Enabled", "Disabled", ["HW Slowdown"], None)]
    con.close()
    report = (tmp_path / "out" / "report.md").read_text()
    assert report.count("MIG mode is Enabled, Disabled from the next reset on") == 1
    shown = said("show", tmp_path / "out", "node/forge-7").stdout
    assert "MIG mode is Enabled, Disabled from the next reset on" in shown
    assert "slowed down: HW Slowdown" in shown
    assert "nvidia-bug-report_forge-7.log.gz:" in shown


def test_a_line_from_dmesg_alone_is_a_bundle_about_gpus(tmp_path: Path) -> None:
    path = tmp_path / "dmesg.txt.log"
    path.write_text("[1.1] NVRM: Xid (PCI:0000:1b:00): 31, pid=1, name=a, fault\n" * 500)
    con = analyzed(path, tmp_path / "out")
    assert con.execute("SELECT severity, least, events FROM xid_gpus").fetchall() == [("info", True, 200)]


def test_a_flood_of_application_errors_hides_no_fault(tmp_path: Path) -> None:
    flood = "[{n}.1] NVRM: Xid (PCI:0000:1b:00): 13, pid=1, name=a, fault\n"
    lines = [flood.format(n=number) for number in range(1, 1001)]
    lines[500] = "[501.1] NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=a, DBE\n"
    lines[501] = (
        "[502.1] NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n"
    )
    path = tmp_path / "dmesg.log"
    path.write_text("".join(lines))
    con = analyzed(path, tmp_path / "out")
    found = con.execute("SELECT pci, severity, recovery FROM xid_gpus ORDER BY pci").fetchall()
    assert found == [("0000:1b:00", "error", "GPU Reset Required"), ("0000:3b:00", "error", None)]


_LISTED = b"*** ls: -r--r--r-- 1 root root 0 2026-11-01 %s /proc/driver/nvidia/./version"


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (b"Date: Sun Nov  1 12:00:00 UTC 2026", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        (b"Date: Sun 01 Nov 2026 12:30:00 AM UTC", datetime(2026, 11, 1, 0, 30, tzinfo=UTC)),
        (b"Date: Sun 01 Nov 2026 01:30:00 PM GMT", datetime(2026, 11, 1, 13, 30, tzinfo=UTC)),
        (b"Date: Sun Nov  1 12:00:00 CET 2026", None),
        (b"Date: Sun Nov  1 12:00:00 +0530 2026", datetime(2026, 11, 1, 6, 30, tzinfo=UTC)),
        (b"Date: Sun Nov  1 12:00:00 -03 2026", datetime(2026, 11, 1, 15, tzinfo=UTC)),
        (b"Date: Sun Nov  1 12:00:00 +9900 2026", None),
        (b"Date: Sun Nov  1 12:00:00 CET 2026\n" + _LISTED % b"12:00:03.000000000 +0100", datetime(2026, 11, 1, 11, tzinfo=UTC)),
        # What is listed was listed by another clock, or is no file that is made while it is read.
        (b"Date: Sun Nov  1 12:00:00 CET 2026\n" + _LISTED % b"07:00:03.000000000 +0100", None),
        (b"Date: Sun Nov  1 12:00:00 CET 2026\n" + _LISTED.replace(b"/proc", b"/etc") % b"12:00:03.0 +0100", None),
        (b"Date: Sun Nov 31 12:00:00 UTC 2026", None),
        (b"Date: Sun Nov 30 25:00:00 UTC 2026", None),
        (b"Dates", None),
    ],
)
def test_dates(line: bytes, at: datetime | None) -> None:
    told = written_at(b"x\n" + line + b"\nrest")
    assert (told[0].end if told else None) == at


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (b"Nov  1 11:58:00 quay-7 kernel: NVRM: Xid", "2026-11-01T10:58:00Z"),
        (b"Nov  1 11:58:00.123456 quay-7 kernel: NVRM: Xid", "2026-11-01T10:58:00Z"),
        (b"<4>Dec 31 23:30:00 quay-7 kernel: NVRM: Xid", "2025-12-31T22:30:00Z"),
        (b"kern  :err   : [Sun Nov  1 11:58:00 2026] NVRM: Xid", "2026-11-01T10:58:00Z"),
        (b"[Nov 01 2026 11:58:00] [ERROR] [tid 7] fabric", "2026-11-01T10:58:00Z"),
        (b"2026-11-01T11:58:00Z quay-7 kernel: NVRM: Xid", "2026-11-01T11:58:00Z"),
        (b"Feb 29 11:58:00 quay-7 kernel: NVRM: Xid", None),
        (b"[ 7120.120000] NVRM: Xid", None),
        (b"Nov 1st", None),
    ],
)
def test_a_line_without_a_zone_is_dated_by_the_clock_of_the_report(line: bytes, at: str | None) -> None:
    clock = HostClock(datetime(2026, 11, 1, 11, tzinfo=UTC), timedelta(hours=1))
    assert times.rfc3339(time_of(line, clock)) == at


def test_the_year_of_a_line_that_is_newer_than_the_report_by_little_is_the_reports() -> None:
    clock = HostClock(datetime(2026, 12, 31, 23, 59, tzinfo=UTC), timedelta())
    assert times.rfc3339(clock.time_of(b"Dec 31 23:59:30 quay-7 kernel: x")) == "2026-12-31T23:59:30Z"
    assert times.rfc3339(clock.time_of(b"Jan  2 00:00:00 quay-7 kernel: x")) == "2026-01-02T00:00:00Z"


@given(st.binary(max_size=60), st.integers(-14, 14))
def test_any_line_has_a_time_or_none(data: bytes, hours: int) -> None:
    clock = HostClock(datetime(2026, 11, 1, 11, tzinfo=UTC), timedelta(hours=hours))
    clock.time_of(b"Nov " + data)
    clock.time_of(b"[Nov " + data)


@given(st.binary(max_size=300))
def test_any_bytes_have_a_date_or_none(data: bytes) -> None:
    written_at(b"Date: " + data)


@given(
    st.lists(st.sampled_from([b"Serial Number : 12\n", b"GPU UUID : GPU-1\n", b"\n", b"00000000:1B:00.0", b"0c:42:a1:de:ad:01"]))
)
def test_masking_keeps_the_lines(parts: list[bytes]) -> None:
    text = b"\n".join(parts)
    told = masked(text)
    assert told.count(b"\n") == text.count(b"\n")
    assert told.count(b"GPU-1") == text.count(b"GPU-1")
    assert b": 12" not in told
    assert b"0c:" not in told


def test_names() -> None:
    assert is_report("nvidia-bug-report.log.gz")
    assert is_report("nvidia-bug-report_forge-7.log")
    assert not is_report("nvidia-bug-report.sh")
    paths = ["a/nvidia-bug-report.log.gz", "b/nvidia-bug-report.log"]
    assert recognise(Entry(path, 10) for path in paths).format == "nvidia-bug-report"
