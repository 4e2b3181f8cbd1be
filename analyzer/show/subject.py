"""The object that is shown, with what every section needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import duckdb
import orjson

from analyzer.facts.values import mapping
from analyzer.facts.whole import Whole
from analyzer.show.model import Section
from analyzer.store.lookup import Target


@dataclass(frozen=True, slots=True)
class Subject:
    """The object.

    Attributes:
        target: what was looked up; `object_id` is that of an object of the bundle only where `here` is True.
        value: the object as stored, secrets masked; empty for a thing that is no object.
        input: the input it was read from, None where that is not known.
        as_of: the moment its ages are measured at, naive UTC; None where nothing says.
        created_at: when it was created.
        deleted_at: metadata.deletionTimestamp.
        whole: False where it was salvaged from damaged text and may lack fields.
    """

    target: Target
    value: dict[str, Any]
    input: int | None
    as_of: datetime | None
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    whole: bool = True

    @property
    def id(self) -> int:
        """Its id in the tables of facts; -1, which nothing has, for what is gone or no object."""
        here = self.target.source == "objects" and self.target.object_id is not None
        return self.target.object_id if here and self.target.object_id is not None else -1

    @property
    def spec(self) -> dict[str, Any]:
        """Its spec, empty where it has none."""
        return mapping(self.value.get("spec"))

    @property
    def status(self) -> dict[str, Any]:
        """Its status, empty where it has none."""
        return mapping(self.value.get("status"))

    @property
    def metadata(self) -> dict[str, Any]:
        """Its metadata."""
        return mapping(self.value.get("metadata"))

    @property
    def namespace(self) -> str:
        """Its namespace, empty for cluster-scoped ones."""
        return self.target.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.target.name

    def is_a(self, group: str, kind: str) -> bool:
        """Whether it is of this kind."""
        return (self.target.group, self.target.kind) == (group, kind)


Details = Callable[[duckdb.DuckDBPyConnection, Subject], "Section | list[Section]"]
"""Makes a part of the page: one section or several; a section without items is left out."""

DetailsTable = dict[tuple[str, str], tuple[Details, ...]]
"""What a domain adds: (API group, kind) → the functions that tell of an object of it, in the order they are shown."""


EVERY_KIND = ("*", "*")
"""In a `DetailsTable`: for objects of every kind (a section of a job's queue)."""


def subject(con: duckdb.DuckDBPyConnection, target: Target) -> Subject:
    """Reads what was looked up."""
    if not target.is_object:
        return Subject(target, {}, None, _newest(con))
    row = con.execute(
        f"SELECT o.json, o.input, i.as_of, o.created_at, o.deleted_at, o.whole FROM {target.source} AS o "  # noqa: S608
        "LEFT JOIN inputs AS i ON i.input = o.input WHERE o.object_id = ?",
        [target.object_id],
    ).fetchone()
    if row is None:
        return Subject(target, {}, None, _newest(con))
    return Subject(target, read_json(row[0]), row[1], row[2], row[3], row[4], bool(row[5]))


def rows(con: duckdb.DuckDBPyConnection, query: str, *values: object, **named: object) -> Iterator[dict[str, Any]]:
    """The rows of a query by column name; it has values for `?` or `named` ones for `$name`."""
    result = con.execute(query, named or list(values))
    names = [column[0] for column in result.description or ()]
    for row in result.fetchall():
        yield dict(zip(names, row, strict=True))


def one(con: duckdb.DuckDBPyConnection, query: str, *values: object) -> dict[str, Any] | None:
    """The first row of a query by column name, None where there is none."""
    return next(rows(con, query, *values), None)


def whole(con: duckdb.DuckDBPyConnection, group: str, kind: str, namespace: str = "*") -> bool:
    """Whether the kind was collected whole in a namespace, `*` for the cluster: only then does a missing object not exist."""
    return Whole.read(con).has(group, kind, namespace)


GONE: Final = " (does not exist)"


def lacking(con: duckdb.DuckDBPyConnection, group: str, kind: str, namespace: str = "*") -> str:
    """What stands behind the name of an object that the bundle lacks: `GONE`, or that nobody can tell."""
    return GONE if whole(con, group, kind, namespace) else " (not in this bundle)"


def read_json(text: object) -> dict[str, Any]:
    """The mapping that a JSON column holds, empty where it holds none."""
    try:
        return mapping(orjson.loads(text)) if isinstance(text, str) else {}
    except orjson.JSONDecodeError:
        return {}


def _newest(con: duckdb.DuckDBPyConnection) -> datetime | None:
    row = con.execute("SELECT max(as_of) FROM inputs").fetchone()
    return row[0] if row else None
