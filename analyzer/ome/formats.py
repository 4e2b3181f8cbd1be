"""Whether a runtime supports a model, and how well (OME's runtime selector)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from analyzer.ome import versions
from analyzer.ome.world import items, mapping, string

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([TBM]?)", re.ASCII)
_FACTORS = {"T": 1e12, "B": 1e9, "M": 1e6, "": 1.0}
_FORMAT_WEIGHT, _FRAMEWORK_WEIGHT = 10, 5
"""What a weight of 0, which is also one that is not set, stands for."""


def size_of(text: Any) -> float:
    """A number of parameters such as `7B`; 0 where it cannot be read."""
    match = _SIZE.fullmatch(string(text))
    return float(match[1]) * _FACTORS[match[2]] if match else 0.0


def label(model: Mapping[str, Any]) -> str:
    """A model's format in one word, as OME's messages write it: `mt:safetensors:1.0.0:Arch:fp8:transformers:4.51.0`."""
    form, framework = mapping(model.get("modelFormat")), mapping(model.get("modelFramework"))
    parts = [form.get("name"), form.get("version"), model.get("modelArchitecture"), model.get("quantization")]
    parts += [framework.get("name"), framework.get("version")]
    return ":".join(["mt", *(part for part in parts if isinstance(part, str) and part)])


def mismatch(entry: Mapping[str, Any], model: Mapping[str, Any]) -> str | None:
    """Why an entry of supportedModelFormats does not fit a model, in words; None where it does."""
    for field, word in (("modelArchitecture", "architecture"), ("quantization", "quantization")):
        ours, theirs = string(entry.get(field)), string(model.get(field))
        if ours != theirs:
            return f"{word} {_quoted(ours)} is not {_quoted(theirs)}"
    form, wanted = mapping(entry.get("modelFormat")), mapping(model.get("modelFormat"))
    if not form or not string(form.get("name")) or form.get("name") != wanted.get("name"):
        return f"format {_quoted(form.get('name'))} is not {_quoted(wanted.get('name'))}"
    found = _version("format", form, wanted)
    if found:
        return found
    framework, other = entry.get("modelFramework"), model.get("modelFramework")
    if (framework is None) != (other is None) or mapping(framework).get("name") != mapping(other).get("name"):
        return f"framework {_quoted(mapping(framework).get('name'))} is not {_quoted(mapping(other).get('name'))}"
    return _version("framework", mapping(framework), mapping(other)) or _pipeline(entry, model)


def _version(word: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    left, right = string(ours.get("version")), string(theirs.get("version"))
    fits = satisfies(ours, theirs) if left and right else left == right
    return None if fits else f"{word} version {_quoted(left)} does not match {_quoted(right)}"


def satisfies(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether two versions, both set, match by the operator of the runtime's entry."""
    return versions.satisfies(string(ours.get("version")), string(theirs.get("version")), string(ours.get("operator")))


def _pipeline(entry: Mapping[str, Any], model: Mapping[str, Any]) -> str | None:
    wanted, held = mapping(entry.get("diffusionPipeline")), mapping(model.get("diffusionPipeline"))
    for field, value in wanted.items():
        if isinstance(value, str) and value and held.get(field) != value:
            return f"diffusion pipeline {field} {_quoted(value)} is not {_quoted(held.get(field))}"
    return None


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) and value else "(none)"


def unsupported(spec: Mapping[str, Any], model: Mapping[str, Any]) -> str | None:
    """Why a runtime does not support a model, by its formats and its range of sizes; None where it does."""
    reasons = []
    for entry in items(spec.get("supportedModelFormats")):
        reason = mismatch(entry, model)
        if reason is None:
            break
        reasons.append(reason)
    else:
        detail = "; ".join(reasons) or "no supported formats defined"
        return f"model format '{label(model)}' not in supported formats: {detail}"
    size, bounds = string(model.get("modelParameterSize")), mapping(spec.get("modelSizeRange"))
    low, high = string(bounds.get("min")), string(bounds.get("max"))
    if size and ((low and size_of(size) < size_of(low)) or (high and size_of(size) > size_of(high))):
        return f"model size {size} is outside supported range [{low}, {high}]"
    return None


def score(spec: Mapping[str, Any], model: Mapping[str, Any]) -> int:
    """How well a runtime fits a model: the best of its entries that may be selected automatically."""
    return max(
        (
            _entry_score(entry, model)
            for entry in items(spec.get("supportedModelFormats"))
            if entry.get("autoSelect") is not False
        ),
        default=0,
    )


def _entry_score(entry: Mapping[str, Any], model: Mapping[str, Any]) -> int:
    total = 0
    for field, default in (("modelFormat", _FORMAT_WEIGHT), ("modelFramework", _FRAMEWORK_WEIGHT)):
        ours, theirs = entry.get(field), model.get(field)
        if ours is None and theirs is None and field == "modelFramework":
            continue
        left, right = mapping(ours), mapping(theirs)
        if ours is None or theirs is None or left.get("name") != right.get("name"):
            return 0
        if left.get("version") and right.get("version") and not satisfies(left, right):
            return 0
        weight = left.get("weight")
        total += weight if isinstance(weight, int) and weight else default
    priority = entry.get("priority")
    return total * (priority if isinstance(priority, int) else 1)


def distance(spec: Mapping[str, Any], model: Mapping[str, Any]) -> float:
    """How far a runtime's range of sizes lies from a model's size; 0 where either has none."""
    size, bounds = string(model.get("modelParameterSize")), mapping(spec.get("modelSizeRange"))
    if not size:
        return 0.0
    return sum(abs(size_of(bounds[end]) - size_of(size)) for end in ("min", "max") if bounds.get(end))
