"""A field of objects: it has a value, lacks one, or is not there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from analyzer.engine.scaffold.answers import Answers, Field
from analyzer.engine.scaffold.material import (
    Json,
    Material,
    about,
    firing_case,
    is_kind,
    literal,
    merged,
    name_of,
    sample_object,
    shown,
    silent_case,
    unknown_case,
)

_TEXT_MAPS = frozenset({"labels", "annotations", "data", "matchLabels", "nodeSelector"})


def of_field(shape: Field, answers: Answers) -> Material:
    """The query and the cases of a field."""
    path, status = _path(shape.steps), shape.steps[0] == "status"
    said = "{{ value|clip(200)|quote }}"
    says = "is not set" if shape.value is None else f"is {said}"
    if shape.lacks:
        says = f"is {{% if value is none %}}not set{{% else %}}{said}{{% endif %}}, and not {shown(shape.value or '')}"
    return Material(
        shape.kind.kind,
        ({"kind": str(shape.kind), "status": True} if status else str(shape.kind),),
        _query(shape, "Reported" if status else "Declared"),
        f"In {shape.kind.kind} {{{{ about }}}} the field {path} {says}.",
        _cases(shape, answers),
    )


def _query(shape: Field, k: str) -> str:
    """One row an object; with a `*` in the path all its values count, and the first that is meant is quoted."""
    columns = f"o.object_id, o.namespace, o.name, {about('o')}"
    where = f"{is_kind('o', shape.kind)} AND o.deleted_at IS NULL"
    path, told = literal(_path(shape.steps)), f"json_extract_string(o.json, {literal(_json_path(shape.steps))})"
    wanted = literal(shape.value or "")
    if "*" in shape.steps and shape.value is not None and not shape.lacks:
        return _query_of_items(shape, columns, where, k)
    if "*" in shape.steps:
        test = f"len({told}) = 0" if shape.value is None else f"NOT list_contains({told}, {wanted})"
        told, k = f"nullif(array_to_string({told}, ', '), '')", "Computed"
    elif shape.value is None:
        test = f"{told} IS NULL"
    else:
        test = f"{told} IS DISTINCT FROM {wanted}" if shape.lacks else f"{told} = {wanted}"
    return f"""
SELECT object_id, namespace, name, about, value,
  [CASE WHEN value IS NULL THEN ev(object_id, {path}, 'not set', k := 'Computed')
   ELSE ev(object_id, {path}, value, k := '{k}') END] AS evidence
FROM (
  SELECT {columns}, {told} AS value
  FROM objects AS o
  WHERE {where}
    AND {test}
)
ORDER BY namespace, name
"""  # noqa: S608 - every answer stands in it as a quoted literal


def _query_of_items(shape: Field, columns: str, where: str, k: str) -> str:
    """The query of a path with a `*` and a value: the first item that has it is quoted."""
    at = shape.steps.index("*")
    before, tail = literal(_path(shape.steps[:at]) + "["), literal(_path(("x", *shape.steps[at + 1 :])).replace("x", "]", 1))
    items, inner = literal(_json_path(shape.steps[: at + 1])), literal(_json_path(shape.steps[at + 1 :]))
    return f"""
SELECT object_id, namespace, name, about, value,
  [ev(object_id, {before} || idx || {tail}, value, k := '{k}')] AS evidence
FROM (
  SELECT *, json_extract_string(item, {inner}) AS value
  FROM (
    SELECT {columns}, unnest(json_extract(o.json, {items})) AS item,
      generate_subscripts(json_extract(o.json, {items}), 1) - 1 AS idx
    FROM objects AS o
    WHERE {where}
  )
)
WHERE value = {literal(shape.value or "")}
QUALIFY row_number() OVER (PARTITION BY object_id ORDER BY idx) = 1
ORDER BY namespace, name
"""  # noqa: S608 - every answer stands in it as a quoted literal


def _cases(shape: Field, answers: Answers) -> tuple[Json, ...]:
    """Objects with the field as it is meant, near it, and without it."""

    def sample(value: str | None) -> Json:
        built: Any = {} if value is None else _typed(value, shape.steps)
        for step in reversed(shape.steps) if value is not None else ():
            built = [*({} for _ in range(step)), built] if isinstance(step, int) else [built] if step == "*" else {step: built}
        base = {"status": {"observedGeneration": 1}} if shape.steps[0] == "status" else {}
        return sample_object(shape.kind, merged(base, built))

    def firing(name: str, value: str | None) -> Json:
        thing = sample(value)
        parts = [value if value is not None else "not set"]
        return firing_case(name, [thing], [{"object": name_of(thing), "severity": answers.severity, "contains": parts}])

    path, unknown = _path(shape.steps), unknown_case(str(shape.kind))
    wanted, other = shape.value or "set", _another(shape.value or "set")
    if shape.value is None:
        return firing(f"{path} is not set", None), silent_case(f"{path} is set", [sample(wanted)]), unknown
    if shape.lacks:
        silent = silent_case(f"{path} is {wanted}", [sample(wanted)])
        return firing(f"{path} is {other}", other), firing(f"{path} is not set", None), silent, unknown
    silent, unset = silent_case(f"{path} is {other}", [sample(other)]), silent_case(f"{path} is not set", [sample(None)])
    return firing(f"{path} is {wanted}", wanted), silent, unset, unknown


def _path(steps: Iterable[str | int]) -> str:
    """The path as evidence has it: `metadata.labels["example.com/role"]`."""
    text = ""
    for step in steps:
        if isinstance(step, int) or step == "*":
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def _json_path(steps: Iterable[str | int]) -> str:
    """The path as DuckDB's JSON functions take it: `$.metadata.labels."example.com/role"`."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) or step == "*" else f'."{step}"' for step in steps)


def _typed(value: str, steps: tuple[str | int, ...]) -> Any:
    """The value as a manifest has it: numbers and booleans as such, but for maps of text and for metadata."""
    if steps[0] == "metadata" or any(step in _TEXT_MAPS for step in steps):
        return value
    if value in ("true", "false"):
        return value == "true"
    whole = value.removeprefix("-").isdecimal() and str(int(value)) == value and len(value) < 16
    return int(value) if whole else value


def _another(value: str) -> str:
    """A value near the one that is meant."""
    if value in ("true", "false"):
        return "false" if value == "true" else "true"
    typed = _typed(value, ("spec",))
    return str(typed + 1) if isinstance(typed, int) else f"{value}-2"
