"""Samples of states: what a state needs is known only to the facts, so objects of our own rules' cases are taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb

from analyzer import content, times
from analyzer.bundle.errors import UsageError
from analyzer.engine import case_tables
from analyzer.engine.case_file import Case, read_cases
from analyzer.engine.pack import CASES_SUFFIX
from analyzer.engine.scaffold.answers import State
from analyzer.engine.yamltext import YamlError

_TRIES = 40
"""Samples that are tried for one state."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Objects, the end of the collection, and which of them are in the state: name and since when."""

    objects: tuple[dict[str, Any], ...]
    at: str
    found: tuple[tuple[str, str | None], ...]


def sample_of(shape: State, seconds: float | None, *, other: bool = False) -> Sample:
    """Objects of a kind that are in a state, or in another one.

    Args:
        shape: the kind and the state.
        seconds: how long all of them must have been in it; None where that does not matter.
        other: none of them may be in that state, but in another.

    Raises:
        UsageError: none of our cases has such a sample.
    """
    fitting = [case for case in _cases() if any(_fits(shape, *item, other=other) for item in case.expect["states"].items())]
    fitting.sort(key=lambda case: len(json.dumps(case.objects)))
    for case in fitting[:_TRIES]:
        found = _rows(case, shape)
        states = {state for _, _, state in found}
        if other:
            if found and shape.state not in states:
                return Sample(case.objects, case.at, ())
        elif shape.state in states:
            hits = [(name, since) for name, since, state in found if state == shape.state]
            if seconds is None or all(_older(case.at, since, seconds) for _, since in hits):
                return Sample(case.objects, case.at, tuple(hits))
    known = sorted({state for case in _cases() for name, state in case.expect["states"].items() if _is_of(shape, name)})
    if not known:
        raise UsageError(f"no states of {shape.kind} are known; the kinds with states are in the table states of any bundle")
    if shape.state in known:
        raise UsageError(f"there is no sample of {shape.kind} {shape.state} to make the cases of; write the rule by hand")
    raise UsageError(f"no state of {shape.kind} is called {shape.state!r}; known are {', '.join(known)}")


@cache
def _cases() -> tuple[Case, ...]:
    """Our rules' cases that say which states their objects have, and need nothing but objects."""

    def read() -> Iterator[Case]:
        for path in sorted(content.folder("rules").glob(f"*/*{CASES_SUFFIX}")):
            try:
                yield from read_cases(path, path.name)
            except YamlError:
                continue

    bare = [case for case in read() if case.expect.get("states") and case.knows_time]
    return tuple(case for case in bare if not (case.logs or case.documents or case.errors or case.files or case.missing))


def _fits(shape: State, name: str, state: str, *, other: bool) -> bool:
    return _is_of(shape, name) and (state == shape.state) is not other


def _is_of(shape: State, name: str) -> bool:
    return name.startswith(f"{shape.kind.kind} ")


def _rows(case: Case, shape: State) -> list[tuple[str, str | None, str]]:
    """Name, since and state of the objects of the kind."""
    con = _connection()
    case_tables.build(con, case, ())
    rows = con.execute(
        "SELECT kind || ' ' || CASE WHEN namespace = '' THEN name ELSE namespace || '/' || name END, since, state "
        "FROM states WHERE api_group = ? AND kind = ? ORDER BY namespace, name",
        [shape.kind.group, shape.kind.kind],
    ).fetchall()
    return [(name, since.strftime("%Y-%m-%dT%H:%M:%SZ") if since else None, state) for name, since, state in rows]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return case_tables.connection()


def _older(at: str, since: str | None, seconds: float) -> bool:
    end, start = times.parse(at), times.parse(since)
    return bool(end and start and (end - start).total_seconds() >= seconds)
