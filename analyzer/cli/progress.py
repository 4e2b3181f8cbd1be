"""Progress on stderr, and only on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from analyzer.workspace import Progress


@contextlib.contextmanager
def shown() -> Iterator[Progress]:
    """A progress callback that draws on stderr; where stderr is no terminal, one that does nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    # Rich takes anything for a terminal where FORCE_COLOR is set.
    if not (console.is_terminal and sys.stderr.isatty()):
        yield lambda _stage, _done, _total: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    # No refresh thread of its own: a process with several threads cannot fork its parse workers.
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("listing", total=None)

        def update(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None, refresh=True)

        yield update
