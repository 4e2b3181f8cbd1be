"""The phrases of scheduler and kubelet."""

from __future__ import annotations

import pytest

from analyzer.facts import scheduler_message
from analyzer.facts.dra import phrases

SCHEDULER = [
    ("0/3 nodes are available: 3 cannot allocate all claims.", "no-devices", None),
    ("0/3 nodes are available: 3 resourceclaim not available on the node.", "elsewhere", None),
    ("0/3 nodes are available: 3 resourceclaim in use.", "in-use", None),
    ('0/3 nodes are available: pod "optics/p": ResourceClaim not created yet.', "not-created", None),
    ('0/3 nodes are available: could not find ResourceClaim "optics/c".', "missing", "optics/c"),
    ('0/3 nodes are available: resourceclaim.resource.k8s.io "c" not found.', "missing", "c"),
    ('0/3 nodes are available: resourceclaim "c" is being deleted.', "deleting", "c"),
    ("0/3 nodes are available: ResourceClaim optics/c was not created for pod optics/p (pod is not owner).", "not-owned", None),
    ("0/3 nodes are available: request r: device class gpu.example does not exist.", "no-class", "gpu.example"),
    ("claim c: could not retrieve device class gpu.example: x", "no-class", None),
    ("claim c: CEL compile error: x", "selector", None),
    ("claim c: selector #0: CEL runtime error: no such key", "selector", None),
    ("resource claim c is in the process of being allocated", "passing", None),
    ("request r has subrequests, but the DRAPrioritizedList feature is disabled", "feature", None),
    ("admin access is requested, but the feature is disabled", "feature", None),
    ("request r asks for all devices, but resource pool p1 is currently being updated", "pool-updating", "p1"),
    ("request r asks for all devices, but resource pool p1 is currently invalid", "pool-invalid", None),
    ("invalid resource pools were encountered", "pool-invalid", None),
    ("number of requested devices 40 exceeds the claim limit of 32", "too-many", None),
    ("claim optics/c, request r: exact count 99999999999 is too large", "too-many", None),
    ("claim optics/c, request r: unknown request type", "request-type", None),
    ("timed out trying to allocate devices", "slow", None),
    ("claim c binding failed: reason=x, message=y", "binding", None),
    ("device binding timeout", "binding", None),
    ("claim c got deleted in the meantime", "passing", None),
]
KUBELET = [
    ("DRA driver gpu.example is not registered", "not-registered", "gpu.example"),
    ("plugin name gpu.example not found in the list of registered DRA plugins", "not-registered", "gpu.example"),
    ("driver name gpu.example not found in the list of registered DRA plugins", "not-registered", "gpu.example"),
    ("the server could not find the requested resource", "old-kubelet", None),
    (
        "NodePrepareResources failed: error creating GPU instance for '1g.20gb': Insufficient Resources",
        "no-room",
        None,
    ),
    ('NodePrepareResources failed: allocatable not found for device "gpu-3"', "stale-device", None),
    ("checkpoint failed checksum verification", "checkpoint", None),
    ("ensureNVML failed: x", "gpu-driver", None),
    ("error asserting ComputeDomain's namespace", "compute-domain", None),
    ("NodePrepareResources failed for claim c: x", "driver", None),
]


@pytest.mark.parametrize(("message", "reason", "name"), SCHEDULER)
def test_scheduler(message: str, reason: str, name: str | None) -> None:
    (cause,) = scheduler_message.parse(message).causes
    assert cause.cause == "dra"
    found = phrases.scheduler(cause.text)
    assert found
    assert (found[0].reason, found[1]) == (reason, name)


@pytest.mark.parametrize(("message", "reason", "name"), KUBELET)
def test_kubelet(message: str, reason: str, name: str | None) -> None:
    found = phrases.kubelet(f"Failed to prepare dynamic resources: {message}")
    assert found
    assert (found[0].reason, found[1]) == (reason, name)


def test_other_words() -> None:
    assert phrases.scheduler("Insufficient cpu") is None
    assert phrases.kubelet("something else") is None


def test_long_messages_take_no_long_time() -> None:
    text = "resource pool " * 200_000
    assert phrases.scheduler(text) is None
    assert phrases.kubelet("error creating GPU instance " * 200_000) is None
