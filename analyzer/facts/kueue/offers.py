"""What the nodes of each ResourceFlavor offer of the resources that queues have quota of.

A flavor stands for the nodes that have all its labels (`spec.nodeLabels`, Kueue's ResourceFlavor), one without labels for all
nodes. What they offer is what their kubelets report as allocatable: quota is a promise that nobody checks against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb

from analyzer.facts.kueue.base import GROUP, show
from analyzer.facts.kueue.store import Told
from analyzer.facts.quantity import amount
from analyzer.facts.values import mapping, stored
from analyzer.facts.whole import Whole

_Label = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Node:
    allocatable: Mapping[str, Any]
    closed: bool
    """It takes no new pods: cordoned, or not ready."""


class _Nodes:
    """The nodes, found by their labels."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        shut = con.execute("SELECT object_id FROM nodes WHERE coalesce(state, '') <> 'Ready'").fetchall()
        closed = {object_id for (object_id,) in shut}
        self.all: list[_Node] = []
        self._by_label: dict[_Label, set[int]] = {}
        self._found: dict[frozenset[_Label], tuple[int, ...]] = {}
        for item in stored(con, [("", "Node")]):
            place = len(self.all)
            self.all.append(_Node(mapping(mapping(item.value.get("status")).get("allocatable")), item.object_id in closed))
            for label in _labels(mapping(item.value.get("metadata")).get("labels")):
                self._by_label.setdefault(label, set()).add(place)

    def with_labels(self, labels: frozenset[_Label]) -> tuple[int, ...]:
        """The nodes that have all of them; many flavors have the same labels."""
        if labels not in self._found:
            sets = sorted((self._by_label.get(label, set()) for label in labels), key=len)
            places: Iterable[int] = set.intersection(*sets) if sets else range(len(self.all))
            self._found[labels] = tuple(sorted(places))
        return self._found[labels]


def rows(con: duckdb.DuckDBPyConnection, told: Told, lists: Whole) -> Iterator[dict[str, Any]]:
    """Rows of `kueue_offers`, one a flavor and resource that some quota names."""
    wanted = sorted({key for kind in ("ClusterQueue", "Cohort") for thing in told.of(kind) for key in thing.quotas})
    if not wanted:
        return
    labels = {
        item.name: frozenset(_labels(mapping(item.value.get("spec")).get("nodeLabels")))
        for item in stored(con, [(GROUP, "ResourceFlavor")])
    }
    nodes = _Nodes(con)
    unknown = _unknown(con, lists, nodes)
    known = {resource for node in nodes.all for resource in node.allocatable}
    made: dict[tuple[frozenset[_Label], str], dict[str, Any]] = {}
    for flavor, resource in wanted:
        thing = told.get("ResourceFlavor", flavor)
        row: dict[str, Any] = {"flavor": flavor, "resource": resource, "flavor_id": thing.object_id if thing else None}
        if flavor not in labels:
            gone = lists.has(GROUP, "ResourceFlavor")
            yield row | {"why": "the flavor does not exist" if gone else "the flavor is not in the bundle"}
        elif unknown:
            yield row | {"why": unknown}
        else:
            key = (labels[flavor], resource)
            if key not in made:
                made[key] = _offer(nodes, *key, known)
            yield row | made[key]


def _labels(held: Any) -> list[_Label]:
    return [(key, str(value)) for key, value in mapping(held).items()]


def _unknown(con: duckdb.DuckDBPyConnection, lists: Whole, nodes: _Nodes) -> str | None:
    """Why it cannot be told what nodes offer."""
    if not lists.has("", "Node"):
        return "nodes were not collected whole"
    if con.execute("SELECT 1 FROM objects WHERE kind = 'Node' AND api_group = '' AND NOT whole LIMIT 1").fetchone():
        return "a node was read in part"
    if not all(node.allocatable for node in nodes.all):
        return "a node does not say what it offers"
    return None


def _offer(nodes: _Nodes, labels: frozenset[_Label], resource: str, known: set[str]) -> dict[str, Any]:
    places = nodes.with_labels(labels)
    row = {"nodes": len(places), "closed_nodes": sum(nodes.all[place].closed for place in places)}
    if places and resource not in known:
        # Quota may count what no node lists: devices of DRA, or what Kueue's configuration makes of other resources.
        return row | {"why": "no node lists such a resource"}
    total = Fraction(0)
    for place in places:
        offered = nodes.all[place].allocatable.get(resource, 0)
        value = amount(offered)
        if value is None:
            return row | {"why": "a node offers an amount that cannot be read"}
        total += value
    return row | {"offered": show(resource, total)}
