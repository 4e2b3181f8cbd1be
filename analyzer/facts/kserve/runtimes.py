"""ServingRuntimes and ClusterServingRuntimes: what they serve.

Source: KServe's API types ServingRuntimeSpec and SupportedModelFormat.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analyzer.facts.kserve.base import GROUP
from analyzer.facts.values import Stored, flag, mapping, mappings, number, stored, strings, text

CLUSTER = "ClusterServingRuntime"
LOCAL = "ServingRuntime"
MAX_FORMATS = 500
"""Formats of one runtime that are read."""


@dataclass(frozen=True, slots=True)
class Format:
    """An entry of spec.supportedModelFormats."""

    name: str
    version: str | None
    auto: bool
    priority: int | None
    path: str


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime."""

    object_id: int
    kind: str
    namespace: str
    name: str
    created_at: datetime | None
    disabled: bool
    multi_model: bool
    workers: bool
    protocols: tuple[str, ...]
    formats: tuple[Format, ...]

    def priority(self, model_format: str) -> int | None:
        """Priority of the first entry of that format; version and autoSelect do not count."""
        return next((entry.priority for entry in self.formats if entry.name == model_format), None)


@dataclass(frozen=True, slots=True)
class Runtimes:
    """All of them: those of each namespace, and those of the cluster."""

    local: dict[str, list[Runtime]]
    """By namespace."""
    cluster: list[Runtime]


def read(con: duckdb.DuckDBPyConnection) -> Runtimes:
    """Reads the runtimes."""
    local: dict[str, list[Runtime]] = defaultdict(list)
    cluster: list[Runtime] = []
    for item in stored(con, [(GROUP, LOCAL), (GROUP, CLUSTER)]):
        if item.kind == CLUSTER:
            cluster.append(runtime(item))
        else:
            local[item.namespace].append(runtime(item))
    return Runtimes(dict(local), cluster)


def runtime(item: Stored) -> Runtime:
    """Reads one."""
    spec = mapping(item.value.get("spec"))
    return Runtime(
        object_id=item.object_id,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        created_at=item.created_at,
        disabled=flag(spec.get("disabled")) is True,
        multi_model=flag(spec.get("multiModel")) is True,
        workers=isinstance(spec.get("workerSpec"), dict),
        protocols=tuple(strings(spec.get("protocolVersions"))),
        formats=tuple(
            Format(
                name,
                text(entry.get("version")),
                flag(entry.get("autoSelect")) is True,
                number(entry.get("priority")),
                f"spec.supportedModelFormats[{index}]",
            )
            for index, entry in enumerate(mappings(spec.get("supportedModelFormats"))[:MAX_FORMATS])
            if (name := text(entry.get("name")))
        ),
    )
