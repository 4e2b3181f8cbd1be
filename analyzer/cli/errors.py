"""How every command ends: one line on stderr and the right exit code, never a traceback.

Exit codes (docs): 1 what a command says of its own, 2 wrong usage, 3 nothing readable, 4 an internal error.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import platform
import select
import signal
import sys
import tempfile
import traceback
from types import FrameType
from typing import Any, NoReturn

import typer

from analyzer import __version__
from analyzer.bundle.errors import BundleError, UsageError
from analyzer.redact import mask_text
from analyzer.render.escape import one_line

USAGE, UNREADABLE, INTERNAL, INTERRUPTED = 2, 3, 4, 130

_MAX_MESSAGE = 1000
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def fail(message: str, code: int) -> NoReturn:
    """Prints `error: MESSAGE` on stderr, on one line with control characters made visible, and exits with `code`."""
    text = one_line(message)
    if len(text) > _MAX_MESSAGE:
        text = text[:_MAX_MESSAGE] + "…"
    with contextlib.suppress(OSError, ValueError):
        print(f"error: {text}", file=sys.stderr, flush=True)
    sys.exit(code)


def run(app: typer.Typer) -> NoReturn:
    """Runs the program and exits: every way a command can end comes through here."""
    _settle_streams()
    _exit_on_signals()
    try:
        # Typer's own messages come in boxes; not in its standalone mode it raises what is wrong with the usage.
        result: Any = app(standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as ending:
        # This is how Typer ends after a broken pipe, whichever pipe it was.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            _broken_pipe(BrokenPipeError("a pipe of our own"))
        raise ending from None
    except BrokenPipeError as error:
        _broken_pipe(error)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - nothing may end in a traceback
        if _Ended.code:
            # DuckDB turns what a signal raised into an error of its own.
            sys.exit(_Ended.code)
        _fail_for(error)
    sys.exit(result if isinstance(result, int) else 0)


def _fail_for(error: Exception) -> NoReturn:
    if isinstance(error, UsageError):
        fail(str(error), USAGE)
    if isinstance(error, BundleError):
        fail(str(error), UNREADABLE)
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            fail("a command is missing", USAGE)
        fail(_usage(error), USAGE)
    if type(error).__name__ == "Abort":
        sys.exit(INTERRUPTED)
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f" for {error.filename}" if error.filename else ""
        fail(f"no space left on the disk{where}", USAGE)
    if _is_full(error):
        fail(f"no space left on the disk (the output folder or {tempfile.gettempdir()})", USAGE)
    _internal(error)


def _usage(error: Any) -> str:
    """What is wrong with the command line, and where its help is."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "triage")
    said = str(error.format_message()).rstrip(".")
    return f"{said}{'' if said.endswith(('?', '!')) else '.'} See `{command} --help`"


def _is_full(error: Exception) -> bool:
    """DuckDB tells of a full disk in words only."""
    return type(error).__module__.startswith(("duckdb", "_duckdb")) and "No space left" in str(error)


def _broken_pipe(error: BrokenPipeError) -> NoReturn:
    """The reader of our output is gone, which is its right (`triage … | head`); any other broken pipe is a fault."""
    if _reader_is_gone():
        # Without a last flush, which Python would do at exit: there is nobody to flush to.
        os._exit(0)
    _internal(error)


def _reader_is_gone() -> bool:
    """Does nobody read our standard output any more; where the system cannot say it is taken to be so."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(1, 0)
    return any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0))


def _internal(error: Exception) -> NoReturn:
    """Writes the details to a private file and names it: the message itself may quote the bundle."""
    details = "".join(traceback.format_exception(error))
    header = f"bundle-triage {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    try:
        handle, path = tempfile.mkstemp(prefix="triage-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(header + mask_text(details))
    except OSError as second:
        fail(f"internal error ({type(error).__name__}); the details could not be written: {second.strerror}", INTERNAL)
    fail(f"internal error ({type(error).__name__}); the details are in {path}", INTERNAL)


class _Ended:
    """The exit code of the signal that ends the program; 0 while there was none."""

    code = 0


def _exit_on_signals() -> None:
    """SIGINT, SIGTERM and SIGHUP end the program as an exception does, so that temporary files are removed."""
    main = os.getpid()
    _Ended.code = 0

    def leave(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != main:
            # A forked worker owns none of the temporary files: it just ends.
            os._exit(128 + number)
        _Ended.code = 128 + number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, leave)


def _settle_streams() -> None:
    """Standard streams that can be written to: a closed one leads nowhere, and no character is too much for an encoding."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file that is opened would get this number, and with it whatever is printed.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
