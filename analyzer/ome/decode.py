"""Whether an object would be read by OME at all: a typed client refuses a value of the wrong type, and what is no quantity."""

from __future__ import annotations

from typing import Any

from analyzer.ome import quantity
from analyzer.ome.world import COMPONENTS

_LISTS = ("containers", "initContainers", "ephemeralContainers")
_COMPONENTS = ("engineConfig", "decoderConfig", "routerConfig")
MAX_INT64 = 2**63 - 1


def runtime_reads(spec: Any) -> bool:
    """Whether a value decodes as the spec of a ServingRuntime, as far as its fields count for us."""
    if not isinstance(spec, dict):
        return False
    need = spec.get("acceleratorRequirements")
    return (
        _is(spec, "disabled", bool)
        and _pod(spec)
        and all(_component(spec.get(name)) for name in _COMPONENTS)
        and _items(spec.get("supportedModelFormats"), _format)
        and _optional(spec.get("modelSizeRange"), lambda size: _is(size, "min", str) and _is(size, "max", str))
        and _optional(need, lambda value: _strings(value.get("acceleratorClasses")))
    )


def service_reads(value: dict[str, Any]) -> bool:
    """Whether an object decodes as an InferenceService, as far as its fields count for us."""
    spec, status, metadata = value.get("spec"), value.get("status"), value.get("metadata")
    return (
        _optional(metadata, lambda own: _texts(own.get("annotations")) and _texts(own.get("labels")))
        and _optional(spec, _service_spec)
        and _optional(status, _service_status)
    )


def _service_spec(spec: dict[str, Any]) -> bool:
    return (
        _optional(spec.get("model"), lambda model: _is(model, "name", str) and _is(model, "kind", str))
        and _optional(spec.get("runtime"), _reference)
        and _optional(spec.get("acceleratorSelector"), _selector)
        and all(_component(spec.get(name)) for name in COMPONENTS)
    )


def _reference(runtime: dict[str, Any]) -> bool:
    return all(_is(runtime, name, str) for name in ("name", "kind", "revision")) and _is(runtime, "autoSync", bool)


def _selector(selector: dict[str, Any]) -> bool:
    return _is(selector, "acceleratorClass", str) and _is(selector, "policy", str) and _optional(selector.get("constraints"))


def _service_status(status: dict[str, Any]) -> bool:
    components = status.get("components")
    return (
        _int(status.get("observedGeneration"))
        and _is(status, "pinnedRevisionName", str)
        and _optional(components, lambda held: all(_optional(one, _status_component) for one in held.values()))
    )


def _status_component(component: dict[str, Any]) -> bool:
    return _optional(
        component.get("selectedAccelerator"),
        lambda chosen: (
            _is(chosen, "acceleratorClass", str)
            and _is(chosen, "reason", str)
            and _texts(chosen.get("nodeSelector"))
            and _texts(chosen.get("resourceRequests"))
        ),
    )


def _component(value: Any) -> bool:
    return _optional(
        value,
        lambda own: (
            _pod(own)
            and _optional(own.get("runner"), _container)
            and _optional(own.get("acceleratorOverride"), _selector)
            and all(
                _optional(own.get(part), lambda node: _pod(node) and _optional(node.get("runner"), _container)) for part in _NODES
            )
        ),
    )


def _node(node: dict[str, Any]) -> bool:
    return _pod(node) and _optional(node.get("runner"), _container)


_NODES = ("leader", "worker")


def _pod(spec: dict[str, Any]) -> bool:
    return all(_items(spec.get(name), _container) for name in _LISTS) and _texts(spec.get("annotations"))


def _container(container: dict[str, Any]) -> bool:
    return _is(container, "name", str) and _optional(
        container.get("resources"),
        lambda held: all(
            _optional(held.get(name), lambda amounts: all(quantity.parse(amount) is not None for amount in amounts.values()))
            for name in ("requests", "limits")
        ),
    )


def _format(entry: dict[str, Any]) -> bool:
    return (
        all(_is(entry, name, str) for name in ("name", "modelArchitecture", "quantization"))
        and _is(entry, "autoSelect", bool)
        and _int(entry.get("priority"))
        and all(
            _optional(entry.get(part), lambda one: _is(one, "name", str) and _is(one, "version", str) and _int(one.get("weight")))
            for part in ("modelFormat", "modelFramework")
        )
    )


def _optional(value: Any, check: Any = lambda _value: True) -> bool:
    return value is None or (isinstance(value, dict) and bool(check(value)))


def _items(value: Any, check: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(item is None or (isinstance(item, dict) and check(item)) for item in value)


def _is(holder: dict[str, Any], name: str, kind: type) -> bool:
    return holder.get(name) is None or isinstance(holder[name], kind)


def _int(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INT64)


def _texts(value: Any) -> bool:
    """A mapping from text to text, a null being an empty one."""
    return value is None or (isinstance(value, dict) and all(item is None or isinstance(item, str) for item in value.values()))


def _strings(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(item is None or isinstance(item, str) for item in value))
