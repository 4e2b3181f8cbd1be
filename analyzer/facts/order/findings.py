"""What orders say, held against the bundle: rows of `order_reasons` with their proofs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.order.proof import prove
from analyzer.facts.order.proof import workloads as pods
from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.reading import Reading, disagreement, read
from analyzer.facts.order.reasons import EVENTS, GROWTH, PLAN_IN_FORCE, REASONS, REGION, UNKNOWN
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.words import LANGUAGES, Language, Value, cut, say
from analyzer.facts.order.world import Order, Told, World
from analyzer.facts.rows import insert_rows

DISAGREES = "StateDisagrees"
_REASON = re.compile(r"[A-Za-z][A-Za-z0-9_,:]{0,79}")
"""What the API calls a reason; anything else is told to be none."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of `order_reasons`: what is said and what the bundle says to it."""

    reason: str
    given: str
    about: tuple[int | None, str, str, str]
    """(object, API group, namespace, name)"""
    condition: str | None
    status: str | None
    message: str
    since: datetime | None
    order: Order | None
    proof: Proof
    old: bool
    told: tuple[tuple[str, dict[str, Value]], ...]


def derive(con: duckdb.DuckDBPyConnection, world: World) -> None:
    """Fills `order_reasons` and `order_proofs`."""
    rows = list(_rows(world))
    insert_rows(con, "order_reasons", (_shown(number, row) for number, row in enumerate(rows)))
    insert_rows(con, "order_proofs", (proof for number, row in enumerate(rows) for proof in _quotes(number, row)))


def _rows(world: World) -> Iterator[Row]:
    for order in world.orders:
        said = read(order)
        if said.in_force:
            yield _of_condition(world, order, said.in_force, said)
        if said.root:
            yield _of_condition(world, order, said.root, said)
        if said.growth:
            yield _of_condition(world, order, said.growth, said)
        why = disagreement(order)
        if why:
            yield _disagrees(order, said, why)
    refused = {order.object_id for order in world.orders if (root := read(order).root) and root.reason == "WorkloadError"}
    by_id = {order.object_id: order for order in world.orders}
    seen: set[tuple[str, str, str, str]] = set()
    for told in world.events:
        key = (told.reason, told.group, told.namespace, told.name)
        # The newest event of a reason comes first; a volume that was outgrown is told with the error that it is the cause of.
        if told.reason in EVENTS and key not in seen and not (told.reason == REGION and told.about_id in refused):
            seen.add(key)
            yield _of_event(world, told, by_id.get(told.about_id) if told.about_id is not None else None)


def _of_condition(world: World, order: Order, said: Said, reading: Reading) -> Row:
    proof = prove(world, order, said)
    known = said.reason in REASONS
    given = said.reason if _REASON.fullmatch(said.reason) else "-"
    values: dict[str, Value] = {
        "condition": said.type,
        "status": said.status or "-",
        "reason": given,
        "since": said.since,
        "message": said.message,
        "name": f"{order.namespace}/{order.name}",
    }
    told = [("said-with-words" if said.message else "said", values)]
    if not said.reason:
        told = [("said-without-reason-but-words" if said.message else "said-without-reason", values)]
    if said is reading.root and reading.consequences:
        told += list(_consequences(said, reading))
    old = said.observed is not None and order.generation is not None and said.observed < order.generation
    if old:
        told.append(("old", {"observed": said.observed, "generation": order.generation}))
    proof.quotes[:0] = []
    path = f"status.conditions[{said.idx}]"
    _first(proof, order.object_id, path, said)
    return Row(
        reason=said.reason if known else UNKNOWN,
        given=given,
        about=(order.object_id, order.group, order.namespace, order.name),
        condition=said.type,
        status=said.status,
        message=said.message,
        since=said.since,
        order=order,
        proof=proof,
        old=old,
        told=tuple(told),
    )


def _first(proof: Proof, object_id: int, path: str, said: Said) -> None:
    """The condition's own words come before all other evidence."""
    own = Proof()
    own.quote(object_id, f"{path}.reason", said.reason or None)
    own.quote(object_id, f"{path}.message", said.message or None)
    if not said.reason:
        own.quote(object_id, f"{path}.status", said.status)
    proof.quotes[:0] = own.quotes


def _consequences(root: Said, reading: Reading) -> Iterator[tuple[str, dict[str, Value]]]:
    same = [said.type for said in reading.consequences if said.reason == root.reason]
    other = [
        f"{said.type} ({said.reason if _REASON.fullmatch(said.reason) else '-'})"
        for said in reading.consequences
        if said.reason != root.reason
    ]
    if same:
        yield "repeated-by", {"names": same}
    if other:
        yield "followed-by", {"names": other}


def _disagrees(order: Order, reading: Reading, why: str) -> Row:
    telling = reading.root or order.condition("Ready")
    proof = Proof()
    proof.quote(order.object_id, order.phase_path, order.phase)
    if telling:
        proof.quote(order.object_id, f"status.conditions[{telling.idx}].reason", telling.reason or None)
        proof.quote(order.object_id, f"status.conditions[{telling.idx}].status", telling.status)
    given = telling.reason if telling and _REASON.fullmatch(telling.reason) else "-"
    values: dict[str, Value] = {"state": order.phase or "-", "condition": telling.type if telling else "-", "reason": given}
    return Row(
        reason=DISAGREES,
        given=order.phase or "-",
        about=(order.object_id, order.group, order.namespace, order.name),
        condition=telling.type if telling else None,
        status=telling.status if telling else None,
        message=telling.message if telling else "",
        since=telling.since if telling else None,
        order=order,
        proof=proof,
        old=False,
        told=((why, values),),
    )


def _of_event(world: World, told: Told, order: Order | None) -> Row:
    proof = Proof()
    if order is None:
        proof.doubt("order-not-in-bundle")
    elif told.reason == GROWTH:
        pods.growth(world, order, proof)
    else:
        if order.serves and order.phase in (None, "Ready", "Degraded"):
            proof.refute("serves-after-all")
        pods.volumes(world, order, proof)
    own = Proof()
    own.quote(told.event_id, "message", told.message or told.reason, "Observed")
    proof.quotes[:0] = own.quotes
    values: dict[str, Value] = {
        "reason": told.reason,
        "since": told.last_at or told.first_at,
        "message": told.message,
        "times": told.times,
        "name": f"{told.namespace}/{told.name}",
    }
    about = (order.object_id if order else told.about_id, told.group, told.namespace, told.name)
    return Row(
        reason=told.reason,
        given=told.reason,
        about=about,
        condition=None,
        status=None,
        message=told.message,
        since=told.first_at or told.last_at,
        order=order,
        proof=proof,
        old=False,
        told=(("event" if told.message else "event-silent", values),),
    )


def _shown(number: int, row: Row) -> dict[str, Any]:
    proof, order = row.proof, row.order
    # What the module itself calls no fault is never more than information, and its time is its own.
    fixed_words = row.reason in (PLAN_IN_FORCE, GROWTH)
    shown: dict[str, Any] = {
        "reason_id": number,
        "object_id": row.about[0],
        "object_group": row.about[1],
        "object_kind": "InferenceService",
        "object_namespace": row.about[2],
        "object_name": row.about[3],
        "reason": row.reason,
        "given": row.given,
        "condition": row.condition,
        "status": row.status,
        "message": row.message or None,
        "since": row.since,
        "class": order.class_name if order else None,
        "model": order.source.name if order else None,
        "verdict": proof.verdict,
        "cause": proof.cause,
        "severity": None if fixed_words else proof.severity,
        "owner": None if fixed_words else proof.owner,
        "waiting": None if fixed_words else proof.waiting,
        "basis": "deduced" if proof.deduced and not fixed_words else None,
        "old": row.old,
    }
    for language in LANGUAGES:
        ending = "" if language == "en" else f"_{language}"
        shown[f"told{ending}"] = " ".join(say(name, values, language) + "." for name, values in row.told)
        shown[f"proof{ending}"] = proof.words(language) or None
        shown[f"over{ending}"] = _over(row, language)
    return shown


def _over(row: Row, language: Language) -> str | None:
    """The title of a reason that does not hold any more."""
    if not row.proof.over or row.reason == PLAN_IN_FORCE:
        return None
    name = f"{row.about[2]}/{row.about[3]}"
    return cut(say("over", {"name": name, "reason": row.given}, language) + row.proof.first(language), 280)


def _quotes(number: int, row: Row) -> Iterator[dict[str, Any]]:
    for idx, quote in enumerate(row.proof.quotes):
        yield {
            "reason_id": number,
            "idx": idx,
            "source_id": quote.source_id,
            "path": quote.path,
            "value": quote.value,
            "kind": quote.kind,
            "log_id": quote.log_id,
            "line": quote.line,
        }
