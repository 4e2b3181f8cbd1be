"""How the program ends when something is wrong."""

from __future__ import annotations

import errno
import stat
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


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ends(lambda: None, capsys, "command", "--nothing")
    assert code == 2
    assert said.startswith("error: No such option: --nothing")
    assert said.count("\n") == 1
    assert ends(lambda: None, capsys, "unknown")[0] == 2


def test_a_very_long_message_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = ends(raising(UsageError("x" * 100_000)), capsys)
    assert len(said) < 1100
