"""Resource claims: what each asks for, what it got, who uses it, and which pods wait for it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Section, machine, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.whole import Whole
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, grouped, lasting, measured, place, quoted, rows
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

GROUP: Final = "resource.k8s.io"
QUERY: Final = (
    "SELECT namespace, name, state, since, message, requests, devices, node, node_selector, users FROM claims "
    "ORDER BY namespace, name"
)
_CLAIMS: Final = """
SELECT c.*, json_extract(o.json, '$.status') IS NOT NULL AS reported FROM claims c JOIN objects o USING (object_id)
ORDER BY c.namespace, c.name
"""
_WAITS: Final = """
SELECT w.claim_id, w.claim, w.why, w.ref, w.object_id, p.input, p.namespace, p.name, p.since,
    (SELECT list(DISTINCT r.words ORDER BY r.words) FROM dra_reasons r WHERE r.object_id = w.object_id) AS reasons,
    (SELECT min(r.text) FROM dra_reasons r WHERE r.object_id = w.object_id) AS text
FROM claim_waits w JOIN pods p USING (object_id) ORDER BY p.namespace, p.name, w.ref
"""
_WHY: Final = {
    "missing": "it does not exist",
    "not-created": "it is not made yet from its template",
    "not-owned": "one of that name was made for another pod",
}
_ORDER: Final = {"Binding failed": 0, "Deleting": 1, "Pending": 2, "Allocated": 3}
_COLUMNS: Final = ("Claim", "State", "Asks for", "Holds", "Used by", "Who waits for it, and why")


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where there is no claim and no pod that waits for one."""
    claims = list(rows(con, _CLAIMS))
    waits = list(rows(con, _WAITS))
    if not claims and not waits:
        return None
    as_of = measured(con)
    by_claim = grouped(waits, lambda one: one.claim_id)
    lines = [_absent(one, marks, lasting(one.since, as_of.get(one.input))) for one in waits if one.claim_id is None]
    ordered = sorted(claims, key=lambda claim: _ORDER.get(claim.state, len(_ORDER)))
    held = Whole.read(con)
    all_pods = held.has("", "Pod")
    lines += [
        _claim(one, by_claim.get(one.object_id, []), marks, lasting(one.since, as_of.get(one.input)), all_pods=all_pods)
        for one in ordered
    ]
    states = [one.state for one in claims]
    counts = [f"{states.count(state)} {state.lower()}" for state in dict.fromkeys(sorted(states))]
    small = ", ".join([plural(len(claims), "claim"), *counts])
    shown = table("Resource claims", _COLUMNS, marks.ranked(lines), "claims")
    notes = () if held.has(GROUP, "ResourceClaim") else ("Not all claims of the cluster are in the bundle.",)
    return Section("claims", "Resource claims", small, (shown,), notes, QUERY)


def _claim(claim: Row, waits: list[Row], marks: Marks, lasted: str, *, all_pods: bool) -> Line:
    finding = marks.of(GROUP, "ResourceClaim", claim.namespace, claim.name)
    for one in waits:
        pod = marks.of("", "Pod", one.namespace, one.name)
        finding = min((finding, pod), key=marks.rank)
    cells = (
        machine(place(claim.namespace, claim.name)),
        _state(claim, lasted),
        words(listed((cut(text, 160) for text in claim.requests or ()), 3)),
        _holds(claim),
        _used(claim, all_pods=all_pods),
        _waits(waits),
    )
    return Line(cells, finding)


def _state(claim: Row, lasted: str) -> Cell:
    if claim.state == "Binding failed":
        return words(claim.state, cut(claim.message or "", 200))
    unbound = f"the driver has not said {listed(claim.unbound)} yet" if claim.unbound else ""
    odd = cut(claim.message) if claim.state == "Pending" and claim.message else ""
    return words(claim.state, unbound or odd or lasted)


def _holds(claim: Row) -> Cell:
    if claim.state == "Pending":
        return words("nothing")
    where = f"on {claim.node}" if claim.node else f"where {cut(claim.node_selector, 160)}" if claim.node_selector else ""
    return machine(listed(claim.devices, 3), where) if claim.devices else words("no device", where)


def _used(claim: Row, *, all_pods: bool) -> Cell:
    """Who it is reserved for; where that is nobody, no pod may use it, but one that names it may be about to."""
    if claim.users:
        return machine(listed(claim.users, 3))
    if not claim.reported:
        return unknown("cannot tell", "the bundle has it without its status")
    return words("nobody") if all_pods else unknown("cannot tell", "it is reserved for nobody; not all pods are in the bundle")


def _waits(waits: list[Row]) -> Cell:
    if not waits:
        return words("")
    reasons = list(dict.fromkeys(text for one in waits for text in one.reasons or ()))
    pods = listed((place(one.namespace, one.name) for one in waits), 2)
    said = next((one.text for one in waits if one.text), None)
    return words(f"{pods}: {listed((cut(text, 160) for text in reasons), 2)}" if reasons else pods, quoted(said, 160))


def _absent(wait: Row, marks: Marks, lasted: str) -> Line:
    cells = (
        machine(place(wait.namespace, wait.claim), "its template" if wait.why == "not-created" else ""),
        words("does not exist" if wait.why == "missing" else "not made yet", lasted),
        unknown("cannot tell"),
        words("nothing"),
        words(""),
        words(f"{place(wait.namespace, wait.name)}: {_WHY.get(wait.why, wait.why)}"),
    )
    return Line(cells, marks.of("", "Pod", wait.namespace, wait.name))
