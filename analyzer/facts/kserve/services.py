"""InferenceServices of KServe: what their spec asks for, what their status says, their state and what is to blame for it.

Sources: KServe's API types (`inference_service_status.go`, `predictor.go`) and its InferenceService controller, 0.8 to 0.20.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.kserve import choice as choices
from analyzer.facts.kserve.base import GROUP, annotation, bare_text, bare_uri, conditions, stopped
from analyzer.facts.kserve.config import Config
from analyzer.facts.kserve.runtimes import CLUSTER, LOCAL
from analyzer.facts.kserve.spec import mode_of, model_of, storage_of
from analyzer.facts.told import Condition
from analyzer.facts.values import Stored, mapping, moment, number, stored, text

RUNTIME_REASONS = frozenset({"NoSupportingRuntime", "RuntimeNotRecognized", "RuntimeDisabled"})
"""Reasons of a failure that tell of the runtime, not of the rest of the spec."""

COMPONENTS = ("predictor", "transformer", "explainer")

_BLAME = (
    "PredictorReady",
    "TransformerReady",
    "ExplainerReady",
    "PredictorConfigurationReady",
    "TransformerConfigurationReady",
    # A slip of KServe up to 0.10.
    "TransformerConfigurationeReady",
    "ExplainerConfigurationReady",
    "LatestDeploymentReady",
    "PredictorRouteReady",
    "TransformerRouteReady",
    "ExplainerRoutesReady",
    "RoutesReady",
    "IngressReady",
    "Ready",
)
"""The most basic condition first: components, configurations, deployments, routes, ingress."""


@dataclass(frozen=True, slots=True)
class Failure:
    """status.modelStatus.lastFailureInfo."""

    reason: str | None
    message: str | None
    exit_code: int | None
    location: str | None
    at: datetime | None
    path: str


@dataclass(frozen=True, slots=True)
class State:
    """A state, with what is to blame for it."""

    state: str
    reason: str | None
    message: str | None
    blamed: str | None
    path: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Service:
    """One InferenceService as it was read."""

    item: Stored
    conditions: dict[str, Condition]
    transition: str | None
    active: str | None
    target: str | None
    failure: Failure | None
    kind_of_failure: str | None
    model: choices.Model | None
    model_path: str | None
    storage: tuple[str | None, str | None]
    mode: tuple[str | None, str | None, str | None, int | None]
    behind: bool
    stopped: bool
    state: State

    @property
    def spec(self) -> dict[str, Any]:
        """Its spec."""
        return mapping(self.item.value.get("spec"))

    @property
    def status(self) -> dict[str, Any]:
        """Its status."""
        return mapping(self.item.value.get("status"))

    @property
    def recorded(self) -> tuple[str | None, str | None, str | None]:
        """The runtime that the status records (0.16 and newer): kind, name, field."""
        for key, kind in (("servingRuntimeName", LOCAL), ("clusterServingRuntimeName", CLUSTER)):
            name = text(self.status.get(key))
            if name:
                return kind, name, f"status.{key}"
        return None, None, None


def read(con: duckdb.DuckDBPyConnection, config: Config) -> Iterator[Service]:
    """Reads the services, in the order of their ids."""
    for item in stored(con, [(GROUP, "InferenceService")]):
        yield service(item, config)


def service(item: Stored, config: Config) -> Service:
    """Reads one."""
    status = mapping(item.value.get("status"))
    told = conditions(status)
    model_status = mapping(status.get("modelStatus"))
    states = mapping(model_status.get("states"))
    transition, target = text(model_status.get("transitionStatus")), text(states.get("targetModelState"))
    failure = _failure(model_status)
    kind = _in_force(transition, target, failure)
    mode = mode_of(item, status, config)
    predictor = mapping(mapping(item.value.get("spec")).get("predictor"))
    model, path = model_of(predictor, config.release, model_mesh=mode[0] == "ModelMesh")
    is_stopped = stopped(item.value, told)
    behind = _behind(item, status)
    return Service(
        item,
        told,
        transition,
        text(states.get("activeModelState")),
        target,
        failure,
        kind,
        model,
        path,
        storage_of(predictor, path),
        mode,
        behind,
        is_stopped,
        _state(item, told, failure, kind, transition, is_stopped=is_stopped, behind=behind),
    )


def _failure(model_status: dict[str, Any]) -> Failure | None:
    info = mapping(model_status.get("lastFailureInfo"))
    if not info:
        return None
    field = next((name for name in ("message", "reason") if text(info.get(name))), "")
    return Failure(
        text(info.get("reason")),
        bare_text(text(info.get("message"))),
        number(info.get("exitCode")),
        text(info.get("location")),
        moment(info.get("time")),
        "status.modelStatus.lastFailureInfo" + (f".{field}" if field else ""),
    )


def _in_force(transition: str | None, target: str | None, failure: Failure | None) -> str | None:
    """What failed, where a failure is in force: lastFailureInfo alone outlives what it tells of, so the states decide."""
    if transition == "InvalidSpec":
        return "runtime" if failure and failure.reason in RUNTIME_REASONS else "spec"
    if transition == "BlockedByFailedLoad" or target == "FailedToLoad":
        return "model"
    return None


def _behind(item: Stored, status: dict[str, Any]) -> bool:
    generation = number(mapping(item.value.get("metadata")).get("generation"))
    observed = number(status.get("observedGeneration"))
    return generation is not None and observed is not None and observed < generation


def _state(
    item: Stored,
    told: dict[str, Condition],
    failure: Failure | None,
    kind: str | None,
    transition: str | None,
    *,
    is_stopped: bool,
    behind: bool,
) -> State:
    """The first state that applies: Deleting, Stopped, Failed, Ready, Progressing, Not ready."""
    if item.deleted_at is not None:
        return State("Deleting", None, None, None, None, item.deleted_at)
    ready = told.get("Ready")
    if is_stopped:
        condition = told.get("Stopped")
        since = condition.since if condition else ready.since if ready else None
        return State("Stopped", None, None, None, None, since or item.created_at)
    blamed = blame(told)
    if kind is not None:
        return _failed(item, failure, kind, transition, blamed)
    if ready is not None and ready.status == "True":
        return State("Ready", ready.reason, ready.message, None, None, ready.since or item.created_at)
    since = _unready_since(item, told)
    going = behind or transition == "InProgress" or ((ready is None or ready.status == "Unknown") and not _any_false(told))
    state = "Progressing" if going else "Not ready"
    if blamed is None:
        return State(state, None, None, None, None, since)
    return State(state, blamed.reason, blamed.message, blamed.type, blamed.words_path, since)


def _failed(item: Stored, failure: Failure | None, kind: str, transition: str | None, blamed: Condition | None) -> State:
    since = (failure.at if failure else None) or (blamed.since if blamed and blamed.is_false else None) or item.created_at
    if failure and failure.message:
        return State("Failed", failure.reason, failure.message, "modelStatus", failure.path, since)
    reason = failure.reason if failure else None
    if blamed and (blamed.message or blamed.reason):
        return State("Failed", reason or blamed.reason, blamed.message, blamed.type, blamed.words_path, since)
    if failure and failure.reason:
        return State("Failed", failure.reason, None, "modelStatus", failure.path, since)
    field = "transitionStatus" if kind != "model" or transition == "BlockedByFailedLoad" else "states.targetModelState"
    word = transition if field == "transitionStatus" else "FailedToLoad"
    return State("Failed", word, None, "modelStatus", f"status.modelStatus.{field}", since)


def blame(told: dict[str, Condition], order: Iterable[str] = _BLAME) -> Condition | None:
    """The condition to blame: the first that says no in the order given, else the first that is not sure."""
    known = [told[name] for name in order if name in told]
    false = next((one for one in known if one.is_false), None)
    return false or next((one for one in known if one.status == "Unknown"), None)


def _any_false(told: dict[str, Condition]) -> bool:
    return any(one.is_false for name, one in told.items() if name in _BLAME)


def _unready_since(item: Stored, told: dict[str, Condition]) -> datetime | None:
    """Since when Ready is not True: its own time, else that of the condition to blame, else its creation."""
    ready = told.get("Ready")
    if ready is not None and ready.since is not None:
        return ready.since
    blamed = blame(told)
    return (blamed.since if blamed else None) or item.created_at


def row(one: Service, choice: choices.Choice | None, config: Config) -> dict[str, Any]:
    """A row of `kserve_services`, without what it is blocked by."""
    failure, state, model = one.failure, one.state, one.model
    kind, recorded, recorded_path = one.recorded
    chosen = choice.chosen if choice else None
    return {
        "object_id": one.item.object_id,
        "input": one.item.input,
        "namespace": one.item.namespace,
        "name": one.item.name,
        "state": state.state,
        "reason": state.reason,
        "message": state.message,
        "blamed": state.blamed,
        "blamed_path": state.path,
        "since": state.since,
        "ready": one.conditions["Ready"].status if "Ready" in one.conditions else None,
        "transition": one.transition,
        "active_model": one.active,
        "target_model": one.target,
        "failure": one.kind_of_failure,
        "failure_reason": failure.reason if failure else None,
        "failure_message": failure.message if failure else None,
        "failure_exit": failure.exit_code if failure else None,
        "failure_location": failure.location if failure else None,
        "failure_at": failure.at if failure else None,
        "stale_failure": failure is not None and one.kind_of_failure is None,
        "behind": one.behind,
        "stopped": one.stopped,
        "mode": one.mode[0],
        "mode_source": one.mode[1],
        "mode_path": one.mode[2],
        "mode_id": one.mode[3],
        "model_format": model.format if model else None,
        "model_version": model.version if model else None,
        "model_path": one.model_path,
        "protocol": (model.protocol or choices.DEFAULT_PROTOCOL) if model else None,
        "protocol_given": model is not None and model.protocol is not None,
        "multi_node": model is not None and model.workers,
        "storage": one.storage[0],
        "storage_path": one.storage[1],
        "named_runtime": model.named if model else None,
        "recorded_runtime": recorded,
        "recorded_kind": kind,
        "recorded_path": recorded_path,
        "url": bare_uri(one.status.get("url")),
        "choice": choice.verdict if choice else None,
        "chosen_runtime": chosen.name if chosen else None,
        "chosen_kind": chosen.kind if chosen else None,
        "chosen_id": chosen.runtime.object_id if chosen and chosen.runtime else None,
        "choice_words": choice.words if choice else None,
        "canary_percent": number(mapping(one.spec.get("predictor")).get("canaryTrafficPercent")),
        "autoscaler": annotation(one.item.value, "serving.kserve.io/autoscalerClass"),
        "controller": config.version,
    }
