"""`triage ome …`: what `kubectl ome` would print, for what the bundle holds. Exit codes are its own: 0 a report, else 1."""

from __future__ import annotations

import typer

from analyzer.cli.ome.accelerator import explain
from analyzer.cli.ome.group import Group
from analyzer.cli.ome.runtime import effective, runtimes, tree
from analyzer.cli.ome.status import status

ome_app = typer.Typer(
    no_args_is_help=True,
    cls=Group,
    help="What kubectl ome prints, from a bundle.",
    epilog="For example: triage ome status must-gather.triage chat -n serving",
)
accelerator_app = typer.Typer(no_args_is_help=True, cls=Group, help="The accelerators of InferenceServices.")
runtime_app = typer.Typer(no_args_is_help=True, cls=Group, help="The runtimes behind InferenceServices.")
ome_app.command("status")(status)
ome_app.add_typer(accelerator_app, name="accelerator")
ome_app.add_typer(runtime_app, name="runtime")
accelerator_app.command("explain")(explain)
runtime_app.command("explain")(runtimes)
runtime_app.command("effective")(effective)
runtime_app.command("tree")(tree)
