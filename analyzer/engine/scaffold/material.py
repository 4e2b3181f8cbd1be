"""What the shapes of trouble have in common: texts of SQL and templates, sample objects, cases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from analyzer import times
from analyzer.engine.scaffold.answers import Answers, KindName

AT = "2026-11-01T12:00:00Z"
"""The end of the collection in the cases."""
SPACE = "shop"
"""The namespace of the sample objects."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Material:
    """What a shape gives to a rule: what its titles begin with, `needs` as in the file, query, message, cases and signatures."""

    subject: str
    needs: tuple[Any, ...]
    query: str
    message: str
    cases: tuple[Json, ...]
    signatures: tuple[Json, ...] = ()


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def shown(value: str) -> str:
    """A value in the text of a template."""
    return "{{ " + repr(value) + "|clip(200)|quote }}"


def firing_case(name: str, objects: list[Json], found: list[Json]) -> Json:
    """A case that expects these findings."""
    return {"name": f"fires: {name}", "at": AT, "objects": objects, "expect": {"findings": found}}


def silent_case(name: str, objects: list[Json]) -> Json:
    """A case that expects none."""
    return {"name": f"silent: {name}", "at": AT, "objects": objects, "expect": {"none": True}}


def unknown_case(missing: str) -> Json:
    """A case in which a kind was not collected."""
    return {
        "name": f"not evaluated: no {missing} was collected",
        "at": AT,
        "missing": [missing],
        "expect": {"notEvaluated": True},
    }


def sample_object(kind: KindName, rest: Json) -> Json:
    """A sample object of a kind."""
    metadata = {"name": f"sample-{kind.kind.lower()}"} | ({"namespace": SPACE} if kind.namespaced else {})
    head = {"apiVersion": f"{kind.group}/v1" if kind.group else "v1", "kind": kind.kind, "metadata": metadata}
    whole: Json = merged(head, rest)
    return whole


def merged(base: Any, more: Any) -> Any:
    """One mapping over another, key by key at every depth."""
    if not isinstance(base, dict) or not isinstance(more, dict):
        return more
    return base | {key: merged(base[key], value) if key in base else value for key, value in more.items()}


def name_of(thing: Json) -> str:
    """An object as a report names it."""
    metadata = thing["metadata"]
    return (
        f"{thing['kind']} {metadata['namespace']}/{metadata['name']}"
        if "namespace" in metadata
        else f"{thing['kind']} {metadata['name']}"
    )


def long_ago(answers: Answers) -> str:
    """A time that lies long enough before the end of the collection."""
    after = times.duration(answers.after) if answers.after else timedelta(0)
    return _time(max(after * 2, timedelta(hours=1)))


def just_now(answers: Answers) -> str:
    """A time that lies too short before the end of the collection."""
    return _time(times.duration(answers.after or "1s") / 2)


def _time(ago: timedelta) -> str:
    end = times.parse(AT)
    return (times.rfc3339(end - ago) if end else None) or AT


def about(table: str) -> str:
    """SQL: what the templates call an object."""
    return f"\n    CASE WHEN {table}.namespace = '' THEN {table}.name ELSE {table}.namespace || '/' || {table}.name END AS about"


def is_kind(table: str, kind: KindName) -> str:
    """SQL: rows of a kind."""
    return f"{table}.api_group = {literal(kind.group)} AND {table}.kind = {literal(kind.kind)}"
