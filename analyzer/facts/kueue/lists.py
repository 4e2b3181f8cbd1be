"""Whether the bundle holds all objects of a kind of Kueue, so that one that is not there does not exist."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analyzer.facts.kueue.base import GROUP

_KNOWN = ("complete", "absent")


@dataclass(frozen=True, slots=True)
class Lists:
    """Coverage by kind: its status, and the namespaces that were looked at whole (`*` for all)."""

    status: dict[str, str]
    scope: dict[str, frozenset[str]]

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection) -> Lists:
        """Reads `coverage`."""
        rows = con.execute("SELECT kind, status, scope FROM coverage WHERE api_group = ?", [GROUP]).fetchall()
        return cls({kind: status for kind, status, _ in rows}, {kind: frozenset(scope or ()) for kind, _, scope in rows})

    def whole(self, kind: str) -> bool:
        """Every object of the kind is in the bundle."""
        return self.status.get(kind) in _KNOWN

    def whole_in(self, kind: str, namespace: str) -> bool:
        """Every object of the kind in that namespace is in the bundle."""
        return self.whole(kind) and bool(self.scope.get(kind, frozenset()) & {"*", namespace})
