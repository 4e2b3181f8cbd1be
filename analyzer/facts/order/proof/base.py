"""What the bundle says to a reason: statements, where they stand, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from analyzer.facts.order.words import Language, Value, cut, say

Verdict = Literal["confirmed", "consistent", "refuted", "fixed", "unknown"]
LONG_MINUTES = 30
"""From this age on, what passes by itself has lasted long."""
MAX_QUOTES = 10


@dataclass(frozen=True, slots=True)
class Quote:
    """A place in the bundle: a field of an object, or a line of a log."""

    source_id: int | None
    path: str
    value: str
    kind: str = "Reported"
    log_id: int | None = None
    line: int | None = None


@dataclass(slots=True)
class Proof:
    """The answer of the bundle to one reason of one order.

    `severity`, `owner` and `waiting` stand instead of the reason's own where the bundle decides; `cause` says which reading of a
    reason it is, for the words of its rule.
    """

    verdict: Verdict = "unknown"
    cause: str | None = None
    severity: str | None = None
    owner: str | None = None
    waiting: str | None = None
    deduced: bool = False
    said: list[tuple[str, dict[str, Value]]] = field(default_factory=list)
    noted: list[tuple[str, dict[str, Value]]] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)

    def confirm(self, sentence: str, /, **values: Value) -> None:
        """The bundle shows that the reason holds."""
        self.verdict = "confirmed"
        self.said.append((sentence, values))

    def fit(self, sentence: str, /, **values: Value) -> None:
        """What the bundle has goes with the reason, and does not prove it."""
        if self.verdict == "unknown":
            self.verdict = "consistent"
        self.said.append((sentence, values))

    def refute(self, sentence: str, /, *, fixed: bool = False, **values: Value) -> None:
        """The bundle shows that the reason does not hold (any more): no fault then, and the next pass will tell."""
        self.verdict = "fixed" if fixed else "refuted"
        self.severity, self.owner, self.waiting, self.deduced = "info", "nobody", "yes", True
        self.said = [(sentence, values)]

    def doubt(self, sentence: str, /, **values: Value) -> None:
        """The bundle cannot tell, and why."""
        self.said.append((sentence, values))

    def note(self, sentence: str, /, **values: Value) -> None:
        """Something beside the verdict."""
        self.noted.append((sentence, values))

    def decide(self, cause: str, *, severity: str | None = None, owner: str | None = None, waiting: str | None = None) -> None:
        """Which of the readings of the reason it is, and what follows of that."""
        self.cause = cause
        self.severity, self.owner, self.waiting = severity or self.severity, owner or self.owner, waiting or self.waiting
        self.deduced = self.deduced or bool(severity or owner or waiting)

    def quote(self, source_id: int | None, path: str, value: object, kind: str = "Reported") -> None:
        """Where a statement stands."""
        if source_id is not None and value is not None and len(self.quotes) < MAX_QUOTES:
            self.quotes.append(Quote(source_id, path, str(value)[:1000], kind))

    def quote_each(self, source_id: int | None, path: str, values: Iterable[str], kind: str = "Declared") -> None:
        """The first values of a list, each as it stands there."""
        for value in list(values)[:3]:
            self.quote(source_id, path, value, kind)

    def quote_log(self, log_id: int | None, line: int | None, value: str | None) -> None:
        """The line of a log."""
        if log_id is not None and value and len(self.quotes) < MAX_QUOTES:
            self.quotes.append(Quote(None, "", value[:1000], "Observed", log_id, line))

    @property
    def over(self) -> bool:
        """The reason does not hold any more."""
        return self.verdict in ("refuted", "fixed")

    def words(self, language: Language) -> str:
        """All of it in a language: the verdict with its statements, then the notes."""
        sentences = []
        if self.said:
            joined = "; ".join(say(name, values, language) for name, values in self.said)
            head = "verdict-deduced" if self.deduced and not self.over else f"verdict-{self.verdict}"
            sentences.append(say(head, {}, language) + joined + ".")
        sentences += [say(name, values, language) + "." for name, values in self.noted]
        return cut(" ".join(sentences), 2400)

    def first(self, language: Language) -> str:
        """The first statement, for a title."""
        return say(self.said[0][0], self.said[0][1], language) if self.said else ""
