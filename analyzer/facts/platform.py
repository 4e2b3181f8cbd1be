"""Namespaces of the platform: what does not work there is no matter of the cluster's users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

import duckdb
import msgspec

from analyzer.facts.data import beside
from analyzer.facts.rows import insert_rows

GPU_OPERATOR = "cluster"
"""Who acts in the namespace that a ClusterPolicy or GPUCluster of the GPU Operator names, whatever it is called."""

_NAMES = """
SELECT DISTINCT namespace FROM objects WHERE namespace <> ''
UNION SELECT name FROM objects WHERE api_group = '' AND kind = 'Namespace'
ORDER BY 1
"""
_GPU_OPERATOR = """
SELECT DISTINCT json_extract_string(json, '$.status.namespace') FROM objects
WHERE api_group = 'nvidia.com' AND kind IN ('ClusterPolicy', 'GPUCluster')
    AND json_extract_string(json, '$.status.namespace') <> ''
"""


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    owner: Literal["platform", "cluster"]
    namespaces: tuple[str, ...]


@lru_cache(maxsize=1)
def _kept() -> Sequence[_Kept]:
    return beside(__file__, "platform.yaml", list[_Kept])


def owner_of(namespace: str) -> str | None:
    """Who acts in a namespace by its name: platform or cluster; None where it belongs to users of the cluster."""
    found = (kept.owner for kept in _kept() if any(fnmatchcase(namespace, pattern) for pattern in kept.namespaces))
    return next(found, None)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `platform_namespaces`; needs `objects`."""
    insert_rows(con, "platform_namespaces", _rows(con))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, str]]:
    operators = {name for (name,) in con.execute(_GPU_OPERATOR).fetchall()}
    for (name,) in con.execute(_NAMES).fetchall():
        owner = owner_of(name) or (GPU_OPERATOR if name in operators else None)
        if owner:
            yield {"namespace": name, "owner": owner}
