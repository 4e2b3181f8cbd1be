"""KServe's choice of a runtime: filters, order, named ones, what cannot be told."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts.kserve.choice import Model, choose
from analyzer.facts.kserve.runtimes import CLUSTER, LOCAL, Format, Runtime

START = datetime(2026, 11, 1)  # noqa: DTZ001 - the tables hold naive UTC


def runtime(name: str, kind: str = CLUSTER, day: int = 0, **more: Any) -> Runtime:
    """A runtime for format onnx, unless said otherwise."""
    formats = more.pop("formats", (fmt(),))
    values: dict[str, Any] = {"disabled": False, "multi_model": False, "workers": False, "protocols": ()} | more
    created = None if day < 0 else START + timedelta(days=day)
    return Runtime(1, kind, "wood" if kind == LOCAL else "", name, created, formats=tuple(formats), **values)


def fmt(name: str = "onnx", version: str | None = None, *, auto: bool = True, priority: int | None = None) -> Format:
    return Format(name, version, auto, priority, "spec.supportedModelFormats[0]")


def order(model: Model, *runtimes: Runtime) -> list[str]:
    """The names of those that fit, in the order of the choice."""
    local = [one for one in runtimes if one.kind == LOCAL]
    cluster = [one for one in runtimes if one.kind == CLUSTER]
    return [candidate.name for candidate in choose(model, local, cluster).candidates if candidate.fits]


ONNX = Model("onnx")


def test_the_lowest_protocol_first_then_the_newest_then_by_name() -> None:
    found = order(
        ONNX,
        runtime("any-new", day=9),
        runtime("v2-too", day=1, protocols=("grpc-v2", "v1")),
        runtime("b-old", day=1, protocols=("v1", "v2")),
        runtime("a-old", day=1, protocols=("v1",)),
        runtime("new", day=2, protocols=("v1",)),
        runtime("strange", day=10, protocols=("v1", "own")),
    )
    # What names no protocol comes last, however new it is.
    assert found == ["strange", "new", "a-old", "b-old", "v2-too", "any-new"]


def test_priority_goes_before_that_order_and_none_goes_last() -> None:
    found = order(
        ONNX,
        runtime("none-new", day=9, protocols=("v1",)),
        runtime("one", formats=[fmt(priority=1)]),
        runtime("minus", formats=[fmt(priority=-1)], day=5),
        runtime("two", formats=[fmt(priority=2)]),
        runtime("also-two", formats=[fmt(priority=2)], day=1),
    )
    assert found == ["also-two", "two", "one", "minus", "none-new"]


def test_the_first_entry_of_that_name_has_the_priority() -> None:
    # Neither its version nor autoSelect counts, as in KServe's GetPriority.
    late = runtime("late", formats=[fmt(auto=False), fmt(priority=9)])
    early = runtime("early", formats=[fmt(version="7", auto=False, priority=5), fmt()])
    assert order(ONNX, late, early) == ["early", "late"]


def test_controllers_before_0_12_know_no_priority() -> None:
    runtimes = [runtime("high", formats=[fmt(priority=9)]), runtime("a-new", day=9)]
    assert order(ONNX, *runtimes) == ["high", "a-new"]
    assert order(Model("onnx", controller=(0, 12)), *runtimes) == ["high", "a-new"]
    old = choose(Model("onnx", controller=(0, 11)), [], runtimes)
    assert old.chosen is not None
    assert (old.chosen.name, old.words) == ("a-new", "of 2 that fit, it is the newest")


def test_those_of_the_namespace_go_first_whatever_the_priority() -> None:
    choice = choose(ONNX, [runtime("own", LOCAL)], [runtime("wide", formats=[fmt(priority=9)])])
    assert (choice.verdict, choice.chosen and choice.chosen.name) == ("automatic", "own")
    assert [one.name for one in choice.candidates] == ["own", "wide"]
    assert choice.words == "of 2 that fit, those of the namespace go first"


@pytest.mark.parametrize(
    ("model", "candidate", "filters"),
    [
        (ONNX, runtime("r"), []),
        (ONNX, runtime("r", disabled=True), ["disabled"]),
        (ONNX, runtime("r", multi_model=True), ["multi-model"]),
        (Model("onnx", model_mesh=True), runtime("r", multi_model=True), []),
        (Model("onnx", model_mesh=True), runtime("r"), ["multi-model"]),
        (ONNX, runtime("r", formats=[fmt("pmml")]), ["format"]),
        (ONNX, runtime("r", formats=[]), ["format"]),
        (ONNX, runtime("r", formats=[fmt(auto=False)]), ["auto-select"]),
        (ONNX, runtime("r", formats=[fmt(auto=False), fmt(version="2")]), []),
        (Model("onnx", "1"), runtime("r", formats=[fmt(version="1")]), []),
        (Model("onnx", "1"), runtime("r", formats=[fmt(version="1.0"), fmt(version="*"), fmt()]), ["version"]),
        (Model("onnx", "1"), runtime("r", formats=[fmt(version="1", auto=False), fmt(version="2")]), ["auto-select"]),
        (ONNX, runtime("r", protocols=("v2",)), ["protocol"]),
        (Model("onnx", protocol="v2"), runtime("r", protocols=("v1", "v2")), []),
        (Model("onnx", protocol="v2"), runtime("r", protocols=("v1",)), ["protocol"]),
        (Model("onnx", protocol="v2"), runtime("r"), []),
        (ONNX, runtime("r", workers=True), ["multi-node"]),
        (Model("onnx", workers=True), runtime("r", workers=True), []),
        (Model("onnx", workers=True), runtime("r"), ["multi-node"]),
        # Controllers before 0.15 did not look at workers.
        (Model("onnx", controller=(0, 14)), runtime("r", workers=True), []),
        (Model("onnx", controller=(0, 15)), runtime("r", workers=True), ["multi-node"]),
        (ONNX, runtime("r", disabled=True, formats=[fmt("pmml")], protocols=("v2",)), ["disabled", "format", "protocol"]),
    ],
)
def test_filters(model: Model, candidate: Runtime, filters: list[str]) -> None:
    choice = choose(model, [], [candidate])
    assert [one.name for one in choice.candidates[0].filters] == filters
    assert choice.verdict == ("none" if filters else "automatic")


@pytest.mark.parametrize(
    ("model", "candidate", "filters"),
    [
        (Model("onnx", named="r"), runtime("r", formats=[fmt(auto=False)]), []),
        # Workers, many models and the default protocol are not looked at where spec names the runtime.
        (Model("onnx", named="r"), runtime("r", workers=True, multi_model=True, protocols=("v2",)), []),
        (Model("onnx", protocol="v1", named="r"), runtime("r", protocols=("v2",)), ["protocol"]),
        (Model("onnx", named="r"), runtime("r", disabled=True), ["disabled"]),
        (Model("onnx", "2", named="r"), runtime("r", formats=[fmt(version="1")]), ["version"]),
        (Model("onnx", named="r"), runtime("r", formats=[fmt("pmml")]), ["format"]),
    ],
)
def test_a_named_runtime(model: Model, candidate: Runtime, filters: list[str]) -> None:
    choice = choose(model, [], [candidate, runtime("better")])
    assert [one.name for one in choice.candidates[0].filters] == filters
    assert choice.verdict == ("none" if filters else "named")
    assert len(choice.candidates) == 1


def test_a_named_runtime_of_the_namespace_hides_that_of_the_cluster() -> None:
    choice = choose(Model("onnx", named="r"), [runtime("r", LOCAL, disabled=True)], [runtime("r")])
    assert choice.verdict == "none"
    assert choice.candidates[0].kind == LOCAL


def test_a_named_runtime_that_is_nowhere() -> None:
    model = Model("onnx", named="gone")
    assert choose(model, [], [runtime("r")]).words == "spec names gone, which does not exist"
    assert choose(model, [], [runtime("r")], [CLUSTER]).verdict == "cannot tell"
    assert choose(model, [], [runtime("gone")], [LOCAL]).verdict == "cannot tell"
    # One of the namespace goes first, so that those of the cluster do not matter.
    assert choose(model, [runtime("gone", LOCAL)], [], [CLUSTER]).verdict == "named"


@pytest.mark.parametrize("unknown", [[LOCAL], [CLUSTER], [LOCAL, CLUSTER]])
def test_with_a_list_that_is_not_whole_it_cannot_be_told(unknown: list[str]) -> None:
    choice = choose(ONNX, [runtime("own", LOCAL)], [runtime("wide")], unknown)
    assert (choice.verdict, choice.chosen) == ("cannot tell", None)
    assert [one.name for one in choice.candidates] == ["own", "wide"]
    assert all(f"{kind}s" in choice.words for kind in unknown)


def test_candidates_of_the_format_come_before_others() -> None:
    choice = choose(ONNX, [], [runtime("a", formats=[fmt("pmml")]), runtime("b", disabled=True), runtime("c")])
    assert [(one.name, one.near) for one in choice.candidates] == [("c", True), ("b", True), ("a", False)]


RUNTIMES = st.builds(
    lambda name, day, protocols, priority, auto, disabled, kind: runtime(
        name, kind, day, protocols=tuple(protocols), formats=[fmt(auto=auto, priority=priority)], disabled=disabled
    ),
    st.text("abc", min_size=1, max_size=3),
    st.integers(-1, 3),
    st.lists(st.sampled_from(["v1", "v2", "grpc-v1", "grpc-v2", "x"]), max_size=3),
    st.none() | st.integers(-2, 2),
    st.booleans(),
    st.booleans(),
    st.sampled_from([LOCAL, CLUSTER]),
)


@given(st.lists(RUNTIMES, max_size=8))
def test_every_runtime_is_a_candidate_and_the_first_that_fits_is_chosen(runtimes: list[Runtime]) -> None:
    local = [one for one in runtimes if one.kind == LOCAL]
    cluster = [one for one in runtimes if one.kind == CLUSTER]
    choice = choose(ONNX, local, cluster)
    assert len(choice.candidates) == len(runtimes)
    fits = [one for one in choice.candidates if one.fits]
    assert list(choice.candidates[: len(fits)]) == fits
    assert choice.chosen is (fits[0] if fits else None)
    kinds = [one.kind for one in fits]
    assert kinds == sorted(kinds, reverse=True)
