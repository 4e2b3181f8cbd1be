"""What Kueue's own configuration says, where the bundle has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb
import yaml

from analyzer.facts.values import mapping, mappings, strings, text

_KEY = "controller_manager_config.yaml"
_MAX_BYTES = 256_000
"""Longest configuration that is read."""


@dataclass(frozen=True, slots=True)
class Config:
    """The parts that facts depend on.

    Attributes:
        readable: the configuration is in the bundle and could be read.
        transforms: resources are renamed or recomputed before they are counted.
        excluded: prefixes of resources that are not counted.
        undeclared_ignored: a resource that no queue covers is not counted.
    """

    readable: bool
    transforms: bool = False
    excluded: tuple[str, ...] = ()
    undeclared_ignored: bool = False


def read_config(con: duckdb.DuckDBPyConnection) -> Config:
    """Reads the ConfigMap of Kueue's manager."""
    rows = con.execute(
        f"SELECT json_extract_string(json, '$.data.\"{_KEY}\"') FROM objects WHERE api_group = '' AND kind = 'ConfigMap' "  # noqa: S608
        f"AND contains(json::VARCHAR, '{_KEY}') AND contains(json::VARCHAR, 'config.kueue.x-k8s.io') ORDER BY object_id"
    ).fetchall()
    for (said,) in rows:
        value = _parsed(said)
        if value:
            resources = mapping(value.get("resources"))
            return Config(
                readable=True,
                transforms=bool(mappings(resources.get("transformations"))),
                excluded=tuple(strings(resources.get("excludeResourcePrefixes"))),
                undeclared_ignored=text(resources.get("quotaCheckStrategy")) == "IgnoreUndeclared",
            )
    return Config(readable=False)


def _parsed(said: str | None) -> dict[str, Any]:
    if not said or len(said) > _MAX_BYTES or "&" in said:
        return {}
    try:
        return mapping(yaml.safe_load(said))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
