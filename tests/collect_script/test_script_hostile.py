"""The shell script against a server that means harm, against folders it cannot use, and with secrets in odd places."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from .api_server import Cluster
from .kitchen import kitchen, obj, pod
from .test_script import Run, manifest

pytestmark = pytest.mark.kubectl


def outcome(run: Run, resource: str) -> list[str]:
    return [one["outcome"] for one in manifest(run.files())["requests"] if one["resource"] == resource]


def test_names_that_are_none_get_neither_into_paths_nor_into_json(tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.add('Ev"il', 'quo"te', obj("a", "soup"), group="nvidia.com")
    cluster.add("Evil", "$(touch${IFS}harm)", obj("a"), group="mellanox.com", spaced=False)
    failing = {"name": "..", "restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    cluster.add("Pod", "pods", pod("..", "..", ready=False, status=failing), pod("fork", "..", ready=False, status=failing))
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz")
    assert run.done.returncode == 0, run.done.stderr
    said = manifest(run.files())
    assert not [one for one in said["requests"] if not one["resource"].replace("*", "a").isalnum()]
    assert not [one for one in said["logs"] if ".." in (one["namespace"], one["pod"], one["container"])]
    assert not [path for path in run.files() if ".." in path.split("/")]
    assert not list(tmp_path.rglob("harm"))
    assert "namespaces/_./core/pods.yaml" in run.files()


def test_an_answer_that_is_no_list_proves_nothing(tmp_path: Path) -> None:
    cluster = kitchen()
    cluster.instead = {
        "pods": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "come back later"},
        "nodes": {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": []},
    }
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz")
    assert (outcome(run, "pods"), outcome(run, "nodes")) == (["failed"], ["ok"])


def test_a_place_that_cannot_be_written_is_told_before_the_cluster_is_asked(tmp_path: Path) -> None:
    cluster = kitchen()
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "no/such/x.tar.gz")
    assert (run.done.returncode, run.done.stderr) == (2, "error: no/such/x.tar.gz cannot be written\n")
    assert cluster.asked == []
    assert not list(tmp_path.glob("triage-collect*"))


def test_what_a_killed_script_left_goes_a_day_later(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in ("triage-collect.aB3xYz", "triage-collect.aB3xYw", "triage-collect.mine"))
    for folder in (old, new, other):
        (folder / "triage-bundle").mkdir(parents=True)
    for folder in (old, other):
        os.utime(folder, (time.time() - 2 * 86400,) * 2)
    cluster = Cluster()
    cluster.add("Pod", "pods", pod("ladle", "soup"))
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz", "-L")
    assert run.done.returncode == 0, run.done.stderr
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_secrets_in_arguments_headers_and_annotations(tmp_path: Path) -> None:
    hidden = [f"Zq7hidden{number}value" for number in range(9)]
    probe = {"httpGet": {"path": "/", "httpHeaders": [{"name": "X-Api-Key", "value": hidden[0]}]}}
    one = pod(
        "ladle",
        "soup",
        ready=False,
        env=[{"name": "db_passwd", "value": hidden[1]}, {"name": "apiKey", "value": hidden[2]}],
        args=["--password", hidden[3], f"run --token {hidden[4]} now", "--verbose", "kept-word"],
        livenessProbe=probe,
    )
    one["metadata"]["annotations"] = {"example.com/token": hidden[5]}
    cluster = Cluster()
    cluster.add("Pod", "pods", one)
    cluster.add("ConfigMap", "configmaps", obj("kueue-manager-config", "soup", data={"c.yaml": f"a: 1\npassword: {hidden[6]}\n"}))
    cluster.logs["soup", "ladle", "stir", False] = f"secret_access_key = {hidden[7]}\nstarted with --password {hidden[8]}\n"
    with cluster.serving(tmp_path) as config:
        run = Run(tmp_path, config, "-o", "x.tar.gz")
    text = "".join(run.files().values())
    assert [word for word in hidden if word in text] == []
    assert "kept-word" in text
    assert "started with --password [masked]" in text
