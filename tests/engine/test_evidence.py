"""The further pass over the files: which are read, how far, and what is said where they cannot be."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import duckdb
import pytest

ITEMS = """apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
  status:
    phase: Running
- apiVersion: v1
  kind: Pod
  metadata:
    name: b
  status:
    message: odd
    phase: Running
kind: List
"""
CASE = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a}}, {apiVersion: v1, kind: Pod, metadata: {name: b}}]"
QUOTES = "ev(object_id, 'status.phase', 'Running'), ev(object_id, 'status.none', 'x')"
RULE = f"query: SELECT object_id, [{QUOTES}] AS evidence FROM objects"


class Broken(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 - as io has it
        raise OSError(5, "gone")


@pytest.fixture
def placed(con: duckdb.DuckDBPyConnection, analyse: Any, write: Any) -> Any:
    """Runs the rule with the objects placed in ITEMS, and a reader that gives `data`."""

    def placed(stream: BinaryIO | None) -> list[int | None]:
        asked: list[Sequence[int]] = []

        def reader(ids: Sequence[int]) -> Iterator[tuple[int, BinaryIO]]:
            asked.append(ids)
            if stream:
                yield 0, stream

        pack = write({"pod/Odd": RULE})
        analyse(CASE, pack)
        first, second = ITEMS.index("- api"), ITEMS.rindex("- api")
        for number, start, end in ((0, first, second), (1, second, ITEMS.index("kind: List"))):
            con.execute(
                "UPDATE objects SET byte_offset = ?, byte_length = ?, line = ? WHERE object_id = ?",
                [start, end - start, ITEMS.count("\n", 0, start) + 1, number],
            )
        from analyzer.engine.analysis import analyse as run

        report = run(con, [pack], reader=reader)
        assert asked == [[0]]
        found = sorted(report.findings, key=lambda finding: finding.object.name)
        return [quote.line for finding in found for quote in finding.evidence]

    return placed


def test_a_field_has_its_line_and_a_missing_one_its_objects(placed: Any) -> None:
    assert placed(io.BytesIO(ITEMS.encode())) == [8, 3, 15, 9]


@pytest.mark.parametrize("stream", [None, io.BytesIO(b""), io.BytesIO(b"\xff" * 5000), Broken(b"")])
def test_a_file_that_cannot_be_read_again_costs_only_lines(placed: Any, stream: BinaryIO | None) -> None:
    assert placed(stream) == [3, 3, 9, 9]


def test_a_file_that_ends_early_still_gives_what_it_has(placed: Any) -> None:
    assert placed(io.BytesIO(ITEMS[: ITEMS.index("message: odd")].encode())) == [8, 3, 9, 9]


def test_a_line_of_a_log_and_of_any_file(write: Any, analyse: Any) -> None:
    case = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: s}}]\n"
    case += 'logs: [{namespace: s, pod: a, container: c, source: previous, text: "one\\ntwo\\n"}]'
    text = (
        "query: SELECT o.object_id, [ev_log(l.log_id, l.lines, last_lines(l.tail, 1)), ev_file(l.file_id, 1, 'one')] AS evidence "
    )
    report = analyse(case, write({"pod/Odd": text + "FROM objects o, logs l"}))
    quotes = [(q.file, q.line, q.path, q.value, q.kind) for q in report.findings[0].evidence]
    assert quotes == [
        ("logs/a/c-previous-0.log", 2, "", "two", "Observed"),
        ("logs/a/c-previous-0.log", 1, "", "one", "Observed"),
    ]
