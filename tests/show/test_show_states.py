"""Every kind that may stand in table states has a page, whether it is an object of the cluster or not."""

from __future__ import annotations

import pytest

from analyzer.facts.rows import insert_rows
from tests.facts.build import database

from .pages import page, thing

KINDS = [
    ("", "v1", "Pod", True),
    ("", "v1", "Node", False),
    ("resource.k8s.io", "v1", "ResourceClaim", True),
    ("nvidia.com", "v1", "ClusterPolicy", False),
    ("nvidia.com", "v1alpha1", "NVIDIADriver", False),
    ("kueue.x-k8s.io", "v1beta1", "ClusterQueue", False),
    ("kueue.x-k8s.io", "v1beta1", "LocalQueue", True),
    ("kueue.x-k8s.io", "v1beta1", "Workload", True),
    ("jobset.x-k8s.io", "v1alpha2", "JobSet", True),
    ("ray.io", "v1", "RayCluster", True),
    ("ray.io", "v1", "RayJob", True),
    ("ray.io", "v1", "RayService", True),
    ("serving.kserve.io", "v1beta1", "InferenceService", True),
    ("ai.deckhouse.io", "v1alpha1", "InferenceService", True),
    ("ome.io", "v1beta1", "InferenceService", True),
]


@pytest.mark.parametrize(("group", "version", "kind", "namespaced"), KINDS)
def test_objects(group: str, version: str, kind: str, namespaced: bool) -> None:
    api = f"{group}/{version}" if group else version
    with database([thing(api, kind, "one", "lab" if namespaced else "")]) as con:
        con.execute("DELETE FROM states")
        insert_rows(con, "states", [
            {"object_id": 0, "api_group": group, "kind": kind, "namespace": "lab" if namespaced else "", "name": "one",
             "state": "Odd", "reason": "Because", "message": "nobody wrote this"},
        ])  # fmt: skip
        text = page(con, f"{kind}.{group}/one" if group else f"{kind}/one")
    assert "State:" in text
    assert "Odd, since an unknown time" in text
    assert "Because. Deduced: nobody wrote this" in text


@pytest.mark.parametrize(
    ("group", "kind", "name"),
    [("resource.k8s.io", "Device", "gpu.example/pool-a/gpu-0"), ("nvidia.com", "GpuOperatorComponent", "device-plugin")],
)
@pytest.mark.parametrize("nearest", [0, None])
def test_things_that_are_no_objects(group: str, kind: str, name: str, nearest: int | None) -> None:
    with database([thing("resource.k8s.io/v1", "ResourceSlice", "slice-1")]) as con:
        insert_rows(con, "states", [
            {"object_id": nearest, "api_group": group, "kind": kind, "namespace": "", "name": name, "state": "Free"},
        ])  # fmt: skip
        text = page(con, f"{kind.lower()}/{name}", "any")
    assert text.startswith(f"{kind} {name}\n")
    assert "State:" in text
    assert ("Told by: ResourceSlice slice-1" in text) == (nearest is not None)
    assert "Not collected" not in text
