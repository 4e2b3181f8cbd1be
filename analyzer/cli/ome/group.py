"""What the commands under `triage ome` share: their exit code, their options, and how they print."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from analyzer.bundle.errors import BundleError
from analyzer.cli import prepare, progress
from analyzer.cli.errors import fail
from analyzer.render.escape import one_line

if TYPE_CHECKING:
    from analyzer.ome.source import Source

NO_REPORT = 1
"""Exit code where no report is printed, whatever the cause."""

_MAX_NOTE = 2_000

Namespace = Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Its namespace.")]
OmeNamespace = Annotated[
    str, typer.Option("--ome-namespace", metavar="NS", help="Where OME is installed and keeps pinned revisions.")
]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="table, wide, json or yaml.")]
Service = Annotated[str, typer.Argument(metavar="NAME", help="The InferenceService (ome.io).", show_default=False)]


class Group(TyperGroup):
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
def _own_codes() -> Iterator[None]:
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


@contextlib.contextmanager
def opened(bundle: Path, ome_namespace: str = "ome", around: str = "") -> Iterator[Source]:
    """The objects of a bundle, as `analyzer.ome.source.opened` reads them, with progress shown."""
    from analyzer.ome import source

    stored = prepare.stored_database(bundle)
    with progress.shown() as tell, source.opened(bundle, stored, ome_namespace, tell, around) as found:
        yield found


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Ends with `NO_REPORT` and one line where a question cannot be answered."""
    from analyzer.ome.ask import RefusedError

    try:
        yield
    except RefusedError as error:
        fail(one_line(str(error)), NO_REPORT)


def show(text: str, notes: Iterable[str]) -> None:
    """Prints a report, and first, on stderr, what it cannot say for lack of evidence; that may name what the bundle holds."""
    from analyzer.ome.safe import text as masked

    for note in dict.fromkeys(masked(note, _MAX_NOTE) for note in notes):
        with contextlib.suppress(OSError, ValueError):
            print(f"note: {note}", file=sys.stderr)
    sys.stdout.write(text)
