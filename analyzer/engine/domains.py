"""Which domains a bundle shows any trace of; rules of the others are not listed one by one."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import duckdb
import msgspec

from analyzer.engine.model import NO_TRACE, NotEvaluated
from analyzer.engine.yamltext import read_yaml


@dataclass(frozen=True, slots=True)
class Domain:
    """What shows that a domain is there; see domains.yaml."""

    name: str
    core: bool = False
    quiet: bool = False
    groups: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def domains() -> tuple[Domain, ...]:
    """All domains of the catalogue."""
    rows = read_yaml(Path(__file__).with_name("domains.yaml"), "domains.yaml").value
    return tuple(msgspec.convert(row, Domain) for row in rows)


_GROUPS = """
SELECT DISTINCT api_group FROM objects
UNION SELECT DISTINCT about_group FROM events
UNION SELECT DISTINCT owner_group FROM owners
UNION SELECT DISTINCT json_extract_string(json, '$.spec.group') FROM objects WHERE kind = 'CustomResourceDefinition'
"""

_KEYS = """
WITH parts AS (
  SELECT json_extract(json, ['$.metadata.labels', '$.metadata.annotations']) AS maps,
         json_extract_string(json, '$.metadata.finalizers[*]') AS finalizers
  FROM objects),
resources AS (
  SELECT unnest(list_concat(
    json_extract(json, '$.spec.containers[*].resources.limits'),
    json_extract(json, '$.spec.containers[*].resources.requests'),
    json_extract(json, '$.spec.template.spec.containers[*].resources.limits'),
    [json_extract(json, '$.status.capacity')])) AS map
  FROM objects WHERE kind IN ('Pod', 'Node', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'))
SELECT DISTINCT name FROM (
  SELECT unnest(json_keys(map)) AS name FROM (SELECT unnest(maps) AS map FROM parts) WHERE json_type(map) = 'OBJECT'
  UNION ALL SELECT unnest(finalizers) FROM parts
  UNION ALL SELECT unnest(json_keys(map)) FROM resources WHERE json_type(map) = 'OBJECT')
WHERE name LIKE '%/%'
"""


def present(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The names of the domains that the bundle shows any trace of, the core ones always."""
    groups = _column(con, _GROUPS)
    keys = _column(con, _KEYS)
    pods = _column(con, "SELECT DISTINCT name FROM objects WHERE kind = 'Pod' AND api_group = ''")
    signatures = _column(con, "SELECT DISTINCT signature FROM log_hit_counts")
    roles = _column(con, "SELECT DISTINCT role FROM documents")
    return frozenset(
        domain.name
        for domain in domains()
        if domain.core
        or _any(domain.groups, groups)
        or _any(domain.keys, keys)
        or _any(domain.pods, pods)
        or roles.intersection(domain.documents)
        or _any(domain.signatures, signatures)
        or any(_has_field(con, field) for field in domain.fields)
    )


def absences(here: frozenset[str], with_rules: Iterable[str]) -> list[NotEvaluated]:
    """One entry for each domain without a trace, and for each that is there but that no rule is about."""
    known = frozenset(with_rules)
    entries = []
    for domain in domains():
        if domain.name not in here:
            if not domain.quiet:
                entries.append(NotEvaluated(f"{domain.name}/*", f"{NO_TRACE} {domain.name} in this bundle"))
        elif not domain.core and domain.name not in known:
            reason = f"{domain.name} is in this bundle, but this version has no rules for it"
            entries.append(NotEvaluated(f"{domain.name}/*", reason))
    return entries


def is_absent(names: Iterable[str], here: frozenset[str]) -> bool:
    """Whether one of these domains is one of the catalogue's and has no trace; a pack's own domain is never absent."""
    return any(name not in here and any(known.name == name for known in domains()) for name in names)


def _column(con: duckdb.DuckDBPyConnection, query: str) -> frozenset[str]:
    return frozenset(value for (value,) in con.execute(query).fetchall() if value)


def _any(patterns: tuple[str, ...], names: frozenset[str]) -> bool:
    if not patterns:
        return False
    match = _compiled(patterns).match
    return any(match(name) for name in names)


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(one) for one in patterns))


def _has_field(con: duckdb.DuckDBPyConnection, field: str) -> bool:
    kind, path = field.split()
    query = "SELECT 1 FROM objects WHERE kind = ? AND json_exists(json, ?) LIMIT 1"
    return con.execute(query, [kind, f"$.{path}"]).fetchone() is not None
