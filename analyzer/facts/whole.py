"""Which kinds the bundle holds whole: only a complete list lets anything say that something is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb


@dataclass(frozen=True, slots=True)
class Whole:
    """The namespaces in which each kind, given as (API group, kind), was listed whole; `*` for the cluster."""

    scopes: Mapping[tuple[str, str], frozenset[str]]

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection) -> Whole:
        """Reads `coverage`."""
        rows = con.execute("SELECT api_group, kind, scope FROM coverage WHERE status IN ('complete', 'absent')").fetchall()
        return cls({(group, kind): frozenset(scope or ()) for group, kind, scope in rows})

    def has(self, group: str, kind: str, namespace: str = "*") -> bool:
        """Every object of the kind in that namespace, `*` for the cluster, is in the bundle."""
        return not self.scopes.get((group, kind), frozenset()).isdisjoint(("*", namespace))
