"""Signature files of packs: read strictly, told by file and line, used by cases and by whole runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from analyzer.case import Options, analyze_case
from analyzer.cli.rules import rules_app
from analyzer.engine.case_run import run_all
from analyzer.engine.pack import Pack, load_pack, load_packs, rule_set, signatures_of
from analyzer.render.json import report_json

GOOD = """signatures:
  - id: acme/lid
    words: [no lid]
    pattern: 'no lid on (?P<pot>\\w+)'
    sources: [current, previous]
    containers: ["br*"]
"""
RULE = """
query: |
  SELECT p.object_id, min(h.at) AS since, any_value(h.fields->>'$.pot') AS pot,
    list(ev_log(h.log_id, h.line, h.text) ORDER BY h.line) AS evidence
  FROM log_hits AS h JOIN logs AS l USING (log_id)
  JOIN pods AS p ON p.namespace = l.namespace AND p.name = l.pod
  WHERE h.signature = 'acme/lid' GROUP BY p.object_id
message: "There is no lid on {{ pot }}."
needs: [Pod, logs]
"""
CASES = """cases:
  - name: fires
    objects: &pod
    - {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: s}, spec: {containers: [{name: brew}]}, status: {phase: Running}}
    logs: [{namespace: s, pod: a, container: brew, text: "2026-11-01T11:00:00Z no lid on pan password=Xq7hunter2Zz\\n"}]
    expect:
      findings: [{object: Pod s/a, since: 2026-11-01T11:00:00Z, contains: [no lid on pan, "masked:password"], lacks: [hunter2]}]
  - name: another container says so
    objects: *pod
    logs: [{namespace: s, pod: a, container: serve, text: "no lid on pan\\n"}]
    expect: {none: true}
  - name: not collected
    missing: [Pod]
    expect: {notEvaluated: true}
"""


def add(pack: Pack, text: str, name: str = "acme/tea") -> Pack:
    path = pack.folder / f"{name}.signatures.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_pack(pack.folder, trusted=pack.trusted)


@pytest.fixture
def pack(write: Any) -> Pack:
    given: Pack = write({"acme/NoLid": RULE}, trusted=False)
    (given.folder / "acme/NoLid.cases.yaml").write_text(CASES, encoding="utf-8")
    return given


def test_a_file_is_read_and_is_no_rule(pack: Pack) -> None:
    pack = add(pack, GOOD)
    assert not pack.broken
    assert [rule.code for rule in pack.rules] == ["acme/NoLid"]
    ((signature, place),) = pack.signatures
    assert (signature.id, signature.words, signature.sources, signature.containers) == (
        "acme/lid",
        ("no lid",),
        ("current", "previous"),
        ("br*",),
    )
    assert str(place) == "pack/acme/tea.signatures.yaml:2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "tea.signatures.yaml:1: must be {signatures: [...]}"),
        ("signatures: []\nmore: 1", ":1: must be"),
        ("signatures: [x]", ":1: a signature is a mapping"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  regex: x", ":4: unknown key 'regex'"),
        ("signatures:\n- words: [long]", ":2: id must be acme/kebab-case"),
        ("signatures:\n- id: other/a\n  words: [long]", ":2: id must be acme/kebab-case, not 'other/a'"),
        ("signatures:\n- id: acme/A_b\n  words: [long]", ":2: id must be"),
        ("signatures:\n- id: acme/a", ":2: must be a list of texts"),
        ("signatures:\n- id: acme/a\n  words: []", ":3: a signature needs words"),
        ("signatures:\n- id: acme/a\n  words:\n  - long\n  - abc", ":5: the word 'abc' is shorter than 4 bytes"),
        ('signatures:\n- id: acme/a\n  words: ["two\\nlines"]', ":3: a word is a part of one line"),
        ("signatures:\n- id: acme/a\n  words: [12345]", ":3: must be a text of at most 200 bytes"),
        (f"signatures:\n- id: acme/a\n  words: [{'x' * 201}]", "at most 200 bytes"),
        (f"signatures:\n- id: acme/a\n  words: [{', '.join(f'word{n}' for n in range(33))}]", "more than 32"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  pattern: '('", ":4: no RE2 expression: missing )"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  pattern: '(x)\\1'", ":4: no RE2 expression: invalid escape"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  pattern: '(((a{100}){100}){100})'", ":4: no RE2 expression"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  pattern: ['x']", ":4: pattern must be a text"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  sources: [now]", ":4: sources are current, previous,"),
        ("signatures:\n- id: acme/a\n  words: [long]\n  pods: mig", ":4: must be a list of texts"),
        ("signatures:\n- id: acme/a\n  words: [long]\n- id: acme/a\n  words: [long]", ":4: id acme/a is there twice"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_stops_no_rule(pack: Pack, text: str, problem: str) -> None:
    pack = add(pack, text)
    assert pack.signatures == ()
    assert [rule.code for rule in pack.rules] == ["acme/NoLid"]
    assert [broken.code for broken in pack.broken] == ["acme/tea.signatures"]
    assert problem in str(pack.broken[0])
    assert str(pack.broken[0]).startswith("pack/acme/tea.signatures.yaml:")


def test_an_id_is_taken_once_within_a_pack_and_over_all_packs(pack: Pack, tmp_path: Path, write: Any) -> None:
    add(pack, GOOD)
    pack = add(pack, GOOD, "acme/zoo")
    assert len(pack.signatures) == 1
    assert str(pack.broken[0]) == (
        "pack/acme/zoo.signatures.yaml:2: signature id acme/lid is taken by pack/acme/tea.signatures.yaml:2"
    )
    other = add(write({"acme/Other": RULE}, "other"), GOOD).folder
    packs = load_packs([pack.folder, other])
    assert [signature.id for signature in signatures_of(packs[1:])] == ["acme/lid"]
    assert "signature id acme/lid is taken by pack/acme/tea.signatures.yaml:2" in [one.problem for one in packs[2].broken]


def test_the_built_in_signatures_are_sound() -> None:
    (built_in,) = load_packs()
    assert not built_in.broken
    assert "webhook/call-failed" in {signature.id for signature, _ in built_in.signatures}


def test_the_digest_is_over_signatures_too(pack: Pack) -> None:
    before = rule_set([pack])
    assert before.digest != rule_set([add(pack, GOOD)]).digest
    assert rule_set([add(pack, GOOD)]).count == before.count


def test_cases_run_over_the_hits_in_their_logs(pack: Pack) -> None:
    folder = add(pack, GOOD).folder
    assert [problem for outcome in run_all(folder, processes=1) for problem in outcome.problems] == []
    assert sum(outcome.cases for outcome in run_all(folder, processes=1)) == 3


def test_a_broken_file_fails_the_test_of_the_pack(pack: Pack) -> None:
    folder = add(pack, GOOD.replace("no lid]", "no]")).folder
    result = CliRunner().invoke(rules_app, ["test", str(folder), "--jobs", "1"])
    assert result.exit_code == 1
    assert "pack/acme/tea.signatures.yaml:3: the word 'no' is shorter than 4 bytes" in result.output


def test_rules_list_and_show_know_no_signature_as_a_rule(pack: Pack) -> None:
    folder = add(pack, GOOD).folder
    result = CliRunner().invoke(rules_app, ["list", "--rules", str(folder)])
    assert "acme/NoLid" in result.output
    assert "signatures" not in result.output


@pytest.mark.parametrize("broken", [False, True])
def test_a_pack_of_others_finds_its_lines_in_a_run(pack: Pack, tmp_path: Path, broken: bool) -> None:
    folder = add(pack, GOOD.replace("no lid]", "no]") if broken else GOOD).folder
    home = tmp_path / "inspect.local.1/namespaces/s"
    (home / "core").mkdir(parents=True)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "s"},
        "spec": {"containers": [{"name": "brew"}]},
        "status": {"phase": "Running"},
    }
    (home / "core/pods.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [pod]}))
    logs = home / "pods/a/brew/brew/logs"
    logs.mkdir(parents=True)
    lines = "".join(f"2026-11-01T11:00:{n % 60:02d}Z no lid on pan{n} password=Xq7hunter2Zz\n" for n in range(300))
    (logs / "current.log").write_text(lines)
    (tmp_path / "out").mkdir()
    report = analyze_case([home.parents[1]], load_packs([folder]), tmp_path / "out" / "bundle.duckdb", Options(jobs=1))
    found = [finding for finding in report.findings if finding.code == "acme/NoLid"]
    told = report_json(report).decode()
    assert "hunter2" not in told
    if broken:
        assert not found
        assert any(entry.code == "acme/tea.signatures" and "shorter" in entry.reason for entry in report.not_evaluated)
        return
    (finding,) = found
    assert {(item.file.rsplit("/", 1)[1], item.line) for item in finding.evidence if item.file} >= {("current.log", 1)}
    (capped,) = report.coverage.logs.capped
    assert (capped.signature, capped.hits, capped.kept, report.coverage.logs.capped_total) == ("acme/lid", 300, 200, 1)
    assert report.files == ()
    assert json.loads(told)["coverage"]["logs"]["cappedHits"][0]["hits"] == 300
