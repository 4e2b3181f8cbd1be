"""What the serving container of a component asks for, before a class changes it (OME's base requests)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.ome import quantity
from analyzer.ome.merge import merged, stripped
from analyzer.ome.names import is_qualified
from analyzer.ome.world import items, mapping, string

MAX_REQUESTS = 64
"""More requests than this are refused."""
MAX_QUANTITY = 128
"""Longest quantity that a status may report, in characters."""

State = Literal["Available", "Unavailable", "Invalid"]
Requests = tuple[tuple[str, str], ...]
"""Resource names with canonical quantities, by name."""

_INVALID = "a request has no valid name, is no quantity or is negative, or there are too many"
_CONFIGS = {"engine": "engineConfig", "decoder": "decoderConfig", "router": "routerConfig"}


@dataclass(frozen=True, slots=True)
class Base:
    """The base requests; `container` is the name of the serving container, `why` says in words why there are none."""

    state: State
    requests: Requests = ()
    container: str = ""
    why: str = ""


def base_requests(service_spec: Mapping[str, Any], runtime_spec: Mapping[str, Any], component: str) -> Base:
    """Works out the base requests of a component that the service has.

    Args:
        service_spec: spec of the InferenceService.
        runtime_spec: spec of the runtime in force.
        component: engine or decoder.
    """
    own = stripped(dict(mapping(service_spec.get(component))))
    container = serving_container(own, runtime_spec, component)
    if container is None:
        return Base("Unavailable", why=f"the {component} has neither a runner nor a container")
    requests = canonical(mapping(mapping(container.get("resources")).get("requests")))
    name = string(container.get("name"))
    if requests is None:
        return Base("Invalid", container=name, why=_INVALID)
    return Base("Available", requests, name)


def serving_container(own: dict[str, Any], runtime_spec: Mapping[str, Any], component: str) -> dict[str, Any] | None:
    """The container that serves: of the leader where there is one, the runner before the pod's first container.

    Args:
        own: the component of the InferenceService.
        runtime_spec: spec of the runtime in force.
        component: engine or decoder.
    """
    template = component_of(own, runtime_spec, component)
    if isinstance(template.get("leader"), dict):
        template = template["leader"]
    containers = items(template.get("containers"))
    runner = template.get("runner")
    if not isinstance(runner, dict):
        return containers[0] if containers else None
    if not _sets_resources(own.get("runner")):
        runner = _filled(runner, runtime_spec)
    same = next((one for one in containers if string(one.get("name")) == string(runner.get("name"))), None)
    return merged(runner, same) if same else runner


def component_of(own: dict[str, Any], runtime_spec: Mapping[str, Any], component: str) -> dict[str, Any]:
    """A component of the service laid over that of the runtime. The runtime's own override of the class does not count.

    A runner of the service without a name takes the name away, as Go writes an empty one.
    """
    config = runtime_spec.get(_CONFIGS[component])
    if not isinstance(config, dict):
        return own
    base = {key: value for key, value in config.items() if key != "acceleratorOverride"}
    return merged(stripped(base), _named(own))


def _named(own: dict[str, Any]) -> dict[str, Any]:
    """The component with the name of its runners written out: that field is never left out by Go."""
    result = dict(own)
    if isinstance(result.get("runner"), dict):
        result["runner"] = {"name": "", **result["runner"]}
    for part in ("leader", "worker"):
        node = result.get(part)
        if isinstance(node, dict) and isinstance(node.get("runner"), dict):
            result[part] = {**node, "runner": {"name": "", **node["runner"]}}
    return result


def _sets_resources(runner: Any) -> bool:
    """Whether the service's own runner says anything of resources; an empty mapping is something."""
    resources = mapping(mapping(runner).get("resources"))
    return any(resources.get(name) is not None for name in ("requests", "limits", "claims"))


def _filled(runner: dict[str, Any], runtime_spec: Mapping[str, Any]) -> dict[str, Any]:
    """The runner with the requests that only the container of its name at the top of the runtime has."""
    name = string(runner.get("name"))
    legacy = next((one for one in items(runtime_spec.get("containers")) if string(one.get("name")) == name), None)
    if legacy is None:
        return runner
    resources = mapping(runner.get("resources"))
    more = mapping(mapping(legacy.get("resources")).get("requests"))
    return {**runner, "resources": {**resources, "requests": {**more, **mapping(resources.get("requests"))}}}


def canonical(requests: Mapping[str, Any], *, longest: int | None = None) -> Requests | None:
    """Requests by name in canonical form; None where one is not valid or there are too many.

    Args:
        requests: resource name → quantity.
        longest: longest text of a quantity, which then may not have white space around it; None: as in a spec.
    """
    if len(requests) > MAX_REQUESTS:
        return None
    found = []
    for name, amount in requests.items():
        if longest is not None and not (isinstance(amount, str) and len(amount) <= longest):
            return None
        value = quantity.parse(amount) if longest is None else quantity.parse_text(amount)
        if value is None or value.value < 0 or not is_qualified(name):
            return None
        found.append((name, str(value)))
    return tuple(sorted(found, key=lambda pair: pair[0].encode("utf-8", "surrogatepass")))
