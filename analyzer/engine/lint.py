"""What every rule must have beside its query: words that help, sources, and cases that prove it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

import duckdb

from analyzer.engine import macros
from analyzer.engine.case_file import Case
from analyzer.engine.retired import Retired
from analyzer.engine.rule import Rule, fits
from analyzer.engine.yamltext import Document, Place
from analyzer.store.database import QueryError, check_select
from analyzer.store.schema import TABLES

_LINE = re.compile(r"^LINE (\d{1,6}):", re.MULTILINE)
_RUSSIAN = re.compile("[\u0430-\u044f]", re.IGNORECASE)
_SIGNATURE = re.compile(r"'(([a-z]+)/[a-z0-9]+(?:-[a-z0-9]+)*)'")
_BLOCK = re.compile(r"(?:query|abstain):\s*\|[-+0-9]*\s*(?:#.*)?$")


def lint(rule: Rule, document: Document, cases: Sequence[Case] | None, retired: Retired | None = None) -> list[str]:
    """What the rule lacks, one line each, with file and line.

    Args:
        rule: the rule.
        document: its file.
        cases: its cases, None where it has no cases file.
        retired: where its code is out of use.
    """
    wrong: list[tuple[Place, str]] = []

    def say(path: str, problem: str) -> None:
        wrong.append((document.place(path), problem))

    if retired:
        say("code", f"code: {rule.code} was used before and is never used again ({retired.place}): {retired.why}")
    if not any(step.source.strip() for step in rule.next):
        say("next", "next: a rule says what to do")
    if not rule.references:
        say("references", "references: a rule names upstream documentation")
    for index, link in enumerate(rule.references):
        if not link.startswith("https://"):
            say(f"references[{index}]", f"references: {link!r} is no https link")
    if rule.title.source.rstrip().endswith("."):
        say("title", "title: ends with a full stop")
    if rule.code in rule.title.source:
        say("title", "title: names the code")
    for path, problem in _lint_russian(rule):
        say(path, problem)
    if rule.basis == "deduced" and "deduced" not in rule.message.source.lower():
        say("message", "message: a rule with basis deduced says what that is deduced from")
    if not rule.needs and rule.domain != "collect":
        say("needs", "needs: a rule says what it cannot do without")
    return [f"{place}: {problem}" for place, problem in [*wrong, *_lint_cases(rule, cases)]]


def _lint_russian(rule: Rule) -> list[tuple[str, str]]:
    """What is wrong with a rule's words in Russian; the message may be made of facts that have both languages."""
    if rule.ru is None:
        return []
    title = rule.ru.title.source
    wrong = [
        (path, f"{path}: is not in Russian")
        for path, text in (("ru.title", title), ("ru.why", rule.ru.why))
        if not _RUSSIAN.search(text)
    ]
    if title.rstrip().endswith("."):
        wrong.append(("ru.title", "ru.title: ends with a full stop"))
    if rule.code in title:
        wrong.append(("ru.title", "ru.title: names the code"))
    return wrong


def _lint_cases(rule: Rule, cases: Sequence[Case] | None) -> list[tuple[Place, str]]:
    if cases is None:
        return [(rule.place, "has no cases file")]
    where = Place(cases[0].place.file, 1) if cases else rule.place
    there = [
        (any(case.fires for case in cases), "fires"),
        (any(case.silent for case in cases), "stays silent"),
        (any(case.unknown for case in cases) or not rule.needs, "cannot be evaluated"),
    ]
    wrong = [(where, f"cases: none in which it {kind}") for is_there, kind in there if not is_there]
    names: set[str] = set()
    for case in cases:
        if case.name in names:
            wrong.append((case.place, f"cases: {case.name!r} is there twice"))
        names.add(case.name)
    return wrong


def lint_names(rule: Rule, document: Document, codes: Collection[str], signatures: Collection[str]) -> list[str]:
    """Whether the codes and log signatures that a rule names exist: a misspelt one would be silent for ever.

    Args:
        rule: the rule.
        document: its file.
        codes: the codes of all rules there are.
        signatures: the ids of all log signatures there are.
    """
    wrong: list[str] = []
    domains = {rule.domain, *(name.split("/", 1)[0] for name in signatures)}
    for key, links in (("explains", rule.explains), ("explained_by", rule.explained_by)):
        for index, link in enumerate(links):
            place = document.place(f"{key}[{index}].codes")
            none = [name for name in link.codes if not any(fits(code, name) for code in codes)]
            wrong += [f"{place}: {key}: there is no rule {name!r}" for name in none]
    for key, sql in (("query", rule.query), ("abstain", rule.abstain)):
        if sql and "log_hit" in sql:
            named = {name for name, domain in _SIGNATURE.findall(sql) if domain in domains}
            wrong += [
                f"{document.place(key)}: {key}: there is no log signature {name!r}" for name in sorted(named - set(signatures))
            ]
    return wrong


def lint_query(rule: Rule, document: Document, path: Path) -> list[str]:
    """Whether the rule's queries can be bound to the tables there are; with file and line.

    Args:
        rule: the rule.
        document: its file.
        path: where that file lies: the line of a mistake is looked up in it.
    """
    for name, sql in (("query", rule.query), ("abstain", rule.abstain)):
        if sql is None:
            continue
        try:
            _empty().extract_statements(sql)  # Its own error knows the line.
            check_select(_empty(), sql)
            _empty().execute(f"EXPLAIN {sql}")
        except (QueryError, duckdb.Error) as error:
            problem = str(error)
            return [f"{_place(document, name, path, problem)}: {name}: {problem.splitlines()[0]}"]
    return []


def _place(document: Document, name: str, path: Path, problem: str) -> Place:
    """Where in the file a query is wrong: DuckDB counts the lines of the query, which begins below its key."""
    start, found = document.place(name), _LINE.search(problem)
    if not found:
        return start
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[start.line - 1 :]
    except (OSError, UnicodeDecodeError):
        return start
    if not lines or not _BLOCK.match(lines[0]):
        return start
    empty = next((number for number, line in enumerate(lines[1:]) if line.strip()), 0)
    return Place(start.file, start.line + empty + int(found[1]))


@cache
def _empty() -> duckdb.DuckDBPyConnection:
    """A database with all tables and nothing in them."""
    con = duckdb.connect(config={"threads": 1, "temp_directory": ""})
    con.execute("SET enable_external_access = false")
    for table in TABLES:
        con.execute(table.ddl())
    macros.create(con)
    con.execute("SET lock_configuration = true")
    return con
