"""Rows, issues, states and warnings of the report, vector by vector."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from analyzer.ome.explain import NoComponentError, digest
from analyzer.ome.world import Absence, Thing
from tests.ome.pond import chosen, codes, container, revision, row, run, runtime, service, text, thing, wide

LACK, WRONG = ["SelectionNotReported"], ["DeclaredClassInvalid"]
H100 = {"acceleratorClass": "marsh-100"}


def klass(name: str = "marsh-100") -> Thing:
    return thing("AcceleratorClass", name, spec={})


def test_a_class_and_no_selection() -> None:
    three = runtime(engineConfig={"runner": container({"nvidia.com/gpu": 4, "memory": "160Gi", "cpu": "10"})})
    found = run(service(acceleratorSelector=H100), three)
    assert row(found) == "Explicit | marsh-100 | Missing | base:cpu=10,+2 | 1"
    assert codes(found) == ["SelectionNotReported"]
    assert (found.report.state, found.report.warnings) == ("Partial", ("PartialData",))
    assert wide(found, "INTENT", "engine") == [("MODE", "Class", "Declared"), ("CLASS", "marsh-100", "Declared/Service")]
    assert wide(found, "REQUEST", "engine") == [
        ("BASE_STATE", "Available", "Computed"),
        ("BASE", "cpu=10,memory=160Gi,nvidia.com/gpu=4", "Computed"),
        ("EFFECTIVE_STATE", "Unavailable", "Unavailable"),
    ]
    assert wide(found, "SOURCE") == [
        ("ClusterServingRuntime", "NAME", "skiff", "Observed"),
        ("ClusterServingRuntime", "GENERATION", "2", "Observed"),
        ("ClusterServingRuntime", "COLLECTED_AT", "2026-11-01T12:00:00Z", "Observed"),
        ("InferenceService", "NAME", "pond/heron", "Observed"),
        ("InferenceService", "GENERATION", "4", "Observed"),
        ("InferenceService", "COLLECTED_AT", "2026-11-01T12:00:00Z", "Observed"),
    ]


@pytest.mark.parametrize(
    ("observed", "cells", "code", "state", "warnings"),
    [
        (3, "Unavail", "StatusStale", "Partial", ("PartialData", "StaleEvidence")),
        (-1, "Unavail", "StatusStale", "Partial", ("PartialData", "StaleEvidence")),
        (0, "Unavail", "StatusUnobserved", "Partial", ("PartialData",)),
        (None, "Unavail", "StatusUnobserved", "Partial", ("PartialData",)),
        (5, "Invalid", "StatusInvalid", "Invalid", ("PartialData",)),
    ],
)
def test_freshness(observed: int | None, cells: str, code: str, state: str, warnings: tuple[str, ...]) -> None:
    found = run(service(acceleratorSelector=H100, status={"observedGeneration": observed}))
    assert row(found) == f"Explicit | marsh-100 | {cells} | base:cpu=2 | 1"
    assert (codes(found), found.report.state, found.report.warnings) == ([code], state, warnings)


def test_nothing_is_asked_for_whatever_the_status_says() -> None:
    for observed, word in ((4, "Current"), (3, "Stale"), (9, "Invalid")):
        found = run(service(status={"observedGeneration": observed}, annotations={"ome.io/accelerator-class": "marsh-100"}))
        assert row(found) == "- | - | None | base:cpu=2 | 0"
        assert (found.report.state, found.report.freshness, found.report.warnings) == ("NotConfigured", word, ())


def test_an_override_goes_before_the_service() -> None:
    both = service(acceleratorSelector={"policy": "Cheapest"}, decoder={"acceleratorOverride": {"acceleratorClass": "marsh-200"}})
    found = run(both)
    assert [row(found, 0), row(found, 1)] == [
        "Cheapest | - | Missing | base:cpu=2 | 1",
        "Explicit | marsh-200 | Missing | base:cpu=2 | 1",
    ]
    assert wide(found, "INTENT", "decoder") == [
        ("MODE", "Class", "Declared"),
        ("POLICY", "Cheapest", "Declared/Service"),
        ("CLASS", "marsh-200", "Declared/Component"),
    ]


@pytest.mark.parametrize(
    ("selector", "cells", "issues", "state"),
    [
        ({"policy": "FirstAvailable"}, "FirstAvail | - | Missing | base:cpu=2 | 1", ["SelectionNotReported"], "Partial"),
        ({"acceleratorClass": ""}, "- | - | Missing | base:cpu=2 | 2", [*WRONG, "SelectionNotReported"], "Invalid"),
        (
            {"acceleratorClass": "Bad_Name", "policy": "BestFit"},
            "BestFit | - | Missing | base:cpu=2 | 2",
            ["DeclaredClassInvalid", "SelectionNotReported"],
            "Invalid",
        ),
        ({"policy": "Biggest"}, "- | - | Missing | base:cpu=2 | 2", ["PolicyInvalid", "SelectionNotReported"], "Invalid"),
        (
            {"acceleratorClass": "marsh-100", "policy": "Biggest"},
            "- | marsh-100 | Missing | base:cpu=2 | 2",
            ["PolicyInvalid", "SelectionNotReported"],
            "Invalid",
        ),
        ({"constraints": {"minMemory": 80}}, "- | - | None | base:cpu=2 | 0", [], "NotConfigured"),
        ({"acceleratorClass": "one-accelerator-long"}, "Explicit | one-acc...r-long | Missing | base:cpu=2 | 1", LACK, "Partial"),
    ],
)  # fmt: skip
def test_what_is_asked_for(selector: dict[str, Any], cells: str, issues: list[str], state: str) -> None:
    found = run(service(acceleratorSelector=selector))
    assert (row(found), codes(found), found.report.state) == (cells, issues, state)


def test_a_virtual_deployment_reads_no_runtime() -> None:
    virtual = {"ome.io/deploymentMode": "VirtualDeployment"}
    found = run(service(acceleratorSelector={"policy": "Cheapest"}, annotations=virtual, status={"observedGeneration": 1}))
    assert row(found) == "Cheapest | - | Unavail | base:Unknown | 1"
    assert codes(found) == ["ActiveConfigurationUnavailable"]
    assert found.report.warnings == ("PartialData", "SourceUnavailable")
    assert [source.kind for source in found.report.sources] == ["InferenceService"]


def test_neither_model_nor_runtime() -> None:
    found = run(service(model=None, runtime=None))
    assert row(found) == "- | - | None | base:Unknown | 1"
    assert ("EFFECTIVE_STATE", "NotConfigured", "Declared") in wide(found, "REQUEST", "engine")


@pytest.mark.parametrize(
    ("name", "amount", "cell"),
    [
        ("nvidia.com/gpu", "4", "base:nvidia.com..."),
        ("memory", "160Gi", "base:memory=160Gi"),
        ("a", "1", "base:a=1"),
    ],
)
def test_one_request_is_cut_with_its_prefix(name: str, amount: str, cell: str) -> None:
    found = run(service(), runtime(engineConfig={"runner": container({name: amount})}))
    assert row(found).split(" | ")[3] == cell


def test_the_list_is_cut_twice() -> None:
    two = runtime(engineConfig={"runner": container({"memory": "160Gi", "x": "1"})})
    eight = runtime(engineConfig={"runner": container({"amd.com/gpu": "8", "cpu": "1", "memory": "1"})})
    assert row(run(service(), two)).split(" | ")[3] == "base:memory=160..."
    assert row(run(service(), eight)).split(" | ")[3] == "base:amd.com/gp..."


@pytest.mark.parametrize(
    "requests", [{"cpu": "-1"}, {f"pond.example/r{number}": 1 for number in range(65)}, {"a b": 1}, {"-x": 1}]
)
def test_requests_that_are_not_valid(requests: dict[str, Any]) -> None:
    found = run(service(acceleratorSelector=H100), runtime(engineConfig={"runner": container(requests)}))
    assert row(found) == "Explicit | marsh-100 | Missing | base:Invalid | 2"
    assert (codes(found), found.report.state) == (["RequestsInvalid", "SelectionNotReported"], "Invalid")
    assert "BASE " not in "".join(cells[0] + " " for cells in wide(found, "REQUEST", "engine"))


def test_a_full_selection() -> None:
    reported = chosen(
        acceleratorClass="marsh-a", reason="selected by policy", resourceRequests={"memory": "8192Mi", "example.com/gpu": "1"}
    )
    found = run(service(acceleratorSelector={"policy": "Cheapest"}, status=reported), klass("marsh-a"))
    assert row(found) == "Cheapest | marsh-a | Reported | example.com/gpu... | 0"
    assert (found.report.state, found.report.warnings, codes(found)) == ("Reported", (), [])
    assert wide(found, "SELECTION", "engine", "REASON_DIGEST") == [("rs1:09963eb2e26c", "Reported/Redacted")]
    assert wide(found, "REQUEST", "engine", "EFFECTIVE") == [("example.com/gpu=1,memory=8Gi", "Reported")]
    assert [source.kind for source in found.report.sources] == ["AcceleratorClass", "ClusterServingRuntime", "InferenceService"]
    assert "selected by policy" not in text(found)


@pytest.mark.parametrize(
    ("fields", "cell", "issues"),
    [
        ({}, "base:cpu=2", ["RequestsNotReported"]),
        ({"resourceRequests": {}}, "base:cpu=2", []),
        ({"resourceRequests": {"cpu": "3"}}, "cpu=3", []),
    ],
)
def test_reported_requests(fields: dict[str, Any], cell: str, issues: list[str]) -> None:
    found = run(service(acceleratorSelector=H100, status=chosen(acceleratorClass="marsh-100", **fields)), klass())
    assert (row(found).split(" | ")[3], codes(found)) == (cell, issues)


def test_reported_and_empty_over_an_empty_base() -> None:
    empty = runtime(engineConfig={"runner": container()})
    none = chosen(acceleratorClass="marsh-100", resourceRequests={})
    found = run(service(acceleratorSelector=H100, status=none), empty, klass())
    assert row(found) == "Explicit | marsh-100 | Reported | Reported | 0"
    assert row(run(service(), empty)) == "- | - | None | None | 0"
    assert row(run(service(acceleratorSelector=H100), empty)).split(" | ")[3] == "Unknown"
    late = service(acceleratorSelector=H100, status={"observedGeneration": 9})
    assert row(run(late, empty)).split(" | ")[3] == "Invalid"


@pytest.mark.parametrize(
    ("absence", "state", "reason"),
    [
        ("not-found", "NotFound", "NotFound"),
        ("forbidden", "Forbidden", "Forbidden"),
        ("unsupported", "UnsupportedAPI", "UnsupportedAPI"),
        ("not-collected", "Unreadable", "Unreadable"),
        ("failed", "Unreadable", "Unreadable"),
    ],
)
def test_a_reported_class_that_is_not_at_hand(absence: Absence, state: str, reason: str) -> None:
    status = chosen(acceleratorClass="marsh-9", resourceRequests={})
    found = run(service(acceleratorSelector={"policy": "Cheapest"}, status=status), absent={"AcceleratorClass": absence})
    assert row(found).startswith("Cheapest | marsh-9 | Reported")
    assert codes(found) == [f"Class{state}"]
    assert wide(found, "CLASS", "engine") == [("STATE", state, "Unavailable"), ("NAME", "marsh-9", "Unavailable")]
    assert wide(found, "SOURCE", "AcceleratorClass", "UNAVAILABLE_REASON") == [(reason, "Unavailable")]
    assert wide(found, "SOURCE", "AcceleratorClass", "GENERATION") == [("-", "Unavailable")]
    assert "SourceUnavailable" in found.report.warnings


def test_a_class_object_that_is_malformed() -> None:
    status = chosen(acceleratorClass="marsh-100", resourceRequests={})
    broken = thing("AcceleratorClass", "marsh-100", meta={"uid": ""})
    found = run(service(acceleratorSelector=H100, status=status), broken)
    assert (codes(found), found.report.state) == (["ClassInvalid"], "Invalid")
    assert wide(found, "SOURCE", "AcceleratorClass", "UNAVAILABLE_REASON") == [("MalformedPayload", "Unavailable")]


@pytest.mark.parametrize(
    ("fields", "issues"),
    [
        ({"acceleratorClass": "ghp_x", "resourceRequests": {"cpu": "-1"}}, ["ClassInvalid", "RequestsInvalid"]),
        ({"acceleratorClass": "marsh-100", "nodeSelector": {"a": "wet!"}, "resourceRequests": {}}, ["NodeSelectorInvalid"]),
        ({"acceleratorClass": "marsh-100", "nodeSelector": {f"k{n}": "" for n in range(65)}}, ["NodeSelectorInvalid"]),
        ({"resourceRequests": {"cpu": "1" * 129}}, ["ClassInvalid", "RequestsInvalid"]),
    ],
)
def test_nothing_of_a_malformed_selection_is_shown(fields: dict[str, Any], issues: list[str]) -> None:
    found = run(service(acceleratorSelector={"policy": "Cheapest"}, status=chosen(reason="tok-en", **fields)))
    assert row(found) == f"Cheapest | - | Invalid | base:cpu=2 | {len(issues)}"
    assert (codes(found), found.report.state) == (issues, "Invalid")
    for form in ("wide", "json", "yaml"):
        assert not any(secret in text(found, form) for secret in ("ghp_x", "tok-en", "wet!", digest("tok-en")))


def test_a_selection_that_nobody_asked_for() -> None:
    status = chosen(acceleratorClass="marsh-100", resourceRequests={})
    assert codes(run(service(status=status), klass())) == ["SelectionUnexpected"]
    late = service(status=status | {"observedGeneration": 3})
    assert codes(run(late)) == ["StatusStale"]
    gone = service(status=status, runtime={"name": "none", "kind": "ClusterServingRuntime"})
    assert codes(run(gone)) == ["ActiveConfigurationUnavailable", "SelectionUnexpected"]


def test_a_router_issue_counts_in_every_row() -> None:
    found = run(service(decoder={}, status=chosen("router", acceleratorClass="x")))
    assert [row(found, 0)[-1], row(found, 1)[-1]] == ["1", "1"]
    assert wide(found, "ISSUE") == [("router", "UnexpectedComponentEvidence", "-", "Computed")]
    assert wide(run(service(status=chosen("predictor", acceleratorClass="x"))), "ISSUE") == [
        ("-", "UnexpectedComponentEvidence", "-", "Computed")
    ]


def test_a_decoder_alone_and_neither() -> None:
    found = run(service(engine=None, decoder={}))
    assert (row(found), codes(found)) == ("- | - | None | base:Unknown | 1", ["ActiveConfigurationUnavailable"])
    with pytest.raises(NoComponentError, match="project accelerator explain report: accelerator projection evidence is invalid"):
        run(service(engine=None, router={}))
    with pytest.raises(NoComponentError, match="resolve virtual accelerator evidence"):
        run(service(engine=None, annotations={"ome.io/deploymentMode": "VirtualDeployment"}))


def test_an_inconsistent_pin_shows_both_issues() -> None:
    pinned = service(
        acceleratorSelector=H100,
        runtime={"name": "skiff", "kind": "ClusterServingRuntime", "autoSync": False},
        status={"pinnedRevisionName": "cr-skiff-0a1b2c3d"},
    )
    found = run(pinned, revision(by=""))
    assert row(found) == "Explicit | marsh-100 | Missing | base:Unknown | 3"
    assert codes(found) == ["ActiveRevisionInconsistent", "BaseRequestsUnavailable", "SelectionNotReported"]
    assert wide(found, "SOURCE", "ControllerRevision") == [
        ("NAME", "ome/cr-skiff-0a1b2c3d", "Observed"),
        ("GENERATION", "-", "Observed"),
        ("COLLECTED_AT", "2026-11-01T12:00:00Z", "Observed"),
    ]


def test_json_and_yaml_say_the_same_and_keep_their_lists() -> None:
    found = run(service())
    report = json.loads(text(found, "json"))
    assert list(report) == ["apiVersion", "kind", "metadata", "collectedAt", "sources", "content", "warnings"]
    assert (report["kind"], report["warnings"], report["content"]["issues"]) == ("AcceleratorExplainReport", [], [])
    component = report["content"]["components"][0]
    assert component == {
        "type": "engine",
        "intent": {"state": "NotConfigured"},
        "selection": {"state": "NotConfigured", "reason": {"state": "NotReported"}},
        "class": {"state": "NotRequested"},
        "requests": {
            "baseState": "Available",
            "base": [{"name": "cpu", "quantity": "2"}],
            "effectiveState": "NotConfigured",
            "effective": [],
        },
        "issues": [],
    }
    assert yaml.load(text(found, "yaml"), Loader=yaml.BaseLoader)["kind"] == "AcceleratorExplainReport"
    assert text(found, "json").endswith("}\n")


def test_columns_have_three_blanks_between_and_none_at_the_end() -> None:
    lines = text(run(service(acceleratorSelector=H100)), "table").splitlines()
    assert lines == [
        "COMP     POLICY     CLASS       SEL       REQUESTS     ISS",
        "engine   Explicit   marsh-100   Missing   base:cpu=2   1",
    ]
