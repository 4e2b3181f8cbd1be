"""The scheduler's message about a pod that fits nowhere, taken apart.

Its grammar (kube-scheduler, FitError): `0/N nodes are available: [what failed before any node was tried. ]K REASON, K
REASON. [what preemption found]`. A node may count for several reasons, so that the counts may sum up to more than N.
Releases before 1.10 wrote `No nodes are available that match all of the predicates: REASON (K), …`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason: the nodes it rules out (None where no count is given), its kind, and the scheduler's words."""

    nodes: int | None
    cause: str
    text: str
    resource: str | None = None
    taint: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message: how many nodes the scheduler looked at (None where it does not say), and the causes in its order."""

    nodes_total: int | None
    causes: tuple[Cause, ...]


_LIMIT = 20_000
_HEAD = re.compile(r"\b(\d{1,9})/(\d{1,9}) nodes? (?:are|is) (?:un)?available\b\s*[:.]?\s*")
_VOLCANO_HEAD = re.compile(r"\ball nodes are unavailable\s*:\s*")
_OLD_HEAD = re.compile(r"No nodes are available that match all of the(?: following)? predicates\s*:+\s*")
_OLD_ITEM = re.compile(r"([^,()]{1,300}?)\s*\((\d{1,9})\)")
_TAIL = re.compile(
    r"[.,;]?\s*(?:\bpreemption:|\bstill not schedulable\b|\bno new claims to deallocate\b"
    r"|\bdeallocation of ResourceClaim completed\b"
    r"|\bplugin disabled\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(?:^|\.\s+)(?=\d{1,9} \S)")
_BETWEEN = re.compile(r",\s+(?=\d{1,9} \S)")
_ITEM = re.compile(r"(\d{1,9})\s+(.+)\Z", re.DOTALL)

_INSUFFICIENT = re.compile(r"Insufficient ([^\s,]+)")
_TAINT = re.compile(r"taints?\s*\{([^:}=]+)")
_DRA = (
    "cannot allocate all claims|resourceclaim|resource claim|device class|deviceclass|requested devices|claim limit"
    r"|invalid resource pools|resource pool|timed out trying to allocate devices|device binding|\bclaim .{0,200}binding"
    "|CEL (compile|runtime) error"
    r"|\bclaim .{0,200}(in the meantime)|\bclaim \S{1,600}, (?:sub)?request |unknown request type"
    r"|DRA\w+ feature is disabled|admin access is requested|asks for all devices"
)
_KINDS = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        ("insufficient", r"Insufficient \S"),
        ("taint", r"\btaints?\b|PodToleratesNodeTaints"),
        ("dra", _DRA),
        ("too-many-pods", r"too many pods"),
        ("cordoned", r"were unschedulable|NodeUnschedulable|was unschedulable"),
        ("gang", r"pod ?group|\bgang\b|minAvailable|queue resource quota|waiting for pods|minMember"),
        (
            "pvc",
            r"unbound (immediate )?PersistentVolumeClaims?|persistentvolumeclaim|ephemeral volume controller|unbound immediate",
        ),
        (
            "volume",
            (
                r"volume node affinity|PersistentVolume's node affinity|persistent ?volumes?|max volume count|free storage"
                r"|NoVolumeZoneConflict|NoDiskConflict|MaxVolumeCount|no available volume zone|disk conflict|CSINode|volume limit"
            ),
        ),
        ("spread", r"topology spread"),
        ("pod-affinity", r"pod (anti-?)?affinity|anti-affinity|MatchInterPodAffinity"),
        ("affinity", r"node affinity|node selector|affinity/selector|MatchNodeSelector|requested node name|HostName|node label"),
        ("ports", r"free ports|PodFitsHostPorts|host ?port"),
    )
)


def parse(message: str | None) -> Parsed:
    """The causes in a message of the scheduler (condition PodScheduled, event FailedScheduling).

    What preemption found is left out, since it is no cause. A message in no known form is one cause without a count.
    """
    words = " ".join((message or "")[:_LIMIT].split())
    if not words:
        return Parsed(None, ())
    if head := _OLD_HEAD.search(words):
        items = _OLD_ITEM.findall(words[head.end() :])
        return Parsed(None, tuple(_cause(text.strip(" ,."), int(count)) for text, count in items))
    head = _HEAD.search(words)
    total = int(head[2]) if head else None
    head = head or _VOLCANO_HEAD.search(words)
    body = words[head.end() :] if head else words
    tail = _TAIL.search(body)
    if tail:
        body = body[: tail.start()]
    return Parsed(total, tuple(_causes(body)))


def _causes(body: str) -> list[Cause]:
    """The causes of the part between the head and the tail."""
    counted = _COUNTED.search(body)
    before = body[: counted.start()] if counted else body
    causes = []
    if before.strip(" .,"):
        causes.append(_cause(before.strip(" .,"), None))
    if counted:
        for item in _BETWEEN.split(body[counted.end() :]):
            found = _ITEM.match(item.strip())
            if found:
                causes.append(_cause(found[2].strip(" .,"), int(found[1])))
    return causes


def _cause(text: str, nodes: int | None) -> Cause:
    kind = next((name for name, pattern in _KINDS if pattern.search(text)), "other")
    resource = _INSUFFICIENT.search(text) if kind == "insufficient" else None
    taint = _TAINT.search(text) if kind == "taint" else None
    return Cause(nodes, kind, text, resource[1].rstrip(".,") if resource else None, taint[1].strip() if taint else None)
