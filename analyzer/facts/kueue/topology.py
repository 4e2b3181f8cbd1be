"""Where topology-aware scheduling put the pods of a pod set: v1beta1's list of domains, v1beta2's packed slices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from analyzer.facts.values import mapping, mappings, number, strings, text

MAX_DOMAINS = 10_000
"""Domains of one pod set that are counted."""
NAMED = 20
"""Domains that are named."""

Domain = tuple[tuple[str, ...], int | None]
"""Values from the highest level down, and the pods in it."""


def domains(assignment: dict[str, Any]) -> list[Domain]:
    """The domains of a topologyAssignment, at most `MAX_DOMAINS`.

    v1beta2 packs domains into slices: for each level one value for all (`universal`), or a value a domain (`individual`)
    written as what they have in common before and after, and what each has of its own.
    """
    listed: Iterator[Domain] = (
        (tuple(strings(item.get("values"))), number(item.get("count"))) for item in mappings(assignment.get("domains"))
    )
    packed = (domain for item in mappings(assignment.get("slices")) for domain in _unpacked(item))
    return [*islice(listed, MAX_DOMAINS), *islice(packed, MAX_DOMAINS)]


def _unpacked(item: dict[str, Any]) -> Iterator[Domain]:
    total = number(item.get("domainCount")) or 0
    levels = [_values(level) for level in mappings(item.get("valuesPerLevel"))]
    counts = mapping(item.get("podCounts"))
    each = counts.get("individual")
    for index in range(min(total, MAX_DOMAINS)):
        values = tuple(level if isinstance(level, str) else level[index] if index < len(level) else "?" for level in levels)
        own = each[index] if isinstance(each, list) and index < len(each) else None
        yield values, number(own if isinstance(each, list) else counts.get("universal"))


def _values(level: dict[str, Any]) -> str | list[str]:
    universal = level.get("universal")
    if isinstance(universal, str):
        return universal
    individual = mapping(level.get("individual"))
    prefix, suffix = text(individual.get("prefix")) or "", text(individual.get("suffix")) or ""
    roots = individual.get("roots")
    if isinstance(roots, list):
        return [f"{prefix}{root}{suffix}" if isinstance(root, str) else "?" for root in roots[:MAX_DOMAINS]]
    return "?"


def words(found: list[Domain]) -> list[str]:
    """The first domains in words: `rack-1/node-3 (2 pods)`."""
    return [
        "/".join(values) + ("" if pods is None else f" ({pods} pod{'' if pods == 1 else 's'})") for values, pods in found[:NAMED]
    ]
