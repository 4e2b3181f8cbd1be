"""The sections of `status` that only read what OME's controller wrote: rollout, autoscaling, placement, traffic."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.ome.status.autoscale import autoscale_of
from analyzer.ome.status.placement import placement_of
from analyzer.ome.status.rollout import rollout_of
from analyzer.ome.status.rollout_plan import within_limits
from analyzer.ome.status.traffic import traffic_of
from analyzer.ome.world import Thing
from tests.ome.lake import field, status
from tests.ome.pond import service

AT = "2026-11-01T11:00:00Z"
A, B = "heron-engine-rev-0000000a", "heron-engine-rev-0000000b"
RAW = {"annotations": {"ome.io/deploymentMode": "RawDeployment"}}


def rolled(*groups: dict[str, Any], components: dict[str, Any] | None = None, **more: Any) -> Thing:
    """A service with rollout groups and the status of its components."""
    spec: dict[str, Any] = {"rollout": {"groups": list(groups)}} if groups else {}
    return service(
        **spec, engine=more.pop("engine", {}), status={"components": components or {}} | more.pop("status", {}), **more
    )


def told(own: Thing) -> tuple[str, str, list[str]]:
    found = rollout_of(own)
    return found.state, found.reported, [code for code in found.issues if code != "EpochUnverifiable"]


def coordinated(**fields: Any) -> dict[str, Any]:
    group = {"name": "0", "policy": "BlueGreen", "components": ["engine"], "phase": "Idle"} | fields
    return {"rolloutCoordination": {"groups": [group]}}


CANARY = {"components": ["engine"], "canary": {"steps": [{"traffic": 20}, {"traffic": 60}]}}
ON_STEP = {"currentStep": 0, "observedTrafficWeight": 20, "stableRevisionHash": "0000000a", "canaryRevisionHash": "0000000b"}
SPLIT = [{"revisionName": A, "percent": 80}, {"revisionName": B, "percent": 20}]


def test_a_service_that_declares_to_be_run_otherwise_has_no_rollout() -> None:
    found = rollout_of(rolled(engine=RAW))
    assert (found.state, found.reported, found.evidence, found.epoch, found.issues) == (
        "NotConfigured", "NotConfigured", "Declared", "NotApplicable", (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lifecycle", "reported", "codes"),
    [
        ({"currentRevision": "heron-engine-0000000a", "updateRevision": "heron-engine-0000000a"}, "Succeeded", []),
        ({"currentRevision": "heron-engine-0000000a", "updateRevision": "heron-engine-0000000b"}, "InProgress", []),
        ({"currentRevision": "heron-engine-0000000a"}, "Unknown", ["ComponentStatusMissing"]),
        ({"currentRevision": "raft", "updateRevision": "raft"}, "Unknown", ["RevisionNameInvalid"]),
    ],
)
def test_a_component_on_its_own(lifecycle: dict[str, Any], reported: str, codes: list[str]) -> None:
    assert told(rolled(components={"engine": {"lifecycle": lifecycle}})) == ("Unknown", reported, codes)


@pytest.mark.parametrize(
    ("phase", "reported"),
    [
        ("Idle", "Succeeded"), ("Surging", "InProgress"), ("Staged", "Staged"), ("Failed", "Failed"), ("Paused", "Paused"),
        ("RollingBack", "RollingBack"),
    ],
)  # fmt: skip
def test_the_phase_of_a_group(phase: str, reported: str) -> None:
    own = rolled({"components": ["engine"], "blueGreen": {}}, components={"engine": {}}, status=coordinated(phase=phase))
    assert told(own) == ("Unknown", reported, [])


@pytest.mark.parametrize(
    ("own", "codes"),
    [
        (rolled({"components": ["engine"], "blueGreen": {}}, components={"engine": {}}), ["GroupStatusMissing"]),
        (rolled({"components": ["engine"]}, status=coordinated()), ["ComponentStatusMissing"]),
        (
            rolled({"components": ["engine"]}, components={"engine": {}}, status=coordinated(phase="Swimming")),
            ["StatusMalformed"],
        ),
        (
            rolled({"components": ["engine"]}, components={"engine": {}}, status=coordinated(policy="Sequential")),
            ["StatusMalformed"],
        ),
        (
            rolled({"components": ["engine"]}, components={"engine": {"rolloutPhase": "Failed"}}, status=coordinated()),
            ["StatusMalformed"],
        ),
        (rolled(engine=RAW, components={"engine": {}}, status=coordinated()), ["GroupStatusUnexpected"]),
        (rolled(engine=RAW, components={"engine": {"rolloutPhase": "Paused"}}), ["StatusMalformed"]),
        (rolled(engine=RAW, components={"engine": {}, "cook": {}}), ["StatusMalformed"]),
        (rolled(engine=RAW, components={"engine": {}}, status={"canary": {}}), ["CanaryStatusUnexpected"]),
        (rolled(engine=RAW, components={"engine": {"latestReadyRevision": "raft"}}), ["RevisionNameInvalid"]),
        (
            rolled(engine=RAW, components={"engine": {"traffic": [{"revisionName": A, "percent": 90}]}}),
            ["TrafficInvalid"],
        ),
        (
            rolled(engine=RAW, components={"engine": {"traffic": [{"revisionName": A, "percent": 200}]}}),
            ["TrafficInvalid"],
        ),
        (rolled({"components": ["engine"], "canary": {}, "blueGreen": {}}, components={"engine": {}}), ["SpecMalformed"]),
        (
            rolled({"components": ["cook"]}, components={"engine": {}}),
            ["ComponentStatusMissing", "GroupStatusMissing", "SpecMalformed"],
        ),
    ],
)  # fmt: skip
def test_what_does_not_add_up(own: Thing, codes: list[str]) -> None:
    assert told(own)[1:] == ("Unknown", codes)


@pytest.mark.parametrize(
    ("engine", "reported", "codes"),
    [
        ({"rolloutPhase": "Canarying", "canary": ON_STEP, "traffic": SPLIT}, "InProgress", []),
        ({"rolloutPhase": "Paused", "canary": ON_STEP}, "Paused", []),
        ({"rolloutPhase": "Stable"}, "Succeeded", []),
        ({"rolloutPhase": "Canarying"}, "InProgress", ["CanaryStatusMissing"]),
        ({"rolloutPhase": "Canarying", "canary": ON_STEP | {"currentStep": 2}}, "Unknown", ["CanaryStepInvalid"]),
        ({"rolloutPhase": "Canarying", "canary": ON_STEP | {"observedTrafficWeight": 101}}, "Unknown", ["TrafficInvalid"]),
        ({"rolloutPhase": "Canarying", "canary": ON_STEP | {"canaryRevisionHash": "x"}}, "Unknown", ["RevisionNameInvalid"]),
        ({"rolloutPhase": "Stable", "canary": ON_STEP}, "Unknown", ["CanaryStepInvalid"]),
        ({"rolloutPhase": "Stable", "canary": ON_STEP | {"currentStep": 2, "observedTrafficWeight": 100}}, "Succeeded", []),
        ({"canary": ON_STEP}, "Unknown", ["CanaryStatusUnexpected", "ComponentStatusMissing"]),
    ],
)
def test_a_canary(engine: dict[str, Any], reported: str, codes: list[str]) -> None:
    assert told(rolled(CANARY, components={"engine": engine})) == ("Unknown", reported, codes)


def test_an_analysis_without_a_value() -> None:
    step = {"traffic": 20, "analysis": {"metrics": [{"name": "errors"}]}}
    own = rolled(
        {"components": ["engine"], "canary": {"steps": [step]}},
        components={
            "engine": {"rolloutPhase": "Canarying", "canary": ON_STEP | {"metricResults": [{"name": "errors", "value": ""}]}}
        },
    )
    assert told(own)[2] == ["AnalysisInconclusive"]


@pytest.mark.parametrize(
    ("condition", "phase", "shown"),
    [(None, "Idle", "Unobserved"), ("True", "Idle", "True"), ("False", "Surging", "False"), ("True", "Surging", "Invalid")],
)
def test_whether_groups_are_in_step(condition: str | None, phase: str, shown: str) -> None:
    held = [{"type": "RolloutCoordinationReady", "status": condition}] if condition else []
    own = rolled({"components": ["engine"]}, components={"engine": {}}, status=coordinated(phase=phase) | {"conditions": held})
    assert rollout_of(own).coordination == shown


def test_groups_that_follow_one_another_are_one() -> None:
    order = ["engine", "decoder"]
    group = {"name": "0", "policy": "Sequential", "components": order, "phase": "Idle", "currentComponent": "decoder"}
    own = rolled(
        {"components": ["engine"]}, {"components": ["decoder"]}, decoder={},
        components={"engine": {}, "decoder": {}}, status={"rolloutCoordination": {"groups": [group]}},
    )  # fmt: skip
    assert told(own) == ("Unknown", "InProgress", [])


def test_the_plan_of_a_run_counts_before_that_of_the_spec() -> None:
    run = {"activeRun": {"plan": {"groups": [{"group": CANARY}]}}}
    own = rolled(components={"engine": {"rolloutPhase": "Paused", "canary": ON_STEP}}, status={"rollout": run})
    assert told(own) == ("Unknown", "Paused", [])


@pytest.mark.parametrize(
    "own",
    [
        rolled({"components": ["engine"], "order": list("abcd")}),
        rolled({"components": ["engine"], "canary": {"prometheus": {"serverAddress": "a" * 1025}}}),
        rolled({"components": ["engine"], "canary": {"prometheus": {"headers": {f"h{n}": "v" for n in range(17)}}}}),
        rolled({"components": ["engine"], "canary": {"steps": [{"analysis": {"metrics": [{"query": "q" * 4097}]}}]}}),
        service(status={"rolloutCoordination": {"groups": [{"order": list("abcd")}]}}),
        service(status={"rolloutCoordination": {"groups": [{"observedRatio": {"newPods": dict.fromkeys("abcd", 1)}}]}}),
        service(status={"rollout": {"groups": [{}] * 4}}),
        service(status={"rollout": {"activeRun": {"targetRevisions": dict.fromkeys("abcd", "r")}}}),
        service(status={"rollout": {"lastRun": {"groups": [{}] * 4}}}),
        service(status={"rollout": {"lastRun": {"targetRevisions": dict.fromkeys("abcd", "r")}}}),
    ],
)
def test_what_makes_a_rollout_too_large(own: Thing) -> None:
    assert field(status(own), "Issue") == ["CollectionLimitExceeded", "RolloutUnavailable"]


def test_a_rollout_that_is_too_large() -> None:
    own = rolled(*({"components": ["engine"]} for _ in range(4)))
    assert not within_limits(own)
    assert field(status(own), "Issue") == ["CollectionLimitExceeded", "RolloutUnavailable"]
    assert field(status(own), "Rollout evidence") == ["Unavailable / Unverifiable"]


HPA = {"class": "HPA", "managedBy": "OME", "specSource": "isvc", "currentReplicas": 2, "desiredReplicas": 3}
ABLE = {"type": "AbleToScale", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": AT}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "heron-engine"}


def scaled(scaler: dict[str, Any] | None, target: Any = TARGET, **others: Any) -> Thing:
    held = {"scaleTargetRef": target} | ({"autoscaler": scaler} if scaler is not None else {})
    return service(status={"components": {"engine": held} | others})


@pytest.mark.parametrize(
    ("own", "state", "codes"),
    [
        (scaled(HPA | {"conditions": [ABLE]}), "Reported", []),
        (scaled(HPA), "Partial", []),
        (scaled(None), "NotReported", ["AutoscalerNotReported"]),
        (scaled(None, {"kind": "Boat"}), "Invalid", ["AutoscalerNotReported", "ScaleTargetInvalid"]),
        (scaled(HPA | {"conditions": [ABLE]}, None), "Partial", ["ScaleTargetNotReported"]),
        (scaled(HPA | {"class": "Oar"}), "Invalid", ["ClassInvalid"]),
        (scaled(HPA | {"managedBy": "Me"}), "Invalid", ["ManagedByInvalid"]),
        (scaled(HPA | {"managedBy": "External"}), "Invalid", ["OwnershipMismatch"]),
        (scaled(HPA | {"specSource": "guess"}), "Invalid", ["SpecSourceInvalid"]),
        (scaled(HPA | {"conditions": [ABLE], "currentReplicas": 0}), "Partial", ["ReplicaEvidenceAmbiguous"]),
        (scaled(HPA | {"desiredReplicas": -1}), "Invalid", ["ReplicaEvidenceInvalid"]),
        (scaled(HPA | {"conditions": [ABLE | {"type": "Fallback"}]}), "Partial", ["ConditionInvalid"]),
        (scaled(HPA | {"conditions": [ABLE, ABLE | {"status": "False"}]}), "Partial", ["ConditionConflict"]),
        (scaled(HPA | {"conditions": [ABLE, ABLE | {"type": "AutoscalerResolved"}]}), "Invalid", ["PolicyEvidenceInvalid"]),
        (scaled({"class": "External", "managedBy": "External", "specSource": "isvc"}), "Reported", []),
        (
            scaled({"class": "None", "managedBy": "None", "specSource": "isvc", "currentReplicas": 2}),
            "Invalid",
            ["UnexpectedScalerEvidence"],
        ),
        (
            scaled({"class": "External", "managedBy": "External", "specSource": "isvc", "conditions": [{}]}),
            "Partial",
            ["ConditionInvalid"],
        ),
        (
            scaled({"class": "External", "managedBy": "External", "specSource": "isvc", "conditions": [ABLE]}),
            "Invalid",
            ["UnexpectedScalerEvidence"],
        ),
    ],
)
def test_autoscalers(own: Thing, state: str, codes: list[str]) -> None:
    (row,) = autoscale_of(own).components
    assert (row.state, list(row.issues)) == (state, codes)


def test_rows_of_autoscaling() -> None:
    found = status(scaled(HPA | {"conditions": [ABLE]}, decoder={}))
    assert field(found, "Autoscaling") == ["Partial / Reported parent status"]
    assert field(found, "Scale engine") == ["Reported HPA/OME 2->3 (Reported)"]
    assert field(found, "Scale decoder") == ["NotReported Unknown/Unknown -->- (NotReported)"]
    assert field(found, "Scale target", wide=True) == ["engine / Reported", "decoder / NotReported"]
    assert field(found, "Autoscale issue", wide=True) == ["decoder / AutoscalerNotReported", "decoder / ScaleTargetNotReported"]
    assert field(status(scaled(None)), "Autoscaling") == ["Unavailable; parent read, no usable scaler status"]
    unknown = status(scaled(HPA, cook={}))
    assert field(unknown, "Autoscaling") == ["Invalid / Reported parent status"]
    assert " / UnknownComponentStatus" in field(unknown, "Autoscale issue", wide=True)
    huge = status(scaled(HPA | {"conditions": [ABLE] * 65}))
    assert field(huge, "Autoscaling") == ["Unavailable / Unavailable parent status"]
    assert field(huge, "Issue") == ["AutoscaleUnavailable", "CollectionLimitExceeded"]
    wordy = status(scaled(HPA | {"conditions": [ABLE | {"message": "m" * 4097}]}))
    assert field(wordy, "Issue") == ["AutoscaleUnavailable", "CollectionLimitExceeded"]


POLICY = {"name": "tide", "observedGeneration": 3, "portableDigest": "pv1:0123456789ab", "resolvedDigest": "rv1:0123456789ab"}
SHADOWED = {"name": "tide", "portableDigest": "pv1:0123456789ab", "wouldRenderDigest": "rv1:0123456789ab"}
RESOLVED = {**ABLE, "type": "AutoscalerResolved", "reason": "RenderedFromPolicy", "observedGeneration": 4}
NAMED = {"autoscalerPolicyRef": {"name": "tide"}}
WRITTEN = NAMED | {"autoscaler": {"class": "HPA"}}


def ruled(engine: dict[str, Any], *conditions: dict[str, Any], **scaler: Any) -> Thing:
    """A service whose engine names a policy, and what its status says of that."""
    own = HPA | {"conditions": [ABLE, *conditions]} | scaler
    status_of = {"components": {"engine": {"scaleTargetRef": TARGET, "autoscaler": own}}}
    return service(engine=engine, status=status_of)


def resolved(reason: str, status_word: str = "False", **more: Any) -> dict[str, Any]:
    return RESOLVED | {"reason": reason, "status": status_word} | more


@pytest.mark.parametrize(
    ("own", "code"),
    [
        (ruled({}), ""),
        (ruled(NAMED, RESOLVED, specSource="policy", policy=POLICY), ""),
        (ruled(WRITTEN, resolved("InlinePrecedence", "True"), shadowedPolicyRef=SHADOWED), ""),
        (ruled(WRITTEN, resolved("InlinePrecedence", "True"), shadowedPolicyRef={"name": "tide"}), ""),
        (ruled(NAMED, resolved("PolicyNotFound"), specSource="policy"), ""),
        (ruled(NAMED, resolved("AuthNotFound"), specSource="policy", policy=POLICY | {"name": "ebb"}), ""),
        (ruled(NAMED, resolved("UnsupportedMode")), ""),
        (ruled(NAMED, RESOLVED, RESOLVED, specSource="policy", policy=POLICY), "PolicyConditionConflict"),
        (ruled(NAMED), "PolicyEvidenceInvalid"),
        (ruled({}, policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled({}, shadowedPolicyRef=SHADOWED), "PolicyEvidenceInvalid"),
        (ruled({}, specSource="policy"), "PolicyEvidenceInvalid"),
        (ruled({}, RESOLVED, specSource="policy", policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled({"autoscalerPolicyRef": {}}), "PolicyEvidenceInvalid"),
        (ruled({"autoscalerPolicyRef": {"name": "No_Name"}}), "PolicyEvidenceInvalid"),
        (ruled({"autoscalerPolicyRef": {"name": "tide", "kind": "Boat"}}), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED | {"observedGeneration": 3}, specSource="policy", policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED | {"status": "False"}, specSource="policy", policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="isvc", policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="policy"), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="policy", policy=POLICY | {"name": "ebb"}), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="policy", policy=POLICY | {"observedGeneration": 0}), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="policy", policy=POLICY | {"resolvedDigest": "rv1:"}), "PolicyEvidenceInvalid"),
        (ruled(NAMED, resolved("InlinePrecedence", "True"), shadowedPolicyRef=SHADOWED), "PolicyEvidenceInvalid"),
        (
            ruled(WRITTEN, resolved("InlinePrecedence", "True"), shadowedPolicyRef={"name": "tide", "portableDigest": "pv1:x"}),
            "PolicyEvidenceInvalid",
        ),
        (ruled(NAMED, resolved("PolicyNotFound", "True"), specSource="policy"), "PolicyEvidenceInvalid"),
        (ruled(NAMED, resolved("UnsupportedMode"), policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled(NAMED, resolved("Whim"), specSource="policy"), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED | {"reason": 5}, specSource="policy", policy=POLICY), "PolicyEvidenceInvalid"),
        (ruled(NAMED, RESOLVED, specSource="policy", policy=["tide"]), "PolicyEvidenceInvalid"),
    ],
)
def test_policies_behind_autoscalers(own: Thing, code: str) -> None:
    (row,) = autoscale_of(own).components
    assert [one for one in row.issues if one.startswith("Policy")] == ([code] if code else [])
    if code:
        assert row.state == "Invalid"


def placed(declared: dict[str, Any] | None = None, told_of: dict[str, Any] | None = None, **meta: Any) -> Thing:
    spec: dict[str, Any] = {"placement": declared} if declared is not None else {}
    return service(**spec, status={"placement": told_of} if told_of is not None else {}, **meta)


HOME = {"cluster": "east", "phase": "Placed", "admittedReplicas": 3, "readyReplicas": 2}
WHOLE = {"phase": "Placed", "cluster": "east", "endpoint": "https://a.example/v1", "candidates": [HOME]}


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        (placed(), "NotConfigured / NotApplicable / NotRecorded"),
        (placed({}), "NotReported / Single / NotRecorded"),
        (placed(annotations={"ome.io/cluster-selector": "a=b"}), "NotReported / Single / NotRecorded"),
        (placed({"mode": "All"}, WHOLE), "Reported / All / Placed"),
        (placed({"mode": "Split"}, WHOLE), "Reported / Split / Placed"),
        (placed({"mode": "Some"}, WHOLE), "Partial / Unknown / Placed"),
        (placed({}, WHOLE | {"phase": "Lost"}), "Partial / Single / Unknown"),
        (placed({}, WHOLE | {"phase": "Admitting"}), "Reported / Single / Admitting"),
        (placed({}, WHOLE | {"endpoint": "ftp://a"}), "Partial / Single / Placed"),
        (placed({"mode": "Split"}, WHOLE | {"candidates": [HOME | {"readyReplicas": 0}]}), "Partial / Split / Placed"),
        (placed({}, {}), "Partial / Single / NotRecorded"),
    ],
)
def test_placements(own: Thing, shown: str) -> None:
    assert field(status(own), "Placement") == [shown]


def test_rows_of_a_placement_never_show_an_address() -> None:
    found = status(placed({"mode": "Split"}, WHOLE))
    assert field(found, "Placement homes") == ["Validated 1/1 truncated=false"]
    assert field(found, "Reported cluster") == ["east"]
    assert field(found, "Placement endpoint") == ["Present (reported; not probed)"]
    assert field(found, "Placement replicas") == ["admitted=3 ready=2 (reported)"]
    assert field(found, "Placement evidence", wide=True) == ["Reported / Unverifiable"]
    assert field(found, "Placement mode", wide=True) == ["Declared"]


@pytest.mark.parametrize(
    ("candidates", "state", "issue"),
    [
        ([HOME, HOME], "Validated", False),
        ([HOME, HOME | {"readyReplicas": 1}], "ConflictingDuplicates", False),
        ([HOME | {"cluster": "No_Name"}], "MalformedPayload", False),
        ([HOME | {"readyReplicas": -1}], "MalformedPayload", False),
        ([HOME | {"cluster": f"c{number}"} for number in range(257)], "BudgetExceeded", True),
    ],
)
def test_candidates(candidates: list[dict[str, Any]], state: str, issue: bool) -> None:
    own = placed({}, WHOLE | {"candidates": candidates})
    assert placement_of(own).homes.state == state
    assert ("PlacementUnavailable" in field(status(own), "Issue")) == issue


def routed(*conditions: dict[str, Any], components: dict[str, Any] | None = None, url: Any = None, **fields: Any) -> Thing:
    policy = {"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "name": "heron"}
    base = {"algorithm": "RoundRobin", "backendPolicyResource": policy, "conditions": list(conditions)} | fields
    return service(status={"traffic": base, "components": components or {}, "url": url})


def policy_is(status_word: str, reason: str, **fields: Any) -> dict[str, Any]:
    base = {
        "type": "BackendPolicyReady",
        "status": status_word,
        "reason": reason,
        "observedGeneration": 4,
        "lastTransitionTime": AT,
    }
    return base | fields


ACCEPTED = policy_is("True", "AcceptedByGateway")


@pytest.mark.parametrize(
    ("own", "state"),
    [
        (service(), "Unavailable"),
        (routed(), "Unavailable"),
        (routed(ACCEPTED), "Reported"),
        (routed(policy_is("Unknown", "Pending")), "Pending"),
        (routed(policy_is("False", "GatewayRejected")), "Degraded"),
        (routed(policy_is("False", "NoTranslatorAvailable"), backendPolicyResource=None), "Degraded"),
        (routed(ACCEPTED | {"observedGeneration": 3}), "Partial"),
        (routed(ACCEPTED | {"observedGeneration": 0}), "Partial"),
        (
            routed(ACCEPTED, policy_is("True", "UnsupportedField", type="BackendPolicyUnsupportedFields")),
            "Partial",
        ),
        (routed(ACCEPTED, targetedHTTPRoutes=[f"r{number}" for number in range(5)]), "Partial"),
        (routed(policy_is("True", "Pending")), "Invalid"),
        (routed(ACCEPTED, ACCEPTED), "Invalid"),
        (routed(ACCEPTED, algorithm="Guess"), "Invalid"),
        (routed(ACCEPTED, backendPolicyResource=None), "Invalid"),
        (routed(ACCEPTED, backendPolicyResource={"kind": "Boat", "name": "x"}), "Invalid"),
        (routed(ACCEPTED, targetedHTTPRoutes=["No_Route"]), "Invalid"),
        (routed(ACCEPTED, url="http://u:p@a.example"), "Invalid"),
        (routed(ACCEPTED, components={"cook": {}}), "Invalid"),
        (routed(ACCEPTED, components={"engine": {"traffic": [{"revisionName": A, "percent": 50}]}}), "Invalid"),
        (routed(ACCEPTED, components={"engine": {"traffic": SPLIT}}, url="https://heron.example/"), "Reported"),
        (routed(*[ACCEPTED] * 65), "Unavailable"),
    ],
)  # fmt: skip
def test_traffic(own: Thing, state: str) -> None:
    assert traffic_of(own).state == state


def test_rows_of_traffic() -> None:
    found = status(routed(ACCEPTED))
    assert field(found, "Traffic") == ["Reported / Reported parent status"]
    assert field(found, "Traffic policy Ready", wide=True) == ["True / Current"]
    assert field(found, "Traffic translator", wide=True) == ["envoy-gateway"]
    assert field(found, "Traffic algorithm", wide=True) == ["RoundRobin"]
    ahead = status(routed(ACCEPTED | {"observedGeneration": 9}))
    assert field(ahead, "Traffic policy Ready", wide=True) == ["True / Unverifiable"]
