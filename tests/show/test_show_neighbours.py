"""Pages of gangs and their queues, LeaderWorkerSets, Dynamo, InferencePools, KEDA, Karpenter and the Network Operator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.build import database
from tests.show.pages import owned, page, section, thing

KAI, VOLCANO, GROVE = "scheduling.run.ai", "scheduling.volcano.sh", "grove.io"
LISTS = [("", "Pod"), ("", "Service"), (KAI, "Queue"), (VOLCANO, "Queue"), ("apps", "Deployment")]
AT = "2026-11-01T11:00:00Z"
SPACE = "pottery"


def pod(name: str, node: str = "", ready: bool = True, **metadata: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "m"}]} | ({"nodeName": node} if node else {})
    status: dict[str, Any] = {"phase": "Running" if node else "Pending"}
    if node:
        status["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
        status["containerStatuses"] = [{"name": "m", "ready": ready, "state": {"running": {"startedAt": AT}}}]
    else:
        status["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}]
    return thing("v1", "Pod", name, SPACE, spec=spec, status=status, metadata=metadata)


def shown(name: str, title: str, *objects: dict[str, Any], namespace: str | None = SPACE) -> list[str]:
    """The lines of a section, each run of blanks as one: how labels are aligned is not what is tested here."""
    lines = section(page(database(objects, lists=LISTS), name, namespace), title)
    return [" ".join(line.split()) for line in lines]


def test_a_kai_group_shows_its_queue_its_pods_and_the_schedulers_words() -> None:
    said = {"type": "UnschedulableOnNodePool", "status": "True", "reasons": [{"reason": "OverLimit", "message": "at its limit"}]}
    objects = [
        thing(f"{KAI}/v2", "Queue", "oven", spec={"parentQueue": "village", "priority": 5}),
        thing(
            f"{KAI}/v2alpha2",
            "PodGroup",
            "jug",
            SPACE,
            spec={"queue": "oven", "minMember": 2},
            status={"schedulingConditions": [said]},
        ),
        pod("jug-0", annotations={"pod-group-name": "jug"}),
        pod("jug-1", "wheel", annotations={"pod-group-name": "jug"}),
    ]
    gang = shown("podgroups.scheduling.run.ai/jug", "Gang", *objects)
    assert "Queue: oven (Orphaned; queue village, above it, does not exist)" in gang
    assert "Needs at once: 2 pods" in gang
    assert "Pods: 1 of 2 ready, 1 without a node" in gang
    assert 'KAI Scheduler says: OverLimit: "at its limit"' in gang
    pods = shown("podgroups.scheduling.run.ai/jug", "Pods of the gang", *objects)
    assert [line.split()[0] for line in pods[2:]] == ["jug-0", "jug-1"]
    assert 'Unschedulable: "no room"' in pods[2]
    queue = shown("queues.scheduling.run.ai/oven", "Queue", *objects, namespace=None)
    assert "Below: village (queue village does not exist)" in queue
    assert "Priority: 5" in queue
    assert shown("queues.scheduling.run.ai/oven", "Pod groups", *objects, namespace=None)[2].startswith("pottery/jug")


def test_a_gang_without_pods_in_a_namespace_whose_pods_were_all_collected() -> None:
    con = database([thing(f"{VOLCANO}/v1beta1", "PodGroup", "band", SPACE, spec={"minMember": 4})], lists=LISTS)
    for scope, unsure in ((SPACE, False), ("elsewhere", True)):
        con.execute("UPDATE coverage SET scope = [?] WHERE api_group = '' AND kind = 'Pod'", [scope])
        lines = section(page(con, "podgroups.scheduling.volcano.sh/band", SPACE), "Gang")
        assert any("cannot tell: pods were not collected whole" in line for line in lines) == unsure


def test_a_volcano_queue_shows_limits_and_its_group_what_it_lacks() -> None:
    objects = [
        thing(
            f"{VOLCANO}/v1beta1",
            "Queue",
            "stage",
            spec={"weight": 3, "capability": {"cpu": "8"}},
            status={"state": "Open", "allocated": {"cpu": "6"}},
        ),
        thing(
            f"{VOLCANO}/v1beta1",
            "PodGroup",
            "band",
            SPACE,
            spec={"queue": "stage", "minResources": {"cpu": "9"}},
            status={"phase": "Pending"},
        ),
    ]
    assert "cpu: Deduced: 9 asked for; 6 of 8 of its queue in use, more than it may ever use" in shown(
        "podgroups.scheduling.volcano.sh/band", "Gang", *objects
    )
    queue = shown("queues.scheduling.volcano.sh/stage", "Queue", *objects, namespace=None)
    assert "Weight: 3" in queue
    assert queue[-1].split() == ["cpu", "8", "6"]


def test_grove_shows_parts_and_cliques() -> None:
    breached = {
        "conditions": [
            {"type": "MinAvailableBreached", "status": "True", "reason": "InsufficientReadyPods", "message": "too few"}
        ]
    }
    objects = [
        thing(f"{GROVE}/v1alpha1", "PodCliqueSet", "glaze", SPACE, metadata={"uid": "u-set"}),
        thing(
            f"{GROVE}/v1alpha1",
            "PodClique",
            "glaze-0-a",
            SPACE,
            spec={"minAvailable": 1},
            status=breached,
            metadata={"uid": "u-a"} | owned("PodCliqueSet", "glaze", "u-set", f"{GROVE}/v1alpha1"),
        ),
        pod("glaze-0-a-x", **owned("PodClique", "glaze-0-a", "u-a", f"{GROVE}/v1alpha1")),
        thing(
            "scheduler.grove.io/v1alpha1",
            "PodGang",
            "glaze-0",
            SPACE,
            spec={"podgroups": [{"name": "glaze-0-a", "minReplicas": 2, "podReferences": [{}]}]},
        ),
    ]
    parts = shown("podcliqueset/glaze", "Parts", *objects)
    assert parts[2].split() == [
        "PodClique",
        "glaze-0-a",
        "Too",
        "few",
        "pods",
        "0",
        "/",
        "1",
        "InsufficientReadyPods:",
        '"too',
        'few"',
    ]
    assert shown("podgang/glaze-0", "Cliques", *objects)[2].split() == ["glaze-0-a", "2", "1"]


def test_a_bind_request_shows_pod_node_and_attempts() -> None:
    request = thing(
        f"{KAI}/v1alpha2",
        "BindRequest",
        "b",
        SPACE,
        spec={"podName": "jug-0", "selectedNode": "wheel", "backoffLimit": 5, "receivedGPU": {"count": 1, "portion": "0.5"}},
        status={"phase": "Failed", "reason": "no share", "failedAttempts": 3},
    )
    lines = shown("bindrequest/b", "Binding", request, pod("jug-0"))
    assert lines[1:] == [
        "Pod: jug-0 (Pending)",
        "Node: wheel",
        "GPUs: 1, 0.5 of each",
        "Failed attempts: 3 of 5",
        'The binder says: "no share"',
    ]


def test_a_leader_worker_set_shows_how_many_places_there_are_for_its_groups() -> None:
    mark = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "example/rack"}
    choir = thing(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "choir", SPACE, spec={"replicas": 2}, metadata={"annotations": mark}
    )
    nodes = [thing("v1", "Node", name, metadata={"labels": {"example/rack": "a"}}) for name in ("n1", "n2")]
    lines = shown("leaderworkerset/choir", "Placement", choir, *nodes)
    assert lines[1:] == [
        "Exclusive: each group takes a example/rack for itself",
        "There are: 1, by the nodes' labels, for 2 groups",
    ]


def test_dynamo_and_pools() -> None:
    graph = thing(
        "nvidia.com/v1alpha1",
        "DynamoGraphDeployment",
        "glaze",
        SPACE,
        spec={"services": {"decode": {}}},
        status={"state": "pending"},
        metadata={"uid": "u-g"},
    )
    made = thing(
        f"{GROVE}/v1alpha1",
        "PodCliqueSet",
        "glaze",
        SPACE,
        metadata=owned("DynamoGraphDeployment", "glaze", "u-g", "nvidia.com/v1alpha1"),
    )
    lines = shown("dynamographdeployment/glaze", "Made of", graph, made)
    assert 'State: "pending"' in lines
    assert "Services: decode" in lines
    assert lines[-1].split() == ["PodCliqueSet", "glaze", "Pending"]
    pool = thing(
        "inference.networking.k8s.io/v1",
        "InferencePool",
        "door",
        SPACE,
        spec={"endpointPickerRef": {"name": "picker"}, "selector": {"matchLabels": {"app": "m"}}},
    )
    lines = shown("inferencepool/door", "Pool", pool)
    assert "Endpoint picker: Service picker (does not exist)" in lines
    con = database([pool], lists=LISTS)
    for scope, told in ((SPACE, "(does not exist)"), ("elsewhere", "(not in this bundle)")):
        con.execute("UPDATE coverage SET scope = [?] WHERE api_group = '' AND kind = 'Service'", [scope])
        assert any(line.endswith(f"Service picker {told}") for line in section(page(con, "inferencepool/door", SPACE), "Pool"))
    assert "Selects pods: app=m" in lines
    service = thing("v1", "Service", "picker", SPACE, spec={"selector": {"app": "p"}})
    lines = shown("inferencepool/door", "Pool", pool, service, pod("p-0", "wheel", ready=False, labels={"app": "p"}))
    assert "Endpoint picker: Service picker, 0 of 1 pods ready" in lines


def test_a_picker_whose_pods_nobody_collected_is_not_said_to_have_none() -> None:
    pool = thing("inference.networking.k8s.io/v1", "InferencePool", "door", SPACE, spec={"endpointPickerRef": {"name": "picker"}})
    service = thing("v1", "Service", "picker", SPACE, spec={"selector": {"app": "p"}})
    lists = [kind for kind in LISTS if kind != ("", "Pod")]
    lines = section(page(database([pool, service], lists=lists), "inferencepool/door", SPACE), "Pool")
    assert any(line.endswith("Service picker (its pods were not collected)") for line in lines)
    assert "Endpoint picker: Service picker, 0 of 0 pods ready" in shown("inferencepool/door", "Pool", pool, service)


def test_keda_and_karpenter() -> None:
    tide = thing(
        "keda.sh/v1alpha1",
        "ScaledObject",
        "tide",
        SPACE,
        spec={
            "scaleTargetRef": {"name": "wave"},
            "minReplicaCount": 1,
            "maxReplicaCount": 9,
            "fallback": {"replicas": 2, "failureThreshold": 3},
            "triggers": [{"type": "kafka", "metadata": {"topic": "x"}, "authenticationRef": {"name": "keys"}}],
        },
        status={"hpaName": "keda-hpa-tide", "health": {"s0-kafka": {"status": "Failing", "numberOfFailures": 7}}},
        metadata={"annotations": {"autoscaling.keda.sh/paused-replicas": "0"}},
    )
    lines = shown("scaledobject/tide", "Scaling", tide)
    assert "Scales: Deployment wave (does not exist)" in lines
    assert "Replicas: at least 1, at most 9" in lines
    assert "Paused: on purpose, at 0 replicas" in lines
    assert "Fallback: 2 replicas, after 3 failures" in lines
    assert any(line.split() == ["kafka", "keys"] for line in lines)
    assert lines[-1].split() == ["s0-kafka", "Failing", "7"]
    claim = thing(
        "karpenter.sh/v1",
        "NodeClaim",
        "big-1",
        spec={"resources": {"requests": {"nvidia.com/gpu": "1"}}},
        status={"capacity": {"cpu": "8"}, "conditions": [{"type": "Launched", "status": "False"}]},
        metadata={"labels": {"karpenter.sh/nodepool": "big"}},
    )
    pool = thing("karpenter.sh/v1", "NodePool", "big", spec={"limits": {"cpu": "64"}}, status={"resources": {"cpu": "60"}})
    lines = shown("nodeclaim/big-1", "Machine", claim, pool, namespace=None)
    assert "NodePool: big" in lines
    assert [line.split() for line in lines[-2:]] == [["cpu", "8"], ["nvidia.com/gpu", "1"]]
    lines = shown("nodepool/big", "Nodes", claim, pool, namespace=None)
    assert "NodeClaims: Not launched (1)" in lines
    assert lines[-1].split() == ["cpu", "60", "64"]


def test_a_nic_policy_shows_its_parts_and_the_nodes_that_wait() -> None:
    policy = thing(
        "mellanox.com/v1alpha1",
        "NicClusterPolicy",
        "nics",
        status={"state": "notReady", "appliedStates": [{"name": "state-OFED", "state": "notReady", "message": "pods late"}]},
    )
    nodes = [
        thing("v1", "Node", "n1", metadata={"labels": {"network.nvidia.com/operator.mofed.wait": "true"}}),
        thing("v1", "Node", "n2", metadata={"labels": {"nvidia.com/ofed-driver-upgrade-state": "upgrade-failed"}}),
    ]
    lines = shown("nicclusterpolicy/nics", "Parts", policy, *nodes, namespace=None)
    assert "Wait for the driver: nodes n1" in lines
    assert "Upgrade failed: nodes n2" in lines
    assert lines[-1].split() == ["state-OFED", "notReady", "pods", "late"]


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        (f"{KAI}/v2alpha2", "PodGroup"),
        (f"{KAI}/v2", "Queue"),
        (f"{VOLCANO}/v1beta1", "Queue"),
        (f"{KAI}/v1alpha2", "BindRequest"),
        ("scheduler.grove.io/v1alpha1", "PodGang"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("nvidia.com/v1alpha1", "DynamoModel"),
        ("keda.sh/v1alpha1", "ScaledJob"),
        ("karpenter.sh/v1", "NodePool"),
        ("karpenter.sh/v1", "NodeClaim"),
        ("mellanox.com/v1alpha1", "NicNodePolicy"),
        ("inference.networking.k8s.io/v1", "InferencePool"),
    ],
)
def test_odd_fields_break_no_page(api: str, kind: str) -> None:
    odd: dict[str, Any] = {
        key: value
        for key in (
            "resources",
            "podgroups",
            "services",
            "triggers",
            "scaleTargetRef",
            "template",
            "limits",
            "capability",
            "selector",
            "receivedGPU",
            "fallback",
            "nodeClassRef",
            "queue",
            "minMember",
            "parentQueue",
            "endpointPickerRef",
            "leaderWorkerTemplate",
        )
        for value in ([1, "x", {"name": ["y"]}],)
    }
    status = {
        key: ["z", {"a": {}}, 3]
        for key in (
            "appliedStates",
            "conditions",
            "schedulingConditions",
            "health",
            "resources",
            "allocated",
            "parents",
            "phase",
            "state",
        )
    }
    text = page(
        database([thing(api, kind, "odd", SPACE, spec=odd, status=status)], lists=LISTS),
        f"{kind.lower()}.{api.partition('/')[0]}/odd",
        SPACE,
    )
    assert "odd" in text.split("\n")[0]
