"""What every rule must have beside its query: words that help, sources, and cases that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import duckdb

from analyzer.engine import macros
from analyzer.engine.case_file import Case
from analyzer.engine.rule import Rule
from analyzer.store.database import QueryError, check_select
from analyzer.store.schema import TABLES


def lint(rule: Rule, cases: Sequence[Case] | None) -> list[str]:
    """What the rule lacks, one line each.

    Args:
        rule: the rule.
        cases: its cases, None where it has no cases file.
    """
    wrong = []
    if not rule.next:
        wrong.append("next: a rule says what to do")
    if not rule.references:
        wrong.append("references: a rule names upstream documentation")
    wrong += [f"references: {link!r} is no https link" for link in rule.references if not link.startswith("https://")]
    if rule.title.source.rstrip().endswith("."):
        wrong.append("title: ends with a full stop")
    if rule.code in rule.title.source:
        wrong.append("title: names the code")
    if cases is None:
        return [*wrong, "has no cases file"]
    for there, kind in ((any(c.fires for c in cases), "fires"), (any(c.silent for c in cases), "stays silent")):
        if not there:
            wrong.append(f"cases: none in which it {kind}")
    if rule.needs and not any(c.unknown for c in cases):
        wrong.append("cases: none in which it cannot be evaluated")
    if not rule.needs:
        wrong += [] if rule.domain == "collect" else ["needs: a rule says what it cannot do without"]
    names = [case.name for case in cases]
    wrong += [f"cases: {name!r} is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    return wrong


def lint_query(rule: Rule) -> list[str]:
    """Whether the rule's queries can be bound to the tables there are."""
    for name, sql in (("query", rule.query), ("abstain", rule.abstain)):
        if sql is None:
            continue
        try:
            check_select(_empty(), sql)
            _empty().execute(f"EXPLAIN {sql}")
        except (QueryError, duckdb.Error) as error:
            return [f"{name}: {str(error).splitlines()[0]}"]
    return []


@cache
def _empty() -> duckdb.DuckDBPyConnection:
    """A database with all tables and nothing in them."""
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET enable_external_access = false")
    for table in TABLES:
        con.execute(table.ddl())
    macros.create(con)
    return con
