"""Quantities: the grammar of Kubernetes, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts import quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("2", 2),
        (3, 3),
        ("500m", Fraction(1, 2)),
        ("1.5Gi", 3 * 2**29),
        ("1Ei", 2**60),
        ("1E", 10**18),
        ("1E3", 1000),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("+5k", 5000),
        ("-1M", -(10**6)),
        ("100n", Fraction(1, 10**7)),
        ("7u", Fraction(7, 10**6)),
    ],
)
def test_values(text: object, value: Fraction | int) -> None:
    assert quantity.parse(text) == value


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1K", "1ki", "1mi", "1.2.3", "m", ".", "-", "1e", "1e9999999", "٣", "1" * 65, None, 1.5, True, []]
)
def test_what_is_no_quantity(text: object) -> None:
    assert quantity.parse(text) is None


@given(st.integers(0, 10**15), st.sampled_from(["", "k", "M", "Ki", "Mi", "Gi", "m"]))
def test_a_sum_is_exact(number: int, suffix: str) -> None:
    one = quantity.parse(f"{number}{suffix}")
    assert one is not None
    assert quantity.parse(f"{number * 3}{suffix}") == one * 3
