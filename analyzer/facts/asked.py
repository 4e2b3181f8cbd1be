"""What a collection was told to ask for, where its format keeps a record of that (Sonobuoy).

Sonobuoy writes no file for an empty answer. Its record of the queries says that a resource was asked for in a namespace
and that the API server answered; with no file beside it there were none.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import orjson

from analyzer.facts.kindnames import Kind, Names
from analyzer.facts.values import mapping, mappings, strings, text

_CONFIG, _QUERIES = "sonobuoy-config", "sonobuoy-queries"


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


def kinds_of(resource: str, names: Names, with_objects: frozenset[Kind]) -> list[Kind]:
    """The kinds that a resource without its group means: where one group of it has objects, the others were not asked."""
    kinds = names.resource(resource)
    return [kind for kind in kinds if kind in with_objects] or kinds
