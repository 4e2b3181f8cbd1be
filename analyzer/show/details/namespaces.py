"""Namespaces: what is in them, as far as it was collected."""

from __future__ import annotations

import duckdb

from analyzer.facts.values import mapping
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Item, Section, Table, Text
from analyzer.show.subject import DetailsTable, Subject, read_json, rows

_KINDS = 40
_QUOTAS = 40
_LEAVING = 15


def leaving(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What is being deleted in it: that keeps a namespace that is being deleted."""
    found = list(
        rows(
            con,
            "SELECT api_group, kind, name, deleted_at, json_extract_string(json, '$.metadata.finalizers[*]') AS finalizers "
            "FROM objects WHERE namespace = ? AND deleted_at IS NOT NULL ORDER BY deleted_at, kind, name",
            it.name,
        )
    )
    lines = tuple(
        (
            words.short(words.thing(row["api_group"], row["kind"], "", row["name"]), 160),
            words.age(row["deleted_at"], it.as_of),
            words.some([words.short(one, 100) for one in row["finalizers"] or []]),
        )
        for row in found[:_LEAVING]
    )
    items: list[Item] = [Table(("object", "for", "finalizers"), lines)] if lines else []
    return Section("Being deleted in it", (*items, *words.more(len(found), _LEAVING, "object")))


def contents(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How many objects of each kind the bundle has of it, and the states of its pods."""
    kinds = list(
        rows(
            con,
            "SELECT kind, count(*) AS number FROM objects WHERE namespace = ? AND kind <> 'Event' "
            "GROUP BY kind ORDER BY number DESC, kind",
            it.name,
        )
    )
    items: list[Item] = []
    if kinds:
        named = [report_words.plural(row["number"], words.short(row["kind"], 60)) for row in kinds]
        items.append(Text(words.some(named, _KINDS)))
    states = [
        f"{report_words.number(row['number'])} {words.short(row['state'] or 'unknown')}"
        for row in rows(
            con,
            "SELECT state, count(*) AS number FROM pods WHERE namespace = ? GROUP BY state ORDER BY number DESC, state",
            it.name,
        )
    ]
    if states:
        items.append(Text(f"Pods by state: {', '.join(states)}"))
    return Section("In this bundle of it", tuple(items) or (Text("Nothing: none of its objects were collected."),))


def quotas(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Its ResourceQuotas: used beside the limit, in the status's words."""
    found = rows(
        con,
        "SELECT name, json -> '$.status.hard' AS hard, json -> '$.status.used' AS used FROM objects "
        "WHERE api_group = '' AND kind = 'ResourceQuota' AND namespace = ? ORDER BY name",
        it.name,
    )
    return _quota_table([(row["name"], read_json(row["hard"]), read_json(row["used"])) for row in found])


def quota(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A ResourceQuota: used beside the limit."""
    return _quota_table([(it.name, mapping(it.status.get("hard")), mapping(it.status.get("used")))])


def _quota_table(found: list[tuple[str, dict[str, object], dict[str, object]]]) -> Section:
    lines = [
        (
            words.short(name, 80),
            words.short(resource, 80),
            words.short(used.get(resource, "unknown"), 30),
            words.short(limit, 30),
        )
        for name, hard, used in found
        for resource, limit in hard.items()
    ]
    if not lines:
        return Section("Quotas")
    table = Table(("quota", "resource", "used", "limit"), tuple(lines[:_QUOTAS]))
    return Section("Quotas", (table, *words.more(len(lines), _QUOTAS, "limit")))


DETAILS: DetailsTable = {("", "Namespace"): (leaving, contents, quotas), ("", "ResourceQuota"): (quota,)}
