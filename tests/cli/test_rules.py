"""`triage rules` from outside: what it lists, shows and refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.cli.rules import list_rules
from tests.program import said as program_said


def triage(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The program itself, on a terminal of 100 columns."""
    done = program_said(*words, environment={"COLUMNS": "100"})
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize("words", [("rules", "list", "--rules"), ("rules", "show", "pod/Odd", "--rules"), ("rules", "test")])
@pytest.mark.parametrize("flat", [True, False])
def test_a_folder_without_rules_is_told(tmp_path: Path, words: tuple[str, ...], flat: bool) -> None:
    if flat:
        (tmp_path / "Odd.yaml").write_text("code: pod/Odd\n")
    said = triage(*words, tmp_path, code=2).stderr
    assert said == f"error: {tmp_path} holds no rules: they lie in {tmp_path}/DOMAIN/CODE.yaml\n"


def test_the_list_tells_what_each_rule_is_about() -> None:
    lines = triage("rules", "list").stdout.splitlines()
    line = next(line for line in lines if line.startswith("cert/Expiring "))
    assert re.search(r"  warning  at once +Two weeks are enough to renew a certificate without haste\.$", line)
    assert not [line for line in lines if "{{" in line or "{%" in line]


def test_the_list_is_cut_at_the_edge_of_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    list_rules()
    lines = capsys.readouterr().out.splitlines()
    assert 90 < max(map(len, lines)) <= 100
    assert [line for line in lines if line.endswith("…")]


def test_a_rule_is_shown_by_its_name_alone_where_only_one_has_it() -> None:
    said = triage("rules", "show", "crashlooping").stdout
    assert said.startswith("pod/CrashLooping\n")
    assert "\nTitle (template)  {% if" in said
    said = triage("rules", "show", "NotReady", code=2).stderr
    assert said.startswith("error: several rules are called 'NotReady': cr/NotReady, ")
    assert " node/NotReady, " in said
    assert "no rule has the code 'pod'" in triage("rules", "show", "pod", code=2).stderr


def test_a_mistyped_command_is_answered_in_whole_sentences() -> None:
    said = triage("rules", "lst", code=2).stderr
    assert said.startswith("error: No such command 'lst'. Did you mean 'list'? See `")
    said = triage("rules", "list", "--no-such", code=2).stderr
    assert said.startswith("error: No such option: --no-such. See `")


def test_a_folder_of_a_domain_is_tested_even_where_its_rule_is_broken(tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    (tmp_path / "pod" / "Odd.yaml").write_text("severity: error\n")
    assert "pod/Odd.yaml:1: " in triage("rules", "test", tmp_path / "pod", code=1).stdout
