"""Gangs of pods, their queues, NVIDIA Dynamo and InferencePools in the tables of jobs and of serving."""

from __future__ import annotations

from typing import Any

from analyzer.overview import jobs, serving
from tests.overview.cells import captioned, finding, lines, marks, named
from tests.overview.test_ai_work import AT, pod, sections, thing, told

GROVE, KAI, VOLCANO = "grove.io/v1alpha1", "scheduling.run.ai", "scheduling.volcano.sh/v1beta1"
QUEUES = [("", "Pod"), ("", "Service"), (KAI, "Queue")]


def of(api: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "name": name, "uid": f"u-{name}"}


def test_gangs_of_three_schedulers_and_their_queues() -> None:
    waiting = pod("drum-0", {}, ready=False)
    waiting["metadata"]["annotations"] = {"pod-group-name": "drum"}
    said = {"type": "UnschedulableOnNodePool", "status": "True", "reasons": [{"reason": "OverLimit", "message": "at its limit"}]}
    clique = thing(GROVE, "PodClique", "set-0-a", {"minAvailable": 1}, {"conditions": [told("MinAvailableBreached", "False")]})
    clique["metadata"]["ownerReferences"] = [of(GROVE, "PodCliqueSet", "set") | {"controller": True}]
    made = sections(
        jobs,
        thing(f"{KAI}/v2", "Queue", "oven", {"parentQueue": "village"}, namespace=""),
        thing(
            f"{KAI}/v2",
            "Queue",
            "village",
            {"resources": {"gpu": {"quota": 2, "limit": 4}}},
            {"allocated": {"nvidia.com/gpu": "4"}},
            namespace="",
        ),
        thing(f"{KAI}/v2alpha2", "PodGroup", "drum", {"queue": "oven", "minMember": 2}, {"schedulingConditions": [said]}),
        waiting,
        thing(VOLCANO, "PodGroup", "band", {"minMember": 4}, {"phase": "Running"}),
        thing(GROVE, "PodCliqueSet", "set", {}, {"conditions": [told("MinAvailableBreached", "False")]}),
        clique,
        pod("set-0-a-x", {}, owner=of(GROVE, "PodClique", "set-0-a")),
        thing("scheduler.grove.io/v1alpha1", "PodGang", "lost", {}, {"phase": "Pending"}),
        lists=QUEUES,
        found=marks(finding("scheduler.grove.io", "PodGang", "bay", "lost", "error")),
    )
    section = named(made, "jobs")
    assert section.small == "gangs of pods, queues of gangs"
    gangs = lines(captioned(section, "Gangs of pods"))
    assert gangs[0].startswith("bay/lost (PodGang) | Grove | Pending")
    assert "bay/band (PodGroup) | Volcano | Running | 0 / 0 (4 at once) | default | " in gangs
    assert (
        'bay/drum (PodGroup) | KAI Scheduler | Unschedulable | 0 / 1 (2 at once) | oven |  (OverLimit: "at its limit")' in gangs
    )
    assert any(line.startswith("bay/set (PodCliqueSet) | Grove | Available") and "| 1 / 1 |" in line for line in gangs)
    assert not any("set-0-a" in line for line in gangs)
    queues = lines(captioned(section, "Queues of gangs"))
    assert "oven (below village) | KAI Scheduler | Active |  | 1 of 1" in queues
    assert "village | KAI Scheduler | At its limit | nvidia.com/gpu 4 of 4 | 0 of 0" in queues


def test_dynamo_and_pools_stand_among_the_services() -> None:
    graph = thing(
        "nvidia.com/v1alpha1",
        "DynamoGraphDeployment",
        "glaze",
        {"services": {}},
        {
            "state": "pending",
            "conditions": [told("Ready", "False", "not_ready_yet", "Resources not ready: decode")],
        },
    )
    clique = thing(GROVE, "PodClique", "decode", {}, {})
    clique["metadata"]["ownerReferences"] = [of("nvidia.com/v1alpha1", "DynamoGraphDeployment", "glaze") | {"controller": True}]
    refused = {"type": "Accepted", "status": "False", "reason": "HTTPRouteNotAccepted", "lastTransitionTime": AT}
    made = sections(
        serving,
        graph,
        clique,
        pod("decode-x", {}, waiting="CrashLoopBackOff", ready=False, owner=of(GROVE, "PodClique", "decode")),
        thing(
            "inference.networking.k8s.io/v1",
            "InferencePool",
            "door",
            {"endpointPickerRef": {"name": "picker"}},
            {"parents": [{"parentRef": {"kind": "Gateway", "name": "gate"}, "conditions": [refused]}]},
        ),
        lists=QUEUES,
    )
    shown = lines(named(made, "serving").tables[0])
    assert (
        "bay/glaze | NVIDIA Dynamo (DynamoGraphDeployment) | pending (for 60 min) | 0 / 1 |  |  "
        '(not_ready_yet: "Resources not ready: decode")' in shown
    )
    assert (
        "bay/door (Gateway gate) | Gateway (InferencePool) | Not accepted (for 60 min) |  | picker picker | "
        "its endpoint picker is not there (HTTPRouteNotAccepted)" in shown
    )
