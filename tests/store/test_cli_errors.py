"""How the program ends when something is wrong."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from analyzer.bundle.errors import LimitError, UnreadableError, UsageError
from analyzer.cli.errors import run

SECRET = "Xq7hunter2Zz"


def ends(action: Callable[[], object], capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    """Runs a program with one command that does this: its exit code and what it says on stderr."""
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

    @app.command()
    def command() -> None:
        action()

    @app.command("other")
    def other() -> None:
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["triage", *(args or ("command",))])
        with pytest.raises(SystemExit) as ending:
            run(app)
    return int(ending.value.code or 0), capsys.readouterr().err


def raising(error: BaseException) -> Callable[[], object]:
    def action() -> None:
        raise error

    return action


def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(lambda: None, capsys) == (0, "")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such\npath \x1b[31m"), 2),
        (UnreadableError("nothing in it"), 3),
        (LimitError("too much"), 3),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 2),
        (OSError(errno.EIO, "input/output error"), 4),
        (RuntimeError("boom"), 4),
        (MemoryError(), 4),
        (RecursionError(), 4),
    ],
)
def test_one_line_and_the_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended, said = ends(raising(error), capsys)
    assert ended == code
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert "Traceback" not in said


def test_the_details_are_private_and_masked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, said = ends(raising(ValueError(f"cannot parse password={SECRET}")), capsys)
    (details,) = tmp_path.iterdir()
    assert code == 4
    assert str(details) in said
    assert SECRET not in said
    text = details.read_text()
    assert "Traceback" in text
    assert SECRET not in text
    assert stat.S_IMODE(details.stat().st_mode) == 0o600


def test_interrupts_and_exits(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(raising(KeyboardInterrupt()), capsys)[0] == 130
    assert ends(raising(typer.Exit(1)), capsys) == (1, "")
    assert ends(raising(typer.Abort()), capsys)[0] == 130


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_a_library_makes_an_error_of(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        try:
            os.kill(os.getpid(), number)
        except BaseException as error:
            raise RuntimeError("Query interrupted") from error

    # Started in the background by a shell, this process would have inherited an ignored SIGINT.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert ends(action, capsys) == (128 + number, "")
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(os.name == "nt", reason="file descriptors of POSIX")
def test_closed_and_narrow_streams(tmp_path: Path) -> None:
    """What is closed takes no other file's place, and no character is too much."""
    code = "import sys, typer; from analyzer.cli.errors import run; app = typer.Typer()\n"
    code += "@app.command()\ndef command() -> None:\n"
    code += "    open(sys.argv[0], 'w').write('file'); print('out'); print('\u2026')\nrun(app)"
    command = [sys.executable, "-c", f"import sys; sys.argv = [{str(tmp_path / 'x')!r}]; exec({code!r})"]
    for closing in ("1>&-", "2>&-", "0<&- 1>&- 2>&-"):
        assert subprocess.run(["sh", "-c", f'"$@" {closing}', "sh", *command], check=False).returncode == 0
        assert (tmp_path / "x").read_text(encoding="utf-8") == "file"
    narrow = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (narrow.returncode, narrow.stdout) == (0, b"out\n\\u2026\n")


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ends(lambda: None, capsys, "command", "--nothing")
    assert code == 2
    assert said.startswith("error: No such option: --nothing")
    assert said.count("\n") == 1
    assert ends(lambda: None, capsys, "unknown")[0] == 2


def test_a_very_long_message_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = ends(raising(UsageError("x" * 100_000)), capsys)
    assert len(said) < 1100


def test_a_terminal_of_unknown_width_is_written_to() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "analyzer", "--help"], capture_output=True, check=True, env=os.environ | {"COLUMNS": "0"}
    )
    assert b"analyze" in done.stdout
