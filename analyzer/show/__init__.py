"""`triage show`: one object in plain words.

Each section is a function of the database and the object (`Subject`) in a module of its own; it gathers with SQL and returns
frozen `Section`s, which `printing` prints. What a kind has of its own comes from `details`, where each domain has a module.
"""

from __future__ import annotations

import duckdb

from analyzer.render import words as report_words
from analyzer.show import conditions, details, events, findings, head, links, missing, podlist, sources, words
from analyzer.show.model import Item, Section, Text, View
from analyzer.show.subject import Details, Subject, subject
from analyzer.store.lookup import Target

__all__ = ["view_of"]

OLDER = "Some of it cannot be told, since another version of triage made this database. Analyze the bundle again."
"""What the page says where a section found a table or a column missing; the other sections stand."""

_FIRST = (findings.findings,)
_LAST = (podlist.pods, conditions.conditions, links.links, events.events, sources.sources, missing.missing)


def view_of(con: duckdb.DuckDBPyConnection, target: Target) -> View:
    """Everything there is to say about one object.

    Args:
        con: a database of ours, only read.
        target: what was looked up.
    """
    it = subject(con, target)
    makers = (*_FIRST, *details.of(it), *_LAST)
    made = [_made(make, con, it) for make in (_headed, *makers)]
    (top,), *others = [part or [Section("")] for part in made]
    items = [*top.items, *_about_ages(it)]
    if None in made:
        items.append(Text(OLDER, tone="warning"))
    title = words.thing(target.group, target.kind, target.namespace, target.name)
    return View(title, tuple(items), tuple(section for part in others for section in part if section.items))


def _headed(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    return Section("", tuple(head.head(con, it)))


def _about_ages(it: Subject) -> list[Item]:
    if it.as_of is None:
        return []
    stamp = report_words.stamp(words.aware(it.as_of))
    return [Text(f"Ages are measured at {stamp}, the end of the collection.", tone="dim")]


def _made(make: Details, con: duckdb.DuckDBPyConnection, it: Subject) -> list[Section] | None:
    """The sections of one function; None where the database lacks a table or a column that it reads."""
    try:
        made = make(con, it)
    except (duckdb.CatalogException, duckdb.BinderException, KeyError):
        return None
    return [made] if isinstance(made, Section) else made
