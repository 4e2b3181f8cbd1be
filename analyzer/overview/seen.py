"""What the lines of a section all need: the findings, when each input was collected, which lists are whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from analyzer.engine.sections import Cell, unknown, words
from analyzer.facts.whole import Whole
from analyzer.overview.marks import Marks
from analyzer.overview.read import Row, lasting, measured

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Seen:
    """Read once a section."""

    marks: Marks
    as_of: dict[int, datetime | None]
    lists: Whole

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection, marks: Marks) -> Seen:
        """From the database with all facts."""
        return cls(marks, measured(con), Whole.read(con))

    def state(self, row: Row, also: str = "") -> Cell:
        """The state of a row, with what is said of it also, and for how long it has lasted."""
        return words(f"{row.state}{also}", lasting(row.since, self.as_of.get(row.input))) if row.state else unknown("not said")


def not_all(lists: Whole, group: str, kind: str, what: str) -> list[str]:
    """A note where not all objects of a kind were collected; `what` names them."""
    return [] if lists.has(group, kind) else [f"{what} were not collected whole: there may be others."]


def more_pods(lists: Whole) -> list[str]:
    """A note where not all pods were collected."""
    return [] if lists.has("", "Pod") else ["Pods were not collected whole: there may be more pods than are counted here."]
