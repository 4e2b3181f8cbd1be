"""Lines about errors of GPUs in every way that they are written, and what their codes mean."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analyzer.bundle.formats.base import Place
from analyzer.bundle.signatures import Scanner, search
from analyzer.engine.pack import load_packs, signatures_of
from analyzer.facts.gpu import stack_words, xid_codes, xid_lines

RULES = Path(__file__).parents[2] / "rules" / "gpu"


def utc(*parts: int) -> datetime:
    """A time as the tables hold it."""
    return datetime(*parts, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[misc,arg-type]


XID = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("line", "at", "stamp", "host"),
    [
        (f"[171167.620236] {XID}", None, "171167.620236 s after the boot", None),
        (f"<4>[  100.5] {XID}", None, "100.500000 s after the boot", None),
        (f"[Sun Nov  1 11:00:00 2026] {XID}", None, "Sun Nov  1 11:00:00 2026", None),
        (f"kern  :warn  : 2026-11-01T11:00:00,250000+00:00 {XID}", utc(2026, 11, 1, 11, 0, 0, 250000), None, None),
        (f"4,3973,227996636,-;{XID}", None, "227.996636 s after the boot", None),
        (f"Nov  1 11:00:00 forge-1.lab kernel: {XID}", None, "Nov  1 11:00:00", "forge-1.lab"),
        (f"Nov 01 11:00:00.123456 forge-1 kernel: {XID}", None, "Nov 01 11:00:00.123456", "forge-1"),
        (f"2026-11-01T11:00:00+0000 forge-1 kernel: {XID}", utc(2026, 11, 1, 11), None, "forge-1"),
        (f"2026-11-01T11:00:00.5Z [ 5.100000] {XID}", utc(2026, 11, 1, 11, 0, 0, 500000), "5.100000 s after the boot", None),
        (f"[pod/gpu-watch/c] 2026-11-01T11:00:00Z {XID}", utc(2026, 11, 1, 11), None, None),
        ("[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error", None, "Jul 23 2024 07:53:55", None),
        (
            '{"__REALTIME_TIMESTAMP":"1793530800000000","_BOOT_ID":"' + "a" * 32 + f'","_HOSTNAME":"forge-1","MESSAGE":"{XID}"}}',
            utc(2026, 11, 1, 11),
            None,
            "forge-1",
        ),
        (f"kern  :warn  : [ 1.500000] {XID}", None, "1.500000 s after the boot", None),
        (f"kern  :warn  : [Sun Nov  1 11:00:00 2026] {XID}", None, "Sun Nov  1 11:00:00 2026", None),
        (
            f"2026-11-01T11:00:00+0000 forge-1 kernel: [ 7.500000] {XID}",
            utc(2026, 11, 1, 11),
            "7.500000 s after the boot",
            "forge-1",
        ),
        (
            f'2026-11-01T11:00:00Z stdout F {{"log":"[ 1.500000] {XID}\\n","stream":"stdout"}}',
            utc(2026, 11, 1, 11),
            "1.500000 s after the boot",
            None,
        ),
        (XID, None, None, None),
    ],
)
def test_what_stands_before_the_words(line: str, at: datetime | None, stamp: str | None, host: str | None) -> None:
    front = xid_lines.front(line)
    assert (front.at, front.stamp, front.host) == (at, stamp, host)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Xid (PCI:0000:1b:00): 13, pid=77, name=python3, Graphics", (77, "python3", None, None)),
        ("Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, gone", (None, None, None, None)),
        ("Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x0)", (None, None, "fatal", None)),
        ("Xid (PCI:0009:01:00): 145, pid=876767, name=ray::Worker, RLW Nonfatal XC0", (876767, "ray::Worker", "nonfatal", None)),
        (
            "Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            (None, None, None, "Drain and Reset"),
        ),
        ("Xid (PCI:0000:1b:00): 13, pid='77', name='my app', Graphics", (77, "my app", None, None)),
        (
            r'{"log":"NVRM: Xid (PCI:0000:1b:00): 79, pid=\u003cunknown\u003e, name=\u003cunknown\u003e, gone\n"}',
            (None, None, None, None),
        ),
        ("SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress", (None, None, "nonfatal", None)),
    ],
)
def test_the_words(line: str, expected: tuple[object, ...]) -> None:
    words = xid_lines.words(line)
    assert (words.pid, words.process, words.grade, words.recovery) == expected


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0000:9B:00", "0000:9b:00"),
        ("00000000:9B:00.0", "0000:9b:00"),
        ("9b:00.0", "0000:9b:00"),
        ("00010008:06:00.0", "00010008:06:00"),
        ("0000:9b:00:", "0000:9b:00"),
        ("009b:00", "0000:9b:00"),
        ("no", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses(written: str | None, read: str | None) -> None:
    assert xid_lines.pci(written) == read


SCANNER = Scanner(signatures_of(load_packs(())))


@pytest.mark.parametrize(
    "line",
    [
        b"[ 1.5] NVRM: Xid (PCI:0000:1b:00): 79, gone",
        b"\x1b[32m[ 1.5] \x1b[0m\x1b[33mNVRM: \x1b[0m\x1b[31mXid (PCI:0000:1b:00): 79, gone\x1b[0m",
        b"[ 1.5] NVRM: Xid (1b:00): 79, gone",
        b"[ 1.5] NVRM: Xid (PCI:0000:1b:00 GPU-I:05): 79, gone\r",
    ],
)
def test_however_the_kernel_driver_says_it(line: bytes) -> None:
    hits, _ = search(SCANNER, Place("", "", "", "other"), "dmesg.log", "plain", line + b"\n")
    assert [hit.signature for hit in hits] == ["gpu/xid", "gpu/xid-bus"]
    found = [(xid_lines.pci(pci), code) for pci, code, _ in xid_lines.xids(xid_lines.message(hits[0].text))]
    assert found == [("0000:1b:00", "79")]


@pytest.mark.parametrize("line", [b"NVRM: Xid (PCI:0000:1b:00) handler registered", b"Xid (none) seen", b"app: Xid (7:1): 9"])
def test_what_is_none_of_its_errors(line: bytes) -> None:
    assert search(SCANNER, Place("", "", "", "other"), "dmesg.log", "plain", line + b"\n")[0] == []


def test_several_in_one_line_are_told_apart() -> None:
    line = "NVRM: Xid (PCI:0000:1b:00): 48, pid=5, name=a, DBE NVRM: Xid (PCI:0000:1c:00): 31, pid=6, name=b, MMU"
    found = [(pci, code, xid_lines.words(words)) for pci, code, words in xid_lines.xids(line)]
    assert [(pci, code, words.pid, words.detail) for pci, code, words in found] == [
        ("0000:1b:00", "48", 5, "DBE"),
        ("0000:1c:00", "31", 6, "MMU"),
    ]


def test_what_stands_around_an_exported_message() -> None:
    front = xid_lines.front("MESSAGE=a", "__REALTIME_TIMESTAMP=1793530800000000\n_BOOT_ID=" + "a" * 32 + "\n_HOSTNAME=forge-1\n")
    assert (front.at, front.host, front.boot) == (utc(2026, 11, 1, 11), "forge-1", "a" * 32)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    front, words = xid_lines.front(text), xid_lines.words(text)
    assert front.host is None or front.host in text
    assert words.detail in xid_lines.message(text)
    xid_lines.pci(text)
    xid_lines.front("MESSAGE=a", text)
    assert all(code.isdigit() for _, code, _ in xid_lines.xids(text))


@pytest.mark.parametrize("code", [13, 31, 43, 68, 109])
def test_what_the_device_plugin_leaves_alone_is_the_applications(code: int) -> None:
    assert xid_codes.of_gpu(code).cls == "application"


def test_order_of_cause_and_consequence() -> None:
    tier = {code: xid_codes.of_gpu(code).tier for code in (48, 171, 172, 95, 64, 94, 63, 79, 45, 13)}
    assert tier[48] < tier[171] == tier[172]
    assert tier[48] < tier[95] <= tier[64] < tier[94] <= tier[63]
    assert tier[79] < tier[13] < tier[45]


def test_unknown_codes_are_said_to_be_unknown() -> None:
    assert {xid_codes.of_gpu(code).cls for code in (14, 99999, 0)} == {"unknown"}
    assert xid_codes.of_switch(99999).cls == "unknown"


@pytest.mark.parametrize(
    ("code", "grade", "cls", "wear"),
    [
        (20034, "fatal", "fabric", False),
        (20034, None, "fabric", True),
        (12028, "nonfatal", "information", True),
        (23010, "nonfatal", "fabric", False),
        (11022, None, "information", True),
        (77777, "fatal", "fabric", False),
    ],
)
def test_switches(code: int, grade: str | None, cls: str, wear: bool) -> None:
    meaning = xid_codes.of_switch(code, grade)
    assert (meaning.cls, meaning.wear) == (cls, wear)


def test_each_code_stands_once() -> None:
    data = yaml.safe_load(Path(xid_codes.__file__).with_name("xid.yaml").read_text("utf-8"))
    codes = [code for row in data for code in row["codes"]]
    assert len(codes) == len(set(codes))


def test_grave_codes_have_signatures_of_their_own() -> None:
    signatures = yaml.safe_load((RULES / "xid.signatures.yaml").read_text("utf-8"))["signatures"]
    own = {"gpu/xid-memory", "gpu/xid-bus", "gpu/xid-firmware", "gpu/xid-nvlink"}
    patterns = [re.compile(one["pattern"]) for one in signatures if one["id"] in own]
    first = {code for code, meaning in xid_codes.gpu_codes().items() if meaning.tier == 1 and meaning.cls != "application"}
    missing = {code for code in first if not any(one.search(f"NVRM: Xid (PCI:0000:1b:00): {code}, x") for one in patterns)}
    assert missing == set()


def test_every_word_has_a_meaning_and_every_meaning_words() -> None:
    ids = {
        one["id"]
        for name in ("stack", "nccl", "operands")
        for one in yaml.safe_load((RULES / f"{name}.signatures.yaml").read_text("utf-8"))["signatures"]
    }
    assert ids - set(stack_words.meanings()) == {"gpu/nccl-enqueued", "gpu/nic-link"}
    assert set(stack_words.meanings()) - ids == {"gpu/driver-versions", "gpu/nic-down"}


@pytest.mark.parametrize(
    ("stamp", "told"),
    [
        ("Aug 19 07:00:00", utc(2026, 8, 19, 7)),
        ("Aug  2 07:00:00.5", utc(2026, 8, 2, 7)),
        ("Nov 30 23:59:59", utc(2025, 11, 30, 23, 59, 59)),
        ("Sun Feb 23 16:24:18 2025", None),
        ("Jul 23 2024 07:53:55", None),
        ("Feb 29 00:00:00", None),
        ("12.000000 s after the boot", None),
        (None, None),
    ],
)
def test_a_stamp_without_a_year_is_of_the_last_one(stamp: str | None, told: datetime | None) -> None:
    assert xid_lines.about(stamp, utc(2026, 8, 19, 8)) == told
