"""The files in deploy/: the role is exactly what is needed, kubectl takes them, and triage is a plugin of kubectl."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.collect import role
from analyzer.collect.plan import load

from .api_server import Cluster
from .bundle_writer import Analyzed, Written, bare, request
from .kitchen import kitchen
from .test_script import Run, manifest, read

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def test_the_role_is_made_from_the_plan() -> None:
    assert (DEPLOY / "clusterrole.yaml").read_text() == role.text()
    rules = yaml.safe_load((DEPLOY / "clusterrole.yaml").read_text())["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list"}
    assert [rule["resources"] for rule in rules if "get" in rule["verbs"]] == [["namespaces"], ["pods/log"]]
    assert not any("*" in group for rule in rules for group in rule["apiGroups"])
    groups = {group for rule in rules for group in rule["apiGroups"]}
    plan = load()
    assert groups >= {group for group in (*plan.groups, *plan.custom) if "*" not in group}
    assert all(plan.group_rank(group) is not None for group in groups)


def full_kitchen() -> Cluster:
    """A cluster that serves all that the core group can list, and something of a group that the plan does not name."""
    cluster = kitchen()
    served = {key[2] for key in cluster.resources if key[0] == ""}
    for plural in role.CORE:
        if plural not in served:
            cluster.add(plural.title(), plural, spaced=plural not in ("persistentvolumes", "componentstatuses"))
    cluster.rules = role.role()["rules"]
    return cluster


def collected(by: str, folder: Path, config: Path) -> dict[str, Any]:
    if by == "script":
        run = Run(folder, config, "-o", "x.tar.gz")
        assert run.done.returncode == 0, run.done.stderr
    else:
        command = [sys.executable, "-m", "analyzer", "collect", "--kubeconfig", str(config), "-o", str(folder / "x.tar.gz")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
    return manifest(read(folder / "x.tar.gz"))


@pytest.mark.kubectl
@pytest.mark.parametrize("by", ["script", "python"])
def test_the_role_is_all_that_a_collection_needs_and_no_more(by: str, tmp_path: Path) -> None:
    cluster = full_kitchen()
    with cluster.serving(tmp_path) as config:
        said = collected(by, tmp_path, config)
    refused = [one for one in [*said["requests"], *said["logs"]] if one["outcome"] not in ("ok", "not-served", "none")]
    assert refused == []
    core = {(name, verb) for group, name, verb in cluster.used if group == ""}
    allowed = {
        (name, verb)
        for rule in cluster.rules or []
        if rule["apiGroups"] == [""]
        for name in rule["resources"]
        for verb in rule["verbs"]
    }
    assert core == allowed
    assert {verb for group, _, verb in cluster.used if group} == {"list"}


@pytest.mark.kubectl
@pytest.mark.parametrize("name", ["clusterrole.yaml", "access.yaml", "job.yaml"])
def test_kubectl_takes_the_files(name: str, tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.add("ServiceAccount", "serviceaccounts")
    cluster.add("Job", "jobs", group="batch")
    cluster.add("ClusterRole", "clusterroles", group="rbac.authorization.k8s.io", spaced=False)
    cluster.add("ClusterRoleBinding", "clusterrolebindings", group="rbac.authorization.k8s.io", spaced=False)
    with cluster.serving(tmp_path) as config:
        command = ["kubectl", "create", "--dry-run=client", "--validate=false", "-f", str(DEPLOY / name), "-o", "name"]
        env = os.environ | {"KUBECONFIG": str(config), "HOME": str(tmp_path)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(list(yaml.safe_load_all((DEPLOY / name).read_text())))


def test_the_job_and_the_binding_name_what_is_there() -> None:
    access = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "access.yaml").read_text())}
    job = yaml.safe_load((DEPLOY / "job.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    assert access["ClusterRoleBinding"]["roleRef"]["name"] == role.NAME
    assert pod["serviceAccountName"] == access["ServiceAccount"]["metadata"]["name"]
    assert job["metadata"]["namespace"] == access["Namespace"]["metadata"]["name"]
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["image"] == "IMAGE"
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_gather_unpacks_the_bundle_where_must_gather_takes_it(tmp_path: Path) -> None:
    """With a stand-in for triage in the PATH that copies a bundle, and a folder in the place of /must-gather."""
    bundle = Written(objects=[bare("Node", "n1")], requests=[request("Node")]).tar(tmp_path / "made.tar.gz")
    target = tmp_path / "must-gather"
    target.mkdir()
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "triage").write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\ncp {bundle} "$3"\n')
    (tools / "triage").chmod(0o755)
    gather = tmp_path / "gather"
    gather.write_text((DEPLOY / "gather").read_text().replace("/must-gather\n", f"{target}\n"))
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", str(gather), "--since", "6h"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (target / "triage-bundle" / "triage-manifest.json").is_file()
    assert (tmp_path / "asked").read_text().endswith("--since 6h\n")
    with tarfile.open(bundle) as archive:
        assert len([path for path in target.rglob("*") if path.is_file()]) == len(archive.getnames())
    assert os.access(DEPLOY / "gather", os.X_OK)


@pytest.mark.kubectl
def test_triage_is_a_plugin_of_kubectl(tmp_path: Path) -> None:
    """`kubectl triage` finds `kubectl-triage` in the PATH, as installed beside this interpreter."""
    plugin = Path(sys.executable).parent / "kubectl-triage"
    if not plugin.exists():
        pytest.skip("needs triage installed beside this Python (pip install -e .)")
    kubectl = shutil.which("kubectl")
    assert kubectl is not None
    env = os.environ | {"PATH": f"{plugin.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run([kubectl, "triage", "--version"], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "triage"), done.stderr
    printed = subprocess.run(
        [kubectl, "triage", "collect", "--script"], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert printed.stdout.startswith("#!/bin/sh\n")
    wrong = subprocess.run(
        [kubectl, "triage", "analyze", str(tmp_path / "none")], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert wrong.returncode == 2


@pytest.mark.kubectl
def test_both_collectors_make_the_same_of_a_cluster(tmp_path: Path) -> None:
    """The same lists, objects and logs, and the same coverage; only masks and what stands in annotations differ."""
    cluster = kitchen()
    cluster.forbidden = {"deployments.apps"}
    found: dict[str, tuple[Analyzed, dict[str, str]]] = {}
    with cluster.serving(tmp_path) as config:
        for by in ("script", "python"):
            folder = tmp_path / by
            folder.mkdir()
            collected(by, folder, config)
            found[by] = Analyzed(folder, folder / "x.tar.gz"), read(folder / "x.tar.gz")
    (script, ours), (python, theirs) = found["script"], found["python"]
    assert set(ours) == set(theirs)
    for query in (
        "SELECT api_group, kind, status, scope FROM coverage ORDER BY ALL",
        "SELECT api_group, kind, namespace, name, uid FROM objects ORDER BY ALL",
        "SELECT namespace, pod, container, source FROM logs ORDER BY ALL",
        "SELECT name, json_keys(json, '$.data') FROM objects WHERE kind IN ('Secret', 'ConfigMap') ORDER BY ALL",
        "SELECT name, json -> '$.metadata.annotations.\"triage.dev/label-times\"' FROM objects WHERE kind = 'Node'",
    ):
        assert script.sql(query) == python.sql(query), query
    assert script.report["files"] == python.report["files"] == []
