"""What the bundle knows whole: only a complete list lets anything say that something is not there."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb


@dataclass(frozen=True, slots=True)
class Known:
    """The scope in which a kind was listed whole: `*` for the cluster, else namespaces; empty where it was not."""

    scope: frozenset[str]

    @property
    def everywhere(self) -> bool:
        """The list covers the whole cluster."""
        return "*" in self.scope

    def within(self, namespace: str) -> bool:
        """The list covers that namespace."""
        return self.everywhere or namespace in self.scope


def known(con: duckdb.DuckDBPyConnection, group: str, kind: str) -> Known:
    """How much of a kind was collected whole; needs `coverage`."""
    row = con.execute(
        "SELECT scope FROM coverage WHERE api_group = ? AND kind = ? AND status IN ('complete', 'absent')", [group, kind]
    ).fetchone()
    return Known(frozenset(row[0] or ()) if row else frozenset())
