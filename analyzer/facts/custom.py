"""Custom resources that say of themselves that something is wrong, of kinds that have no rules of their own.

Only conditions whose meaning is the same everywhere count (`Ready`, `Available`, `Degraded`, `Failing`, as the Kubernetes API
conventions and the OpenShift operators use them). What counts and what does not is data: `custom.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import duckdb

from analyzer.facts.data import beside
from analyzer.facts.kindnames import BUILT_IN

_FAULTS = """
INSERT INTO custom_faults
SELECT c.object_id, c.api_group, c.kind, c.namespace, c.name, c.idx, c.type, c.status, c.reason, c.message, c.since
FROM conditions c
JOIN objects o USING (object_id)
WHERE list_contains($bad, c.type || '=' || c.status) AND list_contains($kinds, c.api_group || '/' || c.kind)
  AND o.deleted_at IS NULL
  AND NOT list_contains($harmless, lower(coalesce(c.reason, '')))
  AND NOT list_contains(json_extract_string(o.json, $switches), 'true')
  AND len(list_filter(json_extract_string(o.json, $marks), lambda mark: mark IS NOT NULL)) = 0
ORDER BY c.object_id, c.idx
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What custom.yaml says."""

    bad: dict[str, str]
    harmless: list[str]
    switches: list[str]
    marks: list[str]
    own: dict[str, list[str]]

    def is_custom(self, group: str, kind: str) -> bool:
        """Whether the kind is a custom resource without rules of its own."""
        own = self.own.get(group, ())
        return group not in BUILT_IN and kind not in own and "*" not in own


@lru_cache(maxsize=1)
def meaning() -> Meaning:
    """The data of custom.yaml."""
    return beside(__file__, "custom.yaml", Meaning)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `custom_faults`. Needs `conditions`."""
    known = meaning()
    pairs = con.execute(
        "SELECT DISTINCT api_group, kind FROM conditions WHERE list_contains($1, type)", [list(known.bad)]
    ).fetchall()
    kinds = [f"{group}/{kind}" for group, kind in pairs if known.is_custom(group, kind)]
    if not kinds:
        return
    con.execute(
        _FAULTS,
        {
            "bad": [f"{name}={status}" for name, status in known.bad.items()],
            "kinds": kinds,
            "harmless": known.harmless,
            "switches": [f"$.{field}" for field in known.switches],
            "marks": [f'$.metadata.annotations."{mark}"' for mark in known.marks],
        },
    )
