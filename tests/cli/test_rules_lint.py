"""`triage rules test`: what the linter holds against a rule, where, and how packs of others are kept in bounds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from analyzer.engine import case_apart, catalogue
from analyzer.engine.case_run import run_all
from analyzer.engine.pack import load_packs
from analyzer.engine.retired import retired_codes
from analyzer.engine.scaffold import answers
from analyzer.engine.scaffold.answers import Answers
from analyzer.engine.scaffold.write import write
from analyzer.engine.yamltext import YamlError

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sound rule that `pack` copies."""
    folder = tmp_path_factory.mktemp("sound") / "pack"
    shape = answers.condition(answers.kind("Widget.example.com"), "Ready=False/Leak")
    texts = ("it leaks", ("Mend it",), "It has a hole.", ("https://kb.example.com/7",))
    write(Answers("acme/Leaks", shape, "warning", None, "platform", "unknown", *texts), folder)
    return folder


@pytest.fixture
def pack(tmp_path: Path, sound: Path) -> Path:
    """A pack with one sound rule, acme/Leaks."""
    shutil.copytree(sound, tmp_path / "pack")
    return tmp_path / "pack"


def problems(pack: Path, *codes: str) -> list[str]:
    return [problem for outcome in run_all(pack, codes, 1) for problem in outcome.problems]


def changed(pack: Path, old: str, new: str, name: str = "Leaks.yaml") -> int:
    """Changes a file; the line on which the change is."""
    path = pack / "acme" / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


MISTAKES = (
    ("  - Mend it", "  []", -1, "next: a rule says what to do"),
    ("  - Mend it", '  - ""', -1, "next: a rule says what to do"),
    ("  - https://", "  - http://", 0, "references: 'http://kb.example.com/7' is no https link"),
    ("  Widget {{ about }}: it leaks", "  It leaks.", -1, "title: ends with a full stop"),
    ("basis: observed", "basis: deduced", 3, "message: a rule with basis deduced says what that is deduced from"),
    ("c.reason = 'Leak'", "c.raeson = 'Leak'", 0, "query: Binder Error"),
    ("ORDER BY c.since", "ORDRE BY c.since", 0, "query: Parser Error"),
    ("query: |", "explains:\n  - codes: [pod/Crashes]\nquery: |", 1, "explains: there is no rule 'pod/Crashes'"),
    ("query: |", "explained_by:\n  - codes: [acme/L*, pods/*]\nquery: |", 1, "explained_by: there is no rule 'pods/*'"),
    (
        "ORDER BY c.since",
        "AND NOT EXISTS (FROM log_hits WHERE signature = 'acme/leak') ORDER BY c.since",
        None,
        "query: there is no log signature 'acme/leak'",
    ),
    ("severity: warning", "severity: bad", 0, "severity is 'bad'"),
    ("waiting: unknown", "wating: unknown", 0, "unknown key 'wating'"),
)
"""What stands in the sound rule, what stands there instead, how far below that the mistake is told, and how."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, sound: Path) -> dict[str, tuple[str, ...]]:
    """What is held against rules with one mistake each: they are tested together."""
    pack = tmp_path_factory.mktemp("mistakes") / "pack"
    shutil.copytree(sound, pack)
    for number, (old, new, _, _) in enumerate(MISTAKES):
        name = f"Leaks{number}"
        for suffix in (".yaml", ".cases.yaml"):
            text = (sound / "acme" / f"Leaks{suffix}").read_text(encoding="utf-8").replace("acme/Leaks", f"acme/{name}")
            (pack / "acme" / f"{name}{suffix}").write_text(text, encoding="utf-8")
        changed(pack, old, new, f"{name}.yaml")
    return {outcome.code: outcome.problems for outcome in run_all(pack, processes=1)}


@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=[said for *_, said in MISTAKES])
def test_a_mistake_is_told_with_its_line(told: dict[str, tuple[str, ...]], sound: Path, number: int) -> None:
    old, _, below, said = MISTAKES[number]
    text = (sound / "acme" / "Leaks.yaml").read_text(encoding="utf-8")
    at = text[: text.index("query: |" if below is None else old)].count("\n") + 1 + (below or 0)
    first = told[f"acme/Leaks{number}"][0]
    assert first.startswith(f"pack/acme/Leaks{number}.yaml:{at}: {said}"), first
    assert told["acme/Leaks"] == ()


def test_a_case_that_is_missing_is_told(pack: Path) -> None:
    cases = pack / "acme" / "Leaks.cases.yaml"
    text = cases.read_text(encoding="utf-8")
    for kind, said in (("fires", "fires"), ("not evaluated", "cannot be evaluated"), ("silent", "stays silent")):
        head, *rest = text.split("  - name: ")
        cases.write_text(head + "".join(f"  - name: {one}" for one in rest if not one.startswith(f"'{kind}")), encoding="utf-8")
        assert f"pack/acme/Leaks.cases.yaml:1: cases: none in which it {said}" in problems(pack)
    cases.unlink()
    assert problems(pack) == ["pack/acme/Leaks.yaml:1: has no cases file"]


def test_cases_without_a_rule_are_told(pack: Path) -> None:
    (pack / "acme" / "Leaks.yaml").rename(pack / "acme" / "Drips.yaml")
    changed(pack, "acme/Leaks", "acme/Drips", "Drips.yaml")
    assert "pack/acme/Leaks.cases.yaml:1: these cases have no rule beside them" in problems(pack)


def test_a_retired_code_is_told(pack: Path) -> None:
    (pack / "retired.yaml").write_text("retired: [{code: acme/Leaks, why: it was wrong}]\n", encoding="utf-8")
    (told,) = problems(pack)
    assert told.startswith(
        "pack/acme/Leaks.yaml:1: code: acme/Leaks was used before and is never used again (pack/retired.yaml:1)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("codes: []", "must be {retired:"),
        ("retired: [acme/Leaks]", "an entry is {code: …, why: …}"),
        ("retired: [{code: acme/Leaks}]", "an entry is {code: …, why: …}"),
        ("retired: [{code: acme, why: x}]", "'acme' is no code"),
        ("retired:\n- {code: acme/Leaks, why: x}\n- {code: acme/leaks, why: x}", "is no code"),
        ("retired:\n- {code: acme/Leaks, why: x}\n- {code: acme/LEAKS, why: x}", "2: acme/LEAKS is there twice"),
    ],
)
def test_a_wrong_list_of_retired_codes_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "retired.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(YamlError) as told:
        retired_codes(tmp_path)
    assert said.removeprefix("2: ") in str(told.value)


def test_no_rule_of_ours_has_a_retired_code() -> None:
    (pack,) = load_packs()
    assert retired_codes(pack.folder).keys() & {code.lower() for code in pack.codes} == set()


def test_a_broken_signature_file_is_told_beside_the_rules_of_its_domain(pack: Path) -> None:
    (pack / "acme" / "Leaks.signatures.yaml").write_text("signatures: [{id: acme/leaks}]\n", encoding="utf-8")
    assert any(told.startswith("pack/acme/Leaks.signatures.yaml:1: ") for told in problems(pack, "acme/Leaks"))


def with_query(pack: Path, name: str, sql: str) -> None:
    """A copy of the sound rule that asks something else."""
    for suffix in (".yaml", ".cases.yaml"):
        text = (pack / "acme" / f"Leaks{suffix}").read_text(encoding="utf-8").replace("acme/Leaks", f"acme/{name}")
        if suffix == ".yaml":
            text = f"{text[: text.index('query: |')]}query: |\n  {sql}\n"
        (pack / "acme" / f"{name}{suffix}").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT content AS name FROM read_text('/etc/hostname')", "query: "),
        ("COPY objects TO 'out.csv'", "query: not a SELECT"),
        ("SELECT length(repeat('x', 9000000000)) AS object_id", ""),
    ],
)
def test_a_hostile_query_of_others_fails_in_its_process(pack: Path, tmp_path: Path, sql: str, said: str) -> None:
    with_query(pack, "Evil", sql)
    told = problems(pack, "acme/Evil")
    assert told
    assert all(one.startswith("pack/acme/Evil") for one in told)
    assert said in told[0]
    assert problems(pack, "acme/Leaks") == []


def test_a_rule_that_never_ends_costs_only_itself(pack: Path) -> None:
    with_query(
        pack, "Endless", "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) AS object_id FROM r"
    )
    # The first answer of a process may take much longer than any other: only the endless rule has two seconds alone.
    told = list(case_apart.run(pack, ["acme/Leaks", "acme/Endless", "acme/Leaks"], seconds=2))
    assert [code for code, _, _ in told] == ["acme/Leaks", "acme/Endless", "acme/Leaks"]
    assert told[0][1:] == told[2][1:] == (4, ())
    assert told[1][2] == ("pack/acme/Endless.yaml:1: its cases: took longer than 2 s and were stopped",)


def test_the_catalogue_page_is_current() -> None:
    """`python -m analyzer.engine.catalogue` writes it anew. The examples are held beside the cases they come from."""
    text = catalogue.page().read_text(encoding="utf-8")
    assert re.sub(r"\nExample: \*\*.*\*\*\n\n(\d+\. .*\n)*", "", text) == catalogue.catalogue(examples=False)


def test_every_link_of_the_catalogue_leads_somewhere() -> None:
    text = catalogue.page().read_text(encoding="utf-8")
    anchors = [catalogue.anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")]
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)
    files = set(re.findall(r"\]\((\.\./[^)#]+|[a-z-]+\.md)", text))
    assert [link for link in files if not (catalogue.page().parent / link).is_file()] == []
