"""Pages of Kueue's objects, of jobs that have a queue, of training jobs and of Ray's schedules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.build import database
from tests.kueue.test_facts import ALL, NEW, OLD, active, condition, kueue, queue, workload
from tests.kueue.test_offers import node
from tests.overview.test_queues import QUOTA, used, waits, with_status
from tests.show.pages import owned, page, section, thing

MORE = [*ALL, ("", "Node"), *(("kueue.x-k8s.io", kind) for kind in ("AdmissionCheck", "MultiKueueCluster", "MultiKueueConfig"))]


def shown(objects: list[dict[str, Any]], name: str, title: str, namespace: str | None = None, lists: Any = MORE) -> list[str]:
    return section(page(database(objects, lists=lists), name, namespace), title)


def test_a_queue_shows_quota_beside_use_who_waits_and_who_holds_it() -> None:
    holder = workload("big", condition("QuotaReserved", "True"), condition("Admitted", "True"))
    holder["spec"]["podSets"] = [{"name": "main", "count": 1, "template": {"spec": {"containers": []}}}]
    holder["status"]["admission"] = {
        "clusterQueue": "kiln",
        "podSetAssignments": [{"name": "main", "count": 1, "flavors": {"cpu": "hot"}, "resourceUsage": {"cpu": "6"}}],
    }
    kiln = with_status(queue("kiln", cohort="works", nominalQuota="4", borrowingLimit="2", lendingLimit="1"), used("6", "2"))
    kiln["spec"] |= {
        "namespaceSelector": {"matchLabels": {"team": "clay"}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
    }
    objects = [
        kiln,
        kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, active(), namespace="pottery"),
        holder,
        waits("late", at="2026-11-01T11:30:00Z"),
        waits("early", at="2026-11-01T10:00:00Z", priority=5),
        waits("odd", "couldn't assign flavors to pod set main: flavor hot doesn't match node affinity"),
    ]
    con = database(objects, lists=MORE)
    text = page(con, "clusterqueue/kiln")
    assert section(text, "Quota")[2].split() == ["hot", "cpu", "4", "6", "2", "150", "%", "6", "2", "1"]
    waiting = section(text, "Waiting (3")
    assert waiting[1] == "By cause: quota that others hold (2), misconfigured (1)"
    assert [line.split()[0] for line in waiting[3:]] == ["pottery/early", "pottery/odd", "pottery/late"]
    assert QUOTA.format(1) in waiting[3]
    assert section(text, "Quota is held by")[2].startswith("pottery/big  6 cpu  hot     Admitted")
    assert "Namespaces: those with team=clay" in section(text, "Rules")
    assert section(page(con, "localqueue/jugs", "pottery"), "Waiting (3")[3].startswith("early")


@pytest.mark.parametrize(("version", "used_by"), [(OLD, "flavorUsage"), (NEW, "flavorsUsage")])
def test_a_local_queue_shows_what_its_workloads_hold(version: str, used_by: str) -> None:
    held, admitted = ([{"name": "hot", "resources": [{"name": "cpu", "total": many}]}] for many in ("6", "1500m"))
    status = active() | {"flavorsReservation": held, used_by: admitted}
    jugs = kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, status, version, namespace="pottery")
    lines = shown([queue("kiln", version=version, nominalQuota="9"), jugs], "localqueue/jugs", "Use of the quota", "pottery")
    assert lines[-1].split() == ["hot", "cpu", "6", "1500m"]


def test_a_queue_tells_a_cohort_that_is_no_object() -> None:
    objects = [queue("kiln", cohort="works", nominalQuota="1"), queue("oven", cohort="works", nominalQuota="1")]
    assert "Cohort:        works (no Cohort object: it is the 2 queues that name it)" in shown(
        objects, "clusterqueue/kiln", "Queue"
    )
    unlisted = [kind for kind in MORE if kind[1] != "Cohort"]
    assert any("cannot be told" in line for line in shown(objects, "clusterqueue/kiln", "Queue", lists=unlisted))
    named = [*objects, kueue("Cohort", "works", {})]
    assert "Cohort:        works" in shown(named, "clusterqueue/kiln", "Queue")


def test_a_queue_that_selects_no_namespace_says_so() -> None:
    assert any(
        "none: namespaceSelector is null" in line
        for line in shown([queue("kiln", nominalQuota="1")], "clusterqueue/kiln", "Rules")
    )


def test_a_cohort_shows_its_place_and_its_members() -> None:
    objects = [
        kueue("Cohort", "works", {"parentName": "town"}),
        kueue("Cohort", "shed", {"parentName": "works"}),
        with_status(queue("kiln", cohort="works", nominalQuota="4"), used("5", "1")),
    ]
    lines = shown(objects, "cohort/works", "Cohort")
    assert "Parent:        town" in lines
    assert "Cohorts in it: shed" in lines
    assert lines[-1].split("  ")[0] == "kiln"
    assert "hot cpu: 5 of 4, 1 borrowed" in lines[-1]
    turning = [kueue("Cohort", "hen", {"parentName": "egg"}), kueue("Cohort", "egg", {"parentName": "hen"})]
    assert any("turn in a circle: egg, hen" in line for line in shown(turning, "cohort/hen", "Cohort"))


def test_a_flavor_shows_its_nodes_and_what_is_promised_of_them() -> None:
    spec = {
        "nodeLabels": {"zone": "a"},
        "nodeTaints": [{"key": "gpu", "value": "y", "effect": "NoSchedule"}],
        "topologyName": "racks",
    }
    objects = [kueue("ResourceFlavor", "hot", spec), queue("kiln", nominalQuota="12"), node("n1", {"zone": "a"}, {"cpu": "8"})]
    lines = shown(objects, "resourceflavor/hot", "Flavor")
    assert "Nodes:          those labelled zone=a" in lines
    assert "Taints:         gpu=y:NoSchedule; a Workload must tolerate them" in lines
    assert "Topology:       racks (does not exist)" in lines
    assert lines[-1].split() == ["cpu", "8", "kiln", "12"]
    partial = shown(objects, "resourceflavor/hot", "Flavor", lists=[*ALL])
    assert partial[-1].split() == ["cpu", "8", "kiln", "12"]


def test_a_topology_counts_domains_and_nodes_of_each_level() -> None:
    spec = {"levels": [{"nodeLabel": "example/block"}, {"nodeLabel": "example/rack"}, {"nodeLabel": 'x"y'}, {}]}
    objects = [
        kueue("Topology", "racks", spec),
        kueue("ResourceFlavor", "hot", {"topologyName": "racks"}),
        node("n1", {"example/block": "b", "example/rack": "r1"}, {}),
        node("n2", {"example/block": "b", "example/rack": "r2"}, {}),
        node("n3", {}, {}),
    ]
    lines = shown(objects, "topologies.kueue.x-k8s.io/racks", "Levels")
    assert lines[2].split() == ["1", "example/block", "1", "2"]
    assert lines[3].split() == ["2", "example/rack", "2", "2"]
    assert lines[-1] == "Flavors: hot"


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_check_shows_who_answers_and_who_waits_for_it(version: str) -> None:
    waiting = workload("late", condition("QuotaReserved", "True"), version=version)
    waiting["status"]["admissionChecks"] = [
        {"name": "prov", "state": "Retry", "message": "no capacity", "lastTransitionTime": "2026-11-01T11:00:00Z"}
    ]
    kiln = queue("kiln", version=version, nominalQuota="1")
    kiln["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "prov"}]}
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "fast"}
    check = kueue(
        "AdmissionCheck",
        "prov",
        {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters},
        version=version,
    )
    request = thing(
        "autoscaling.x-k8s.io/v1",
        "ProvisioningRequest",
        "late-prov-2",
        "pottery",
        spec={"provisioningClassName": "queued", "podSets": [{"count": 3, "podTemplateRef": {"name": "t"}}]},
    )
    objects = [
        waiting,
        kiln,
        check,
        request,
        kueue(
            "ProvisioningRequestConfig",
            "fast",
            {"provisioningClassName": "queued", "retryStrategy": {"backoffLimitCount": 2, "backoffBaseSeconds": 120}},
        ),
    ]
    lines = shown(objects, "admissioncheck/prov", "Check")
    assert lines[1].startswith("Controller: kueue.x-k8s.io/provisioning-request: the cluster's autoscaler")
    assert "Parameters: ProvisioningRequestConfig fast" in lines
    assert any("no such condition: no controller answers" in line for line in lines)
    assert "Asked by:   cluster queues kiln" in lines
    assert lines[-1].split("  ")[0] == "pottery/late"
    assert '"no capacity"' in lines[-1]
    made_for = shown(objects, "provisioningrequests/late-prov-2", "Request", "pottery")
    assert "Asks for: 3 pods as t" in made_for
    assert "Made for: Workload late (Waiting for admission checks), check prov (Retry)" in made_for
    assert shown(objects, "provisioningrequestconfigs/fast", "Requests")[-1] == "Tried again: 2 times, first after 2 min"


@pytest.mark.parametrize("nested", [True, False])
def test_other_clusters_show_their_connection_and_never_a_kubeconfig(nested: bool) -> None:
    config = {"kubeConfig": {"location": "worker-secret", "locationType": "Secret"}}
    objects = [
        kueue("MultiKueueConfig", "remote", {"clusters": ["far", "gone"]}),
        kueue(
            "MultiKueueCluster",
            "far",
            {"clusterSource": config} if nested else config,
            {"conditions": [condition("Active", "False", "ClientConnectionFailed", "no route")]},
        ),
        thing("v1", "Secret", "worker-secret", "kueue-system", data={"kubeconfig": "c2VjcmV0"}),
    ]
    lines = shown(objects, "multikueueconfig/remote", "Clusters")
    assert 'far      not active      ClientConnectionFailed: "no route"' in lines
    assert "gone     does not exist" in lines
    text = page(database(objects, lists=MORE), "multikueuecluster/far")
    assert "Kubeconfig: Secret worker-secret (never shown)" in section(text, "Connection")
    assert "c2VjcmV0" not in text


def test_a_priority_class_shows_its_value() -> None:
    item = kueue("WorkloadPriorityClass", "high") | {"value": 10000, "description": "for people"}
    assert shown([item], "workloadpriorityclass/high", "Priority")[1:] == ["Value:     10,000", 'Meant for: "for people"']


def test_a_workload_shows_where_its_pods_were_put_and_whom_it_made_room_for() -> None:
    message = "Preempted to accommodate a workload (UID: u-winner, JobUID: j) due to prioritization in the ClusterQueue"
    loser = workload(
        "loser",
        condition("Evicted", "True", "Preempted", message),
        condition("QuotaReserved", "False", "Pending", QUOTA.format(1)),
    )
    winner = workload("winner", condition("QuotaReserved", "True"), condition("Admitted", "True"), uid="u-winner")
    winner["spec"]["podSets"] = [{"name": "main", "count": 2, "template": {"spec": {"containers": []}}}]
    assigned = {"levels": ["rack"], "domains": [{"values": ["r1"], "count": 2}]}
    winner["status"]["admission"] = {
        "clusterQueue": "kiln",
        "podSetAssignments": [{"name": "main", "count": 2, "topologyAssignment": assigned}],
    }
    objects = [loser, winner, queue("kiln", nominalQuota="1")]
    assert "Made room for: Workload pottery/winner" in shown(objects, "workload/loser", "In the queue", "pottery")
    assert any(
        "Pods of main were put into" in line and "r1" in line for line in shown(objects, "workload/winner", "Pod sets", "pottery")
    )


JOBS = [
    ("batch/v1", "Job", "job"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", "jobset"),
    ("ray.io/v1", "RayJob", "rayjob"),
    ("ray.io/v1", "RayCluster", "raycluster"),
    ("kubeflow.org/v1", "PyTorchJob", "pytorchjob"),
    ("kubeflow.org/v2beta1", "MPIJob", "mpijob"),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjob"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkerset"),
    ("workload.codeflare.dev/v1beta2", "AppWrapper", "appwrapper"),
]


@pytest.mark.parametrize(("api", "kind", "word"), JOBS)
def test_every_kind_of_job_shows_its_queue_and_why_it_waits(api: str, kind: str, word: str) -> None:
    job = thing(api, kind, "clay", "pottery", metadata={"uid": "u-clay", "labels": {"kueue.x-k8s.io/queue-name": "jugs"}})
    load = workload(
        "load", condition("QuotaReserved", "False", "Pending", QUOTA.format(1)), labels={"kueue.x-k8s.io/job-uid": "u-clay"}
    )
    stats = {"evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 2}]}
    load["status"]["schedulingStats"] = stats
    objects = [
        job,
        load,
        queue("kiln", nominalQuota="1"),
        kueue("LocalQueue", "jugs", {"clusterQueue": "kiln"}, active(), namespace="pottery"),
    ]
    lines = shown(objects, f"{word}/clay", "Queue", "pottery")
    assert "Queue:         jugs" in lines
    assert any(line.startswith("Workload:      load: Pending") for line in lines)
    assert any(line.startswith("Why it waits:") and QUOTA.format(1) in line for line in lines)
    assert "Cluster queue: kiln" in lines
    assert any(line.startswith("Evictions:     2: ") for line in lines)


def test_a_job_without_a_queue_and_without_a_workload_has_no_such_section() -> None:
    assert shown([thing("batch/v1", "Job", "clay", "pottery")], "job/clay", "Queue", "pottery") == []


def test_a_pod_of_a_group_finds_the_workload_of_the_group() -> None:
    pod = thing(
        "v1",
        "Pod",
        "p0",
        "pottery",
        metadata={"labels": {"kueue.x-k8s.io/pod-group-name": "team", "kueue.x-k8s.io/queue-name": "jugs"}},
        spec={"containers": []},
        status={"phase": "Pending"},
    )
    assert any(
        line.startswith("Workload:") and "team: Pending" in line
        for line in shown([pod, waits("team")], "pod/p0", "Queue", "pottery")
    )


def test_a_leader_worker_set_lists_the_workloads_of_its_groups() -> None:
    lws = thing(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "crew", "pottery", metadata={"uid": "u-crew"}, spec={"replicas": 2}
    )
    loads = [
        workload(
            "crew-0",
            condition("QuotaReserved", "True"),
            condition("Admitted", "True"),
            **owned("LeaderWorkerSet", "crew", "u-crew", "leaderworkerset.x-k8s.io/v1"),
        ),
        workload(
            "crew-1",
            condition("QuotaReserved", "False", "Pending", QUOTA.format(1)),
            **owned("LeaderWorkerSet", "crew", "u-crew", "leaderworkerset.x-k8s.io/v1"),
        ),
    ]
    lines = shown([lws, *loads], "leaderworkerset/crew", "Workloads of its groups", "pottery")
    assert [line.split()[0] for line in lines[2:]] == ["crew-1", "crew-0"]


def test_training_jobs_show_replicas_runtime_and_what_failed_first() -> None:
    spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 3, "restartPolicy": "Never"}}, "runPolicy": {"backoffLimit": 1}}
    job = thing(
        "kubeflow.org/v1",
        "PyTorchJob",
        "tide",
        "bay",
        metadata={"uid": "u-tide"},
        spec=spec,
        status={"replicaStatuses": {"Worker": {"failed": 1, "active": 2}}},
    )
    ended = {"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-11-01T11:00:00Z"}}
    dead = thing(
        "v1",
        "Pod",
        "tide-worker-0",
        "bay",
        metadata=owned("PyTorchJob", "tide", "u-tide", "kubeflow.org/v1"),
        spec={"containers": [{"name": "c"}], "nodeName": "n"},
        status={"phase": "Failed", "containerStatuses": [{"name": "c", "state": ended}]},
    )
    text = page(database([job, dead]), "pytorchjob/tide", "bay")
    assert section(text, "Replicas")[2].split() == ["Worker", "3", "2", "0", "1", "Never"]
    run = section(text, "Run")
    assert "Failed pods:  1 of 1" in run
    assert any(line.startswith("Failed first: Pod tide-worker-0, container c: exit code 3") for line in run)
    train = thing("trainer.kubeflow.org/v1alpha1", "TrainJob", "wave", "bay", spec={"runtimeRef": {"name": "torch"}})
    lists = [("trainer.kubeflow.org", "ClusterTrainingRuntime"), ("jobset.x-k8s.io", "JobSet")]
    lines = shown([train], "trainjob/wave", "Training", "bay", lists)
    assert lines[1:] == ["Runtime: ClusterTrainingRuntime torch (does not exist)", "JobSet:  none yet"]


@pytest.mark.parametrize(("listed", "words"), [("mill", "none yet"), ("barn", "not in this bundle")])
def test_the_list_of_its_own_namespace_tells_what_there_is_not(listed: str, words: str) -> None:
    job = thing("trainer.kubeflow.org/v1alpha1", "TrainJob", "plank", "mill", spec={"runtimeRef": {"name": "torch"}})
    con = database([job])
    con.execute(
        "INSERT INTO coverage BY NAME SELECT 'jobset.x-k8s.io' AS api_group, 'JobSet' AS kind, 0 AS objects, "
        "[?] AS scope, 'complete' AS status",
        [listed],
    )
    assert any(line.split() == ["JobSet:", *words.split()] for line in section(page(con, "trainjob/plank"), "Training"))


def test_an_appwrapper_shows_what_it_wraps() -> None:
    template = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "reef"}}
    wrap = thing(
        "workload.codeflare.dev/v1beta2", "AppWrapper", "wrap", "bay", spec={"components": [{"template": template}, "x"]}
    )
    lines = shown(
        [wrap, thing("ray.io/v1", "RayCluster", "reef", "bay", status={"state": "ready"})], "appwrapper/wrap", "Wraps", "bay"
    )
    assert lines[2].split("  ")[0] == "RayCluster.ray.io"
    assert lines[2].endswith("Ready")


def test_a_ray_schedule_shows_its_jobs() -> None:
    cron = thing(
        "ray.io/v1",
        "RayCronJob",
        "nightly",
        "bay",
        metadata={"uid": "u-n"},
        spec={"schedule": "0 3 * * *", "suspend": True},
        status={"lastScheduleTime": "2026-11-01T03:00:00Z"},
    )
    job = thing(
        "ray.io/v1",
        "RayJob",
        "nightly-1",
        "bay",
        metadata=owned("RayCronJob", "nightly", "u-n", "ray.io/v1"),
        status={"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"},
    )
    lines = shown([cron, job], "raycronjob/nightly", "Schedule", "bay")
    assert 'Schedule:     "0 3 * * *"' in lines
    assert "Suspended:    yes" in lines
    assert lines[-1].startswith("nightly-1  Succeeded")


ANY = (
    "x",
    {"levels": "x", "nodeLabels": [1], "nodeTaints": {"a": 1}, "tolerations": "x", "namespaceSelector": 7, "preemption": [1]},
    {"levels": [1], "clusters": [1, {"a": 2}], "parameters": [], "kubeConfig": "x", "clusterSource": 1, "retryStrategy": "x"},
)


@pytest.mark.parametrize("spec", ANY)
def test_objects_of_any_shape_have_a_page(spec: Any) -> None:
    kinds = ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "AdmissionCheck", "MultiKueueConfig", "MultiKueueCluster")
    con = database([kueue(kind, "q", spec, "x") for kind in kinds], lists=MORE)
    for kind in kinds:
        assert f"{kind} q" in page(con, f"{kind}.kueue.x-k8s.io/q")


def test_a_serve_config_keeps_its_indentation() -> None:
    config = "applications:\n  - name: talk\n    args:\n      size: 3\n"
    with database([thing("ray.io/v1", "RayService", "talk", "a", spec={"serveConfigV2": config})]) as con:
        text = page(con, "rayservice/talk")
    assert "  applications:\n    - name: talk\n      args:\n        size: 3\n" in text


def test_a_page_of_ray_says_how_to_read_the_logs_of_its_parts() -> None:
    for kind, roles in (("RayJob", ["head", "workers", "submitter"]), ("RayCluster", ["head", "workers"])):
        lines = shown([thing("ray.io/v1", kind, "talk", "a", spec={}, status={})], f"{kind.lower()}/talk", "Logs")
        assert lines[1:] == [f"triage logs BUNDLE {kind.lower()}.ray.io/talk -n a --role {role}" for role in roles]
