"""The plan of a collection: what is taken, what never is, and whose logs. The data stands in plan.yaml beside this module.

Both collectors follow it: the Python one in this package and the shell script that is made from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

FILE = "plan.yaml"


@dataclass(frozen=True, slots=True)
class Never:
    """Resources (a pattern) that are not even asked for, and why."""

    resource: str
    why: str


@dataclass(frozen=True, slots=True)
class Instead:
    """A resource that is asked for only where `of` cannot be had, since both show the same objects."""

    resource: str
    of: str
    why: str


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Objects that lose some fields (`a.b` or `a.b[].c`), unless they carry one of the labels or annotations in `keep`."""

    resource: str
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Referenced:
    """A ConfigMap whose name stands in a field (`a.b.c`) of the objects of a resource."""

    resource: str
    field: str


@dataclass(frozen=True, slots=True)
class ConfigMaps:
    """The ConfigMaps whose content is taken: by name, by label, by reference, or named like a node beside such a pod."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    referenced: tuple[Referenced, ...]
    of_nodes: tuple[str, ...]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class FieldManagers:
    """Objects that keep who wrote them and when: these resources, and all custom ones."""

    resources: tuple[str, ...]
    custom: bool


@dataclass(frozen=True, slots=True)
class LabelTimes:
    """Labels (patterns of keys) whose time of writing is kept, of these resources."""

    resources: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogRules:
    """Pods whose logs are taken though they are healthy: by name, namespace (patterns) or label (KEY or KEY=VALUE)."""

    pods: tuple[str, ...]
    namespaces: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pages:
    """How many objects a request asks for."""

    default: int
    small: int
    small_resources: tuple[str, ...]

    def of(self, resource: str) -> int:
        """The page size for a resource (PLURAL or PLURAL.GROUP)."""
        return self.small if resource in self.small_resources else self.default


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole plan. Groups and custom groups are patterns; resources are written PLURAL or PLURAL.GROUP."""

    version: int
    groups: tuple[str, ...]
    custom: tuple[str, ...]
    never: tuple[Never, ...]
    instead: tuple[Instead, ...]
    metadata_only: tuple[str, ...]
    trimmed: tuple[Trimmed, ...]
    configmaps: ConfigMaps
    field_managers: FieldManagers
    label_times: LabelTimes
    drop_annotations: tuple[str, ...]
    logs: LogRules
    pages: Pages

    def group_rank(self, group: str) -> int | None:
        """The place of an API group in the order of the requests; None for a group that is not in the plan."""
        for rank, pattern in enumerate((*self.groups, *self.custom)):
            if matches(pattern, group):
                return rank
        return None

    def is_custom(self, group: str) -> bool:
        """Is it a group of custom resources (those of the plan, and all that are none of Kubernetes' own)."""
        return group not in self.groups

    def why_never(self, resource: str, group: str) -> str | None:
        """Why a resource (PLURAL or PLURAL.GROUP) of an API group is not taken; None where it may be."""
        for entry in self.never:
            if matches(entry.resource, resource) or entry.resource == f"*.{group}":
                return entry.why
        return None


def resource_name(plural: str, group: str) -> str:
    """PLURAL for the core group, else PLURAL.GROUP."""
    return f"{plural}.{group}" if group else plural


def matches(pattern: str, text: str) -> bool:
    """Does a text match a pattern, in which * stands for any text and nothing else is special."""
    if "*" not in pattern:
        return pattern == text
    return _compiled(pattern).fullmatch(text) is not None


def matches_any(patterns: tuple[str, ...], text: str) -> bool:
    """Does a text match one of the patterns."""
    return _compiled_all(patterns).fullmatch(text) is not None


def has_any(wanted: Iterable[str], held: Mapping[str, object]) -> bool:
    """Is one of `wanted` (KEY or KEY=VALUE) among labels or annotations."""
    for entry in wanted:
        key, equals, value = entry.partition("=")
        if key in held and (not equals or held[key] == value):
            return True
    return False


@cache
def load() -> Plan:
    """The plan as it is shipped.

    Raises:
        ValueError: plan.yaml has an unknown or a missing field, or a value of the wrong type.
    """
    return parse(files("analyzer.collect").joinpath(FILE).read_bytes())


def parse(text: bytes) -> Plan:
    """Reads a plan from YAML.

    Raises:
        ValueError: as `load`.
    """
    import yaml

    try:
        value = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"the plan is no YAML: {error}") from error
    wrong = _unknown(value)
    if wrong:
        raise ValueError(f"the plan has an unknown field: {wrong}")
    return msgspec.convert(value, Plan)


def _unknown(value: object) -> str | None:
    """A field at the top of a plan that is none of ours, which would be passed over in silence."""
    if not isinstance(value, dict):
        return None
    return next((str(key) for key in value if key not in Plan.__dataclass_fields__), None)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_regex(pattern), re.DOTALL)


@lru_cache(maxsize=64)
def _compiled_all(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # One expression, since this is asked for every pod of a cluster. Without patterns one that matches nothing.
    return re.compile("|".join(map(_regex, patterns)) or r"(?!)", re.DOTALL)


def _regex(pattern: str) -> str:
    return ".*".join(re.escape(part) for part in pattern.split("*"))
