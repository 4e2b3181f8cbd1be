"""What the stories share."""

from __future__ import annotations

from cluster import Cluster, Object, owner_of

DRA = "resource.k8s.io/v1"


def condition(kind: str, status: str, reason: str, message: str, since: str) -> Object:
    """A condition; what is empty is left out."""
    words = {key: value for key, value in (("reason", reason), ("message", message)) if value}
    return {"type": kind, "status": status, **words, "lastTransitionTime": since}


def request(name: str, device_class: str, count: int) -> Object:
    """A request of a claim for so many devices of a class."""
    return {"name": name, "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}}


def claim(c: Cluster, pod: Object, name: str, template: str, wanted: Object, allocation: Object | None) -> None:
    """The claim that was made from a template for a pod, of one request; with an allocation it is reserved for the pod."""
    meta, ref = pod["metadata"], wanted["name"]
    pod["spec"]["resourceClaims"] = [{"name": ref, "resourceClaimTemplateName": template}]
    pod["status"]["resourceClaimStatuses"] = [{"name": ref, "resourceClaimName": name}]
    status: Object = {}
    if allocation:
        status = {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": meta["name"], "uid": meta["uid"]}]}
    c.add(
        {
            "apiVersion": DRA, "kind": "ResourceClaim",
            "metadata": {
                "name": name, "namespace": meta["namespace"], "ownerReferences": [owner_of(pod)],
                "annotations": {"resource.kubernetes.io/pod-claim-name": ref},
            },
            "spec": {"devices": {"requests": [wanted]}}, "status": status,
        },
        meta["creationTimestamp"],
    )  # fmt: skip
