"""`triage rules` from outside: what it lists, shows and refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def triage(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The program itself, on a terminal of 100 columns."""
    done = subprocess.run(
        [sys.executable, "-m", "analyzer", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize("words", [("rules", "list", "--rules"), ("rules", "show", "pod/Odd", "--rules"), ("rules", "test")])
@pytest.mark.parametrize("flat", [True, False])
def test_a_folder_without_rules_is_told(tmp_path: Path, words: tuple[str, ...], flat: bool) -> None:
    if flat:
        (tmp_path / "Odd.yaml").write_text("code: pod/Odd\n")
    said = triage(*words, tmp_path, code=2).stderr
    assert said == f"error: {tmp_path} holds no rules: they lie in {tmp_path}/DOMAIN/CODE.yaml\n"


def test_a_folder_of_a_domain_is_tested_even_where_its_rule_is_broken(tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    (tmp_path / "pod" / "Odd.yaml").write_text("severity: error\n")
    assert "pod/Odd.yaml:1: " in triage("rules", "test", tmp_path / "pod", code=1).stdout
