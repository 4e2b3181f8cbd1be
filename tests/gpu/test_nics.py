"""Network cards that the kernel says are at fault."""

from __future__ import annotations

from tests.facts.build import database


def test_each_card_has_its_own_number_of_lines() -> None:
    fault = "[ 9.0] mlx5_core 0000:{}:00.0: Port module event[error]: module 0, Cable error, High Temperature\n"
    text = "".join(fault.format(card) for card in ("42", "43", "42", "42"))
    con = database(logs=[{"namespace": "", "pod": "", "container": "", "source": "service", "text": text}])
    told = con.execute("SELECT line, times FROM gpu_words ORDER BY line").fetchall()
    assert told == [(2, 1), (4, 3)]
