"""Reading orders, classes, models and GPUs by the fields that they have: these differ between versions of the modules.

KServe, the old KFServing and OME have an InferenceService too; an order is known by its shape, never by its group alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.facts.values import Stored, mapping, mappings, moment, strings, text

GROUP = "ai.deckhouse.io"
SERVICE, CLASS = "InferenceService", "InferenceServiceClass"
MODEL_KINDS = ("Model", "ClusterModel")
CATALOGUE, HUB = "ai-models", "HuggingFace"
"""Sources of a model."""
READING = ("ClassResolved", "ModelResolved", "Planned", "WorkloadReady", "Ready")
"""The conditions in the order in which they answer."""
SCALING = "ScalingHealthy"
PHASES = ("Ready", "Degraded", "Pending", "Failed")

_FOREIGN = frozenset({"predictor", "transformer", "explainer", "engine", "decoder", "router"})
_POLICIES = ("modelPolicy", "admissionPolicy", "scalingPolicy")
_MAX_DEPTH = 6
_MAX_VALUES = 200
_INT64 = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Said:
    """One condition of an order."""

    idx: int
    type: str
    status: str
    reason: str
    message: str
    since: datetime | None
    observed: int | None

    @property
    def true(self) -> bool:
        """Its status is True."""
        return self.status == "True"


@dataclass(frozen=True, slots=True)
class Source:
    """Where an order's model comes from, as far as it says; `kind_path` and `space_path` tell which fields are there."""

    source: str | None
    name: str | None
    kind: str | None
    namespace: str | None
    name_path: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of orders; None where it does not say."""

    object_id: int
    input: int
    name: str
    created_at: datetime | None
    conditions: tuple[Said, ...]
    phase: str | None
    namespaces: tuple[str, ...] | None
    selects: bool
    endpoint_types: tuple[str, ...] | None
    formats: tuple[str, ...] | None
    max_parameters: int | None
    scaling: bool
    min_replicas: int | None
    max_replicas: int | None
    priority_class: str | None
    priority_path: str
    device_classes: tuple[str, ...]
    paths: dict[str, str]
    """Field → where it stands in the object."""

    @property
    def ready(self) -> bool | None:
        """Its condition Ready, else its phase; None where it has neither."""
        for said in self.conditions:
            if said.type == "Ready":
                return said.true
        return None if self.phase is None else self.phase == "Ready"


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue."""

    object_id: int
    input: int
    kind: str
    namespace: str
    name: str
    created_at: datetime | None
    phase: str | None
    ready: Said | None
    format: str | None
    parameters: int | None
    endpoint_types: tuple[str, ...] | None
    quantization: str | None
    architecture: str | None

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"


def is_order(item: Stored) -> bool:
    """Whether an InferenceService is an inference order."""
    spec = mapping(item.value.get("spec"))
    if item.kind != SERVICE or _FOREIGN.intersection(spec):
        return False
    if isinstance(spec.get("inferenceServiceClassName"), str) or item.group == GROUP:
        return True
    own = {*READING[:-1], SCALING}
    return len(own.intersection(said.type for said in conditions(item.value))) >= 2


def is_class(item: Stored) -> bool:
    """Whether an object is a class of inference orders."""
    if item.kind == CLASS:
        return True
    spec = mapping(item.value.get("spec"))
    return item.kind.endswith("Class") and any(policy in spec for policy in _POLICIES)


def is_model(item: Stored) -> bool:
    """Whether an object is a model of the catalogue."""
    return item.kind in MODEL_KINDS and (item.group == GROUP or "source" in mapping(item.value.get("spec")))


def conditions(value: dict[str, Any]) -> tuple[Said, ...]:
    """status.conditions of any object, those without a type left out."""
    status = mapping(value.get("status"))
    found = []
    for idx, item in enumerate(mappings(status.get("conditions"))[:_MAX_VALUES]):
        kind = text(item.get("type"))
        if kind:
            reason, message = text(item.get("reason")) or "", text(item.get("message")) or ""
            observed = whole(item.get("observedGeneration"))
            if observed is None:
                observed = whole(status.get("observedGeneration"))
            found.append(
                Said(
                    idx,
                    kind,
                    str(item.get("status") or ""),
                    reason,
                    message.strip(),
                    moment(item.get("lastTransitionTime")),
                    observed,
                )
            )
    return tuple(found)


def whole(value: Any) -> int | None:
    """A whole number of 64 bits, also where it is written as text; else None."""
    if isinstance(value, str) and len(value) < 20 and value.strip().isascii() and value.strip().isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _INT64 else None


def class_name(value: dict[str, Any]) -> str | None:
    """The class that an order names."""
    return text(mapping(value.get("spec")).get("inferenceServiceClassName"))


def source(value: dict[str, Any]) -> Source:
    """The model that an order names."""
    model = mapping(value.get("spec")).get("model")
    if isinstance(model, str):
        return Source(None, text(model), None, None, "spec.model")
    block = mapping(model)
    written = text(block.get("src")) or text(block.get("source")) or text(block.get("type"))
    ref = block.get("ref")
    if isinstance(ref, str):
        return Source(_source(written), text(ref), text(block.get("kind")), text(block.get("namespace")), "spec.model.ref")
    fields = mapping(ref)
    base = "spec.model.ref" if isinstance(ref, dict) else "spec.model"
    fields = fields if isinstance(ref, dict) else block
    key = next((key for key in ("name", "repo", "repository", "id") if text(fields.get(key))), "name")
    return Source(
        _source(written), text(fields.get(key)), text(fields.get("kind")), text(fields.get("namespace")), f"{base}.{key}"
    )


def _source(written: str | None) -> str | None:
    plain = re.sub(r"[^a-z]", "", (written or "").lower())
    return {"aimodels": CATALOGUE, "catalog": CATALOGUE, "huggingface": HUB, "hf": HUB}.get(plain, written)


def secret(value: dict[str, Any]) -> str | None:
    """The Secret that an order names for fetching its model; the reference is a mapping or the name alone."""
    found = mapping(mapping(value.get("spec")).get("model")).get("authSecretRef")
    return text(found) or text(mapping(found).get("name"))


def phase(value: dict[str, Any]) -> str | None:
    """The state that an order gives itself, one of PHASES; None where it gives none of them."""
    status = mapping(value.get("status"))
    for key in ("phase", "state"):
        written = text(status.get(key))
        if written:
            return next((known for known in PHASES if known.lower() == written.lower()), None)
    return None


def replans(value: dict[str, Any]) -> int | None:
    """How often the plan of an order was computed again."""
    status = mapping(value.get("status"))
    found = whole(mapping(status.get("resolved")).get("replanCount"))
    return whole(status.get("replanCount")) if found is None else found


def read_class(item: Stored) -> Class:
    """A class of orders."""
    spec = mapping(item.value.get("spec"))
    fields = dict(_fields(spec, "spec"))
    listed = fields.get("allowednamespaces", ("", None))[1]
    endpoint_types = _texts(fields, "allowedendpointtypes")
    priority = next(
        ((path, name) for key, (path, value) in fields.items() if "priorityclass" in key and (name := _named(value))), ("", None)
    )
    limits = {
        key: whole(fields[key][1]) if key in fields else None for key in ("maxparametercount", "minreplicas", "maxreplicas")
    }
    return Class(
        object_id=item.object_id,
        input=item.input,
        name=item.name,
        created_at=item.created_at,
        conditions=conditions(item.value),
        phase=text(mapping(item.value.get("status")).get("phase")),
        namespaces=_names(listed) if isinstance(listed, list) else None,
        selects=isinstance(listed, dict),
        endpoint_types=endpoint_types,
        formats=_texts(fields, "allowedformats"),
        max_parameters=limits["maxparametercount"],
        scaling=fields.get("scalingpolicy", ("", None))[1] is not None,
        min_replicas=limits["minreplicas"],
        max_replicas=limits["maxreplicas"],
        priority_class=priority[1],
        priority_path=priority[0],
        device_classes=_device_classes(fields),
        paths={key: path for key, (path, _) in fields.items()},
    )


def read_model(item: Stored) -> Model:
    """A model of the catalogue."""
    status = mapping(item.value.get("status"))
    resolved = mapping(status.get("resolved"))
    listed = resolved.get("supportedEndpointTypes")
    return Model(
        object_id=item.object_id,
        input=item.input,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        created_at=item.created_at,
        phase=text(status.get("phase")),
        ready=next((said for said in conditions(item.value) if said.type == "Ready"), None),
        format=text(resolved.get("format")),
        parameters=whole(resolved.get("parameterCount")),
        endpoint_types=_names(listed) if isinstance(listed, list) else None,
        quantization=text(resolved.get("quantization")),
        architecture=text(resolved.get("architecture")),
    )


def device_classes(value: dict[str, Any]) -> tuple[str, ...]:
    """The DeviceClasses that an order names; only some versions of the module let it."""
    return _device_classes(dict(_fields(mapping(mapping(value.get("spec")).get("resources")), "spec.resources")))


def _device_classes(fields: dict[str, tuple[str, Any]]) -> tuple[str, ...]:
    found: list[str] = []
    for key, (_, value) in fields.items():
        if "deviceclass" in key:
            found += _names(value) if isinstance(value, list) else [name] if (name := _named(value)) else []
    return tuple(dict.fromkeys(found))


def _fields(value: dict[str, Any], path: str, depth: int = 0) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Every field of a mapping and of those below it, by its name in small letters: deeper ones first, so that outer ones win."""
    if depth < _MAX_DEPTH:
        for key, inner in list(value.items())[:_MAX_VALUES]:
            if isinstance(inner, dict):
                yield from _fields(inner, f"{path}.{key}", depth + 1)
    for key, inner in list(value.items())[:_MAX_VALUES]:
        if isinstance(key, str):
            yield key.lower(), (f"{path}.{key}", inner)


def _texts(fields: dict[str, tuple[str, Any]], key: str) -> tuple[str, ...] | None:
    value = fields.get(key, ("", None))[1]
    return _names(value) if isinstance(value, list) else None


def _names(value: Any) -> tuple[str, ...]:
    """Names in a list of names or of mappings with a name."""
    items = value if isinstance(value, list) else []
    named = [*strings(items)] if all(isinstance(item, str) for item in items) else [_named(item) for item in items]
    return tuple(name for name in named[:_MAX_VALUES] if name)


def _named(value: Any) -> str | None:
    return text(value) or text(mapping(value).get("name"))


def read_gpu(item: Stored) -> dict[str, Any]:
    """A PhysicalGPU as a row of `order_gpus`, without what the slices say of it."""
    status = mapping(item.value.get("status"))
    able = mapping(status.get("capabilities"))
    turned = {said.type: said.true for said in conditions(item.value)}
    memory = whole(able.get("memoryMiB"))
    return {
        "object_id": item.object_id,
        "input": item.input,
        "name": item.name,
        "product": text(able.get("productName")),
        "memory_mib": memory or None,
        "driver_ready": turned.get("DriverReady"),
        "healthy": turned.get("HardwareHealthy"),
        "gap": _gap(status, able, memory),
    }


def _gap(status: dict[str, Any], able: dict[str, Any], memory: int | None) -> str | None:
    """What is missing of a GPU's memory profile, as the field that should be there."""
    if not isinstance(status.get("capabilities"), dict):
        return "status.capabilities"
    if not memory:
        return "status.capabilities.memoryMiB"
    profiles = mapping(mapping(able.get("nvidia")).get("mig")).get("profiles")
    for idx, profile in enumerate(mappings(profiles)[:_MAX_VALUES]):
        if not whole(profile.get("memoryMiB")):
            return f"status.capabilities.nvidia.mig.profiles[{idx}].memoryMiB"
    return None
