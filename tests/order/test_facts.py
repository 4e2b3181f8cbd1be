"""Orders by their shape, the reading of their conditions, states, edges; objects of any shape."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.facts.build import database

API, ANOTHER = "ai.deckhouse.io/v1alpha1", "models.example.org/v1"
AT = "2026-11-01T10:00:00Z"
TYPES = ("ClassResolved", "ModelResolved", "Planned", "WorkloadReady", "Ready")


def said(kind: str, status: str = "True", reason: str = "Done", message: str = "", **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": AT} | more


def order(
    *conditions: dict[str, Any], api: str = API, phase: str | None = None, spec: Any = None, **status: Any
) -> dict[str, Any]:
    body = {"conditions": list(conditions)} | ({"phase": phase} if phase else {}) | status
    default = {"inferenceServiceClassName": "plain", "model": {"src": "HuggingFace", "ref": {"name": "acme/weaver"}}}
    return {
        "apiVersion": api,
        "kind": "InferenceService",
        "metadata": {"name": "loom", "namespace": "mill", "generation": 1},
        "spec": default if spec is None else spec,
        "status": body,
    }


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return con.execute(query).fetchall()


def reasons(con: duckdb.DuckDBPyConnection) -> list[str]:
    return [name for (name,) in rows(con, "SELECT reason FROM order_reasons ORDER BY reason_id")]


@pytest.mark.parametrize("api", [API, ANOTHER])
def test_an_order_is_known_by_its_shape_in_any_group(api: str) -> None:
    con = database([order(said("ClassResolved", "False", "ClassNotFound"), api=api, phase="Failed")])
    assert rows(con, "SELECT api_group, name, class, source, model FROM orders") == [
        (api.split("/", maxsplit=1)[0], "loom", "plain", "HuggingFace", "acme/weaver")
    ]
    assert reasons(con) == ["ClassNotFound"]
    assert rows(con, "SELECT count(*) FROM custom_faults") == [(0,)]


@pytest.mark.parametrize("field", ["predictor", "transformer", "explainer", "engine", "decoder", "router"])
@pytest.mark.parametrize("api", [API, "serving.kserve.io/v1beta1", "ome.io/v1beta1", ANOTHER])
def test_services_of_others_are_no_orders(api: str, field: str) -> None:
    spec = {field: {}, "inferenceServiceClassName": "plain"}
    con = database([order(said("Ready", "False", "ClassNotFound"), api=api, spec=spec)])
    assert rows(con, "SELECT count(*) FROM orders") == [(0,)]
    assert reasons(con) == []


def test_conditions_of_orders_make_one_of_a_service_without_a_class() -> None:
    con = database(
        [order(said("ClassResolved"), said("Planned", "False", "NoCapacity"), api=ANOTHER, spec={"model": "acme/weaver"})]
    )
    assert rows(con, "SELECT class, source, model FROM orders") == [(None, None, "acme/weaver")]
    assert reasons(con) == ["NoCapacity"]


@pytest.mark.parametrize(
    ("model", "read"),
    [
        ({"src": "HuggingFace", "ref": {"name": "a/b"}}, ("HuggingFace", None, "a/b")),
        ({"source": "huggingface", "ref": "a/b"}, ("HuggingFace", None, "a/b")),
        ({"src": "ai-models", "ref": {"kind": "ClusterModel", "name": "m"}}, ("ai-models", "ClusterModel", "m")),
        ({"type": "AiModels", "name": "m", "kind": "Model"}, ("ai-models", "Model", "m")),
        ({"src": "Registry", "ref": {"repository": "x"}}, ("Registry", None, "x")),
        (7, (None, None, None)),
    ],
)
def test_sources_of_models_are_read_leniently(model: Any, read: tuple[str | None, ...]) -> None:
    con = database([order(spec={"inferenceServiceClassName": "plain", "model": model})])
    assert rows(con, "SELECT source, model_kind, model FROM orders") == [read]


def test_the_first_condition_that_is_not_true_counts_and_later_ones_follow() -> None:
    con = database(
        [
            order(
                said("ClassResolved"),
                said("ModelResolved"),
                said("Planned", "Unknown", "NoCapacity"),
                said("WorkloadReady", "False", "WorkloadNotReady"),
                said("Ready", "False", "NoCapacity"),
                phase="Pending",
            )
        ]
    )
    assert reasons(con) == ["NoCapacity"]
    ((told,),) = rows(con, "SELECT told FROM order_reasons")
    assert "repeated by: Ready" in told
    assert "WorkloadReady (WorkloadNotReady)" in told


def test_a_plan_in_force_is_passed_over_and_growth_stands_apart() -> None:
    con = database(
        [
            order(
                *(said(kind) for kind in TYPES[:2]),
                said("Planned", "False", "LaunchPlanInForce", "NoCapacity: full"),
                said("WorkloadReady"),
                said("Ready"),
                said("ScalingHealthy", "False", "ScaleUpBlocked"),
                phase="Degraded",
            )
        ]
    )
    assert reasons(con) == ["LaunchPlanInForce", "ScaleUpBlocked"]
    assert rows(con, "SELECT state, reason FROM states WHERE kind = 'InferenceService'") == [("Degraded", "ScaleUpBlocked")]


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ([said(kind) for kind in TYPES], "Ready"),
        ([said("Ready"), said("ScalingHealthy", "False", "ScaleUpBlocked")], "Degraded"),
        ([said("Planned", "False", "NoCapacity")], "Pending"),
        ([said("Planned", "False", "PlacementUndecidable")], "Failed"),
        ([], "Pending"),
    ],
)
def test_a_state_is_deduced_where_the_order_gives_none(conditions: list[dict[str, Any]], state: str) -> None:
    con = database([order(*conditions)])
    assert rows(con, "SELECT state FROM states WHERE kind = 'InferenceService'") == [(state,)]


def test_the_state_may_stand_under_another_key() -> None:
    con = database([order(said("Ready", "False", "ServiceUnhealthy"), state="failed")])
    assert rows(con, "SELECT state, phase FROM orders") == [("Failed", "Failed")]


def test_an_old_verdict_is_said_to_be_old() -> None:
    value = order(said("Planned", "False", "NoCapacity", observedGeneration=2))
    value["metadata"]["generation"] = 5
    con = database([value])
    ((old, told),) = rows(con, "SELECT old, told FROM order_reasons")
    assert old
    assert "generation 2" in told
    assert "generation 5" in told


def test_edges_from_class_and_model_to_the_order_and_from_it_to_its_pods() -> None:
    spec = {"inferenceServiceClassName": "plain", "model": {"src": "ai-models", "ref": {"kind": "ClusterModel", "name": "m"}}}
    owner = {"apiVersion": API, "kind": "InferenceService", "name": "loom", "uid": "u1"}
    service = order(said("Ready"), spec=spec)
    service["metadata"]["uid"] = "u1"
    con = database(
        [
            service,
            {"apiVersion": API, "kind": "InferenceServiceClass", "metadata": {"name": "plain"}, "spec": {}},
            {"apiVersion": API, "kind": "ClusterModel", "metadata": {"name": "m"}},
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "loom", "namespace": "mill", "uid": "u2", "ownerReferences": [owner]},
                "spec": {"replicas": 1},
                "status": {},
            },
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "loom-0",
                    "namespace": "mill",
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "loom", "uid": "u2"}],
                },
                "spec": {"containers": [{"name": "engine"}]},
                "status": {"phase": "Running"},
            },
        ]
    )
    ends = "JOIN objects a ON a.object_id = r.src JOIN objects b ON b.object_id = r.dst"
    found = set(rows(con, f"SELECT r.kind, a.kind, b.kind FROM relations r {ends}"))
    assert {
        ("order-class", "InferenceServiceClass", "InferenceService"),
        ("order-model", "ClusterModel", "InferenceService"),
        ("order", "InferenceService", "StatefulSet"),
        ("order", "InferenceService", "Pod"),
        ("order-pod", "Pod", "InferenceService"),
    } <= found


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "kind", "src", "ref", "type", "status", "reason", "message", "value", "allowedNamespaces", "conditions"]
            )
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=12, deadline=None)
@given(_ANY, _ANY, st.sampled_from(["InferenceService", "InferenceServiceClass", "ClusterModel", "PhysicalGPU"]))
def test_objects_of_any_shape_are_read(spec: Any, status: Any, kind: str) -> None:
    group = "gpu.deckhouse.io/v1alpha1" if kind == "PhysicalGPU" else API
    strange = {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": "strange", "namespace": "mill"},
        "spec": spec,
        "status": status,
    }
    con = database([strange, order(said("ClassResolved", "False", "ClassNotFound"), phase="Failed")])
    assert "ClassNotFound" in reasons(con)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*TYPES, "ScalingHealthy", "Other"]),
            st.sampled_from(["True", "False", "Unknown", ""]),
            st.text(max_size=30),
        ),
        max_size=7,
    )
)
def test_no_condition_makes_more_than_one_finding(conditions: list[tuple[str, str, str]]) -> None:
    con = database([order(*(said(kind, status, reason) for kind, status, reason in conditions))])
    found = rows(con, "SELECT condition FROM order_reasons WHERE reason <> 'StateDisagrees'")
    assert len(found) == len(set(found)) <= 3
