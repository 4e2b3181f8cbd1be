"""docs/writing-rules.md: every file, change and command in it is done as it says, and every output is as it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(
    r"(?:<!-- (?P<what>file|append to|replace in) (?P<path>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks() -> Iterator[tuple[str, str, str]]:
    """What to do (file, append to, replace in, console), with which file, and the text."""
    for found in FENCE.finditer((ROOT / "docs" / "writing-rules.md").read_text(encoding="utf-8")):
        yield found["what"] or found["kind"], found["path"] or "", found["text"]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console, each with the output that is shown."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        ends = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: ends + 1]), "\n".join(lines[ends + 1 :])


def pattern(shown: str) -> str:
    """The output as a pattern: a line of … stands for any lines, a … in a line for any text."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r" *\n" for line in shown.splitlines()
    ]
    return "".join(lines)


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_what_the_page_shows_is_what_one_gets(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    work = tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    shim = tools / "triage"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m analyzer "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    env = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    ran = 0
    for what, path, text in blocks():
        target = work / path
        if what == "file":
            target.write_text(text, encoding="utf-8")
        elif what == "append to":
            target.write_text(target.read_text(encoding="utf-8") + text, encoding="utf-8")
        elif what == "replace in":
            old, new = ("\n".join(line[2:] for line in text.splitlines() if line.startswith(mark)) for mark in "-+")
            before = target.read_text(encoding="utf-8")
            assert before.count(old) == 1, f"{old!r} is not once in {path}"
            target.write_text(before.replace(old, new), encoding="utf-8")
        elif what == "console":
            for command, shown in commands(text):
                done = subprocess.run(
                    ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=work, env=env, timeout=120
                )
                said = done.stdout + done.stderr
                assert re.fullmatch(pattern(shown), said), f"$ {command}\n{said}"
                ran += 1
        else:
            raise AssertionError(f"a block of {what} that nothing tests")
    assert ran >= 6


def test_every_flag_of_a_shape_is_in_the_page() -> None:
    from analyzer.cli.rules_new import SHAPES

    page = (ROOT / "docs" / "writing-rules.md").read_text(encoding="utf-8")
    assert [name for name in SHAPES if f"`--{name} " not in page] == []
