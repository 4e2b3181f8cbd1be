"""Objects that are nothing but what they hold: Events, ConfigMaps, Secrets (names of keys only)."""

from __future__ import annotations

import duckdb

from analyzer.facts.values import mapping
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Text
from analyzer.show.subject import DetailsTable, Subject, one

_KEYS = 30


def event(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What an Event says, and of what."""
    row = one(con, "SELECT * FROM events WHERE object_id = ?", it.id)
    if row is None:
        return Section("Event")
    about = words.thing(row["about_group"], row["about_kind"], row["about_namespace"], row["about_name"])
    gone = "" if row["about_id"] is not None else " (not in this bundle)"
    seen = f"{report_words.plural(row['times'] or 1, 'time')}, last {words.ago(row['last_at'], it.as_of)}"
    facts = [
        Fact("About", f"{about}{gone}"),
        Fact("Type", words.short(row["type"]) or "none said"),
        Fact("Says", words.said(row["reason"], row["message"]) or "nothing"),
        Fact("Seen", seen),
    ]
    if row["component"]:
        facts.append(Fact("By", words.short(row["component"])))
    return Section("Event", tuple(facts))


def keys(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The names of the keys of its data."""
    items: list[Item] = []
    for field in ("data", "stringData", "binaryData"):
        held = mapping(it.value.get(field))
        if held:
            names = [words.short(name, 100) for name in sorted(held)]
            items.append(Text(f"{report_words.plural(len(held), 'key')} in {field}: {words.some(names, _KEYS)}"))
    return Section("Holds", tuple(items) or (Text("no data, as it is stored here"),))


DETAILS: DetailsTable = {
    ("", "Event"): (event,),
    ("events.k8s.io", "Event"): (event,),
    ("", "ConfigMap"): (keys,),
    ("", "Secret"): (keys,),
}
