"""`runtime effective`: both views, pins, drift, sync, and every issue code that a bundle can show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.ome.runtime.contents import compare
from analyzer.ome.runtime.views import notes, render, wide_rows
from analyzer.ome.world import Thing
from tests.ome.lake import cells, effect, issues
from tests.ome.pond import AT, container, model, revision, runtime, service

NAME, OTHER = "cr-skiff-0a1b2c3d", "cr-skiff-0000000f"


def pinned(name: str = NAME, *, explicit: str = "", **fields: Any) -> Thing:
    """A service that does not follow its runtime."""
    reference = {"name": "skiff", "kind": "ClusterServingRuntime", "autoSync": False}
    if explicit:
        reference["revision"] = explicit
    status = {"pinnedRevisionName": name} if name else {}
    return service(runtime=reference | fields.pop("reference", {}), status=status | fields.pop("status", {}), **fields)


def test_a_service_that_follows_its_runtime() -> None:
    assert cells(effect(service())) == {
        ("Live", "STATE"): "Available",
        ("Live", "RUNTIME"): "CSR/skiff",
        ("Live", "ENGINE"): "RawDeployment (Default)",
        ("Active", "STATE"): "Available",
        ("Active", "RUNTIME"): "CSR/skiff",
        ("Active", "ENGINE"): "RawDeployment (Default)",
        ("Service", "PIN"): "AutoSync/NotApplicable",
        ("Service", "SYNC"): "Absent",
        ("Service", "STATUS"): "Current",
        ("Service", "DRIFT"): "NotReported",
        ("Service", "LIVE-RELATION"): "Equal",
        ("Service", "ISSUE"): "DeclaredCompatibilityMismatch",
    }


def test_a_pin_that_resolves_shows_what_it_holds_and_an_unverified_hash() -> None:
    found = effect(pinned(), revision())
    told = cells(found)
    assert (told["Active", "REVISION"], told["Active", "HASH"]) == (NAME, "0a1b2c3d")
    assert ("Live", "HASH") not in told
    assert told["Service", "PIN"] == "ManagedPin/Resolved"
    assert told["Service", "LIVE-RELATION"] == "Different"
    assert issues(found) == []
    assert "hash 0a1b2c3d is that on the label of the revision: it cannot be computed from a bundle" in notes(found)
    same = {"engineConfig": {"runner": container({"cpu": "2"})}, "decoderConfig": {"runner": container({"cpu": "2"})}}
    assert cells(effect(pinned(), revision(spec=same)))["Service", "LIVE-RELATION"] == "Equal"


@pytest.mark.parametrize(
    ("own", "held", "pin", "reason", "codes"),
    [
        (pinned(""), (), "ManagedPin/AwaitingPin", "", ["ActiveRevisionUnreported"]),
        (pinned(explicit=NAME), (revision(),), "ExplicitPin/Resolved", "", []),
        (
            pinned(OTHER, explicit=NAME),
            (revision(), revision(OTHER, {}, revision_hash="0000000f")),
            "ExplicitPin/DesiredReportedMismatch",
            "",
            [],
        ),
        (pinned(), (), "ManagedPin/RevisionMissing", "NotFound", ["ActiveRevisionUnavailable", "RevisionNotFound"]),
        (
            pinned(),
            (revision(spec={"disabled": True}),),
            "ManagedPin/RevisionDisabled",
            "Disabled",
            ["ActiveRevisionUnavailable", "RevisionDisabled"],
        ),
        (
            pinned(),
            (revision(spec="x"),),
            "ManagedPin/RevisionInvalid",
            "MalformedPayload",
            ["ActiveRevisionUnavailable", "RevisionPayloadMalformed"],
        ),
        (
            pinned(explicit=NAME),
            (revision(runtime_of="raft"),),
            "ExplicitPin/RevisionInvalid",
            "MalformedPayload",
            ["ActiveRevisionUnavailable", "RevisionNameMismatch", "RevisionSourceMismatch"],
        ),
        (
            pinned(reference={"kind": "Boat"}),
            (revision(),),
            "InvalidPin/InvalidIntent",
            "MalformedPayload",
            ["InvalidDeclaredKind"],
        ),
        (
            pinned(),
            (revision(spec={"engineConfig": {}, "sail": 1}),),
            "ManagedPin/Resolved",
            "",
            ["RevisionPayloadNonCanonical"],
        ),
        (
            pinned(),
            (revision(), Thing(*revision().key, revision(by="somebody").value)),
            "ManagedPin/Resolved",
            "",
            ["ConflictingRevision", "RevisionNotOMEManaged"],
        ),
        (
            pinned(),
            (revision(spec="x", revision_hash="?"),),
            "ManagedPin/RevisionInvalid",
            "MalformedPayload",
            ["ActiveRevisionUnavailable", "RevisionPayloadMalformed"],
        ),
        # A name is only compared with one that the labels can make.
        (pinned(), (revision(runtime_of_kind=""),), "ManagedPin/Resolved", "", ["RevisionSourceMismatch"]),
        (pinned(), (revision(runtime_of_namespace="ome"),), "ManagedPin/Resolved", "", ["RevisionSourceMismatch"]),
        (pinned(), (revision(runtime_of=""),), "ManagedPin/Resolved", "", ["RevisionSourceMismatch"]),
    ],
)
def test_states_of_pins(own: Thing, held: tuple[Thing, ...], pin: str, reason: str, codes: list[str]) -> None:
    found = effect(own, *held)
    told = cells(found)
    assert (told["Service", "PIN"], told.get(("Active", "REASON"), ""), issues(found)) == (pin, reason, codes)
    assert told["Live", "STATE"] == "Available"


@pytest.mark.parametrize(
    ("held", "code"),
    [
        (revision(by="somebody"), "RevisionNotOMEManaged"),
        (revision(runtime_of="raft"), "RevisionSourceMismatch"),
        (revision(runtime_of_kind="Boat"), "RevisionSourceMismatch"),
        (revision(runtime_of_namespace="pond"), "RevisionSourceMismatch"),
        (revision(number=2), "RevisionOrdinalUnexpected"),
        (revision(revision_hash="XYZ"), "RevisionHashInvalid"),
        (revision(revision_hash="ffffffff"), "RevisionNameMismatch"),
    ],
)
def test_a_revision_that_contradicts_itself_is_in_force_all_the_same(held: Thing, code: str) -> None:
    found = effect(pinned(), held)
    assert (code, NAME) in found.issues
    assert cells(found)["Service", "PIN"] == "ManagedPin/Resolved"


def test_two_revisions_that_hold_the_same_or_share_a_hash() -> None:
    twin = revision(OTHER, revision_hash="0000000f")
    found = effect(pinned(OTHER, explicit=NAME), revision(), twin)
    assert [pair for pair in found.issues if pair[0] == "DuplicateRevisionContent"] == [
        ("DuplicateRevisionContent", OTHER),
        ("DuplicateRevisionContent", NAME),
    ]
    clash = effect(pinned(OTHER, explicit=NAME), revision(), revision(OTHER, {}))
    assert ("RevisionHashCollision", NAME) in clash.issues
    assert not clash.active.hash


def test_a_runtime_that_is_not_there_is_told_from_one_that_nobody_looked_for() -> None:
    gone = effect(service(), model(), bare=True)
    assert cells(gone)["Live", "REASON"] == "NotFound"
    assert cells(gone)["Active", "REASON"] == "NotFound"
    assert cells(gone)["Live", "RUNTIME"] == "CSR/skiff"
    assert issues(gone) == ["InheritanceUnavailable", "LiveRuntimeUnavailable"]
    for absence, reason in (("not-collected", "Unreadable"), ("forbidden", "Forbidden"), ("unsupported", "UnsupportedAPI")):
        lost = effect(service(), model(), bare=True, absent={"ClusterServingRuntime": absence})  # type: ignore[dict-item]
        assert (cells(lost)["Live", "REASON"], cells(lost)["Service", "PIN"]) == (reason, "AutoSync/Unavailable")
    assert (
        "ClusterServingRuntime skiff was not collected"
        in notes(effect(service(), model(), bare=True, absent={"ClusterServingRuntime": "not-collected"}))[0]
    )


def test_a_pin_outlives_its_runtime_but_not_one_that_is_disabled() -> None:
    orphan = effect(pinned(), model(), revision(), bare=True)
    assert cells(orphan)["Service", "PIN"] == "ManagedPin/Resolved"
    assert cells(orphan)["Service", "LIVE-RELATION"] == "Unknown"
    off = effect(pinned(), runtime(disabled=True), revision())
    assert (cells(off)["Active", "REASON"], cells(off)["Service", "PIN"]) == ("Disabled", "ManagedPin/Unavailable")
    waiting = effect(pinned(""), model(), bare=True)
    assert (cells(waiting)["Active", "REASON"], cells(waiting)["Service", "PIN"]) == ("Unreadable", "ManagedPin/Unavailable")


def test_a_revision_that_nobody_collected() -> None:
    found = effect(pinned(), absent={"ControllerRevision": "not-collected"})
    assert cells(found)["Service", "PIN"] == "ManagedPin/Unavailable"
    assert cells(found)["Active", "REASON"] == "Unreadable"
    assert ("RevisionUnavailable", NAME) in found.issues
    refused = effect(pinned(), absent={"ControllerRevision": "forbidden"})
    assert cells(refused)["Active", "REASON"] == "Forbidden"
    sources = json.loads(render(refused, "json", AT))["sources"]
    assert {"Unavailable"} == {one["evidence"] for one in sources if one["kind"] == "ControllerRevision"}


def test_a_service_that_names_nothing_and_one_that_leaves_the_choice() -> None:
    nothing = effect(service(model=None, runtime=None))
    assert {cells(nothing)[view, "REASON"] for view in ("Live", "Active")} == {"NotConfigured"}
    assert issues(nothing) == ["InheritanceUnavailable"]
    entry = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
    choice = effect(service(runtime=None), runtime(supportedModelFormats=[entry]))
    assert json.loads(render(choice, "json", AT))["content"]["selection"]["source"] == "Selected"
    assert cells(choice)["Live", "RUNTIME"] == "CSR/skiff"
    assert issues(choice) == []


def test_a_chain_is_shown_root_first_and_a_broken_one_is_an_issue() -> None:
    child = runtime(meta={"annotations": {"ome.io/inherit-from": "hull"}})
    found = json.loads(render(effect(service(), child, runtime("hull")), "json", AT))
    assert [one["name"] for one in found["content"]["inheritance"]["sources"]] == ["hull", "skiff"]
    assert found["content"]["inheritance"]["state"] == "Observed"
    broken = effect(service(), child)
    assert issues(broken) == ["InheritanceUnavailable", "LiveRuntimeUnavailable"]
    assert broken.warnings == ("PartialData", "SourceUnavailable")


@pytest.mark.parametrize(
    ("observed", "status", "code", "warnings"),
    [
        (0, "Unobserved", "StatusUnobserved", ("PartialData",)),
        (3, "Stale", "StatusStale", ("PartialData", "StaleEvidence")),
        (5, "Invalid", "StatusInvalid", ("PartialData", "StaleEvidence")),
    ],
)
def test_freshness(observed: int, status: str, code: str, warnings: tuple[str, ...]) -> None:
    found = effect(service(status={"observedGeneration": observed}))
    assert (found.status, found.warnings) == (status, warnings)
    assert code in issues(found)


@pytest.mark.parametrize(
    ("annotation", "token", "state"),
    [
        ("", "", "Absent"),
        ("", "t-1", "StatusOnly"),
        ("t-1", "t-1", "Acknowledged"),
        ("t-2", "t-1", "Pending"),
        ("t-1", "", "Pending"),
    ],
)
def test_sync_never_shows_its_tokens(annotation: str, token: str, state: str) -> None:
    own = service(annotations={"ome.io/runtime-sync": annotation} if annotation else None, status={"lastRuntimeSyncToken": token})
    assert cells(effect(own))["Service", "SYNC"] == state
    assert "t-" not in render(effect(own), "yaml", AT)


@pytest.mark.parametrize(
    ("conditions", "shown"),
    [
        ([("True", "RevisionMismatch")], "ReportedTrue/RevisionMismatch"),
        ([("False", "")], "ReportedFalse/Other"),
        ([("Unknown", "SourceRuntimeMissing")], "ReportedUnknown/SourceRuntimeMissing"),
        ([("True", "PinAdvanced")], "ReportedTrue/PinAdvanced"),
        ([("Maybe", "RuntimeMismatch")], "Malformed/RuntimeMismatch"),
        ([("True", "RevisionMissing"), ("True", "RevisionMissing")], "Malformed"),
    ],
)
def test_drift(conditions: list[tuple[str, str]], shown: str) -> None:
    held = [{"type": "RuntimeDrifted", "status": status, "reason": reason} for status, reason in conditions]
    found = effect(service(status={"conditions": held}))
    assert cells(found)["Service", "DRIFT"] == shown
    assert ("ReportedDriftConflict" in issues(found)) == shown.startswith("Malformed")


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ({"annotations": {"ome.io/deploymentMode": "VirtualDeployment"}}, "VirtualDeployment (ServiceAnnotation)"),
        ({"engine": {"annotations": {"ome.io/deploymentMode": "MultiNode"}}}, "MultiNode (ComponentAnnotation)"),
        ({"engine": {"annotations": {"ome.io/deploymentMode": "rowing"}}}, "RawDeployment (Default)"),
        ({"deploymentMode": "OMENative"}, "OMENative (ServiceSpec)"),
        ({"engine": {"leader": {}, "worker": {"size": 1}}}, "OMENative (LeaderWorkerShape)"),
    ],
)
def test_deployment_modes(own: dict[str, Any], shown: str) -> None:
    assert cells(effect(service(**own)))["Live", "ENGINE"] == shown


def test_the_mode_of_a_runtime_counts_and_a_router_has_no_shape() -> None:
    config = {"annotations": {"ome.io/deploymentMode": "OMENative"}, "runner": container()}
    own = service(router={"leader": {}}, decoder={})
    told = cells(effect(own, runtime(engineConfig=config)))
    assert told["Live", "ENGINE"] == "OMENative (ComponentAnnotation)"
    assert told["Live", "ROUTER"] == told["Live", "DECODER"] == "RawDeployment (Default)"


def test_wide_rows_repeat_the_service_and_long_names_are_told_apart() -> None:
    found = wide_rows(effect(pinned(), revision()))
    assert len(found[0]) == len(found[1]) == 16
    assert found[1][:9] == (
        "Live",
        "Available",
        "-",
        "ClusterServingRuntime/skiff",
        "-",
        "-",
        "engine",
        "RawDeployment",
        "Default",
    )
    assert found[2][4:6] == (NAME, "0a1b2c3d")
    long = "cr-" + "x" * 80
    shown = cells(effect(pinned(long)))
    assert len(shown["Active", "REVISION"]) == 54
    assert shown["Active", "REVISION"].startswith("cr-xxx")
    assert len(shown["Service", "ISSUE"].split()[-1]) <= 54


def test_names_that_no_cluster_takes_are_not_echoed() -> None:
    found = render(effect(pinned("https://u:hunter2@a.example")), "wide", AT) + render(effect(pinned("a\x1b[31m")), "json", AT)
    assert "hunter2" not in found
    assert "\x1b" not in found


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ({"a": None, "b": [1]}, {"b": [1]}, "Equal"),
        ({"a": {}, "b": ""}, {}, "Unknown"),
        ({"requests": {"cpu": "1000m"}}, {"requests": {"cpu": "1"}}, "Unknown"),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, "Different"),
        ({"args": ["a"]}, {"args": ["b"]}, "Different"),
    ],
)
def test_specs_are_compared_by_what_they_hold(one: Any, other: Any, relation: str) -> None:
    assert compare(one, other) == relation
