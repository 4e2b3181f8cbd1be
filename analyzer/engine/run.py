"""Running the rules: which can be evaluated, what they find, what they abstain for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from analyzer.engine import domains, foreign, macros
from analyzer.engine.draft import Context, Draft, drafts, unique_ids
from analyzer.engine.model import BROKEN, NotEvaluated, ObjectRef
from analyzer.engine.needs import (
    NAMED,
    Collected,
    ask,
    bare_objects,
    collected,
    is_missing,
    needed_kinds,
    needed_tables,
    resolved,
    unmet,
    without_status,
)
from analyzer.engine.objects import Objects
from analyzer.engine.pack import Pack
from analyzer.engine.query import QueryError, Row, select
from analyzer.engine.rule import Rule

__all__ = ["Evaluation", "Setting", "evaluate", "needed_kinds"]

Answer = list[Row] | QueryError

_AHEAD = 2
"""Rules whose rows are held while the words of another are made."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What an evaluation depends on beside the tables and the rules.

    `snapshot` gives the path of a closed copy of the database for packs that are not trusted; where it is None, their
    rules are not evaluated.
    """

    context: Context
    openshift: bool = False
    snapshot: Callable[[], Path] | None = None
    domains: frozenset[str] = frozenset()
    """Domains that count as present whatever the bundle shows."""


@dataclass(slots=True)
class Evaluation:
    """What came of the rules: findings in the order of the rules, and what could not be evaluated."""

    drafts: list[Draft] = field(default_factory=list)
    not_evaluated: list[NotEvaluated] = field(default_factory=list)
    absent: frozenset[tuple[str, str]] = frozenset()
    """Kinds, as (group, kind), that only rules of domains without a trace need."""


def evaluate(con: duckdb.DuckDBPyConnection, packs: Sequence[Pack], setting: Setting) -> Evaluation:
    """Runs the rules of all packs, those with `last: true` after all others.

    Args:
        con: the database with its facts; `macros.create` has been called.
        packs: the packs.
        setting: see Setting.

    Returns:
        All findings with unique ids, and one entry for each rule and reason that it could not be evaluated.
    """
    result = Evaluation()
    here = domains.present(con) | setting.domains
    result.absent = frozenset(needed_kinds(packs) - needed_kinds(packs, here))
    result.not_evaluated += domains.absences(here, (rule.domain for pack in packs for rule in pack.rules))
    for pack in packs:
        result.not_evaluated += [
            NotEvaluated(broken.code, f"{BROKEN}: {broken.problem} ({broken.place})") for broken in pack.broken
        ]
    have = collected(con, openshift=setting.openshift, tables=needed_tables(packs))
    macros.note_needs(con, _needs(packs, here, have))
    runner = _Runner(con, setting, have, result)
    for last in (False, True):
        for pack in packs:
            rules = [rule for rule in pack.rules if rule.last == last and not domains.is_absent(rule.domains, here)]
            runner.run(rules, trusted=pack.trusted)
        if not last:
            macros.note_found(con, runner.found())
    unique_ids(result.drafts)
    return result


def _needs(packs: Sequence[Pack], here: frozenset[str], have: Collected) -> Iterator[tuple[str, str, str, bool]]:
    """Code, API group and kind of each need of a rule whose domain is present, and whether the rule is blind without it."""
    for rule in (rule for pack in packs for rule in pack.rules if not domains.is_absent(rule.domains, here)):
        blind = unmet(rule, have) is not None
        for need in rule.needs:
            if need.kind not in ("logs", "document", "custom-resources"):
                yield rule.code, *resolved(need), blind and is_missing(need, have)


class _Runner:
    """Runs rules and adds to a result what comes of them."""

    def __init__(self, con: duckdb.DuckDBPyConnection, setting: Setting, have: Collected, result: Evaluation) -> None:
        self._con = con
        self._setting = setting
        self._have = have
        self._result = result
        # The queries run on the connection itself, which has the macros; what is looked up meanwhile needs one of its own.
        self._look_up = con.cursor()
        self._objects = Objects(self._look_up)
        self._copy: Path | None = None
        self._bare: dict[tuple[str, str], list[str]] = {}

    def found(self) -> list[tuple[int, str]]:
        """Object and code of every finding so far, folded objects too."""
        return [
            (known.object_id, draft.code)
            for draft in self._result.drafts
            for known in {one.key: one for one in (draft.about, *draft.members)}.values()
            if known.object_id is not None
        ]

    def run(self, rules: Iterable[Rule], *, trusted: bool) -> None:
        """Runs rules of one pack."""
        ready = []
        for rule in rules:
            missing = unmet(rule, self._have)
            if missing:
                self._result.not_evaluated.append(missing)
            else:
                ready.append(rule)
        if trusted:
            for rule, answer, abstained in self._answers(ready):
                self._take(rule, answer, abstained)
        elif ready:
            self._run_apart(ready)

    def _answers(self, rules: Iterable[Rule]) -> Iterator[tuple[Rule, Answer, Answer]]:
        """The rules in their order, with what their queries give; the next ones run while the words of one are made."""
        with ThreadPoolExecutor(1) as pool:
            ahead: deque[tuple[Rule, Future[tuple[Answer, Answer]]]] = deque()
            for rule in rules:
                ahead.append((rule, pool.submit(self._both, rule)))
                if len(ahead) > _AHEAD:
                    done, future = ahead.popleft()
                    yield done, *future.result()
            for done, future in ahead:
                yield done, *future.result()

    def _both(self, rule: Rule) -> tuple[Answer, Answer]:
        return self._answer(rule.query), self._answer(rule.abstain) if rule.abstain else []

    def _answer(self, sql: str) -> Answer:
        try:
            return select(self._con, sql)
        except QueryError as error:
            return error

    def _run_apart(self, rules: list[Rule]) -> None:
        """The same for rules that are not trusted: their queries run in a process of their own."""
        if self._setting.snapshot is None:
            for rule in rules:
                self._broken(rule, "packs of others cannot be run here")
            return
        if self._copy is None:
            self._copy = self._setting.snapshot()
        queries = [rule.query for rule in rules] + [rule.abstain for rule in rules if rule.abstain]
        answers = foreign.run(self._copy, queries, self.found() if rules[0].last else ())
        abstained = iter(answers[len(rules) :])
        for rule, answer in zip(rules, answers[: len(rules)], strict=True):
            self._take(rule, answer, next(abstained) if rule.abstain else [])

    def _take(self, rule: Rule, answer: Answer, abstained: Answer) -> None:
        """Makes findings and entries of what a rule's queries answered."""
        if isinstance(answer, QueryError):
            self._broken(rule, f"its query {answer}" if str(answer).startswith("took") else f"its query: {answer}")
            return
        found, problems = drafts(rule, answer, self._objects, self._setting.context)
        self._result.drafts += found
        for problem in problems:
            self._broken(rule, problem)
        bare = without_status(rule, self._bare_objects, self._have)
        if bare:
            self._result.not_evaluated.append(bare)
        if isinstance(abstained, QueryError):
            self._broken(rule, f"its abstain query: {abstained}")
        else:
            self._result.not_evaluated += self._abstentions(rule, abstained)

    def _bare_objects(self, kind: tuple[str, str]) -> list[str]:
        if kind not in self._bare:
            self._bare[kind] = bare_objects(self._look_up, kind)
        return self._bare[kind]

    def _broken(self, rule: Rule, problem: str) -> None:
        self._result.not_evaluated.append(NotEvaluated(rule.code, f"{BROKEN}: {problem} ({rule.query_place})"))

    def _abstentions(self, rule: Rule, rows: list[Row]) -> list[NotEvaluated]:
        """One entry for each reason that the rule gives for passing over objects."""
        by_reason: dict[str, list[ObjectRef]] = {}
        # All at once: one by one takes seconds where a rule abstains for thousands.
        self._objects.fetch(row["object_id"] for row in rows if isinstance(row.get("object_id"), int))
        for row in rows:
            number = row.get("object_id")
            known = self._objects.get(number) if isinstance(number, int) else None
            named = by_reason.setdefault(str(row.get("reason") or "cannot be told")[:500], [])
            if known:
                named.append(known.ref)
        asks = rule.ask or tuple(dict.fromkeys(ask(need, self._have) for need in rule.needs))
        entries = []
        for reason, named in by_reason.items():
            texts = [str(ref) for ref in named[:NAMED]]
            more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
            entries.append(NotEvaluated(rule.code, reason, (*texts, *more), asks))
        return entries
