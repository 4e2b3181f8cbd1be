"""What the parse workers write: rows of the part tables (`analyzer.store.schema.PARTS`) as NDJSON, one file a table."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from analyzer.bundle.limits import MIB
from analyzer.redact import mask_object

OBJECTS, LISTS, LOGS = "part_objects", "part_lists", "part_logs"
LOG_HITS, LOG_COUNTS = "part_log_hits", "part_log_counts"
DOCUMENTS, ERRORS, FILES = "part_documents", "part_errors", "part_files"
REQUESTS, LOG_REQUESTS, DIGESTS = "part_requests", "part_log_requests", "part_digests"
RESULTS = "results"
"""For `analyzer.bundle.read` alone: what became of each file, with counts."""

_NUL = b"\\u0000"
_MAX_INT = 2**64 - 1
_MIN_INT = -(2**63)


@dataclass(slots=True)
class Result:
    """What became of one file.

    `status` is read, empty, partial, unread or skipped; `objects` and `lines` count what was got from it; `dump` tells
    that it is a cluster-info dump in one file; `at` is the collection time that a timestamp file gives, `at_line` its line,
    `clock` whose clock it is where the path does not tell. `sha256` is that of the file's bytes, where its bundle lists digests.
    """

    file_id: int
    status: str = "read"
    line: int | None = None
    error: str | None = None
    lost: int | None = None
    objects: int = 0
    lines: int = 0
    documents: int = 0
    dump: bool = False
    at: str | None = None
    at_line: int = 0
    clock: str = ""
    sha256: str | None = None

    def problem(self, message: str, line: int | None = None, lost: int | None = None) -> None:
        """Note something that could not be read; the first one is the one that is told."""
        if self.error is None:
            self.error, self.line = message, line
        if lost is not None:
            self.lost = (self.lost or 0) + lost
        self.status = "partial"


class PartFileError(OSError):
    """The rows could not be written: the temporary folder is full or gone. Nothing that a bundle holds causes it."""


class Sink:
    """Part files of one worker in one folder, opened when the first row comes."""

    def __init__(self, folder: Path, worker: str) -> None:
        self._folder = folder
        self._worker = worker
        self._files: dict[str, io.BufferedWriter] = {}

    def write(self, table: str, row: Mapping[str, Any]) -> None:
        """Add a row; JSON text within it comes as `orjson.Fragment`."""
        text = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        try:
            file = self._files.get(table)
            if file is None:
                path = self._folder / f"{table}-{self._worker}.ndjson"
                file = self._files[table] = io.BufferedWriter(io.FileIO(path, "w"), MIB)
            file.write(text)
        except OSError as error:
            raise PartFileError(*error.args) from error

    def close(self) -> None:
        """Write out and close all files."""
        try:
            for file in self._files.values():
                file.close()
        except OSError as error:
            raise PartFileError(*error.args) from error
        self._files.clear()


def masked_json(value: dict[str, Any]) -> bytes:
    """An object as JSON text (see `to_json`) with its secrets masked; the object may be changed."""
    try:
        return to_json(mask_object(value))
    except UnicodeEncodeError:
        # Lone surrogates, which JSON can spell: half of a character that no text can hold.
        return to_json(mask_object(_plain(value)))


def to_json(value: Any) -> bytes:
    """A value as JSON text that DuckDB takes: no NUL character, no lone surrogate, no number that is not JSON."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False).encode()
    if _NUL in text:
        return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False).encode()
    return text


def _plain(value: Any) -> Any:
    """The value with what JSON or DuckDB cannot hold replaced: huge integers become text, NUL and surrogates U+FFFD."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool) or (isinstance(value, int) and _MIN_INT <= value <= _MAX_INT):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    return str(value)
