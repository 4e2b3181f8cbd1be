"""`triage logs` from outside: which logs, in which order, and how it ends where there is none."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from analyzer.logs.model import Series
from tests.logs.conftest import Run
from tests.logs.trees import pod, thing, write

T = "2026-03-01T10:00:0"


def test_one_log_is_printed_as_it_is(run: Run, tmp_path: Path) -> None:
    text = f"{T}1.5Z hello\n\n  an indented line\twith a tab\n{T}2Z Grüße 😀\nthe last line has no end"
    bundle = write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": text})
    done = run("logs", bundle, "pod/web-0")
    assert done.stdout == text
    assert done.stderr == ""
    assert run("logs", bundle, "po/web-0", "-n", "shop", "-c", "app").stdout == text


def test_what_steers_a_terminal_and_secrets_do_not_get_through(run: Run, tmp_path: Path) -> None:
    text = b"\x1b[31mred\x1b[0m \x1b]0;title\x07 bell\x07 \x00\x00 \xff\xfe\r\npassword=hunter2hunter2\nhttps://me:pw@host/x?token=abc\n"
    bundle = write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": text})
    out = run("logs", bundle, "pod/web-0").stdout
    assert not [char for char in out if ord(char) < 32 and char != "\n"]
    assert out.startswith("red  bell")
    assert "hunter2" not in out
    assert "https://host/x\n" in out


def test_containers_come_in_the_order_of_the_spec_with_their_names(run: Run, tmp_path: Path) -> None:
    one = pod("web-0", containers=("zeta", "alpha"), inits=("setup",))
    logs = {f"shop/web-0/{name}/current": f"{T}{at}Z {name}\n" for name, at in (("alpha", 1), ("zeta", 2), ("setup", 3))}
    bundle = write(tmp_path / "b", [one], logs)
    assert run("logs", bundle, "pod/web-0").stdout == (
        f"[web-0/setup] {T}3Z setup\n[web-0/zeta] {T}2Z zeta\n[web-0/alpha] {T}1Z alpha\n"
    )
    assert run("logs", bundle, "pod/web-0", "-c", "alpha").stdout == f"{T}1Z alpha\n"
    wrong = run("logs", bundle, "pod/web-0", "-c", "beta", code=2)
    assert wrong.stderr == "error: there is no container beta; there is setup, zeta, alpha\n"


def test_rotated_logs_come_before_the_current_one(run: Run, tmp_path: Path) -> None:
    logs: dict[str, str | bytes] = {
        "shop/web-0/app/current": "new\n",
        "shop/web-0/app/previous": "the run before\n",
        "shop/web-0/app/rotated/1.log.20260301-090000.gz": f"{T}1Z stdout F second\n",
        "shop/web-0/app/rotated/1.log.20260301-080000": f"{T}0Z stdout F first\n",
        "shop/web-0/app/rotated/0.log.20260228-080000": "of the run before\n",
    }
    bundle = write(tmp_path / "b", [pod("web-0", restarts={"app": 1})], logs)
    out = run("logs", bundle, "pod/web-0").stdout
    assert out == f"of the run before\n{T}0Z stdout F first\n{T}1Z stdout F second\nnew\n"
    assert run("logs", bundle, "pod/web-0", "--previous").stdout == "of the run before\nthe run before\n"


def test_a_workloads_pods_are_merged_by_time(run: Run, tmp_path: Path) -> None:
    deployment = thing("apps/v1", "Deployment", "web")
    replicas = thing("apps/v1", "ReplicaSet", "web-5", deployment)
    objects = [deployment, replicas, pod("web-5-a", replicas), pod("web-5-b", replicas), pod("other")]
    logs = {
        "shop/web-5-a/app/current": f"{T}1Z one\n{T}3Z three\n  more of three\n{T}5Z five\n",
        "shop/web-5-b/app/current": f"{T}2Z two\n2026-03-01T12:00:04+02:00 four\n{T}6Z six\n",
        "shop/other/app/current": f"{T}1Z not of it\n",
    }
    bundle = write(tmp_path / "b", objects, logs)
    out = run("logs", bundle, "deploy/web").stdout.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in out] == ["one", "two", "three", "three", "four", "five", "six"]
    assert out[2:4] == [f"[web-5-a/app] {T}3Z three", "[web-5-a/app]   more of three"]
    assert out[4].startswith("[web-5-b/app] ")


def test_without_what_stands_between_the_selector_tells_the_pods(run: Run, tmp_path: Path) -> None:
    deployment = thing("apps/v1", "Deployment", "web", spec={"selector": {"matchLabels": {"app": "web"}}})
    lost = thing("apps/v1", "ReplicaSet", "web-5", deployment)
    objects = [deployment, pod("web-5-a", lost, labels={"app": "web"}), pod("other", labels={"app": "x"})]
    bundle = write(tmp_path / "b", objects, {"shop/web-5-a/app/current": "it\n", "shop/other/app/current": "no\n"})
    assert run("logs", bundle, "deployment.apps/web").stdout == "it\n"


def test_roles_of_a_ray_job(run: Run, tmp_path: Path) -> None:
    job = thing("ray.io/v1", "RayJob", "train")
    cluster = thing("ray.io/v1", "RayCluster", "train-x", job)
    submit = thing("batch/v1", "Job", "train", job)
    objects = [
        *(job, cluster, submit),
        pod("train-x-head", cluster, labels={"ray.io/node-type": "head", "ray.io/cluster": "train-x"}),
        pod("train-x-w1", cluster, labels={"ray.io/node-type": "worker", "ray.io/cluster": "train-x"}),
        pod("train-x-w2", labels={"ray.io/node-type": "worker", "ray.io/cluster": "train-x"}),
        pod("train-s", submit, containers=("ray-job-submitter",)),
    ]
    logs = {
        f"shop/{name}/app/current": f"{T}{at}Z {name}\n" for at, name in enumerate(("train-x-head", "train-x-w1", "train-x-w2"))
    }
    bundle = write(tmp_path / "b", objects, logs | {"shop/train-s/ray-job-submitter/current": f"{T}9Z submitted\n"})
    assert run("logs", bundle, "rayjob/train", "--role", "head").stdout == f"{T}0Z train-x-head\n"
    assert run("logs", bundle, "raycluster/train-x", "--role", "workers").stdout.count("\n") == 2
    assert run("logs", bundle, "rayjob/train", "--role", "submitter").stdout == f"{T}9Z submitted\n"
    assert run("logs", bundle, "rayjob/train").stdout.count("\n") == 3
    assert "has no submitter" in run("logs", bundle, "raycluster/train-x", "--role", "submitter", code=1).stderr
    assert "not for Job" in run("logs", bundle, "job/train", "--role", "head", code=2).stderr
    assert "not for Pod" in run("logs", bundle, "pod/train-s", "--role", "head", code=2).stderr
    assert "unknown role 'tail'" in run("logs", bundle, "rayjob/train", "--role", "tail", code=2).stderr


def test_the_submitter_may_run_in_the_heads_pod(run: Run, tmp_path: Path) -> None:
    job = thing("ray.io/v1", "RayJob", "train")
    cluster = thing("ray.io/v1", "RayCluster", "train-x", job)
    head = pod("head", cluster, containers=("ray-head", "ray-job-submitter"), labels={"ray.io/node-type": "head"})
    logs = {"shop/head/ray-head/current": "head\n", "shop/head/ray-job-submitter/current": "submitter\n"}
    bundle = write(tmp_path / "b", [job, cluster, head], logs)
    assert run("logs", bundle, "rayjob/train", "--role", "submitter").stdout == "submitter\n"


def test_a_workload_of_kueue_stands_for_its_job(run: Run, tmp_path: Path) -> None:
    job = thing("batch/v1", "Job", "train")
    workload = thing("kueue.x-k8s.io/v1beta1", "Workload", "job-train-1", job)
    bundle = write(tmp_path / "b", [job, workload, pod("train-a", job)], {"shop/train-a/app/current": "it\n"})
    assert run("logs", bundle, "workload/job-train-1").stdout == "it\n"


def test_why_there_is_no_log(run: Run, tmp_path: Path) -> None:
    objects = [pod("fresh"), pod("again", restarts={"app": 2}), pod("pulling", waiting=("app",))]
    logs = {
        "shop/fresh/app/current": "x\n",
        "shop/again/app/current": "x\n",
        "shop/again/app/previous": "",
        "shop/again/app/previous.insecure": "",
    }
    bundle = write(tmp_path / "b", objects, logs)
    said = run("logs", bundle, "pod/fresh", "--previous", code=1)
    assert said.stderr.startswith("error: not found: the previous log of container app of pod fresh")
    assert "no previous container" in said.stderr
    assert "no previous container (both" in run("logs", bundle, "pod/again", "-p", code=1).stderr
    assert "it has not started (ImagePullBackOff)" in run("logs", bundle, "pod/pulling", code=1).stderr
    assert run("logs", bundle, "pod/nope", code=1).stderr.startswith("error: not found: Pod nope")
    assert run("logs", bundle, "job/nope", code=1).stderr.startswith("error: not collected: Job nope")
    assert said.stdout == ""


def test_the_log_of_the_other_run_is_pointed_to(run: Run, tmp_path: Path) -> None:
    bundle = write(tmp_path / "b", [pod("again", restarts={"app": 2}), pod("mute")], {"shop/again/app/previous": "it\n"})
    assert run("logs", bundle, "pod/again", code=1).stderr.endswith("; the run before it has one: -p\n")
    assert "-p" not in run("logs", bundle, "pod/mute", code=1).stderr
    bundle = write(tmp_path / "c", [pod("again", restarts={"app": 2})], {"shop/again/app/current": "it\n"})
    assert run("logs", bundle, "pod/again", "-p", code=1).stderr.endswith("; the present run has one\n")


def test_a_lone_empty_file_proves_nothing(run: Run, tmp_path: Path) -> None:
    bundle = write(
        tmp_path / "b",
        [pod("again", restarts={"app": 2})],
        {"shop/again/app/current": "x\n", "shop/again/app/previous": ""},
    )
    assert run("logs", bundle, "pod/again", "-p", code=1).stderr.startswith("error: not collected: the previous log")


def test_of_several_containers_what_is_missing_is_told(run: Run, tmp_path: Path) -> None:
    one = pod("web-0", containers=("app", "side"), restarts={"app": 1})
    bundle = write(tmp_path / "b", [one], {"shop/web-0/app/current": "now\n", "shop/web-0/app/previous": "before\n"})
    done = run("logs", bundle, "pod/web-0")
    assert done.stdout == "now\n"
    assert done.stderr.startswith("note: not collected: the log of container side")
    assert run("logs", bundle, "pod/web-0", "-p").stderr == ""


def test_several_pods_of_that_name(run: Run, tmp_path: Path) -> None:
    logs = {"shop/web-0/app/current": "shop\n", "bank/web-0/app/current": "bank\n", "bank/ghost/app/current": "b\n"}
    logs |= {"shop/ghost/app/current": "s\n"}
    bundle = write(tmp_path / "b", [pod("web-0"), pod("web-0", namespace="bank")], logs)
    assert "Pod/web-0 -n bank" in run("logs", bundle, "pod/web-0", code=2).stderr
    assert run("logs", bundle, "pod/web-0", "-n", "bank").stdout == "bank\n"
    # Their Pods are not in the bundle, only their logs.
    assert "bank, shop" in run("logs", bundle, "pod/ghost", code=2).stderr
    assert run("logs", bundle, "pod/ghost", "-n", "shop").stdout == "s\n"


@pytest.mark.parametrize(
    "words", [["web-0"], ["pod/"], ["/web-0"], [""], ["pod/web-0", "--role", "x"], ["pod/web-0", "--bundle", "x"], []]
)
def test_wrong_usage(run: Run, tmp_path: Path, words: list[str]) -> None:
    bundle = write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": "x\n"})
    done = run("logs", bundle, *words, code=2)
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


def test_what_is_no_bundle(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes(range(256)) * 40)
    assert run("logs", picture, "pod/x", code=3).stderr.startswith("error: ")
    run("logs", tmp_path / "nowhere", "pod/x", code=2)
    (tmp_path / "x.duckdb").write_text("no database")
    run("logs", tmp_path / "x.duckdb", "pod/x", code=3)


# --- reports ----------------------------------------------------------------------------------------------------------

LINES = "".join(f"line {number}\n" for number in range(200))


def archive(folder: Path, place: Path) -> Path:
    with tarfile.open(place, "w:gz") as tar:
        tar.add(folder, "inspect.local.1")
    return place


def test_a_report_reads_the_whole_log_from_its_bundle(run: Run, here: Path, tmp_path: Path) -> None:
    place = archive(write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": LINES}), here / "case.tar.gz")
    run("analyze", "case.tar.gz")
    report = here / "case.triage"
    for form in (report, report / "report.html", report / "bundle.duckdb", place):
        done = run("logs", form, "pod/web-0")
        assert (done.stdout, done.stderr) == (LINES, "")
    assert run("logs", "-", "pod/web-0", given=place.read_bytes()).stdout == LINES
    # Moved together with its report, it is found beside that.
    there = tmp_path / "there"
    there.mkdir()
    place.rename(there / "case.tar.gz")
    report.rename(there / "case.triage")
    assert run("logs", there / "case.triage", "pod/web-0").stdout == LINES
    # Gone: the stored lines; another file in its place is no help, the right one is.
    moved = (there / "case.tar.gz").rename(tmp_path / "moved.tar.gz")
    done = run("logs", there / "case.triage", "pod/web-0")
    assert done.stdout.splitlines() == LINES.splitlines()[-50:]
    assert done.stderr.count("\n") == 1
    assert "case.tar.gz is not there" in done.stderr
    other = tmp_path / "other.tar.gz"
    other.write_bytes(moved.read_bytes()[:-1] + b"x")
    done = run("logs", there / "case.triage", "pod/web-0", "--bundle", other)
    assert "SHA-256" in done.stderr
    assert len(done.stdout.splitlines()) == 50
    assert run("logs", there / "case.triage", "pod/web-0", "--bundle", other, "--bundle", moved).stdout == LINES


def test_of_a_folder_the_sizes_are_checked(run: Run, here: Path) -> None:
    bundle = write(here / "b", [pod("web-0")], {"shop/web-0/app/current": LINES})
    run("analyze", "b", "-o", "r")
    # More files move the places of the others; they are known by their paths.
    (bundle / "aaa.log").write_text("another\n")
    assert run("logs", "r", "pod/web-0").stdout == LINES
    file = next(bundle.rglob("current.log"))
    file.write_text(LINES + "changed\n")
    done = run("logs", "r", "pod/web-0")
    assert done.stdout.splitlines() == LINES.splitlines()[-50:]
    assert "is not as it was" in done.stderr


# --- hostile logs and impatient readers -------------------------------------------------------------------------------


def test_a_log_that_is_cut_in_the_archive(run: Run, tmp_path: Path) -> None:
    broken = gzip.compress(LINES.encode() * 500)[:-200]
    bundle = write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": "x\n"})
    file = bundle / "namespaces/shop/pods/web-0/app/app/logs/rotated/0.log.20260301-090000.gz"
    file.parent.mkdir()
    file.write_bytes(broken)
    done = run("logs", bundle, "pod/web-0")
    assert done.stdout.startswith("line 0\nline 1\n")
    assert done.stdout.endswith("\nx\n")
    assert "this log was not read to its end" in done.stderr


def test_binary_and_endless_lines(run: Run, tmp_path: Path) -> None:
    logs = {"shop/web-0/app/current": b"\x00\x01" * 3_000_000 + b"\n", "shop/web-0/side/current": b"x" * 5_000_000}
    bundle = write(tmp_path / "b", [pod("web-0", containers=("app", "side"))], logs)
    out = run("logs", bundle, "pod/web-0").stdout
    assert out.count("\n") == 2
    assert out.count("[web-0/") == 2
    assert out.count("x") == 5_000_000


def test_a_reader_that_leaves_and_an_interrupt_are_no_errors(run: Run, tmp_path: Path) -> None:
    bundle = write(tmp_path / "b", [pod("web-0")], {"shop/web-0/app/current": LINES * 20_000})
    command = [sys.executable, "-m", "analyzer", "logs", str(bundle), "pod/web-0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as left:
        assert left.stdout
        assert left.stderr
        assert left.stdout.readline() == b"line 0\n"
        left.stdout.close()
        assert left.stderr.read() == b""
        assert left.wait(60) == 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as stopped:
        assert stopped.stdout
        assert stopped.stderr
        stopped.stdout.readline()
        time.sleep(0.1)
        stopped.send_signal(signal.SIGINT)
        stopped.stdout.read()
        assert stopped.stderr.read() == b""
        assert stopped.wait(60) == 130


def test_of_very_many_missing_logs_some_are_told(run: Run, tmp_path: Path) -> None:
    job = thing("batch/v1", "Job", "many")
    pods = [pod(f"many-{number}", job, restarts={"app": 1}) for number in range(30)]
    bundle = write(tmp_path / "b", [job, *pods, pod("one", job)], {"shop/many-7/app/current": "it\n"})
    done = run("logs", bundle, "job/many")
    assert done.stdout == "it\n"
    assert done.stderr.count("note: not collected: ") == 10
    assert "note: 20 more logs are missing\n" in done.stderr


def test_a_hostile_name_steers_nothing() -> None:
    assert Series("web\x1b[2J\n0", "a\tb", ()).prefix == "[web 0/a b] "


def test_a_ray_service_with_two_clusters_and_logs_of_earlier_runs(run: Run, tmp_path: Path) -> None:
    service = thing("ray.io/v1", "RayService", "chat")
    # KubeRay owns both clusters; of the pending one the reference was lost, the status names it.
    old, new = thing("ray.io/v1", "RayCluster", "chat-old", service), thing("ray.io/v1", "RayCluster", "chat-new")
    service["status"] = {
        "activeServiceStatus": {"rayClusterName": "chat-old"},
        "pendingServiceStatus": {"rayClusterName": "chat-new"},
    }

    def ray_pod(name: str, cluster: dict[str, Any], role: str, **more: Any) -> dict[str, Any]:
        return pod(name, cluster, containers=("ray",), labels={"ray.io/node-type": role}, **more)

    objects = [
        service,
        old,
        new,
        ray_pod("old-head", old, "head", restarts={"ray": 2}),
        ray_pod("new-head", new, "head"),
        ray_pod("old-w", old, "worker"),
        ray_pod("new-w", new, "worker", restarts={"ray": 1}),
    ]
    logs = {
        "shop/old-head/ray/rotated/2.log.20260301-100000": f"{T}1Z rotated\n",
        "shop/old-head/ray/current": f"{T}4Z now\n",
        "shop/old-head/ray/previous": f"{T}0Z before\n",
        "shop/new-head/ray/current": f"{T}2Z new\n{T}5Z newer\n",
        "shop/old-w/ray/current": f"{T}3Z old worker\n",
        "shop/new-w/ray/current": f"{T}2Z new worker\n",
        "shop/new-w/ray/previous": f"{T}0Z lost\n",
    }
    bundle = write(tmp_path / "b", objects, logs)
    heads = run("logs", bundle, "rayservice/chat", "--role", "head").stdout.splitlines()
    assert [line.split("Z ")[1] for line in heads] == ["rotated", "new", "now", "newer"]
    assert heads[1].startswith("[new-head/ray] ")
    workers = run("logs", bundle, "rayservice/chat", "--role", "workers").stdout.splitlines()
    assert [line.split("Z ")[1] for line in workers] == ["new worker", "old worker"]
    before = run("logs", bundle, "rayservice/chat", "--previous").stdout.splitlines()
    assert sorted(line.split("Z ")[1] for line in before) == ["before", "lost"]
    assert run("logs", bundle, "rayservice/chat").stdout.count("\n") == 6
    assert "a RayService has no submitter" in run("logs", bundle, "rayservice/chat", "--role", "submitter", code=1).stderr


def test_a_ray_job_on_a_cluster_that_it_did_not_make(run: Run, tmp_path: Path) -> None:
    job, cluster = thing("ray.io/v1", "RayJob", "train"), thing("ray.io/v1", "RayCluster", "shared")
    job["status"] = {"rayClusterName": "shared"}
    head = pod("shared-head", cluster, labels={"ray.io/node-type": "head"})
    bundle = write(tmp_path / "b", [job, cluster, head], {"shop/shared-head/app/current": "head\n"})
    assert run("logs", bundle, "rayjob/train", "--role", "head").stdout == "head\n"


def test_a_workload_that_was_made_before_its_job(run: Run, tmp_path: Path) -> None:
    load = thing("kueue.x-k8s.io/v1beta2", "Workload", "ready-made")
    job = thing("batch/v1", "Job", "sweep", labels={"kueue.x-k8s.io/prebuilt-workload-name": "ready-made"})
    bundle = write(tmp_path / "b", [load, job, pod("sweep-0", job)], {"shop/sweep-0/app/current": "swept\n"})
    assert run("logs", bundle, "workload/ready-made").stdout == "swept\n"


def test_pods_of_kinds_whose_parts_between_were_not_collected_are_told_by_label(run: Run, tmp_path: Path) -> None:
    kinds = {
        "inferencegraph.serving.kserve.io/one": ("serving.kserve.io/v1alpha1", {"serving.kserve.io/inferencegraph": "one"}),
        "inferenceservice.ome.io/one": ("ome.io/v1beta1", {"ome.io/inferenceservice": "one"}),
        "job.batch.volcano.sh/one": ("batch.volcano.sh/v1alpha1", {"volcano.sh/job-name": "one"}),
        "podcliqueset.grove.io/one": (
            "grove.io/v1alpha1",
            {"app.kubernetes.io/part-of": "one", "app.kubernetes.io/managed-by": "grove-operator"},
        ),
        "dynamographdeployment.nvidia.com/one": ("nvidia.com/v1alpha1", {"nvidia.com/dynamo-graph-deployment-name": "one"}),
        "sparkapplication.sparkoperator.k8s.io/one": (
            "sparkoperator.k8s.io/v1beta2",
            {"sparkoperator.k8s.io/app-name": "one"},
        ),
        "rollout.argoproj.io/one": ("argoproj.io/v1alpha1", {"app": "one"}),
    }
    spelled = {
        "inferencegraph": "InferenceGraph", "inferenceservice": "InferenceService", "job": "Job", "podcliqueset": "PodCliqueSet",
        "dynamographdeployment": "DynamoGraphDeployment", "sparkapplication": "SparkApplication", "rollout": "Rollout",
    }  # fmt: skip
    objects: list[dict[str, Any]] = []
    logs: dict[str, str | bytes] = {}
    for name, (api, labels) in kinds.items():
        short = name.split(".")[0]
        objects.append(thing(api, spelled[short], "one") | {"spec": {"selector": {"matchLabels": {"app": "one"}}}})
        objects += [pod(f"{short}-0", labels=labels), pod(f"{short}-other", labels=dict.fromkeys(labels, "two"))]
        logs |= {f"shop/{short}-{which}/app/current": f"{short} {which}\n" for which in ("0", "other")}
    bundle = write(tmp_path / "b", objects, logs)
    assert [run("logs", bundle, name).stdout for name in kinds] == [f"{name.split('.')[0]} 0\n" for name in kinds]


def test_what_has_no_pods_says_so_plainly(run: Run, tmp_path: Path) -> None:
    held = thing("ray.io/v1", "RayJob", "held") | {"spec": {"suspend": True}}
    objects = [
        held,
        thing("apps/v1", "Deployment", "asleep") | {"spec": {"replicas": 0}},
        thing("kueue.x-k8s.io/v1beta2", "LocalQueue", "jugs"),
        thing("kueue.x-k8s.io/v1beta2", "Workload", "late"),
        pod("other"),
    ]
    bundle = write(tmp_path / "b", objects, {"shop/other/app/current": "x\n"})
    for name, says in (
        ("localqueue/jugs", "not found: a LocalQueue makes no pods"),
        ("rayjob/held", "not found: RayJob held has no pod in this bundle: it is suspended"),
        ("workload/late", "not found: Workload late has no pod in this bundle: it is not admitted"),
        ("deployment/asleep", "not found: Deployment asleep has no pod in this bundle: it is scaled to zero"),
    ):
        told = run("logs", bundle, name, code=1)
        assert told.stdout == ""
        assert says in told.stderr
