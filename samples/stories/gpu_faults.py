"""Eight GPU nodes of one morning: a MIG change that hangs, a GPU off the bus, a driver that was changed under its feet, devices all held."""

from __future__ import annotations

from datetime import UTC, datetime

import bug_report
from cluster import REGISTRY, Object
from gpu_operator import NAMESPACE, GpuCluster, Process, usage

from stories import gpu_faults_work as work

PLUGIN_NODES = [f"fen-gpu-{number:02d}" for number in range(1, 7)]
DRA_NODES = ["fen-dra-01", "fen-dra-02"]
MIG_NODE, MISMATCH_NODE, LOST_NODE = "fen-gpu-02", "fen-gpu-04", "fen-gpu-05"
LOST_GPU, LOST_AT = "GPU-8d31c7f0-52ab-4e96-b7d8-0c1e94a6f325", "4E:00.0"
_PAUSED = ("device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm", "nvsm")
_DEPLOY = ("driver", "container-toolkit", "operator-validator", "device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm")
_NEW = {"operator-validator", "device-plugin", "gpu-feature-discovery", "dcgm-exporter"}
"""The parts that the change of 07:30 rolled out anew."""
_PARTS = (
    ("driver", "nvidia-driver-daemonset", "nvidia-driver-ctr", "driver:580.95.05-ubuntu24.04", ()),
    ("container-toolkit", "nvidia-container-toolkit-daemonset", "nvidia-container-toolkit-ctr", "container-toolkit:v1.18.1", ("driver-validation",)),
    ("operator-validator", "nvidia-operator-validator", "nvidia-operator-validator", "gpu-operator:v26.3.1",
     ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation")),
    ("device-plugin", "nvidia-device-plugin-daemonset", "nvidia-device-plugin", "k8s-device-plugin:v0.18.1", ("toolkit-validation",)),
    ("gpu-feature-discovery", "gpu-feature-discovery", "gpu-feature-discovery", "k8s-device-plugin:v0.18.1", ("toolkit-validation",)),
    ("dcgm-exporter", "nvidia-dcgm-exporter", "nvidia-dcgm-exporter", "dcgm-exporter:4.4.2", ("toolkit-validation",)),
    ("mig-manager", "nvidia-mig-manager", "nvidia-mig-manager", "k8s-mig-manager:v0.13.1", ("toolkit-validation",)),
)  # fmt: skip


def story() -> GpuCluster:
    """Four faults on eight GPU nodes, none of which has to do with another."""
    c = GpuCluster("gpu-faults", datetime(2026, 11, 20, 10, 40, tzinfo=UTC))
    for name in ("default", "kube-system", NAMESPACE, "nvidia-dra-driver-gpu", "notebooks", "research", "training", "vision"):
        c.namespace(name)
    _nodes(c)
    _policy(c)
    pods = _operator(c)
    _mig(c, pods["mig-manager", MIG_NODE], pods["dcgm-exporter", MIG_NODE])
    _off_the_bus(c, pods["device-plugin", LOST_NODE])
    _mismatch(c, pods)
    work.vision(c)
    work.notebooks(c)
    work.training(c)
    work.research(c)
    return c


def _nodes(c: GpuCluster) -> None:
    for number in (1, 2, 3):
        _release(c.node(f"fen-cp-{number}", roles=("control-plane",)))
    healthy = {MIG_NODE: 0, MISMATCH_NODE: 0, LOST_NODE: 7}
    for name in PLUGIN_NODES:
        mig = ("all-1g.10gb", "pending") if name == MIG_NODE else ("all-disabled", "success")
        node = c.node(name, gpus=8, healthy=healthy.get(name), mig=mig, roles=("worker",))
        labels = _release(node)["metadata"]["labels"]
        labels |= {f"nvidia.com/gpu.deploy.{part}": "true" for part in (*_DEPLOY, "mig-manager")}
        labels["nvidia.com/mig.strategy"] = "mixed"
        if name == MIG_NODE:
            labels |= {f"nvidia.com/gpu.deploy.{part}": "paused-for-mig-change" for part in _PAUSED}
        if name == MISMATCH_NODE:
            labels["nvidia.com/gpu.deploy.driver"] = "pre-installed"
    for name in DRA_NODES:
        node = c.node(name, gpus=4, roles=("worker",))
        labels = _release(node)["metadata"]["labels"]
        labels |= {f"nvidia.com/gpu.deploy.{part}": "true" for part in _DEPLOY}
        labels |= {"nvidia.com/gpu.deploy.device-plugin": "false", "nvidia.com/mig.capable": "false"}
        for amounts in (node["status"]["capacity"], node["status"]["allocatable"]):
            amounts.pop("nvidia.com/gpu")
        for key in ("nvidia.com/mig.config", "nvidia.com/mig.config.state", "nvidia.com/mig.strategy"):
            labels.pop(key)


def _release(node: Object) -> Object:
    node["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.2"
    return node


def _policy(c: GpuCluster) -> None:
    turned = c.ago(hours=3, minutes=8)
    states = "state-operator-validation state-device-plugin gpu-feature-discovery state-dcgm-exporter"
    failed = {"type": "Error", "status": "True", "reason": "OperandNotReady", "lastTransitionTime": turned}
    failed["message"] = f"ClusterPolicy is not ready; states not ready: [{states}]"
    c.add(
        {
            "apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "cluster-policy", "generation": 7},
            "spec": {
                "driver": {"enabled": True, "version": bug_report.DRIVER}, "toolkit": {"enabled": True}, "devicePlugin": {"enabled": True},
                "gfd": {"enabled": True}, "dcgm": {"enabled": False}, "dcgmExporter": {"enabled": True}, "mig": {"strategy": "mixed"},
                "migManager": {"enabled": True, "config": {"name": "mig-layouts", "default": "all-disabled"}},
                "sandboxWorkloads": {"enabled": False},
            },
            "status": {
                "namespace": NAMESPACE, "state": "notReady",
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "Error", "message": "", "lastTransitionTime": turned}, failed,
                ],
            },
        },
        c.ago(days=120),
    )  # fmt: skip
    layouts = (
        "version: v1\nmig-configs:\n  all-disabled:\n  - devices: all\n    mig-enabled: false\n"
        "  all-1g.10gb:\n  - devices: all\n    mig-enabled: true\n    mig-devices:\n      1g.10gb: 7\n"
    )
    meta = {"name": "mig-layouts", "namespace": NAMESPACE}
    c.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"config.yaml": layouts}}, c.ago(days=120))


def _operator(c: GpuCluster) -> dict[tuple[str, str], Object]:
    """The operator and its parts on all GPU nodes: (part, node) → pod."""
    image = f"{REGISTRY}/nvidia/gpu-operator:v26.3.1"
    operator = c.deployment(NAMESPACE, "gpu-operator", replicas=1, ready=1, image=image, since=c.ago(days=41))
    c.pod(operator, "k5t2d", "fen-cp-2", created=c.ago(days=41), status=c.running("gpu-operator", image, c.ago(days=41)))
    c.daemonset(NAMESPACE, "nvidia-device-plugin-mps-control-daemon", image=image, desired=0, ready=0)
    pods = {}
    for part, name, container, image, inits in _PARTS:
        nodes = [node for node in (*PLUGIN_NODES, *DRA_NODES) if _runs(part, node)]
        held = MISMATCH_NODE if part in _NEW else ""
        owner = c.daemonset(
            NAMESPACE, name, image=f"{REGISTRY}/nvidia/{image}", desired=len(nodes), ready=len(nodes) - bool(held)
        )
        owner["spec"]["template"]["spec"]["containers"][0]["name"] = container
        if part == "driver":
            owner["spec"]["updateStrategy"] = {"type": "OnDelete"}
        if (part, MIG_NODE) == ("dcgm-exporter", MIG_NODE):
            nodes.append(MIG_NODE)
        for number, node in enumerate(nodes):
            started = c.ago(hours=3, minutes=9) if part in _NEW else c.ago(days=30)
            if (part, node) == ("dcgm-exporter", MIG_NODE):
                started = c.ago(days=30)
            status = c.running(container, f"{REGISTRY}/nvidia/{image}", started)
            pods[part, node] = pod = c.pod(owner, f"{part[0]}{number}q7w", node, created=started, status=status)
            _init(pod, inits, started, held=node == held)
    return pods


def _runs(part: str, node: str) -> bool:
    """Whether a part has a pod on the node: by the deploy labels, as the operator and people set them."""
    if node in DRA_NODES:
        return part not in {"device-plugin", "mig-manager"}
    if node == MIG_NODE:
        return part not in _PAUSED
    return not (node == MISMATCH_NODE and part == "driver")


def _init(pod: Object, names: tuple[str, ...], at: str, *, held: bool) -> None:
    """Give a pod its init containers: all of them done, or the first one at work and the others waiting for it."""
    if not names:
        return
    image = f"{REGISTRY}/nvidia/gpu-operator:v26.3.1"
    pod["spec"]["initContainers"] = [
        {"name": name, "image": image, "args": [f"nvidia-validator --component={name}"]} for name in names
    ]
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": at}}
    wait = {"waiting": {"reason": "PodInitializing"}}
    states = [({"running": {"startedAt": at}} if number == 0 else wait) if held else done for number in range(len(names))]
    status = pod["status"]
    status["initContainerStatuses"] = [
        {"name": name, "image": image, "imageID": "", "ready": not held, "started": "running" in state, "restartCount": 0, "state": state}
        for name, state in zip(names, states, strict=True)
    ]  # fmt: skip
    if held:
        status["phase"] = "Pending"
        for condition in status["conditions"][1:]:
            condition |= {"status": "False", "reason": "ContainersNotInitialized"}
            condition["message"] = f"containers with incomplete status: [{' '.join(names)}]"
        status["containerStatuses"][0] |= {"ready": False, "started": False, "imageID": "", "state": wait}


def _mig(c: GpuCluster, manager: Object, exporter: Object) -> None:
    """The MIG manager waits for the exporter to end, which hangs in the driver; after 5 minutes it gives up and says so only in its log."""
    deleted = c.ago(minutes=57, seconds=30)
    exporter["metadata"] |= {"deletionTimestamp": deleted, "deletionGracePeriodSeconds": 30}
    words = (
        'error killing pod: failed to "KillContainer" for "nvidia-dcgm-exporter" with KillContainerError: '
        '"rpc error: code = DeadlineExceeded desc = context deadline exceeded"'
    )
    c.event(
        exporter, "FailedKillPod", words, first=c.ago(minutes=55), last=c.ago(minutes=2), count=27, component="kubelet",
    )  # fmt: skip
    asked, gave_up = c.ago(minutes=58), c.ago(minutes=53)
    c.operand_log(manager, "nvidia-mig-manager", "current", [
        (asked, "Updating to MIG config: all-1g.10gb"),
        (asked, "Asserting that the requested configuration is present in the configuration file"),
        (asked, "Selected MIG configuration is valid"),
        (asked, "Changing the 'nvidia.com/mig.config.state' node label to 'pending'"),
        (asked, "Shutting down all GPU clients in Kubernetes by disabling their component-specific nodeSelector labels"),
        (asked, "Waiting for the device-plugin to shutdown"),
        (asked, "Waiting for gpu-feature-discovery to shutdown"),
        (asked, "Waiting for dcgm-exporter to shutdown"),
        (gave_up, 'level=error msg="Failed to reconfigure MIG: dcgm-exporter pod did not shutdown: context deadline exceeded"'),
    ])  # fmt: skip
    gpus = [(f"00000000:{bus:02X}:00.0", "NVIDIA H100 80GB HBM3", "Disabled") for bus in range(0x19, 0x21)]
    c.files[f"gpu_device_usage_{MIG_NODE}.log"] = usage(MIG_NODE, gpus, [
        Process(4410, "root", "Ss", "Oct 21", "29-23:12:40", "nvidia-persistenced --persistence-mode", range(8)),
        Process(61044, "root", "Dsl", "Oct 21", "29-23:10:02", "/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/dcp-metrics-included.csv", (3,)),
    ])  # fmt: skip


def _off_the_bus(c: GpuCluster, plugin: Object) -> None:
    """The kernel's words stand in the report of the driver's pod, the device plugin's in its log."""
    line = "Nov 20 08:14:0{second} fen-gpu-05 kernel: "
    kernel_log = [line.format(second=second) + words for second, words in (
        (2, "pcieport 0000:4c:01.0: AER: Uncorrected (Fatal) error message received from 0000:4c:01.0"),
        (2, "pcieport 0000:4c:01.0: pciehp: Slot(11): Link Down"),
        (3, f"NVRM: GPU at PCI:0000:4e:00: {LOST_GPU}"),
        (3, "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        (3, "NVRM: GPU 0000:4e:00.0: GPU has fallen off the bus."),
        (4, "NVRM: Xid (PCI:0000:4e:00): 45, pid=48812, name=python3, channel 0x00000008"),
        (5, "NVRM: Xid (PCI:0000:4e:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
    )]  # fmt: skip
    addresses = ("1B:00.0", "43:00.0", "48:00.0", LOST_AT, "9A:00.0", "AB:00.0", "B8:00.0", "C4:00.0")
    gpus = {
        one: LOST_GPU if one == LOST_AT else f"GPU-0f1e2d3c-00{n}a-4b5c-8d9e-a1b2c3d4e5f{n}" for n, one in enumerate(addresses)
    }
    at, plugin_at = datetime(2026, 11, 20, 10, 38, 12, tzinfo=UTC), c.ago(hours=2, minutes=25, seconds=54)
    c.files[f"nvidia-bug-report_{LOST_NODE}.log.gz"] = bug_report.report(LOST_NODE, at, kernel_log, gpus, LOST_AT)
    c.operand_log(plugin, "nvidia-device-plugin", "current", [
        (c.ago(hours=3, minutes=9), "I1120 07:31:00.402117       1 server.go:197] Starting GRPC server for 'nvidia.com/gpu'"),
        (plugin_at, f"E1120 08:14:06.118204       1 health.go:159] XidCriticalError: Xid=79 on Device={LOST_GPU}; marking device as unhealthy."),
        (plugin_at, f"I1120 08:14:06.118377       1 server.go:245] 'nvidia.com/gpu' device marked unhealthy: {LOST_GPU}"),
    ])  # fmt: skip


def _mismatch(c: GpuCluster, pods: dict[tuple[str, str], Object]) -> None:
    """An unattended upgrade changed the libraries of the host at 06:05; what the operator rolled out at 07:31 finds the old module."""
    began, last = c.ago(hours=3, minutes=9), c.ago(seconds=20)
    c.operand_log(pods["operator-validator", MISMATCH_NODE], "driver-validation", "current", [
        (at, text)
        for at in (began, last)
        for text in (
            "running command chroot with args [/host nvidia-smi]",
            "Failed to initialize NVML: Driver/library version mismatch",
            "NVML library version: 580.105",
            "command failed, retrying after 5 seconds",
        )
    ])  # fmt: skip
    for part in ("device-plugin", "gpu-feature-discovery", "dcgm-exporter"):
        words = "waiting for nvidia container stack to be setup"
        c.operand_log(pods[part, MISMATCH_NODE], "toolkit-validation", "current", [(at, words) for at in (began, last)])
