"""What the scheduler and the kubelet say about claims and devices, phrase by phrase, and what it means.

The phrases are those of kube-scheduler's plugin for dynamic resources and its allocator (1.32 to 1.37), of the kubelet's manager
of dynamic resources, and of NVIDIA's DRA driver.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LIMIT = 20_000
"""Characters of a message that are looked at."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase: its name, how it is found (a group `name` is the object it names), what it means, what to do."""

    reason: str
    pattern: re.Pattern[str]
    words: str
    remedy: str = ""


def _phrase(reason: str, pattern: str, words: str, remedy: str = "") -> Phrase:
    return Phrase(reason, re.compile(pattern, re.IGNORECASE), words, remedy)


_Q = r"[\"'`]?(?P<name>[\w./:-]{1,300}?)[\"'`]?"

SCHEDULER: tuple[Phrase, ...] = (
    _phrase("no-class", rf"device class {_Q} does not exist", "the DeviceClass that a request names does not exist"),
    _phrase("no-class", r"could not retrieve device class", "the DeviceClass that a request names could not be read"),
    _phrase("selector", r"CEL (?:compile|runtime) error", "a CEL selector of a request or a DeviceClass does not work"),
    _phrase("not-created", r"ResourceClaim not created yet", "a claim is not made yet from its template"),
    _phrase("missing", rf"could not find ResourceClaim {_Q}(?:$|[\s,.;)])", "a claim that it needs does not exist"),
    _phrase("missing", rf"resourceclaim\.resource\.k8s\.io {_Q} not found", "a claim that it needs does not exist"),
    _phrase("deleting", rf"resourceclaim {_Q} is being deleted", "a claim that it needs is being deleted"),
    _phrase("not-owned", r"was not created for pod", "a claim of that name exists and was made for another pod"),
    _phrase(
        "binding", r"claim \S+ binding (?:failed|timeout)|device binding timeout", "the driver did not make the device ready"
    ),
    _phrase("elsewhere", r"resourceclaim not available on the node", "a claim that it needs is allocated on another node"),
    _phrase("in-use", r"resourceclaim in use", "a claim that it needs is in use, and cannot be shared further"),
    _phrase("pool-updating", rf"resource pool {_Q} is currently being updated", "a pool of devices is being replaced"),
    _phrase(
        "pool-invalid", r"resource pool \S+ is currently invalid|invalid resource pools", "a pool of devices contradicts itself"
    ),
    _phrase("feature", r"(?:DRA\w+|the) feature is disabled", "the request needs a feature gate that is off"),
    _phrase("too-many", r"exceeds the claim limit|exact count \d+ is too large", "the claim asks for more devices than one may"),
    _phrase(
        "request-type", r"unknown request type", "the request names neither a class nor alternatives that the scheduler knows"
    ),
    _phrase("slow", r"timed out trying to allocate devices", "the search for devices took longer than the scheduler allows"),
    _phrase("passing", r"in the process of being allocated|in the meantime", "the claim is being worked on; it is tried again"),
    _phrase("no-devices", r"cannot allocate all claims", "no devices that fit are free there"),
)

KUBELET: tuple[Phrase, ...] = (
    _phrase(
        "not-registered",
        r"DRA (?:driver|plugin) (?:name )?(?P<name>[\w.-]{1,253}) (?:is )?not (?:registered|found)"
        r"|(?:driver|plugin) name (?P<name2>[\w.-]{1,253}) not found in the list of registered|not registered",
        "the node has no such DRA driver running",
        "See whether the driver's kubelet plugin runs on that node, and read its log; it registers when it starts",
    ),
    _phrase(
        "old-kubelet",
        r"the server could not find the requested resource",
        "the kubelet asks for another version of the API than the cluster serves",
        "Compare the version of the kubelet with that of the control plane; upgrade the node",
    ),
    _phrase(
        "no-room",
        r"error creating GPU instance .{0,80}Insufficient Resources|Insufficient Resources",
        "the GPU has no room left for the MIG device that was allocated",
        "Delete the pod so that it is allocated anew; look for MIG devices left behind (nvidia-smi mig -lgi), update the driver",
    ),
    _phrase(
        "stale-device",
        r"allocatable not found for device|requested device is not allocatable|unresolvable CDI devices",
        "the device that was allocated is no longer what the node has",
        "Restart the driver's kubelet plugin on the node so that it publishes its devices anew, then delete the pod",
    ),
    _phrase(
        "checkpoint",
        r"checkpoint failed checksum|checkpoint.{0,40}corrupt",
        "the driver's checkpoint on the node is damaged",
        "Remove the checkpoint file of the driver on the node and restart its kubelet plugin",
    ),
    _phrase(
        "gpu-driver",
        r"ensureNVML failed|failed to locate driver libraries|failed to locate nvidia-smi|error initializing NVML",
        "the DRA driver does not find a working NVIDIA driver on the node",
        "Look at the NVIDIA driver on the node, and at the DRA driver's setting of its root",
    ),
    _phrase(
        "compute-domain",
        r"ComputeDomain's namespace|unexpected number of unique CliqueIDs|imex\.mode=hostManaged",
        "the ComputeDomain does not fit this pod or node",
        "Compare the pod's namespace with that of its ComputeDomain, and the nodes' nvidia.com/gpu.clique",
    ),
    _phrase(
        "driver",
        r"NodePrepareResources failed|NodeUnprepareResources failed|unable to prepare claim|prepare devices failed",
        "the DRA driver on the node refused",
        "Read the log of the driver's kubelet plugin on that node",
    ),
)


def scheduler(text: str) -> tuple[Phrase, str | None] | None:
    """The phrase in a cause of the scheduler, and the name in it; None where there is none."""
    return _first(SCHEDULER, text)


def kubelet(text: str) -> tuple[Phrase, str | None] | None:
    """The phrase in a message of the kubelet, and the name in it; None where there is none."""
    return _first(KUBELET, text)


def _first(phrases: tuple[Phrase, ...], text: str) -> tuple[Phrase, str | None] | None:
    words = text[:LIMIT]
    for phrase in phrases:
        found = phrase.pattern.search(words)
        if found:
            names = [value for key, value in found.groupdict().items() if key.startswith("name") and value]
            return phrase, (names[0] if names else None)
    return None
