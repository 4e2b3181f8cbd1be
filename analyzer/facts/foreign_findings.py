"""What other tools concluded when the bundle was made: the `analysis.json` of troubleshoot.

Kept and shown as theirs. No rule of ours rests on them: what they looked at and when is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text

_ROLE = "foreign-analysis"
# Before troubleshoot wrote a severity, it wrote one of these.
_FLAGS = (("isFail", "error"), ("isWarn", "warn"), ("isPass", "debug"))


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `foreign_findings`; entries that say nothing are left out."""
    documents = con.execute("SELECT file_id, json FROM documents WHERE role = ? ORDER BY file_id", [_ROLE]).fetchall()
    insert_rows(con, "foreign_findings", (row for file_id, document in documents for row in _rows(file_id, document)))


def _rows(file_id: int, document: str) -> Iterator[dict[str, Any]]:
    for entry in mappings(orjson.loads(document)):
        insight = mapping(entry.get("insight"))
        name = text(entry.get("name")) or text(insight.get("name")) or ""
        title = text(insight.get("primary")) or text(entry.get("title")) or name
        message = text(insight.get("detail")) or text(entry.get("message")) or text(entry.get("error"))
        if title or message:
            yield {
                "file_id": file_id,
                "name": name,
                "title": title,
                "severity": text(entry.get("severity")) or text(insight.get("severity")) or _flagged(entry),
                "message": message,
            }


def _flagged(entry: dict[str, Any]) -> str | None:
    return next((severity for flag, severity in _FLAGS if entry.get(flag) is True), None)
