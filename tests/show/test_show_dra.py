"""What `triage show` tells of claims, templates, classes, slices, devices, taint rules, and of pods and nodes with them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.facts.build import database

from .pages import page, section, thing

V1 = "resource.k8s.io/v1"
LENS = "lens.example"
REQUESTS = [
    {"name": "r", "firstAvailable": [
        {"name": "wide", "deviceClassName": LENS, "selectors": [{"cel": {"expression": 'device.driver == "lens.example"'}}]},
        {"name": "two", "deviceClassName": LENS, "count": 2},
    ]},
]  # fmt: skip
CONFIG = [{"requests": ["r"], "opaque": {"driver": LENS, "parameters": {"kind": "LensConfig", "zoom": 3}}}]
PINNED = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
HELD = {"request": "r/wide", "driver": LENS, "pool": "n1", "device": "l-0"}
OBJECTS = [
    thing("v1", "Node", "n1"),
    thing(V1, "DeviceClass", LENS, spec={"selectors": [{"cel": {"expression": "device.attributes.wide"}}],
                                         "extendedResourceName": "lens.example/lens"}),
    thing(V1, "ResourceClaimTemplate", "t", "optics", spec={"spec": {"devices": {"requests": REQUESTS}}}),
    thing(V1, "ResourceClaim", "eye-g-1", "optics",
          metadata={"uid": "c1", "ownerReferences": [
              {"apiVersion": "v1", "kind": "Pod", "name": "eye", "uid": "p1", "controller": True}]},
          spec={"devices": {"requests": REQUESTS, "config": CONFIG}},
          status={"allocation": {"devices": {"results": [HELD]}, "nodeSelector": PINNED},
                  "reservedFor": [{"resource": "pods", "name": "eye", "uid": "p1"}]}),
    thing(V1, "ResourceClaim", "none-yet", "optics", metadata={"creationTimestamp": "2026-11-01T11:00:00Z"},
          spec={"devices": {"requests": [{"name": "r", "exactly": {
              "deviceClassName": LENS, "capacity": {"requests": {"memory": "2Gi"}},
              "tolerations": [{"key": "site.example/repair", "operator": "Exists", "effect": "NoSchedule"},
                              {"operator": "Exists"}]}}]}},
          status={}),
    thing("v1", "Pod", "eye", "optics", metadata={"uid": "p1"},
          spec={"nodeName": "n1", "containers": [{"name": "c", "image": "i"}],
                "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]},
          status={"phase": "Running", "resourceClaimStatuses": [{"name": "g", "resourceClaimName": "eye-g-1"}],
                  "containerStatuses": [{"name": "c", "allocatedResourcesStatus": [{"name": "claim:g/r", "resources": [
                      {"resourceID": "lens.example/n1/l-0", "health": "Unhealthy", "message": "cracked"},
                      {"resourceID": "lens.example/n1/l-1", "health": "Healthy"}]}]}]}),
    thing("resource.nvidia.com/v1beta1", "ComputeDomain", "ring", "optics",
          spec={"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "ring-channel"}, "allocationMode": "Single"}},
          status={"status": "NotReady", "nodes": [
              {"name": "n1", "status": "Ready", "cliqueID": "c.1", "ipAddress": "10.0.0.7"},
              {"name": "n2", "status": "NotReady"}]}),
    thing("v1", "Pod", "blind", "optics", metadata={"uid": "p2", "creationTimestamp": "2026-11-01T11:00:00Z"},
          spec={"containers": [{"name": "c", "image": "i"}], "resourceClaims": [{"name": "g", "resourceClaimName": "none-yet"}]},
          status={"phase": "Pending", "conditions": [
              {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-11-01T11:00:00Z",
               "message": "0/2 nodes are available: 2 cannot allocate all claims."}]}),
    thing(V1, "ResourceSlice", "s1", spec={
        "driver": LENS, "nodeName": "n1", "pool": {"name": "n1", "generation": 2, "resourceSliceCount": 2},
        "devices": [{"name": "l-0", "attributes": {"model": {"string": "Wide"}}, "capacity": {"memory": {"value": "4Gi"}}},
                    {"name": "l-1"}]}),
    thing(V1, "ResourceSlice", "s0", spec={
        "driver": LENS, "nodeName": "n1", "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}, "devices": []}),
    thing("resource.k8s.io/v1alpha3", "DeviceTaintRule", "aimless", spec={"taint": {"key": "k", "effect": "NoExecute"}}),
    thing("resource.k8s.io/v1alpha3", "DeviceTaintRule", "repair", spec={
        "deviceSelector": {"driver": LENS, "device": "l-0"},
        "taint": {"key": "site.example/repair", "effect": "NoExecute", "timeAdded": "2026-11-01T11:00:00Z"}}),
]  # fmt: skip


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with database(OBJECTS) as con:
        yield con


def test_what_a_request_tolerates_and_how_much_it_wants(con: duckdb.DuckDBPyConnection) -> None:
    asked = " ".join(section(page(con, "resourceclaim/none-yet", "optics"), "Asks for"))
    assert "with a capacity of memory 2Gi" in asked
    assert "tolerates taints site.example/repair:NoSchedule, any key:any effect" in asked


def test_devices_that_the_kubelet_says_are_not_healthy(con: duckdb.DuckDBPyConnection) -> None:
    told = " ".join(section(page(con, "pod/eye", "optics"), "Resource claims"))
    assert 'device lens.example/n1/l-0 of container c (claim:g/r) is Unhealthy, "cracked"' in told.replace("“", '"').replace(
        "”", '"'
    )
    assert "l-1" not in told


def test_a_compute_domain(con: duckdb.DuckDBPyConnection) -> None:
    told = " ".join(section(page(con, "computedomain/ring", "optics"), "Compute domain"))
    for said in ("NotReady", "2", "ResourceClaimTemplate optics/ring-channel", "Single", "n1", "c.1", "10.0.0.7", "n2"):
        assert said in told


def test_a_claim(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "resourceclaim/eye-g-1", "optics")
    got = " ".join(section(text, "Allocation"))
    for said in ("In use", "Node n1", "Pod eye", "r/wide", "l-0", LENS, "tainted site.example/repair=:NoExecute"):
        assert said in got
    asked = section(text, "Asks for")
    assert asked[1] == "r/wide: 1 device of class lens.example"
    assert asked[2] == 'selected by "device.driver == "lens.example""'
    assert asked[3] == "else r/two: 2 devices of class lens.example"
    assert asked[4] == 'settings for driver lens.example: {"kind":"LensConfig","zoom":3}'
    assert asked[5] == "Which devices a CEL expression matches only the scheduler can say."
    assert "made from a template" in " ".join(section(text, "Needed by"))


def test_a_claim_that_waits(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "resourceclaim/none-yet", "optics")
    got = " ".join(section(text, "Allocation"))
    assert "Pending" in got
    assert "nobody" in got
    assert "no devices that fit are free there" in " ".join(section(text, "Needed by"))


def test_a_template(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "resourceclaimtemplate/t", "optics")
    assert section(text, "Asks for")[1] == "r/wide: 1 device of class lens.example"
    made = " ".join(section(text, "Claims made from it"))
    assert "eye-g-1" in made
    assert "In use" in made


def test_a_class(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, f"deviceclass/{LENS}")
    selects = section(text, "Selects devices by")
    assert selects[1] == '"device.attributes.wide"'
    assert any("lens.example/lens" in line for line in selects)
    claims = section(text, "Asked for by")
    assert claims[2].startswith("optics/none-yet")
    assert any(line.startswith("optics/eye-g-1") for line in claims)


def test_slices_and_their_pool(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "resourceslice/s1")
    assert any("1 of 2" in line for line in section(text, "Pool"))
    devices = " ".join(section(text, "Devices"))
    assert "held by claim optics/eye-g-1" in devices
    assert "Cannot tell" in devices
    assert "outdated, the pool is at 2" in " ".join(section(page(con, "resourceslice/s0"), "Pool"))


def test_one_device(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "device/lens.example/n1/l-0")
    told = " ".join(section(text, "Device"))
    for said in ("Allocated", "node n1", "model", "Wide", "memory", "4Gi", "site.example/repair=:NoExecute"):
        assert said in told
    assert "ResourceClaim optics/eye-g-1" in " ".join(section(text, "Held by"))
    assert any(
        line.split(":")[-1].strip() == "ResourceSlice s1" for line in section(page(con, "device/lens.example/n1/l-0"), "Device")
    )


def test_a_taint_rule(con: duckdb.DuckDBPyConnection) -> None:
    told = " ".join(section(page(con, "devicetaintrule/repair"), "Taint"))
    for said in (
        "site.example/repair:NoExecute",
        "pods that use it are deleted",
        "driver lens.example, device l-0",
        "60 min",
        "n1/l-0",
    ):
        assert said in told


def test_a_taint_rule_without_a_selector(con: duckdb.DuckDBPyConnection) -> None:
    assert section(page(con, "devicetaintrule/aimless"), "Taint")[1].startswith("It is for no device: it has no deviceSelector")


def test_a_node_and_pods(con: duckdb.DuckDBPyConnection) -> None:
    assert "l-1" in " ".join(section(page(con, "node/n1"), "Devices"))
    held = " ".join(section(page(con, "pod/eye", "optics"), "Resource claims"))
    for said in ("eye-g-1", "made from a template", "In use", "lens.example/n1/l-0"):
        assert said in held
    waits = section(page(con, "pod/blind", "optics"), "Resource claims")
    assert 'the scheduler says "cannot allocate all claims" (2 nodes)' in waits
    assert "Deduced: no devices that fit are free there" in waits
