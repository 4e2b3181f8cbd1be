"""Strategic merge of runtimes and components (apimachinery's strategicpatch, over the types of OME's runtimes)."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 64
"""Below this depth a patch replaces: no field of a pod is nearly as deep."""

_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "topologySpreadConstraints": "topologyKey",
    "hostAliases": "ip",
}
"""Lists that are merged item by item, with the field that tells items apart; all other lists are replaced."""


def merged(base: dict[str, Any], patch: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """The base with the patch laid over it; neither is changed.

    Scalars are replaced, mappings are merged key by key, a few lists by the key of their items. A null in the patch is no
    value: OME drops nulls before it merges, so that an empty value never clears what was inherited.
    """
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            continue
        held = result.get(key)
        if isinstance(held, dict) and isinstance(value, dict) and depth < MAX_DEPTH:
            result[key] = merged(held, value, depth + 1)
        elif isinstance(held, list) and isinstance(value, list) and key in _KEYS and depth < MAX_DEPTH:
            result[key] = _lists(held, value, _KEYS[key], depth + 1)
        else:
            result[key] = stripped(value, depth + 1)
    return result


def stripped(value: Any, depth: int = 0) -> Any:
    """A value without the nulls of its mappings."""
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: stripped(item, depth + 1) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [stripped(item, depth + 1) for item in value]
    return value


def _lists(base: list[Any], patch: list[Any], key: str, depth: int) -> list[Any]:
    """Two lists of mappings as one: items of the same key are merged.

    The order is that of the patch; what only the base has comes before the first item of the patch that follows it in the
    base, else at the end.
    """
    if not all(isinstance(item, dict) for item in (*base, *patch)):
        return patch
    places = {_name(item, key): place for place, item in reversed(list(enumerate(base)))}
    taken = {_name(item, key) for item in patch}
    rest = [item for item in base if _name(item, key) not in taken]
    result: list[Any] = []
    for item in patch:
        name = _name(item, key)
        place = places.get(name)
        while place is not None and rest and places[_name(rest[0], key)] < place:
            result.append(rest.pop(0))
        result.append(stripped(item, depth) if place is None else merged(base[place], item, depth))
    return result + rest


def _name(item: dict[str, Any], key: str) -> Any:
    value = item.get(key)
    return value if isinstance(value, str | int) else ""
