"""GPU nodes of which only the slices of a DRA driver tell: neither labels nor counted resources."""

from __future__ import annotations

from typing import Any

from analyzer.engine.sections import Cell, Section
from analyzer.overview import dra
from analyzer.overview.marks import Marks
from tests.facts.build import database
from tests.show.pages import page

from .cells import drawn
from .test_gpu import LISTS, node, pod, shown, the_node

NVIDIA = "gpu.nvidia.com"
CLAIMS, SLICES = ("resource.k8s.io", "ResourceClaim"), ("resource.k8s.io", "ResourceSlice")
BARE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "fox-1"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"cpu": "64"}},
}


def slice_(*devices: dict[str, Any], on: str = "fox-1", driver: str = NVIDIA, count: int = 1) -> dict[str, Any]:
    pool = {"name": on, "generation": 1, "resourceSliceCount": count}
    spec = {"driver": driver, "nodeName": on, "pool": pool, "devices": list(devices)}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"s-{on}-{driver}"}, "spec": spec}


def device(name: str, memory: str = "81559Mi", taint: str = "", **attributes: str) -> dict[str, Any]:
    told = {"type": "gpu", "uuid": f"GPU-{name}", "productName": "FOX-9", "driverVersion": "580.1.2"} | attributes
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    return {
        "name": name,
        "attributes": {key: {"version" if key == "driverVersion" else "string": value} for key, value in told.items()},
        "capacity": {"memory": {"value": memory}},
        "taints": taints,
    }


def mig(gpu: int, number: int) -> dict[str, Any]:
    return device(f"gpu-{gpu}-mig-19-{number}-1", "4864Mi", type="mig", parentUUID=f"GPU-{gpu}", profile="1g.5gb")


def claim(*devices: str) -> dict[str, Any]:
    results = [{"request": "r", "driver": NVIDIA, "pool": "fox-1", "device": name} for name in devices]
    status = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": "cub", "uid": "u"}],
    }
    metadata = {"name": "c", "namespace": "den", "uid": "c"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}, "status": status}


def map_of(*objects: dict[str, Any], lists: Any = (*LISTS, CLAIMS, SLICES), **more: Any) -> tuple[list[Cell], Section]:
    found = shown(*objects, lists=lists, **more)
    return the_node(found), found["gpu-nodes"]


def test_a_node_without_labels_has_the_gpus_that_a_driver_publishes() -> None:
    gpus = slice_(device("gpu-0"), device("gpu-1"), device("gpu-2", taint="gpu.nvidia.com/xid"))
    cells, section = map_of(BARE, gpus, claim("gpu-0"))
    _, drawing, model, offered, held = cells
    assert drawn(drawing) == ["allocated", "free", "blocked"]
    assert drawing.text == "gpu-0 allocated, gpu-1 free, gpu-2 free, but tainted"
    assert (model.text, model.below) == ("3 FOX-9", f"80 GiB each, driver 580.1.2, not labelled: told by {NVIDIA}")
    assert (offered.text, offered.below) == ("3", "by DRA")
    assert (held.text, held.below) == ("den/c (used by cub)", "resource claims")
    assert section.small == "1 node, 3 GPUs: 1 out of reach, 1 allocated, 1 free"
    assert section.notes == ()


def test_gpus_of_which_only_mig_devices_are_published() -> None:
    cells, _ = map_of(BARE, slice_(*(mig(gpu, number) for gpu in (0, 1) for number in range(3))), claim("gpu-0-mig-19-1-1"))
    _, drawing, model, *_ = cells
    assert drawn(drawing) == ["mig", "free"]
    assert drawing.text == "gpu-0 split, parts of it allocated, gpu-1 split, no part of it allocated; 1 of 6 1g.5gb in use"
    assert (model.text, "GiB" in model.below) == ("2 FOX-9", False)


def test_without_the_list_of_nodes_and_pods_nothing_is_said_to_be_free() -> None:
    cells, section = map_of(slice_(device("gpu-0"), device("gpu-1", taint="x")), lists=(CLAIMS, SLICES))
    name, drawing, _, _, held = cells
    assert name.below == "the bundle does not have this node"
    assert drawn(drawing) == ["unknown", "unknown"]
    assert drawing.text == "2 cannot tell"
    assert (held.kind, held.text) == ("unknown", "cannot tell")
    assert any("were not collected whole" in note for note in section.notes)


def test_without_all_claims_or_slices() -> None:
    cells, _ = map_of(BARE, slice_(device("gpu-0"), count=2), lists=(*LISTS, SLICES))
    assert (drawn(cells[1]), cells[3].text, cells[4].text) == (["unknown"], "at least 1", "cannot tell")


def test_slices_of_a_node_that_is_gone_are_no_gpus() -> None:
    cells, section = map_of(BARE, slice_(device("gpu-0")), slice_(device("gpu-0"), on="fox-2"))
    assert (drawn(cells[1]), section.small) == (["free"], "1 node, 1 GPU: 1 free")
    assert any(note.startswith("Slices of fox-2, a node that is not in the cluster") for note in section.notes)
    assert "gpu-nodes" not in shown(
        {**BARE, "metadata": {"name": "fox-3"}}, slice_(device("gpu-0")), lists=(*LISTS, CLAIMS, SLICES)
    )


def test_the_device_plugin_gives_out_the_same_gpus() -> None:
    cells, _ = map_of(node(gpus=2), pod("kit"), slice_(device("gpu-0"), device("gpu-1")), claim("gpu-1"))
    _, drawing, model, offered, held = cells
    assert drawn(drawing) == ["unknown", "allocated"]
    assert "the device plugin offers the same GPUs" in drawing.text
    assert (offered.text, offered.below) == ("2 / 2", "by the device plugin; 2 of the same by DRA")
    assert (held.text, held.below) == ("den/c (used by cub)", "resource claims; pods by count: den/kit (1)")
    assert "not labelled" not in model.below


def test_a_broken_gpu_of_no_known_number_hides_which_are_free() -> None:
    text = "Nov  1 11:50:00 fox-1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=python, GPU has fallen off the bus.\n"
    log = {"namespace": "", "pod": "", "container": "", "source": "other", "text": text}
    cells, _ = map_of(BARE, slice_(device("gpu-0"), device("gpu-1")), claim("gpu-0"), logs=[log])
    assert drawn(cells[1]) == ["allocated", "unknown"]
    assert "1 GPU of the node is faulty (Xid 79)" in cells[1].text


def test_a_number_that_no_gpu_has_breaks_nothing() -> None:
    text = "Nov  1 11:50:00 fox-1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=python, GPU has fallen off the bus.\n"
    log = {"namespace": "", "pod": "", "container": "", "source": "other", "text": text}
    cells, _ = map_of(BARE, slice_(device(f"gpu-{'9' * 5_000}")), logs=[log])
    assert drawn(cells[1]) == ["unknown"]


def test_a_plugin_that_publishes_nothing_is_named() -> None:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": "nvidia-dra-driver-kubelet-plugin",
        "uid": "d",
        "controller": True,
    }
    plugin = pod("plugin", on="fox-2")
    plugin["metadata"]["ownerReferences"] = [owner]
    plugin["spec"]["containers"] = [{"name": "gpus", "image": "i"}]
    plugin["status"]["containerStatuses"] = [{"name": "gpus", "ready": True, "started": True, "state": {"running": {}}}]
    daemonset = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": owner["name"], "namespace": "den", "uid": "d"},
    }
    con = database([BARE, node("fox-2"), slice_(device("gpu-0")), plugin, daemonset], lists=(*LISTS, CLAIMS, SLICES))
    (section, *_) = dra.sections(con, Marks([]))
    assert "the devices of gpu.nvidia.com on fox-2. Its plugin runs there and publishes none" in " ".join(section.notes)
    assert "Not published: Pod den/plugin of DRA driver gpu.nvidia.com runs here, no slice" in " ".join(
        page(con, "node/fox-2").split()
    )


def test_gpus_of_other_makers() -> None:
    intel = device("0000-03", "16Gi", type="gpu", productName="", model="Otter 7")
    amd = device("gpu-1-1", "192Gi", type="amdgpu", productName="Stoat")
    lens = device("lens-0", type="gpu")
    assert map_of(BARE, slice_(intel, driver="gpu.intel.com"))[0][2].text == "1 Otter 7"
    assert map_of(BARE, slice_(amd, driver="gpu.amd.com"))[0][2].text == "1 Stoat"
    assert shown(BARE, slice_(lens, driver="lens.example"), lists=(*LISTS, CLAIMS, SLICES)) == {}
