"""`triage sql`: read-only SQL over a bundle, a report folder or its database."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import orjson
import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli import prepare
from analyzer.cli.errors import fail
from analyzer.render.escape import clip, command_line
from analyzer.store.schema import TABLES

if TYPE_CHECKING:
    from analyzer.store.query import Result, Runner

FORMATS = ("table", "json", "csv")

_OF_NAMES = ("Catalog Error", "Binder Error")

_MAX_CELL = 200
"""Widest cell of a table, in characters; json and csv have values whole."""

_MAX_TABLE_ROWS = 100_000
"""Most rows of a table, which has to know all of them to be aligned."""


BundleArgument = Annotated[
    Path, typer.Argument(metavar="BUNDLE", help="A bundle, a report folder or its bundle.duckdb.", show_default=False)
]
QueryArgument = Annotated[
    str | None,
    typer.Argument(metavar="[SELECT]", help="One SELECT. Without it: the tables and their columns.", show_default=False),
]


def sql(
    bundle: BundleArgument,
    query: QueryArgument = None,
    output_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="table, json or csv.")] = "table",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead of to the terminal.")
    ] = None,
) -> None:
    """Ask the loaded bundle in SQL. Nothing can be changed, no other file can be read."""
    from analyzer.store.database import QueryError
    from analyzer.store.query import Runner

    if output_format not in FORMATS:
        raise UsageError(f"unknown format {output_format!r}: one of {', '.join(FORMATS)}")
    if query is not None and not query.strip().strip(";").strip():
        raise UsageError("the query is empty; leave it out to see the tables")
    inputs = {path.absolute() for path in (bundle, prepare.stored_database(bundle)) if path}
    if output is not None and (output.is_dir() or output.absolute() in inputs):
        raise UsageError(f"the output file {output} is a folder or the input itself")
    with prepare.database_for(bundle) as database, Runner(database) as runner:
        try:
            if query is None:
                rows = _present(runner)
                with _opened(output) as stream:
                    _print_tables(rows, output_format, stream)
            else:
                result = runner.run(query)
                with _opened(output) as stream:
                    _print_result(result, output_format, stream)
        except QueryError as error:
            fail(_told(str(error)), 1)


def _told(problem: str) -> str:
    """The problem; of a name that is not there, also where the names are listed."""
    if not problem.startswith(_OF_NAMES):
        return problem
    return f"{problem}{'' if problem.endswith(('.', '!', '?')) else '.'} `triage sql BUNDLE` lists tables and columns"


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    """The terminal, or a file that takes its name only once it is whole."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    # What a link leads to is written, never the link; and a device or a pipe is no file to put another in the place of.
    target = Path(os.path.realpath(output))
    try:
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8", newline="") as stream:
                yield stream
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UsageError(f"the output file {output} cannot be written: {error.strerror}") from None
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            yield stream
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


# --- results ----------------------------------------------------------------------------------------------------------


def _print_result(result: Result, output_format: str, stream: TextIO) -> None:
    names = _unique([name for name, _ in result.columns])
    if output_format == "json":
        _print_json(result, names, stream)
    elif output_format == "csv":
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for row in result.rows():
            writer.writerow(["" if value is None else _text(value) for value in row])
    else:
        _print_table(result, names, stream)


def _print_json(result: Result, names: list[str], stream: TextIO) -> None:
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


def _print_table(result: Result, names: list[str], stream: TextIO) -> None:
    """Aligned columns, everything in them visible, wide cells cut; numbers stand on the right."""
    if len(names) == 2 and names == ["explain_key", "explain_value"]:
        stream.writelines(f"{row[1]}\n" for row in result.rows())
        return
    rows: list[list[Any]] = []
    for row in result.rows():
        if len(rows) == _MAX_TABLE_ROWS:
            typer.echo(f"only the first {_MAX_TABLE_ROWS:,} rows are shown; --format csv has all", err=True)
            break
        rows.append(row)
    right = [all(isinstance(row[at], int | float | None) for row in rows) and bool(rows) for at in range(len(names))]
    cells = [[_cell(value) for value in row] for row in rows]
    _align([[command_line(name) for name in names], *cells], right, stream)
    count = len(rows)
    if stream is sys.stdout and stream.isatty():
        typer.echo(f"{count:,} row{'' if count == 1 else 's'}", err=True)


def _cell(value: Any) -> str:
    return "NULL" if value is None else clip(command_line(_text(value)), _MAX_CELL)


def _align(lines: list[list[str]], right: list[bool], stream: TextIO) -> None:
    """Writes the lines as a table, the first as its head."""
    from rich.cells import cell_len

    sizes = [[cell_len(cell) for cell in line] for line in lines]
    widths = [max(size[at] for size in sizes) for at in range(len(lines[0]))]
    for number, (line, size) in enumerate(zip(lines, sizes, strict=True)):
        padded = [
            " " * (width - own) + cell if flush else cell + " " * (width - own)
            for cell, own, width, flush in zip(line, size, widths, right, strict=True)
        ]
        stream.write("  ".join(padded).rstrip() + "\n")
        if number == 0:
            stream.write("  ".join("─" * width for width in widths) + "\n")


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


# --- tables -----------------------------------------------------------------------------------------------------------


def _present(runner: Runner) -> dict[str, int]:
    """The tables that the database has, with their number of rows."""
    result = runner.run("SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'main'")
    return {str(row[0]): int(row[1]) for row in result.rows()}


def _print_tables(rows: dict[str, int], output_format: str, stream: TextIO) -> None:
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
