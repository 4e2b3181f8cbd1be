"""`triage ome …`: what `kubectl ome` would print, for what the bundle holds. Exit codes are its own: 0 a report, else 1."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from analyzer.bundle.errors import BundleError
from analyzer.cli import paths, prepare, progress
from analyzer.cli.errors import fail
from analyzer.render.escape import one_line

NO_REPORT = 1
"""Exit code where no report is printed, whatever the cause."""


class _Group(TyperGroup):
    """A group under which every failure ends with `NO_REPORT`."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parses the group's own arguments."""
        with _own_codes():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parses and runs a command of the group."""
        with _own_codes():
            return super().invoke(ctx)


@contextlib.contextmanager
def _own_codes() -> Any:
    try:
        yield
    except BundleError as error:
        fail(str(error), NO_REPORT)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            fail("a command is missing", NO_REPORT)
        fail(str(error.format_message()), NO_REPORT)


ome_app = typer.Typer(no_args_is_help=True, cls=_Group, help="What kubectl ome prints, from a bundle.")
accelerator_app = typer.Typer(no_args_is_help=True, cls=_Group, help="The accelerators of InferenceServices.")
ome_app.add_typer(accelerator_app, name="accelerator")


@accelerator_app.command("explain")
def explain(
    bundle: paths.BundleArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The InferenceService (ome.io).", show_default=False)],
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Its namespace.")] = "default",
    ome_namespace: Annotated[
        str, typer.Option("--ome-namespace", metavar="NS", help="Where OME is installed and keeps pinned revisions.")
    ] = "ome",
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="table, wide, json or yaml.")] = "table",
) -> None:
    """The class or policy that engine and decoder ask for, and the requests that their pods start from."""
    from analyzer.ome import ask
    from analyzer.ome.printing import render
    from analyzer.ome.source import opened

    try:
        ask.check(name, namespace, ome_namespace, output)
        with progress.shown() as tell, opened(bundle, prepare.stored_database(bundle), ome_namespace, tell) as source:
            outcome = ask.answer(source, name, namespace, ome_namespace)
            notes = ask.notes(source, outcome)
    except ask.RefusedError as error:
        fail(str(error), NO_REPORT)
    for note in notes:
        with contextlib.suppress(OSError, ValueError):
            print(f"note: {one_line(note)}", file=sys.stderr)
    sys.stdout.write(render(outcome.report, output))
