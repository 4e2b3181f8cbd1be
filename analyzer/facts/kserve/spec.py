"""What the spec of an InferenceService asks for: the model and its runtime, where it lies, the deployment mode.

Source: KServe's API types (`predictor.go`, `predictor_model.go`) and the defaults of its webhook.
"""

from __future__ import annotations

from typing import Any

from analyzer.facts.kserve import choice as choices
from analyzer.facts.kserve.base import annotation, bare_uri
from analyzer.facts.kserve.config import MODES, Config
from analyzer.facts.values import Stored, mapping, mappings, text

_LEGACY = {
    "sklearn": "v1", "xgboost": "v1", "tensorflow": "v1", "pytorch": "v1", "pmml": "v1", "lightgbm": "v1", "paddle": "v1",
    "triton": "v2", "onnx": "v2", "huggingface": "v2",
}  # fmt: skip
"""The old way to name a format, `predictor.<format>`, with the protocol that KServe's defaults give it."""


def mode_of(item: Stored, status: dict[str, Any], config: Config) -> tuple[str | None, str | None, str | None, int | None]:
    """The deployment mode as KServe calls it now, where that is said, the field, the object."""
    said = MODES.get(text(status.get("deploymentMode")) or "")
    if said:
        return said, "status", "status.deploymentMode", item.object_id
    key = "serving.kserve.io/deploymentMode"
    said = MODES.get(annotation(item.value, key) or "")
    if said:
        return said, "annotation", f'metadata.annotations["{key}"]', item.object_id
    if config.mode:
        return config.mode, "config", "data.deploy", config.mode_id
    return None, None, None, None


def model_of(
    predictor: dict[str, Any], controller: tuple[int, int] | None = None, *, model_mesh: bool
) -> tuple[choices.Model | None, str | None]:
    """What the predictor asks of a runtime, and what of it the controller of that version minds; None where it has containers
    of its own.
    """
    workers = isinstance(predictor.get("workerSpec"), dict)
    model = predictor.get("model")
    if isinstance(model, dict):
        form = mapping(model.get("modelFormat"))
        asked = choices.Model(
            text(form.get("name")) or "",
            text(form.get("version")),
            text(model.get("protocolVersion")),
            text(model.get("runtime")),
            workers,
            model_mesh,
            controller,
        )
        return asked, "spec.predictor.model"
    for name, protocol in _LEGACY.items():
        old = predictor.get(name)
        if isinstance(old, dict):
            # KServe's defaults turn it into predictor.model; an object that was stored without its webhook still has it.
            said = text(old.get("protocolVersion")) or (protocol if protocol != choices.DEFAULT_PROTOCOL else None)
            return choices.Model(name, None, said, None, workers, model_mesh, controller), f"spec.predictor.{name}"
    return None, None


def storage_of(predictor: dict[str, Any], path: str | None) -> tuple[str | None, str | None]:
    """Where the model lies, and the field that says so."""
    model = mapping(predictor.get(path.rsplit(".", 1)[1])) if path else {}
    uri = bare_uri(model.get("storageUri"))
    if uri:
        return uri, f"{path}.storageUri"
    storage = mapping(model.get("storage"))
    for key in ("path", "key"):
        said = bare_uri(storage.get(key))
        if said:
            return f"{said} (of the storage configuration)", f"{path}.storage.{key}"
    listed = [uri for entry in mappings(predictor.get("storageUris")) if (uri := bare_uri(entry.get("uri")))]
    return (", ".join(listed[:5]), "spec.predictor.storageUris[0].uri") if listed else (None, None)
