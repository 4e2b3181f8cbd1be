"""The last words of containers in trouble: which lines of their logs to quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows

LINES = 5
"""Lines quoted from the end of a log."""
MAX_LINE = 400
"""Characters kept of one line."""

_TIME = re.compile(
    r"^(?:\[pod/\S+\]\s+)?"
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|\s?[+-]\d\d:?\d\d)?|\[\d{4}-\d\d-\d\d[^\]]{1,40}\])\s+"
)
_ERROR = re.compile(
    r"\b(panic|fatal|error|err|exception|traceback|segfault|segmentation fault|abort(ed)?|cannot|can't|could not|couldn't|failed"
    r"|failure|unable|unknown|invalid|denied|refused|not found|no such|missing|required|unsupported"
    r"|out of memory|killed|crit(ical)?)\b"
    r"|\w+(Error|Exception)\b|^[EF]\d{4} ",
    re.IGNORECASE,
)
# Frames of a stack say where, not what.
_FRAME = re.compile(r'^\s*(at |File "|goroutine \d+|\S+\.go:\d+|\.\.\. \d+ more|created by )|^\t|\[signal SIG')

# What a test program says last tells only that tests failed; Ginkgo names them just above.
_VERDICT = re.compile(r"^(?:FAIL\b|--- FAIL: |Test Suite Failed\b)")
_TEST = re.compile(r"^\s*\[(?:Fail|FAIL)\] ")

_WANTED = """
SELECT log_id, tail, coalesce(tail_line, 1) FROM logs WHERE log_id IN (
    SELECT end_log_id FROM containers WHERE failing OR looping OR end_code <> 0 OR end_reason = 'OOMKilled'
    UNION SELECT log_id FROM containers WHERE type <> 'ephemeral' AND state = 'running' AND (ready = false OR type = 'init')
) ORDER BY log_id
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `log_ends` from the tails in `logs`; `containers` is filled before."""
    logs = con.execute(_WANTED).fetchall()
    insert_rows(con, "log_ends", (row for log_id, tail, line in logs for row in _rows(log_id, tail or "", line)))


def _rows(log_id: int, tail: str, first: int) -> Iterator[dict[str, Any]]:
    lines = [(first + offset, line) for offset, line in enumerate(tail.split("\n")) if line.strip()]
    if not lines:
        return
    told = telling([line for _, line in lines])
    for i, (number, line) in enumerate(lines):
        if i >= len(lines) - LINES or i == told:
            yield {
                "log_id": log_id,
                "line": number,
                "text": line.rstrip()[:MAX_LINE],
                "words": words(line),
                "telling": i == told,
            }


def telling(lines: list[str]) -> int:
    """Which of these lines (none of them empty, at least one) says most: the last that speaks of an error, else the last.

    Of a run of tests it is the test that failed last, not the words that tests failed.
    """
    found = len(lines) - 1
    verdict = False
    for i in range(len(lines) - 1, -1, -1):
        line = lines[i][:2_000]
        if not (_TEST.match(line) or _ERROR.search(line)) or _FRAME.search(_TIME.sub("", line)):
            continue
        if not verdict:
            found = i
        if not _VERDICT.match(line):
            return i if _TEST.match(line) else found
        verdict = True
    return found


def words(line: str) -> str:
    """The line on one line of text, without the time in front."""
    return " ".join(_TIME.sub("", line[:2_000]).split())[:MAX_LINE]
