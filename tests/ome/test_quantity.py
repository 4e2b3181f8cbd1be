"""Canonical quantities, as apimachinery prints them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts import quantity as exact
from analyzer.ome import quantity


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("8192Mi", "8Gi"),
        ("1024", "1024"),
        ("1000", "1k"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("2000Gi", "2000Gi"),
        ("0", "0"),
        ("0Gi", "0"),
        ("-0", "0"),
        ("100k", "100k"),
        ("1000k", "1M"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("12e2", "1200"),
        ("2048Gi", "2Ti"),
        ("1500", "1500"),
        ("10000", "10k"),
        ("0.5Ki", "512"),
        ("1023Ki", "1023Ki"),
        ("1000Ki", "1000Ki"),
        ("0.1Gi", "107374182400m"),
        ("0.0000000001", "1n"),
        ("-1", "-1"),
        ("-1.5Gi", "-1536Mi"),
        ("+4", "4"),
        (".5", "500m"),
        ("5.", "5"),
        ("007", "7"),
        ("9999999999999999999", "9223372036854775807"),
        (4, "4"),
        (1000, "1k"),
        (0.5, "500m"),
        (2.0, "2"),
        (" 5 ", "5"),
        (None, "0"),
    ],
)
def test_the_canonical_form(written: object, printed: str) -> None:
    assert str(quantity.parse(written)) == printed


@pytest.mark.parametrize(
    "wrong", ["", " ", ".", "1x", "1 Gi", "Gi", "1e", "--1", "1ki", "1KI", "1,5", "0x1", "\u0661", "1e99999", True, [], "9" * 300]
)
def test_what_is_no_quantity(wrong: object) -> None:
    assert quantity.parse(wrong) is None


def test_white_space_is_cut_off_in_specs_only() -> None:
    assert quantity.parse(" 1") is not None
    assert quantity.parse_text(" 1") is None


@given(st.from_regex(r"\A[+-]?[0-9]{1,6}(\.[0-9]{1,6})?(m|k|M|G|T|Ki|Mi|Gi|Ti|e[0-9]|E-?[0-9])?\Z"))
def test_printing_keeps_the_value_and_is_stable(written: str) -> None:
    first = quantity.parse(written)
    assert first is not None
    again = quantity.parse(str(first))
    assert again is not None
    assert (again.value, str(again)) == (first.value, str(first))
    assert abs(first.value - (exact.parse(written) or Fraction(0))) < Fraction(1, 10**9)


@given(st.text(max_size=40))
def test_any_text_is_a_quantity_or_not(written: str) -> None:
    found = quantity.parse(written)
    assert found is None or quantity.parse(str(found)) is not None
