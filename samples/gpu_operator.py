"""A sample as the must-gather of the GPU Operator leaves it: the folder of a second image, beside that of the cluster.

`hack/must-gather.sh` of NVIDIA/gpu-operator writes one flat folder: the operator's objects as YAML, nodes as text, logs with the
container at the head of each line, and a report of nvidia-bug-report.sh for each pod of the driver.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import must_gather
from cluster import Cluster, Object
from files import document, put

IMAGE = "nvcr-io-larkfield-gpu-operator-sha256-9c20d1e7b3a54f68c1e0a7d4b92f3c5e8d6a1b0f4e7c2d9a8b5f6e3c0d1a2b4c"
NAMESPACE = "gpu-operator"
_BLOCK = 0xFFFF


@dataclass
class GpuCluster(Cluster):
    """A cluster with what only the second image has: logs of the operator's pods, and other files (.gz: packed)."""

    operand_logs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def operand_log(self, pod: Object, container: str, source: str, lines: Iterable[tuple[str, str]]) -> None:
        """A log of a pod of the operator: lines of (time, text)."""
        text = "".join(f"{at[:-1]}.104118203Z {words}\n" for at, words in lines)
        self.operand_logs[pod["metadata"]["name"], container, source] = text


@dataclass(frozen=True)
class Process:
    """A process of a host that has GPUs open: what ps prints of it, and the minor numbers of the GPUs."""

    pid: int
    user: str
    stat: str
    started: str
    elapsed: str
    args: str
    gpus: Iterable[int]

    @property
    def name(self) -> str:
        """The name that the kernel keeps of it: 15 characters."""
        return self.args.split()[0].rpartition("/")[2][:15]


def usage(node: str, gpus: Sequence[tuple[str, str, str]], processes: Sequence[Process]) -> str:
    """`gpu_device_usage_NODE.log`: GPUs are (PCI address, model, MIG mode)."""
    folder = "/run/nvidia/driver/dev"
    files = ["nvidia-uvm", *(f"nvidia{number}" for number in range(len(gpus))), "nvidiactl"]
    opened = [(one, {"nvidiactl", *(f"nvidia{number}" for number in one.gpus)}) for one in processes]
    smi = "".join(
        f"|{number:4}  {product:<29}   On  |   {address} Off |                    0 |\n"
        f"| N/A   31C    P0             72W /  700W |       0MiB /  81559MiB |      0%      Default |\n"
        f"|                                         |                        |{mode:>21} |\n"
        f"+-----------------------------------------+------------------------+----------------------+\n"
        for number, (address, product, mode) in enumerate(gpus)
    )
    lsof = "".join(
        f"{one.name[:9]:<9} {one.pid:>6} {one.user:<4} {20 + files.index(file):>3}u   CHR {_device(file):>7}      0t0  "
        f"{810 + files.index(file)} {folder}/{file}\n"
        for one, held in opened
        for file in files
        if file in held
    )
    details = "".join(
        f"=== Process {one.pid} ===\n"
        "    PID    PPID USER     STAT  STARTED     ELAPSED %CPU %MEM    VSZ   RSS COMMAND\n"
        f"{one.pid:>7} {one.pid - 19:>7} {one.user:<8} {one.stat:<4}   {one.started:>6} {one.elapsed:>11}  0.1  0.0 812344 61288 {one.args}\n\n"
        for one in processes
    )
    fuser = "".join(
        f"{f'{folder}/{file}:':<36} " + f"\n{'':37}".join(f"{one.user:<10} {one.pid:>7} F.... {one.name}" for one in who) + "\n"
        for file in files
        if (who := [one for one, held in opened if file in held])
    )
    listed = "".join(f"crw-rw-rw- 1 root root {_device(file)} Oct 21 11:20 {folder}/{file}\n" for file in files)
    pids = "\n".join(str(one.pid) for one in processes)
    return (
        f"# nvidia-smi output from {node}\n"
        "| NVIDIA-SMI 580.105.08             Driver Version: 580.105.08     CUDA Version: 13.0     |\n"
        f"{smi}"
        "| Processes:                                                                              |\n"
        "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
        "|        ID   ID                                                               Usage      |\n"
        "|=========================================================================================|\n"
        "|  No running processes found                                                             |\n"
        f"\n# lsof {folder}/nvidia* output from {node}\n"
        f"COMMAND      PID USER  FD   TYPE  DEVICE SIZE/OFF NODE NAME\n{lsof}"
        f"\n# Process details for PIDs using GPU devices from {node}\n"
        f"PIDs using GPU: {pids}\n\n{details}"
        f"\n# fuser -v {folder}/nvidia* output from {node}\n"
        f"{'':37}USER           PID ACCESS COMMAND\n{fuser}"
        f"\n# ls -la {folder}/nvidia* output from {node}\n{listed}"
    )


def _device(file: str) -> str:
    """Major and minor number of a device file of the driver."""
    return "195,255" if file == "nvidiactl" else "506,0" if file == "nvidia-uvm" else f"195,{file.removeprefix('nvidia')}"


def write(root: Path, cluster: GpuCluster) -> None:
    """Write the cluster as `oc adm must-gather` with both images would leave it."""
    must_gather.write(root, cluster)
    folder = next(path for path in root.iterdir() if path.is_dir()) / IMAGE
    own = [obj for obj in cluster.objects if obj["metadata"].get("namespace") == NAMESPACE]
    pods = [obj for obj in own if obj["kind"] == "Pod"]
    operator = [pod for pod in pods if pod["metadata"]["labels"].get("app") == "gpu-operator"]
    nodes = [obj for obj in cluster.objects if obj["kind"] == "Node" and "nvidia.com/gpu.present" in obj["metadata"]["labels"]]
    put(folder / "version", "NVIDIA GPU Operator\nv26.3.1\n")
    put(folder / "must-gather.log", f"Using kubectl\nOperator namespace: {NAMESPACE}\nGathering done\n")
    put(folder / "must-gather.stderr.log", "+ [[ -n gpu-operator ]]\n+ kubectl get clusterpolicy -o yaml\n")
    put(folder / "cluster_policy.yaml", document(next(obj for obj in cluster.objects if obj["kind"] == "ClusterPolicy")))
    put(folder / "nvidiadrivers.yaml", _list([]))
    put(folder / "gpu_operator_pod.yaml", document(operator[0]))
    put(folder / "gpu_operand_pods.yaml", _list(pods))
    put(folder / "gpu_operand_ds.yaml", _list([obj for obj in own if obj["kind"] == "DaemonSet"]))
    put(folder / "gpu_nodes.labels", "".join(_labels(node) for node in nodes))
    put(folder / "gpu_nodes.descr", "\n\n".join(_described(node) for node in nodes))
    for (pod, container, source), text in sorted(cluster.operand_logs.items()):
        lines = "".join(f"[pod/{pod}/{container}] {line}\n" for line in text.splitlines())
        previous = ".previous" if source == "previous" else ""
        _append(folder / f"gpu_operand_pod_{pod}{previous}.log", lines)
    for name, text in cluster.files.items():
        if name.endswith(".gz"):
            (folder / name).write_bytes(packed(text.encode()))
        else:
            put(folder / name, text)


def packed(data: bytes) -> bytes:
    """The bytes as a gzip file without a time and without compression, so that every version of zlib makes the same of them."""
    blocks = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)] or [b""]
    body = b"".join(
        struct.pack("<BHH", number == len(blocks), len(block), len(block) ^ 0xFFFF) + block
        for number, block in enumerate(blocks, 1)
    )
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + body + struct.pack("<II", zlib.crc32(data), len(data))


def _append(path: Path, text: str) -> None:
    put(path, (path.read_text(encoding="utf-8") if path.exists() else "") + text)


def _list(items: list[Object]) -> str:
    return document({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})


def _labels(node: Object) -> str:
    """A node's labels as the script prints them: colons are lost."""
    labels = "".join(f"- {key}={value}\n" for key, value in sorted(node["metadata"]["labels"].items()))
    return f"{node['metadata']['name']}\n{labels}\n"


def _described(node: Object) -> str:
    """What `kubectl describe node` prints, as far as it matters."""
    meta, status = node["metadata"], node["status"]
    labels = "\n                    ".join(f"{key}={value}" for key, value in sorted(meta["labels"].items()))
    conditions = "\n".join(
        f"  {one['type']:<16} {one['status']:<6}  {_day(one['lastHeartbeatTime'])}  {_day(one['lastTransitionTime'])}"
        f"  {one['reason']:<26}  {one['message']}"
        for one in status["conditions"]
    )
    parts = [
        f"Name:               {meta['name']}",
        "Roles:              worker",
        f"Labels:             {labels}",
        "Annotations:        <none>",
        f"CreationTimestamp:  {_day(meta['creationTimestamp'])}",
        "Taints:             <none>",
        "Unschedulable:      false",
        "Conditions:",
        "  Type             Status  LastHeartbeatTime                LastTransitionTime               Reason                      Message",
        "  ----             ------  -----------------                ------------------               ------                      -------",
        conditions,
        *_amounts("Capacity", status["capacity"]),
        *_amounts("Allocatable", status["allocatable"]),
        "System Info:",
        f"  Kernel Version:             {status['nodeInfo']['kernelVersion']}",
        f"  OS Image:                   {status['nodeInfo']['osImage']}",
        f"  Kubelet Version:            {status['nodeInfo']['kubeletVersion']}",
        "Events:                       <none>",
    ]
    return "\n".join(parts) + "\n"


def _day(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%a, %d %b %Y %H:%M:%S +0000")


def _amounts(title: str, amounts: dict[str, str]) -> list[str]:
    return [f"{title}:", *(f"  {key + ':':<20} {value}" for key, value in sorted(amounts.items()))]
