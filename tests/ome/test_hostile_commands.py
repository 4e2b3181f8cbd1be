"""The commands about status and runtimes over objects that hold anything at all: a report comes out, always."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.ome import decode
from analyzer.ome.candidates import TooManyRuntimesError
from analyzer.ome.envelope import FORMATS
from analyzer.ome.runtime import branches, selection, views
from analyzer.ome.runtime.effective import effective
from analyzer.ome.runtime.tree import TargetError, tree
from analyzer.ome.source import Source
from analyzer.ome.status.page import render
from analyzer.ome.status.report import status_of
from analyzer.ome.world import Thing, World
from tests.ome.lake import event, pod
from tests.ome.pond import AT, model, revision, runtime, service

WORDS = """
conditions type status reason message severity lastTransitionTime components engine decoder router autoscaler class managedBy
currentReplicas scaleTargetRef lifecycle currentRevision updateRevision rolloutPhase traffic revisionName percent canary steps
currentStep observedTrafficWeight rollout groups activeRun plan group rolloutCoordination name policy phase order placement
candidates cluster admittedReplicas endpoint mode split algorithm backendPolicyResource targetedHTTPRoutes observedGeneration
pinnedRevisionName lastRuntimeSyncToken runtime kind autoSync revision model spec metadata labels annotations uid
containerStatuses restartCount involvedObject regarding series count lastTimestamp eventTime addresses url analysis metrics
supportedModelFormats modelFormat version autoSelect priority weight modelSizeRange min
"""
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats()
    | st.sampled_from(
        [
            "",
            "skiff",
            "engine",
            "Ready",
            "True",
            "HPA",
            "OME",
            "Canarying",
            "heron",
            AT,
            "http://[",
            "a\x1b[31m\u202e",
            "hull",
            "ome.io/x",
        ]
    )
)
NAMES = st.sampled_from(WORDS.split())
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6), max_leaves=30
)
MAPS = st.dictionaries(NAMES, ANYTHING, max_size=8)


def with_parts(thing: Thing, **parts: Any) -> Thing:
    value = dict(thing.value)
    for name, more in parts.items():
        held = value.get(name)
        value[name] = {**(held if isinstance(held, dict) else {}), **more}
    return Thing(thing.kind, thing.namespace, thing.name, value)


@settings(max_examples=150, deadline=None)
@given(MAPS, MAPS, MAPS, MAPS, MAPS, st.booleans())
def test_every_command_comes_back(
    spec: dict[str, Any],
    status: dict[str, Any],
    other: dict[str, Any],
    of_pod: dict[str, Any],
    of_event: dict[str, Any],
    named: bool,
) -> None:
    own = with_parts(service() if named else service(runtime=None), spec=spec, status=status)
    if not decode.service_reads(dict(own.value)):
        own = with_parts(service(), status={})
    things = [
        own,
        with_parts(model(), spec=other),
        with_parts(runtime(), spec=other, metadata={"annotations": {"ome.io/inherit-from": of_event.get("name")}}),
        runtime("hull", "pond"),
        with_parts(revision(), **{name: value for name, value in other.items() if isinstance(value, dict)}),
        with_parts(pod("a"), status=of_pod),
        Thing("Event", "pond", "e", {**event("e").value, **of_event}),
    ]
    world = World.of(things, lambda _kind, _namespace: "not-found")
    shown = []
    now = datetime(2026, 11, 1, tzinfo=UTC).replace(tzinfo=None)
    found = status_of(Source(world, now), own, "ome")
    state = effective(world, own, "ome")
    grown = tree(world, "", "", "")
    for form in FORMATS:
        shown += [render(found, form), views.render(state, form, AT), branches.render(grown, form, AT, strays=True)]
        with contextlib.suppress(TooManyRuntimesError):
            shown.append(selection.render(selection.select(world, own, things[1]), form, AT))
        with contextlib.suppress(TargetError):
            shown.append(branches.render(tree(world, "skiff", "", "pond"), form, AT, strays=False))
    views.notes(state)
    branches.notes(grown)
    assert not any("\x1b" in text or "\u202e" in text for text in shown)
    assert all(len(line) <= 80 for line in render(found, "table").splitlines())
