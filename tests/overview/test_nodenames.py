"""Names as people read them, and rows that stand for many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.sections import Row, machine, words
from analyzer.overview.nodenames import Named, common_ending, folded, natural


def row(name: str, what: str, finding: str | None = None) -> Named:
    line = Row((machine(name), words(what)), finding)
    return Named(name, line, what, line)


def test_numbers_are_read_as_numbers() -> None:
    assert sorted(["gpu-10", "gpu-9", "gpu-a", "gpu-100"], key=natural) == ["gpu-9", "gpu-10", "gpu-100", "gpu-a"]


@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural)) == sorted(names)


def test_an_ending_that_all_share_is_found() -> None:
    assert common_ending(["a.hpc.example", "b.hpc.example"]) == ".hpc.example"
    assert common_ending(["a.x.example", "b.y.example"]) == ".example"
    assert common_ending(["a", "b.example"]) == ""
    assert common_ending(["a.example"]) == ""


def test_few_rows_are_not_folded() -> None:
    assert len(folded([row("a", "x"), row("b", "x")], 2, "nodes")) == 2


def test_equal_rows_stand_as_one_but_never_one_with_a_finding() -> None:
    rows = [row("gpu-2", "free", "f1"), *(row(f"gpu-{number}", "free") for number in (10, 9, 11)), row("gpu-1", "held")]
    found = folded(rows, 2, "nodes")
    assert [one.cells[0].text for one in found] == ["gpu-2", "gpu-9 … gpu-11 (3 nodes)", "gpu-1"]


def test_two_equal_rows_are_both_named() -> None:
    (one,) = folded([row("b", "free"), row("a", "free")], 1, "nodes")
    assert one.cells[0].text == "a, b (2 nodes)"
