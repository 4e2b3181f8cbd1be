"""The cases of a pack that nobody vouches for, run in a process with the limits that its queries have in `analyze`."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.engine import apart

RULE_SECONDS = 60.0
"""Longest time that one rule with all its cases may take."""
ANSWER_BYTES = 4 << 20
"""Longest answer about one rule."""

Told = tuple[str, int, tuple[str, ...]]
"""A code, how many cases it has, and what is wrong."""


def run(folder: Path, codes: Sequence[str], seconds: float = RULE_SECONDS) -> Iterator[Told]:
    """Tests rules one after the other; one that takes too long or ends the process costs only itself.

    Args:
        folder: the pack.
        codes: its rules.
        seconds: time limit of each rule.

    Yields:
        What came of each rule, in the order given.
    """
    rest = list(codes)
    while rest:
        request = {"folder": str(folder.absolute()), "codes": rest}
        try:
            with contextlib.closing(apart.answers("analyzer.engine.case_child", request, seconds, ANSWER_BYTES)) as lines:
                for line in itertools.islice(lines, len(rest)):
                    yield _told(rest.pop(0), line)
        except apart.LateError:
            yield _lost(folder, rest.pop(0), f"took longer than {seconds:g} s and were stopped")
        except apart.ApartError as error:
            yield _lost(folder, rest.pop(0), str(error))


def _lost(folder: Path, code: str, why: str) -> Told:
    """What is said of a rule of which the child said nothing."""
    return code, 0, (f"{folder.name}/{code}.yaml:1: its cases: {why}",)


def _told(code: str, line: bytes) -> Told:
    try:
        cases, problems = json.loads(line)
        return code, int(cases), tuple(str(problem) for problem in problems)
    except (ValueError, TypeError, RecursionError):
        return code, 0, (f"{code}.yaml:1: its cases: an answer that cannot be read",)
