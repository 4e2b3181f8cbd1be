"""Which resources the server has: asked in two requests where it can (aggregated discovery), else group by group.

Only groups of the plan and of --include are looked into. Of a plural that several versions serve the preferred one is taken,
else the first in the server's own order; a kind that only another version has (nvidia.com/v1alpha1 NVIDIADriver) is not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from analyzer.collect.api import Api, TooLargeError, path_of
from analyzer.collect.errors import RequestError
from analyzer.collect.plan import Plan, matches, resource_name

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ACCEPT = f"{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
WHOLE_GROUP = "*"
"""Stands for a group's resources where the group itself is not served or could not be looked into."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind that can be listed.

    Attributes:
        group: API group, "" for core.
        version: the version that is asked.
        plural: name in the URL.
        kind: of its objects.
        namespaced: does an object belong to a namespace.
        custom: of a group that is none of Kubernetes' own.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    custom: bool = False

    @property
    def name(self) -> str:
        """PLURAL, or PLURAL.GROUP."""
        return resource_name(self.plural, self.group)

    @property
    def api_version(self) -> str:
        """As objects carry it: `v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True)
class LeftGroup:
    """A group of the plan without resources: not served, or its discovery failed."""

    group: str
    version: str
    outcome: str
    status: int | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Discovered:
    """What there is to collect, in the order of the plan.

    Attributes:
        resources: what to list.
        groups: groups that are not served or could not be looked into.
        never: resources that are never taken, and why.
        unplanned: resources that neither the plan nor --include names.
        unknown: what --include names and the server does not serve.
    """

    resources: tuple[Resource, ...]
    groups: tuple[LeftGroup, ...]
    never: tuple[tuple[str, str], ...]
    unplanned: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Served:
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool


def discover(api: Api, plan: Plan, include: Sequence[str] = ()) -> Discovered:
    """Asks the server what it serves, and picks what the plan and `include` (GROUP or PLURAL.GROUP, patterns) name.

    Raises:
        RequestError: the server gives no discovery at all: there is nothing that could be collected.
        TooLargeError: nor one that can be read.
        Stopped: the collection ends.
    """
    served: list[_Served] = []
    groups: set[str] = set()
    left: list[LeftGroup] = []
    for root in ("/api", "/apis"):
        value = _get(api, root, _ACCEPT)
        if str(value.get("kind")) == "APIGroupDiscoveryList":
            for entry in _dicts(value.get("items")):
                group = _text(_dict(entry.get("metadata")).get("name"))
                groups.add(group)
                served.extend(_aggregated(entry, group, left))
        else:
            for group, versions in _listed(value, root):
                groups.add(group)
                if plan.group_rank(group) is not None or _included(include, group):
                    served.extend(_one_by_one(api, group, versions, left))
    return _picked(served, groups, left, plan, include)


def _picked(served: list[_Served], groups: set[str], left: list[LeftGroup], plan: Plan, include: Sequence[str]) -> Discovered:
    chosen: dict[tuple[str, str], tuple[int, Resource]] = {}
    never: dict[str, str] = {}
    unplanned: set[str] = set()
    for entry in served:
        name = resource_name(entry.plural, entry.group)
        why = plan.why_never(name, entry.group)
        rank = plan.group_rank(entry.group)
        if rank is None and _included(include, entry.group, name):
            rank = len(plan.groups) + len(plan.custom)
        if rank is None:
            unplanned.add(name)
        elif why is not None:
            never[name] = why
        elif (entry.group, entry.plural) not in chosen:
            resource = Resource(
                entry.group, entry.version, entry.plural, entry.kind, entry.namespaced, custom=plan.is_custom(entry.group)
            )
            chosen[entry.group, entry.plural] = (rank, resource)
    missing = [group for group in (*plan.groups, *plan.custom) if "*" not in group and group not in groups]
    left += [LeftGroup(group, "", "not-served", 404, None) for group in missing]
    ordered = sorted(chosen.values(), key=lambda pair: (pair[0], pair[1].group, pair[1].plural))
    return Discovered(
        tuple(resource for _, resource in ordered),
        tuple(sorted(left, key=lambda entry: (entry.group, entry.version))),
        tuple(sorted(never.items())),
        tuple(sorted(unplanned)),
        tuple(pattern for pattern in include if not _names_any(pattern, served)),
    )


def _names_any(pattern: str, served: Iterable[_Served]) -> bool:
    return any(matches(pattern, entry.group) or matches(pattern, resource_name(entry.plural, entry.group)) for entry in served)


def _included(include: Iterable[str], group: str, name: str | None = None) -> bool:
    """Is a group (or a resource of it) asked for by --include; without `name`: could one of the group's be."""
    for pattern in include:
        if matches(pattern, group) or (name is not None and matches(pattern, name)):
            return True
        if name is None and group and (pattern.endswith(f".{group}") or "*" in pattern):
            return True
    return False


def _aggregated(entry: dict[str, Any], group: str, left: list[LeftGroup]) -> Iterator[_Served]:
    """The resources in one group of an APIGroupDiscoveryList; its versions come in the server's order of preference."""
    for version in _dicts(entry.get("versions")):
        name = _text(version.get("version"))
        if version.get("freshness") == "Stale" and not version.get("resources"):
            left.append(LeftGroup(group, name, "failed", None, "the API server has no current discovery of it"))
        for item in _dicts(version.get("resources")):
            kind = _text(_dict(item.get("responseKind")).get("kind"))
            if kind and "list" in _list(item.get("verbs")):
                yield _Served(group, name, _text(item.get("resource")), kind, item.get("scope") == "Namespaced")


def _listed(value: dict[str, Any], root: str) -> Iterator[tuple[str, list[str]]]:
    """Groups and their versions, the preferred one first, of an APIVersions or an APIGroupList."""
    if root == "/api":
        yield "", [version for version in _list(value.get("versions")) if isinstance(version, str)] or ["v1"]
        return
    for entry in _dicts(value.get("groups")):
        versions = [_text(version.get("version")) for version in _dicts(entry.get("versions"))]
        preferred = _text(_dict(entry.get("preferredVersion")).get("version"))
        yield _text(entry.get("name")), sorted(versions, key=lambda version: version != preferred)


def _one_by_one(api: Api, group: str, versions: Iterable[str], left: list[LeftGroup]) -> Iterator[_Served]:
    for version in versions:
        try:
            value = _get(api, path_of(group, version, "").rstrip("/"))
        except RequestError as error:
            left.append(LeftGroup(group, version, error.outcome, error.status, error.message))
            continue
        for item in _dicts(value.get("resources")):
            plural, kind = _text(item.get("name")), _text(item.get("kind"))
            if plural and kind and "/" not in plural and "list" in _list(item.get("verbs")):
                yield _Served(group, version, plural, kind, item.get("namespaced") is True)


def _get(api: Api, path: str, accept: str = "application/json") -> dict[str, Any]:
    try:
        value = orjson.loads(api.get(path, accept=accept))
    except (orjson.JSONDecodeError, TooLargeError) as error:
        raise RequestError("failed", 200, f"{path} is no JSON that can be read") from error
    if not isinstance(value, dict):
        raise RequestError("failed", 200, f"{path} is no JSON object")
    return value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in _list(value) if isinstance(entry, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
