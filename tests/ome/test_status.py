"""`status`: the page row by row, conditions, pods, events, runtime and accelerator, and what it says where a list is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.ome.status.events import MAX_EVENT_PODS, MAX_EVENTS, MAX_EVENTS_EACH
from analyzer.ome.status.page import render
from analyzer.ome.status.pods import MAX_PODS
from analyzer.ome.world import Thing
from tests.ome.lake import event, field, page, pod, status
from tests.ome.pond import NAME, NAMESPACE, model, revision, runtime, service, thing

SECRET, TOKEN = "password=hunter2hunter2", "q8Zk2Vd0pLm4Nw7RtY1sQe"


def conditions(*held: dict[str, Any], **status_fields: Any) -> Thing:
    return service(status={"conditions": list(held)} | status_fields)


def ready(status_word: str = "True", **more: Any) -> dict[str, Any]:
    return {"type": "Ready", "status": status_word} | more


def test_a_service_that_was_just_made() -> None:
    own = service(runtime=None, generation=1, status={"observedGeneration": 0})
    assert page(status(own)) == [
        "FIELD: VALUE",
        "Name: heron",
        "Namespace: pond",
        "Ready: NotRecorded / Unavailable",
        "Ready reason: ",
        "Declared runtime: ",
        "Model: reed",
        "Generation: 1 observed=0; advisory Unverifiable",
        "Pod observation: Reported count=0 truncated=false",
        "Event observation: Reported count=0 truncated=false",
        "engine: NotRecorded / Unavailable; Ready pods=0/0 restarts=0",
        "Rollout: Unknown reported=Unknown",
        "Rollout evidence: Reported / Unverifiable",
        "Autoscaling: Unavailable / Unavailable parent status",
        "Placement: NotConfigured / NotApplicable / NotRecorded",
        "Traffic: Unavailable / Unavailable parent status",
        "Runtime active: Unavailable / Unavailable AutoSelectionNotProbed",
        "Accelerator: Unavailable / Unavailable AutoSelectionNotProbed",
        "Full safe values: Use -o json or -o yaml",
        "Rollout detail: kubectl ome rollout status NAME",
        "Autoscale detail: kubectl ome autoscale status NAME",
        "Placement detail: kubectl ome placement status NAME",
        "Traffic detail: kubectl ome traffic status NAME",
        "Runtime detail: kubectl ome runtime effective NAME",
        "Accelerator detail: kubectl ome accelerator explain NAME",
    ]
    found = page(status(own), wide=True)
    assert found[6] == "Condition inspection: Complete 0/0"
    assert found[-3:] == ["Collected at: 2026-11-01T12:00:00Z", "Source generation: 1", "Source evidence: Observed"]
    assert [row for row in found if row.startswith("Rollout ")][1:4] == [
        "Rollout issue: ComponentStatusMissing",
        "Rollout issue: EpochUnverifiable",
        "Rollout warning: PartialData",
    ]


@pytest.mark.parametrize(
    ("held", "shown", "warnings"),
    [
        ([ready()], "True / Valid", []),
        ([ready("False", reason="Waits")], "False / Valid", []),
        ([ready("Unknown")], "Unknown / Valid", []),
        ([], "NotRecorded / Unavailable", []),
        ([ready("Perhaps")], "NotRecorded / Invalid", ["InvalidConditionRecord"]),
        ([ready(severity="Loud")], "True / Invalid", ["InvalidConditionRecord"]),
        ([ready(reason=5)], "True / Invalid", ["InvalidConditionRecord"]),
        ([ready(message="m" * 4097)], "True / Invalid", ["OversizedConditionRecord"]),
        ([ready(lastTransitionTime="2027-01-01T00:00:00Z")], "True / Invalid", ["FutureConditionTimestamp"]),
        ([ready(), ready("False")], "NotRecorded / Invalid", ["ConflictingReadyConditions"]),
        ([ready(), ready()], "True / Valid", ["DuplicateReadyConditions"]),
        ([ready(), {"type": "Other", "status": 1}], "True / Valid", ["InvalidConditionRecord"]),
    ],
)
def test_the_ready_condition(held: list[dict[str, Any]], shown: str, warnings: list[str]) -> None:
    found = status(conditions(*held))
    assert field(found, "Ready") == [shown]
    assert field(found, "Condition warning", wide=True) == warnings
    state = "Partial" if warnings else "Complete"
    assert field(found, "Condition inspection", wide=True) == [f"{state} {len(held)}/{len(held)}"]


def test_too_many_conditions() -> None:
    found = status(conditions(*(ready() for _ in range(65))))
    assert field(found, "Ready") == ["NotRecorded / Invalid"]
    assert field(found, "Condition inspection", wide=True) == ["LimitExceeded 0/65"]
    assert field(found, "Issue") == ["CollectionLimitExceeded", "RolloutUnavailable"]


def test_reason_and_message_are_masked_and_shown_only_where_they_are_valid() -> None:
    found = status(conditions(ready("False", reason="Waits", message=f"{SECRET} is wrong")))
    assert field(found, "Ready reason") == ["Waits"]
    assert field(found, "Ready message", wide=True) == ["[REDACTED]"]
    assert field(status(conditions(ready("False", message="see http://a.example"))), "Ready message", wide=True) == ["[OMITTED]"]
    assert field(status(conditions(ready("Maybe", reason="Waits"))), "Ready reason") == [""]


def test_components_by_condition_and_pods() -> None:
    own = service(decoder={}, status={"conditions": [{"type": "EngineReady", "status": "False"}]})
    pods = [
        pod("a", containerStatuses=[{"restartCount": 3}], initContainerStatuses=[{"restartCount": 1}]),
        pod("b", ready="False", phase="Pending"),
        pod("c", "router", phase="Odd"),
    ]
    found = status(own, *pods)
    assert field(found, "engine") == ["False / Valid; Ready pods=1/2 restarts=4"]
    assert field(found, "decoder") == ["NotRecorded / Unavailable; Ready pods=0/0 restarts=0"]
    assert field(found, "router") == ["NotRecorded / Unavailable; Ready pods=1/1 restarts=0"]
    assert field(found, "engine phases", wide=True) == ["R=1 P=1 F=0 S=0 U=0 deleting=0"]
    assert field(found, "router phases", wide=True) == ["R=0 P=0 F=0 S=0 U=1 deleting=0"]
    assert field(found, "Pod observation") == ["Reported count=3 truncated=false"]


def test_a_pod_that_is_being_deleted_counts_twice() -> None:
    going = pod("a")
    value = {**going.value, "metadata": {**going.metadata, "deletionTimestamp": "2026-11-01T11:59:00Z"}}
    found = status(service(), Thing(going.kind, going.namespace, going.name, value))
    assert field(found, "engine phases", wide=True) == ["R=1 P=0 F=0 S=0 U=0 deleting=1"]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (pod("x", ""), "UnsupportedComponent"),
        (pod("x", "cook"), "UnsupportedComponent"),
        (pod("X_Y"), "PodIdentityRejected"),
        (pod("x", conditions=[{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False"}]), "PodMalformed"),
        (pod("x", conditions=[{"type": "Ready"}]), "PodMalformed"),
        (pod("x", containerStatuses=[{"restartCount": -1}]), "PodMalformed"),
        (pod("x", containerStatuses=[{}] * 65), "PodMalformed"),
        (Thing("Pod", NAMESPACE, "x", pod("x").value, whole=False), "PodMalformed"),
    ],
)
def test_pods_that_do_not_count(bad: Thing, code: str) -> None:
    found = status(service(), pod("a"), bad)
    assert field(found, "Issue") == [code]
    assert field(found, "engine") == ["NotRecorded / Unavailable; Ready pods=1/1 restarts=0"]
    if bad.whole:
        assert field(found, "Pod observation") == ["Partial count=2 truncated=false MalformedPayload"]


def test_two_pods_of_one_uid_are_rejected_and_pods_without_any_are_not() -> None:
    twins = [
        thing("Pod", name, NAMESPACE, meta={"uid": "same", "labels": pod().metadata["labels"]}, status=pod().status)
        for name in "ab"
    ]
    assert field(status(service(), *twins), "Issue") == ["PodIdentityRejected"]
    bare = [
        thing("Pod", name, NAMESPACE, meta={"uid": "", "labels": pod().metadata["labels"]}, status=pod().status) for name in "ab"
    ]
    found = status(service(), *bare)
    assert (field(found, "Issue"), field(found, "engine")) == ([], ["NotRecorded / Unavailable; Ready pods=2/2 restarts=0"])


def test_two_pods_of_one_name_are_rejected() -> None:
    one = pod("a")
    again = Thing(one.kind, one.namespace, one.name, {**one.value, "metadata": {**one.metadata, "uid": "u-later"}})
    found = status(service(), one, again, pod("b"))
    assert field(found, "Issue") == ["PodIdentityRejected"]
    assert field(found, "engine") == ["NotRecorded / Unavailable; Ready pods=1/1 restarts=0"]


def test_a_pod_of_no_component_takes_no_uid_from_another() -> None:
    stray = thing("Pod", "x", NAMESPACE, meta={"uid": "u-a", "labels": pod("x", "cook").metadata["labels"]}, status=pod().status)
    assert field(status(service(), pod("a"), stray), "Issue") == ["UnsupportedComponent"]


@pytest.mark.parametrize(
    ("things", "issues"),
    [
        ([pod(f"x{number:02}", "cook") for number in range(64)], ["UnsupportedComponent"]),
        ([pod(f"x{number:02}", "cook") for number in range(65)], ["CollectionLimitExceeded"]),
        ([pod(f"x{number:02}", containerStatuses=[{"restartCount": -1}]) for number in range(32)], ["PodMalformed"]),
        ([pod(f"x{number:02}", containerStatuses=[{"restartCount": -1}]) for number in range(33)], ["CollectionLimitExceeded"]),
        ([event(f"e{number:02}", count=-1) for number in range(26)], ["EventMalformed"]),
    ],
)
def test_more_issues_than_the_report_holds(things: list[Thing], issues: list[str]) -> None:
    assert field(status(service(), *things), "Issue") == issues


def test_more_pods_than_are_read_and_more_than_events_are_read_of() -> None:
    found = status(service(), *(pod(f"p{number:04}") for number in range(MAX_PODS + 2)))
    assert field(found, "Pod observation") == [f"Partial count={MAX_PODS} truncated=true"]
    assert field(found, "Event observation") == ["Partial count=0 truncated=true"]
    assert field(found, "Event targets skip", wide=True) == [str(MAX_PODS - MAX_EVENT_PODS)]


@pytest.mark.parametrize(
    ("absence", "reason"), [("forbidden", "Forbidden"), ("not-collected", "Unreadable"), ("failed", "Unreadable")]
)
def test_pods_and_events_that_nobody_collected(absence: Any, reason: str) -> None:
    found = status(service(), absent={"Pod": absence, "Event": absence})
    assert field(found, "Pod observation") == [f"Unavailable count=0 truncated=false {reason}"]
    assert field(found, "Event observation") == [f"Unavailable count=0 truncated=false {reason}"]
    assert field(found, "engine evidence", wide=True) == ["Unavailable"]
    assert found.notes[0].startswith("the list of Pods of namespace pond")
    some = status(service(), pod("a"), absent={"Pod": absence})
    assert field(some, "Pod observation") == [f"Partial count=1 truncated=true {reason}"]


def test_events_newest_first_with_count_and_time() -> None:
    own, one = service(), pod("a", ready="False")
    found = status(
        own,
        one,
        event("old", own, lastTimestamp="2026-11-01T09:00:00Z", reason="Older"),
        event("new", one, message=SECRET, count=7),
        event("none", own, lastTimestamp=None, reason="Undated"),
        event("normal", own, type="Normal"),
    )
    rows = page(found, wide=True)
    first = rows.index("Warning Pod: a BackOff")
    assert rows[first : first + 10] == [
        "Warning Pod: a BackOff",
        "Event message: [REDACTED]",
        "Event count: 7",
        "Event last seen: 2026-11-01T11:00:00Z",
        "Warning Inference...: heron Older",
        "Event message: waits",
        "Event count: 2",
        "Event last seen: 2026-11-01T09:00:00Z",
        "Warning Inference...: heron Undated",
        "Event message: waits",
    ]
    assert field(found, "Event observation") == ["Reported count=3 truncated=false"]


def test_events_of_the_newer_api() -> None:
    held = event(
        "e", involvedObject=None, regarding={"kind": "InferenceService", "name": NAME, "uid": f"u-{NAME}"}, note="n", count=None
    )
    series = Thing(held.kind, held.namespace, held.name, dict(held.value) | {
        "message": None, "lastTimestamp": None, "eventTime": "2026-11-01T10:00:00Z",
        "series": {"count": 9, "lastObservedTime": "2026-11-01T10:30:00Z"},
    })  # fmt: skip
    found = status(service(), series)
    assert field(found, "Event count", wide=True) == ["9"]
    assert field(found, "Event message", wide=True) == ["n"]
    assert field(found, "Event last seen", wide=True) == ["2026-11-01T10:30:00Z"]


def about(**fields: Any) -> dict[str, Any]:
    return {"kind": "InferenceService", "name": NAME, "namespace": NAMESPACE, "uid": f"u-{NAME}"} | fields


@pytest.mark.parametrize(
    ("fields", "issues"),
    [
        ({"involvedObject": about(uid="")}, ["EventIdentityRejected"]),
        ({"involvedObject": about(namespace="lake")}, ["EventIdentityRejected"]),
        ({"involvedObject": about(uid="another")}, []),
        ({"involvedObject": about(apiVersion="serving.kserve.io/v1beta1")}, []),
        ({"involvedObject": about(kind="Pod", name="nobody")}, []),
        ({"count": -1}, ["EventMalformed"]),
        ({"reason": "r" * 1025}, ["EventMalformed"]),
        ({"message": "m" * 4097}, ["EventMalformed"]),
        ({"message": 5}, ["EventMalformed"]),
        ({"lastTimestamp": "2027-01-01T00:00:00Z"}, ["EventMalformed"]),
        ({"firstTimestamp": "2026-11-01T11:30:00Z"}, ["EventMalformed"]),
        ({"series": {"count": 2}}, ["EventMalformed"]),
    ],
)
def test_events_that_do_not_count(fields: dict[str, Any], issues: list[str]) -> None:
    found = status(service(), event("e", **fields))
    assert field(found, "Issue") == issues
    assert not any(row.startswith("Warning Inf") for row in page(found))


def test_limits_of_events() -> None:
    own = service()
    pods = [pod(f"p{number}") for number in range(5)]
    held = [
        event(f"{one.name}-{number}", one, lastTimestamp=f"2026-11-01T10:{number:02}:00Z")
        for one in pods
        for number in range(MAX_EVENTS_EACH + 1)
    ]
    found = status(own, *pods, *held)
    assert len(found.rows) == MAX_EVENTS
    assert field(found, "Event observation") == [f"Partial count={MAX_EVENTS} truncated=true"]
    assert {row.last.minute for row in found.rows if row.last} == set(range(6, 26))


def test_the_pods_that_are_not_well_are_asked_first() -> None:
    pods = [pod(f"p{number:02}") for number in range(MAX_EVENT_PODS)] + [pod("z", ready="False")]
    found = status(service(), *pods, event("e", pods[-1]), event("f", pods[-2]))
    assert [row.name for row in found.rows] == ["z"]
    assert field(found, "Event targets skip", wide=True) == ["1"]


@pytest.mark.parametrize(
    ("own", "things", "line", "accelerator"),
    [
        (service(), (), "Partial / Available", "NotConfigured / Unavailable"),
        (service(model=None), (), "Reported / Available", "NotConfigured / Unavailable"),
        (service(model=None, runtime={"name": "gone"}), (), "Partial / Unavailable", "Partial / Computed"),
        (
            service(model=None, runtime=None),
            (),
            "NotConfigured / Unavailable",
            "Unavailable / Unavailable AutoSelectionNotProbed",
        ),
        (
            service(annotations={"ome.io/deploymentMode": "VirtualDeployment"}),
            (),
            "Unavailable / Unavailable VirtualDeployment",
            "Partial / Computed VirtualDeployment",
        ),
        (
            service(annotations={"ome.io/deploymentMode": "VirtualDeployment"}, engine=None),
            (),
            "Unavailable / Unavailable VirtualDeployment",
            "NotConfigured / Unavailable",
        ),
        (
            service(runtime=None, engine=None),
            (),
            "Unavailable / Unavailable AutoSelectionNotProbed",
            "NotConfigured / Unavailable",
        ),
        (service(model=None, status={"observedGeneration": 3}), (), "Partial / Available", "NotConfigured / Unavailable"),
        (
            service(model=None, runtime={"name": "skiff", "autoSync": False}, status={"pinnedRevisionName": "cr-skiff-0a1b2c3d"}),
            (revision(by="somebody"),),
            "Partial / Available",
            "Partial / Computed",
        ),
        (
            service(model=None, acceleratorSelector={"acceleratorClass": "Bad_Name"}),
            (),
            "Reported / Available",
            "Invalid / Computed",
        ),
    ],
)
def test_runtime_and_accelerator(own: Thing, things: tuple[Thing, ...], line: str, accelerator: str) -> None:
    found = status(own, *things)
    assert (field(found, "Runtime active"), field(found, "Accelerator")) == ([line], [accelerator])


def test_details_of_runtime_and_accelerator() -> None:
    own = service(
        model=None, acceleratorSelector={"policy": "BestFit"}, decoder={"acceleratorOverride": {"acceleratorClass": "marsh-100"}}
    )
    found = page(status(own), wide=True)
    first = found.index("Runtime active: Reported / Available")
    assert found[first : first + 11] == [
        "Runtime active: Reported / Available",
        "Active runtime name: skiff",
        "Active runtime kind: ClusterServingRuntime",
        "Active origin: LiveRuntime",
        "Runtime pin: NotApplicable",
        "Runtime freshness: Current",
        "Accelerator: Partial / Computed",
        "Accelerator engine: NotReported (NotRequested)",
        "Declared class: engine / (Policy)",
        "Accelerator decoder: NotReported (NotRequested)",
        "Declared class: decoder / marsh-100 (Class)",
    ]


def test_a_negative_generation() -> None:
    found = status(service(generation=-2, status={"observedGeneration": -1}))
    assert field(found, "Generation") == ["0 observed=0; advisory Unverifiable"]
    assert "InvalidGeneration" in field(found, "Issue")


def test_the_json_form() -> None:
    found = json.loads(render(status(conditions(ready()), pod("a"), event("e")), "json"))
    assert list(found) == ["apiVersion", "kind", "metadata", "collectedAt", "sources", "content", "warnings"]
    assert (found["kind"], found["metadata"], found["warnings"]) == ("StatusReport", {"namespace": "pond", "name": "heron"}, [])
    content = found["content"]
    assert content["ready"] == {
        "status": "True",
        "validity": "Valid",
        "inspection": {"state": "Complete", "total": 1, "inspected": 1, "warnings": []},
    }
    assert content["components"][0]["pods"]["running"] == 1
    assert content["recentEvents"] == [
        {
            "kind": "InferenceService",
            "name": "heron",
            "reason": "BackOff",
            "message": "waits",
            "count": 2,
            "lastSeen": "2026-11-01T11:00:00Z",
        }
    ]
    assert content["pods"] == {"state": "Reported", "observed": 1, "truncated": False, "skippedTargets": 0}
    assert (content["issues"], content["accelerator"]["components"]) == ([], [])
    assert "kind: StatusReport\n" in render(status(service()), "yaml")


def test_nothing_hostile_reaches_the_page() -> None:
    own = service(
        model={"name": "https://u:pw@a"},
        runtime={"name": "a\x1b[31m", "kind": "ClusterServingRuntime"},
        status={"conditions": [ready("False", reason="r\x1b[2J\n", message=SECRET)]},
    )
    found = status(own, model(), runtime(), event("e", reason="a\x1b[0m", message=f"Bearer {TOKEN}"))
    for form in ("table", "wide", "json", "yaml"):
        shown = render(found, form)
        assert "\x1b" not in shown
        assert "hunter2" not in shown
        assert "u:pw" not in shown
        assert TOKEN not in shown
    assert max(len(row) for row in render(found, "table").splitlines()) <= 80
