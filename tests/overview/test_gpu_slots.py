"""How the GPUs of one node are drawn and told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.sections import DRAWN
from analyzer.overview.gpu.slots import Broken, Counted, Rest, counted, named

FREE = Rest("free", "free")
LOST = Broken(5, "Xid 79", off_bus=True)


def test_what_no_log_names_fills_from_the_left() -> None:
    drawn = counted(Counted(4, 0, 1, 2, least=False, broken=(), rest=FREE))
    assert drawn.slots == ("allocated", "allocated", "free", "lost")
    assert drawn.words == "1 unhealthy; 2 allocated; 1 free"


def test_a_gpu_that_a_log_names_stands_in_its_own_slot() -> None:
    drawn = counted(Counted(8, 0, 1, 2, least=False, broken=(LOST,), rest=Rest("blocked", "free by count, but refused")))
    assert drawn.slots == (*["allocated"] * 2, *["blocked"] * 3, "lost", *["blocked"] * 2)
    assert drawn.words == "GPU 5 lost (Xid 79); 2 allocated; 5 free by count, but refused"


def test_pods_may_hold_a_gpu_that_is_lost() -> None:
    drawn = counted(Counted(8, 0, 1, 8, least=False, broken=(), rest=FREE))
    assert drawn.slots.count("allocated") == 7
    assert drawn.words == "1 unhealthy; 7 allocated; 1 more asked for than there are healthy ones"


def test_without_all_pods_what_is_held_is_a_lower_bound() -> None:
    drawn = counted(Counted(8, 0, 0, 3, least=True, broken=(), rest=Rest("unknown", "cannot tell")))
    assert drawn.words == "at least 3 allocated; 5 cannot tell"


def test_a_driver_names_its_gpus() -> None:
    drawn = named([("gpu-0", "allocated", "allocated"), ("gpu-1", "lost", "lost (Xid 79)"), ("gpu-2", "allocated", "allocated")])
    assert drawn.slots == ("allocated", "lost", "allocated")
    assert drawn.words == "2 allocated, gpu-1 lost (Xid 79)"


@given(
    total=st.integers(0, 80),
    split=st.integers(0, 9),
    unhealthy=st.integers(0, 90),
    held=st.integers(0, 90),
    slots=st.lists(st.none() | st.integers(0, 70), max_size=9, unique_by=lambda slot: object() if slot is None else slot),
)
def test_every_gpu_has_one_slot(total: int, split: int, unhealthy: int, held: int, slots: list[int | None]) -> None:
    broken = tuple(Broken(slot, "Xid 48", off_bus=False) for slot in slots)
    drawn = counted(Counted(total, split, unhealthy, held, least=False, broken=broken, rest=FREE))
    assert len(drawn.slots) == (total if total <= DRAWN else 0)
    if 0 < total <= DRAWN:
        assert drawn.slots.count("lost") == min(total, max(len(broken), unhealthy))
        assert all(drawn.slots[slot] == "lost" for slot in slots[:total] if slot is not None and slot < total)
