"""A platform that serves models in two ways: InferenceServices of OME, and orders of the module ai-inference."""

from __future__ import annotations

from datetime import UTC, datetime

from cluster import REGISTRY, Cluster, Object, owner_of

from stories import inference_orders
from stories.parts import condition

OME, MANAGER = "ome.io/v1beta1", "ome-controller-manager"
PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
SPACE = "serving"
CORE = (
    ("", "v1", "ConfigMap", "configmaps", True), ("", "v1", "Event", "events", True), ("", "v1", "Namespace", "namespaces", False),
    ("", "v1", "Node", "nodes", False), ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True), ("", "v1", "Pod", "pods", True),
    ("", "v1", "Secret", "secrets", True), ("", "v1", "Service", "services", True), ("apps", "v1", "ControllerRevision", "controllerrevisions", True),
    ("apps", "v1", "DaemonSet", "daemonsets", True), ("apps", "v1", "Deployment", "deployments", True), ("apps", "v1", "ReplicaSet", "replicasets", True),
    ("apps", "v1", "StatefulSet", "statefulsets", True), ("batch", "v1", "Job", "jobs", True),
    ("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False),
    ("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    ("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    ("apiregistration.k8s.io", "v1", "APIService", "apiservices", False),
    ("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", False),
)  # fmt: skip
KINDS = (
    *CORE,
    ("ome.io", "v1beta1", "AcceleratorClass", "acceleratorclasses", False), ("ome.io", "v1beta1", "BaseModel", "basemodels", True),
    ("ome.io", "v1beta1", "ClusterBaseModel", "clusterbasemodels", False), ("ome.io", "v1beta1", "ServingRuntime", "servingruntimes", True),
    ("ome.io", "v1beta1", "ClusterServingRuntime", "clusterservingruntimes", False),
    ("ome.io", "v1beta1", "InferenceService", "inferenceservices", True), ("ome.io", "v1beta1", "InferenceReplica", "inferencereplicas", True),
    *inference_orders.KINDS,
)  # fmt: skip
"""What was collected: group, version, kind, plural, whether it is in namespaces."""


def story() -> Cluster:
    """Two nodes whose GPUs the device plugin gives out, for OME; two whose GPUs are given out by claims, for orders."""
    c = Cluster("inference-platform", datetime(2026, 11, 20, 10, 15, tzinfo=UTC))
    for name in ("default", "kube-system", "ome", SPACE, *inference_orders.NAMESPACES):
        c.namespace(name)
    c.node("wren-cp-1", roles=("control-plane",))
    for number in (1, 2):
        labels = c.node(f"wren-gpu-{number:02d}", gpus=8, mig=None, roles=("worker",))["metadata"]["labels"]
        labels |= {f"models.ome.io/clusterbasemodel.{model}": "Ready" for model in ("wren-8b", "wren-tagger")}
    for number in (3, 4):
        c.node(f"wren-gpu-{number:02d}", roles=("worker",))
    _control_plane(c)
    _catalogue(c)
    _services(c)
    inference_orders.orders(c)
    return c


def _control_plane(c: Cluster) -> None:
    image = f"{REGISTRY}/ome/manager:v1.3.0"
    manager = c.deployment("ome", MANAGER, replicas=1, ready=1, image=image, since=c.ago(days=30))
    manager["spec"]["template"]["spec"]["containers"][0]["name"] = "manager"
    pod = c.pod(manager, "r2d8k", "wren-cp-1", created=c.ago(days=30), status=c.running("manager", image, c.ago(days=30)))
    at = c.ago(minutes=4)
    words = 'accelerator class nvidia-h200 not found at cluster scope"}'
    c.log(
        pod, "manager", "current",
        [
            (c.ago(hours=3), 'INFO Selected runtime {"InferenceService": {"name":"assistant","namespace":"serving"}, "runtime": "vllm-wren", "score": 15}'),
            (at, f'ERROR Reconciler error {{"controller": "inferenceservice", "InferenceService": {{"name":"summarizer","namespace":"serving"}}, "error": "{words}'),
        ],
    )  # fmt: skip
    agent = c.daemonset("ome", "ome-model-agent", image=f"{REGISTRY}/ome/model-agent:v1.3.0", desired=2, ready=2)
    for suffix, node in (("4kq7z", "wren-gpu-01"), ("s8m2c", "wren-gpu-02")):
        status = c.running("ome-model-agent", f"{REGISTRY}/ome/model-agent:v1.3.0", c.ago(days=30))
        c.pod(agent, suffix, node, created=c.ago(days=30), status=status)


def _catalogue(c: Cluster) -> None:
    """A class, two models and the one runtime."""
    spec: Object = {
        "vendor": "nvidia",
        "family": "hopper",
        "model": "h100",
        "discovery": {"nodeSelector": PRODUCT},
        "capabilities": {"memoryGB": "80Gi"},
    }
    status: Object = {"nodes": ["wren-gpu-01", "wren-gpu-02"], "availableNodes": 2}
    c.add(
        {
            "apiVersion": OME,
            "kind": "AcceleratorClass",
            "metadata": {"name": "nvidia-h100", "generation": 1},
            "spec": spec,
            "status": status,
        },
        c.ago(days=60),
    )
    for name, form, size in (("wren-8b", "safetensors", "8B"), ("wren-tagger", "onnx", "300M")):
        c.add(
            {
                "apiVersion": OME, "kind": "ClusterBaseModel", "metadata": {"name": name, "generation": 1},
                "spec": {"modelFormat": {"name": form}, "modelParameterSize": size, "storage": {"storageUri": f"hf://larkfield/{name}", "path": f"/models/{name}"}},
                "status": {"state": "Ready", "nodesReady": ["wren-gpu-01", "wren-gpu-02"], "nodesFailed": []},
            },
            c.ago(days=45),
        )  # fmt: skip
    c.add(
        {
            "apiVersion": OME,
            "kind": "ClusterServingRuntime",
            "metadata": {"name": "vllm-wren", "generation": 3},
            "spec": _runtime("v0.11.2"),
            "status": {},
        },
        c.ago(days=45),
    )
    labels = {
        "runtime-of": "vllm-wren",
        "runtime-of-kind": "ClusterServingRuntime",
        "runtime-of-namespace": "",
        "revision-hash": "5c1e77a0",
    }
    meta: Object = {
        "name": "cr-vllm-wren-5c1e77a0", "namespace": "ome", "annotations": {"ome.io/created-by": "ome-controller"},
        "labels": {f"ome.io/{key}": value for key, value in labels.items()},
    }  # fmt: skip
    c.add(
        {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": meta, "revision": 1, "data": _runtime("v0.10.1")},
        c.ago(days=40),
    )


def _runtime(tag: str) -> Object:
    runner = {
        "name": "ome-container",
        "image": f"{REGISTRY}/vllm:{tag}",
        "resources": {"requests": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}},
    }
    return {
        "supportedModelFormats": [{"name": "safetensors", "modelFormat": {"name": "safetensors"}, "autoSelect": True, "priority": 1}],
        "modelSizeRange": {"min": "1B", "max": "13B"}, "acceleratorRequirements": {"acceleratorClasses": ["nvidia-h100"]},
        "engineConfig": {"runner": runner},
    }  # fmt: skip


def _services(c: Cluster) -> None:
    named = {"runtime": {"name": "vllm-wren", "kind": "ClusterServingRuntime"}}
    runtime = condition("RuntimeReady", "True", "RuntimeResolved", "", c.ago(days=12))
    well = [runtime, condition("EngineReady", "True", "", "", c.ago(days=12)), condition("Ready", "True", "", "", c.ago(days=12))]
    chosen = {"acceleratorSelector": {"acceleratorClass": "nvidia-h100"}}
    _serves(c, _service(c, "assistant", "wren-8b", well, named | chosen), "v0.11.2", "wren-gpu-01")
    drifted = condition(
        "RuntimeDrifted",
        "True",
        "RevisionMismatch",
        "live runtime vllm-wren has moved on from revision cr-vllm-wren-5c1e77a0",
        c.ago(days=9),
    )
    pinned = {"runtime": named["runtime"] | {"autoSync": False}}
    old = _service(c, "moderation", "wren-8b", [*well, drifted], pinned | chosen, pinnedRevisionName="cr-vllm-wren-5c1e77a0")
    _serves(c, old, "v0.10.1", "wren-gpu-02")
    stuck = [
        runtime,
        condition("EngineReady", "Unknown", "", "", c.ago(hours=5)),
        condition("Ready", "Unknown", "", "", c.ago(hours=5)),
    ]
    lost = _service(c, "summarizer", "wren-8b", stuck, named | {"acceleratorSelector": {"acceleratorClass": "nvidia-h200"}})
    c.event(
        lost, "AcceleratorClassError", "Failed to get accelerator class for engine (or decoder): accelerator class nvidia-h200 not found at cluster scope",
        first=c.ago(hours=5), last=c.ago(minutes=4), count=41, component="v1beta1Controllers",
    )  # fmt: skip
    words = "no runtime found to support model wren-tagger with format onnx in namespace serving. Checked 1 runtimes (0 namespace-scoped, 1 cluster-scoped)."
    none = [
        condition("RuntimeReady", "False", "RuntimeNotFound", words, c.ago(hours=2)),
        condition("Ready", "Unknown", "", "", c.ago(hours=2)),
    ]
    unserved = _service(c, "tagger", "wren-tagger", none, {})
    c.event(
        unserved, "RuntimeNotFound", words, first=c.ago(hours=2), last=c.ago(minutes=7), count=19, component="v1beta1Controllers"
    )


def _service(c: Cluster, name: str, model: str, conditions: list[Object], spec: Object, **status: str) -> Object:
    return c.add(
        {
            "apiVersion": OME, "kind": "InferenceService", "metadata": {"name": name, "namespace": SPACE, "generation": 3},
            "spec": {"model": {"name": model, "kind": "ClusterBaseModel"}, "engine": {"minReplicas": 1}} | spec,
            "status": {"observedGeneration": 3, "conditions": conditions, **status},
        },
        c.ago(days=12),
    )  # fmt: skip


def _serves(c: Cluster, service: Object, tag: str, node: str) -> None:
    """Its Deployment with one pod that serves."""
    name, image = f"{service['metadata']['name']}-engine", f"{REGISTRY}/vllm:{tag}"
    replica = c.deployment(SPACE, name, replicas=1, ready=1, image=image, since=c.ago(days=12))
    labels = {"ome.io/inferenceservice": service["metadata"]["name"], "component": "engine"}
    for obj in (c.objects[-2], replica):
        obj["metadata"]["labels"] = obj["metadata"]["labels"] | labels
        obj["spec"]["template"]["spec"]["containers"][0]["name"] = "ome-container"
    c.objects[-2]["metadata"]["ownerReferences"] = [owner_of(service)]
    status = c.running("ome-container", image, c.ago(days=12))
    pod = c.pod(replica, "x7v2p", node, created=c.ago(days=12), status=status, gpus=1)
    pod["spec"]["nodeSelector"] = PRODUCT | {"models.ome.io/clusterbasemodel.wren-8b": "Ready"}
