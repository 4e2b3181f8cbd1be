"""Times of lines, and several logs as one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.logs.merge import Clock, merged

CLOCK = Clock(datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-03-01T10:00:00.123456789Z hello", "2026-03-01T10:00:00.123456789"),
        ("2026-03-01T10:00:00Z hello", "2026-03-01T10:00:00."),
        ("2026-03-01T12:30:00.5+02:30 hello", "2026-03-01T10:00:00.5"),
        ("  [2026-03-01 10:00:00,123] INFO", "2026-03-01T10:00:00.123"),
        ("2026/03/01 10:00:00 [notice] 1#1", "2026-03-01T10:00:00."),
        ("I0301 10:00:00.123456       1 main.go:1] x", "2026-03-01T10:00:00.123456"),
        # Later in the year than the collection: it was in the year before.
        ("E1231 23:59:59.000001       1 main.go:1] x", "2025-12-31T23:59:59.000001"),
        ("INFO 02-28 10:00:00 [engine.py:1] x", "2026-02-28T10:00:00."),
        ('{"level":"info","ts":"2026-03-01T10:00:00.5Z","msg":"x"}', "2026-03-01T10:00:00.500000"),
        ('time="2026-03-01T10:00:00Z" level=info', "2026-03-01T10:00:00.000000"),
        ("hello", None),
        ("", None),
        ("  at line 2026", None),
        ("2026-13-01T10:00:00+02:00 no such month", None),
    ],
)
def test_the_time_of_a_line(line: str, expected: str | None) -> None:
    found = CLOCK.of(line.encode())
    assert (found.decode() if found else None) == expected


def test_without_a_year_and_a_collection_there_is_no_time() -> None:
    assert Clock(None).of(b"I0301 10:00:00.123456 1 x") is None


def lines(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def test_lines_without_a_time_stay_behind_theirs() -> None:
    one = lines("head\n", "2026-03-01T10:00:01Z a\n", "  a2\n", "2026-03-01T10:00:03Z c\n")
    two = lines("2026-03-01T10:00:01Z b\n", "2026-03-01T10:00:02Z b2\n")
    got = [(number, line.decode().rsplit(" ", 1)[-1].strip()) for number, line in merged([one, two], [b"", b""], CLOCK)]
    assert got == [(0, "head"), (0, "a"), (0, "a2"), (1, "b"), (1, "b2"), (0, "c")]


def test_a_line_in_pieces_stays_together() -> None:
    one = lines("2026-03-01T10:00:01Z begin", "2026-03-01T10:00:09Z in the middle", " end\n", "2026-03-01T10:00:05Z last\n")
    two = lines("2026-03-01T10:00:02Z other\n")
    assert [number for number, _ in merged([one, two], [b"", b""], CLOCK)] == [0, 0, 0, 1, 0]


def test_lines_before_the_first_time_wait_for_it() -> None:
    one, two = lines("no time at all\n"), lines("2026-03-01T10:00:01Z b\n")
    assert [number for number, _ in merged([one, two], [b"2026-03-01T10:00:02.", b""], CLOCK)] == [1, 0]


@given(st.lists(st.lists(st.integers(0, 59), max_size=30), min_size=1, max_size=6))
def test_nothing_is_lost_and_each_log_keeps_its_order(seconds: list[list[int]]) -> None:
    logs = [
        [b"2026-03-01T10:00:%02dZ %d %d\n" % (second, number, at) for at, second in enumerate(own)]
        for number, own in enumerate(seconds)
    ]
    got = list(merged(logs, [b""] * len(logs), CLOCK))
    for number, log in enumerate(logs):
        assert [line for other, line in got if other == number] == log
    if all(own == sorted(own) for own in seconds):
        assert [line[:20] for _, line in got] == sorted(line[:20] for log in logs for line in log)
