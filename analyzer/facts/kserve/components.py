"""Components of an InferenceService with their revisions, how traffic is split, and a new version that does not come up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.facts.kserve.base import bare_uri
from analyzer.facts.kserve.services import COMPONENTS, Service
from analyzer.facts.values import flag, mapping, mappings, number, text

MAX_TRAFFIC = 100
"""Targets of traffic of one component that are read."""

_CONFIGURED = {
    "predictor": ("PredictorConfigurationReady",),
    "transformer": ("TransformerConfigurationReady", "TransformerConfigurationeReady"),
    "explainer": ("ExplainerConfigurationReady",),
}


@dataclass(frozen=True, slots=True)
class Blocked:
    """A new version that does not come up while the old one serves."""

    words: str
    message: str | None
    path: str
    since: datetime | None


def rows(one: Service, pods: dict[tuple[int, str], tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """Rows of `kserve_components`. `pods`: (service, component) → how many pods, how many of them ready."""
    status = mapping(one.status.get("components"))
    for name in COMPONENTS:
        said = mapping(status.get(name))
        if name not in one.spec and name not in status:
            continue
        condition = one.conditions.get(f"{name.capitalize()}Ready")
        count, ready = pods.get((one.item.object_id, name), (0, 0))
        yield {
            "object_id": one.item.object_id,
            "component": name,
            "ready": condition.status if condition else None,
            "reason": condition.reason if condition else None,
            "message": condition.message if condition else None,
            "url": bare_uri(said.get("url")) or bare_uri(said.get("restUrl")),
            "latest_created": text(said.get("latestCreatedRevision")),
            "latest_ready": text(said.get("latestReadyRevision")),
            "rolled_out": text(said.get("latestRolledoutRevision")),
            "previous": text(said.get("previousRolledoutRevision")),
            "pods": count,
            "pods_ready": ready,
        }


def traffic_rows(one: Service, revisions: dict[tuple[str, str], int]) -> Iterator[dict[str, Any]]:
    """Rows of `kserve_traffic`. `revisions`: (namespace, name) → the Knative Revision."""
    status = mapping(one.status.get("components"))
    for name in COMPONENTS:
        for index, target in enumerate(mappings(mapping(status.get(name)).get("traffic"))[:MAX_TRAFFIC]):
            revision = text(target.get("revisionName"))
            yield {
                "object_id": one.item.object_id,
                "component": name,
                "idx": index,
                "revision": revision,
                "revision_id": revisions.get((one.item.namespace, revision or "")),
                "percent": number(target.get("percent")),
                "latest": flag(target.get("latestRevision")),
                "tag": text(target.get("tag")),
            }
    for index, canary in enumerate(mappings(one.status.get("canaryStatuses"))[:MAX_TRAFFIC]):
        yield {
            "object_id": one.item.object_id,
            "component": "predictor",
            "idx": index,
            "revision": text(canary.get("name")),
            "percent": number(canary.get("trafficPercent")),
            "ready": flag(canary.get("ready")),
        }


def blocked(one: Service) -> Blocked | None:
    """What does not come up of a new version, where the service says that it is ready all the same."""
    ready = one.conditions.get("Ready")
    if ready is None or ready.status != "True":
        return None
    failure = one.failure
    if one.transition == "BlockedByFailedLoad":
        message = failure.message or failure.reason if failure else None
        path = failure.path if failure and message else "status.modelStatus.transitionStatus"
        return Blocked("the model of the new version does not load", message, path, failure.at if failure else None)
    found = _revision(one)
    if found is not None:
        return found
    canary = one.conditions.get("CanaryPredictorReady")
    if canary is not None and canary.is_false:
        return Blocked("its canary is not ready", canary.message or canary.reason, canary.words_path, canary.since)
    return None


def _revision(one: Service) -> Blocked | None:
    """Knative: the newest revision is not the newest that is ready, and nothing says that it is still on its way."""
    status = mapping(one.status.get("components"))
    for name in COMPONENTS:
        said = mapping(status.get(name))
        created, serves = text(said.get("latestCreatedRevision")), text(said.get("latestReadyRevision"))
        if not created or not serves or created == serves:
            continue
        words = f"revision {created} of the {name} is not ready, and {serves} serves on"
        told = [found for kind in (*_CONFIGURED[name], "LatestDeploymentReady") if (found := one.conditions.get(kind))]
        false = next((condition for condition in told if condition.is_false), None)
        if false is not None:
            return Blocked(words, false.message or false.reason, false.words_path, false.since)
        if one.transition != "InProgress" and not one.behind and all(condition.status == "True" for condition in told):
            return Blocked(words, None, f"status.components.{name}.latestCreatedRevision", None)
    return None
