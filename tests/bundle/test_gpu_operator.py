"""The must-gather of NVIDIA's GPU Operator: an invented one, read whole, cut, broken off, and inside another bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.bundle.documents.described import described, labelled
from analyzer.bundle.documents.node_table import listed
from analyzer.bundle.formats import recognise
from analyzer.bundle.types import Entry
from tests.program import said

DESCRIBED = """\
Name:               forge-1
Roles:              worker
Labels:             kubernetes.io/hostname=forge-1
                    nvidia.com/gpu.count=8
                    nvidia.com/gpu.present=true
                    nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3
                    nvidia.com/mig.capable=true
                    nvidia.com/mig.config=all-1g.10gb
                    nvidia.com/mig.config.state=failed
Annotations:        nvidia.com/gpu-driver-upgrade-enabled: true
                    csi.example/nodeid:
                      {"disk":"forge-1"}
CreationTimestamp:  Mon, 02 Mar 2026 10:11:12 +0000
Taints:             nvidia.com/gpu=present:NoSchedule
                    forge.example/hot:NoExecute
Unschedulable:      true
Lease:
  HolderIdentity:  forge-1
  RenewTime:       Sun, 01 Nov 2026 12:00:00 +0100
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason         Message
  ----             ------  -----------------                 ------------------                ------         -------
  MemoryPressure   False   Sun, 01 Nov 2026 12:00:00 +0100   Mon, 02 Mar 2026 10:11:12 +0000   HasMemory      has memory
  Ready            True    Sun, 01 Nov 2026 12:00:00 +0100   Mon, 02 Mar 2026 10:12:00 +0000   KubeletReady   kubelet is  well
Addresses:
  InternalIP:  10.1.0.7
  Hostname:    forge-1
Capacity:
  cpu:             96
  nvidia.com/gpu:  8
Allocatable:
  cpu:             95
  nvidia.com/gpu:  7
System Info:
  Machine ID:                 0af1
  Kernel Version:             6.8.0-71-generic
  OS Image:                   Ubuntu 24.04.3 LTS
  Container Runtime Version:  containerd://2.0.5
  Kubelet Version:            v1.33.4
Non-terminated Pods:          (1 in total)
  Namespace                   Name    CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----    ------------  ----------  ---------------  -------------  ---
  mill                        saw-0   1 (1%)        0 (0%)      1Gi (0%)         0 (0%)         3d
Events:                       <none>


Name:               forge-2
Labels:             nvidia.com/gpu.present=true
Annotations:        <none>
Taints:             <none>
Unschedulable:      false
"""
LABELLED = """\
forge-1
- kubernetes.io/hostname=forge-1
- nvidia.com/gpu.present=true

forge-3
- nvidia.com/gpu.present=true
- nvidia.com/gpu.count=4

forge-1
- nvidia.com/gpu.present=true
"""
STATUS = """\
NAME      STATUS                        ROLES          AGE    VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE     KERNEL-VERSION
forge-1   Ready                         worker         245d   v1.33.4   10.1.0.7      <none>        Talos (v1)   6.8.0-71-generic
forge-3   NotReady,SchedulingDisabled   infra,worker   9d     v1.33.3   10.1.0.9      <none>        Talos (v1)   6.8.0-71-generic
a-name-that-runs-over-its-column Ready
"""
POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: forge-policy, uid: p, resourceVersion: "11", creationTimestamp: "2026-03-02T10:00:00Z"}
spec: {driver: {enabled: false}, dcgm: {enabled: false}, sandboxWorkloads: {enabled: false}}
status:
  namespace: gpu-operator
  state: notReady
  conditions:
  - {type: Ready, status: "False", reason: Error, message: "", lastTransitionTime: "2026-11-01T10:00:00Z"}
  - type: Error
    status: "True"
    reason: OperandNotReady
    message: "ClusterPolicy is not ready; states not ready: [state-mig-manager]"
    lastTransitionTime: "2026-11-01T10:00:00Z"
"""
STDERR = """\
+ kubectl get nodes
Error from server (Forbidden): nodes is forbidden: cannot list resource "nodes" in API group ""
"""
LOG = """\
[pod/nvidia-mig-manager-q1/toolkit-validation] 2026-11-01T09:00:00.000000000Z waiting for nvidia container stack to be setup
[pod/nvidia-mig-manager-q1/toolkit-validation] 2026-11-01T09:00:05.000000000Z ready
[pod/nvidia-mig-manager-q1/nvidia-mig-manager] 2026-11-01T10:00:00.000000000Z Updating to MIG config: all-1g.10gb
[pod/nvidia-mig-manager-q1/nvidia-mig-manager] 2026-11-01T10:00:01.000000000Z selected mig-config not present: all-1g.10gb
"""


def _pod(name: str, app: str, container: str, **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "gpu-operator", "labels": {"app": app}, "creationTimestamp": "2026-03-02T10:20:00Z",
            "uid": f"uid of {name}", "resourceVersion": "12",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": app, "uid": "d", "controller": True}],
        },
        "spec": {"nodeName": "forge-1", "containers": [{"name": container, "image": "registry.example/x:v25.10.1"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-02T10:21:00Z"}],
            "containerStatuses": [{"name": container, "ready": True, "restartCount": 0, "state": {"running": {}}}],
        } | status,
    }  # fmt: skip


def _list(items: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}})


def _bundle(folder: Path) -> Path:
    folder.mkdir(parents=True)
    pods = [
        _pod("nvidia-mig-manager-q1", "nvidia-mig-manager", "nvidia-mig-manager"),
        _pod("gpu-operator-1", "gpu-operator", "gpu-operator"),
    ]
    daemonset = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-mig-manager", "namespace": "gpu-operator", "uid": "d", "resourceVersion": "9"},
        "spec": {"updateStrategy": {"type": "RollingUpdate"}},
        "status": {"desiredNumberScheduled": 1, "updatedNumberScheduled": 1, "numberReady": 1},
    }
    texts = {
        "cluster_policy.yaml": POLICY,
        "gpu_nodes.descr": DESCRIBED,
        "gpu_nodes.labels": LABELLED,
        "gpu_nodes.status": STATUS,
        "gpu_operand_pods.yaml": _list(pods),
        "gpu_operand_ds.yaml": _list([daemonset]),
        "gpu_operand_pod_nvidia-mig-manager-q1.log": LOG,
        "gpu_operand_pod_nvidia-mig-manager-q1.previous.log": "",
        "gpu_operator_pod.log": '2026-11-01T10:30:00.000000000Z {"level":"info","msg":"ClusterPolicy is not ready"}\n',
        "must-gather.log": "Get the operator pods\n",
        "must-gather.stderr.log": STDERR,
        "version": "NVIDIA GPU Operator\nv25.10.1\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _report(bundle: Path, out: Path) -> dict[str, Any]:
    done = said("analyze", bundle, "-o", out)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads((out / "report.json").read_bytes())
    return value


def test_a_description_gives_nodes() -> None:
    first, second = described(DESCRIBED.encode())
    assert (first.name, first.line, second.name) == ("forge-1", 1, "forge-2")
    assert DESCRIBED.encode()[second.offset :].startswith(b"Name:               forge-2")
    node = first.value
    assert node["metadata"]["labels"]["nvidia.com/mig.config.state"] == "failed"
    assert node["metadata"]["annotations"] == {"nvidia.com/gpu-driver-upgrade-enabled": "true", "csi.example/nodeid": ""}
    assert node["spec"] == {
        "taints": [
            {"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"},
            {"key": "forge.example/hot", "effect": "NoExecute"},
        ],
        "unschedulable": True,
    }
    assert (node["status"]["capacity"]["nvidia.com/gpu"], node["status"]["allocatable"]["nvidia.com/gpu"]) == ("8", "7")
    assert node["status"]["conditions"][1] == {
        "type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-01T11:00:00Z",
        "lastTransitionTime": "2026-03-02T10:12:00Z", "reason": "KubeletReady", "message": "kubelet is  well",
    }  # fmt: skip
    assert node["status"]["nodeInfo"]["osImage"] == "Ubuntu 24.04.3 LTS"
    assert second.value["spec"] == {}
    assert (first.cut, second.cut) == (False, True)
    assert not list(described(b"Name: <b>\nName: -x\n"))
    assert "annotations" not in second.value["metadata"]


def test_a_list_of_labels_gives_nodes() -> None:
    nodes = list(labelled(LABELLED.encode()))
    assert [(node.name, node.line) for node in nodes] == [("forge-1", 1), ("forge-3", 5), ("forge-1", 9)]
    assert nodes[1].value["metadata"]["labels"] == {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "4"}


def test_a_table_gives_nodes() -> None:
    first, second = listed(STATUS.replace("\n", "\r\n").encode())
    assert (first.name, first.line, second.name, second.line) == ("forge-1", 2, "forge-3", 3)
    assert second.value == {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "forge-3", "labels": {"node-role.kubernetes.io/infra": "", "node-role.kubernetes.io/worker": ""}},
        "spec": {"unschedulable": True},
        "status": {
            "conditions": [{"type": "Ready", "status": "False", "reason": "NotReady"}],
            "nodeInfo": {"kubeletVersion": "v1.33.3", "osImage": "Talos (v1)", "kernelVersion": "6.8.0-71-generic"},
            "addresses": [{"type": "InternalIP", "address": "10.1.0.9"}],
        },
    }  # fmt: skip
    narrow = "NAME      STATUS   ROLES    AGE   VERSION\nforge-1   Ready    <none>   5d    v1.24.1\n"
    (old,) = listed(narrow.encode())
    assert old.value["status"]["nodeInfo"] == {"kubeletVersion": "v1.24.1"}
    assert old.value["metadata"]["labels"] == {}


@given(st.binary(max_size=400), st.integers(0, len(DESCRIBED)))
def test_no_text_breaks_the_readers(noise: bytes, at: int) -> None:
    text = DESCRIBED.encode()
    for data in (noise, text[:at], text[:at] + noise + text[at:]):
        for node in (*described(data), *labelled(data), *listed(data)):
            assert node.offset >= 0
            assert node.offset + node.length <= len(data)
            assert node.value["metadata"]["name"] == node.name


@pytest.mark.parametrize("name", ["gpu_nodes.labels", "gpu_operand_pods.yaml", "gpu_operator_pod.yaml"])
def test_one_of_its_files_is_enough_to_know_it(name: str) -> None:
    layout = recognise([Entry(f"any/name/{name}", 10)])
    assert layout.format == "gpu-operator"


def test_it_is_read_whole(tmp_path: Path) -> None:
    report = _report(_bundle(tmp_path / "nvidia-gpu-operator_20261101_1100"), tmp_path / "out")
    assert report["bundle"]["inputs"][0]["format"] == "gpu-operator"
    assert report["bundle"]["cluster"]["nodes"] == 3
    found = {(finding["code"], finding["object"]["name"]): finding for finding in report["findings"]}
    failed = found[("gpu/MigFailed", "forge-1")]
    assert "selected mig-config not present" in json.dumps(failed)
    assert any(item["file"].endswith("q1.log") and item["line"] == 4 for item in failed["evidence"])
    assert "7 of 8" in found[("gpu/CapacityLost", "forge-1")]["title"]
    assert found[("gpu/PolicyNotReady", "forge-policy")]["severity"] == "error"
    assert any(code == "collect/Incomplete" for code, _ in found)
    states = {(state["kind"], state["name"]): state["state"] for state in report["states"]}
    assert states[("GpuOperatorComponent", "mig-manager")] == "Rolled out"
    assert states[("GpuOperatorComponent", "container-toolkit")] == "Missing"
    coverage = {(row["group"], row["kind"]): row for row in report["coverage"]["kinds"]}
    assert coverage[("", "Node")]["status"] == "partial"
    with duckdb.connect(str(tmp_path / "out" / "bundle.duckdb"), read_only=True) as con:
        why = con.execute("SELECT reason FROM coverage WHERE kind = 'Node'").fetchone()
    assert why is not None
    assert "no Node was collected as an object" in why[0]
    assert coverage[("nvidia.com", "ClusterPolicy")]["status"] == "complete"
    # Its ConfigMaps are not in it: whether the layout exists cannot be told.
    assert any(entry["code"] == "gpu/MigConfigUnknown" for entry in report["notEvaluated"])


def test_a_description_that_is_cut_is_filled_from_the_other_files(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path / "any")
    whole = DESCRIBED.replace("forge-2", "forge-3")
    (bundle / "gpu_nodes.descr").write_text(whole, encoding="utf-8")
    report = _report(bundle, tmp_path / "out")
    found = {(finding["code"], finding["object"]["name"]): finding for finding in report["findings"]}
    assert ("gpu/CapacityLost", "forge-3") not in found
    assert found[("node/NotReady", "forge-3")]["evidence"]
    assert "the description of node forge-3 ends too early" in json.dumps(report["findings"])
    with duckdb.connect(str(tmp_path / "out" / "bundle.duckdb"), read_only=True) as con:
        nodes = con.execute("SELECT name, count, capacity, allocatable FROM gpu_nodes ORDER BY name").fetchall()
        assert nodes == [("forge-1", 8, 8, 7), ("forge-3", 4, None, None)]
        assert con.execute("SELECT cordoned FROM nodes ORDER BY name").fetchall() == [(True,), (True,)]


def test_logs_are_those_of_their_containers(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path / "any")
    which = ["pod/nvidia-mig-manager-q1", "-n", "gpu-operator", "-c", "nvidia-mig-manager"]
    done = said("logs", bundle, *which)
    assert done.returncode == 0, done.stderr
    assert "selected mig-config not present" in done.stdout
    assert "waiting for nvidia container stack" not in done.stdout


def test_inside_another_bundle(tmp_path: Path) -> None:
    outer = tmp_path / "must-gather.local.1"
    _bundle(outer / "quay-io-forge-sha256-0123abcd")
    (outer / "must-gather.logs").write_text("[must-gather      ] OUT pod for plug-in image\n", encoding="utf-8")
    times = "2026-11-01 10:55:00.1 +0000 UTC m=+0.1\n2026-11-01 11:05:00.1 +0000 UTC m=+0.9\n"
    (outer / "timestamp").write_text(times, encoding="utf-8")
    report = _report(outer, tmp_path / "out")
    assert report["bundle"]["collectedAt"].startswith("2026-11-01T11:05:00")
    assert any(finding["code"] == "gpu/MigFailed" for finding in report["findings"])


def test_of_one_that_had_no_answers_it_is_said_what_is_missing(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path / "any")
    for name in ("cluster_policy.yaml", "gpu_operand_ds.yaml", "gpu_operator_pod.yaml"):
        (bundle / name).write_text("", encoding="utf-8")
    _report(bundle, tmp_path / "out")
    with duckdb.connect(str(tmp_path / "out" / "bundle.duckdb"), read_only=True) as con:
        told = dict(con.execute("SELECT kind, reason FROM coverage WHERE status = 'not-collected'").fetchall())
    assert "cluster_policy.yaml is empty" in told["ClusterPolicy"]
    assert "where there are several" in told["ClusterPolicy"]
    assert "gpu_operand_ds.yaml is empty" in told["DaemonSet"]
    assert "before 26.3" in told["NVIDIADriver"]
    assert told["ConfigMap"] == "the must-gather of the GPU Operator never asks for it"


def test_the_release_is_that_of_the_image_that_gathered_where_no_tag_tells(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path / "any")
    pods = bundle / "gpu_operand_pods.yaml"
    pods.write_text(pods.read_text(encoding="utf-8").replace("x:v25.10.1", f"x@sha256:{'0' * 64}"), encoding="utf-8")
    (bundle / "version").write_text("NVIDIA GPU Operator\nv26.3.1\n", encoding="utf-8")
    smi = "# nvidia-smi output from forge-1\nNo devices were found\n"
    (bundle / "gpu_device_usage_forge-1.log").write_text(smi, encoding="utf-8")
    smi = "# nvidia-smi output from forge-3\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    (bundle / "gpu_device_usage_forge-3.log").write_text(smi, encoding="utf-8")
    (bundle / "gpu_operand_pod_a-nvidia.log").write_text("No devices were found\n", encoding="utf-8")
    report = _report(bundle, tmp_path / "out")
    found = {item["object"]["name"]: item["title"] for item in report["findings"] if item["code"] == "gpu/RuntimeMissing"}
    assert found.keys() == {"forge-1", "forge-3"}
    assert "finds no GPU" in found["forge-1"]
    assert "does not answer" in found["forge-3"]
    with duckdb.connect(str(tmp_path / "out" / "bundle.duckdb"), read_only=True) as con:
        assert con.execute("SELECT release FROM gpu_policies").fetchall() == [("26.3",)]


def test_one_with_two_logs_and_no_more_says_why(tmp_path: Path) -> None:
    bundle = tmp_path / "any"
    bundle.mkdir()
    (bundle / "must-gather.log").write_text("FATAL: could not find the GPU Operator Pod ...\n", encoding="utf-8")
    (bundle / "must-gather.stderr.log").write_text("+ exit 1\n", encoding="utf-8")
    done = said("analyze", bundle, "-o", tmp_path / "out")
    assert done.returncode == 3
    assert "FATAL: could not find the GPU Operator Pod" in done.stderr


def test_one_that_broke_off_says_why(tmp_path: Path) -> None:
    bundle = tmp_path / "any"
    bundle.mkdir()
    (bundle / "cluster_policy.yaml").write_text(POLICY, encoding="utf-8")
    said = "Get the GPU nodes\nFATAL: could not find nodes with NVIDIA PCI labels\n"
    (bundle / "must-gather.log").write_text(said, encoding="utf-8")
    (bundle / "must-gather.stderr.log").write_text("+ exit 0\n", encoding="utf-8")
    report = _report(bundle, tmp_path / "out")
    told = json.dumps([finding for finding in report["findings"] if finding["code"].startswith("collect/")])
    assert "could not find nodes with NVIDIA PCI labels" in told
    with duckdb.connect(str(tmp_path / "out" / "bundle.duckdb"), read_only=True) as con:
        why = con.execute("SELECT reason FROM coverage WHERE kind = 'Node'").fetchone()
    assert why == ("the must-gather broke off before it: FATAL: could not find nodes with NVIDIA PCI labels",)


def test_no_policy_is_an_answer(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path / "any")
    (bundle / "cluster_policy.yaml").unlink()
    (bundle / "cluster_policy.missing").write_text("", encoding="utf-8")
    report = _report(bundle, tmp_path / "out")
    coverage = {(row["group"], row["kind"]): row["status"] for row in report["coverage"]["kinds"]}
    assert coverage[("nvidia.com", "ClusterPolicy")] == "absent"
