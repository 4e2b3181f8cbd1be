"""Progress on stderr, and only on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from analyzer.case import Progress


@contextlib.contextmanager
def shown() -> Iterator[Progress]:
    """A progress callback that draws on stderr; where stderr is no terminal, one that does nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _stage, _done, _total: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("listing", total=None)

        def update(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        yield update
