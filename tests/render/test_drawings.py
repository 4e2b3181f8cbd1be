"""Where the parts of the small drawings stand, whatever the numbers are."""

from __future__ import annotations

import math
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.sections import DRAWN, Bar, Devices, Slot
from analyzer.render.drawings import FULL, LOOKS, Cells, cells, look, strip

ODD = (math.nan, math.inf, -math.inf, -1.0, None)
numbers = st.none() | st.floats() | st.integers(0, 10**30).map(float)


def test_a_node_of_eight_is_one_row_and_one_of_sixteen_two() -> None:
    one, two = cells(Devices(("free",) * 8)), cells(Devices(("lost",) * 16))
    assert one == Cells(179, 18, ((0, 0, "gf8"),), 0)
    assert two == Cells(179, 41, ((0, 0, "gl8"), (0, 23, "gl8")), 0)
    assert cells(Devices(("mig",))) == Cells(18, 18, ((0, 0, "gm"),), 0)


def test_equal_cells_are_one_symbol_and_none_is_lost() -> None:
    found = cells(Devices(("free", "free", "free", "lost", "free", "free", "free")))
    assert found.width == 156
    assert [(x, name) for x, _, name in found.symbols] == [(0, "gf2"), (46, "gf"), (69, "gl"), (92, "gf2"), (138, "gf")]


@given(st.lists(st.sampled_from(list(LOOKS)), max_size=80))
def test_symbols_say_the_slots_again(slots: list[Slot]) -> None:
    found = cells(Devices(tuple(slots)))
    again: list[str] = []
    for x, y, name in found.symbols:
        assert (x, y) == (len(again) % 8 * 23, len(again) // 8 * 23)
        assert x < found.width
        assert y < found.height
        again += [name[:2]] * int(name[2:] or 1)
    assert again == [LOOKS[slot][0] for slot in slots[:DRAWN]]


def test_what_a_node_cannot_have_is_counted_and_not_drawn() -> None:
    found = cells(Devices(("allocated",) * 10_000))
    assert {name for _, _, name in found.symbols} == {"ga8"}
    assert len(found.symbols) == DRAWN // 8
    assert found.more == 10_000 - DRAWN


def test_every_slot_has_a_symbol_and_words_of_its_own_and_a_strange_one_is_unknown() -> None:
    assert len({name for name, _ in LOOKS.values()}) == len({says for _, says in LOOKS.values()}) == len(LOOKS) == 8
    assert look(cast(Slot, "melted")) == "unknown"
    assert cells(Devices((cast(Slot, "melted"),))).symbols == ((0, 0, LOOKS["unknown"][0]),)


def test_a_bar_shows_what_is_borrowed_beyond_the_nominal_quota() -> None:
    found = strip(Bar(100, 40, 48, 8, 44, 80))
    assert [(span.part, span.x, span.width) for span in found.spans] == [
        ("reserved", "0.00", "47.52"), ("borrowed", "39.60", "7.92"), ("used", "0.00", "43.56"),
    ]  # fmt: skip
    assert found.ticks == (("offered", "79.20"), ("nominal", "39.60"))


def test_nothing_is_drawn_of_what_nothing_says() -> None:
    assert strip(Bar(10, None, None)).spans == strip(Bar(10, None, 0, 0, 0)).spans == ()
    assert strip(Bar(10, None, None, 3)).spans == ()
    assert strip(Bar(10, 0, None)).ticks == (("nominal", "0.00"),)


def test_a_tick_beyond_the_scale_is_left_out_and_a_bar_ends_there() -> None:
    found = strip(Bar(10, 11, 12))
    assert found.ticks == ()
    assert [(span.x, span.width) for span in found.spans] == [("0.00", f"{FULL:.2f}")]


@pytest.mark.parametrize("odd", ODD)
def test_odd_numbers_are_no_drawing(odd: float | None) -> None:
    assert strip(Bar(10, odd, odd, odd, odd, odd)) == strip(Bar(10, None, None))
    if odd is not None:
        assert strip(Bar(odd, 1, 1)) == strip(Bar(0, 1, 1))
        assert strip(Bar(odd, 1, 1)).ticks == ()


@given(st.floats(), numbers, numbers, numbers, numbers, numbers)
def test_nothing_ever_leaves_the_drawing(
    scale: float, nominal: float | None, reserved: float | None, borrowed: float | None, used: float | None, offered: float | None
) -> None:
    found = strip(Bar(scale, nominal, reserved, borrowed, used, offered))
    for span in found.spans:
        assert 0 <= float(span.x) <= float(span.x) + float(span.width) <= FULL + 0.02
    for _, x in found.ticks:
        assert 0 <= float(x) <= FULL
