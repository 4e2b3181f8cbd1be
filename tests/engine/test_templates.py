from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.engine.templates import MAX_OUTPUT, Template, TemplateError, clip, listing, plural


def render(source: str, **values: Any) -> str:
    return Template(source).render(values)


@pytest.mark.parametrize(
    ("source", "values", "text"),
    [
        ("{{ a|quote }}", {"a": "two\nlines"}, '"two lines"'),
        ("{{ a }}|", {"a": None}, "|"),
        ("{{ n|plural('pod') }}, {{ m|plural('policy') }}", {"n": 1, "m": 2}, "1 pod, 2 policies"),
        ("{{ names|listing(3) }}", {"names": ["a", "b", "c", "d", "e"]}, "a, b and 3 more"),
        ("{{ s|duration }}", {"s": 3600 * 5 + 18 * 60}, "5 h 18 min"),
        ("{{ t|when }}", {"t": datetime(2026, 8, 18, 13, 6)}, "2026-08-18 13:06:00 UTC"),  # noqa: DTZ001 - as DuckDB gives it
        ("{{ t|when }}", {"t": datetime(2026, 8, 18, 13, 6, tzinfo=UTC)}, "2026-08-18 13:06:00 UTC"),
        ("{% for r in rows %}{{ r.x }}{{ '' if loop.last else ', ' }}{% endfor %}", {"rows": [{"x": 1}, {"x": 2}]}, "1, 2"),
        ("{{ a }}", {"a": "{{ b }}"}, "{{ b }}"),
        ("{{ '<b>' }}", {}, "<b>"),
        ("It says {{ a }}  twice.\nThen", {"a": "one   more"}, "It says one more twice.\nThen"),
        ("{{ a.split('/')[1] }} {{ 2 * 3 }}", {"a": "x/y"}, "y 6"),
    ],
)
def test_what_a_template_says(source: str, values: dict[str, Any], text: str) -> None:
    assert render(source, **values) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{ nothing }}",
        "{{ a.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ a|attr('x') }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%1000000000d' % 1 }}",
        "{% for i in range(99999999) %}x{% endfor %}",
        "{% for a in r %}{% for b in r %}{% for c in r %}x{% endfor %}{% endfor %}{% endfor %}",
        "{% include 'x' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ a.format(a) }}",
        "{{ a",
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "x" * 10_000,
        "{% set a = a ~ a %}" * 60,
    ],
)
def test_what_a_template_may_not_do(source: str) -> None:
    with pytest.raises(TemplateError):
        render(source, a="x", r=[1])
    late = Template(source, checked=False)
    for _ in range(2):
        with pytest.raises(TemplateError):
            late.render({"a": "x", "r": [1]})


def test_a_long_text_is_cut_in_the_middle() -> None:
    text = render("{% for a in r %}{% for b in r %}{{ a }}{% endfor %}{% endfor %}", r=["abcdefgh"] * 400)
    assert len(text) <= MAX_OUTPUT
    assert "…" in text


def test_joined_joins_stay_small() -> None:
    text = render("{{ r|join(r|join(r|join)) }}", r=["x" * 1000] * 1000)
    assert len(text) <= MAX_OUTPUT


def test_clip_keeps_both_ends() -> None:
    assert clip("abcdefghij", 5) == "ab…ij"
    assert clip("abc", 5) == "abc"
    assert clip(None, 5) == ""


def test_words_for_numbers_and_lists() -> None:
    assert plural(3, "replica") == "3 replicas"
    assert plural(2, "is", "are") == "2 are"
    assert plural(2, "Endpoints") == "2 Endpoints"
    assert listing([]) == ""
    assert listing(["a", "b"]) == "a and b"
