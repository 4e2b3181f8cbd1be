"""Why a Workload waits: every text of Kueue 0.6 to 0.20, by reason and message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts.kueue.waits import MAX_PARTS, classify

FRAME = "couldn't assign flavors to pod set main: "
QUOTA = "insufficient unused quota for cpu in flavor hot, 500m more needed"
MAX = (
    "insufficient quota for cpu in flavor cold, previously considered podsets requests (1) + current podset request (3)"
    " > maximum capacity (2)"
)
TAS = 'topology "halls" doesn\'t allow to fit any of 4 pod(s)'


@pytest.mark.parametrize(
    ("message", "cause", "detail"),
    [
        (FRAME + QUOTA, "quota", "quota"),
        (FRAME + "insufficient unused quota in cohort for cpu in flavor hot, 1 more needed", "quota", "cohort-quota"),
        (FRAME + "insufficient quota for cpu in flavor hot in ClusterQueue", "never-fits", "max-capacity"),
        (FRAME + "borrowing limit for cpu in flavor hot exceeded", "quota", "borrowing-limit"),
        (FRAME + "insufficient quota for cpu in flavor hot, request > maximum capacity (3 > 2)", "never-fits", "max-capacity"),
        (FRAME + MAX, "never-fits", "max-capacity"),
        (FRAME + "resource example.com/wheel unavailable in ClusterQueue", "misconfigured", "resource-not-covered"),
        (FRAME + "flavor hot not found", "misconfigured", "flavor-missing"),
        (FRAME + "untolerated taint {a b NoSchedule <nil>} in flavor hot", "misconfigured", "taint"),
        (FRAME + "flavor hot doesn't match node affinity", "misconfigured", "affinity"),
        (FRAME + "could not assign hot flavor since the original workload is assigned: cold", "quota", "slice"),
        (FRAME + 'Flavor "hot" does not support TopologyAwareScheduling', "misconfigured", "topology-mismatch"),
        (FRAME + 'Flavor "hot" supports only TopologyAwareScheduling', "misconfigured", "topology-mismatch"),
        (FRAME + 'Flavor "hot" information missing in TAS cache', "misconfigured", "topology-mismatch"),
        (FRAME + 'Flavor "hot" does not contain the requested level', "misconfigured", "topology-mismatch"),
        (FRAME + TAS, "topology", "topology"),
        (FRAME + 'topology "halls" allows to fit only 3 out of 4 slice(s)', "topology", "topology"),
        (FRAME + 'topology "halls" allows to fit only -1 out of 4 pod(s)', "topology", "topology"),
        (FRAME + TAS + ". Total nodes: 9; excluded: 3", "topology", "topology"),
        (FRAME + "no topology domains at level: example.com/rack", "misconfigured", "topology-level"),
        (FRAME + "no requested topology level: example.com/rack", "misconfigured", "topology-level"),
        ("The workload has failed admission checks", "check", "checks"),
        ("LocalQueue jugs doesn't exist", "misconfigured", "localqueue-missing"),
        ("LocalQueue jugs is terminating or missing", "misconfigured", "localqueue-missing"),
        ("LocalQueue jugs is inactive", "queue", "localqueue-inactive"),
        ("LocalQueue jugs is stopped", "queue", "localqueue-stopped"),
        ("ClusterQueue kiln doesn't exist", "misconfigured", "clusterqueue-missing"),
        ("ClusterQueue kiln not found", "misconfigured", "clusterqueue-missing"),
        ("ClusterQueue kiln is terminating or missing", "misconfigured", "clusterqueue-missing"),
        ("ClusterQueue kiln is inactive", "queue", "clusterqueue-inactive"),
        ("ClusterQueue kiln is stopped", "queue", "clusterqueue-stopped"),
        ("Workload namespace doesn't match ClusterQueue selector", "misconfigured", "namespace"),
        ("workload namespace doesn't match ClusterQueue selector", "misconfigured", "namespace"),
        ("resources validation failed: requests exceed limits", "misconfigured", "validation"),
        ("resources didn't satisfy LimitRange constraints: x", "misconfigured", "limit-range"),
        ("Workload no longer fits after processing another workload", "quota", "race"),
        ("Workload has overlapping preemption targets with another workload", "quota", "race"),
        ("other workloads in the cohort were prioritized", "quota", "race"),
        ("Bypassed scheduling evaluation because an equivalent workload recently failed", "sibling", "sibling"),
        ("Workload requires preemption, but it's gated", "gated", "preemption-gate"),
        ("Admission is gated by: example.com/gate", "gated", "gate"),
        ("Failed to admit workload: conflict", "controller", "api-error"),
        (
            "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled",
            "misconfigured",
            "dra",
        ),
        ("DynamicResourceAllocation feature does not support use of resource claims", "misconfigured", "dra"),
        ("waiting for all admitted workloads to be in PodsReady condition", "pods-ready", "pods-ready"),
        ("Exceeded the PodsReady timeout a/b", "evaluation", "eviction"),
        ("Preempted to accommodate a workload (UID: u) due to prioritization in the ClusterQueue", "evaluation", "eviction"),
        ("At least one admission check is false", "evaluation", "eviction"),
        ('Evicted due to AdmissionCheck in Retry state: "wood" (none left)', "evaluation", "eviction"),
        ("The workload is deactivated", "deactivated", "deactivated"),
        ("words of a version to come", "unknown", ""),
    ],
)
def test_before_0_19_the_message_tells(message: str, cause: str, detail: str) -> None:
    found = classify("Pending", message)
    assert (found.cause, found.detail) == (cause, detail)


@pytest.mark.parametrize(
    ("reason", "message", "cause"),
    [
        ("WaitingForQuota", FRAME + MAX, "quota"),
        ("ExceedsMaxQuota", FRAME + QUOTA, "never-fits"),
        ("NoMatchingFlavor", FRAME + "untolerated taint {a b NoSchedule <nil>} in flavor hot", "misconfigured"),
        ("TopologyPlacementFailed", FRAME + "no topology domains at level: rack", "topology"),
        ("WaitingForPreemptedWorkloads", FRAME + QUOTA + ". Pending the preemption of 2 workload(s)", "quota"),
        ("WaitingForPodsReady", "waiting for all admitted workloads to be in PodsReady condition", "pods-ready"),
        ("Waiting", "anything", "pods-ready"),
        ("PendingEvaluation", "Preempted to accommodate a workload (UID: u) due to x", "evaluation"),
        ("Misconfigured", "LocalQueue jugs doesn't exist", "misconfigured"),
        ("Misconfigured", "words of a version to come", "misconfigured"),
        ("Suspended", "ClusterQueue kiln is inactive", "queue"),
        ("Suspended", "LocalQueue jugs is stopped", "queue"),
        ("AdmissionGated", "Admission is gated by: x", "gated"),
        ("Deactivated", "The workload is deactivated", "deactivated"),
        ("OnHold", "", "held"),
        ("Inadmissible", "LocalQueue jugs doesn't exist", "misconfigured"),
        ("Inadmissible", "ClusterQueue kiln is stopped", "queue"),
        ("Inadmissible", "words of a version to come", "misconfigured"),
        ("Inadmissible", None, "misconfigured"),
        (None, None, "none"),
    ],
)
def test_a_reason_of_its_own_decides(reason: str | None, message: str | None, cause: str) -> None:
    assert classify(reason, message).cause == cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        # Flavors are alternatives: the least severe one counts.
        (FRAME + MAX + ", " + QUOTA, "quota"),
        (FRAME + "untolerated taint {a b NoSchedule <nil>} in flavor spot, " + MAX, "never-fits"),
        # What one flavor lacks is needed together.
        (FRAME + "insufficient quota for memory in flavor hot, request > maximum capacity (3 > 2), " + QUOTA, "never-fits"),
        # So are pod sets.
        (FRAME + QUOTA + "; couldn't assign flavors to pod set other: " + MAX, "never-fits"),
        (FRAME + QUOTA + "; couldn't assign flavors to pod set other: flavor x not found", "misconfigured"),
        # A resource without any quota fails in every flavor.
        (FRAME + QUOTA + ", resource wheel unavailable in ClusterQueue", "misconfigured"),
        # Topology beside quota: quota alone would not help.
        (FRAME + QUOTA + ", " + TAS, "topology"),
        (FRAME + TAS + ", " + MAX, "topology"),
    ],
)
def test_several_causes(message: str, cause: str) -> None:
    assert classify("Pending", message).cause == cause


def test_the_numbers_and_names_of_a_part() -> None:
    found = classify(
        "Pending", f"{FRAME}{MAX}; couldn't assign flavors to pod set other: {QUOTA}. Pending the preemption of 3 workload(s)"
    )
    first, second = found.parts
    assert (first.pod_set, first.resource, first.flavor, first.before, first.asked, first.limit) == (
        "main",
        "cpu",
        "cold",
        "1",
        "3",
        "2",
    )
    assert (second.pod_set, second.flavor, second.more) == ("other", "hot", "500m")
    assert found.preempting == 3


def test_a_flavor_with_dots_at_the_end_of_a_sentence() -> None:
    found = classify("Pending", FRAME + "flavor a.b-c not found. Preempting 2 workload(s) failed, will retry.")
    assert [part.flavor for part in found.parts] == ["a.b-c"]


def test_the_queue_that_is_named() -> None:
    found = classify("Suspended", "ClusterQueue kiln.example is inactive")
    assert (found.queue_kind, found.queue_name, found.queue_how) == ("ClusterQueue", "kiln.example", "inactive")


def test_a_huge_message_is_bounded() -> None:
    found = classify("Pending", FRAME + ", ".join([QUOTA] * 10_000))
    assert len(found.parts) == MAX_PARTS


WORDS = st.sampled_from(
    [FRAME, QUOTA, MAX, TAS, ", ", "; ", "LocalQueue x is stopped", "untolerated taint {", "(", ")", "\x00", "é", "in flavor "]
)


@given(
    st.one_of(st.none(), st.text(max_size=40), st.sampled_from(["Pending", "Inadmissible", "Suspended", "Misconfigured"])),
    st.text(),
)
def test_any_text_has_a_cause(reason: str | None, message: str) -> None:
    found = classify(reason, message)
    assert found.cause
    assert all(part.text in message for part in found.parts)


@given(
    st.sampled_from(["Pending", "Inadmissible", "WaitingForQuota", "X"]),
    st.lists(st.one_of(WORDS, st.text(max_size=10)), max_size=30),
)
def test_any_mix_of_kueues_words_has_a_cause(reason: str, words: list[str]) -> None:
    found = classify(reason, "".join(words))
    assert found.cause
    assert len(found.parts) <= MAX_PARTS
