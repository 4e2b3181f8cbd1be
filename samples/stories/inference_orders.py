"""Orders of the module ai-inference: one that is well, one that cannot grow, and four that are not ready for four reasons."""

from __future__ import annotations

from cluster import REGISTRY, Cluster, Object, digest, owner_of

from stories.parts import DRA, claim, condition, request

API, DRIVER = "ai.deckhouse.io/v1alpha1", "gpu.deckhouse.io"
NAMESPACES = ("d8-ai-inference", "team-chat", "team-search")
KINDS = (
    ("ai.deckhouse.io", "v1alpha1", "InferenceService", "inferenceservices", True),
    ("ai.deckhouse.io", "v1alpha1", "InferenceServiceClass", "inferenceserviceclasses", False),
    ("ai.deckhouse.io", "v1alpha1", "Model", "models", True), ("ai.deckhouse.io", "v1alpha1", "ClusterModel", "clustermodels", False),
    ("deckhouse.io", "v1alpha1", "ModuleConfig", "moduleconfigs", False), ("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", False),
    ("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", True), ("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", True),
    ("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", False),
)  # fmt: skip
ORDER = ("ClassResolved", "ModelResolved", "Planned", "WorkloadReady", "Ready")
IMAGE = f"{REGISTRY}/ai-inference/engine:0.11.2"
HOURS = 26
_REQUEST = request("gpu", "h100-whole", 1)


def orders(c: Cluster) -> None:
    """Four GPUs of two nodes, all of them held."""
    _module(c)
    _order(c, "team-chat", "helpdesk", "default-llm", phase="Ready")
    _replicas(c, "team-chat", "helpdesk", ["wren-gpu-03/gpu-0"])
    writer = _order(c, "team-chat", "writer", "default-llm", phase="Ready")
    _replicas(c, "team-chat", "writer", ["wren-gpu-03/gpu-1", ""])
    c.event(
        writer, "GrowthClaimUnplaced", "claim writer-1-gpu: no device of class h100-whole is free", first=c.ago(minutes=50), last=c.ago(minutes=6), count=9,
        component="ai-inference-controller",
    )  # fmt: skip
    _order(c, "team-chat", "drafts", "default-chat", ("ClassNotFound", "class default-chat is not found"), "ClassResolved")
    _order(
        c,
        "team-search",
        "reranker",
        "default-llm",
        ("ResourceClaimExhausted", "tried h100-whole: no device holds the claim"),
        "Planned",
        phase="Pending",
    )
    _order(
        c,
        "team-search",
        "vectors",
        "experimental",
        ("PlacementUndecidable", "the selector of class experimental cannot be judged"),
        "Planned",
    )
    words = "pod embedder-0, container engine: CrashLoopBackOff, 11 restarts; output: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.50 GiB"
    _order(c, "team-search", "embedder", "default-llm", ("WorkloadStartupFailed", words), "WorkloadReady")
    _replicas(c, "team-search", "embedder", ["wren-gpu-04/gpu-0"], fails=True)
    _indexer(c)


def _module(c: Cluster) -> None:
    c.add(
        {
            "apiVersion": "deckhouse.io/v1alpha1", "kind": "ModuleConfig", "metadata": {"name": "ai-inference"},
            "spec": {"enabled": True, "version": 1, "settings": {"catalog": {"mode": "None"}}},
        },
        c.ago(days=60),
    )  # fmt: skip
    for name, classes in (("default-llm", "h100-whole"), ("experimental", "by-topology")):
        policy: Object = {
            "modelPolicy": {"allowedEndpointTypes": ["Chat", "Embeddings", "Rerank"]}, "scalingPolicy": {"minReplicas": 1, "maxReplicas": 3},
            "acceleratorPolicy": {"deviceClasses": [classes]},
        }  # fmt: skip
        ready = [condition("Ready", "True", "", "", c.ago(days=20))]
        c.add(
            {
                "apiVersion": API,
                "kind": "InferenceServiceClass",
                "metadata": {"name": name},
                "spec": policy,
                "status": {"conditions": ready},
            },
            c.ago(days=20),
        )
    for name, expression in (
        ("h100-whole", f'device.driver == "{DRIVER}"'),
        ("by-topology", f'device.driver == "{DRIVER}" && device.attributes["topology.example"].island == "north"'),
    ):
        selectors = [{"cel": {"expression": expression}}]
        c.add(
            {"apiVersion": DRA, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": selectors}},
            c.ago(days=20),
        )
    for node in ("wren-gpu-03", "wren-gpu-04"):
        devices = [
            {
                "name": f"gpu-{number}", "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}}, "capacity": {"memory": {"value": "80Gi"}},
            }
            for number in (0, 1)
        ]  # fmt: skip
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
        c.add(
            {"apiVersion": DRA, "kind": "ResourceSlice", "metadata": {"name": f"{node}-{DRIVER}-7hx2k"}, "spec": spec},
            c.ago(days=20),
        )


def _order(
    c: Cluster, namespace: str, name: str, klass: str, why: tuple[str, str] = ("", ""), at: str = "", phase: str = "Failed"
) -> Object:
    """An order; `at` is the condition that is not True for the reason `why`, all before it are, and Ready repeats it."""
    place = ORDER.index(at) if at else len(ORDER)
    conditions = [condition(kind, "True", "Done", "", c.ago(hours=HOURS)) for kind in ORDER[:place]]
    if at:
        conditions += [condition(at, "False", *why, c.ago(hours=3)), condition("Ready", "False", why[0], "", c.ago(hours=3))]
    for one in conditions:
        one["observedGeneration"] = 1
    status: Object = {"phase": phase, "conditions": conditions, "model": {"endpointType": "Chat"}}
    if place > ORDER.index("Planned"):
        status["resolved"] = {"replanCount": 2}
    model = {"src": "HuggingFace", "ref": {"name": f"larkfield/{name}"}}
    return c.add(
        {
            "apiVersion": API, "kind": "InferenceService", "metadata": {"name": name, "namespace": namespace, "generation": 1},
            "spec": {"inferenceServiceClassName": klass, "model": model}, "status": status,
        },
        c.ago(hours=HOURS),
    )  # fmt: skip


def _replicas(c: Cluster, namespace: str, name: str, devices: list[str], *, fails: bool = False) -> None:
    """The StatefulSet of an order, a pod and a claim for each device; one without a device waits for it."""
    order = next(obj for obj in c.objects if obj["apiVersion"] == API and obj["metadata"]["name"] == name)
    container = {"name": "engine", "image": IMAGE}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    ready = sum(bool(device) for device in devices) if not fails else 0
    meta: Object = {
        "name": name,
        "namespace": namespace,
        "generation": 1,
        "labels": {"app": name},
        "ownerReferences": [owner_of(order)],
    }
    status: Object = {
        "observedGeneration": 1,
        "replicas": len(devices),
        "currentReplicas": len(devices),
        "updatedReplicas": len(devices),
    }
    status |= {"readyReplicas": ready, "availableReplicas": ready} if ready else {}
    workload = c.add(
        {
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta,
            "spec": {"replicas": len(devices), "serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}, "status": status,
        },
        c.ago(hours=HOURS),
    )  # fmt: skip
    _template(c, namespace, name)
    for number, device in enumerate(devices):
        born = c.ago(hours=HOURS) if device else c.ago(minutes=55)
        pod = c.pod(workload, str(number), device.partition("/")[0], created=born, status=_state(c, device, born, fails=fails))
        if fails:
            _crash(c, pod)
        _claim(c, pod, name, device)


def _state(c: Cluster, device: str, born: str, *, fails: bool) -> Object:
    if not device:
        words = "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 cannot allocate all claims. still not schedulable."
        return c.unschedulable(c.ago(minutes=55), words)
    if not fails:
        return c.running("engine", IMAGE, born)
    last = {
        "exitCode": 1,
        "reason": "Error",
        "startedAt": c.ago(minutes=5),
        "finishedAt": c.ago(minutes=4),
        "containerID": f"containerd://{digest('emb')}",
    }
    words = "back-off 5m0s restarting failed container=engine pod=embedder-0_team-search"
    return c.waiting("engine", IMAGE, c.ago(hours=3), "CrashLoopBackOff", words, restarts=11, last=last)


def _crash(c: Cluster, pod: Object) -> None:
    lines = [
        (c.ago(minutes=5), "INFO loading larkfield/embedder, 1 shard"),
        (c.ago(minutes=4), "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.50 GiB. GPU 0 has a total capacity of 79.11 GiB of which 4.02 GiB is free."),
    ]  # fmt: skip
    for source in ("previous", "current"):
        c.log(pod, "engine", source, lines)
    c.event(
        pod, "BackOff", "Back-off restarting failed container engine in pod embedder-0_team-search", first=c.ago(hours=3), last=c.ago(minutes=2), count=120,
        component="kubelet",
    )  # fmt: skip


def _template(c: Cluster, namespace: str, name: str) -> None:
    spec = {"spec": {"devices": {"requests": [_REQUEST]}}}
    c.add(
        {
            "apiVersion": DRA,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": f"{name}-gpu", "namespace": namespace},
            "spec": spec,
        },
        c.ago(hours=HOURS),
    )


def _claim(c: Cluster, pod: Object, name: str, device: str) -> None:
    """The claim of a pod from the template of its workload."""
    allocation: Object | None = None
    if device:
        node, _, gpu = device.partition("/")
        allocation = {"devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": node, "device": gpu}]}}
    claim(c, pod, f"{pod['metadata']['name']}-gpu", f"{name}-gpu", _REQUEST, allocation)


def _indexer(c: Cluster) -> None:
    """No order: a job of the search team that holds the fourth GPU."""
    image = f"{REGISTRY}/search/indexer:2.4"
    replica = c.deployment("team-search", "indexer", replicas=1, ready=1, image=image, since=c.ago(days=2))
    _template(c, "team-search", "indexer")
    pod = c.pod(replica, "q6w3n", "wren-gpu-04", created=c.ago(days=2), status=c.running("indexer", image, c.ago(days=2)))
    _claim(c, pod, "indexer", "wren-gpu-04/gpu-1")
