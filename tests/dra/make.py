"""Objects of Dynamic Resource Allocation for tests."""

from __future__ import annotations

from typing import Any

DRIVER = "lens.example"


def slice_(name: str, *devices: dict[str, Any], generation: int = 1, count: int = 1, **spec: Any) -> dict[str, Any]:
    pool = {"name": spec.pop("pool", "n1"), "generation": generation, "resourceSliceCount": count}
    where = {} if spec.keys() & {"allNodes", "nodeSelector", "perDeviceNodeSelection"} else {"nodeName": "n1"}
    whole = {"driver": DRIVER, "pool": pool, "devices": list(devices)} | where | spec
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": whole}


def result(device: str, **more: Any) -> dict[str, Any]:
    return {"request": "r", "driver": DRIVER, "pool": "n1", "device": device} | more


def claim(name: str, *results: dict[str, Any], spec: Any = None, **status: Any) -> dict[str, Any]:
    allocated = {"allocation": {"devices": {"results": list(results)}}} if results else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "optics", "uid": f"uid-{name}"},
        "spec": spec or {},
        "status": allocated | status,
    }


def node(name: str = "n1", **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {}}
