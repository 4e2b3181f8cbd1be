"""The tables of GPU nodes, of their errors, of the GPU Operator and of MIG."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.engine.sections import Cell, Section
from analyzer.facts.rows import insert_rows
from analyzer.overview.gpu import sections
from analyzer.overview.marks import Marks
from tests.facts.build import database

from .cells import by_id, drawn, every, finding, row_of, texts

LISTS = (("", "Pod"), ("", "Node"))


def node(name: str = "fox-1", gpus: int = 4, healthy: int | None = None, **more: Any) -> dict[str, Any]:
    """A Node with GPUs as the GPU Operator labels it."""
    labels = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "FOX-9",
        "nvidia.com/gpu.count": str(more.pop("count", gpus)),
        "nvidia.com/gpu.memory": "81920",
        "nvidia.com/cuda.driver-version.full": "570.1.2",
    } | more.pop("labels", {})
    allocatable = gpus if healthy is None else healthy
    amounts = more.pop("amounts", {"nvidia.com/gpu": (gpus, allocatable)})
    status = {
        "conditions": [{"type": "Ready", "status": more.pop("ready", "True"), "lastTransitionTime": "2026-11-01T11:00:00Z"}],
        "capacity": {key: str(value[0]) for key, value in amounts.items()},
        "allocatable": {key: str(value[1]) for key, value in amounts.items()},
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": more, "status": status}


def pod(name: str, on: str = "fox-1", resource: str = "nvidia.com/gpu", amount: int = 1, **status: Any) -> dict[str, Any]:
    """A running Pod that asks for devices."""
    container = {"name": "c", "image": "i", "resources": {"limits": {resource: str(amount)}, "requests": {resource: str(amount)}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "den", "uid": f"u-{name}"},
        "spec": {"nodeName": on, "containers": [container]},
        "status": {"phase": "Running"} | status,
    }


def shown(*objects: dict[str, Any], lists: Any = LISTS, logs: Any = (), findings: Any = ()) -> dict[str, Section]:
    con = database(objects, lists=lists, logs=logs)
    found = by_id(sections(con, Marks(findings)))
    for section in found.values():
        assert con.execute(section.query).fetchall(), f"the query of {section.id} finds nothing"
    return found


def the_node(found: dict[str, Section], name: str = "fox-1") -> list[Cell]:
    return row_of(found["gpu-nodes"].tables[0], name)


def test_without_gpus_not_a_word() -> None:
    plain = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": {"nvidia.com/gpu.present": "false"}},
        "status": {},
    }
    assert shown(plain) == {}


def test_held_and_free() -> None:
    found = shown(node(), pod("cub", amount=2), pod("done", phase="Succeeded"))
    name, gpus, model, offered, held = the_node(found)
    assert drawn(gpus) == ["allocated", "allocated", "free", "free"]
    assert gpus.text == "2 allocated; 2 free"
    assert (model.text, model.below) == ("4 FOX-9", "80 GiB each, driver 570.1.2")
    assert offered.text == "4 / 4"
    assert held.text == "den/cub (2)"
    assert found["gpu-nodes"].small == "1 node, 4 GPUs: 2 allocated, 2 free"
    assert name.below == ""


def test_gpus_that_no_pod_asks_for_may_be_open_all_the_same() -> None:
    con = database([node()], lists=LISTS)
    (number,) = con.execute("SELECT object_id FROM gpu_nodes").fetchone() or ()
    rows = [
        {"file_id": 1, "node_id": number, "program": program, "pod": pod_name, "part": part, "rank": rank}
        for rank, (program, pod_name, part) in enumerate(
            [("lens", "den/lens-1", "program"), ("Xorg", None, "program"), ("persistenced", None, "driver")], 1
        )
    ]
    insert_rows(con, "gpu_holders", rows)
    (section, *_) = sections(con, Marks([]))
    held = row_of(section.tables[0], "fox-1")[4]
    assert (held.text, held.below) == ("den/lens-1, Xorg", "by what was open there; no pod asks for them")


@pytest.mark.parametrize(("missing", "whole"), [("Pod", ("", "Node")), ("Node", ("", "Pod"))])
def test_nothing_is_free_where_a_list_is_not_whole(missing: str, whole: tuple[str, str]) -> None:
    con = database([node(), pod("cub")], lists=[whole])
    con.execute("UPDATE coverage SET status = 'partial' WHERE kind = ?", [missing])
    (section, *_) = sections(con, Marks([]))
    _, gpus, _, _, held = row_of(section.tables[0], "fox-1")
    assert drawn(gpus) == ["allocated", "unknown", "unknown", "unknown"]
    assert gpus.text == "at least 1 allocated; 3 cannot tell"
    assert held.below == "at least these"
    assert any("cannot be told which GPUs are free" in note for note in section.notes)


def test_a_cordoned_node_has_nothing_to_give() -> None:
    _, gpus, *_ = the_node(shown(node(unschedulable=True), pod("cub")))
    assert drawn(gpus) == ["allocated", *["cordoned"] * 3]
    assert "the node is cordoned" in gpus.text


def test_a_node_that_is_not_ready_blocks_what_nobody_holds() -> None:
    name, gpus, *_ = the_node(shown(node(ready="False"), pod("cub")))
    assert drawn(gpus) == ["allocated", *["blocked"] * 3]
    assert name.below == "not ready for 60 min"


def test_a_kubelet_that_refuses_pods_blocks_the_rest() -> None:
    refused = pod(
        "no", phase="Failed", reason="UnexpectedAdmissionError", message="Allocate failed", startTime="2026-11-01T11:50:00Z"
    )
    _, gpus, *_ = the_node(shown(node(healthy=3), pod("cub"), refused))
    assert drawn(gpus) == ["allocated", "blocked", "blocked", "lost"]
    assert gpus.text == "1 unhealthy; 1 allocated; 2 free by count, but the kubelet refuses pods with GPUs"


def test_a_kubelet_that_offers_none() -> None:
    _, gpus, _, offered, _ = the_node(shown(node(healthy=0)))
    assert drawn(gpus) == ["blocked"] * 4
    assert offered.text == "0 / 4"


def test_what_was_switched_off_on_purpose_is_no_fault() -> None:
    off = node(amounts={}, labels={"nvidia.com/gpu.deploy.operands": "false"})
    name, gpus, *_ = the_node(shown(off))
    assert drawn(gpus) == []
    assert gpus.text == "none offered: switched off on purpose"
    assert name.below == "switched off on purpose: operands"


def test_shares_are_counted_and_not_drawn() -> None:
    labels = {"nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/gpu.replicas": "4"}
    _, gpus, model, _, _ = the_node(shown(node(gpus=16, count=4, labels=labels), pod("cub", amount=3)))
    assert drawn(gpus) == []
    assert gpus.text == "3 of 16 shares in use"
    assert model.below.endswith("time-slicing, 4 pods a GPU")


def test_mig_devices_beside_whole_gpus() -> None:
    amounts = {"nvidia.com/gpu": (2, 2), "nvidia.com/mig-1g.10gb": (14, 14)}
    cut = node(gpus=4, amounts=amounts, labels={"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.config": "half"})
    found = shown(cut, pod("cub"), pod("kit", resource="nvidia.com/mig-1g.10gb", amount=3))
    _, gpus, _, offered, _ = the_node(found)
    assert drawn(gpus) == ["allocated", "mig", "mig", "free"]
    assert gpus.text == "1 allocated; 2 split by MIG, in use; 1 free; 3 of 14 1g.10gb in use"
    assert (offered.text, offered.below) == ("2 / 2", "14 / 14 MIG")
    assert row_of(found["mig"].tables[0], "fox-1")[4].text == "14 of 14 1g.10gb"


def test_a_failed_change_of_the_layout() -> None:
    labels = {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed", "nvidia.com/mig.capable": "true"}
    found = shown(node(labels=labels), findings=[finding("", "Node", "", "fox-1", number="f-fox-1")])
    _, gpus, *_ = the_node(found)
    assert drawn(gpus) == ["mig-failed"] * 4
    assert gpus.text == "4 waiting for MIG layout all-1g.10gb, which failed"
    (line,) = every(found["mig"].tables[0])
    assert (line.cells[2].text, line.cells[3].text, line.finding) == ("all-1g.10gb", "failed", "f-fox-1")


def test_mig_that_is_off_everywhere_is_no_section() -> None:
    labels = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "success", "nvidia.com/mig.capable": "true"}
    assert "mig" not in shown(node(labels=labels))


def test_many_alike_nodes_fold_and_one_with_a_finding_does_not() -> None:
    nodes = [node(f"fox-{number}.hpc.example") for number in range(1, 31)]
    found = shown(*nodes, findings=[finding("", "Node", "", "fox-7.hpc.example")])
    names = [line[0] for line in texts(found["gpu-nodes"].tables[0])]
    assert names == ["fox-7", "fox-1 … fox-30 (29 nodes)"]
    assert any(".hpc.example" in note for note in found["gpu-nodes"].notes)


LOG = """\
[  10.000000] NVRM: GPU at PCI:0000:3b:00: GPU-11111111-2222-3333-4444-555555555555
[  11.000000] NVRM: Xid (PCI:0000:3b:00): 48, pid=7, name=python, Double Bit ECC Error
[  11.100000] NVRM: Xid (PCI:0000:3b:00): 63, pid=7, name=python, Row Remapper
[  11.200000] NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=python, Ch 00000008
[  11.300000] NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=python, Ch 00000009
[  11.400000] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
"""


def test_errors_of_a_gpu_with_cause_and_consequence() -> None:
    log = {"namespace": "", "pod": "", "container": "", "source": "dmesg", "text": LOG}
    found = shown(node("fox-1"), logs=[log])
    table = found["gpu-errors"].tables[0]
    assert [(line[0], line[1], line[5]) for line in texts(table)][1:] == [
        ("Xid 48", "1", "cause"),
        ("Xid 63", "1", "consequence"),
        ("Xid 45", "2", "consequence"),
        ("Xid 154", "1", "the driver's verdict"),
    ]
    head = every(table)[0]
    assert "GPU-11111111" in head.cells[0].text
    assert "GPU Reset Required" in head.cells[4].below
    assert [row.depth for row in every(table)] == [0, 1, 1, 1, 1]


def test_a_gpu_that_was_reset_asks_for_nothing_any_more() -> None:
    done = (
        "[  90.000000] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)\n"
    )
    log = {"namespace": "", "pod": "", "container": "", "source": "dmesg", "text": LOG + done}
    head = every(shown(node("fox-1"), logs=[log])["gpu-errors"].tables[0])[0]
    assert head.cells[4].below == "the driver asks for no recovery any more"


POLICY = {
    "apiVersion": "nvidia.com/v1",
    "kind": "ClusterPolicy",
    "metadata": {"name": "policy", "creationTimestamp": "2026-10-01T00:00:00Z"},
    "spec": {"dcgm": {"enabled": False}},
    "status": {"state": "notReady", "namespace": "gpu-op", "conditions": [
        {"type": "Ready", "status": "False", "reason": "Error", "message": "", "lastTransitionTime": "2026-11-01T11:30:00Z"},
        {"type": "Error", "status": "True", "reason": "OperandNotReady", "message": "states not ready: [state-driver]"},
    ]},
}  # fmt: skip


def test_the_operator_and_its_parts() -> None:
    daemonset = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-driver-daemonset", "namespace": "gpu-op", "generation": 1},
        "spec": {"updateStrategy": {"type": "OnDelete"}},
        "status": {"desiredNumberScheduled": 1, "numberReady": 0, "updatedNumberScheduled": 1, "numberUnavailable": 1},
    }
    found = shown(node(), POLICY, daemonset, lists=(*LISTS, ("apps", "DaemonSet")))
    policies, parts = found["gpu-operator"].tables
    (policy,) = texts(policies)
    assert policy[:3] == ["ClusterPolicy policy", "Not ready", "for 30 min"]
    assert policy[3] == 'OperandNotReady: "states not ready: [state-driver]"'
    driver = row_of(parts, "driver")
    assert (driver[1].text, driver[2].text, driver[3].text) == ("Not rolled out", "0 / 1", "gpu-op/nvidia-driver-daemonset")
    off = row_of(parts, "dcgm")
    assert (off[1].text, off[2].text, off[4].text) == ("Not expected", "", "spec.dcgm.enabled is false")
    assert all(line.cells[1].text == "Not expected" for line in parts.folded)


def test_amounts_that_no_kubelet_writes() -> None:
    cut = node(amounts={"nvidia.com/gpu": (4, 4), "nvidia.com/mig-1g.10gb": (7, 0)})
    cut["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = ["none"]
    assert row_of(shown(cut)["mig"].tables[0], "fox-1")[4].text == "? of 7 1g.10gb"
    more = node(amounts={"nvidia.com/gpu": (0, 4)})
    assert the_node(shown(more))[3].text == "4 / 0"


def test_what_the_bundle_lacks_is_not_said_to_be_none() -> None:
    """Labels alone were collected, or no pods: no node offers "none", and no MIG manager "has no pod"."""
    labels = {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed", "nvidia.com/mig.capable": "true"}
    bare = {**node(labels=labels), "status": {}}
    found = shown(bare, lists=(("", "Node"),))
    _, gpus, _, offered, held = the_node(found)
    assert (gpus.text, drawn(gpus)) == ("4 cannot tell", ["unknown"] * 4)
    assert (offered.text, held.text) == ("cannot tell", "cannot tell")
    (mig,) = every(found["mig"].tables[0])
    assert (mig.cells[4].text, mig.cells[5].text) == ("cannot tell", "")
    _, gpus, *_ = the_node(shown(node(labels=labels), lists=(("", "Node"),)))
    assert gpus.text == "at least 0 allocated; 4 in use or waiting for MIG layout all-1g.10gb, which failed"
