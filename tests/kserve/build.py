"""Objects of KServe for tests."""

from __future__ import annotations

from typing import Any

V1BETA1, V1ALPHA1, V1ALPHA2 = (f"serving.kserve.io/{version}" for version in ("v1beta1", "v1alpha1", "v1alpha2"))
ALL = [("serving.kserve.io", kind) for kind in ("InferenceService", "ServingRuntime", "ClusterServingRuntime")]


def thing(api: str, kind: str, name: str, namespace: str = "wood", **more: Any) -> dict[str, Any]:
    """An object."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | more.pop("metadata", {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def service(name: str, predictor: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    """An InferenceService."""
    spec = {"predictor": {"containers": []} if predictor is None else predictor}
    more = {} if status is None else {"status": status}
    return thing(V1BETA1, "InferenceService", name, metadata=metadata, spec=spec, **more)


def condition(kind: str, status: str, reason: str = "", message: str = "", at: str = "2026-11-01T11:00:00Z") -> dict[str, Any]:
    """A condition."""
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def told(*conditions: dict[str, Any], transition: str = "", target: str = "", failure: Any = None, **more: Any) -> dict[str, Any]:
    """A status."""
    model: dict[str, Any] = {"transitionStatus": transition, "states": {"targetModelState": target}}
    if failure is not None:
        model["lastFailureInfo"] = failure
    return {"conditions": list(conditions), "modelStatus": model} | more
