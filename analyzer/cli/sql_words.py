"""Completion for the prompt of `triage sql`: tables, columns, words of SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from analyzer.store.schema import BY_NAME

_SQL = """
SELECT FROM WHERE GROUP BY ALL ORDER HAVING LIMIT OFFSET DISTINCT AS JOIN LEFT INNER CROSS FULL ON USING UNION EXCEPT
INTERSECT WITH RECURSIVE CASE WHEN THEN ELSE END AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS DESC ASC NULLS LAST
FIRST FILTER OVER PARTITION QUALIFY INTERVAL TIMESTAMP EXPLAIN DESCRIBE SUMMARIZE VALUES count sum min max avg list
string_agg arg_max arg_min coalesce nullif unnest json_extract json_extract_string json_keys contains regexp_matches
regexp_extract starts_with strftime date_diff lower upper length
"""
WORDS = tuple(_SQL.split())
COMMANDS = (".tables", ".schema", ".format", ".help", ".quit")

_WORD = re.compile(r"[\w.]*\Z")
_NAMED = re.compile(r"\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
_AFTER_TABLE = re.compile(r"\b(?:from|join)\s+\w*\Z", re.IGNORECASE)
_MAX_TEXT = 20_000
"""Characters before the cursor that are looked at."""


class SqlCompleter(Completer):
    """Completes the word before the cursor by the tables that the database has."""

    def __init__(self, tables: Iterable[str]) -> None:
        self._columns = {name: [column.name for column in BY_NAME[name].columns] for name in tables if name in BY_NAME}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """The words that may stand there, the likeliest first."""
        before = document.text_before_cursor[-_MAX_TEXT:]
        found = _WORD.search(before)
        word = found[0] if found else ""
        whole = document.text[:_MAX_TEXT]
        for start, candidates in self._candidates(before, word, whole):
            typed = word[start:].lower()
            seen = {""}
            for candidate in candidates:
                if candidate.lower().startswith(typed) and candidate not in seen:
                    seen.add(candidate)
                    yield Completion(candidate, start_position=start - len(word))

    def _candidates(self, before: str, word: str, whole: str) -> Iterator[tuple[int, list[str]]]:
        """Where in the word the candidates begin, and which they are."""
        if before.lstrip().startswith("."):
            command, space, _ = before.lstrip().partition(" ")
            if not space:
                yield 0, list(COMMANDS)
            elif command == ".schema":
                yield 0, list(self._columns)
            elif command == ".format":
                yield 0, ["table", "json", "csv"]
            return
        named = {(alias or table).lower(): table.lower() for table, alias in _NAMED.findall(whole)}
        if "." in word:
            alias = word.rpartition(".")[0].lower()
            yield len(alias) + 1, self._columns.get(named.get(alias, alias), [])
        elif _AFTER_TABLE.search(before):
            yield 0, list(self._columns)
        else:
            tables = [table for table in named.values() if table in self._columns] or list(self._columns)
            yield 0, [*(column for table in tables for column in self._columns[table]), *self._columns, *WORDS]
