"""What the MIG manager's log says of the newest change of a node's MIG layout.

Node labels say no more than `failed`; only the log of the MIG manager says why. The lines are found by the signatures of
`rules/gpu`; what they mean is data: `mig_words.yaml`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import duckdb

from analyzer.facts.data import beside
from analyzer.facts.rows import insert_rows

ATTEMPT = "gpu/mig-attempt"
"""The line with which the MIG manager takes up a new layout: what stands before it is about an older one."""

_HITS = """
SELECT m.object_id, h.log_id, h.line, h.at, h.signature, h.text, h.after
FROM mig_managers m
JOIN containers c ON c.object_id = m.pod_id AND c.type = 'main' AND c.idx = 0
JOIN log_hits h ON h.log_id IN (c.log_id, c.previous_log_id)
WHERE starts_with(h.signature, 'gpu/mig-')
ORDER BY m.object_id, h.log_id = c.log_id, h.line, h.signature
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one signature means; `normal`: words of the lines after it that make it a normal step."""

    signature: str
    cause: str
    remedy: str
    waits: bool = False
    normal: str | None = None


@dataclass(frozen=True, slots=True)
class _Hit:
    log_id: int
    line: int
    at: datetime | None
    signature: str
    text: str
    after: str


@lru_cache(maxsize=1)
def meanings() -> dict[str, tuple[int, Meaning]]:
    """Signature → how near to the root cause it is (1 is nearest), and what it means."""
    found = beside(__file__, "mig_words.yaml", list[Meaning])
    return {meaning.signature: (rank, meaning) for rank, meaning in enumerate(found, 1)}


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `mig_words`; needs `mig_managers`, `containers` and `log_hits`."""
    hits: dict[int, list[_Hit]] = defaultdict(list)
    for object_id, *row in con.execute(_HITS).fetchall():
        hits[object_id].append(_Hit(*row))
    insert_rows(con, "mig_words", (row for object_id, found in hits.items() for row in _rows(object_id, found)))


def _rows(object_id: int, hits: list[_Hit]) -> Iterator[dict[str, Any]]:
    begin = max((idx for idx, hit in enumerate(hits) if hit.signature == ATTEMPT), default=0)
    known = meanings()
    telling: dict[tuple[int, int], _Hit] = {}
    for hit in hits[begin:]:
        if hit.signature not in known:
            continue
        rank, meaning = known[hit.signature]
        if meaning.normal and meaning.normal in f"{hit.text}\n{hit.after or ''}":
            continue
        # One line may have several signatures: the nearest to the root cause counts.
        place = (hit.log_id, hit.line)
        if place not in telling or rank < known[telling[place].signature][0]:
            telling[place] = hit
    ordered = sorted(telling.values(), key=lambda hit: known[hit.signature][0])
    for number, hit in enumerate(ordered, 1):
        meaning = known[hit.signature][1]
        yield {
            "object_id": object_id,
            "log_id": hit.log_id,
            "line": hit.line,
            "at": hit.at,
            "signature": hit.signature,
            "text": hit.text,
            "cause": meaning.cause,
            "remedy": meaning.remedy,
            "waits": meaning.waits,
            "rank": number,
        }
