"""`triage sql`: read-only SQL over a bundle, a report folder or its database."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli import paths, prepare
from analyzer.cli.errors import fail

if TYPE_CHECKING:
    from analyzer.store.query import Runner

FORMATS = ("table", "json", "csv", "parquet")

MAX_SECONDS = 3600
"""Longest time limit that a query can be given."""

_OF_NAMES = ("Catalog Error", "Binder Error")


QueryArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[SELECT]",
        parser=paths.word,
        help="One SELECT. Without it: a prompt on a terminal, else the tables and their columns.",
        show_default=False,
    ),
]


def sql(
    bundle: paths.BundleArgument,
    query: QueryArgument = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="table, json, csv or parquet (with -o).")
    ] = "table",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", parser=paths.given, help="Write here instead of to the terminal."),
    ] = None,
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, max=MAX_SECONDS, metavar="SECONDS", help="Longest time that a query may take.")
    ] = 60,
) -> None:
    """Ask the loaded bundle in SQL. Nothing can be changed, no other file can be read."""
    from analyzer.store.database import QueryError
    from analyzer.store.query import Runner

    _check(bundle, query, output_format, output)
    asks = query is None and output is None and sys.stdin.isatty() and sys.stdout.isatty()
    with prepare.database_for(bundle) as database, Runner(database, timeout) as runner:
        try:
            if asks:
                from analyzer.cli.sql_shell import Shell

                Shell(runner, bundle.name, output_format).run()
            else:
                _once(runner, query, output_format, output)
        except QueryError as error:
            fail(told(str(error)), 1)


def _check(bundle: Path, query: str | None, output_format: str, output: Path | None) -> None:
    """Refuses what cannot go together, before anything is read.

    Raises:
        UsageError: with what is wrong.
    """
    if output_format not in FORMATS:
        raise UsageError(f"unknown format {output_format!r}: one of {', '.join(FORMATS)}")
    if query is not None and not query.strip().strip(";").strip():
        raise UsageError("the query is empty; leave it out to see the tables")
    if output_format == "parquet" and (output is None or query is None):
        raise UsageError("--format parquet needs a query and -o FILE")
    inputs = {path.absolute() for path in (bundle, prepare.stored_database(bundle)) if path}
    if output is not None and (output.is_dir() or output.absolute() in inputs):
        raise UsageError(f"the output file {output} is a folder or the input itself")


def _once(runner: Runner, query: str | None, output_format: str, output: Path | None) -> None:
    """Answers one query, or lists the tables."""
    from analyzer.cli import sql_output

    if query is None:
        rows = runner.tables()
        with sql_output.opened(output) as stream:
            sql_output.print_tables(rows, output_format, stream)
    elif output_format == "parquet" and output is not None:
        sql_output.keep(runner.parquet(query), output)
    else:
        result = runner.run(query)
        with sql_output.opened(output) as stream:
            sql_output.print_result(result, output_format, stream)


def told(problem: str) -> str:
    """The problem; of a name that is not there, also where the names are listed."""
    if not problem.startswith(_OF_NAMES):
        return problem
    return f"{problem}{'' if problem.endswith(('.', '!', '?')) else '.'} `triage sql BUNDLE` lists tables and columns"
