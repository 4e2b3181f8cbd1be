"""Which node a selector by host name means: the one whose label says so, where just one does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import duckdb

from analyzer.facts.dra import shapes

_LABELS: Final = """
SELECT json_extract_string(o.json, '$.metadata.labels."kubernetes.io/hostname"') AS host, any_value(n.name)
FROM nodes n JOIN objects o USING (object_id) WHERE host IS NOT NULL GROUP BY host HAVING count(DISTINCT n.name) = 1
"""


def hosts(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The names of nodes by label `kubernetes.io/hostname`, which need not be the same; needs `nodes`."""
    return dict(con.execute(_LABELS).fetchall())


def pinned(selector: Any, known: Mapping[str, str]) -> str | None:
    """The node that a node selector leaves: by its name, or by the host name that one node has."""
    return shapes.pinned(selector) or known.get(shapes.hostname(selector) or "")
