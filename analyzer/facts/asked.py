"""What a collection asked for and what came of it, where its format keeps a record of that (Sonobuoy, our own bundles).

Sonobuoy writes no file for an empty answer. Its record of the queries says that a resource was asked for in a namespace
and that the API server answered; with no file beside it there were none. Our own manifest names every request with its
outcome; that a list was read to its end is in table lists already (see collection), the others are told here.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import orjson

from analyzer.bundle.manifest import told
from analyzer.facts.kindnames import Kind, Names
from analyzer.facts.values import mapping, mappings, strings, text

_CONFIG, _QUERIES = "sonobuoy-config", "sonobuoy-queries"


_MANIFEST = "triage-manifest"


@dataclass(frozen=True, slots=True)
class Request:
    """A request of our own collector that did not give a whole list: not-served, forbidden, timed-out, truncated or failed."""

    input: int
    kind: Kind
    namespace: str
    outcome: str
    words: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """What the manifests of our own bundles say.

    Attributes:
        requests: those that did not give a whole list.
        asked: the kinds that were asked for at all; None where an input has no manifest.
        limited: the namespaces that all inputs were limited to; None where one was not.
        interrupted: a collection was interrupted before its end.
    """

    requests: tuple[Request, ...]
    asked: frozenset[Kind] | None
    limited: frozenset[str] | None
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the records say.

    Attributes:
        answered: resource in small letters, and the namespace it was asked for in, `*` for cluster-scoped ones.
        resources: what the collection was told to ask for; None where that is not known for every input.
        selectors: input → label selector that everything in it was asked for with.
    """

    answered: frozenset[tuple[str, str]]
    resources: frozenset[str] | None
    selectors: dict[int, str]


def asked(con: duckdb.DuckDBPyConnection) -> Asked:
    """Read the records. One of an input that is cut, or that lost its lists, proves nothing."""
    rows = con.execute(
        "SELECT i.input, d.role, d.json, i.complete AND EXISTS "
        "(SELECT 1 FROM lists l JOIN files f USING (file_id) WHERE f.input = i.input) "
        "FROM documents d JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input WHERE d.role IN (?, ?)",
        [_CONFIG, _QUERIES],
    ).fetchall()
    answered: list[tuple[int, str, str]] = []
    resources: dict[int, set[str] | None] = {}
    selectors: dict[int, str] = {}
    for number, role, document, sound in rows:
        value = mapping(orjson.loads(document))
        if role == _CONFIG:
            told = value.get("resources")
            resources[number] = set(strings(told)) if isinstance(told, list) else None
            if text(value.get("selector")):
                selectors[number] = str(value["selector"])
        elif sound:
            rows_asked = mappings(value.get("asked"))
            answered += [(number, text(one.get("resource")) or "", text(one.get("namespace")) or "*") for one in rows_asked]
    (inputs,) = con.execute("SELECT count(*) FROM inputs").fetchall()[0]
    # With a selector an empty answer says nothing about the others.
    whole = frozenset((resource, space) for number, resource, space in answered if number not in selectors)
    lists = [one for one in resources.values() if one is not None]
    known = len(lists) == inputs
    return Asked(whole, frozenset().union(*lists) if known else None, selectors)


def manifests(con: duckdb.DuckDBPyConnection) -> Manifests:
    """Read the manifests of our own bundles."""
    rows = con.execute(
        "SELECT DISTINCT f.input, r.api_group, r.kind, r.namespace, r.outcome, r.message "
        "FROM requests r JOIN files f USING (file_id) ORDER BY ALL"
    ).fetchall()
    failed = [
        Request(number, (group, kind), space, outcome, told(outcome, space, message))
        for number, group, kind, space, outcome, message in rows
        if outcome != "ok"
    ]
    kept = con.execute(
        "SELECT f.input, d.json FROM documents d JOIN files f USING (file_id) WHERE d.role = ?", [_MANIFEST]
    ).fetchall()
    (inputs,) = con.execute("SELECT count(*) FROM inputs").fetchall()[0]
    values = [mapping(orjson.loads(document)) for _, document in kept]
    known = len({number for number, _ in kept}) == inputs
    spaces = [mapping(value.get("scope")).get("namespaces") for value in values]
    limits = [frozenset(strings(entry)) for entry in spaces if isinstance(entry, list)]
    return Manifests(
        tuple(failed),
        frozenset((row[1], row[2]) for row in rows) if known else None,
        frozenset().union(*limits) if known and len(limits) == len(spaces) else None,
        any(text(value.get("interrupted")) for value in values),
    )


def kinds_of(resource: str, names: Names, with_objects: frozenset[Kind]) -> list[Kind]:
    """The kinds that a resource without its group means: where one group of it has objects, the others were not asked."""
    kinds = names.resource(resource)
    return [kind for kind in kinds if kind in with_objects] or kinds
