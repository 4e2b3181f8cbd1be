"""The layouts that the ConfigMaps of the MIG manager define (mig-parted's `mig-configs`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.bundle.documents.events import parse
from analyzer.bundle.documents.parsed import BadYamlError
from analyzer.facts.gpu.requests import devices
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings

MAX_TEXT = 1_500_000
"""Longest configuration that is read; a ConfigMap holds at most 1 MiB."""
MAX_RULES = 20_000
"""Rules read of one ConfigMap."""
KEY = "config.yaml"
"""The key of the ConfigMap that the MIG manager reads."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a layout for one profile (None where it makes no MIG devices)."""

    config: str
    idx: int
    filtered: bool
    devices: int | None
    enabled: bool
    profile: str | None
    per_gpu: int | None


def read(text: str) -> tuple[list[Rule], str | None]:
    """The rules of a mig-parted configuration, and what is wrong with it as a whole (None where nothing is).

    Rules that make no sense are passed over, as are those over `MAX_RULES`, which is said.
    """
    if len(text) > MAX_TEXT:
        return [], "it is too long to be read"
    try:
        value = parse(text.encode("utf-8", "replace")).value
    except BadYamlError as error:
        return [], f"it is no valid YAML (line {error.line + 1})"
    configs = mapping(value).get("mig-configs")
    if not isinstance(configs, dict):
        return [], "it has no mig-configs"
    found: list[Rule] = []
    for name, rules in configs.items():
        for rule in _rules(str(name), rules):
            if len(found) == MAX_RULES:
                return found, f"it has more than {MAX_RULES} rules"
            found.append(rule)
    return found, None


def _rules(name: str, rules: Any) -> Iterator[Rule]:
    for idx, rule in enumerate(mappings(rules) or [{}]):
        picked, filtered = rule.get("devices"), rule.get("device-filter") not in (None, "", [])
        count = len(picked) if isinstance(picked, list) else None
        enabled = rule.get("mig-enabled") is True
        profiles = mapping(rule.get("mig-devices")) if enabled else {}
        wanted: dict[str | None, int | None] = {str(profile): devices(amount) for profile, amount in profiles.items()}
        for profile, per_gpu in (wanted or {None: None}).items():
            yield Rule(name, idx, filtered, count, enabled, profile, per_gpu)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `mig_configs` from every ConfigMap that holds a mig-parted configuration."""
    insert_rows(con, "mig_configs", _rows(con))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    query = f"""
        SELECT object_id, namespace, name, json_extract_string(json, '$.data."{KEY}"') AS text FROM objects
        WHERE api_group = '' AND kind = 'ConfigMap' AND contains(json::VARCHAR, 'mig-configs')
            AND contains(coalesce(text, ''), 'mig-configs')
        ORDER BY object_id
    """  # noqa: S608 - a constant
    for object_id, namespace, name, text in con.execute(query).fetchall():
        for rule in read(text)[0]:
            yield {
                "object_id": object_id,
                "namespace": namespace,
                "configmap": name,
                "config": rule.config,
                "idx": rule.idx,
                "filtered": rule.filtered,
                "devices": rule.devices,
                "enabled": rule.enabled,
                "profile": rule.profile,
                "per_gpu": rule.per_gpu,
            }
