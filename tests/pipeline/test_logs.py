"""Logs: counting, times, tails."""

from __future__ import annotations

import random

import pytest

from analyzer import times
from analyzer.bundle.limits import TAIL_BYTES, TAIL_LINES
from analyzer.bundle.logblocks import blocks_of
from analyzer.bundle.logs import CHUNK_BYTES, LogCounter, LogSummary, time_of
from analyzer.bundle.sniff import looks_like_log, looks_like_objects, looks_like_text
from analyzer.bundle.text import clean


def summary(data: bytes) -> LogSummary:
    counter = LogCounter()
    for start in range(0, len(data), CHUNK_BYTES):
        counter.feed(data[start : start + CHUNK_BYTES])
    return counter.summary()


def test_lines_bytes_and_the_tail() -> None:
    data = b"".join(b"line %d\n" % number for number in range(1, 201))
    found = summary(data)
    assert (found.bytes, found.lines, found.tail_line) == (len(data), 200, 151)
    assert found.tail.split("\n") == [f"line {number}" for number in range(151, 201)]


def test_a_last_line_without_its_end_counts() -> None:
    assert summary(b"a\nb").lines == 2
    assert summary(b"a\nb\n").lines == 2
    assert summary(b"").lines == 0


@pytest.mark.parametrize("seed", range(5))
def test_pieces_of_any_size_give_the_same(seed: int) -> None:
    rng = random.Random(seed)
    data = b"".join(b"%d " % n + b"x" * rng.randrange(300) + b"\n" for n in range(900))
    whole, pieces = LogCounter(), LogCounter()
    whole.feed(data)
    at = 0
    while at < len(data):
        step = rng.randrange(1, 70000)
        pieces.feed(data[at : at + step])
        at += step
    assert whole.summary() == pieces.summary()


def test_the_time_of_a_line_behind_the_name_of_its_pod() -> None:
    assert time_of(b"[pod/kettle-0/brew] 2026-08-18T13:05:00Z boiling") == times.parse("2026-08-18T13:05:00Z")
    assert time_of(b"[pod/kettle-0/brew] boiling") is None


def test_the_tail_is_bounded_and_ends_with_the_last_line() -> None:
    found = summary(b"".join(b"%04d " % n + b"y" * 900 + b"\n" for n in range(100)))
    assert len(found.tail.encode()) <= TAIL_BYTES
    assert len(found.tail.split("\n")) < TAIL_LINES
    assert found.tail.split("\n")[-1].startswith("0099 ")
    assert found.tail.split("\n")[0].startswith(f"{found.tail_line - 1:04d} ")


def test_a_huge_line_is_cut() -> None:
    found = summary(b"before\n" + b"z" * 3_000_000 + b"\nafter\n")
    assert found.lines == 3
    assert found.tail.split("\n")[-1] == "after"
    assert len(found.tail) < TAIL_BYTES
    alone = summary(b"z" * 3_000_000)
    assert "64 KiB" in alone.tail


def test_control_characters_are_replaced() -> None:
    text = clean(b"a\x1b[31mred\x1b[0m b\r\n\0\0\0c\x07\xff \x1b]0;title\x07d \xe2\x80\xae e\tf")
    assert text == "ared b\n\ufffdc\ufffd\ufffd d \ufffd e\tf"


def test_secrets_of_a_tail_are_masked() -> None:
    found = summary(b"login with password=hunter2hunter2 done\n")
    assert "hunter2" not in found.tail


def test_a_key_that_begins_before_the_tail_is_masked_too() -> None:
    key = b"".join(b"Q29uZmlkZW50aWFs%044d\n" % n for n in range(80))
    found = summary(b"start\n-----BEGIN RSA PRIVATE KEY-----\n" + key + b"-----END RSA PRIVATE KEY-----\nend\n")
    assert "Q29uZmlkZW50aWFs" not in found.tail
    assert found.tail.endswith("end")


@pytest.mark.parametrize(
    ("line", "want"),
    [
        (b"2026-08-18T13:06:00.123456789Z boiling", "2026-08-18T13:06:00.123456Z"),
        (b"2026-08-18T15:06:00.5+02:00 stderr F boiling", "2026-08-18T13:06:00.5Z"),
        (b'{"level":"info","ts":"2026-08-18T13:06:00Z","msg":"x"}', "2026-08-18T13:06:00Z"),
        (b'{"level":"info","ts":1787058360.25,"msg":"x"}', "2026-08-18T13:06:00.25Z"),
        (b'time="2026-08-18T13:06:00Z" level=info', "2026-08-18T13:06:00Z"),
        (b"2026-08-18T13:06:00 no zone", None),
        (b"I0818 13:06:00.000001       1 main.go:1] klog has no year", None),
        (b"Aug 18 13:06:00 shelf-1 kubelet: hello", None),
        (b"the certificate ends at 2031-01-01T00:00:00Z", None),
        (b"2026-13-45T99:99:99Z", None),
        (b"", None),
    ],
)
def test_times_need_a_zone_at_the_front(line: bytes, want: object) -> None:
    assert times.rfc3339(time_of(line)) == want


def test_first_and_last_time_skip_lines_without_one() -> None:
    found = summary(b"start\n2026-08-18T13:05:00Z a\nx\n2026-08-18T13:06:00Z b\n  at frame\n")
    assert (found.first_at, found.last_at) == ("2026-08-18T13:05:00Z", "2026-08-18T13:06:00Z")


def test_blocks_of_a_dump() -> None:
    data = (
        b"==== START logs for container a of pod ns/p ====\n1\n2\n==== END logs for container a of pod ns/p ====\n"
        b"==== START logs for container b of pod ns/p ====\n==== END logs for container b of pod ns/p ====\n"
        b"==== START logs for container c of pod ns/p ====\nlast without end"
    )
    found = [(block.container, block.line, block.text) for block in blocks_of(data)]
    assert found == [("a", 2, b"1\n2\n"), ("b", 6, b""), ("c", 8, b"last without end")]


def test_what_first_bytes_look_like() -> None:
    assert looks_like_objects(b"---\napiVersion: v1\nkind: Pod\n")
    assert looks_like_objects(b'\xef\xbb\xbf{"kind": "PodList"}')
    assert not looks_like_objects(b'{"level":"info","msg":"x"}')
    assert not looks_like_objects(b"a note: kind of\n")
    assert looks_like_log(b"2026-08-18T13:06:00Z a\n2026-08-18T13:06:01Z b\n")
    assert looks_like_log(b"[ 1843.300000] NVRM: hello\n")
    assert looks_like_log(b"\x1b[32m[ 1843.300000] \x1b[0m\x1b[33mNVRM: \x1b[0mhello\n")
    assert looks_like_log(b"kern  :warn  : [ 1843.300000] NVRM: hello\n")
    assert looks_like_log(b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1793530800000000\nPRIORITY=4\nMESSAGE=hello\n\n")
    assert not looks_like_log(b"# Title\n\nJust words.\n")
    assert looks_like_text(b"before the crash\n" * 20 + bytes(60) + b"after it\n")
    assert not looks_like_text(b"%PDF-1.7\n")
    assert not looks_like_text(bytes(range(256)) * 4)
    assert not looks_like_text(b"<!DOCTYPE html><html>")
