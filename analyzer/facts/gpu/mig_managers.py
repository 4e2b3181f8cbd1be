"""Which pod changes the MIG layout of a node, where its log is, and which ConfigMap it reads.

The GPU Operator mounts the ConfigMap that the ClusterPolicy names (`migManager.config.name`), else its own
`default-mig-parted-config`. Releases from 26.3 on make a ConfigMap for each node where none is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.gpu.mig_configs import KEY, read
from analyzer.facts.gpu.releases import of_must_gather
from analyzer.facts.rows import insert_rows

DEFAULT = "default-mig-parted-config"
"""The ConfigMap that the GPU Operator brings along."""
VOLUME = "mig-parted-config"
"""The volume of the MIG manager's pod that the ConfigMap is mounted as."""
PER_NODE = (26, 3)
"""First release of the GPU Operator that makes a ConfigMap for each node."""

_PODS = """
SELECT p.input, p.node, p.object_id, p.namespace, p.name, c.log_id, l.last_at,
    json_extract_string(list_filter(json_extract(o.json, '$.spec.volumes[*]'),
        lambda v: json_extract_string(v, '$.name') = $volume)[1], '$.configMap.name')
FROM pods p JOIN objects o USING (object_id)
LEFT JOIN containers c ON c.object_id = p.object_id AND c.type = 'main' AND c.idx = 0
LEFT JOIN logs l ON l.log_id = c.log_id
WHERE p.node <> '' AND p.phase NOT IN ('Succeeded', 'Failed')
    AND (contains(p.name, 'mig-manager') OR (p.owner_kind = 'DaemonSet' AND contains(p.owner_name, 'mig-manager')))
ORDER BY p.deleted_at IS NOT NULL DESC, p.created_at NULLS FIRST, p.object_id
"""
_POLICY = """
SELECT json_extract_string(json, '$.spec.migManager.config.name'), json_extract_string(json, '$.status.namespace') FROM objects
WHERE api_group = 'nvidia.com' AND kind = 'ClusterPolicy' AND input = $input AND deleted_at IS NULL
ORDER BY coalesce(json_extract_string(json, '$.status.state') = 'ignored', false), created_at, name LIMIT 1
"""
_OPERATOR = """
SELECT p.namespace, c.image FROM pods p JOIN containers c USING (object_id)
WHERE p.input = $input AND c.type = 'main' AND contains(p.name, 'gpu-operator-') AND contains(c.image, 'gpu-operator')
ORDER BY p.created_at DESC NULLS LAST, p.object_id LIMIT 1
"""
_VERSION = re.compile(r":v?(\d{1,3})\.(\d{1,3})", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Operator:
    """What the bundle says of the GPU Operator: its namespace, release, and the ConfigMap that its policy names."""

    namespace: str | None
    release: tuple[int, int] | None
    has_policy: bool
    named: str | None


@dataclass(frozen=True, slots=True)
class _Map:
    """A ConfigMap with layouts, or the reason why there is none."""

    name: str | None
    object_id: int | None
    error: str | None


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `mig_managers`; needs `gpu_nodes`, `pods`, `containers` and `logs`."""
    insert_rows(con, "mig_managers", list(_rows(con)))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    nodes = con.execute("SELECT object_id, input, name, mig_config FROM gpu_nodes ORDER BY object_id").fetchall()
    if not nodes:
        return
    pods = {(row[0], row[1]): row[2:] for row in con.execute(_PODS, {"volume": VOLUME}).fetchall()}
    operators: dict[int, _Operator] = {}
    maps: dict[tuple[int, str, str], _Map] = {}
    for object_id, number, name, config in nodes:
        pod = pods.get((number, name))
        if pod is None and config is None:
            continue
        pod_id, namespace, pod_name, log_id, last_at, mounted = pod or (None, None, None, None, None, None)
        if number not in operators:
            operators[number] = _operator(con, number)
        found = _configmap(con, maps, (number, name), operators[number], (namespace, mounted))
        yield {
            "object_id": object_id,
            "pod_id": pod_id,
            "pod": f"{namespace}/{pod_name}" if pod else None,
            "log_id": log_id,
            "log_last_at": last_at,
            "configmap": found.name,
            "configmap_id": found.object_id,
            "configmap_error": found.error,
        }


def _operator(con: duckdb.DuckDBPyConnection, number: int) -> _Operator:
    policy = con.execute(_POLICY, {"input": number}).fetchone()
    running = con.execute(_OPERATOR, {"input": number}).fetchone()
    version = _VERSION.search(running[1]) if running else None
    namespace = (policy[1] if policy else None) or (running[0] if running else None)
    release = (int(version[1]), int(version[2])) if version else of_must_gather(con, number)
    return _Operator(namespace, release, policy is not None, (policy[0] or None) if policy else None)


def _configmap(
    con: duckdb.DuckDBPyConnection,
    maps: dict[tuple[int, str, str], _Map],
    node: tuple[int, str],
    operator: _Operator,
    pod: tuple[str | None, str | None],
) -> _Map:
    """The ConfigMap whose layouts count for a node."""
    number, node_name = node
    namespace, mounted = pod[0] or operator.namespace, pod[1]

    def look(name: str) -> _Map:
        key = (number, namespace or "", name)
        if key not in maps:
            maps[key] = _look(con, key)
        return maps[key]

    if namespace is None:
        return _Map(None, None, "the namespace of the GPU Operator is not known")
    custom = next((name for name in (mounted, operator.named) if name and name != DEFAULT), None)
    if custom:
        return look(custom)
    if not operator.has_policy and not mounted:
        return _Map(None, None, "the ClusterPolicy, which names the ConfigMap with the layouts, is not in the bundle")
    own = look(f"{node_name}-mig-config")
    made = own.object_id is not None or (operator.release or (0, 0)) >= PER_NODE
    return own if made and not operator.named else look(DEFAULT)


def _look(con: duckdb.DuckDBPyConnection, key: tuple[int, str, str]) -> _Map:
    number, namespace, name = key
    row = con.execute(
        f"SELECT object_id, json_extract_string(json, '$.data.\"{KEY}\"') FROM objects "  # noqa: S608 - a constant
        "WHERE api_group = '' AND kind = 'ConfigMap' AND input = ? AND namespace = ? AND name = ?",
        [number, namespace, name],
    ).fetchone()
    full = f"{namespace}/{name}"
    if row is None:
        return _Map(full, None, f"ConfigMap {full} is not in the bundle")
    object_id, text = row
    if text is None:
        return _Map(full, object_id, f"ConfigMap {full} has no {KEY} in the bundle")
    wrong = read(text)[1]
    return _Map(full, object_id, f"ConfigMap {full} cannot be read: {wrong}" if wrong else None)
