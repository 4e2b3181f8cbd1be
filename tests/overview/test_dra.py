"""The tables of devices and of resource claims."""

from __future__ import annotations

from typing import Any

from analyzer.engine.sections import Section
from analyzer.overview.dra import sections
from analyzer.overview.marks import Marks
from tests.dra.make import DRIVER, claim, node, result, slice_
from tests.facts.build import database

from .cells import by_id, finding, row_of, texts

LISTS = (("resource.k8s.io", "ResourceClaim"), ("resource.k8s.io", "ResourceSlice"))


def shown(*objects: dict[str, Any], lists: Any = LISTS, findings: Any = ()) -> dict[str, Section]:
    con = database([node(), *objects], lists=lists)
    found = by_id(sections(con, Marks(findings)))
    for section in found.values():
        con.execute(section.query).fetchall()
    return found


def test_a_cluster_without_claims_and_slices_has_neither_section() -> None:
    assert shown() == {}


def test_devices_with_who_holds_them() -> None:
    attributes = {"model": {"string": "Wide"}, "zoom": {"int": 3}}
    devices: list[dict[str, Any]] = [
        {"name": "l-0", "attributes": attributes, "capacity": {"memory": {"value": "4Gi"}}},
        {"name": "l-1"},
    ]
    used = claim("c", result("l-0"), reservedFor=[{"resource": "pods", "name": "eye", "uid": "u"}])
    drivers, table = shown(slice_("s", *devices), used)["devices"].tables
    assert texts(drivers) == [[DRIVER, "1", "2", "1", "1", "", ""]]
    held = row_of(table, "l-0")
    assert [cell.text for cell in held[1:5]] == ["allocated", "optics/c", "n1", "model Wide, memory 4Gi"]
    assert held[2].below == "used by eye"
    assert [cell.text for cell in row_of(table, "l-1")[1:3]] == ["free", "nobody"]


def test_without_all_claims_it_cannot_be_told_what_is_free() -> None:
    section = shown(slice_("s", {"name": "l-0"}), lists=())["devices"]
    cell = row_of(section.tables[1], "l-0")[1]
    assert (cell.kind, cell.text) == ("unknown", "cannot tell")
    assert any("does not have all claims" in note for note in section.notes)


def test_taints_admin_access_and_shared_counters() -> None:
    counters = [{"name": "set", "counters": {"memory": {"value": "8Gi"}}}]
    use = [{"counterSet": "set", "counters": {"memory": {"value": "6Gi"}}}]
    devices: list[dict[str, Any]] = [
        {"name": "whole", "consumesCounters": use},
        {"name": "part", "consumesCounters": use, "taints": [{"key": "k.example/x", "value": "1", "effect": "NoSchedule"}]},
    ]
    watch = claim("watch", result("whole", adminAccess=True))
    objects = [slice_("s", *devices, sharedCounters=counters), claim("c", result("whole")), watch]
    found = shown(*objects, findings=[finding("resource.k8s.io", "ResourceSlice", "", "s", "info", "f-s")])
    table = found["devices"].tables[1]
    assert row_of(table, "whole")[2].below == "admin access: optics/watch"
    part = row_of(table, "part")
    assert part[2].text == "what it shares with others is taken by optics/c"
    assert (part[5].text, part[5].below) == ("k.example/x=1:NoSchedule", "takes set/memory 6Gi of 8Gi")
    assert [row.finding for row in table.rows] == ["f-s", None]


def test_alike_devices_of_many_nodes_stand_as_one_row() -> None:
    slices = [
        slice_(f"s{number}", *({"name": f"l-{at}", "attributes": {"uuid": {"string": f"{number}-{at}"}}} for at in range(4)),
               pool=f"n{number}", nodeName=f"n{number}")
        for number in range(10)
    ]  # fmt: skip
    nodes = [node(f"n{number}") for number in range(2, 10)]
    table = shown(*nodes, node("n0"), *slices, claim("c", result("l-0")))["devices"].tables[1]
    assert [line[0] for line in texts(table)] == ["l-0", "l-0 … l-3 (39 devices)"]


def test_pools_that_are_not_whole_or_hold_nothing_are_named() -> None:
    notes = shown(slice_("s", {"name": "l-0"}, count=2), slice_("t", pool="empty"))["devices"].notes
    assert any("1 of 2 slices" in note for note in notes)
    assert any(note.startswith(f"No device is published in pool empty of {DRIVER}") for note in notes)


def test_a_device_that_no_slice_has() -> None:
    table = shown(slice_("s", {"name": "l-0"}), claim("c", result("gone")))["devices"].tables[1]
    assert row_of(table, "gone")[1].text == "published no more"
    con = database([node(), slice_("s", {"name": "l-0"}), claim("c", result("gone"))], lists=LISTS)
    con.execute("UPDATE coverage SET status = 'partial' WHERE kind = 'ResourceSlice'")
    partial = by_id(sections(con, Marks([])))["devices"].tables[1]
    assert row_of(partial, "gone")[1].text == "no slice of it in the bundle"


def test_who_waits_for_a_claim_and_why() -> None:
    unscheduled = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 cannot allocate all claims.",
        "lastTransitionTime": "2026-11-01T11:00:00Z",
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "eye", "namespace": "optics", "uid": "u", "creationTimestamp": "2026-11-01T11:00:00Z"},
        "spec": {"resourceClaims": [{"name": "a", "resourceClaimName": "c"}, {"name": "b", "resourceClaimName": "none"}],
                 "containers": [{"name": "x", "image": "i"}]},
        "status": {"phase": "Pending", "conditions": [unscheduled]},
    }  # fmt: skip
    asked = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "lens.example"}}]}}
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "lens.example"}, "spec": {}}
    found = shown(pod, device_class, claim("c", spec=asked), findings=[finding("", "Pod", "optics", "eye", number="f-eye")])
    table = found["claims"].tables[0]
    missing = row_of(table, "optics/none")
    assert (missing[1].text, missing[5].text) == ("does not exist", "optics/eye: it does not exist")
    waited = row_of(table, "optics/c")
    assert [cell.text for cell in waited[1:5]] == ["Pending", "r: 1 device of class lens.example", "nothing", "nobody"]
    assert waited[5].text == "optics/eye: no devices that fit are free there"
    assert {row.finding for row in table.rows} == {"f-eye"}


def test_where_a_claim_is_allocated() -> None:
    pinned = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
    zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}
    claims = []
    for name, selector in (("pinned", pinned), ("zoned", zone)):
        one = claim(name, result(name))
        one["status"]["allocation"]["nodeSelector"] = selector
        claims.append(one)
    table = shown(*claims)["claims"].tables[0]
    assert row_of(table, "optics/pinned")[3].below == "on n1"
    assert row_of(table, "optics/zoned")[3].below == "where zone In [a, b]"


def test_who_uses_a_claim_is_told_where_the_bundle_can_tell() -> None:
    manifest = claim("m")
    del manifest["status"]
    table = shown(claim("c"), manifest, lists=())["claims"].tables[0]
    assert row_of(table, "optics/c")[4].below == "it is reserved for nobody; not all pods are in the bundle"
    assert row_of(table, "optics/m")[4].below == "the bundle has it without its status"
    assert {row_of(table, name)[4].text for name in ("optics/c", "optics/m")} == {"cannot tell"}
    section = shown(claim("c"), lists=(*LISTS, ("", "Pod")))["claims"]
    assert (row_of(section.tables[0], "optics/c")[4].text, section.notes) == ("nobody", ())
