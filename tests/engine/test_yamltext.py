from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.engine.yamltext import MAX_BYTES, YamlError, parse_yaml, read_yaml


def test_plain_words_stay_text() -> None:
    value = parse_yaml(b"a: no\nb: 012\nc: 1.5\nd: 2026-01-01T00:00:00Z\ne: 7\nf: true\ng: null\nh:\ni: '7'\non: y\n", "x").value
    words = {"a": "no", "b": "012", "c": "1.5", "d": "2026-01-01T00:00:00Z", "i": "7", "on": "y"}
    assert value == words | {"e": 7, "f": True, "g": None, "h": None}


def test_every_field_knows_its_line() -> None:
    document = parse_yaml(b"a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\n", "rules/a.yaml")
    assert document.place("b[1].d").line == 5
    assert str(document.place("b[1].nothing.there")) == "rules/a.yaml:4"


def test_aliases_are_read_and_merged() -> None:
    value = parse_yaml(b"base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\nsame: *b\n", "x").value
    assert value["more"] == {"x": 1, "y": 3}
    assert value["same"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        (b"a: 1\nb: 2\na: 3\n", "'a' is there twice", 3),
        (b"a: [1,\n", "no YAML", 2),
        (b"a: !!python/name:os.system x\n", "tag", 1),
        (b"? [a]\n: 1\n", "single word", 1),
        (b"[" * 100, "nested deeper", 1),
        (b"a: *nothing\n", "alias", 1),
        (b"a: 1\n---\nb: 1\n", "more than one document", 2),
        (b"a: \xff\n", "UTF-8", 1),
        (b" " * (MAX_BYTES + 1), "larger", 1),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: bytes, problem: str, line: int) -> None:
    with pytest.raises(YamlError, match=problem) as caught:
        parse_yaml(text, "x.yaml")
    assert caught.value.place.line == line


def test_aliases_of_aliases_do_not_blow_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(YamlError, match="holds more than"):
        parse_yaml("\n".join(lines).encode(), "bomb.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(YamlError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml")
