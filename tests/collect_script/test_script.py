"""The shell script, run with the real kubectl against an API server, and what the analyzer makes of its bundle."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from analyzer.cli import app
from analyzer.collect import plan
from analyzer.collect.script import script

from .api_server import Cluster
from .bundle_writer import Analyzed
from .kitchen import SECRETS, kitchen, pod

TOP = "triage-bundle/"
SMALL = re.sub(r"\nmax_log_bytes=\d+\n", "\nmax_log_bytes=100000\n", script())
"""The script with a lower limit for a log, whose 1,000 last lines are asked for."""
APPLETS = (
    *("awk", "sed", "sort", "tar", "gzip", "grep", "tr", "cut", "head", "tail", "wc", "cat", "find", "paste"),
    *("mkdir", "mktemp", "mv", "rm", "date", "sha256sum", "touch"),
)


class Run:
    """One run of the script."""

    def __init__(
        self, folder: Path, config: Path, *args: str, shell: tuple[str, ...] = ("sh",), path: str = "", text: str = ""
    ) -> None:
        (folder / "collect.sh").write_text(text or script())
        env = {"PATH": path or os.environ["PATH"], "KUBECONFIG": str(config), "HOME": str(folder), "TMPDIR": str(folder)}
        command = [*shell, "collect.sh", *args]
        self.done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=180, check=False)
        self.bundle = folder / "x.tar.gz"

    def files(self) -> dict[str, str]:
        return read(self.bundle)


def read(bundle: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(bundle) as archive:
        for member in filter(tarfile.TarInfo.isfile, archive.getmembers()):
            stream = archive.extractfile(member)
            assert stream is not None
            found[member.name.removeprefix(TOP)] = stream.read().decode()
    return found


def manifest(files: dict[str, str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(files["triage-manifest.json"])
    return value


def items(text: str) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = json.loads(text)["items"]
    return value


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Run, Path]]:
    folder = tmp_path_factory.mktemp("collected")
    cluster = kitchen()
    cluster.forbidden = {"deployments.apps"}
    cluster.page = 2
    with cluster.serving(folder) as config:
        run = Run(folder, config, "-o", "x.tar.gz")
        assert run.done.returncode == 0, run.done.stderr
        yield cluster, run, folder


@pytest.mark.kubectl
def test_the_bundle_has_the_format(collected: tuple[Cluster, Run, Path]) -> None:
    _, run, _ = collected
    files = run.files()
    assert list(files)[-1] == "triage-manifest.json"
    lists = {path for path in files if path.endswith(".yaml")}
    assert lists == {
        "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions.yaml",
        "cluster-scoped-resources/core/namespaces.yaml",
        "cluster-scoped-resources/core/nodes.yaml",
        "cluster-scoped-resources/storage.k8s.io/storageclasses.yaml",
        "namespaces/bare/core/configmaps.yaml",
        "namespaces/bare/core/secrets.yaml",
        "namespaces/soup/apps/controllerrevisions.yaml",
        "namespaces/soup/core/configmaps.yaml",
        "namespaces/soup/core/pods.yaml",
        "namespaces/soup/core/secrets.yaml",
        "namespaces/soup/kueue.x-k8s.io/workloads.yaml",
    }
    for path in lists:
        assert len(files[path].splitlines()) == max(len(items(files[path])), 1) + 2 - (not items(files[path]))
    assert items(files["cluster-scoped-resources/storage.k8s.io/storageclasses.yaml"]) == []
    pods = items(files["namespaces/soup/core/pods.yaml"])
    assert [(one["apiVersion"], one["kind"], one["metadata"]["name"]) for one in pods] == [
        ("v1", "Pod", "ladle"),
        ("v1", "Pod", "spoon"),
        ("v1", "Pod", "gpu-operator-7f"),
    ]
    assert pods[0]["spec"]["containers"][0]["args"][1] == 'say "hi" \\ <b>\tü'
    said = manifest(files)
    assert (said["format"], said["redaction"], said["tool"]["collector"]) == ("triage.bundle/v1", "script", "script")
    assert said["cluster"] == {"uid": "uid--kube-system", "version": "v1.33.1", "platform": "linux/amd64"}
    assert said["serverStarted"] <= said["serverEnded"]
    assert {one["path"]: one["sha256"] for one in said["files"]} == {
        path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items() if path != "triage-manifest.json"
    }
    assert {one["what"] for one in said["leftOut"]} >= {"widgets.example.com", "Secret values", "ConfigMap content"}
    assert run.done.stdout == "x.tar.gz\n"
    assert "1 lists were refused" in run.done.stderr


@pytest.mark.kubectl
def test_no_secret_is_in_it(collected: tuple[Cluster, Run, Path]) -> None:
    files = collected[1].files()
    assert [(path, word) for path, text in files.items() for word in SECRETS if word in text] == []
    secrets = items(files["namespaces/soup/core/secrets.yaml"])
    assert secrets[0]["metadata"]["annotations"] == {"triage.dev/metadata-only": "true"}
    assert (secrets[0]["type"], "data" in secrets[0]) == ("Opaque", False)
    log = files["namespaces/soup/pods/ladle/stir/stir/logs/current.log"]
    assert log.endswith("[masked]\n2026-08-18T13:00:02Z after\n")


@pytest.mark.kubectl
def test_config_maps_are_taken_as_planned(collected: tuple[Cluster, Run, Path]) -> None:
    maps = {
        one["metadata"]["name"]: one.get("data") for one in items(collected[1].files()["namespaces/soup/core/configmaps.yaml"])
    }
    assert maps == {
        "recipe": {"conf": "(19 bytes, not collected)", "other": "(1 bytes, not collected)"},
        "kueue-manager-config": {"c.yaml": "a: 1\napiKey=[masked]\n"},
        "by-label": {"z": "y"},
    }


@pytest.mark.kubectl
def test_objects_are_trimmed_and_keep_who_wrote_them(collected: tuple[Cluster, Run, Path]) -> None:
    files = collected[1].files()
    (node,) = items(files["cluster-scoped-resources/core/nodes.yaml"])
    notes = node["metadata"]["annotations"]
    assert json.loads(notes["triage.dev/field-managers"]) == [
        {"manager": "mig-manager", "operation": "Update", "time": "2026-08-17T00:00:00Z"}
    ]
    assert json.loads(notes["triage.dev/label-times"]) == {"nvidia.com/mig.config": "2026-08-17T00:00:00Z"}
    assert "managedFields" not in node["metadata"]
    (work,) = items(files["namespaces/soup/kueue.x-k8s.io/workloads.yaml"])
    assert json.loads(work["metadata"]["annotations"]["triage.dev/field-managers"])[0]["manager"] == "kueue"
    (crd,) = items(files["cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions.yaml"])
    assert crd["spec"]["versions"] == [{"name": "v1", "served": True}]
    revisions = items(files["namespaces/soup/apps/controllerrevisions.yaml"])
    assert [(one["metadata"]["name"], "data" in one, one["revision"]) for one in revisions] == [
        ("kept", True, 1),
        ("trimmed", False, 2),
    ]


@pytest.mark.kubectl
def test_logs_of_sick_pods_and_of_operators_are_taken(collected: tuple[Cluster, Run, Path]) -> None:
    files = collected[1].files()
    assert {path for path in files if path.endswith(".log")} == {
        "namespaces/soup/pods/gpu-operator-7f/stir/stir/logs/current.log",
        "namespaces/soup/pods/ladle/stir/stir/logs/current.log",
        "namespaces/soup/pods/ladle/stir/stir/logs/previous.log",
    }
    logs = manifest(files)["logs"]
    assert [(one["pod"], one["previous"], one["outcome"]) for one in logs] == [
        ("gpu-operator-7f", False, "ok"),
        ("ladle", False, "ok"),
        ("ladle", True, "ok"),
    ]


@pytest.mark.kubectl
def test_the_script_only_reads(collected: tuple[Cluster, Run, Path]) -> None:
    assert {verb for verb, _ in collected[0].asked} == {"GET"}


@pytest.mark.kubectl
def test_the_analyzer_knows_exactly_what_was_collected(collected: tuple[Cluster, Run, Path], tmp_path: Path) -> None:
    found = Analyzed(tmp_path, collected[1].bundle)
    assert [one["format"] for one in found.report["bundle"]["inputs"]] == ["triage"]
    assert found.report["files"] == []
    assert "clock of the server" in found.report["bundle"]["collectedAtSource"]
    assert found.kind("Pod") == ("complete", "cluster")
    assert found.kind("Event") == ("absent", "cluster")
    assert found.kind("Secret") == ("complete", "cluster")
    assert found.kind("Deployment", "apps") == ("forbidden", [])
    assert found.kind("MutatingWebhookConfiguration", "admissionregistration.k8s.io") == ("absent", "cluster")
    assert "deployments.apps is forbidden" in found.finding("collect/Incomplete")["message"]
    assert "pod/CrashLooping" in found.codes() or any(code.startswith("pod/") for code in found.codes())


@pytest.mark.kubectl
def test_with_nothing_but_busybox_and_for_one_namespace(tmp_path: Path) -> None:
    busybox, kubectl = shutil.which("busybox"), shutil.which("kubectl")
    if busybox is None or kubectl is None:
        pytest.skip("needs busybox (Debian: apt-get install busybox)")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in APPLETS:
        (tools / name).symlink_to(busybox)
    # Its launcher may be a script that needs more than busybox.
    (tools / "kubectl").write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]} exec {kubectl} "$@"\n')
    (tools / "kubectl").chmod(0o755)
    cluster = kitchen()
    cluster.forbidden = {"nodes", "secrets@*"}
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-n", "soup", "-k", shell=(busybox, "sh"), path=str(tools))
    assert run.done.returncode == 0, run.done.stderr
    files = run.files()
    said = manifest(files)
    assert said["scope"] == {"namespaces": ["soup"]}
    assert not any(path.startswith("namespaces/bare/") for path in files)
    outcomes = {(one["resource"], one["namespace"]): one["outcome"] for one in said["requests"] if one["resource"] != "*"}
    assert outcomes["pods", "soup"] == outcomes["secrets", "soup"] == "ok"
    assert outcomes["nodes", ""] == "forbidden"
    (secret,) = items(files["namespaces/soup/core/secrets.yaml"])
    assert secret["data"] == {"key1": "(16 bytes in base64, not collected)"}
    assert [word for word in SECRETS for text in files.values() if word in text] == []
    found = Analyzed(tmp_path, run.bundle)
    assert found.kind("Pod") == ("complete", ["soup"])
    assert found.kind("Node")[0] == "forbidden"


@pytest.mark.kubectl
def test_a_list_that_breaks_off_is_no_whole_list(tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.page, cluster.break_after = 1, {"pods": 1}
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-L")
    (pods,) = [one for one in manifest(run.files())["requests"] if one["resource"] == "pods"]
    assert pods["outcome"] in ("failed", "truncated", "ok")
    everything = len(items(run.files().get("namespaces/soup/core/pods.yaml", '{"items":[]}')))
    # kubectl begins a list anew whose token has expired; what it then gives is whole.
    assert (pods["outcome"] == "ok") == (everything == 3)


@pytest.mark.kubectl
def test_of_a_long_log_the_newest_part_is_kept(tmp_path: Path) -> None:
    cluster = kitchen()
    long = "".join(f"2026-08-18T13:00:00Z line {number:05d} {'padding ' * 12}\n" for number in range(4000))
    many = "".join(f"2026-08-18T13:00:00Z short {number}\n" for number in range(4000))
    cluster.logs["soup", "ladle", "stir", False] = long
    cluster.logs["soup", "ladle", "stir", True] = many
    cluster.add("Pod", "pods", *(pod(f"sick-{n:02d}", "soup", ready=False, owner="flock") for n in range(25)))
    for n in range(25):
        cluster.logs["soup", f"sick-{n:02d}", "stir", False] = "2026-08-18T13:00:00Z ill\n"
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-n", "soup", "-s", "2h", text=SMALL)
    said = manifest(run.files())
    log = run.files()["namespaces/soup/pods/ladle/stir/stir/logs/current.log"]
    first, *rest = log.splitlines(keepends=True)
    (entry,) = [one for one in said["logs"] if (one["pod"], one["previous"]) == ("ladle", False)]
    assert (entry["outcome"], entry["bytes"]) == ("truncated", len(log))
    assert (entry["leftOut"], first[:18]) == (None, "[triage: at least ")
    (short,) = [one for one in said["logs"] if (one["pod"], one["previous"]) == ("ladle", True)]
    assert (short["outcome"], short["leftOut"]) == ("truncated", None)
    assert long.endswith("".join(rest))
    assert len(log) <= 100_100
    assert len([one for one in said["logs"] if one["pod"].startswith("sick-")]) == 20
    assert said["options"]["since"] == "7200s"
    assert any("sinceSeconds=7200" in path for _, path in cluster.asked)


@pytest.mark.kubectl
def test_a_group_whose_server_does_not_answer_is_not_called_absent(tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.add("LocalQueue", "localqueues", group="visibility.example.com")
    cluster.stale = {"kueue.x-k8s.io"}
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-L")
    (entry,) = [one for one in manifest(run.files())["requests"] if one["group"] == "kueue.x-k8s.io"]
    assert (entry["resource"], entry["outcome"]) == ("*", "failed")
    found = Analyzed(tmp_path, run.bundle)
    assert found.kind("Workload", "kueue.x-k8s.io")[0] == "partial"


@pytest.mark.kubectl
def test_a_namespace_that_is_not_there_is_told(tmp_path: Path) -> None:
    with kitchen().serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-n", "nowhere")
    assert (run.done.returncode, run.done.stderr) == (2, "error: the cluster has no namespace nowhere\n")


@pytest.mark.kubectl
def test_an_interrupted_script_leaves_a_readable_bundle(tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.slow = {"workloads.kueue.x-k8s.io": threading.Event()}
    (tmp_path / "collect.sh").write_text(script())
    with cluster.serving(tmp_path) as config:
        env = os.environ | {"KUBECONFIG": str(config), "TMPDIR": str(tmp_path)}
        process = subprocess.Popen(
            ["sh", "collect.sh", "-o", "x.tar.gz"],
            cwd=tmp_path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not any("workloads" in path for _, path in cluster.asked) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    said = manifest(read(tmp_path / "x.tar.gz"))
    assert said["interrupted"] == "Ctrl-C"
    assert b"interrupted (Ctrl-C)" in stderr
    assert {one["resource"] for one in said["requests"] if one["outcome"] == "ok"} >= {"pods", "nodes"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("triage-collect") or path.suffix == ".part"] == []
    found = Analyzed(tmp_path, tmp_path / "x.tar.gz")
    assert "its collection was interrupted" in found.finding("collect/Incomplete")["title"]
    assert found.kind("Pod") == ("complete", "cluster")


@pytest.mark.kubectl
@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("-n", "a;b"), 2, "no name of a namespace"),
        (("-s", "soon"), 2, "-s takes a time"),
        (("-o", "kubeconfig"), 2, "exists"),
        (("extra",), 2, "unknown argument"),
        ((), 1, "cannot be reached"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, args: tuple[str, ...], code: int, words: str) -> None:
    config = tmp_path / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "c", "user": ""}}
    config.write_text(json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "x"}))
    run = Run(tmp_path, config, *args)
    assert run.done.returncode == code
    assert words in run.done.stderr
    assert run.done.stderr.startswith("error: ")
    assert len(run.done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("*.tar.gz*"))


def test_shellcheck_has_nothing_to_say(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("needs shellcheck (Debian: apt-get install shellcheck)")
    path = tmp_path / "collect.sh"
    path.write_text(script())
    done = subprocess.run(["shellcheck", "-s", "sh", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_command_prints_the_script() -> None:
    done = CliRunner().invoke(app, ["collect", "--script"])
    assert (done.exit_code, done.stdout) == (0, script())
    assert "@" not in "".join(line for line in script().splitlines() if line.startswith("        '')"))


def test_a_plan_that_a_shell_would_run_is_refused() -> None:
    text = (Path(plan.__file__).parent / plan.FILE).read_bytes()
    bad = plan.parse(text.replace(b"  - apps\n", b"  - '$(reboot)'\n", 1))
    with pytest.raises(ValueError, match="cannot stand in a shell script"):
        script(bad)
