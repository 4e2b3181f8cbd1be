"""Claims: pins, requests in all shapes, what pods need, and objects that hold anything at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.facts.dra.shapes import in_words, pinned, selector_words
from tests.facts.build import database, one, rows

from .make import claim, node, result, slice_

NAME = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
ZONE = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}


def selector(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeSelectorTerms": list(terms)}


@pytest.mark.parametrize(
    ("value", "node_name", "words"),
    [
        (selector({"matchFields": [NAME]}), "n1", "metadata.name In [n1]"),
        (selector({"matchFields": [NAME]}, {"matchFields": [NAME]}), None, "metadata.name In [n1] or metadata.name In [n1]"),
        (selector({"matchExpressions": [ZONE]}), None, "topology.kubernetes.io/zone In [a]"),
        (selector({"matchFields": [NAME | {"operator": "NotIn"}]}), None, "metadata.name NotIn [n1]"),
        (selector({"matchFields": [NAME | {"values": ["n1", "n2"]}]}), None, "metadata.name In [n1, n2]"),
        (
            selector({"matchFields": [NAME], "matchExpressions": [ZONE]}),
            None,
            "metadata.name In [n1] and topology.kubernetes.io/zone In [a]",
        ),
        (None, None, None),
        ({}, None, None),
    ],
)
def test_pins(value: Any, node_name: str | None, words: str | None) -> None:
    assert (pinned(value), selector_words(value)) == (node_name, words)


def test_a_host_name_is_looked_up_among_the_nodes() -> None:
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["host-7"]}
    value = claim("c", result("a"))
    value["status"]["allocation"]["nodeSelector"] = selector({"matchExpressions": [host]})
    con = database([node("n7", **{"kubernetes.io/hostname": "host-7"}), value])
    assert one(con, "SELECT node, node_selector FROM claims") == {"node": "n7", "node_selector": None}


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"deviceClassName": "k"}, "r: 1 device of class k"),
        ({"exactly": {"deviceClassName": "k", "count": 3}}, "r: 3 devices of class k"),
        ({"exactly": {"deviceClassName": "k", "allocationMode": "All"}}, "r: all devices of class k"),
        ({"deviceClassName": "k", "adminAccess": True}, "r: 1 device of class k with admin access"),
        (
            {"firstAvailable": [{"name": "x", "deviceClassName": "k"}, {"name": "y", "deviceClassName": "m", "count": 2}]},
            "r/x: 1 device of class k, else r/y: 2 devices of class m",
        ),
    ],
)
def test_requests(request_: dict[str, Any], words: str) -> None:
    assert in_words({"devices": {"requests": [{"name": "r"} | request_]}}) == [words]


def pod(claims: Any, **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "optics", "uid": "uid-p"},
        "spec": {"containers": [{"name": "c"}], "resourceClaims": claims},
        "status": {"phase": "Pending"} | status,
    }


def owned(name: str, uid: str) -> dict[str, Any]:
    value = claim(name)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    value["metadata"]["ownerReferences"] = [owner]
    return value


TEMPLATED = [{"name": "g", "resourceClaimTemplateName": "t"}]
MADE = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "p-g-1"}]}


@pytest.mark.parametrize(
    ("value", "others", "status"),
    [
        (pod([{"name": "g", "resourceClaimName": "c"}]), [claim("c")], "found"),
        (pod([{"name": "g", "source": {"resourceClaimName": "c"}}]), [claim("c")], "found"),
        (pod([{"name": "g", "resourceClaimName": "c"}]), [claim("other")], "missing"),
        (pod([{"name": "g", "resourceClaimName": "c"}]), [], "unknown"),
        (pod(TEMPLATED), [], "not-created"),
        (pod(TEMPLATED, resourceClaimStatuses=[{"name": "g"}]), [], "not-needed"),
        (pod(TEMPLATED, **MADE), [owned("p-g-1", "uid-p")], "found"),
        (pod(TEMPLATED, **MADE), [owned("p-g-1", "uid-other")], "not-owned"),
        (pod(TEMPLATED, **MADE), [claim("other")], "missing"),
        (pod([{"name": "g"}]), [], "unknown"),
    ],
)
def test_what_a_pod_needs(value: dict[str, Any], others: list[dict[str, Any]], status: str) -> None:
    assert one(database([value, *others]), "SELECT status FROM pod_claims")["status"] == status


def group(*claims: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": "optics", "uid": "uid-gang"},
        "spec": {"resourceClaims": list(claims)},
        "status": status,
    }


def of_group(claims: Any, **status: Any) -> dict[str, Any]:
    value = pod(claims, **status)
    value["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
    return value


def made_for_group(name: str = "gang-g-1") -> dict[str, Any]:
    value = claim(name)
    owner = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "name": "gang", "uid": "uid-gang"}
    value["metadata"]["ownerReferences"] = [owner]
    return value


GROUP_MADE = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "gang-g-1"}]}
ASKS = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 cannot allocate all claims."}]}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "others", "found"),
    [
        (of_group(TEMPLATED), [group(*TEMPLATED, **GROUP_MADE), made_for_group()], ("group", "gang-g-1", "found")),
        (of_group(TEMPLATED, **GROUP_MADE), [group(*TEMPLATED), made_for_group()], ("group", "gang-g-1", "found")),
        (of_group(TEMPLATED), [group(*TEMPLATED)], ("group", None, "not-created")),
        # The group was not collected: its claim is not another pod's all the same.
        (of_group(TEMPLATED, **GROUP_MADE), [made_for_group()], ("template", "gang-g-1", "found")),
        # Another template than the group's: the pod's own.
        (of_group([TEMPLATED[0] | {"resourceClaimTemplateName": "u"}], **MADE), [group(*TEMPLATED), owned("p-g-1", "uid-p")],
         ("template", "p-g-1", "found")),
        (of_group([{"name": "x", "podGroupResourceClaim": "g"}]), [group(*TEMPLATED, **GROUP_MADE), made_for_group()],
         ("group", "gang-g-1", "found")),
        (of_group([{"name": "g", "resourceClaimName": "c"}]), [group({"name": "g", "resourceClaimName": "c"}), claim("c")],
         ("group", "c", "found")),
        (of_group(None, **ASKS), [group(*TEMPLATED, **GROUP_MADE), made_for_group()], ("group", "gang-g-1", "found")),
    ],
)  # fmt: skip
def test_claims_that_a_pod_shares_with_its_group(
    value: dict[str, Any], others: list[dict[str, Any]], found: tuple[Any, ...]
) -> None:
    row = one(database([value, *others]), "SELECT how, claim, status FROM pod_claims")
    assert (row["how"], row["claim"], row["status"]) == found


def test_a_pod_that_asks_for_nothing_of_its_group_needs_nothing() -> None:
    assert rows(database([of_group(None), group(*TEMPLATED, **GROUP_MADE), made_for_group()]), "SELECT * FROM pod_claims") == []


def test_a_claim_for_an_extended_resource() -> None:
    value = pod(None, extendedResourceClaimStatus={"resourceClaimName": "c"})
    found = one(database([value, claim("c")]), "SELECT how, claim, status FROM pod_claims")
    assert found == {"how": "extended", "claim": "c", "status": "found"}


def test_edges_lead_from_node_to_pod() -> None:
    objects = [node(), slice_("s", {"name": "a"}), claim("c", result("a")), pod([{"name": "g", "resourceClaimName": "c"}])]
    query = "SELECT src, dst, kind FROM relations WHERE kind IN ('slice', 'device', 'claim') ORDER BY src"
    assert [(row["src"], row["dst"]) for row in rows(database(objects), query)] == [(0, 1), (1, 2), (2, 3)]


WORDS = (
    "devices requests exactly firstAvailable allocation results reservedFor pool name driver generation resourceSliceCount basic "
    "attributes capacity taints sharedCounters consumesCounters nodeSelector conditions counters deviceSelector taint key x"
)
KEYS = st.sampled_from(WORDS.split())
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY, ANY, ANY)
def test_objects_that_hold_anything(first: Any, second: Any, third: Any) -> None:
    group = "resource.k8s.io/v1"
    objects = [
        {"apiVersion": group, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": first},
        {
            "apiVersion": group,
            "kind": "ResourceSlice",
            "metadata": {"name": "t"},
            "spec": slice_("t")["spec"] | {"devices": second},
        },
        {"apiVersion": group, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": second, "status": third},
        {"apiVersion": group, "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": third},
        pod(third),
    ]
    database(objects)
