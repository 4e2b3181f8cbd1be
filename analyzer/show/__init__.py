"""`triage show`: one object in plain words.

Each section is a function of the database and the object (`Subject`) in a module of its own; it gathers with SQL and returns
frozen `Section`s, which `printing` prints. What a kind has of its own comes from `details`, where each domain has a module.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from analyzer.render import words as report_words
from analyzer.show import conditions, details, events, findings, head, links, missing, podlist, sources, words
from analyzer.show.model import Item, Section, Text, View
from analyzer.show.subject import Details, Subject, subject
from analyzer.store.lookup import Target

__all__ = ["view_of"]

_OLDER = "This cannot be told: the database was made by another version of triage. Analyze the bundle again."

_FIRST = (findings.findings,)
_LAST = (podlist.pods, conditions.conditions, links.links, events.events, sources.sources, missing.missing)


def view_of(con: duckdb.DuckDBPyConnection, target: Target) -> View:
    """Everything there is to say about one object.

    Args:
        con: a database of ours, only read.
        target: what was looked up.
    """
    it = subject(con, target)
    title = words.thing(target.group, target.kind, target.namespace, target.name)
    sections = [section for make in (*_FIRST, *details.of(it), *_LAST) for section in _made(make, con, it)]
    return View(title, tuple(_head(con, it)), tuple(section for section in sections if section.items))


def _head(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    try:
        items = head.head(con, it)
    except duckdb.CatalogException:
        items = [Text(_OLDER, tone="warning")]
    if it.as_of:
        items.append(
            Text(f"Ages are measured at {report_words.stamp(words.aware(it.as_of))}, the end of the collection.", tone="dim")
        )
    return items


def _made(make: Details, con: duckdb.DuckDBPyConnection, it: Subject) -> Iterator[Section]:
    """The sections of one function; a database of another version may lack a table or a column that it reads."""
    try:
        made = make(con, it)
    except (duckdb.CatalogException, duckdb.BinderException):
        yield Section(make.__name__.replace("_", " ").strip().capitalize(), (Text(_OLDER, tone="warning"),))
        return
    yield from [made] if isinstance(made, Section) else made
