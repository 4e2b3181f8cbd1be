"""The objects of Kueue beside its workloads, read by the fields that they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

import duckdb

from analyzer.facts.kueue.base import GROUP
from analyzer.facts.quantity import amount
from analyzer.facts.told import Conditions, conditions
from analyzer.facts.values import Stored, mapping, mappings, number, stored, strings, text

_KINDS = (
    "ClusterQueue",
    "LocalQueue",
    "Cohort",
    "ResourceFlavor",
    "Topology",
    "AdmissionCheck",
    "ProvisioningRequestConfig",
    "MultiKueueConfig",
    "MultiKueueCluster",
)
MAX_QUOTAS = 20_000
"""Quotas of one object that are read."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What an object declares of one flavor and resource; amounts that are no quantity are None."""

    group: int
    flavor: str
    resource: str
    nominal: Fraction | None
    borrow: Fraction | None
    lend: Fraction | None
    limits_known: bool
    path: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a ClusterQueue's status says of one flavor and resource."""

    total: Fraction | None
    borrowed: Fraction | None
    path: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in an object."""

    kind: str
    name: str
    path: str
    group: str = GROUP


@dataclass(slots=True)
class Thing:
    """A queue or a cohort, or anything else of Kueue."""

    object_id: int
    input: int
    kind: str
    namespace: str
    name: str
    created_at: datetime | None
    deleted_at: datetime | None
    whole: bool
    conditions: Conditions
    references: list[Reference]
    parent: str | None = None
    """Cohort of a ClusterQueue, parent of a Cohort."""
    cluster_queue: str | None = None
    stop: str | None = None
    strategy: str | None = None
    quotas: dict[tuple[str, str], Quota] = field(default_factory=dict)
    groups: list[tuple[str, ...]] = field(default_factory=list)
    """Resources covered by each resource group."""
    reserved: dict[tuple[str, str], Use] = field(default_factory=dict)
    used: dict[tuple[str, str], Use] = field(default_factory=dict)
    counters: dict[str, int | None] = field(default_factory=dict)
    controller: str | None = None
    state: str | None = None
    state_reason: str | None = None
    state_message: str | None = None
    since: datetime | None = None


@dataclass(slots=True)
class Told:
    """All of them, found by name."""

    by_key: dict[tuple[str, str, str], Thing] = field(default_factory=dict)
    """(kind, namespace, name)"""
    cycles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Cohorts whose parents turn in a circle: the names of that circle."""
    cohorts: set[str] = field(default_factory=set)
    """Names of all cohorts, those without an object too."""

    def of(self, kind: str) -> Iterator[Thing]:
        """The things of a kind."""
        return (thing for (known, _, _), thing in self.by_key.items() if known == kind)

    def get(self, kind: str, name: str | None, namespace: str = "") -> Thing | None:
        """The thing of that name."""
        return self.by_key.get((kind, namespace, name)) if name else None


def read(con: duckdb.DuckDBPyConnection) -> Told:
    """Reads the objects."""
    told = Told()
    salvaged = {
        number for (number,) in con.execute("SELECT object_id FROM objects WHERE api_group = ? AND NOT whole", [GROUP]).fetchall()
    }
    for item in stored(con, [(GROUP, kind) for kind in _KINDS]):
        thing = _thing(item, whole=item.object_id not in salvaged)
        told.by_key.setdefault((item.kind, item.namespace, item.name), thing)
    told.cohorts = {thing.name for thing in told.of("Cohort")}
    told.cohorts |= {thing.parent for kind in ("ClusterQueue", "Cohort") for thing in told.of(kind) if thing.parent}
    return told


def _thing(item: Stored, *, whole: bool) -> Thing:
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    thing = Thing(
        item.object_id,
        item.input,
        item.kind,
        item.namespace,
        item.name,
        item.created_at,
        item.deleted_at,
        whole,
        conditions(status),
        list(_references(item.kind, spec)),
    )
    if item.kind in ("ClusterQueue", "LocalQueue"):
        stop = text(spec.get("stopPolicy"))
        thing.stop = stop if stop in ("Hold", "HoldAndDrain") else None
        thing.cluster_queue = item.name if item.kind == "ClusterQueue" else text(spec.get("clusterQueue"))
        for counter in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads"):
            thing.counters[counter] = number(status.get(counter))
    if item.kind == "ClusterQueue":
        # v1beta2 calls it cohortName.
        thing.parent = text(spec.get("cohortName")) or text(spec.get("cohort"))
        thing.strategy = text(spec.get("queueingStrategy")) or "BestEffortFIFO"
        thing.reserved = uses_of(status, "flavorsReservation")
        thing.used = uses_of(status, "flavorsUsage")
    if item.kind == "Cohort":
        # v1alpha1 to v1beta2: parentName; the first alpha called it parent.
        thing.parent = text(spec.get("parentName")) or text(spec.get("parent"))
    if item.kind in ("ClusterQueue", "Cohort"):
        thing.groups, thing.quotas = _quotas(spec)
    if item.kind == "AdmissionCheck":
        thing.controller = text(spec.get("controllerName"))
    return thing


def _quotas(spec: dict[str, Any]) -> tuple[list[tuple[str, ...]], dict[tuple[str, str], Quota]]:
    covered: list[tuple[str, ...]] = []
    quotas: dict[tuple[str, str], Quota] = {}
    for index, group in enumerate(mappings(spec.get("resourceGroups"))):
        names: list[str] = strings(group.get("coveredResources"))
        for position, flavor in enumerate(mappings(group.get("flavors"))):
            name = text(flavor.get("name"))
            for place, resource in enumerate(mappings(flavor.get("resources"))):
                called = text(resource.get("name"))
                if not name or not called or len(quotas) >= MAX_QUOTAS:
                    continue
                borrow, lend = (amount(resource[key]) if resource.get(key) is not None else None for key in _LIMITS)
                known = all(resource.get(key) is None or amount(resource[key]) is not None for key in _LIMITS)
                path = f"spec.resourceGroups[{index}].flavors[{position}].resources[{place}].nominalQuota"
                nominal = amount(resource.get("nominalQuota", "0"))
                quotas.setdefault((name, called), Quota(index, name, called, nominal, borrow, lend, known, path))
                if called not in names:
                    names.append(called)
        covered.append(tuple(names))
    return covered, quotas


_LIMITS = ("borrowingLimit", "lendingLimit")


def uses_of(status: dict[str, Any], key: str) -> dict[tuple[str, str], Use]:
    """Amounts by flavor and resource, as a list of a queue's status (`flavorsReservation`, `flavorsUsage`) has them."""
    found: dict[tuple[str, str], Use] = {}
    for index, flavor in enumerate(mappings(status.get(key))):
        name = text(flavor.get("name"))
        for place, resource in enumerate(mappings(flavor.get("resources"))):
            called = text(resource.get("name"))
            if name and called and len(found) < MAX_QUOTAS:
                path = f"status.{key}[{index}].resources[{place}].total"
                borrowed = amount(resource.get("borrowed", "0"))
                found.setdefault((name, called), Use(amount(resource.get("total", "0")), borrowed, path))
    return found


def _references(kind: str, spec: dict[str, Any]) -> Iterator[Reference]:
    if kind in ("ClusterQueue", "Cohort"):
        for index, group in enumerate(mappings(spec.get("resourceGroups"))):
            place = f"spec.resourceGroups[{index}].flavors"
            yield from _named("ResourceFlavor", mappings(group.get("flavors")), place, ".name")
        for key in ("cohortName", "cohort", "parentName", "parent"):
            yield from _one("Cohort", spec.get(key), f"spec.{key}")
    elif kind == "LocalQueue":
        yield from _one("ClusterQueue", spec.get("clusterQueue"), "spec.clusterQueue")
    elif kind == "ResourceFlavor":
        yield from _one("Topology", spec.get("topologyName"), "spec.topologyName")
    elif kind == "MultiKueueConfig":
        yield from _named("MultiKueueCluster", spec.get("clusters"), "spec.clusters")
    if kind == "ClusterQueue":
        # v1beta1 has two lists, v1beta2 only the second.
        yield from _named("AdmissionCheck", spec.get("admissionChecks"), "spec.admissionChecks")
        listed = mappings(mapping(spec.get("admissionChecksStrategy")).get("admissionChecks"))
        yield from _named("AdmissionCheck", listed, "spec.admissionChecksStrategy.admissionChecks", ".name")
    if kind == "AdmissionCheck":
        parameters = mapping(spec.get("parameters"))
        target, name = text(parameters.get("kind")), text(parameters.get("name"))
        if target and name:
            yield Reference(target, name, "spec.parameters.name", text(parameters.get("apiGroup")) or "")


def _one(kind: str, value: Any, path: str) -> Iterator[Reference]:
    name = text(value)
    if name:
        yield Reference(kind, name, path)


def _named(kind: str, values: Any, path: str, end: str = "") -> Iterator[Reference]:
    """The names in a list, of items that are names or that have one."""
    for index, item in enumerate(values if isinstance(values, list) else []):
        yield from _one(kind, item.get("name") if isinstance(item, dict) else item, f"{path}[{index}]{end}")
