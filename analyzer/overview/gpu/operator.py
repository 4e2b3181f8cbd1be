"""The GPU Operator: its policies, and every part of it with its rollout and what it waits for."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Section, Table, machine, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, lasting, measured, place, rows, said, sentences
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

GROUP: Final = "nvidia.com"
QUERY: Final = (
    "SELECT name, state, why, daemonset, wanted, ready, updated, trouble, waits_for, unknown FROM gpu_components ORDER BY rowid"
)
_POLICIES: Final = "SELECT * FROM gpu_policies ORDER BY kind, NOT active, name"
_COMPONENTS: Final = "SELECT * FROM gpu_components ORDER BY coalesce(state, '') = 'Not expected', rowid"
_TROUBLE: Final = {
    "update-pending": "update pending: pods are replaced when they are deleted",
    "no-driver": "no NVIDIADriver is there",
    "missing": "the DaemonSet is not there",
}
_NODES: Final = 3


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where the bundle has neither a policy nor a driver object of the operator."""
    as_of = measured(con)
    policies = list(rows(con, _POLICIES))
    if not policies:
        return None
    parts = list(rows(con, _COMPONENTS))
    tables = [_policies(policies, marks, as_of)]
    if parts:
        first = as_of.get(policies[0].input)
        lines = marks.ranked(_component(one, marks, lasting(one.since, first)) for one in parts)
        columns = ("Part", "State", "Pods ready", "DaemonSet", "Switched on by", "Waits for, remarks")
        shown = max(1, sum(one.state != "Not expected" for one in parts))
        tables.append(table("Parts of the GPU Operator", columns, lines, "parts", shown=shown))
    expected = [one for one in parts if one.state not in ("Not expected", None)]
    out = sum(one.state in ("Not rolled out", "Missing") for one in expected)
    small = f"{plural(len(expected), 'part')} switched on" + (f", {out} not rolled out" if out else "")
    return Section("gpu-operator", "GPU Operator", small if parts else "", tuple(tables), tuple(_notes(parts)), QUERY)


def _policies(policies: list[Row], marks: Marks, as_of: dict[int, datetime | None]) -> Table:
    lines = [
        Line(
            (
                machine(f"{one.kind} {one.name}", f"operator {one.release}" if one.release else ""),
                _policy_state(one),
                words(lasting(one.since, as_of.get(one.input))),
                _policy_words(one),
            ),
            marks.of(GROUP, one.kind, None, one.name),
        )
        for one in policies
    ]
    return table(
        "What the GPU Operator says of its policies",
        ("Policy", "State", "Since", "In its words"),
        marks.ranked(lines),
        "policies",
    )


def _policy_state(one: Row) -> Cell:
    if not one.reported:
        return unknown("no status")
    return words(one.state or "", "" if one.active or one.state in ("Ignored", "Disabled") else "not heeded: not the oldest")


def _policy_words(one: Row) -> Cell:
    """What is told of a policy that is ready is of no interest, but for what the operator found missing."""
    plain = one.state == "Ready" and one.reason in (None, "", "Reconciled", "Ready")
    text = "" if plain else said(one.reason, one.message)
    return machine(text, f"for nodes with {cut(one.selector)}" if one.selector else "")


def _component(one: Row, marks: Marks, lasted: str) -> Line:
    expected = one.state != "Not expected"
    cells = (
        machine(one.name),
        unknown("cannot tell") if one.state is None else words(one.state, lasted if one.state == "Not rolled out" else ""),
        _pods(one) if expected else words(""),
        machine(place(one.namespace, one.daemonset), f"and {one.daemonsets - 1} more" if (one.daemonsets or 0) > 1 else "")
        if expected and one.daemonset
        else words(""),
        words(cut(one.why, 120)) if one.why else unknown("cannot tell"),
        words(_remarks(one)) if expected else words(""),
    )
    return Line(cells, marks.of(GROUP, "GpuOperatorComponent", None, one.name))


def _pods(one: Row) -> Cell:
    if one.wanted is None:
        return words("") if one.state in ("See NVIDIADriver", "Missing") else unknown("cannot tell")
    old = one.wanted - one.updated if one.updated is not None else 0
    return Cell(f"{one.ready or 0} / {one.wanted}", "number", f"{old} of an older revision" if old > 0 else "")


def _remarks(one: Row) -> str:
    told = [
        f"waits for {listed(one.waits_for)}" if one.waits_for else "",
        _TROUBLE.get(one.trouble or "", ""),
        f"broken first on {listed(one.nodes, _NODES)}" if one.nodes and not one.waits and one.trouble == "not-ready" else "",
        f"no pod on {listed(one.left_out, _NODES)}" if one.left_out else "",
        f"label missing on {listed(one.unlabelled, _NODES)}" if one.unlabelled else "",
        f"paused on {listed(one.paused, _NODES)}" if one.paused else "",
        f"upgrades: {listed(one.upgrades, _NODES)}" if one.upgrades else "",
        cut(one.unknown) if one.unknown else "",
        cut(one.message) if one.state == "See NVIDIADriver" and one.message else "",
    ]
    return sentences(*told)


def _notes(parts: list[Row]) -> list[str]:
    """Driver, toolkit, device plugin and the others start one after the other: the first that is broken is the one to look at."""
    waiting = [one.name for one in parts if one.waits and one.waits_for]
    first = list(dict.fromkeys(name for one in parts if one.waits for name in one.waits_for or ()))
    if not waiting:
        return []
    verb = "is the first broken link" if len(first) == 1 else "are the first broken links"
    return [f"{listed(first)} {verb}: {listed(waiting, 8)} {'waits' if len(waiting) == 1 else 'wait'} for it and only follow."]
