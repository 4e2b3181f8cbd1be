"""What the nodes of a flavor offer, beside the quota of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.build import database, rows
from tests.kueue.test_facts import ALL, kueue, queue


def node(name: str, labels: dict[str, str], allocatable: Any, *, cordoned: bool = False) -> dict[str, Any]:
    status = {"conditions": [{"type": "Ready", "status": "True"}]} | ({"allocatable": allocatable} if allocatable else {})
    spec = {"unschedulable": True} if cordoned else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def flavor(labels: Any) -> dict[str, Any]:
    return kueue("ResourceFlavor", "hot", {"nodeLabels": labels} if labels is not None else {})


def offers(*objects: dict[str, Any], nodes_whole: bool = True) -> list[dict[str, Any]]:
    lists = [*ALL, ("", "Node")] if nodes_whole else ALL
    con = database([queue("jugs", nominalQuota="10"), *objects], lists=lists)
    if not nodes_whole:
        assert not con.execute("SELECT 1 FROM coverage WHERE kind = 'Node' AND status = 'complete'").fetchone()
    return rows(con, "SELECT * FROM kueue_offers")


def test_nodes_with_all_labels_of_a_flavor_offer_what_they_can_allocate() -> None:
    (found,) = offers(
        flavor({"zone": "a", "disk": "fast"}),
        node("n1", {"zone": "a", "disk": "fast"}, {"cpu": "7500m"}),
        node("n2", {"zone": "a", "disk": "fast", "more": "x"}, {"cpu": 4}, cordoned=True),
        node("n3", {"zone": "a"}, {"cpu": "64"}),
    )
    assert (found["nodes"], found["closed_nodes"], found["offered"], found["why"]) == (2, 1, "11500m", None)


def test_a_flavor_without_labels_stands_for_all_nodes() -> None:
    (found,) = offers(flavor(None), node("n1", {}, {"cpu": "2"}), node("n2", {"a": "b"}, {"cpu": "2"}))
    assert (found["nodes"], found["offered"]) == (2, "4")


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([node("n1", {}, {"cpu": "1"})], "the flavor does not exist"),
        ([flavor({}), node("n1", {}, None)], "a node does not say what it offers"),
        ([flavor({}), node("n1", {}, {"memory": "1Gi"})], "no node lists such a resource"),
        ([flavor({}), node("n1", {}, {"cpu": "many"})], "a node offers an amount that cannot be read"),
    ],
)
def test_what_cannot_be_told_says_why(objects: list[dict[str, Any]], why: str) -> None:
    (found,) = offers(*objects)
    assert (found["offered"], found["why"]) == (None, why)


def test_without_all_nodes_nothing_is_said_of_what_they_offer() -> None:
    (found,) = offers(flavor({}), nodes_whole=False)
    assert (found["offered"], found["nodes"], found["why"]) == (None, None, "nodes were not collected whole")


def test_no_node_has_the_labels() -> None:
    (found,) = offers(flavor({"zone": "b"}), node("n1", {"zone": "a"}, {"cpu": "1"}))
    assert (found["nodes"], found["offered"]) == (0, "0")


@pytest.mark.parametrize("labels", ["text", ["a"], {"a": {"b": 1}}, 7])
def test_labels_of_any_shape(labels: Any) -> None:
    assert len(offers(flavor(labels), node("n1", {}, {"cpu": "1"}))) == 1
