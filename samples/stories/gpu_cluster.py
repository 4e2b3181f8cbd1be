"""Twelve GPU nodes, and what a support engineer meets on them in a week."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cluster import REGISTRY, Cluster, digest

from stories.queues import queues

_HEALTHY = {"lark-gpu-05": 7}
"""GPUs that can be used, where they are not all."""


def story() -> Cluster:
    """Twelve GPU nodes, one of them lost, and more faults that have nothing to do with it."""
    c = Cluster("gpu-cluster", datetime(2026, 11, 12, 9, 30, tzinfo=UTC))
    for name in ("default", "kube-system", "gpu-operator", "kueue-system", "chat", "search", "training"):
        c.namespace(name)
    for number in (1, 2, 3):
        c.node(f"lark-cp-{number}", roles=("control-plane",))
    gpu_nodes = [f"lark-gpu-{number:02d}" for number in range(1, 13)]
    for node in gpu_nodes:
        c.node(
            node,
            gpus=8,
            healthy=_HEALTHY.get(node),
            mig=("all-3g.40gb", "failed") if node == "lark-gpu-11" else ("all-disabled", "success"),
            lost=timedelta(minutes=26) if node == "lark-gpu-07" else None,
            roles=("worker",),
        )
    _operator(c, gpu_nodes)
    _chat(c)
    _search(c)
    _training(c)
    _mig(c, gpu_nodes)
    queues(c)
    lost = next(obj for obj in c.objects if obj["kind"] == "Node" and obj["metadata"]["name"] == "lark-gpu-07")
    c.event(
        lost,
        "NodeNotReady",
        "Node lark-gpu-07 status is now: NodeNotReady",
        kind="Normal",
        first=c.ago(minutes=26),
        last=c.ago(minutes=26),
        count=1,
        component="node-controller",
    )
    return c


def _operator(c: Cluster, gpu_nodes: list[str]) -> None:
    """The operator with its parts; drivers and the container toolkit are installed on the hosts."""
    image = f"{REGISTRY}/nvidia/gpu-operator:v25.10.1"
    operator = c.deployment("gpu-operator", "gpu-operator", replicas=1, ready=1, image=image, since=c.ago(days=41))
    c.pod(operator, "w4x9c", "lark-cp-2", created=c.ago(days=41), status=c.running("gpu-operator", image, c.ago(days=41)))
    waits = "state-operator-validation state-device-plugin gpu-feature-discovery state-mig-manager"
    words = f"ClusterPolicy is not ready; states not ready: [{waits}]"
    turned = c.ago(minutes=25)
    c.add(
        {
            "apiVersion": "nvidia.com/v1",
            "kind": "ClusterPolicy",
            "metadata": {"name": "cluster-policy", "generation": 4},
            "spec": {
                "driver": {"enabled": False},
                "toolkit": {"enabled": False},
                "devicePlugin": {"enabled": True},
                "gfd": {"enabled": True},
                "dcgm": {"enabled": False},
                "dcgmExporter": {"enabled": False},
                "migManager": {"enabled": True, "config": {"name": "default-mig-parted-config", "default": "all-disabled"}},
                "mig": {"strategy": "single"},
                "sandboxWorkloads": {"enabled": False},
            },
            "status": {
                "namespace": "gpu-operator",
                "state": "notReady",
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "Error", "message": "", "lastTransitionTime": turned},
                    {
                        "type": "Error",
                        "status": "True",
                        "reason": "OperandNotReady",
                        "message": words,
                        "lastTransitionTime": turned,
                    },
                ],
            },
        },
        c.ago(days=120),
    )
    for name, image, mark in (
        ("nvidia-operator-validator", f"{REGISTRY}/nvidia/gpu-operator-validator:v25.10.1", "v"),
        ("gpu-feature-discovery", f"{REGISTRY}/nvidia/gpu-feature-discovery:v0.17.4", "f"),
    ):
        part = c.daemonset("gpu-operator", name, image=image, desired=12, ready=11)
        for number, node in enumerate(gpu_nodes):
            lost = c.ago(minutes=26) if node == "lark-gpu-07" else ""
            status = c.running(name, image, c.ago(days=30), lost=lost)
            c.pod(part, f"{mark}{number:02d}kb", node, created=c.ago(days=30), status=status)
    image = f"{REGISTRY}/nvidia/k8s-device-plugin:v0.17.4"
    plugin = c.daemonset("gpu-operator", "nvidia-device-plugin-daemonset", image=image, desired=12, ready=11)
    for number, node in enumerate(gpu_nodes):
        lost = c.ago(minutes=26) if node == "lark-gpu-07" else ""
        status = c.running("nvidia-device-plugin-daemonset", image, c.ago(days=30), lost=lost)
        pod = c.pod(plugin, f"m{number:02d}xt", node, created=c.ago(days=30), status=status)
        if node in _HEALTHY:
            words = "XidCriticalError: Xid=79 on Device=GPU-5e0c1f6a-93b2-4d7e-a1c8-2f40b7d96e31; marking device as unhealthy."
            c.log(
                pod,
                "nvidia-device-plugin-daemonset",
                "current",
                [(c.ago(hours=6), f"I1112 03:30:00.118204       1 health.go:159] {words}")],
            )


def _mig(c: Cluster, gpu_nodes: list[str]) -> None:
    """A new layout was asked for on a node whose GPUs are held by something else."""
    image = f"{REGISTRY}/nvidia/k8s-mig-manager:v0.12.3"
    config = (
        "version: v1\nmig-configs:\n  all-disabled:\n  - devices: all\n    mig-enabled: false\n"
        "  all-3g.40gb:\n  - devices: all\n    mig-enabled: true\n    mig-devices:\n      3g.40gb: 2\n"
    )
    c.add(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "default-mig-parted-config", "namespace": "gpu-operator"},
            "data": {"config.yaml": config},
        },
        c.ago(days=120),
    )
    manager = c.daemonset("gpu-operator", "nvidia-mig-manager", image=image, desired=12, ready=11)
    for number, node in enumerate(gpu_nodes):
        lost = c.ago(minutes=26) if node == "lark-gpu-07" else ""
        status = c.running("nvidia-mig-manager", image, c.ago(days=30), lost=lost)
        pod = c.pod(manager, f"g{number:02d}zr", node, created=c.ago(days=30), status=status)
        if node == "lark-gpu-11":
            at = c.ago(minutes=94)
            c.log(pod, "nvidia-mig-manager", "current", [
                (c.ago(minutes=95), "Updating to MIG config: all-3g.40gb"),
                (c.ago(minutes=95), "Asserting that the requested configuration is present in the configuration file"),
                (at, "Applying the MIG mode change from the selected config to the node"),
                (at, "The following GPUs could not be reset:"),
                (at, "  GPU 00000000:4E:00.0: In use by another client"),
                (at, 'time="2026-11-12T07:56:00Z" level=error msg="error resetting all GPUs: exit status 255"'),
                (at, "Changing the 'nvidia.com/mig.config.state' node label to 'failed'"),
            ])  # fmt: skip


def _chat(c: Cluster) -> None:
    """Inference: one replica was on the lost node, its replacement finds no free GPU."""
    image = f"{REGISTRY}/chat/vllm-server:0.11.2"
    server = c.deployment("chat", "llama-server", replicas=4, ready=3, image=image, since=c.ago(minutes=26))
    for suffix, node in (("b2k8w", "lark-gpu-01"), ("c6n4x", "lark-gpu-02"), ("d9p3z", "lark-gpu-03")):
        started = c.ago(days=6)
        c.pod(server, suffix, node, created=started, gpus=8, status=c.running("llama-server", image, started))
    gone = c.pod(
        server, "a7f5v", "lark-gpu-07", created=c.ago(days=6), gpus=8, deletionTimestamp=c.ago(minutes=20), deletionGracePeriodSeconds=30,
        status=c.running("llama-server", image, c.ago(days=6), lost=c.ago(minutes=26)),
    )  # fmt: skip
    message = (
        "0/15 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 11 Insufficient nvidia.com/gpu, "
        "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/15 nodes are available: "
        "11 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling."
    )
    waiting = c.pod(server, "t4r6j", "", created=c.ago(minutes=20), gpus=8, status=c.unschedulable(c.ago(minutes=20), message))
    c.event(
        waiting,
        "FailedScheduling",
        message,
        first=c.ago(minutes=20),
        last=c.ago(minutes=3),
        count=5,
        component="default-scheduler",
    )
    c.event(
        gone,
        "NodeNotReady",
        "Node is not ready",
        first=c.ago(minutes=26),
        last=c.ago(minutes=26),
        count=1,
        component="node-controller",
    )


def _search(c: Cluster) -> None:
    """A crash loop over a missing file, and an image tag that does not exist."""
    image = f"{REGISTRY}/search/tokenizer-api:3.4.0"
    api = c.deployment("search", "tokenizer-api", replicas=2, ready=0, image=image, since=c.ago(hours=3, minutes=12))
    for suffix, node, restarts in (("5h2mq", "lark-gpu-04", 41), ("8w7kd", "lark-gpu-05", 40)):
        begin, end = c.ago(minutes=2, seconds=31), c.ago(minutes=2, seconds=29)
        last = {
            "exitCode": 2,
            "reason": "Error",
            "startedAt": begin,
            "finishedAt": end,
            "containerID": f"containerd://{digest(suffix)}",
        }
        words = f"back-off 5m0s restarting failed container=tokenizer-api pod={api['metadata']['name']}-{suffix}_search"
        status = c.waiting(
            "tokenizer-api", image, c.ago(hours=3, minutes=12), "CrashLoopBackOff", words, restarts=restarts, last=last
        )
        pod = c.pod(api, suffix, node, created=c.ago(hours=3, minutes=13), status=status)
        c.log(pod, "tokenizer-api", "previous", [
            (begin, "tokenizer-api 3.4.0 starting"),
            (begin, "reading /models/vocab/merges.txt"),
            (end, "fatal: cannot open /models/vocab/merges.txt: no such file or directory"),
        ])  # fmt: skip
        c.log(pod, "tokenizer-api", "current", [(begin, "tokenizer-api 3.4.0 starting")])
        c.event(
            pod,
            "BackOff",
            f"Back-off restarting failed container tokenizer-api in pod {pod['metadata']['name']}_search",
            first=c.ago(minutes=58),
            last=c.ago(minutes=1),
            count=251,
            component="kubelet",
        )
    image = f"{REGISTRY}/search/embedder:2.0.0-rc9"
    embedder = c.deployment("search", "embedder", replicas=1, ready=0, image=image, since=c.ago(minutes=47))
    words = f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
    pod = c.pod(
        embedder,
        "6c4jf",
        "lark-gpu-06",
        created=c.ago(minutes=47),
        gpus=1,
        status=c.waiting("embedder", image, c.ago(minutes=47), "ImagePullBackOff", words),
    )
    c.event(
        pod,
        "Failed",
        f'Failed to pull image "{image}": not found',
        first=c.ago(minutes=46),
        last=c.ago(minutes=2),
        count=13,
        component="kubelet",
    )


def _busy(c: Cluster) -> None:
    """What holds the GPUs that nobody else here talks of; one of them is on the node whose MIG layout could not be changed."""
    image = f"{REGISTRY}/training/distill:25.10"
    distill = c.deployment("training", "distill", replicas=3, ready=3, image=image, since=c.ago(days=3))
    for suffix, node in (("g4k9s", "lark-gpu-04"), ("m7d2q", "lark-gpu-08"), ("x5r8b", "lark-gpu-12")):
        c.pod(distill, suffix, node, created=c.ago(days=3), gpus=8, status=c.running("distill", image, c.ago(days=3)))
    image = f"{REGISTRY}/training/notebook:4.1.0"
    notebook = c.deployment("training", "notebook-iris", replicas=1, ready=1, image=image, since=c.ago(days=2))
    status = c.running("notebook-iris", image, c.ago(days=2))
    c.pod(notebook, "v9c3f", "lark-gpu-11", created=c.ago(days=2), gpus=1, status=status)


def _training(c: Cluster) -> None:
    """A pod that asks for more GPUs than any node has, and one that was killed for memory earlier."""
    _busy(c)
    image = f"{REGISTRY}/training/trainer:25.10"
    sweep = c.deployment("training", "sweep-16gpu", replicas=1, ready=0, image=image, since=c.ago(hours=5))
    message = (
        "0/15 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 11 Insufficient nvidia.com/gpu, "
        "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/15 nodes are available: "
        "15 Preemption is not helpful for scheduling."
    )
    c.pod(sweep, "n8v2s", "", created=c.ago(hours=5), gpus=16, status=c.unschedulable(c.ago(hours=5), message))
    image = f"{REGISTRY}/training/dataset-cache:1.8.3"
    cache = c.deployment(
        "training",
        "dataset-cache",
        replicas=1,
        ready=1,
        image=image,
        since=c.ago(minutes=50),
        resources={"limits": {"memory": "16Gi"}},
    )
    status = c.running("dataset-cache", image, c.ago(minutes=52), restarts=3)
    status["containerStatuses"][0]["lastState"] = {
        "terminated": {
            "exitCode": 137,
            "reason": "OOMKilled",
            "startedAt": c.ago(hours=4),
            "finishedAt": c.ago(minutes=53),
            "containerID": f"containerd://{digest('cache')}",
        }
    }
    pod = c.pod(cache, "k2d7b", "lark-gpu-08", created=c.ago(days=3), status=status)
    c.log(
        pod,
        "dataset-cache",
        "previous",
        [(c.ago(hours=4), "cache: 16 shards"), (c.ago(minutes=53), "cache: loading shard 14 of 16 (1.1 GiB)")],
    )
