"""Reading fields of objects that may hold anything at all: the wrong type is as good as absent, never an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import duckdb
import orjson

from analyzer import times

_PAGE = 5_000
_INT32 = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Stored:
    """One row of `objects` with its JSON read."""

    object_id: int
    input: int
    group: str
    kind: str
    namespace: str
    name: str
    uid: str
    created_at: datetime | None
    deleted_at: datetime | None
    value: dict[str, Any]


def stored(con: duckdb.DuckDBPyConnection, kinds: Sequence[tuple[str, str]]) -> Iterator[Stored]:
    """The objects of these kinds, given as (API group, kind), in the order of their ids.

    They are read page by page on the same connection, so that the caller may write in between and memory stays
    bounded. Objects whose stored text is no JSON mapping are passed over.
    """
    wanted = " OR ".join(["(api_group = ? AND kind = ?)"] * len(kinds))
    query = (
        "SELECT object_id, input, api_group, kind, namespace, name, uid, created_at, deleted_at, json FROM objects "  # noqa: S608
        f"WHERE ({wanted}) AND object_id > ? ORDER BY object_id LIMIT {_PAGE}"
    )
    parts = [part for kind in kinds for part in kind]
    last, more = -1, True
    while more:
        rows = con.execute(query, [*parts, last]).fetchall()
        more = len(rows) == _PAGE
        for row in rows:
            last = row[0]
            try:
                value = orjson.loads(row[9])
            except (orjson.JSONDecodeError, TypeError):
                continue
            if isinstance(value, dict):
                object_id, origin, group, kind, namespace, name, uid, created_at, deleted_at, _ = row
                yield Stored(object_id, origin, group, kind, namespace, name, uid, created_at, deleted_at, value)


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The items of a list, those that are no mappings as empty ones (so that positions stay right)."""
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def strings(value: Any) -> list[str]:
    """The strings of a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """The value where it is a string that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def number(value: Any) -> int | None:
    """The value where it is a whole number of 32 bits, else None."""
    if isinstance(value, int) and not isinstance(value, bool) and -_INT32 <= value <= _INT32:
        return value
    return None


def flag(value: Any) -> bool | None:
    """The value where it is a boolean, else None."""
    return value if isinstance(value, bool) else None


@lru_cache(maxsize=65_536)
def _moment(value: str) -> datetime | None:
    parsed = times.parse(value)
    return None if parsed is None else parsed.astimezone(UTC).replace(tzinfo=None)


def moment(value: Any) -> datetime | None:
    """A time with a zone as a naive UTC datetime, as the tables hold it; None where it is none."""
    return _moment(value) if isinstance(value, str) and len(value) < 100 else None


def one_line(value: str, limit: int = 2_000) -> str:
    """The text with every run of white space as one space, cut at `limit` characters."""
    return " ".join(value.split())[:limit]
