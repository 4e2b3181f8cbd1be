"""KServe's own configuration (the default deployment mode) and its version, where the bundle has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import duckdb
import orjson

from analyzer.facts.values import mapping, text

_NAME = "inferenceservice-config"
_MAX_BYTES = 256_000
"""Longest configuration that is read."""

_VERSION = re.compile(r":v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?:[-+.][\w.-]{0,40})?(?:@|$)")

MODES = {
    "Serverless": "Knative",
    "Knative": "Knative",
    "RawDeployment": "Standard",
    "Standard": "Standard",
    "ModelMesh": "ModelMesh",
}
"""A deployment mode as written → as KServe calls it since 0.16."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the bundle says of it.

    Attributes:
        mode: the default deployment mode, None where the bundle does not say.
        mode_id: the ConfigMap that says so.
        version: version of the controller by its image, None where that is not in the bundle or has no version.
    """

    mode: str | None = None
    mode_id: int | None = None
    version: str | None = None

    @property
    def release(self) -> tuple[int, int] | None:
        """Major and minor version of the controller."""
        if self.version is None:
            return None
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


def read_config(con: duckdb.DuckDBPyConnection) -> Config:
    """The configuration.

    The ConfigMap counts that lies beside the controller, else the one in namespace kserve; of several elsewhere one
    counts only where all say the same.
    """
    beside: list[tuple[str, str | None]] = []
    for namespace, images in con.execute(
        "SELECT namespace, json_extract_string(json, '$.spec.template.spec.containers[*].image') FROM objects "
        "WHERE api_group = 'apps' AND kind = 'Deployment' AND name = 'kserve-controller-manager' ORDER BY object_id"
    ).fetchall():
        versions = [match[1] for image in images or [] if image and "kserve" in image and (match := _VERSION.search(image))]
        beside.append((namespace, versions[0] if versions else None))
    maps: list[tuple[str, int, str]] = []
    for object_id, namespace, said in con.execute(
        "SELECT object_id, namespace, json_extract_string(json, '$.data.deploy') FROM objects "
        "WHERE api_group = '' AND kind = 'ConfigMap' AND name = ? ORDER BY object_id",
        [_NAME],
    ).fetchall():
        mode = MODES.get(text(_parsed(said).get("defaultDeploymentMode")) or "")
        if mode:
            maps.append((namespace, object_id, mode))
    version = next((said for _, said in beside if said), None)
    chosen = _map_of(maps, [namespace for namespace, _ in beside])
    return Config(chosen[2] if chosen else None, chosen[1] if chosen else None, version)


def _map_of(maps: list[tuple[str, int, str]], namespaces: list[str]) -> tuple[str, int, str] | None:
    for wanted in (*namespaces, "kserve"):
        for entry in maps:
            if entry[0] == wanted:
                return entry
    return maps[0] if maps and len({mode for _, _, mode in maps}) == 1 else None


def _parsed(said: str | None) -> dict[str, Any]:
    if not said or len(said) > _MAX_BYTES:
        return {}
    try:
        return mapping(orjson.loads(said))
    except orjson.JSONDecodeError:
        return {}
