"""What `triage show` says of objects of KServe."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.facts.build import database
from tests.show.pages import page, section

from .build import ALL, V1ALPHA1, V1ALPHA2, condition, service, thing, told

FORMAT = [{"name": "onnx", "version": "1", "autoSelect": True, "priority": 3}, {"name": "pmml"}]
OBJECTS = [
    service(
        "cone",
        {"canaryTrafficPercent": 10, "model": {"modelFormat": {"name": "onnx"}, "storageUri": "https://u:p@h.example/m?sig=s"}},
        told(
            condition("Ready", "True"),
            condition("PredictorReady", "True"),
            transition="UpToDate",
            target="Loaded",
            failure={"reason": "ModelLoadFailed", "message": "killed", "exitCode": 137},
            deploymentMode="Serverless",
            clusterServingRuntimeName="wide",
            components={"predictor": {
                "url": "http://cone.example", "latestCreatedRevision": "r2", "latestReadyRevision": "r1",
                "traffic": [
                    {"revisionName": "r1", "percent": 90}, {"revisionName": "r2", "percent": 10, "latestRevision": True}]}},
        ),
    ),
    service("own", None, told(condition("Ready", "False"))),
    thing(V1ALPHA1, "ServingRuntime", "near", spec={"supportedModelFormats": FORMAT, "protocolVersions": ["v1", "v2"]}),
    thing(V1ALPHA1, "ClusterServingRuntime", "wide", "", spec={"supportedModelFormats": FORMAT}),
    thing(V1ALPHA1, "ClusterServingRuntime", "off", "", spec={"supportedModelFormats": FORMAT, "disabled": True}),
    thing(V1ALPHA2, "LLMInferenceService", "chat",
          spec={"model": {"name": "chat", "uri": "hf://o/chat"}, "replicas": 2, "baseRefs": [{"name": "preset"}]},
          status={"conditions": [condition("PresetsCombined", "False", "ConfigNotFound", "none"), condition("Ready", "False")]}),
    thing(V1ALPHA1, "InferenceGraph", "mix", spec={"nodes": {"root": {"routerType": "Splitter", "steps": [
        {"serviceName": "cone", "weight": 60}, {"serviceName": "gone", "weight": 40}, {"nodeName": "nowhere"}]}}}),
    thing(V1ALPHA1, "TrainedModel", "old", spec={"inferenceService": "gone", "model": {
        "framework": "sklearn", "memory": "1Gi", "storageUri": "s3://b/m"}}),
]  # fmt: skip


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with database(OBJECTS, lists=ALL) as con:
        yield con


def test_a_service_tells_its_model_and_that_an_old_failure_is_over(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "isvc.serving.kserve.io/cone")
    model = section(text, "Model")
    assert any(line.startswith("Storage:") and "https://h.example/m (users," in line for line in model)
    assert any(line.startswith("Old failure:") and "It is not in force" in line and "exit code 137" in line for line in model)
    assert "sig=" not in text
    assert "u:p" not in text


def test_a_service_tells_its_components_and_traffic(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "isvc.serving.kserve.io/cone")
    components = section(text, "Components")
    assert "Mode: Knative (by its status)" in components
    assert any("r1; newest r2 is not ready" in line and "http://cone.example" in line for line in components)
    traffic = section(text, "Traffic")
    assert traffic[1].startswith("Canary: 10 %")
    assert [line.split()[1:4] for line in traffic[3:5]] == [["r1", "90", "%"], ["r2", "10", "%"]]


def test_a_service_tells_every_candidate(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "isvc.serving.kserve.io/cone"), "Runtime")
    assert any("Deduced: ServingRuntime near: of 2 that fit, those of the namespace go first" in line for line in lines)
    assert any("ClusterServingRuntime wide. That is another one" in line for line in lines)
    assert [line.split()[:5] for line in lines[-3:]] == [
        ["1", "near", "namespace", "3", "chosen"],
        ["2", "wide", "cluster", "3", "fits"],
        ["3", "off", "cluster", "3", "dropped"],
    ]
    assert section(page(con, "isvc.serving.kserve.io/own"), "Runtime") == []


def test_what_cannot_be_told_is_said(con: duckdb.DuckDBPyConnection) -> None:
    with database(OBJECTS[:1]) as other:
        lines = section(page(other, "isvc.serving.kserve.io/cone"), "Runtime")
    assert any(
        line.startswith("By the rules:") and "cannot be told" in line and "ClusterServingRuntimes" in line for line in lines
    )


def test_a_runtime_tells_what_it_serves_and_whom(con: duckdb.DuckDBPyConnection) -> None:
    text = page(con, "clusterservingruntime/wide")
    assert any(line.split() == ["pmml", "any", "that", "asks", "for", "none", "only", "where", "it", "is", "named"]
               for line in section(text, "Serves"))  # fmt: skip
    assert section(text, "Services")[2].split() == ["wood/cone", "Ready", "recorded", "fits"]
    assert "no: spec.disabled" in page(con, "clusterservingruntime/off")
    assert "is disabled" in section(page(con, "clusterservingruntime/off"), "Services")[2]


def test_the_other_kinds(con: duckdb.DuckDBPyConnection) -> None:
    chat = page(con, "llmisvc/chat")
    assert any(line.startswith("Held up by:") and "PresetsCombined" in line for line in section(chat, "Model"))
    assert section(chat, "Configs")[1] == "preset (not in this namespace of the bundle)"
    steps = section(page(con, "inferencegraph/mix"), "Steps")
    assert [line.split()[3:] for line in steps[2:5]] == [
        ["service", "cone", "60", "%"],
        ["service", "gone", "40", "%,", "missing"],
        ["node", "nowhere", "missing"],
    ]
    trained = page(con, "trainedmodel/old")
    assert section(trained, "Service")[1] == "gone (does not exist)"
    assert any(line.startswith("Storage:") and line.endswith("s3://b/m") for line in section(trained, "Model"))
