"""Which device is held, free, or cannot be told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.build import database, rows

from .make import claim, node, result, slice_

CLAIMS = [("resource.k8s.io", "ResourceClaim")]


def states(*objects: dict[str, Any], lists: Any = CLAIMS) -> dict[str, str]:
    con = database([node(), *objects], lists=lists)
    return {row["device"]: row["state"] for row in rows(con, "SELECT * FROM devices")}


def test_held_and_free() -> None:
    assert states(slice_("s", {"name": "a"}, {"name": "b"}), claim("c", result("a"))) == {"a": "Allocated", "b": "Free"}


def test_the_claim_is_named() -> None:
    con = database([node(), slice_("s", {"name": "a"}), claim("c", result("a"))])
    (row,) = rows(con, "SELECT message, name FROM states WHERE kind = 'Device'")
    assert row == {"message": "held by claim optics/c", "name": "lens.example/n1/a"}


def test_without_all_claims_nothing_is_free() -> None:
    assert states(slice_("s", {"name": "a"}), lists=()) == {"a": "Cannot tell"}


def test_a_claim_that_is_there_holds_its_device_in_an_incomplete_pool_too() -> None:
    found = states(slice_("s", {"name": "a"}, {"name": "b"}, count=2), claim("c", result("a")))
    assert found == {"a": "Allocated", "b": "Cannot tell"}


@pytest.mark.parametrize("other", [result("a", driver="other.example"), result("a", pool="n2")])
def test_the_name_of_a_device_alone_says_nothing(other: dict[str, Any]) -> None:
    assert states(slice_("s", {"name": "a"}), claim("c", other)) == {"a": "Free"}


def test_only_the_newest_generation_counts() -> None:
    assert states(slice_("s", {"name": "old"}, generation=1), slice_("t", {"name": "new"}, generation=2)) == {"new": "Free"}


def test_admin_access_occupies_nothing() -> None:
    assert states(slice_("s", {"name": "a"}), claim("c", result("a", adminAccess=True))) == {"a": "Free"}


def test_several_claims_share_a_device() -> None:
    objects = [slice_("s", {"name": "a", "allowMultipleAllocations": True})]
    shares = [claim("c", result("a", shareID="1")), claim("d", result("a", shareID="2"))]
    con = database([node(), *objects, *shares])
    (row,) = rows(con, "SELECT state, claims, shared FROM devices")
    assert row == {"state": "Allocated", "claims": ["optics/c", "optics/d"], "shared": True}


def counters(amount: str) -> list[dict[str, Any]]:
    return [{"counterSet": "gpu", "counters": {"memory": {"value": amount}}}]


PARTITIONS = [
    {"name": "whole", "consumesCounters": counters("40Gi")},
    {"name": "half", "consumesCounters": counters("20Gi")},
    {"name": "other-half", "consumesCounters": counters("20Gi")},
]
SETS = [{"name": "gpu", "counters": {"memory": {"value": "40Gi"}}}]


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ("half", {"whole": "Allocated", "half": "Allocated", "other-half": "Free"}),
        ("whole", {"whole": "Allocated", "half": "Allocated", "other-half": "Allocated"}),
    ],
)
def test_partitions_share_counters(held: str, found: dict[str, str]) -> None:
    pool = [slice_("s", count=2, sharedCounters=SETS), slice_("t", *PARTITIONS, count=2)]
    assert states(*pool, claim("c", result(held))) == found


def test_a_taken_partition_names_who_took_it() -> None:
    con = database([node(), slice_("s", *PARTITIONS, sharedCounters=SETS), claim("c", result("whole"))])
    (row,) = rows(con, "SELECT message, claims FROM devices WHERE device = 'half'")
    assert "optics/c" in row["message"]
    assert row["claims"] == []


def test_a_node_that_is_not_there() -> None:
    assert states(slice_("s", {"name": "a"}, nodeName="gone")) == {"a": "Cannot tell"}


@pytest.mark.parametrize(
    ("spec", "device", "place"),
    [
        ({}, {}, "node n1"),
        ({"allNodes": True}, {}, "all nodes"),
        ({"perDeviceNodeSelection": True}, {"nodeName": "n1"}, "node n1"),
        (
            {
                "nodeSelector": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]
                }
            },
            {},
            "zone In [a, b]",
        ),
    ],
)
def test_places(spec: dict[str, Any], device: dict[str, Any], place: str) -> None:
    con = database([node(), slice_("s", {"name": "a"} | device, **spec)])
    assert rows(con, "SELECT place FROM devices") == [{"place": place}]


@pytest.mark.parametrize(
    "device",
    [
        {"name": "a", "basic": {"attributes": {"model": {"string": "x"}}, "capacity": {"memory": "40Gi"}}},
        {"name": "a", "basic": {"attributes": {"model": {"string": "x"}}, "capacity": {"memory": {"value": "40Gi"}}}},
        {"name": "a", "attributes": {"model": {"string": "x"}}, "capacity": {"memory": {"value": "40Gi"}}},
    ],
)
def test_all_shapes_of_a_device(device: dict[str, Any]) -> None:
    con = database([node(), slice_("s", device)])
    query = "SELECT json_extract_string(attributes, '$.model') AS m, json_extract_string(capacity, '$.memory') AS c FROM devices"
    assert rows(con, query) == [{"m": "x", "c": "40Gi"}]


def test_taints_of_slices_and_rules() -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"pool": "n1"}, "taint": {"key": "k/b", "effect": "NoExecute"}},
    }
    device = {"name": "a", "taints": [{"key": "k/a", "value": "v", "effect": "NoSchedule"}]}
    con = database([node(), rule, slice_("s", device, {"name": "b"})])
    found = {row["device"]: row["taints"] for row in rows(con, "SELECT device, taints FROM devices")}
    assert found == {"a": ["k/a=v:NoSchedule", "k/b=:NoExecute"], "b": ["k/b=:NoExecute"]}


def test_a_slice_that_lacks_its_pool_is_read_all_the_same() -> None:
    bare = slice_("s", {"name": "a"})
    del bare["spec"]["pool"], bare["spec"]["driver"]
    con = database([node(), bare], lists=CLAIMS)
    assert rows(con, "SELECT name, state FROM devices") == [{"name": "unknown/s/a", "state": "Cannot tell"}]


def test_what_no_pod_can_reach_is_not_free() -> None:
    """A device of a node that is gone, of a slice that names no nodes; a rule by class taints no device for certain."""
    gone = slice_(
        "s", {"name": "a", "nodeName": "gone"}, {"name": "b", "nodeName": "n1"}, {"name": "c"}, perDeviceNodeSelection=True
    )
    nowhere = slice_("t", {"name": "d"}, pool="p")
    del nowhere["spec"]["nodeName"]
    rule = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"deviceClassName": "lens.example"}, "taint": {"key": "k", "effect": "NoSchedule"}},
    }
    con = database([node(), gone, nowhere, rule], lists=CLAIMS)
    told = dict(con.execute("SELECT device, message FROM devices WHERE state = 'Cannot tell'").fetchall())
    assert told == {
        "a": "its node gone is not in the cluster",
        "c": "its slice does not say which nodes it is for",
        "d": "its slice does not say which nodes it is for",
    }
    assert con.execute("SELECT DISTINCT len(taints) FROM devices").fetchall() == [(0,)]


def test_a_slice_for_the_host_name_of_one_node_is_that_nodes() -> None:
    selector = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["host-7"]}]}]
    }
    published = slice_("s", {"name": "a"})
    published["spec"].pop("nodeName")
    published["spec"]["nodeSelector"] = selector
    seven, eight = (node(name, **{"kubernetes.io/hostname": "host-7"}) for name in ("n7", "n8"))
    assert rows(database([seven, published]), "SELECT node FROM devices") == [{"node": "n7"}]
    (twice,) = rows(database([seven, eight, published]), "SELECT node, place FROM devices")
    assert twice["node"] is None
    assert "host-7" in twice["place"]
