"""A rule's cases: given objects, logs and what is missing, the findings expected. Reads `<Code>.cases.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer import times
from analyzer.engine.yamltext import Document, Place, YamlError, read_yaml

_CASE_KEYS = frozenset({"name", "at", "objects", "logs", "documents", "errors", "files", "missing", "collected", "expect"})
_EXPECT_KEYS = frozenset({"findings", "none", "notEvaluated", "explained", "states"})
_FINDING_KEYS = frozenset(
    {"object", "severity", "since", "count", "contains", "lacks", "title", "waiting", "owner", "basis", "objects", "next"}
)
_DEFAULT_AT = "2026-11-01T12:00:00Z"


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `at` is the end of the collection, `knows_time` false where the bundle does not say it."""

    name: str
    place: Place
    at: str
    knows_time: bool
    objects: tuple[dict[str, Any], ...]
    logs: tuple[dict[str, Any], ...]
    documents: tuple[dict[str, Any], ...]
    errors: tuple[dict[str, Any], ...]
    files: tuple[dict[str, Any], ...]
    missing: tuple[str, ...]
    expect: dict[str, Any]

    @property
    def fires(self) -> bool:
        """It expects a finding of its rule."""
        return bool(self.expect.get("findings"))

    @property
    def silent(self) -> bool:
        """It expects none."""
        return bool(self.expect.get("none"))

    @property
    def unknown(self) -> bool:
        """It expects that the rule cannot be evaluated."""
        return bool(self.expect.get("notEvaluated"))


def read_cases(path: Path, name: str) -> tuple[Case, ...]:
    """The cases of a file.

    Args:
        path: the file.
        name: how it is called in messages.

    Raises:
        YamlError: it cannot be read, or something in it is wrong; with its line.
    """
    document = read_yaml(path, name)
    return tuple(_case(document, f"cases[{index}]", item) for index, item in enumerate(document.only_list("cases")))


def _case(document: Document, path: str, value: Any) -> Case:
    if not isinstance(value, dict):
        raise _wrong(document, path, "a case is a mapping")
    for key in value:
        if key not in _CASE_KEYS:
            raise _wrong(document, f"{path}.{key}", f"unknown key {key!r}")
    if not isinstance(value.get("name"), str):
        raise _wrong(document, path, "a case needs a name")
    at = str(value.get("at", _DEFAULT_AT))
    if times.parse(at) is None:
        raise _wrong(document, f"{path}.at", f"at is {at!r}, no time")
    missing = value.get("missing") or []
    if not isinstance(missing, list) or not all(isinstance(item, str) for item in missing):
        raise _wrong(document, f"{path}.missing", "missing must be a list of kinds")
    return Case(
        name=value["name"],
        place=document.place(path),
        at=at,
        knows_time=not ("collected" in value and value["collected"] is None),
        objects=_objects(document, path, value),
        logs=_mappings(document, path, value, "logs"),
        documents=_mappings(document, path, value, "documents"),
        errors=_mappings(document, path, value, "errors"),
        files=_mappings(document, path, value, "files"),
        missing=tuple(missing),
        expect=_expect(document, f"{path}.expect", value.get("expect")),
    )


def _objects(document: Document, path: str, value: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    objects = _mappings(document, path, value, "objects")
    for index, item in enumerate(objects):
        if not item.get("apiVersion") or not item.get("kind") or not isinstance(item.get("metadata"), dict):
            raise _wrong(document, f"{path}.objects[{index}]", "an object needs apiVersion, kind and metadata")
    return objects


def _expect(document: Document, path: str, value: Any) -> dict[str, Any]:
    """What is expected, with nothing in it that would be passed over."""
    if not isinstance(value, dict) or not value:
        raise _wrong(document, path, "expect must say what is expected")
    for key in value:
        if key not in _EXPECT_KEYS:
            raise _wrong(document, f"{path}.{key}", f"unknown key {key!r}")
    for index, item in enumerate(value.get("findings") or []):
        if not isinstance(item, dict) or set(item) - _FINDING_KEYS:
            keys = ", ".join(sorted(_FINDING_KEYS))
            raise _wrong(document, f"{path}.findings[{index}]", f"a finding has the keys {keys}")
    for key in ("explained", "states"):
        if not isinstance(value.get(key, {}), dict):
            raise _wrong(document, f"{path}.{key}", f"{key} must be a mapping")
    return value


def _mappings(document: Document, path: str, value: dict[str, Any], key: str) -> tuple[dict[str, Any], ...]:
    items = value.get(key) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _wrong(document, f"{path}.{key}", f"{key} must be a list of mappings")
    return tuple(items)


def _wrong(document: Document, path: str, problem: str) -> YamlError:
    return YamlError(document.place(path), problem)
