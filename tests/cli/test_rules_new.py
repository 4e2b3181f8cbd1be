"""`triage rules new`: what it makes passes, and what it refuses."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.bundle.errors import UsageError
from analyzer.engine import case_run
from analyzer.engine.scaffold import answers
from analyzer.engine.scaffold.answers import Answers, Field, Shape
from analyzer.engine.scaffold.write import check_free, texts_of, write
from tests.program import said as program_said

ROOT = Path(__file__).resolve().parent.parent.parent
GIVEN = ("--title", "it leaks", "--why", "It has a hole.", "--next", "Mend it", "--reference", "https://kb.example.com/7")
WIDGET = answers.kind("Widget.example.com")
POD = answers.kind("pod")
NODE = answers.kind("Node")


def triage(*words: object, folder: Path, code: int = 0) -> str:
    """What the program prints where it ends with that code, without a terminal."""
    done = program_said("rules", *words, here=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def given_for(shape: Shape, **other: Any) -> Answers:
    texts = {"title": "it leaks", "next": ("Mend it",), "why": "It has a hole.", "references": ("https://kb.example.com/7",)}
    some = Answers("acme/Leaks", shape, "warning", None, "platform", "unknown", **texts)  # type: ignore[arg-type]
    return replace(some, **other)


@pytest.mark.parametrize(
    ("shape", "cases"),
    [
        (answers.condition(WIDGET, "Ready=False"), 3),
        (answers.condition(POD, "Ready=Unknown/Lost"), 4),
        (answers.event(NODE, "Rebooted"), 5),
        (Field(WIDGET, answers.path("spec.size"), "3"), 4),
        (Field(WIDGET, answers.path("spec.size"), "big", lacks=True), 4),
        (Field(WIDGET, answers.path("status.size"), None), 3),
        (Field(POD, answers.path("spec.containers[*].image"), "it's:latest"), 4),
        (Field(POD, answers.path("spec.containers[*].image"), "a", lacks=True), 4),
        (Field(POD, answers.path("spec.containers[0].livenessProbe"), None), 3),
        (Field(NODE, answers.path('metadata.labels["example.com/role"]'), "true"), 4),
        (answers.state(POD, "Crash looping"), 3),
        (answers.log('cannot "open" {file} 100%'), 3),
    ],
    ids=str,
)
def test_every_shape_makes_a_rule_that_passes(tmp_path: Path, shape: Shape, cases: int) -> None:
    written = write(given_for(shape), tmp_path)
    assert written.cases == cases
    assert all(path.is_file() for path in written.files)
    # The title names the object, whoever forgot it.
    assert "{{ about }}: it leaks" in written.files[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("shape", [answers.condition(WIDGET, "Ready=False"), answers.event(POD, "Odd"), answers.log("odd line")])
def test_an_age_is_a_case_too(tmp_path: Path, shape: Shape) -> None:
    written = write(given_for(shape, after="30d"), tmp_path)
    assert "younger than 30d" in written.files[1].read_text(encoding="utf-8")


HARD = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(HARD, HARD, HARD)
def test_any_words_come_back_as_they_were_given(title: str, value: str, why: str) -> None:
    from analyzer.engine.yamltext import parse_yaml

    try:
        shape = Field(WIDGET, answers.path("spec.size"), answers.sentence("value", value))
        wanted = given_for(
            shape, title=answers.title(title), why=answers.sentence("why", why), next=(answers.sentence("next", why),)
        )
    except UsageError:
        return
    rule, cases = texts_of(wanted)
    read = parse_yaml(rule.encode(), "rule").value
    assert read["title"].endswith(wanted.title)
    assert (read["why"], read["next"]) == (wanted.why, [wanted.why])
    firing = parse_yaml(cases.encode(), "cases").value["cases"][0]
    assert str(firing["objects"][0]["spec"]["size"]).lower() == str(shape.value).lower()


def test_flags_make_files_that_rules_test_takes(tmp_path: Path) -> None:
    said = triage("new", "acme/PodLeaks", "--kind", "pod", "--event", "Leaked", "--owner", "workload", *GIVEN, folder=tmp_path)
    assert "wrote triage-rules/acme/PodLeaks.yaml\n" in said
    assert triage("test", "triage-rules", folder=tmp_path) == "rules: 5 cases pass\n"
    taken = triage("new", "acme/Podleaks", folder=tmp_path, code=2)
    assert taken == "error: the code acme/PodLeaks is taken by triage-rules/acme/PodLeaks.yaml\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("acme",), "'acme' is no code"),
        (("Acme/Leaks",), "'Acme/Leaks' is no code"),
        (("acme/../../Leaks",), "is no code"),
        (("pod/CrashLooping",), "the code pod/CrashLooping is taken by rules/pod/CrashLooping.yaml"),
        (
            ("acme/Leaks",),
            "one of --condition, --event, --field, --log, --state, --title, --why, --next, --reference, --owner\n",
        ),
        (("acme/Leaks", "--kind", "Widget", "--event", "X", "--owner", "nobody", *GIVEN), "no built-in kind is called Widget"),
        (
            ("acme/Leaks", "--kind", "Pod", "--event", "X", "--log", "text", "--owner", "nobody", *GIVEN),
            "one thing: --event or --log",
        ),
        (("acme/Leaks", "--kind", "Pod", "--event", "X", "--has", "1", "--owner", "nobody", *GIVEN), "--has: only with --field"),
        (("acme/Leaks", "--kind", "Pod", "--field", "spec.x", "--owner", "nobody", *GIVEN), "--field needs --has VALUE"),
        (
            ("acme/Leaks", "--kind", "Pod", "--field", "spec.x", "--unset", "--after", "5m", "--owner", "nobody", *GIVEN),
            "--after is of no use with --field",
        ),
        (("acme/Leaks", "--kind", "Pod", "--condition", "Ready", "--owner", "nobody", *GIVEN), "is no condition"),
        (("acme/Leaks", "--kind", "Pod", "--field", "spec..x", "--unset", "--owner", "nobody", *GIVEN), "is no path"),
        (("acme/Leaks", "--kind", "Pod", "--event", "X", "--owner", "me", *GIVEN), "owner is 'me', must be one of workload"),
        (("acme/Leaks", "--kind", "Pod", "--event", "X", "--after", "soon", "--owner", "nobody", *GIVEN), "after is 'soon'"),
        (("acme/Leaks", "--kind", "Node", "--state", "Odd", "--owner", "nobody", *GIVEN), "no state of Node is called 'Odd'"),
        (("acme/Leaks", "--log", "abc", "--owner", "nobody", *GIVEN), "4 to 200 bytes"),
        (("acme/Leaks", "--dir", ROOT / "analyzer" / "mine"), "lies inside the installed package"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_in_one_line(tmp_path: Path, words: tuple[object, ...], said: str) -> None:
    told = triage("new", *words, folder=tmp_path, code=2)
    assert told.startswith("error: ")
    assert said in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": "{{ nothing }} leaks"}, "'nothing' is undefined"),
        ({"title": "{% if %} leaks"}, "template of title"),
        ({"title": "acme/Leaks leaks"}, "title: names the code"),
        ({"next": ("{% include 'x' %}",)}, "Include is not allowed"),
        ({"shape": Field(answers.kind("Secret"), answers.path("data.password"), "hunter2")}, "missing: Secret"),
    ],
)
def test_answers_that_make_no_rule_leave_nothing_behind(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match="no rule that passes its own cases") as told:
        write(replace(given_for(answers.condition(WIDGET, "Ready=False")), **change), tmp_path / "pack")
    assert said in str(told.value)
    assert not (tmp_path / "pack").exists()


def test_a_code_that_was_used_once_is_not_given_again(tmp_path: Path) -> None:
    (tmp_path / "retired.yaml").write_text("retired:\n  - {code: acme/Leaks, why: acme/Drips tells it}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"was used before .*retired.yaml:2\): acme/Drips tells it"):
        check_free("acme/LEAKS", tmp_path)


def test_a_half_written_pair_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def full(self: Path, mode: str = "r", **rest: Any) -> Any:
        if mode == "x" and self.name.endswith(".cases.yaml"):
            raise OSError(28, "No space left on device", str(self))
        return opened(self, mode, **rest)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        write(given_for(answers.condition(WIDGET, "Ready=False")), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal of POSIX")
def test_a_terminal_is_asked(tmp_path: Path) -> None:
    """A wrong answer is asked for again; an empty line ends a list."""
    import pty

    lines = [
        "nothing",
        "1",
        "widgets",
        "Widget.example.com",
        "Ready",
        "Ready=False/Leak",
        "it leaks",
        "It has a hole.",
        "Mend it",
    ]
    lines += ["Or buy one", "", "http://x", "https://kb.example.com/7", "", "", "10m", "platform", ""]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "analyzer", "rules", "new", "acme/Leaks"])
    said, end = "", time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            said += os.read(terminal, 4096).decode()
        except OSError:
            break
        if lines and re.search(r"(?:: |\]: )\Z", said):
            os.write(terminal, f"{lines.pop(0)}\n".encode())
            said += "\0"
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said
    assert lines == []
    assert "reference is 'http://x'" in said
    assert [outcome.problems for outcome in case_run.run_all(tmp_path / "triage-rules")] == [()]
    rule = (tmp_path / "triage-rules" / "acme" / "Leaks.yaml").read_text(encoding="utf-8")
    assert "after: 10m" in rule
    assert "  - Or buy one\n" in rule
