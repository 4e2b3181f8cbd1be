"""Results of SQL as text: table, JSON, CSV; and files that take their name only once they are whole."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

import orjson
import typer

from analyzer.bundle.errors import UsageError
from analyzer.render.escape import clip, command_line, visible
from analyzer.store.schema import TABLES

if TYPE_CHECKING:
    from analyzer.store.query import Result

MAX_CELL = 200
"""Widest cell of a table, in characters; json and csv have values whole."""
MAX_TABLE_ROWS = 100_000
"""Most rows of a table, which has to know all of them to be aligned."""


@contextlib.contextmanager
def opened(output: Path | None) -> Iterator[TextIO]:
    """The terminal, or a text file that takes its name only once it is whole."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with _file(output, "w") as stream:
        yield stream  # type: ignore[misc]


@contextlib.contextmanager
def _file(output: Path, mode: str) -> Iterator[IO[Any]]:
    """A file under another name, which is put in the place of the one asked for once it is whole.

    Raises:
        UsageError: it cannot be written.
    """
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    # What a link leads to is written, never the link; and a device or a pipe is no file to put another in the place of.
    target = Path(os.path.realpath(output))
    try:
        if target.exists() and not target.is_file():
            with target.open(mode, **text) as stream:
                yield stream
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UsageError(f"the output file {output} cannot be written: {error.strerror}") from None
    part = Path(name)
    try:
        with os.fdopen(handle, mode, **text) as stream:
            yield stream
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def keep(source: Path, output: Path) -> None:
    """Copies a finished file to where it is wanted.

    Raises:
        UsageError: it cannot be written there.
    """
    import shutil

    with source.open("rb") as stream, _file(output, "wb") as target:
        shutil.copyfileobj(stream, target, 1 << 20)


def print_result(
    result: Result, output_format: str, stream: TextIO, width: int | None = None, rows: int = MAX_TABLE_ROWS
) -> None:
    """Writes a result.

    Args:
        result: what a query gave.
        output_format: table, json or csv.
        stream: where to.
        width: a table's lines are cut there; None for never.
        rows: most rows of a table.
    """
    names = _unique([name for name, _ in result.columns])
    # What goes to a terminal must not steer it; a file or a pipe gets every value as it is.
    shown = visible if stream.isatty() else str
    if output_format == "json":
        _print_json(result, names, _Through(stream, shown))
    elif output_format == "csv":
        writer = csv.writer(_Through(stream, shown), lineterminator="\n")
        writer.writerow(names)
        for row in result.rows():
            writer.writerow(["" if value is None else _text(value) for value in row])
    else:
        _print_table(result, names, stream, width, rows)


class _Through:
    """Writes what a function makes of the text."""

    def __init__(self, stream: TextIO, made: Any) -> None:
        self._stream = stream
        self._made = made

    def write(self, text: str) -> int:
        """Writes a text."""
        return self._stream.write(self._made(text))


def _print_json(result: Result, names: list[str], stream: _Through) -> None:
    """An array with one object a line; columns of type JSON are JSON in it, not text."""
    nested = [kind == "JSON" for _, kind in result.columns]
    separator = "[\n"
    for row in result.rows():
        values = [_parsed(value) if deep else value for value, deep in zip(row, nested, strict=True)]
        stream.write(separator + orjson.dumps(dict(zip(names, values, strict=True))).decode())
        separator = ",\n"
    stream.write("[]\n" if separator == "[\n" else "\n]\n")


def _parsed(value: Any) -> Any:
    try:
        return orjson.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _print_table(result: Result, names: list[str], stream: TextIO, width: int | None, most: int) -> None:
    """Aligned columns, everything in them visible, wide cells cut; numbers stand on the right."""
    if len(names) == 2 and names == ["explain_key", "explain_value"]:
        stream.writelines(f"{visible(str(row[1]))}\n" for row in result.rows())
        return
    rows: list[list[Any]] = []
    count = 0
    for row in result.rows():
        count += 1
        if count <= most:
            rows.append(row)
        elif most >= MAX_TABLE_ROWS:
            break
    right = [all(isinstance(row[at], int | float | None) for row in rows) and bool(rows) for at in range(len(names))]
    cells = [[_cell(value) for value in row] for row in rows]
    _align([[command_line(name) for name in names], *cells], right, stream, width)
    if most >= MAX_TABLE_ROWS and count > most:
        typer.echo(f"only the first {most:,} rows are shown; --format csv has all", err=True)
    elif stream is sys.stdout and stream.isatty():
        shown = f"; the first {most:,} are shown" if count > most else ""
        typer.echo(f"{count:,} row{'' if count == 1 else 's'}{shown}", err=True)


def _cell(value: Any) -> str:
    return "NULL" if value is None else clip(command_line(_text(value)), MAX_CELL)


def _align(lines: list[list[str]], right: list[bool], stream: TextIO, width: int | None) -> None:
    """Writes the lines as a table, the first as its head."""
    from rich.cells import cell_len, set_cell_size

    sizes = [[cell_len(cell) for cell in line] for line in lines]
    widths = [max(size[at] for size in sizes) for at in range(len(lines[0]))]

    def put(text: str) -> None:
        text = text.rstrip()
        if width and cell_len(text) > width:
            text = set_cell_size(text, max(width - 1, 1)) + "…"
        stream.write(text + "\n")

    for number, (line, size) in enumerate(zip(lines, sizes, strict=True)):
        padded = [
            " " * (room - own) + cell if flush else cell + " " * (room - own)
            for cell, own, room, flush in zip(line, size, widths, right, strict=True)
        ]
        put("  ".join(padded))
        if number == 0:
            put("  ".join("─" * room for room in widths))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def _unique(names: list[str]) -> list[str]:
    """Column names with a number after a repeated one."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return out


def print_tables(rows: dict[str, int], output_format: str, stream: TextIO) -> None:
    """Writes the tables that a database has, with their columns.

    Args:
        rows: the number of rows of each table that is there.
        output_format: table, json or csv.
        stream: where to.
    """
    tables = [table for table in TABLES if table.name in rows]
    if output_format == "json":
        shown = [
            {
                "table": table.name,
                "rows": rows[table.name],
                "doc": table.doc,
                "columns": [{"name": column.name, "type": column.type, "doc": column.doc} for column in table.columns],
            }
            for table in tables
        ]
        stream.write("[\n" + ",\n".join(orjson.dumps(table).decode() for table in shown) + "\n]\n")
    elif output_format == "csv":
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["table", "rows", "column", "type", "doc"])
        for table in tables:
            writer.writerows([table.name, rows[table.name], column.name, column.type, column.doc] for column in table.columns)
    else:
        for table in tables:
            count = rows[table.name]
            stream.write(f"{table.name} ({count:,} row{'' if count == 1 else 's'}): {table.doc}\n")
            width = max(len(column.name) for column in table.columns)
            kinds = max(len(column.type) for column in table.columns)
            stream.writelines(
                f"  {column.name.ljust(width)}  {column.type.ljust(kinds)}  {column.doc}\n" for column in table.columns
            )
            stream.write("\n")
