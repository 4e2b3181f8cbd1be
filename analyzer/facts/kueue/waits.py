"""Why a Workload waits, by reason and message of its condition QuotaReserved, for Kueue 0.6 to 0.20.

Kueue before 0.19 writes the reason `Pending` for most causes, misconfiguration too, so there only the message tells; from
0.19 on the reason is the verdict and the message may hold texts of other flavors that were tried. Sources of the texts:
Kueue's scheduler, flavor assigner, TAS snapshot and workload controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

MAX_MESSAGE = 40_000
"""Longest message that is read; a condition's holds 32 KiB at most."""
MAX_PARTS = 200
"""Parts of one message that are kept."""

NEVER, QUOTA, TOPOLOGY, MISCONFIGURED = "never-fits", "quota", "topology", "misconfigured"
QUEUE, CHECK, GATED, HELD, PODS_READY = "queue", "check", "gated", "held", "pods-ready"
EVALUATION, SIBLING, CONTROLLER, DEACTIVATED, UNKNOWN, NONE = (
    "evaluation",
    "sibling",
    "controller",
    "deactivated",
    "unknown",
    "none",
)
CAUSES = {
    NEVER: "can never fit",
    QUOTA: "quota that others hold",
    TOPOLOGY: "topology",
    MISCONFIGURED: "misconfigured",
    QUEUE: "queue stopped or inactive",
    CHECK: "admission checks",
    GATED: "gated",
    HELD: "held on purpose",
    PODS_READY: "pods of others are not ready",
    EVALUATION: "being evaluated again",
    SIBLING: "as an equal one",
    CONTROLLER: "an error of Kueue",
    DEACTIVATED: "deactivated",
    UNKNOWN: "a cause that is not known",
    NONE: "not looked at yet",
}
"""Why Workloads wait, in words that stand beside any number of them."""

_REASONS = {
    "Waiting": PODS_READY,
    "WaitingForPodsReady": PODS_READY,
    "PendingEvaluation": EVALUATION,
    "WaitingForQuota": QUOTA,
    "WaitingForPreemptedWorkloads": QUOTA,
    "ExceedsMaxQuota": NEVER,
    "NoMatchingFlavor": MISCONFIGURED,
    "TopologyPlacementFailed": TOPOLOGY,
    "Misconfigured": MISCONFIGURED,
    "Suspended": QUEUE,
    "AdmissionGated": GATED,
    "Deactivated": DEACTIVATED,
    "OnHold": HELD,
}
"""Reasons that are a verdict of their own. `Pending` is none, `Inadmissible` is told apart by its message."""

_SEVERITY = {QUOTA: 0, TOPOLOGY: 1, NEVER: 2, MISCONFIGURED: 3}
"""Of alternatives the least severe counts, of what is needed together the most severe."""

_NAME = r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?"
_RESOURCE = r"[A-Za-z0-9][-A-Za-z0-9._/]{0,316}"
_AMOUNT = r"-?[0-9][0-9A-Za-z.+-]{0,40}"
_POD_SET = re.compile(r"(?:couldn't|failed to) assign flavors to pod set ([^:;]{1,300}): ")

_FOR = rf"for (?P<resource>{_RESOURCE}) in flavor (?P<flavor>{_NAME})"
_IN_ALL = (
    rf", previously considered podsets requests \((?P<before>{_AMOUNT})\) \+ current podset request \((?P<asked>{_AMOUNT})\)"
    rf" > maximum capacity \((?P<limit>{_AMOUNT})\)"
)
_ALONE = rf", request > maximum capacity \((?P<asked>{_AMOUNT}) > (?P<limit>{_AMOUNT})\)"
_MORE = rf", (?P<more>{_AMOUNT}) more needed"
_TAS = (
    "(?:does not support TopologyAwareScheduling|supports only TopologyAwareScheduling|information missing in TAS cache"
    "|does not contain the requested level)"
)
_PLACES = (
    r"(?:doesn't allow to fit any of (?P<asked>-?[0-9]{1,20})"
    r"|allows to fit only (?P<limit>-?[0-9]{1,20}) out of (?P<asked2>-?[0-9]{1,20})) (?:pod|slice)"
)

_PARTS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (cause, detail, re.compile(pattern))
    for cause, detail, pattern in (
        (NEVER, "max-capacity", f"insufficient quota {_FOR}{_IN_ALL}"),
        (NEVER, "max-capacity", f"insufficient quota {_FOR}{_ALONE}"),
        (NEVER, "max-capacity", f"insufficient quota {_FOR} in ClusterQueue"),
        (QUOTA, "quota", f"insufficient unused quota {_FOR}{_MORE}"),
        (QUOTA, "cohort-quota", f"insufficient unused quota in cohort {_FOR}{_MORE}"),
        (QUOTA, "borrowing-limit", f"borrowing limit {_FOR} exceeded"),
        (QUOTA, "slice", rf"could not assign (?P<flavor>{_NAME}) flavor since the original workload is assigned: "),
        (MISCONFIGURED, "resource-not-covered", rf"resource (?P<resource>{_RESOURCE}) unavailable in ClusterQueue"),
        (MISCONFIGURED, "flavor-missing", rf"flavor (?P<flavor>{_NAME}) not found"),
        (MISCONFIGURED, "taint", rf"untolerated taint (?P<taint>\{{[^}}]{{0,1000}}\}}) in flavor (?P<flavor>{_NAME})"),
        (MISCONFIGURED, "affinity", rf"flavor (?P<flavor>{_NAME}) doesn't match node affinity"),
        (MISCONFIGURED, "topology-mismatch", rf"Flavor \"(?P<flavor>{_NAME})\" {_TAS}"),
        (MISCONFIGURED, "topology-level", r"no (?:topology domains at|requested topology) level: (?P<level>[^\s,;]{1,317})"),
        (TOPOLOGY, "topology", rf"topology \"(?P<topology>[^\"\n]{{1,253}})\" {_PLACES}"),
    )
)

_QUEUE_WORDS = re.compile(
    r"\b(?P<kind>LocalQueue|ClusterQueue) (?P<name>[^\s]{1,253}) "
    r"(?P<how>doesn't exist|not found|is terminating or missing|is inactive|is stopped)",
    re.IGNORECASE,
)

_BYPASSED = re.compile(r"bypassed scheduling evaluation because an equivalent workload recently failed", re.IGNORECASE)

_EVICTED = (
    "preempted to accommodate a workload|exceeded the PodsReady timeout|evicted due to admissioncheck"
    "|at least one admission check is false|previously: "
)

_WHOLE: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (cause, detail, re.compile(pattern, re.IGNORECASE))
    for cause, detail, pattern in (
        (CHECK, "checks", r"the workload has failed admission checks"),
        (MISCONFIGURED, "namespace", r"workload namespace doesn't match ClusterQueue selector"),
        (MISCONFIGURED, "validation", r"resources validation failed: "),
        (MISCONFIGURED, "limit-range", r"resources didn't satisfy LimitRange constraints"),
        (MISCONFIGURED, "dra", r"workload uses DRA resources but|does not support use of resource claims"),
        (QUOTA, "race", r"workload no longer fits after processing another workload"),
        (QUOTA, "race", r"workload has overlapping preemption targets with another workload"),
        (QUOTA, "race", r"other workloads in the cohort were prioritized"),
        (SIBLING, "sibling", _BYPASSED.pattern),
        (GATED, "preemption-gate", r"workload requires preemption, but it's gated"),
        (GATED, "gate", r"admission is gated by: "),
        (PODS_READY, "pods-ready", r"waiting for all admitted workloads to be in PodsReady condition"),
        (CONTROLLER, "api-error", r"failed to admit workload: "),
        (DEACTIVATED, "deactivated", r"^the workload is deactivated"),
        (EVALUATION, "eviction", rf"^(?:{_EVICTED})"),
    )
)

_PREEMPTING = re.compile(r"Pending the preemption of ([0-9]{1,9}) workload")


@dataclass(frozen=True, slots=True)
class Part:
    """One cause in a message, as Kueue wrote it.

    Attributes:
        pod_set: the pod set that the text is about, None where the message names none.
        cause: never-fits, quota, topology or misconfigured.
        detail: the finer cause.
        text: Kueue's words.
        resource: the resource, None where it is about none.
        flavor: the ResourceFlavor, None where it is about none.
        more: how much more is needed.
        asked: how much the pod set asks for.
        before: how much other pod sets of the Workload take of it.
        limit: the maximum capacity.
        place: the taint, topology or level it names.
    """

    pod_set: str | None
    cause: str
    detail: str
    text: str
    resource: str | None = None
    flavor: str | None = None
    more: str | None = None
    asked: str | None = None
    before: str | None = None
    limit: str | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Why it waits.

    Attributes:
        cause: never-fits, quota, topology, misconfigured, queue, check, gated, held, pods-ready, evaluation, sibling,
            controller, deactivated, unknown (a text that is not known) or none (no condition).
        detail: the finer cause, empty where there is none.
        parts: the causes that the message lists.
        queue_kind: LocalQueue or ClusterQueue where the message is about one, else None.
        queue_name: its name.
        queue_how: missing, inactive or stopped.
        preempting: how many Workloads it waits to see preempted.
        bypassed: Kueue did not look at it, because an equal Workload had just failed.
    """

    cause: str
    detail: str = ""
    parts: tuple[Part, ...] = ()
    queue_kind: str | None = None
    queue_name: str | None = None
    queue_how: str | None = None
    preempting: int | None = None
    bypassed: bool = False


@lru_cache(maxsize=20_000)
def classify(reason: str | None, message: str | None) -> Wait:
    """Why a Workload waits.

    Args:
        reason: reason of its condition QuotaReserved where that is False; None where there is no such condition.
        message: its message.

    Returns:
        The cause; a text that is not known is `unknown`, never an error.
    """
    if reason is None and not message:
        return Wait(NONE)
    text = (message or "")[:MAX_MESSAGE]
    found = tuple(parts(text))
    queue = _QUEUE_WORDS.search(text)
    cause, detail = _by_message(text, found, queue)
    verdict = _REASONS.get(reason or "")
    if verdict == EVALUATION and cause == SIBLING:
        verdict = None
    if reason == "Inadmissible" and cause not in (QUEUE, MISCONFIGURED, NEVER):
        verdict = MISCONFIGURED
    if verdict == MISCONFIGURED and cause == QUEUE:
        # 0.19 says Misconfigured of a queue that is missing, Suspended of one that is stopped or inactive.
        verdict = None if queue and _how(queue) == "missing" else QUEUE
    if verdict is not None and verdict != cause:
        # The reason decides; the message only says more about it.
        same = next((part.detail for part in found if part.cause == verdict), "")
        cause, detail = verdict, same or (detail if verdict in (MISCONFIGURED, QUEUE) and cause == UNKNOWN else "")
    preempting = _PREEMPTING.search(text)
    if cause == QUOTA and (preempting or reason == "WaitingForPreemptedWorkloads"):
        detail = "preemption"
    if queue is None or cause not in (QUEUE, MISCONFIGURED):
        many = int(preempting[1]) if preempting else None
        return Wait(cause, detail, found, preempting=many, bypassed=bool(_BYPASSED.search(text)))
    kind = "LocalQueue" if queue["kind"].lower() == "localqueue" else "ClusterQueue"
    return Wait(cause, detail, found, kind, queue["name"].strip("\"'"), _how(queue))


def parts(message: str) -> Iterable[Part]:
    """The causes that a message lists, in its order, at most `MAX_PARTS`."""
    heads = list(_POD_SET.finditer(message))
    ends = [*(head.start() for head in heads), len(message)]
    spans: list[tuple[str | None, int, int]] = [(None, 0, ends[0])]
    spans += [(head[1].strip(), head.end(), end) for head, end in zip(heads, ends[1:], strict=True)]
    count = 0
    for pod_set, start, end in spans:
        matches = [
            (match.start(), cause, detail, match)
            for cause, detail, pattern in _PARTS
            for match in pattern.finditer(message, start, end)
        ]
        for _, cause, detail, match in sorted(matches, key=lambda item: item[0]):
            count += 1
            if count > MAX_PARTS:
                return
            yield _part(pod_set, cause, detail, match)


def _part(pod_set: str | None, cause: str, detail: str, match: re.Match[str]) -> Part:
    said = match.groupdict()
    return Part(
        pod_set,
        cause,
        detail,
        match[0],
        said.get("resource"),
        said.get("flavor"),
        said.get("more"),
        said.get("asked") or said.get("asked2"),
        said.get("before"),
        said.get("limit"),
        said.get("taint") or said.get("topology") or said.get("level"),
    )


def _by_message(text: str, found: tuple[Part, ...], queue: re.Match[str] | None) -> tuple[str, str]:
    if found:
        cause = _combined(found)
        return cause, next(part.detail for part in found if part.cause == cause)
    for cause, detail, pattern in _WHOLE:
        if pattern.search(text):
            return cause, detail
    if queue:
        kind = queue["kind"].lower()
        return QUEUE if _how(queue) != "missing" else MISCONFIGURED, f"{kind}-{_how(queue)}"
    return UNKNOWN, ""


def _combined(found: tuple[Part, ...]) -> str:
    """The cause of several parts: flavors are alternatives, what one flavor lacks and the pod sets are not.

    A topology cause beside a quota cause counts as topology: quota that gets free would not be enough.
    """
    pod_sets: dict[str | None, dict[str, str]] = {}
    for part in found:
        # A resource that no flavor covers fails whatever flavor is tried.
        if part.detail == "resource-not-covered":
            return MISCONFIGURED
        flavors = pod_sets.setdefault(part.pod_set, {})
        tried = part.flavor or f"{part.detail} {part.place}"
        flavors[tried] = max(flavors.get(tried, part.cause), part.cause, key=_SEVERITY.__getitem__)
    least = [min(flavors.values(), key=_SEVERITY.__getitem__) for flavors in pod_sets.values()]
    verdict = max(least, key=_SEVERITY.__getitem__)
    if verdict == QUOTA and any(part.cause == TOPOLOGY for part in found):
        return TOPOLOGY
    return verdict


def _how(queue: re.Match[str]) -> str:
    how = queue["how"].lower()
    return "stopped" if "stopped" in how else "inactive" if "inactive" in how else "missing"
