"""What is in force: live, pinned, inherited, picked; and what the serving container starts from."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from analyzer.ome.candidates import Choice, TooManyRuntimesError
from analyzer.ome.world import Absence, Thing
from tests.ome.pond import codes, container, model, revision, row, run, runtime, service, thing, wide

NAMED = {"name": "skiff", "kind": "ClusterServingRuntime"}


def base(own: Thing, *others: Thing, bare: bool = False) -> str:
    """The base requests of the engine, or the state without them."""
    found = wide(run(own, *others, bare=bare), "REQUEST", "engine")
    return found[1][1] if found[0][1] == "Available" else found[0][1]


def fmt(name: str = "safetensors", **fields: Any) -> dict[str, Any]:
    return {"modelFormat": {"name": name}, "autoSelect": True} | fields


@pytest.mark.parametrize(
    ("kind", "cluster", "spaced", "source"),
    [
        ("ClusterServingRuntime", True, True, "ClusterServingRuntime"),
        ("ClusterServingRuntime", False, True, "ServingRuntime"),
        ("ServingRuntime", True, True, "ServingRuntime"),
        ("ServingRuntime", True, False, None),
        ("", True, True, "ServingRuntime"),
        ("", True, False, "ClusterServingRuntime"),
        ("Anything", True, True, "ServingRuntime"),
    ],
)
def test_where_a_named_runtime_is_looked_for(kind: str, cluster: bool, spaced: bool, source: str | None) -> None:
    there = [model(), *([runtime()] if cluster else []), *([runtime(namespace="pond")] if spaced else [])]
    found = run(service(runtime={"name": "skiff", "kind": kind}), *there, bare=True)
    assert (found.active.source.kind if found.active.source else None) == source


@pytest.mark.parametrize(
    ("own", "others", "code"),
    [
        (service(runtime={"name": "none", "kind": "ClusterServingRuntime"}), [], "runtime-missing"),
        (service(), [runtime(disabled=True)], "runtime-disabled"),
        (service(model={"name": "none"}), [], "model-missing"),
        (service(), [model(disabled=True)], "model-disabled"),
        (service(), [runtime(engineConfig={"runner": container({"cpu": "x"})})], "runtime-malformed"),
        (service(), [runtime(engineConfig=[])], "runtime-malformed"),
        (service(), [model(distribution="Sharded")], "model-sharded"),
        (service(engine=None, decoder={}), [], "engine-missing"),
        (service(runtime=None), [], "no-runtime"),
    ],
)
def test_why_nothing_is_in_force(own: Thing, others: list[Thing], code: str) -> None:
    found = run(own, *others)
    assert (found.active.state, found.active.code, found.active.unknown) == ("Unavailable", code, None)
    assert "ActiveConfigurationUnavailable" in codes(found)


def test_a_base_model_of_the_namespace_goes_first_whatever_kind_is_named() -> None:
    off = thing("BaseModel", "reed", "pond", spec={"disabled": True})
    assert run(service(), off).active.code == "model-disabled"


@pytest.mark.parametrize(
    ("absent", "known"),
    [
        ({"ClusterServingRuntime": "not-collected"}, False),
        ({"ClusterServingRuntime": "forbidden"}, False),
        ({"ClusterServingRuntime": "unsupported"}, True),
    ],
)
def test_a_runtime_that_is_not_at_hand_is_not_a_missing_one(absent: dict[str, Absence], known: bool) -> None:
    found = run(service(), model(), bare=True, absent=absent)
    assert (found.active.state, found.active.unknown is None) == ("Unavailable", known)


def test_base_models_that_were_not_collected_are_taken_to_be_none_and_it_is_said() -> None:
    found = run(service(), absent={"BaseModel": "not-collected"})
    assert found.active.state == "Available"
    assert "BaseModel pond/reed was not collected" in found.active.assumed
    assert run(service(), absent={"BaseModel": "forbidden"}).active.unknown is not None


def test_inheritance_merges_key_by_key_from_the_top() -> None:
    top = runtime("hull", containers=None, disabled=True, engineConfig={"runner": container({"cpu": "1", "memory": "1Gi"})})
    mid = runtime(
        "deck",
        meta={"annotations": {"ome.io/inherit-from": "hull"}},
        disabled=False,
        engineConfig={"runner": {"resources": {"requests": {"cpu": "3"}}}},
    )
    head = runtime(
        meta={"annotations": {"ome.io/inherit-from": "deck"}},
        engineConfig={"runner": {"resources": {"requests": {"x": "1", "memory": None}}}},
    )
    found = run(service(), top, mid, head)
    assert wide(found, "REQUEST", "engine", "BASE") == [("cpu=3,memory=1Gi,x=1", "Computed")]
    assert found.active.source is not None
    assert found.active.source.name == "skiff"


@pytest.mark.parametrize(("length", "state"), [(5, "Available"), (6, "Unavailable")])
def test_a_chain_has_at_most_five_runtimes(length: int, state: str) -> None:
    names = ["skiff", *(f"p{number}" for number in range(1, length))]
    chain = [runtime(name, meta={"annotations": {"ome.io/inherit-from": parent}}) for name, parent in itertools.pairwise(names)]
    assert run(service(), *chain, runtime(names[-1])).active.state == state


def test_cycles_and_parents_that_are_missing() -> None:
    loop = runtime(meta={"annotations": {"ome.io/inherit-from": "skiff"}})
    assert run(service(), loop).active.code == "inheritance-CycleDetected"
    lone = runtime(meta={"annotations": {"ome.io/inherit-from": "hull"}})
    assert run(service(), lone).active.code == "inheritance-ParentMissing"
    spaced = runtime(namespace="pond", meta={"annotations": {"ome.io/inherit-from": "hull"}})
    local = run(
        service(runtime={"name": "skiff", "kind": "ServingRuntime"}),
        spaced,
        runtime("hull"),
        runtime("hull", "pond", engineConfig={"runner": container({"cpu": "9"})}),
    )
    assert local.active.state == "Available"


def test_a_picked_runtime_does_not_inherit() -> None:
    child = runtime(
        "pick", meta={"annotations": {"ome.io/inherit-from": "skiff"}}, supportedModelFormats=[fmt()], engineConfig={}
    )
    found = run(service(runtime=None), child)
    assert (found.active.state, codes(found)) == ("Available", ["BaseRequestsUnavailable"])


def pinned(status: str | None = "cr-skiff-0a1b2c3d", **fields: Any) -> Thing:
    return service(runtime=NAMED | {"autoSync": False} | fields, status={"pinnedRevisionName": status} if status else {})


def test_a_managed_pin() -> None:
    assert base(pinned(), revision()) == "cpu=7"
    assert base(pinned(None), revision()) == "cpu=2"
    assert run(pinned(), revision(), bare=True, absent={}).active.code == "model-missing"
    # A runtime that is gone leaves the revision in force; one that is disabled does not.
    assert run(pinned(), revision(), model(), bare=True).active.state == "Available"
    assert run(pinned(), revision(), runtime(disabled=True)).active.code == "runtime-disabled"
    assert run(service(status={"pinnedRevisionName": "cr-skiff-0a1b2c3d"}), revision()).active.source != revision()


@pytest.mark.parametrize(
    ("held", "code"),
    [
        ([], "revision-missing"),
        ([revision(spec="{}")], "revision-malformed"),
        ([revision(spec={"containers": [{"name": "c", "resources": {"limits": {"cpu": "?"}}}]})], "revision-malformed"),
        ([revision(spec={"disabled": True})], "revision-disabled"),
    ],
)
def test_a_revision_that_cannot_be_in_force(held: list[Thing], code: str) -> None:
    found = run(pinned(), *held)
    assert (found.active.state, found.active.code) == ("Unavailable", code)
    assert [source.kind for source in found.report.sources] == ["InferenceService"]


def test_an_explicit_pin() -> None:
    own = revision("cr-skiff-11112222", {"engineConfig": {"runner": container({"cpu": "5"})}}, revision_hash="11112222")
    assert base(pinned(revision="cr-skiff-11112222"), own, revision()) == "cpu=5"
    assert (
        run(pinned(revision="cr-skiff-11112222"), revision("cr-skiff-11112222", runtime_of="raft")).active.code
        == "revision-of-another"
    )
    twin = revision("cr-skiff-11112222", revision_hash="11112222")
    assert run(pinned(revision="cr-skiff-11112222"), twin, revision()).active.faults == ("DuplicateContentHash",)
    assert run(pinned(kind="Runtime", revision="x")).active.code == "pin-invalid"


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (revision(by="somebody"), "CreatedBy"),
        (revision(runtime_of="raft"), "SourceName"),
        (revision(runtime_of_kind="ServingRuntime"), "SourceKind"),
        (revision(runtime_of_namespace="pond"), "SourceNamespace"),
        (revision(number=2), "Ordinal"),
        (revision(revision_hash="0A1B2C3D"), "HashLabelInvalid"),
        (revision(revision_hash="ffffffff"), "NameHash"),
    ],
)
def test_checks_of_consistency(broken: Thing, fault: str) -> None:
    found = run(pinned(), broken)
    assert found.active.state == "Inconsistent"
    assert fault in found.active.faults


def test_a_revision_of_a_namespaced_runtime() -> None:
    name = "r-pond-skiff-0a1b2c3d"
    own = revision(name, runtime_of_kind="ServingRuntime", runtime_of_namespace="pond")
    held = service(runtime={"name": "skiff", "kind": "ServingRuntime", "autoSync": False}, status={"pinnedRevisionName": name})
    assert base(held, own, runtime(namespace="pond")) == "cpu=7"


def one(**config: Any) -> Thing:
    return runtime(engineConfig=config)


@pytest.mark.parametrize(
    ("own", "held", "wanted"),
    [
        (service(), one(runner=container({"cpu": "99"}), leader={"runner": container({"cpu": "3"})}), "cpu=3"),
        (service(engine={"leader": {}}), one(runner=container({"cpu": "99"})), "Unavailable"),
        (service(), one(containers=[container({"cpu": "4"}, "a"), container({"cpu": "5"}, "b")]), "cpu=4"),
        (service(), one(containers=[]), "Unavailable"),
        (
            service(engine={"runner": container({"cpu": "8"})}),
            one(runner=container({"cpu": "2", "memory": "1024Mi"})),
            "cpu=8,memory=1Gi",
        ),
        (service(), one(runner=container({"cpu": "2"}), containers=[container({"memory": "1Gi"})]), "cpu=2,memory=1Gi"),
        (
            service(engine={"runner": container({"cpu": "8"}, None)}),
            one(runner=container(), containers=[container({"x": "1"})]),
            "cpu=8",
        ),
        (service(), one(runner={"name": "r", "resources": {"limits": {"cpu": "4"}}}), "None"),
        (
            service(engine={"containers": [container({"cpu": "6"}, "new")]}),
            one(containers=[container({"cpu": "4"}, "old")]),
            "cpu=6",
        ),
        (service(engine={"runner": container({"cpu": "1"})}), runtime(engineConfig=None), "cpu=1"),
    ],
)
def test_the_serving_container(own: Thing, held: Thing, wanted: str) -> None:
    assert base(own, held) == wanted


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        (None, "cpu=2,memory=4Gi"),
        ({}, "cpu=2,memory=4Gi"),
        ({"requests": {}}, "cpu=2"),
        ({"limits": {"cpu": "9"}}, "cpu=2"),
        ({"claims": []}, "cpu=2"),
        ({"requests": None}, "cpu=2,memory=4Gi"),
    ],
)
def test_containers_at_the_top_of_a_runtime_fill_in_what_is_missing(resources: Any, wanted: str) -> None:
    held = runtime(containers=[container({"cpu": "77", "memory": "4Gi"})])
    runner = {"name": "ome-container"} | ({} if resources is None else {"resources": resources})
    assert base(service(engine={"runner": runner}), held) == wanted


def choice(own: Thing, *runtimes: Thing, **spec: Any) -> Choice:
    found = run(own, model(**spec), *runtimes, bare=True).active.live
    assert found is not None
    assert found.choice is not None
    return found.choice


AUTO: dict[str, Any] = {"runtime": None}


@pytest.mark.parametrize(
    ("held", "spec", "reason"),
    [
        ({"disabled": True}, {}, "runtime is disabled"),
        ({"supportedModelFormats": None}, {}, "no supported formats defined"),
        ({"supportedModelFormats": [fmt("onnx")]}, {}, "format 'onnx' is not 'safetensors'"),
        ({"supportedModelFormats": [fmt(modelArchitecture="A")]}, {}, "architecture 'A' is not (none)"),
        ({"supportedModelFormats": [fmt()]}, {"quantization": "fp8"}, "quantization (none) is not 'fp8'"),
        ({"supportedModelFormats": [fmt(modelFramework={"name": "vllm"})]}, {}, "framework 'vllm' is not (none)"),
        ({"modelSizeRange": {"min": "8B", "max": "1T"}}, {}, "model size 7B is outside supported range [8B, 1T]"),
        ({"modelSizeRange": {"max": "6900M"}}, {}, "outside supported range"),
        ({"supportedModelFormats": [fmt(autoSelect=None)]}, {}, "autoSelect"),
        ({"supportedModelFormats": [fmt(autoSelect=False), fmt("onnx")]}, {}, "score"),
        ({"supportedModelFormats": [fmt(priority=0)]}, {}, "score"),
    ],
)
def test_why_a_candidate_drops_out(held: dict[str, Any], spec: dict[str, Any], reason: str) -> None:
    found = choice(service(**AUTO), runtime("r", **({"supportedModelFormats": [fmt()]} | held)), **spec)
    assert found.chosen is None
    assert reason in (found.candidates[0].reason or "")


def test_classes_and_modes_of_candidates() -> None:
    held = runtime("r", supportedModelFormats=[fmt()], acceleratorRequirements={"acceleratorClasses": ["a"]})
    assert choice(service(**AUTO, acceleratorSelector={"acceleratorClass": "a"}), held).chosen == held
    assert choice(service(**AUTO, acceleratorSelector={"acceleratorClass": ""}), held).chosen is None
    assert choice(service(**AUTO, annotations={"ome.io/accelerator-class": "b"}), held).chosen is None
    assert choice(service(**AUTO, acceleratorSelector={"policy": "Cheapest"}), held).chosen == held
    raw = {"runner": {}, "annotations": {"ome.io/deploymentMode": "RawDeployment"}}
    native = runtime("r", supportedModelFormats=[fmt()], engineConfig=raw)
    found = choice(service(**AUTO, deploymentMode="OMENative"), native)
    assert (
        found.candidates[0].reason
        == "runtime engine deployment mode RawDeployment does not match requested engine deployment mode OMENative"
    )
    assert choice(service(**AUTO, deploymentMode="raw"), native).chosen == native


def test_the_order_of_candidates() -> None:
    spaced = runtime("z", "pond", supportedModelFormats=[fmt(priority=1)])
    heavy = runtime("y", supportedModelFormats=[fmt(priority=9)])
    near = runtime("x", supportedModelFormats=[fmt(priority=2)], modelSizeRange={"min": "6B", "max": "8B"})
    far = runtime("a", supportedModelFormats=[fmt(priority=2)], modelSizeRange={"min": "1B", "max": "80B"})
    ranked = choice(service(**AUTO), far, near, heavy, spaced).candidates
    assert [candidate.runtime.name for candidate in ranked] == ["z", "y", "x", "a"]
    assert [candidate.score for candidate in ranked] == [10, 90, 20, 20]


@pytest.mark.parametrize(
    ("ours", "operator", "theirs", "fits"),
    [
        ("1.0.0", "", "1.0.0", True),
        ("1.0", "", "1.0.0", False),
        ("v1", "", "1", False),
        ("2.1.0", "GreaterThan", "2.0.9", True),
        ("2.0.9", "GreaterThan", "2.0.9", False),
        ("2.0.9", "GreaterThanOrEqual", "2.0.9", True),
        ("2.0-rc1", "GreaterThan", "1.9", False),
        ("2.0-rc1", "GreaterThan", "2.0-rc1", True),
        ("1.01", "", "1.01", False),
        ("one", "", "one", False),
        (None, "", "1", False),
    ],
)
def test_versions(ours: str | None, operator: str, theirs: str, fits: bool) -> None:
    form = {"name": "safetensors", "operator": operator} | ({"version": ours} if ours else {})
    held = runtime("r", supportedModelFormats=[fmt(modelFormat=form)])
    found = choice(service(**AUTO), held, modelFormat={"name": "safetensors", "version": theirs})
    assert (found.chosen is not None) == fits


def test_more_than_a_thousand_runtimes_are_refused() -> None:
    many = [runtime(f"r{number}", supportedModelFormats=[fmt()]) for number in range(1001)]
    with pytest.raises(TooManyRuntimesError):
        run(service(**AUTO), model(), *many, bare=True)
    assert row(run(service(), *many)) == "- | - | None | base:cpu=2 | 0"


def test_the_words_of_a_failed_choice() -> None:
    found = run(service(**AUTO), runtime("off", "pond", disabled=True))
    assert found.active.why == (
        "no runtime found to support model reed with format mt:safetensors in namespace pond. Checked 2 runtimes "
        "(1 namespace-scoped, 1 cluster-scoped). Excluded runtimes: off (runtime is disabled); "
        "skiff (model format 'mt:safetensors' not in supported formats: no supported formats defined)"
    )
