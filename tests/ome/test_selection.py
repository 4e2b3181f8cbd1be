"""`runtime explain`: every runtime, in the order of OME, with the priority and weight or the first check that it fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.ome.runtime.effective import effective
from analyzer.ome.runtime.selection import Selection, anyone, render, select, table_rows
from analyzer.ome.world import Thing
from tests.ome.lake import world
from tests.ome.pond import AT, NAMESPACE, model, runtime, service

FORMAT: dict[str, Any] = {"modelFormat": {"name": "safetensors", "weight": 2}, "autoSelect": True}
TOO_SMALL = "model size 7B is outside supported range [8B, 9B]"
UNPICKED = (
    "supports the model but has no supportedModelFormats[].autoSelect=true entry, so automatic selection skips it "
    "(pin it explicitly via spec.runtime.name instead)"
)
OTHER = (
    "matching format safetensors is not autoSelect-enabled (a different supportedModelFormats entry on this runtime has "
    "autoSelect=true, but not the one that matches this model)"
)


def fit(name: str = "skiff", namespace: str = "", **entry: Any) -> Thing:
    """A runtime that fits the model."""
    return runtime(name, namespace, supportedModelFormats=[FORMAT | entry])


def chosen(*runtimes: Thing, own: Thing | None = None, of: Thing | None = None) -> Selection:
    held = of or model()
    return select(world(*runtimes, held, bare=True), own or anyone(NAMESPACE), held)


def row(found: Selection, number: int = 0) -> str:
    return " | ".join(table_rows(found)[1 + number])


def test_those_that_may_be_chosen_come_first_namespaced_before_cluster() -> None:
    found = chosen(
        fit("weak", priority=1),
        fit("strong", priority=4),
        fit("near", NAMESPACE),
        runtime("off", disabled=True),
        fit("far", "lake"),
    )
    assert table_rows(found)[0] == ("RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY", "WEIGHT", "REASON")
    assert [row(found, number) for number in range(4)] == [
        "near | Namespaced | Yes | 1 | 2 | -",
        "strong | Cluster | Yes | 4 | 8 | -",
        "weak | Cluster | Yes | 1 | 2 | -",
        "off | Cluster | No | - | - | runtime is disabled",
    ]
    assert len(found.verdicts) == 4


def test_those_that_may_not_are_listed_namespaced_first_and_by_name() -> None:
    off: dict[str, Any] = {"disabled": True}
    found = chosen(runtime("b", **off), runtime("a", **off), runtime("z", NAMESPACE, **off))
    assert [verdict.runtime.name for verdict in found.verdicts] == ["z", "a", "b"]
    broken = chosen(fit("good"), runtime("a", **off), fit("m", NAMESPACE, priority="high"))
    assert [verdict.runtime.name for verdict in broken.verdicts] == ["good", "m", "a"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"disabled": True}, "runtime is disabled"),
        ({}, "model format 'mt:safetensors' not in supported formats: no supported formats defined"),
        ({"supportedModelFormats": [FORMAT], "modelSizeRange": {"min": "8B", "max": "9B"}}, TOO_SMALL),
        (
            {"supportedModelFormats": [FORMAT | {"autoSelect": None}]},
            UNPICKED,
        ),
        (
            {"supportedModelFormats": [FORMAT | {"autoSelect": False}, {"modelFormat": {"name": "onnx"}, "autoSelect": True}]},
            OTHER,
        ),
        ({"supportedModelFormats": [FORMAT | {"modelFormat": {"name": "safetensors", "weight": -3}}]}, "auto-select score is 0"),
        ({"supportedModelFormats": [FORMAT | {"priority": "high"}]}, "its spec does not decode as that of a runtime"),
    ],
)  # fmt: skip
def test_why_a_runtime_is_not_chosen(spec: dict[str, Any], reason: str) -> None:
    assert row(chosen(runtime("skiff", **spec))) == f"skiff | Cluster | No | - | - | {reason}"


def test_class_and_mode_count_only_for_a_service() -> None:
    asks = service(acceleratorSelector={"acceleratorClass": "marsh-100"})
    refused = "skiff | Cluster | No | - | - | runtime does not support the required accelerator class"
    assert row(chosen(fit(), own=asks)) == refused
    assert row(chosen(fit())).startswith("skiff | Cluster | Yes")
    native = service(engine={"annotations": {"ome.io/deploymentMode": "OMENative"}})
    raw = runtime(supportedModelFormats=[FORMAT], engineConfig={"annotations": {"ome.io/deploymentMode": "RawDeployment"}})
    assert row(chosen(raw, own=native)).endswith(
        "runtime engine deployment mode RawDeployment does not match requested engine deployment mode OMENative"
    )


def test_the_weight_is_that_of_the_first_entry_that_fits_and_leaves_out_what_is_no_weight() -> None:
    framed = model(modelFramework={"name": "transformers"})
    entry: dict[str, Any] = {"modelFramework": {"name": "transformers", "weight": 3}, "priority": 2}
    assert row(chosen(fit(**entry), of=framed)) == "skiff | Cluster | Yes | 2 | 10 | -"
    unset = FORMAT | {"modelFormat": {"name": "safetensors", "weight": 0}}
    assert row(chosen(runtime("skiff", supportedModelFormats=[unset, FORMAT]))) == "skiff | Cluster | Yes | 1 | 0 | -"


def test_the_json_form_has_a_list_always() -> None:
    found = json.loads(render(chosen(fit("near", NAMESPACE), runtime("off", disabled=True)), "json", AT))
    assert found["kind"] == "RuntimeExplainReport"
    assert found["content"]["model"] == {"kind": "ClusterBaseModel", "name": "reed"}
    assert found["content"]["runtimes"] == [
        {"kind": "ServingRuntime", "namespace": "pond", "name": "near", "compatible": True, "priority": 1, "weight": 2},
        {"kind": "ClusterServingRuntime", "name": "off", "compatible": False, "reason": "runtime is disabled"},
    ]
    assert json.loads(render(chosen(), "json", AT))["content"]["runtimes"] == []
    assert render(chosen(), "table", AT) == ""


def test_what_a_runtime_holds_is_not_echoed_where_it_looks_like_an_address() -> None:
    found = chosen(
        runtime("skiff", modelSizeRange={"min": "https://a.example/x"}, supportedModelFormats=[{"quantization": "http://b"}])
    )
    assert row(found) == "skiff | Cluster | No | - | - | [OMITTED]"


def test_a_score_of_nothing_by_its_priority() -> None:
    assert row(chosen(fit(priority=0))) == "skiff | Cluster | No | - | - | auto-select score is 0 (format priority 0)"


def test_what_the_service_runs_with_below_the_choice() -> None:
    own = service()
    base = runtime("hull")
    held = world(fit(), base, model(), own, bare=True)
    text = render(select(held, own, model()), "table", AT, effective(held, own, "ome"))
    head, context = text.split("\n\n")
    assert head.startswith("RUNTIME   SCOPE")
    assert "Effective" not in head
    assert context.splitlines()[:6] == [
        "Effective context (separate observation; selector verdict unchanged):",
        "SCOPE     FIELD           VALUE",
        "Service   SELECTION       Explicit",
        "Service   SOURCE          CSR/skiff",
        "Source    INHERITANCE     Observed",
        "Source    ROOT-FIRST      CSR/skiff",
    ]
    assert "Service   CAVEAT          Independent snapshot; not rollout convergence" in context
    told = json.loads(render(select(held, own, model()), "json", AT, effective(held, own, "ome")))["content"]
    assert (told["effective"]["selection"]["source"], told["effective"]["pin"]["mode"]) == ("Explicit", "AutoSync")
    lost = service(runtime={"name": "gone"})
    context = render(select(held, lost, model()), "table", AT, effective(held, lost, "ome")).split("\n\n")[1]
    assert [line.split() for line in context.splitlines()[3:6]] == [
        ["Service", "SOURCE", "CSR/gone"],
        ["Source", "INHERITANCE", "Unavailable"],
        ["Source", "REASON", "NotFound"],
    ]
