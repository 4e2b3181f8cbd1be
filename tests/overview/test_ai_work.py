"""Jobs, Ray and model serving in tables: what a status says beside what the pods say, with the first failure."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.engine.sections import Section
from analyzer.overview import jobs, ray, serving
from analyzer.overview.marks import Marks
from tests.facts.build import database
from tests.overview.cells import captioned, finding, lines, marks, named, run

AT = "2026-11-01T11:00:00Z"
PODS = [("", "Pod")]


def told(kind: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": AT}


def thing(
    api: str, kind: str, name: str, spec: Any = None, status: Any = None, namespace: str = "bay", **metadata: Any
) -> dict[str, Any]:
    own = {"name": name, "uid": f"u-{name}", "creationTimestamp": "2026-11-01T06:00:00Z"} | metadata
    if namespace:
        own["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": own, "spec": spec or {}, "status": status or {}}


def pod(
    name: str, labels: dict[str, str], *, ready: bool = True, waiting: str = "", owner: Any = None, code: int | None = None
) -> dict[str, Any]:
    """A pod: ready, pending without a node, waiting (CrashLoopBackOff) or failed with a code."""
    metadata: dict[str, Any] = {"name": name, "namespace": "bay", "labels": labels, "creationTimestamp": "2026-11-01T09:00:00Z"}
    if owner:
        metadata["ownerReferences"] = [owner | {"controller": True}]
    here = ready or bool(waiting) or code is not None
    state: dict[str, Any] = {"running": {"startedAt": AT}}
    last: dict[str, Any] = {}
    if waiting:
        state = {"waiting": {"reason": waiting, "message": "back-off 5m0s restarting failed container"}}
        last = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-01T11:58:00Z"}}
    if code is not None:
        state = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": AT}}
    conditions = [told("Ready", "True" if ready else "False", "" if ready else "ContainersNotReady")]
    if not here:
        conditions = [told("PodScheduled", "False", "Unschedulable", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")]
    container = {"name": "main", "ready": ready, "restartCount": 9 if waiting else 0, "state": state, "lastState": last}
    status = {"phase": "Failed" if code is not None else "Running" if here else "Pending", "conditions": conditions}
    if here:
        status["containerStatuses"] = [container]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": ({"nodeName": "n1"} if here else {}) | {"containers": [{"name": "main"}]},
        "status": status,
    }


def sections(module: Any, *objects: dict[str, Any], found: Marks | None = None, lists: Any = PODS) -> tuple[Section, ...]:
    con = database(objects, lists=lists)
    made: tuple[Section, ...] = module.sections(con, found or marks())
    for section in made:
        assert run(con, section)
    return made


@pytest.mark.parametrize("module", [jobs, ray, serving])
def test_nothing_of_a_subject_makes_no_section(module: Any) -> None:
    assert sections(module, pod("p", {})) == ()


# -- jobs


def test_a_failed_jobset_names_what_failed_first_and_its_jobs_have_no_line_of_their_own() -> None:
    labels = {"jobset.sigs.k8s.io/jobset-name": "sail", "jobset.sigs.k8s.io/replicatedjob-name": "w"}
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "sail", "uid": "u-sail", "controller": True}
    message = "jobset failed due to one or more job failures (first failed job: sail-w-0)"
    failed = {
        "conditions": [told("Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")]
    }
    made = sections(
        jobs,
        thing(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "sail",
            {"replicatedJobs": [{"name": "w", "replicas": 2}], "failurePolicy": {"maxRestarts": 3}},
            {
                "conditions": [told("Failed", reason="ReachedMaxRestarts", message=message)],
                "restarts": 3,
                "restartsCountTowardsMax": 3,
            },
        ),
        thing("batch/v1", "Job", "sail-w-0", {}, failed, labels=labels, ownerReferences=[owner]),
        pod(
            "sail-w-0-x",
            {},
            ready=False,
            code=9,
            owner={"apiVersion": "batch/v1", "kind": "Job", "name": "sail-w-0", "uid": "u-sail-w-0"},
        ),
        found=marks(finding("batch", "Job", "bay", "sail-w-0")),
    )
    (line,) = lines(captioned(named(made, "jobs"), "Jobs"))
    assert line.startswith("bay/sail (JobSet) | Failed (for 60 min) | 3 of 3 (0 restarts left) | 0 / 1 (0 of 2 jobs) |  | Job ")
    assert "pod sail-w-0-x ended with exit code 9" in line
    assert message in line


def test_a_batch_job_stands_there_with_a_queue_or_a_finding_only() -> None:
    queued = {"kueue.x-k8s.io/queue-name": "jugs"}
    made = sections(
        jobs,
        thing("batch/v1", "Job", "plain", {"backoffLimit": 4}, {"active": 1}),
        thing("batch/v1", "Job", "queued", {"suspend": True, "backoffLimit": 4}, {}, labels=queued),
        thing("batch/v1", "Job", "found", {"backoffLimit": 4}, {"active": 1, "failed": 2}),
        found=marks(finding("batch", "Job", "bay", "found", "warning")),
    )
    table = captioned(named(made, "jobs"), "Jobs")
    assert [row.cells[0].text for row in table.rows] == ["bay/found", "bay/queued"]
    assert lines(table)[0].startswith("bay/found (Job) | Running (for 6 h) | 2 of 4 (failed pods)")
    assert "jugs (its Workload is not in this bundle)" in lines(table)[1]
    without = sections(
        jobs, thing("batch/v1", "Job", "queued", {}, {}, labels=queued), lists=[*PODS, ("kueue.x-k8s.io", "Workload")]
    )
    assert "jugs (no Workload)" in lines(named(without, "jobs").tables[0])[0]


def test_training_jobs_and_appwrappers_say_their_tries_and_reasons() -> None:
    made = sections(
        jobs,
        thing(
            "kubeflow.org/v1",
            "PyTorchJob",
            "tide",
            {"runPolicy": {"backoffLimit": 3}},
            {
                "conditions": [told("Failed", reason="PyTorchJobFailed", message="it failed")],
                "replicaStatuses": {"Worker": {"failed": 2}},
            },
        ),
        thing("workload.codeflare.dev/v1beta2", "AppWrapper", "wrap", {}, {"phase": "Resetting", "resettingCount": 1}),
    )
    shown = lines(named(made, "jobs").tables[0])
    assert 'bay/tide (PyTorchJob) | Failed (for 60 min) | 2 of 3 (failed pods) |  |  |  (PyTorchJobFailed: "it failed")' in shown
    assert any(line.startswith("bay/wrap (AppWrapper) | Resetting") and "| 1 (retries)" in line for line in shown)


def test_a_leader_worker_set_that_is_available_while_its_workers_are_pending() -> None:
    def worker(index: int, *, ready: bool) -> dict[str, Any]:
        labels = {
            f"leaderworkerset.sigs.k8s.io/{key}": value
            for key, value in (("name", "crew"), ("group-index", "0"), ("worker-index", str(index)))
        }
        return pod(f"crew-0-{index}", labels, ready=ready)

    made = sections(
        jobs,
        thing(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "crew",
            {"replicas": 1, "leaderWorkerTemplate": {"size": 2}},
            {"replicas": 1, "readyReplicas": 1, "conditions": [told("Available", reason="AllGroupsReady")]},
        ),
        worker(0, ready=True),
        worker(1, ready=False),
    )
    (line,) = lines(captioned(named(made, "jobs"), "Groups"))
    assert line.startswith("bay/crew (2 pods a group) | Ready (for 60 min) | 1 / 1 | 1 group not whole |  | ")
    assert "1 pending (Unschedulable)" in line


# -- Ray


def ray_pod(name: str, role: str, cluster: str = "reef", **how: Any) -> dict[str, Any]:
    group = "headgroup" if role == "head" else "coral"
    return pod(
        name, {"ray.io/cluster": cluster, "ray.io/node-type": role, "ray.io/group": group, "ray.io/is-ray-node": "yes"}, **how
    )


def ray_cluster(name: str = "reef", status: Any = None, **spec: Any) -> dict[str, Any]:
    groups = [{"groupName": "coral", "replicas": 2, "minReplicas": 1}]
    return thing("ray.io/v1", "RayCluster", name, {"workerGroupSpecs": groups} | spec, status)


def test_a_cluster_that_says_ready_while_its_head_is_pending() -> None:
    made = sections(
        ray, ray_cluster(status={"state": "ready"}), ray_pod("reef-head", "head", ready=False), ray_pod("reef-w", "worker")
    )
    cluster, group = lines(captioned(named(made, "ray"), "Ray clusters"))
    assert "not ready (reef-head; Pending)" in cluster
    assert 'its status.state says "ready"' in cluster
    assert group.startswith("  coral (worker group) |  |  | 1 of 2")


def test_an_autoscaling_group_has_no_upper_limit() -> None:
    groups = [{"groupName": "coral", "minReplicas": 1, "replicas": 1, "maxReplicas": 2147483647}]
    made = sections(
        ray,
        ray_cluster(status={"state": "ready"}, workerGroupSpecs=groups, enableInTreeAutoscaling=True),
        ray_pod("reef-head", "head"),
        ray_pod("reef-w", "worker"),
    )
    assert "1 of 1 (at least 1, no upper limit)" in lines(captioned(named(made, "ray"), "Ray clusters"))[1]
    assert "2147483647" not in str(made)


def test_without_pods_and_status_workers_cannot_be_told() -> None:
    con = database([ray_cluster()], lists=[])
    (section,) = ray.sections(con, marks())
    cluster, group = lines(section.tables[0])
    assert "cannot tell?" in cluster
    assert "cannot tell?" in group


def test_ray_jobs_and_services_with_what_holds_them_up() -> None:
    status = {"jobDeploymentStatus": "Initializing", "rayClusterName": "reef"}
    apps = {
        "shell": {
            "status": "UNHEALTHY",
            "message": "it died",
            "serveDeploymentStatuses": {"d": {"status": "UNHEALTHY", "message": "m"}},
        }
    }
    service = {
        "conditions": [
            told("Ready", "False", "ZeroServeEndpoints", "none"),
            told("UpgradeInProgress", reason="BothActivePendingClustersExist"),
        ],
        "activeServiceStatus": {"rayClusterName": "reef", "applicationStatuses": apps},
        "pendingServiceStatus": {"rayClusterName": "gone"},
        "numServeEndpoints": 0,
    }
    made = sections(
        ray,
        ray_cluster(status={"state": "ready"}),
        ray_pod("reef-head", "head"),
        thing("ray.io/v1", "RayJob", "dive", {"backoffLimit": 2}, status),
        thing("ray.io/v1", "RayService", "serve", {}, service),
        found=marks(finding("ray.io", "RayService", "bay", "serve")),
    )
    section = named(made, "ray")
    (job,) = lines(captioned(section, "Ray jobs"))
    assert "bay/dive | Pending" in job
    assert "1 of 3" in job
    shown = lines(captioned(section, "Ray services"))
    assert shown[0].startswith("bay/serve (Service serve-serve-svc) | Upgrading")
    assert "no (0 endpoints) | active reef; pending gone" in shown[0]
    assert shown[1] == '  shell (Serve application) | UNHEALTHY (unhealthy) |  | reef (active) | "it died"'
    assert shown[2] == '  d (deployment d of shell) | UNHEALTHY (unhealthy) |  | reef (active) | "m"'
    assert captioned(section, "Ray services").rows[0].finding == "f1"


# -- serving

KSERVE = "serving.kserve.io/v1beta1"


def kserve_pod(name: str, service: str, **how: Any) -> dict[str, Any]:
    return pod(name, {"serving.kserve.io/inferenceservice": service, "component": "predictor"}, **how)


def model(name: str, status: Any, **metadata: Any) -> dict[str, Any]:
    spec = {"predictor": {"model": {"modelFormat": {"name": "onnx"}, "storageUri": "https://u:p@store.example/m?sig=s3cr3t#x"}}}
    return thing(KSERVE, "InferenceService", name, spec, status, **metadata)


def test_a_service_that_is_ready_while_its_only_pod_crash_loops() -> None:
    status = {
        "conditions": [told("Ready"), told("PredictorReady"), told("IngressReady")],
        "url": "https://user:pass@front.example/v1?token=abc#frag",
        "deploymentMode": "Standard",
    }
    made = sections(serving, model("eye", status), kserve_pod("eye-0", "eye", ready=False, waiting="CrashLoopBackOff"))
    (line,) = lines(named(made, "serving").tables[0])
    assert line.startswith("bay/eye (https://front.example/v1) | KServe (Standard) | Ready, failing (for 60 min) | 0 / 1 |")
    assert "pod eye-0: Crash looping" in line
    assert not any(word in str(made) for word in ("user:pass", "abc", "#frag", "s3cr3t", "u:p"))


def test_a_runtime_that_cannot_be_told_is_not_called_none() -> None:
    status = {"conditions": [told("Ready", "False", "x", "m")]}
    made = sections(serving, model("eye", status))
    assert "cannot tell?" in lines(named(made, "serving").tables[0])[0]
    lists = [*PODS, ("serving.kserve.io", "ServingRuntime"), ("serving.kserve.io", "ClusterServingRuntime")]
    assert "| none fits (" in lines(named(sections(serving, model("eye", status), lists=lists), "serving").tables[0])[0]


def test_a_stopped_service_is_no_fault_and_needs_no_runtime_told() -> None:
    made = sections(
        serving, model("eye", {"conditions": [told("Ready", "False", "Stopped")]}, annotations={"serving.kserve.io/stop": "TRUE"})
    )
    line = lines(named(made, "serving").tables[0])[0]
    assert "| Stopped" in line
    assert line.endswith("| stopped by its owner: no fault")


def test_a_model_that_failed_says_its_own_words_and_stands_first() -> None:
    failure = {"reason": "ModelLoadFailed", "message": "no such key https://a:b@s.example/k?sig=q", "exitCode": 1, "time": AT}
    bad = {
        "conditions": [told("Ready", "False")],
        "modelStatus": {"transitionStatus": "BlockedByFailedLoad", "lastFailureInfo": failure},
    }
    good = {"conditions": [told("Ready")], "servingRuntimeName": "ort"}
    made = sections(
        serving,
        model("alpha", good),
        model("omega", bad),
        thing(
            "serving.kserve.io/v1alpha1",
            "LLMInferenceService",
            "llm",
            {"model": {"name": "m", "uri": "hf://a/b"}},
            {"conditions": [told("Ready", "False"), told("MainWorkloadReady", "False", "R", "w")]},
        ),
        found=marks(finding("serving.kserve.io", "InferenceService", "bay", "omega")),
    )
    shown = lines(named(made, "serving").tables[0])
    assert [line.split(" | ")[0].split(" (")[0] for line in shown] == ["bay/omega", "bay/alpha", "bay/llm"]
    assert 'ModelLoadFailed: "no such key https://s.example/k"' in shown[0]
    assert "| ort (onnx model; https://store.example/m)" in shown[1]
    assert (
        shown[2]
        == 'bay/llm | KServe (LLMInferenceService) | Not ready (for 60 min) | 0 / 0 | m (hf://a/b) | MainWorkloadReady (R: "w")'
    )


def test_services_of_others_stand_beside_those_of_kserve() -> None:
    made = sections(
        serving,
        thing(
            "ome.io/v1beta1",
            "InferenceService",
            "koi",
            {"engine": {}, "model": {"name": "base"}},
            {"conditions": [told("Ready", "False", "R", "w")]},
        ),
        thing(
            "apps.example/v1",
            "InferenceService",
            "lily",
            {"inferenceServiceClassName": "pond", "model": {"source": "HuggingFace", "huggingFace": {"repository": "a/b"}}},
            {"conditions": [told("WorkloadReady", "False", "WorkloadNotReady", "w")]},
        ),
    )
    shown = lines(named(made, "serving").tables[0])
    assert any(line.startswith("bay/koi") and "| OME" in line and 'R: "w"' in line for line in shown)
    assert any(line.startswith("bay/lily") and "| Inference order (class pond)" in line for line in shown)


def test_many_services_are_cut_with_a_count() -> None:
    con = database([], lists=PODS)
    con.execute(
        "INSERT INTO kserve_services (object_id, input, namespace, name, state) "
        "SELECT range, 0, 'bay', 's' || range, 'Ready' FROM range(500)"
    )
    (section,) = serving.sections(con, marks(finding("serving.kserve.io", "InferenceService", "bay", "s499")))
    (table,) = section.tables
    assert table.rows[0].cells[0].text == "bay/s499"
    assert table.more == "350 more services"
