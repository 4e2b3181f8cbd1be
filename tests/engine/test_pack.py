from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from analyzer.bundle.errors import UsageError
from analyzer.engine.pack import load_pack, load_packs, rule_set
from analyzer.engine.rule import Need

QUERY = "query: SELECT object_id FROM objects"


def test_a_rule_is_read(write: Any) -> None:
    needs = "needs: [Pod, logs, 'document:alerts', {kind: ReplicaSet.apps, status: true}]"
    pack = write({"pod/Odd": f"{QUERY}\nafter: 5m\nwaiting: no\n{needs}"})
    assert not pack.broken
    rule = pack.rules[0]
    assert (rule.code, rule.domain, rule.waiting, rule.basis) == ("pod/Odd", "pod", "no", "observed")
    assert rule.after is not None
    assert rule.after.total_seconds() == 300
    assert rule.needs == (Need("Pod"), Need("logs"), Need("document", name="alerts"), Need("ReplicaSet", "apps", status=True))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "query is missing"),
        ("a: \0", "control characters are not allowed in"),
        (f"{QUERY}\nsurprise: 1", "unknown key 'surprise'"),
        (f"{QUERY}\nseverity: fatal", "severity is 'fatal'"),
        (f"{QUERY}\nafter: soon", "must be a duration"),
        (f"{QUERY}\ntitle: '{{{{ a'", "template of title"),
        (f"{QUERY}\nmessage: '{{{{ a|shell }}}}'", "no filter named"),
        (f"{QUERY}\nfold: x", "fold must be"),
        (f"{QUERY}\nneeds: Pod", "needs must be a list"),
        (f"{QUERY}\nexplains: [{{along: [owner]}}]", "an entry of explains"),
        (f"{QUERY}\nany_of: maybe", "any_of must be true or false"),
    ],
)
def test_a_broken_rule_is_told_with_its_place_and_stops_no_other(write: Any, text: str, problem: str) -> None:
    pack = write({"pod/Odd": text, "pod/Sound": QUERY})
    assert [rule.code for rule in pack.rules] == ["pod/Sound"]
    assert pack.broken[0].code == "pod/Odd"
    assert problem in str(pack.broken[0])
    assert str(pack.broken[0]).startswith("pack/pod/Odd.yaml:")


def test_the_line_of_the_mistake(write: Any, tmp_path: Path) -> None:
    pack = write({"pod/Odd": f"{QUERY}\nwaiting: perhaps"})
    lines = (tmp_path / "pack/pod/Odd.yaml").read_text().splitlines()
    assert pack.broken[0].place.line == lines.index("waiting: perhaps") + 1


def test_the_code_is_what_the_path_says(write: Any, tmp_path: Path) -> None:
    write({"pod/Odd": QUERY})
    (tmp_path / "pack/pod/Odd.yaml").rename(tmp_path / "pack/pod/Other.yaml")
    pack = load_pack(tmp_path / "pack")
    assert "the file's path says 'pod/Other'" in str(pack.broken[0])


def test_a_taken_code_is_broken_unless_it_overrides(tmp_path: Path, write: Any) -> None:
    built_in = load_packs()[0]
    code = built_in.rules[0].code
    taken = write({code: QUERY}, "taken").folder
    packs = load_packs([taken])
    assert not packs[1].rules
    assert f"code {code} is taken" in packs[1].broken[0].problem
    overriding = write({code: f"{QUERY}\noverride: true"}, "overriding").folder
    packs = load_packs([overriding])
    assert [rule.code for rule in packs[1].rules] == [code]
    assert code not in {rule.code for rule in packs[0].rules}
    assert [pack.trusted for pack in packs] == [True, False]


def test_the_digest_is_over_the_files(write: Any, tmp_path: Path) -> None:
    before = rule_set([write({"pod/Odd": QUERY})])
    same = rule_set([load_pack(tmp_path / "pack")])
    (tmp_path / "pack/pod/Odd.yaml").open("a").write("# more\n")
    after = rule_set([load_pack(tmp_path / "pack")])
    assert before.digest == same.digest != after.digest
    assert before.count == 1


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_or_a_folder_is_a_broken_rule(write: Any) -> None:
    folder = write({"pod/Sound": QUERY}).folder
    os.mkfifo(folder / "pod" / "Pipe.yaml")
    (folder / "pod" / "Folder.yaml").mkdir()
    pack = load_pack(folder)
    assert [rule.code for rule in pack.rules] == ["pod/Sound"]
    assert [(one.code, one.problem) for one in pack.broken] == [
        ("pod/Folder", "cannot be read: not a file"),
        ("pod/Pipe", "cannot be read: not a file"),
    ]


def test_no_such_pack(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no rule pack"):
        load_packs([tmp_path / "nowhere"])


@pytest.mark.parametrize("name", ["", "Odd.yaml", "Odd.cases.yaml", "notes/readme.txt"])
def test_a_folder_without_rules_is_no_pack(tmp_path: Path, name: str) -> None:
    if name:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("code: pod/Odd\n")
    with pytest.raises(UsageError, match=r"holds no rules: they lie in .*/DOMAIN/CODE\.yaml$"):
        load_packs([tmp_path])
