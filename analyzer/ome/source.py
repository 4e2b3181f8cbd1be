"""A bundle, or the database of its report, as the few objects that OME's command reads: nothing else is parsed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from analyzer.bundle.formats import Known, Layout
from analyzer.bundle.formats.base import HOST_LOG, skip
from analyzer.bundle.kinds import plural_of
from analyzer.ome.world import EVERYWHERE, GROUP, KINDS, REVISION, Absence, Judge, Thing, World

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, int, int], None]

_UNREAD = "not needed to answer for OME"
POD, EVENT = "Pod", "Event"
_AROUND = (("", POD), ("", EVENT), ("events.k8s.io", EVENT))
"""What the status of an InferenceService rests on beside OME's own kinds, in its namespace only."""
_ALWAYS = {("", "Namespace"), ("", "List")}
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_CLOCKS = {("coordination.k8s.io", "Lease"), ("", "Node"), ("", "Event"), ("events.k8s.io", "Event"), ("", "Pod")}
"""Kinds that tell when a bundle was collected, where its format does not."""
_DATED = ("must-gather", "inspect", "triage", "sonobuoy")
_RECORDS = ("stamp", "errors", "version", "triage-manifest", "sonobuoy-config", "sonobuoy-queries", "sonobuoy-run-log")


@dataclass(frozen=True, slots=True)
class Source:
    """What was read: the objects, and when they were collected (naive UTC), None where nothing says."""

    world: World
    collected_at: datetime | None

    @property
    def stamp(self) -> str:
        """The collection time as OME's report shows a time, `-` where nothing says."""
        return rfc3339(self.collected_at)


def rfc3339(moment: datetime | None) -> str:
    """A time (naive UTC) as OME's report shows it: RFC 3339 without needless zeros; `-` for None."""
    if moment is None:
        return "-"
    text = moment.isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


@contextlib.contextmanager
def opened(bundle: Path, stored: Path | None, ome_namespace: str, progress: Progress, around: str = "") -> Iterator[Source]:
    """The objects of a bundle.

    Args:
        bundle: a file or folder, `-` for standard input.
        stored: the database of its report, where there is one: then the bundle itself is not read.
        ome_namespace: where OME keeps pinned revisions.
        progress: told of each stage.
        around: a namespace whose Pods and Warning events are read too; empty for none.

    Raises:
        UsageError: the input cannot be used.
        UnreadableError: nothing in it could be read as a bundle.
    """
    if stored:
        from analyzer.store.reading import reading

        with reading(stored) as con:
            yield Source(world_of(con, around), collected_at(con))
        return
    from analyzer.bundle.read import read_bundle
    from analyzer.workspace import spooled_inputs, workspace

    with workspace() as folder, spooled_inputs([bundle], folder, progress) as paths:
        parts = read_bundle(
            paths,
            folder,
            _jobs(),
            lambda done, total: progress("reading", done, total),
            shown=[bundle],
            narrow=lambda layout: narrowed(layout, ome_namespace, around),
        )
        # Imported only now, when the workers are done: a process with DuckDB's threads alive must not fork.
        from analyzer.facts import clock, collection, coverage
        from analyzer.store import database, join
        from analyzer.store.load import load
        from analyzer.store.schema import TABLES

        with contextlib.closing(database.open_memory(folder)) as con:
            load(con, parts)
            for table in TABLES:
                if table.stage == "facts":
                    con.execute(table.ddl())
            collection.settle(con)
            clock.derive(con)
            join.unite(con)
            coverage.derive(con, KINDS)
            database.lock(con)
            yield Source(world_of(con, around), collected_at(con))


def _jobs() -> int:
    import os

    return os.cpu_count() or 1


def narrowed(layout: Layout, ome_namespace: str, around: str = "") -> Layout:
    """A layout without the files that cannot hold what OME's command reads: logs, documents, and objects of other kinds."""
    dated = layout.format in _DATED
    kept = [known if _wanted(known, ome_namespace, around, dated=dated) else _left(known) for known in layout.known]
    if not any(known.assignment.reader and _kind(known) == _CRD for known in kept):
        # One CRD shows that they were collected, so that those of OME, which are not among them, do not exist.
        crds = [(known.entry.size, index) for index, known in enumerate(layout.known) if _kind(known) == _CRD]
        if crds:
            index = min(crds)[1]
            kept[index] = layout.known[index]
    return replace(layout, known=tuple(kept))


def _left(known: Known) -> Known:
    return replace(known, assignment=skip(_UNREAD)) if known.assignment.reader else known


def _kind(known: Known) -> tuple[str, str]:
    return known.assignment.hint.group, known.assignment.hint.kind


def _wanted(known: Known, ome_namespace: str, around: str, *, dated: bool) -> bool:
    """Whether a file is to be read; one whose kind its name does not tell may hold anything."""
    assignment = known.assignment
    if assignment.reader in _RECORDS:
        return True
    if assignment.reader == "guess":
        return assignment.name != HOST_LOG
    return assignment.reader == "objects" and _may_hold(known, ome_namespace, around, dated=dated)


def _may_hold(known: Known, ome_namespace: str, around: str, *, dated: bool) -> bool:
    """Whether a file of objects may hold one that counts."""
    group, kind = _kind(known)
    if group == GROUP or (group, kind) in _ALWAYS or (not group and not kind):
        return True
    if (group, kind) == _CRD:
        return GROUP in known.entry.path or not known.assignment.whole
    if around and (group, kind) in _AROUND and known.assignment.hint.namespace in ("", around):
        return True
    if kind == REVISION:
        return known.assignment.hint.namespace in ("", ome_namespace)
    return not dated and (group, kind) in _CLOCKS


def collected_at(con: duckdb.DuckDBPyConnection) -> datetime | None:
    """When the newest input was collected, naive UTC; None where nothing says."""
    row = con.execute("SELECT max(collected_at) FROM inputs").fetchone()
    return row[0] if row else None


def world_of(con: duckdb.DuckDBPyConnection, around: str = "") -> World:
    """The objects that OME reads, from the tables objects, lists and coverage.

    Args:
        con: the database.
        around: a namespace whose Pods of InferenceServices and Warning events are there too; empty for none.
    """
    wanted = " OR ".join(["(api_group = ? AND kind = ?)"] * len(KINDS))
    rows = con.execute(
        "SELECT object_id, kind, namespace, name, whole, json FROM objects "  # noqa: S608 - constants
        f"WHERE ({wanted}) AND (kind <> '{REVISION}' OR contains(json::VARCHAR, 'ome')) "
        "ORDER BY created_at NULLS FIRST, object_id",
        [part for kind in KINDS for part in kind],
    )
    things = list(_things(rows))
    if around:
        things += _things(con.execute(_NEAR, [around]))
    return World.of(things, judge_of(con))


_PAGE = 5_000
_NEAR = """
SELECT object_id, kind, namespace, name, whole, json FROM objects
WHERE namespace = ? AND ((api_group = '' AND kind = 'Pod' AND contains(json::VARCHAR, '"ome.io/inferenceservice"'))
    OR (api_group IN ('events.k8s.io', '') AND kind = 'Event' AND contains(json::VARCHAR, '"Warning"')))
ORDER BY api_group DESC, created_at NULLS FIRST, object_id
"""
# An event that both APIs gave has one name: that of core v1 comes last and counts.


def _things(rows: duckdb.DuckDBPyConnection) -> Iterator[Thing]:
    while page := rows.fetchmany(_PAGE):
        for object_id, kind, namespace, name, whole, text in page:
            try:
                value = orjson.loads(text)
            except (orjson.JSONDecodeError, TypeError):
                continue
            if isinstance(value, dict):
                yield Thing(kind, namespace, name, value, object_id, bool(whole))


def judge_of(con: duckdb.DuckDBPyConnection) -> Judge:
    """What it means that an object of a kind is not there: by the lists that were read whole, and by what was refused."""
    status: dict[str, tuple[str, frozenset[str], str]] = {}
    for group, kind, state, scope, reason in con.execute(
        "SELECT api_group, kind, status, scope, reason FROM coverage WHERE api_group IN ('ome.io', 'apps', '')"
    ).fetchall():
        if (group, kind) in _JUDGED:
            status[kind] = (state, frozenset(scope or ()), reason or "")
    whole = {
        (kind, namespace)
        for kind, namespace in con.execute(
            "SELECT DISTINCT kind, namespace FROM lists WHERE complete AND (api_group IN ('ome.io', 'apps') "
            "OR (api_group = '' AND kind IN ('Pod', 'Event')))"
        ).fetchall()
    }
    known, failed = _namespaces(con), _failed(con)

    def judge(kind: str, namespace: str) -> Absence:
        if namespace == EVERYWHERE and known is not None and all(judge(kind, one) == "not-found" for one in known):
            return "not-found"
        state, scope, reason = status.get(kind, ("not-collected", frozenset(), ""))
        if state == "absent" and reason.startswith(NOT_SERVED):
            return "unsupported"
        if state in ("complete", "absent") and scope & {"*", namespace or "*"}:
            return "not-found"
        gone = namespace not in ("", EVERYWHERE) and known is not None and namespace not in known
        if (kind, "*") in whole or (kind, namespace) in whole or gone:
            return "not-found"
        if state == "forbidden":
            return "forbidden"
        return "failed" if kind in failed else "not-collected"

    return judge


_JUDGED = (*KINDS, ("", POD), ("", EVENT))
NOT_SERVED = "the cluster has no such kind"
"""How coverage begins what it says of a kind that the cluster does not serve."""


def _failed(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Kinds that the collection asked for and got no answer."""
    plurals = {f"{plural_of(kind)}.{group}" if group else plural_of(kind): kind for group, kind in _JUDGED}
    rows = con.execute("SELECT DISTINCT subject FROM collect_errors WHERE kind IN ('failed', 'timeout')").fetchall()
    return frozenset(plurals[subject] for (subject,) in rows if subject in plurals)


def _namespaces(con: duckdb.DuckDBPyConnection) -> frozenset[str] | None:
    """Every namespace of the cluster; None where their list is not whole."""
    row = con.execute(
        "SELECT 1 FROM coverage WHERE api_group = '' AND kind = 'Namespace' AND status = 'complete' AND list_contains(scope, '*')"
    ).fetchone()
    if row is None:
        return None
    names = con.execute("SELECT name FROM objects WHERE api_group = '' AND kind = 'Namespace'").fetchall()
    return frozenset(name for (name,) in names)
