"""The one further pass over the bundle: the line of every quoted field in the file as it lies there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import duckdb

from analyzer.engine.draft import Draft, Quote
from analyzer.engine.model import Evidence
from analyzer.engine.objects import Objects
from analyzer.engine.positions import field_lines
from analyzer.engine.templates import clip

Reader = Callable[[Sequence[int]], Iterable[tuple[int, BinaryIO]]]
"""Reads the files with these ids once more, in their order; a stream is valid until the next is asked for."""

MAX_FIELDS = 2_000
"""Fields whose line is looked for; the rest keep their object's first line."""
MAX_OBJECT_BYTES = 8 << 20
"""Largest object that is searched."""
MAX_VALUE = 400
"""Characters of a quoted value."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class _Slice:
    """An object's text in a file."""

    offset: int
    length: int
    line: int


def evidence(
    con: duckdb.DuckDBPyConnection, found: Iterable[Draft], objects: Objects, reader: Reader | None
) -> dict[str, tuple[Evidence, ...]]:
    """The evidence of each finding, by the finding's id, with lines.

    Args:
        con: the database.
        found: the findings.
        objects: look-up of objects.
        reader: reads files of the bundle again; without it fields have their object's first line.
    """
    found = list(found)
    quotes = list(dict.fromkeys(quote for draft in found for quote in draft.quotes))
    objects.fetch(quote.id for quote in quotes if quote.origin == "object")
    lines = _lines(quotes, objects, reader)
    files = _files(con)
    logs = dict(con.execute("SELECT log_id, file_id FROM logs").fetchall()) if any(q.origin == "log" for q in quotes) else {}
    known: dict[Quote, Evidence] = {}
    for quote in quotes:
        made = _evidence(quote, objects, files, logs, lines)
        if made:
            known[quote] = made
    return {draft.id: tuple(known[quote] for quote in draft.quotes if quote in known) for draft in found}


def _evidence(
    quote: Quote, objects: Objects, files: dict[int, tuple[int, str]], logs: dict[int, int], lines: dict[tuple[int, str], int]
) -> Evidence | None:
    line: int | None = quote.line
    if quote.origin == "object":
        known = objects.get(quote.id)
        if known is None:
            return None
        file_id = known.file_id
        line = lines.get((quote.id, quote.path), known.line)
    else:
        file_id = logs.get(quote.id) if quote.origin == "log" else quote.id
    if file_id is None or file_id not in files:
        return None
    number, path = files[file_id]
    return Evidence(
        number, path, line if line is None or line > 0 else None, quote.path, clip(quote.value, MAX_VALUE), quote.kind
    )


def _files(con: duckdb.DuckDBPyConnection) -> dict[int, tuple[int, str]]:
    return {file_id: (number, path) for file_id, number, path in con.execute("SELECT file_id, input, path FROM files").fetchall()}


def _lines(quotes: Sequence[Quote], objects: Objects, reader: Reader | None) -> dict[tuple[int, str], int]:
    """(object, path) → line in the file."""
    wanted: dict[int, dict[_Slice, dict[int, list[str]]]] = {}
    fields = 0
    for quote in quotes:
        known = objects.get(quote.id) if quote.origin == "object" and quote.path else None
        if known is None or known.file_id is None or known.object_id is None or known.line is None:
            continue
        if known.offset is None or known.length is None or not 0 < known.length <= MAX_OBJECT_BYTES:
            continue
        fields += 1
        if fields > MAX_FIELDS:
            break
        place = _Slice(known.offset, known.length, known.line)
        wanted.setdefault(known.file_id, {}).setdefault(place, {}).setdefault(known.object_id, []).append(quote.path)
    lines: dict[tuple[int, str], int] = {}
    if reader is None or not wanted:
        return lines
    for file_id, stream in reader(sorted(wanted)):
        slices = wanted.get(file_id, {})
        for place, text in _texts(stream, sorted(slices, key=lambda one: one.offset)):
            for object_id, paths in slices[place].items():
                for path, line in field_lines(text, paths).items():
                    lines[(object_id, path)] = place.line + line
    return lines


def _texts(stream: BinaryIO, slices: Sequence[_Slice]) -> Iterator[tuple[_Slice, str]]:
    """The texts of these parts of a stream, which is read once, forward; a stream that ends early gives fewer.

    Parts may overlap (the same text read as two objects); `held` is what was read from `start` on.
    """
    held, start = b"", 0
    try:
        for place in slices:
            end = place.offset + place.length
            while start + len(held) < end:
                if start + len(held) <= place.offset:
                    start, held = start + len(held), b""
                piece = stream.read(min(_CHUNK, max(end - start - len(held), 1)))
                if not piece:
                    return
                held += piece
            held, start = held[place.offset - start :], place.offset
            yield place, held[: place.length].decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - a file that cannot be read again costs its lines, not the report
        return
