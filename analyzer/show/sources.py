"""Where an object was read, and where those places disagree."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.render.escape import plain, short_path
from analyzer.render.words import place
from analyzer.show import words
from analyzer.show.model import Item, Section, Text
from analyzer.show.subject import Subject, rows

SHOWN = 10

_QUERY = """
SELECT f.path, s.line, s.resource_version, s.chosen, s.differs, i.path AS input, (SELECT count(*) FROM inputs) AS inputs
FROM sources s JOIN files f USING (file_id) LEFT JOIN inputs i ON i.input = f.input
WHERE s.object_id = ? ORDER BY NOT s.chosen, f.file_id, s.idx
"""


def sources(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The files it was read from, the one that is shown first."""
    if not it.target.is_object:
        return Section("Read from")
    found = list(rows(con, _QUERY, it.target.object_id))
    items: list[Item] = [Text(_place(row)) for row in found[:SHOWN]]
    items += words.more(len(found), SHOWN, "place")
    if any(row["differs"] for row in found):
        items.append(Text("The places have different versions of it; the newest is shown.", tone="warning"))
    if not it.whole:
        items.append(Text("It was saved from damaged text and may lack fields.", tone="warning"))
    return Section("Read from", tuple(items))


def _place(row: dict[str, Any]) -> str:
    where = place(short_path(plain(row["path"])), row["line"])
    input_path = f"{words.short(row['input'] or '', 200)}: " if row["inputs"] > 1 else ""
    version = (
        f"  resourceVersion {words.short(row['resource_version'] or 'unknown', 40)}" if row["differs"] or row["chosen"] else ""
    )
    return f"{input_path}{where}{version}{', another version' if row['differs'] else ''}"
