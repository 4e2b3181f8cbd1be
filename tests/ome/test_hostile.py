"""Objects that hold anything at all: they are refused or evaluated, and nothing else happens."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.ome import decode
from analyzer.ome.envelope import FORMATS
from analyzer.ome.explain import NoComponentError
from analyzer.ome.merge import merged
from analyzer.ome.world import Thing
from tests.ome.pond import model, revision, run, runtime, service, text, thing

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**30)
    | st.floats()
    | st.sampled_from(["", "skiff", "1Gi", "-1", "reed", "ghp_x"])
)
WORDS = """
engine decoder runner leader containers resources requests cpu name model runtime kind autoSync acceleratorSelector
acceleratorClass policy constraints components selectedAccelerator nodeSelector supportedModelFormats modelFormat version weight
priority modelSizeRange min engineConfig acceleratorRequirements acceleratorClasses observedGeneration annotations autoSelect
"""
NAMES = st.sampled_from(WORDS.split())
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=25
)
MAPS = st.dictionaries(NAMES, ANYTHING, max_size=6)


@settings(max_examples=60, deadline=None)
@given(MAPS, MAPS, MAPS, MAPS, st.booleans())
def test_any_object_is_refused_or_explained(
    spec: dict[str, Any], status: dict[str, Any], held: dict[str, Any], form: dict[str, Any], named: bool
) -> None:
    own = service(status=status)
    value = dict(own.value) | {
        "spec": {"engine": {}, "model": {"name": "reed"}} | ({"runtime": {"name": "skiff"}} if named else {}) | spec
    }
    own = Thing(own.kind, own.namespace, own.name, value)
    if not decode.service_reads(value):
        return
    pairs = ((model(), form), (runtime(), held), (thing("AcceleratorClass", "skiff"), form))
    things = [Thing(one.kind, one.namespace, one.name, {**one.value, "spec": {**one.spec, **more}}) for one, more in pairs]
    things.append(revision(spec=held))
    with contextlib.suppress(NoComponentError):
        found = run(own, *things, bare=True)
        for shown in FORMATS:
            assert "ghp_x" not in text(found, shown)


@settings(max_examples=50, deadline=None)
@given(MAPS, MAPS)
def test_merging_takes_anything_and_changes_nothing(base: dict[str, Any], patch: dict[str, Any]) -> None:
    before = repr((base, patch))
    result = merged(base, patch)
    assert repr((base, patch)) == before
    assert all(key in result for key in (*base, *(key for key, value in patch.items() if value is not None)))


def test_a_merge_that_goes_deep_comes_back() -> None:
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"leader": deep}
    assert merged(deep, deep)


@pytest.mark.parametrize(
    "value",
    [
        {"spec": []},
        {"spec": {"engine": "x"}},
        {"spec": {"engine": {"runner": {"resources": {"requests": {"cpu": "abc"}}}}}},
        {"spec": {"engine": {"leader": {"containers": [{"resources": {"limits": {"cpu": True}}}]}}}},
        {"spec": {"runtime": {"autoSync": "no"}}},
        {"spec": {"acceleratorSelector": {"acceleratorClass": 1}}},
        {"status": {"observedGeneration": "4"}},
        {"status": {"observedGeneration": 2**70}},
        {"status": {"components": {"engine": {"selectedAccelerator": {"nodeSelector": {"a": 1}}}}}},
        {"metadata": {"annotations": {"a": 1}}},
    ],
)
def test_what_a_typed_client_refuses(value: dict[str, Any]) -> None:
    assert not decode.service_reads(value)
