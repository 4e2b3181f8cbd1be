"""The commands. Each module holds one; options, exit codes and progress, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer import __version__
from analyzer.cli import analyze, collect, errors, logs, ome, rules, show, sql

app = typer.Typer(
    name="triage",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the cause under the symptoms in a Kubernetes diagnostics bundle. Works offline.",
)
app.command()(analyze.analyze)
app.command()(collect.collect)
app.command()(logs.logs)
app.command()(show.show)
app.command()(sql.sql)
app.add_typer(rules.rules_app, name="rules")
app.add_typer(ome.ome_app, name="ome")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"triage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


def main() -> None:
    """The entry point of `triage` and `kubectl-triage`."""
    errors.run(app)
