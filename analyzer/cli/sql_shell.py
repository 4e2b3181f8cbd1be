"""The prompt of `triage sql`: queries up to a semicolon, a few commands that begin with a dot, history and completion."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from analyzer.cli import sql_output
from analyzer.cli.sql_words import SqlCompleter
from analyzer.render.escape import one_line
from analyzer.store.database import QueryError
from analyzer.store.schema import BY_NAME
from analyzer.store.statement import end_of

if TYPE_CHECKING:
    from analyzer.store.query import Runner

FORMATS = ("table", "json", "csv")
"""What can be shown on a terminal."""
MAX_ROWS = 500
"""Rows of a table that are shown."""
MAX_HISTORY_BYTES = 256 << 10
"""What is kept of the history; the oldest goes first."""

HELP = """\
A query runs when it ends with a semicolon; until then Enter begins a new line. Tab completes.
  .tables        the tables, with their rows
  .schema TABLE  the columns of a table
  .format NAME   table, json or csv
  .help          this
  .quit          the end (so is Ctrl-D); Ctrl-C ends a query that runs"""


class Shell:
    """Asks for queries and answers them until it is told to end."""

    def __init__(self, runner: Runner, name: str, output_format: str = "table") -> None:
        self._runner = runner
        self._name = one_line(name)
        self._format = output_format
        self._rows = runner.tables()

    def run(self) -> None:
        """Runs until `.quit` or Ctrl-D."""
        session: PromptSession[str] = PromptSession(
            message="sql> ",
            prompt_continuation="...> ",
            multiline=True,
            key_bindings=_bindings(),
            completer=SqlCompleter(self._rows),
            complete_while_typing=False,
            history=_history(),
        )
        typer.echo(f"{self._name}: {len(self._rows)} tables; .help for help")
        with _interrupts():
            while True:
                try:
                    if not self.take(session.prompt()):
                        return
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return

    def take(self, text: str) -> bool:
        """Answers what was typed.

        Returns:
            Whether to go on.
        """
        text = text.strip()
        if text.startswith("."):
            return self._command(text)
        while text:
            end = end_of(text)
            one, text = text[:end], "" if end is None else text[end + 1 :].strip()
            if one.strip() and not self._query(one):
                break
        return True

    def _query(self, query: str) -> bool:
        """Runs one query; False where it failed or was cancelled."""
        try:
            result = self._runner.run(query)
            width = shutil.get_terminal_size().columns
            sql_output.print_result(result, self._format, sys.stdout, width, MAX_ROWS)
            sys.stdout.flush()
        except KeyboardInterrupt:
            typer.echo("cancelled", err=True)
        except QueryError as error:
            typer.echo(f"error: {one_line(str(error))}", err=True)
        else:
            return True
        return False

    def _command(self, text: str) -> bool:
        """Does what a line with a dot says; False where that is the end."""
        name, _, rest = text.rstrip("; \t").partition(" ")
        rest = rest.strip()
        if name in (".quit", ".exit"):
            return False
        if name == ".help":
            typer.echo(HELP)
        elif name == ".tables":
            width = max(map(len, self._rows), default=0)
            for table, count in self._rows.items():
                doc = BY_NAME[table].doc if table in BY_NAME else ""
                typer.echo(f"{table.ljust(width)}  {count:>9,}  {doc}")
        elif name == ".schema" and rest.lower() in self._rows:
            sql_output.print_tables({rest.lower(): self._rows[rest.lower()]}, "table", sys.stdout)
        elif name == ".schema":
            typer.echo(
                f"no table is called {one_line(rest)!r}; .tables lists them" if rest else ".schema needs a table", err=True
            )
        elif name == ".format" and rest in FORMATS:
            self._format = rest
        elif name == ".format":
            typer.echo(f"one of {', '.join(FORMATS)}; it is {self._format}. A Parquet file: --format parquet -o FILE", err=True)
        else:
            typer.echo(f"no command is called {one_line(name)}; .help lists them", err=True)
        return True


def is_whole(text: str) -> bool:
    """Whether what was typed can be run: it ends with a semicolon, is a command, or is empty."""
    if not text.strip() or text.lstrip().startswith("."):
        return True
    end = end_of(text)
    while end is not None:
        text = text[end + 1 :]
        if not text.strip():
            return True
        end = end_of(text)
    return False


def _bindings() -> KeyBindings:
    """Enter runs what is whole, and begins a new line in what is not."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_state = None
        elif is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Ctrl-C ends what runs, not the program, which else would take it for its own end."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def state_folder() -> Path:
    """The folder of this user for what a program keeps between its runs.

    Raises:
        RuntimeError: the user has no home.
    """
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "bundle-triage"
    # The XDG Base Directory Specification: a path that is not absolute is to be passed over.
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "bundle-triage"


def _history() -> History:
    """The history in a file that only its user can read; in memory where there can be none."""
    try:
        path = state_folder() / "sql-history"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made here, so that nobody else can read it at any moment.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
        path.chmod(0o600)
        _trim(path)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(str(path))


def _trim(path: Path) -> None:
    """Drops the oldest entries of a history that has grown too long."""
    data = path.read_bytes() if path.stat().st_size > MAX_HISTORY_BYTES else b""
    if data:
        kept = data[-MAX_HISTORY_BYTES // 2 :]
        start = kept.find(b"\n\n#")
        with path.open("r+b") as stream:
            stream.write(kept[start:] if start >= 0 else b"")
            stream.truncate()
