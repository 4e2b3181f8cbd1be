"""The sentences: both languages have the same gaps, every one that the code says is there, values stay on one line."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.pack import load_packs
from analyzer.facts import order
from analyzer.facts.order.reasons import EVENTS, REASONS
from analyzer.facts.order.sizes import needed_and_found
from analyzer.facts.order.words import LISTED, MAX_QUOTE, say, sentences, shown, size

GAP = re.compile(r"\{([a-z_]+)\}")
SAID = re.compile(r'(?:confirm|fit|refute|doubt|note|say)\(\s*f?"([a-z-]+)"')


@pytest.mark.parametrize("name", sorted(sentences()))
def test_both_languages_have_the_same_gaps(name: str) -> None:
    texts = sentences()[name]
    assert set(texts) == {"en", "ru"}
    assert set(GAP.findall(texts["en"])) == set(GAP.findall(texts["ru"]))
    assert re.search("[\u0430-\u044f]", texts["ru"]) or not re.search(r"[^\W\d_]", GAP.sub("", texts["ru"]))
    assert not texts["en"].rstrip().endswith(".")


def test_every_sentence_that_the_code_says_is_there() -> None:
    folder = Path(order.__file__).parent
    used = {name for path in folder.rglob("*.py") for name in SAID.findall(path.read_text(encoding="utf-8"))}
    assert len(used) > 100
    assert used <= set(sentences())


def test_every_reason_and_event_has_a_rule_with_russian_words() -> None:
    rules = {rule.code: rule for rule in load_packs()[0].rules if rule.domain == "order"}
    assert len(REASONS) == 32
    assert {f"order/{name}" for name in (*REASONS, *EVENTS)} <= set(rules)
    assert all(rule.ru for rule in rules.values())


@given(st.text(), st.sampled_from(["en", "ru"]))
def test_a_value_stays_in_its_gap(value: str, language: str) -> None:
    told = say("model-failed", {"model": value, "reason": "R", "words": value}, "ru" if language == "ru" else "en")
    assert "\n" not in told
    assert len(told) < 2 * MAX_QUOTE + 200


def test_values_in_words() -> None:
    assert shown(13_000_000_000, "en") == "13,000,000,000"
    assert shown(13_000_000_000, "ru") == "13 000 000 000"
    assert shown(["a", "b"], "ru") == "a и b"
    assert shown([str(number) for number in range(9)], "en") == f"0, 1, 2, 3 and {9 - LISTED + 1} more"
    assert (size(Fraction(80 * 1024**3)), size(Fraction(81559 * 1024**2)), size(Fraction(7))) == ("80Gi", "79.6Gi", "7")


@pytest.mark.parametrize(
    ("message", "need", "found"),
    [
        ("need 96Gi, largest found 80Gi", 96, 80),
        ("largest found is 80 GiB but 96 GiB are required", 96, 80),
        ("требуется 96 ГиБ, наибольший найденный 80 ГиБ", 96, 80),
        ("requires 96GiB", 96, None),
        ("only 80Gi there", None, None),
        ("1-2Gi of v1.5Gibberish", None, None),
        ("need 96Gi; classes a: 40Gi, b: 80Gi", 96, None),
        ("", None, None),
    ],
)
def test_sizes_of_a_refusal(message: str, need: int | None, found: int | None) -> None:
    gib = 1024**3
    assert needed_and_found(message) == (need and Fraction(need * gib), found and Fraction(found * gib))


@given(st.text(max_size=200))
def test_sizes_of_any_text(message: str) -> None:
    need, found = needed_and_found(message)
    assert found is None or (need is not None and need > found)


def test_an_unknown_time_is_said_as_its_sentence_asks() -> None:
    assert say("class-there", {"name": "gold", "at": None}, "ru") == "класс gold есть, создан неизвестно когда"
    assert say("class-ready", {"name": "gold", "at": None}, "ru") == "класс gold готов (Ready) с неизвестного времени"  # noqa: RUF001
    assert say("class-ready", {"name": "gold", "at": None}, "en") == "class gold is Ready since an unknown time"
