"""KServe in the cluster of queues: a model that cannot be downloaded, one that no runtime fits, one that serves."""

from __future__ import annotations

from cluster import REGISTRY, Cluster, Object, owner_of

from stories.parts import condition

API = "serving.kserve.io"
SPACE = "serving"
VLLM = f"{REGISTRY}/serving/vllm-openai:0.11.2"
LOADER = f"{REGISTRY}/kserve/storage-initializer:v0.16.0"


def models(c: Cluster) -> None:
    """Three InferenceServices and the runtimes of the cluster."""
    image = f"{REGISTRY}/kserve/kserve-controller:v0.16.0"
    manager = c.deployment("kserve", "kserve-controller-manager", replicas=1, ready=1, image=image, since=c.ago(days=30))
    c.pod(
        manager,
        "q7v2d",
        "heron-cp-2",
        created=c.ago(days=30),
        status=c.running("kserve-controller-manager", image, c.ago(days=30)),
    )
    _runtime(c, "vllm-openai", [{"name": "huggingface", "version": "1", "autoSelect": True, "priority": 1}], ["v2", "v1"], VLLM)
    formats = [{"name": "sklearn", "version": "1", "autoSelect": True, "priority": 1}]
    _runtime(c, "mlserver", formats, ["v2"], f"{REGISTRY}/serving/mlserver:1.6.1")
    _serves(c)
    _cannot_download(c)
    _fits_none(c)


def _runtime(c: Cluster, name: str, formats: list[Object], protocols: list[str], image: str) -> None:
    c.add(
        {
            "apiVersion": f"{API}/v1alpha1", "kind": "ClusterServingRuntime", "metadata": {"name": name},
            "spec": {
                "supportedModelFormats": formats, "protocolVersions": protocols, "multiModel": False,
                "containers": [{"name": "kserve-container", "image": image}],
            },
        },
        c.ago(days=30),
    )  # fmt: skip


def _service(c: Cluster, name: str, model: Object, status: Object, created: str) -> Object:
    return c.add(
        {
            "apiVersion": f"{API}/v1beta1", "kind": "InferenceService",
            "metadata": {
                "name": name, "namespace": SPACE, "generation": 1, "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
            },
            "spec": {"predictor": {"minReplicas": 1, "model": model}},
            "status": {"observedGeneration": 1, "deploymentMode": "Standard", **status},
        },
        created,
    )  # fmt: skip


def _predictor(c: Cluster, service: Object, image: str, *, ready: int, since: str) -> Object:
    """The Deployment that KServe makes for a service; its ReplicaSet is returned."""
    made = c.deployment(SPACE, f"{service['metadata']['name']}-predictor", replicas=1, ready=ready, image=image, since=since)
    labels = {"serving.kserve.io/inferenceservice": service["metadata"]["name"], "component": "predictor"}
    for obj in c.objects[-2:]:
        obj["metadata"]["labels"] |= labels
        obj["spec"]["template"]["metadata"]["labels"] |= labels
        obj["spec"]["template"]["spec"]["containers"][0]["name"] = "kserve-container"
    c.objects[-2]["metadata"]["ownerReferences"] = [owner_of(service)]
    return made


def _serves(c: Cluster) -> None:
    begun = c.ago(days=12)
    conditions = [condition(kind, "True", "", "", begun) for kind in ("IngressReady", "PredictorReady", "Ready")]
    states = {"activeModelState": "Loaded", "targetModelState": "Loaded"}
    service = _service(
        c,
        "translate-3b",
        {"modelFormat": {"name": "huggingface"}, "storageUri": "pvc://models/translate-3b"},
        {
            "conditions": conditions,
            "modelStatus": {"transitionStatus": "UpToDate", "states": states, "copies": {"totalCopies": 1, "failedCopies": 0}},
            "clusterServingRuntimeName": "vllm-openai",
        },
        begun,
    )
    made = _predictor(c, service, VLLM, ready=1, since=begun)
    c.pod(made, "8hn5c", "heron-gpu-06", created=begun, gpus=1, status=c.running("kserve-container", VLLM, begun))


def _cannot_download(c: Cluster) -> None:
    created, since = c.ago(minutes=52), c.ago(minutes=51)
    words = "401 Client Error: Unauthorized. Access to model heronlab/chat-70b is restricted. Please log in."
    info = {"reason": "ModelLoadFailed", "message": words, "exitCode": 1, "location": "chat-70b-predictor", "time": since}
    conditions = [
        condition("IngressReady", "False", "Predictor ingress not created", "", since),
        condition(
            "PredictorReady", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", since
        ),
        condition("Ready", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", since),
    ]
    service = _service(
        c,
        "chat-70b",
        {"modelFormat": {"name": "huggingface"}, "runtime": "vllm-openai", "storageUri": "hf://heronlab/chat-70b"},
        {
            "conditions": conditions,
            "modelStatus": {
                "transitionStatus": "BlockedByFailedLoad",
                "states": {"activeModelState": "", "targetModelState": "FailedToLoad"},
                "lastFailureInfo": info,
                "copies": {"totalCopies": 0, "failedCopies": 1},
            },
            "clusterServingRuntimeName": "vllm-openai",
        },
        created,
    )
    made = _predictor(c, service, VLLM, ready=0, since=since)
    end = {"exitCode": 1, "reason": "Error", "message": words, "startedAt": c.ago(minutes=3), "finishedAt": c.ago(minutes=3)}
    loader = {
        "name": "storage-initializer", "image": LOADER, "imageID": LOADER, "ready": False, "started": False, "restartCount": 14,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=storage-initializer"}},
        "lastState": {"terminated": end},
    }  # fmt: skip
    status = c.waiting("kserve-container", VLLM, since, "PodInitializing", "")
    status["initContainerStatuses"] = [loader]
    status["conditions"][1] = {
        "type": "Initialized", "status": "False", "reason": "ContainersNotInitialized",
        "message": "containers with incomplete status: [storage-initializer]", "lastTransitionTime": since,
    }  # fmt: skip
    pod = c.pod(made, "m4c9w", "heron-gpu-06", created=since, gpus=4, status=status)
    pod["spec"]["initContainers"] = [
        {"name": "storage-initializer", "image": LOADER, "args": ["hf://heronlab/chat-70b", "/mnt/models"]}
    ]
    c.log(pod, "storage-initializer", "previous", [
        (c.ago(minutes=3), "INFO:root:Initializing, args: src_uri [hf://heronlab/chat-70b] dest_path[ [/mnt/models]"),
        (c.ago(minutes=3), f"huggingface_hub.errors.GatedRepoError: {words}"),
    ])  # fmt: skip


def _fits_none(c: Cluster) -> None:
    created = c.ago(hours=2, minutes=20)
    words = "No runtime found to support specified framework/version"
    _service(
        c,
        "churn-score",
        {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://heron-models/churn/7"},
        {
            "modelStatus": {
                "transitionStatus": "InvalidSpec",
                "states": {"activeModelState": "", "targetModelState": "FailedToLoad"},
                "lastFailureInfo": {"reason": "NoSupportingRuntime", "message": words, "time": created},
                "copies": {"totalCopies": 0, "failedCopies": 0},
            }
        },
        created,
    )
