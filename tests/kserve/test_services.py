"""KServe's services: states, what is to blame, mode, what is shown of addresses, edges, hostile objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts import kserve
from tests.facts.build import database, one, rows

from .build import ALL, V1ALPHA1, V1ALPHA2, V1BETA1, condition, service, thing, told


def quick(objects: Sequence[dict[str, Any]]) -> duckdb.DuckDBPyConnection:
    """A database with the facts of KServe alone: what depends on coverage, owners and pods is not told."""
    con = database(objects, derived=False)
    kserve.derive(con)
    return con


READY, DOWN, OPEN = (condition("Ready", status) for status in ("True", "False", "Unknown"))
PRESSED = {
    "reason": "ModelLoadFailed",
    "message": "no such file",
    "exitCode": 1,
    "location": "cone-1",
    "time": "2026-11-01T11:30:00Z",
}


STATES: list[tuple[Any, dict[str, Any], str]] = [
    (told(READY), {"deletionTimestamp": "2026-11-01T11:00:00Z"}, "Deleting"),
    (told(READY, failure=PRESSED), {"annotations": {"serving.kserve.io/stop": "tRuE"}}, "Stopped"),
    (told(DOWN, condition("Stopped", "True"), transition="InvalidSpec"), {}, "Stopped"),
    (told(READY), {"annotations": {"serving.kserve.io/stop": "false"}}, "Ready"),
    (told(DOWN, condition("Stopped", "False")), {}, "Not ready"),
    (told(READY, transition="InvalidSpec"), {}, "Failed"),
    (told(READY, transition="BlockedByFailedLoad", failure=PRESSED), {}, "Failed"),
    (told(OPEN, transition="InProgress", target="FailedToLoad"), {}, "Failed"),
    (told(READY, transition="UpToDate", target="Loaded", failure=PRESSED), {}, "Ready"),
    (told(READY, observedGeneration=1), {"generation": 2}, "Ready"),
    (told(OPEN), {}, "Progressing"),
    (told(DOWN, transition="InProgress", target="Loading"), {}, "Progressing"),
    (told(DOWN, observedGeneration=1), {"generation": 2}, "Progressing"),
    (told(DOWN, observedGeneration=2), {"generation": 2}, "Not ready"),
    (told(condition("PredictorReady", "False")), {}, "Not ready"),
    (told(OPEN, condition("PredictorReady", "False")), {}, "Not ready"),
    ({}, {}, "Progressing"),
    (None, {}, "Progressing"),
]


def test_states() -> None:
    con = quick([service(f"s{place:02}", status=status, **metadata) for place, (status, metadata, _) in enumerate(STATES)])
    found = rows(con, "SELECT state FROM states WHERE kind = 'InferenceService' ORDER BY name")
    assert [row["state"] for row in found] == [state for _, _, state in STATES]


BLAMED: list[tuple[list[dict[str, Any]], str | None]] = [
    ([DOWN, condition("IngressReady", "False"), condition("TransformerReady", "False")], "TransformerReady"),
    ([DOWN, condition("IngressReady", "False"), condition("PredictorRouteReady", "False")], "PredictorRouteReady"),
    ([condition("RoutesReady", "False"), condition("LatestDeploymentReady", "False")], "LatestDeploymentReady"),
    (
        [condition("LatestDeploymentReady", "False"), condition("ExplainerConfigurationReady", "False")],
        "ExplainerConfigurationReady",
    ),
    ([condition("TransformerConfigurationeReady", "False"), DOWN], "TransformerConfigurationeReady"),
    # One that is not sure is only to blame where none says no.
    ([condition("PredictorReady", "Unknown"), condition("IngressReady", "False"), DOWN], "IngressReady"),
    ([condition("PredictorReady", "Unknown"), OPEN], "PredictorReady"),
    ([DOWN, condition("PredictorReady", "True")], "Ready"),
    ([condition("Unheard", "False")], None),
]


def test_the_most_basic_condition_is_to_blame() -> None:
    con = quick([service(f"s{place:02}", status=told(*conditions)) for place, (conditions, _) in enumerate(BLAMED)])
    found = rows(con, "SELECT blamed FROM kserve_services ORDER BY name")
    assert [row["blamed"] for row in found] == [blamed for _, blamed in BLAMED]


def test_a_failure_in_force_speaks_with_its_own_words_else_with_a_condition() -> None:
    refused = condition("PredictorReady", "False", "MinimumReplicasUnavailable", "no replica")
    con = quick(
        [
            service("a", status=told(refused, DOWN, transition="BlockedByFailedLoad", failure=PRESSED)),
            service("b", status=told(refused, DOWN, target="FailedToLoad", failure={"reason": "ModelLoadFailed"})),
            service("c", status=told(target="FailedToLoad")),
            service("d", status=told(READY, transition="UpToDate", target="Loaded", failure=PRESSED)),
        ]
    )
    query = "SELECT name, blamed, blamed_path, reason, message, stale_failure FROM kserve_services ORDER BY name"
    assert [tuple(row.values()) for row in rows(con, query)] == [
        ("a", "modelStatus", "status.modelStatus.lastFailureInfo.message", "ModelLoadFailed", "no such file", False),
        ("b", "PredictorReady", "status.conditions[0].message", "ModelLoadFailed", "no replica", False),
        ("c", "modelStatus", "status.modelStatus.states.targetModelState", "FailedToLoad", None, False),
        ("d", None, None, None, None, True),
    ]


def config(namespace: str, mode: str) -> dict[str, Any]:
    data = {"deploy": f'{{"defaultDeploymentMode": "{mode}"}}'}
    return thing("v1", "ConfigMap", "inferenceservice-config", namespace, data=data)


@pytest.mark.parametrize(
    ("status", "annotation", "configs", "mode", "source"),
    [
        ("RawDeployment", "Serverless", [], "Standard", "status"),
        ("", "RawDeployment", [config("kserve", "Serverless")], "Standard", "annotation"),
        ("", "Serverless", [], "Knative", "annotation"),
        ("", "odd", [config("kserve", "Serverless")], "Knative", "config"),
        ("", "", [config("kserve", "Standard"), config("other", "Knative")], "Standard", "config"),
        ("", "", [config("one", "Standard"), config("other", "RawDeployment")], "Standard", "config"),
        ("", "", [config("one", "Standard"), config("other", "Knative")], None, None),
        ("", "", [config("kserve", "nonsense")], None, None),
        ("", "", [thing("v1", "ConfigMap", "inferenceservice-config", data={"deploy": "{"})], None, None),
        ("", "", [], None, None),
    ],
)
def test_mode(status: str, annotation: str, configs: list[Any], mode: str | None, source: str | None) -> None:
    marks = {"annotations": {"serving.kserve.io/deploymentMode": annotation}} if annotation else {}
    con = quick([service("cone", status=told(READY, deploymentMode=status), **marks), *configs])
    assert one(con, "SELECT mode, mode_source FROM kserve_services") == {"mode": mode, "mode_source": source}


def test_the_configuration_beside_the_controller_counts_and_its_image_has_the_version() -> None:
    image = "registry.example/kserve-controller:v0.15.2-rc1@sha256:0123"
    spec = {"template": {"spec": {"containers": [{"image": "proxy:v9.9.9"}, {"image": image}]}}}
    manager = thing("apps/v1", "Deployment", "kserve-controller-manager", "ai", spec=spec)
    con = quick([service("cone"), manager, config("kserve", "Serverless"), config("ai", "RawDeployment")])
    assert one(con, "SELECT mode, controller FROM kserve_services") == {"mode": "Standard", "controller": "0.15.2"}


PREDICTORS: list[tuple[Any, str | None, str | None, str | None]] = [
    ({"model": {"modelFormat": {"name": "onnx"}, "storageUri": "gs://shelf/x"}}, "onnx", "v1", "gs://shelf/x"),
    ({"sklearn": {"storageUri": "s3://a/b"}}, "sklearn", "v1", "s3://a/b"),
    ({"triton": {"storageUri": "s3://a/b"}}, "triton", "v2", "s3://a/b"),
    ({"huggingface": {"protocolVersion": "v1"}}, "huggingface", "v1", None),
    ({"model": {"modelFormat": {"name": "triton"}}}, "triton", "v1", None),
    ({"model": {"modelFormat": {"name": "onnx"}, "storage": {"path": "m/x", "parameters": {"k": "v"}}}}, "onnx", "v1",
     "m/x (of the storage configuration)"),
    ({"containers": [{}], "storageUris": [{"uri": "pvc://a/b"}, {"uri": "hf://o/m"}]}, None, None, "pvc://a/b, hf://o/m"),
    ({"model": {"modelFormat": {"name": "x"}, "storageUri": "https://u:p@h.example/m?sig=s#f"}}, "x", "v1", "https://h.example/m"),
    ({"model": {"modelFormat": {"name": "x"}, "storageUri": "m?sig=s"}}, "x", "v1", "m"),
    ({"model": {"modelFormat": {"name": "x"}, "storageUri": "oci://r.example/m@sha256:00ff"}}, "x", "v1",
     "oci://r.example/m@sha256:00ff"),
]  # fmt: skip


def test_what_the_predictor_asks_for() -> None:
    con = quick([service(f"s{place:02}", predictor) for place, (predictor, *_) in enumerate(PREDICTORS)])
    found = rows(
        con,
        "SELECT model_format, protocol, storage FROM kserve_services ORDER BY name",
    )
    assert [tuple(row.values()) for row in found] == [tuple(wanted) for _, *wanted in PREDICTORS]


def test_addresses_in_words_of_kserve_have_no_secrets() -> None:
    words = "cannot get https://u:p@h.example/m?sig=s"
    objects = [
        service("a", status=told(condition("PredictorReady", "False", "x", words), DOWN)),
        service("b", status=told(transition="InvalidSpec", failure={"reason": "x", "message": words})),
        service("c", status=told(READY, components={"predictor": {"url": "http://u:p@h.example/?q=1"}})),
        thing(V1ALPHA2, "LLMInferenceService", "d", spec={"model": {"uri": "https://u:p@h.example/m?sig=s"}},
              status={"url": "https://u:p@h.example/?sig=s", "conditions": [condition("Ready", "False", "x", words)]}),
        thing(V1ALPHA1, "InferenceGraph", "e", spec={"nodes": {"root": {"steps": [{"serviceUrl": "http://u:p@h.example/x?q=1"}]}}}),
        thing(V1ALPHA1, "TrainedModel", "f", spec={"model": {"storageUri": "s3://u:p@b/m?sig=s"}, "inferenceService": "a"}),
    ]  # fmt: skip
    con = quick(objects)
    for table in ("kserve_services", "kserve_components", "kserve_others", "kserve_references", "states"):
        held = str(rows(con, f"SELECT * FROM {table}"))
        assert "sig=" not in held
        assert "u:p" not in held
        assert "q=1" not in held


def test_a_runtime_of_another_namespace_is_no_candidate_and_lists_count_by_namespace() -> None:
    model = {"model": {"modelFormat": {"name": "onnx"}}}
    spec = {"supportedModelFormats": [{"name": "onnx", "autoSelect": True}]}
    objects = [service("cone", model), thing(V1ALPHA1, "ServingRuntime", "far", "field", spec=spec)]
    con = database(objects, lists=ALL)
    assert one(con, "SELECT choice FROM kserve_services")["choice"] == "none"
    assert rows(con, "SELECT * FROM kserve_candidates") == []
    # Nothing says that the runtimes of the cluster were looked at.
    con = database(objects, lists=ALL[:2])
    assert one(con, "SELECT choice FROM kserve_services")["choice"] == "cannot tell"


def test_edges_from_claim_runtime_pods_and_knative_to_the_service_and_on() -> None:
    labels = {"serving.kserve.io/inferenceservice": "cone", "component": "predictor"}
    model = {"model": {"modelFormat": {"name": "onnx"}, "storageUri": "pvc://shelf/m"}}
    objects = [
        service("cone", model, uid="u-cone"),
        thing("v1", "PersistentVolumeClaim", "shelf"),
        thing("v1", "PersistentVolumeClaim", "shelf", "field"),
        thing(V1ALPHA1, "ClusterServingRuntime", "r", "", spec={"supportedModelFormats": [{"name": "onnx", "autoSelect": True}]}),
        thing("v1", "Pod", "p", metadata={"labels": labels}, spec={}, status={"phase": "Running"}),
        thing("v1", "Pod", "t", metadata={"labels": labels | {"component": "transformer"}}, spec={}, status={"phase": "Running"}),
        thing("v1", "Pod", "p", "field", metadata={"labels": labels}, spec={}, status={"phase": "Running"}),
        thing("serving.knative.dev/v1", "Revision", "cone-predictor-00001", metadata={"labels": labels}),
        thing(V1ALPHA1, "InferenceGraph", "g", spec={"nodes": {"root": {"steps": [{"serviceName": "cone"}, {"nodeName": "x"}]}}}),
        thing(V1ALPHA1, "TrainedModel", "m", spec={"inferenceService": "gone", "model": {}}),
        # Of other projects.
        thing("ome.io/v1beta1", "InferenceService", "cone", metadata={"uid": "u-ome"}, spec={"predictor": model}),
    ]
    con = database(objects, lists=ALL)
    query = """
        SELECT s.kind || ' ' || s.name AS src, r.kind AS edge, d.kind || ' ' || d.name AS dst FROM relations r
        JOIN objects s ON s.object_id = r.src JOIN objects d ON d.object_id = r.dst
        WHERE r.kind IN ('serving', 'loader', 'runtime', 'pvc', 'step') AND 'ome.io' NOT IN (s.api_group, d.api_group)
        ORDER BY ALL
    """
    assert [tuple(row.values()) for row in rows(con, query)] == [
        ("ClusterServingRuntime r", "runtime", "InferenceService cone"),
        ("InferenceService cone", "loader", "Pod p"),
        ("InferenceService cone", "loader", "Revision cone-predictor-00001"),
        ("InferenceService cone", "step", "InferenceGraph g"),
        ("PersistentVolumeClaim shelf", "pvc", "InferenceService cone"),
        ("Pod p", "serving", "InferenceService cone"),
        ("Pod t", "serving", "InferenceService cone"),
        ("Revision cone-predictor-00001", "serving", "InferenceService cone"),
    ]
    found = rows(con, "SELECT what, name, missing FROM kserve_references ORDER BY name")
    assert [tuple(row.values()) for row in found] == [("service", "cone", False), ("service", "gone", True), ("node", "x", True)]


def test_the_owners_lead_from_a_pod_without_labels_to_its_service() -> None:
    def owned(kind: str, name: str, uid: str, api: str = "apps/v1") -> dict[str, Any]:
        return {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}]}

    objects = [
        service("cone", uid="u-cone"),
        thing("apps/v1", "Deployment", "d", metadata={"uid": "u-d"} | owned("InferenceService", "cone", "u-cone", V1BETA1)),
        thing("apps/v1", "ReplicaSet", "r", metadata={"uid": "u-r"} | owned("Deployment", "d", "u-d")),
        thing("v1", "Pod", "p", metadata=owned("ReplicaSet", "r", "u-r"), spec={}, status={"phase": "Running"}),
        # In a circle.
        thing("apps/v1", "ReplicaSet", "x", metadata={"uid": "u-x"} | owned("ReplicaSet", "x", "u-x")),
        thing("v1", "Pod", "q", metadata=owned("ReplicaSet", "x", "u-x"), spec={}, status={"phase": "Running"}),
    ]  # fmt: skip
    con = database(objects, lists=ALL)
    assert rows(con, "SELECT service_id, component FROM kserve_pods") == [{"service_id": 0, "component": ""}]


def test_traffic_and_components() -> None:
    status = told(
        READY,
        components={
            "predictor": {
                "url": "http://cone.example",
                "latestCreatedRevision": "r2",
                "latestReadyRevision": "r1",
                "traffic": [
                    {"revisionName": "r1", "percent": 90, "tag": "prev"},
                    {"revisionName": "r2", "percent": 10, "latestRevision": True},
                ],
            }
        },
        canaryStatuses=[{"name": "c", "ready": False, "trafficPercent": 5}],
    )  # fmt: skip
    con = quick([service("cone", {"canaryTrafficPercent": 10, "containers": []}, status)])
    found = rows(con, "SELECT revision, percent, latest, tag, ready FROM kserve_traffic ORDER BY percent DESC")
    assert [tuple(row.values()) for row in found] == [
        ("r1", 90, None, "prev", None),
        ("r2", 10, True, None, None),
        ("c", 5, None, None, False),
    ]
    assert one(con, "SELECT latest_created, latest_ready, url FROM kserve_components") == {
        "latest_created": "r2", "latest_ready": "r1", "url": "http://cone.example"
    }  # fmt: skip
    assert one(con, "SELECT canary_percent FROM kserve_services")["canary_percent"] == 10


LLM: list[tuple[list[str], str]] = [
    (["RouterReady", "GatewaysReady", "PresetsCombined", "MainWorkloadReady"], "PresetsCombined"),
    (["RouterReady", "GatewaysReady", "PrefillWorkloadReady", "WorkloadsReady"], "PrefillWorkloadReady"),
    (["RouterReady", "TokenizerReady", "HTTPRoutesReady"], "HTTPRoutesReady"),
    (["Ready"], "Ready"),
]


def test_an_llm_service_is_judged_from_the_ground_up() -> None:
    told_by = [{"conditions": [condition(kind, "False") for kind in conditions]} for conditions, _ in LLM]
    con = quick(
        [thing(V1ALPHA2, "LLMInferenceService", f"s{place}", spec={}, status=status) for place, status in enumerate(told_by)]
    )
    assert [tuple(row.values()) for row in rows(con, "SELECT blamed, state FROM kserve_others ORDER BY name")] == [
        (blamed, "Not ready") for _, blamed in LLM
    ]


WORDS = ["True", "False", "FailedToLoad", "InvalidSpec", "v1"]
KEYS = [
    "predictor", "model", "modelFormat", "name", "conditions", "type", "status", "modelStatus", "states", "nodes", "steps",
    "traffic", "components", "supportedModelFormats", "protocolVersions", "storageUri", "lastFailureInfo", "targetModelState",
    "baseRefs",
]  # fmt: skip
KINDS = ["InferenceService", "ServingRuntime", "LLMInferenceService", "InferenceGraph", "TrainedModel"]
PLAIN = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=5) | st.sampled_from(WORDS)
JSON = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), JSON, JSON), min_size=1, max_size=4))
def test_anything_at_all_may_stand_in_an_object(found: list[tuple[str, Any, Any]]) -> None:
    objects = [thing(V1ALPHA1, kind, f"o{place}", spec=spec, status=status) for place, (kind, spec, status) in enumerate(found)]
    con = quick(objects)
    expected = sum(kind != "ServingRuntime" for kind, _, _ in found)
    assert one(con, "SELECT count(*) AS n FROM states WHERE api_group = 'serving.kserve.io'")["n"] == expected
