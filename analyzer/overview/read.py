"""How sections read tables of facts, and the words they share: ages, quotes, what stands in a list that is not whole."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from analyzer.engine.sections import FOLDED, SHOWN, Cell, machine, unknown, words
from analyzer.render.escape import clip
from analyzer.times import between

if TYPE_CHECKING:
    import duckdb

    from analyzer.overview.marks import Marks

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

QUOTE: Final = 300
"""Longest quote in a cell, in characters; a longer one is cut in the middle."""


class Row(SimpleNamespace):
    """A row of a query: one attribute a column."""

    def __getattr__(self, name: str) -> Any:
        """Only for those who check types: every column is an attribute."""
        raise AttributeError(name)


def rows(con: duckdb.DuckDBPyConnection, query: str, *values: object) -> Iterator[Row]:
    """The rows of a query, each with its columns as attributes."""
    result = con.execute(query, list(values))
    names = [column[0] for column in result.description or ()]
    for row in result.fetchall():
        yield Row(**dict(zip(names, row, strict=True)))


def grouped(found: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The rows of each key, in their own order."""
    groups: dict[K, list[T]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return groups


def users(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Resource claim as namespace/name → the pods that it is reserved for."""
    return {place(row.namespace, row.name): row.users for row in rows(con, "SELECT namespace, name, users FROM claims")}


def foremost(found: Iterable[Row], marks: Marks, kind: tuple[str, str] | None = None) -> tuple[list[Row], int]:
    """As many rows as a table shows, those with the worst findings first, and how many there are.

    Args:
        found: rows with `namespace` and `name`, and without `kind` given with `api_group` and `kind`.
        marks: the findings.
        kind: API group and kind of all of them.
    """
    listed_rows = list(found)

    def rank(row: Row) -> int:
        group, name = kind or (row.api_group, row.kind)
        return marks.rank(marks.of(group, name, row.namespace, row.name))

    return sorted(listed_rows, key=rank)[: SHOWN + FOLDED], len(listed_rows)


def measured(con: duckdb.DuckDBPyConnection) -> dict[int, datetime | None]:
    """Input → the moment its ages are measured at."""
    return dict(con.execute("SELECT input, as_of FROM inputs").fetchall())


def lasting(moment: datetime | None, as_of: datetime | None) -> str:
    """`for 5 min`; empty where no age is known."""
    lasted = between(moment, as_of)
    return f"for {lasted}" if lasted else ""


def cut(text: str, most: int = QUOTE) -> str:
    """At most so many characters, cut in the middle, and on one line."""
    return clip(" ".join(text[: 20 * most].split()), most)


def quoted(text: str | None, most: int = QUOTE) -> str:
    """Words of the cluster in quotation marks; empty without any."""
    return f'"{cut(text, most)}"' if text and text.strip() else ""


def said(reason: str | None, message: str | None) -> str:
    """A reason and a message of the cluster: `Reason: "message"`, or the one that there is."""
    told = quoted(message)
    short = cut(reason, 120) if reason else ""
    return f"{short}: {told}" if short and told else short or told


def why(reason: str | None, message: str | None) -> Cell:
    """A cell of why, in the cluster's words; nothing where it says nothing."""
    text = said(reason, message)
    return machine(text) if text else words("")


def sentences(*parts: str) -> str:
    """Parts that say something, joined by semicolons."""
    return "; ".join(part for part in parts if part)


def share(some: int | None, of: int | None) -> Cell:
    """`2 / 3`; what cannot be told where one is not known."""
    return unknown("cannot tell") if some is None or of is None else Cell(f"{some:,} / {of:,}", "number")


def place(namespace: str | None, name: str) -> str:
    """`namespace/name`, or the name alone."""
    return f"{namespace}/{name}" if namespace else name
