"""`triage show` from outside: real bundles, report folders, exit codes, what it does when nobody reads on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.program import said

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

Run = Callable[..., subprocess.CompletedProcess[str]]


def pod(name: str, namespace: str, uid: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": uid or f"u-{namespace}-{name}", "resourceVersion": "5"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def listed(kind: str, items: list[dict[str, Any]], api: str = "v1") -> dict[str, Any]:
    return {"apiVersion": api, "kind": f"{kind}List", "metadata": {"resourceVersion": "9"}, "items": items}


def bundle(folder: Path, *, later: bool = False) -> Path:
    """A plain bundle: pods in two namespaces, a secret, the namespace that tells which cluster it is."""
    folder.mkdir(parents=True)
    pods = [
        pod("app-0", "lab"),
        pod("app-0", "shop", containers=[{"name": "app", "image": "i", "env": [{"name": "API_TOKEN", "value": "s3cr3t-value"}]}]),
    ]
    if not later:
        pods.append(pod("old", "lab"))
    at = "2026-11-02T12:00:00Z" if later else "2026-11-01T12:00:00Z"
    lease = {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "n1", "namespace": "kube-node-lease", "uid": "l"}, "spec": {"renewTime": at},
    }  # fmt: skip
    secret = {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop", "uid": "s"},
        "data": {"password": "aHVudGVyMmh1bnRlcjI="},
    }  # fmt: skip
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "uid": n}} for n in ("kube-system", "shop", "lab")
    ]
    for name, value in {
        "pods": listed("Pod", pods), "secrets": listed("Secret", [secret]), "namespaces": listed("Namespace", spaces),
        "leases": listed("Lease", [lease], "coordination.k8s.io/v1"),
    }.items():  # fmt: skip
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(value), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle and, beside it, its report folder `report`."""
    base = tmp_path_factory.mktemp("show")
    bundle(base / "case")
    done = said("analyze", base / "case", "-o", base / "report")
    assert done.returncode == 0, done.stderr
    return base


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `triage show`; nothing may be left in the temporary folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def call(*words: str | Path, code: int = 0, text: str | None = None) -> subprocess.CompletedProcess[str]:
        done = said("show", *words, given=text or "", environment={"TMPDIR": str(temporary)})
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert list(temporary.iterdir()) == []
        if code:
            assert done.stdout == ""
            assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] == done.stderr.splitlines()[-1:]
        return done

    return call


@pytest.mark.parametrize("form", ["case", "report", "report/report.json", "report/report.html", "report/bundle.duckdb"])
def test_every_form_of_a_bundle(run: Run, made: Path, form: str) -> None:
    done = run(made / form, "pod/app-0", "-n", "shop")
    assert done.stdout.startswith("Pod shop/app-0\n")
    assert "State:" in done.stdout
    assert done.stderr == ""


def test_standard_input(run: Run) -> None:
    done = run("-", "pod/app-0", text=json.dumps(pod("app-0", "shop")))
    assert done.stdout.startswith("Pod shop/app-0\n")


def test_a_name_in_several_namespaces_is_listed(run: Run, made: Path) -> None:
    lines = run(made / "report", "pod/app-0", code=2).stderr.splitlines()
    assert lines[:2] == ["  Pod/app-0 -n lab", "  Pod/app-0 -n shop"]
    assert lines[2].startswith("error: 2 objects are called pod/app-0")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["pod/none", "-n", "shop"], "not found"),
        (["pod/old", "-n", "shop"], "Is pod/old -n lab meant?"),
        (["pod/app-0", "-n", "moon"], "there is no namespace moon"),
        (["deploy/web"], "not collected"),
        (["gizmo/x"], "not collected"),
        (["pod/\x1b[31mred"], "not found"),
        (["pod/\udcff"], "not found"),
    ],
)
def test_what_is_not_there(run: Run, made: Path, words: list[str], says: str) -> None:
    stderr = run(made / "report", *words, code=1).stderr
    assert says in stderr
    assert "\x1b" not in stderr


@pytest.mark.parametrize(
    "words", [["pod"], ["pod/"], [], ["pod/app-0", "--nothing"], ["pod/app-0", "-n", ""], ["pod/a", "pod/b"]]
)
def test_wrong_usage(run: Run, made: Path, words: list[str]) -> None:
    run(made / "report", *words, code=2)


def test_a_bad_name_is_told_before_the_bundle_is_read(run: Run, tmp_path: Path) -> None:
    assert "KIND/NAME is needed" in run(tmp_path / "missing", "pod", code=2).stderr


def test_what_cannot_be_used_or_read(run: Run, tmp_path: Path) -> None:
    run(tmp_path / "missing", "pod/a", code=2)
    noise = tmp_path / "noise.tar.gz"
    noise.write_bytes(os.urandom(2_000))
    run(noise, "pod/a", code=3)
    database = tmp_path / "bundle.duckdb"
    database.write_bytes(os.urandom(2_000))
    run(database, "pod/a", code=3)


def test_yaml_is_the_object_as_stored_without_its_secrets(run: Run, made: Path) -> None:
    text = run(made / "report", "pod/app-0", "-n", "shop", "--yaml").stdout
    value = yaml.safe_load(text)
    assert list(value) == ["apiVersion", "kind", "metadata", "spec", "status"]
    assert value["metadata"]["name"] == "app-0"
    assert "s3cr3t-value" not in text
    secret = run(made / "report", "secret/s", "--yaml").stdout
    assert "aHVudGVyMmh1bnRlcjI" not in secret
    assert "password" in secret
    assert "aHVudGVyMmh1bnRlcjI" not in run(made / "report", "secret/s").stdout


def test_what_a_newer_input_lacks_is_gone(run: Run, tmp_path: Path) -> None:
    older, newer = bundle(tmp_path / "older"), bundle(tmp_path / "newer", later=True)
    report = tmp_path / "both"
    done = said("analyze", older, newer, "-o", report)
    assert done.returncode == 0, done.stderr
    text = run(report, "pod/old").stdout
    assert "Gone: the newer input" in text
    assert "State:" in text
    assert "name: old" in run(report, "pod/old", "--yaml").stdout
    assert "Gone" not in run(report, "pod/app-0", "-n", "shop").stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe that nobody reads is another thing there")
def test_a_reader_that_leaves_is_no_error(made: Path) -> None:
    for words in (["pod/app-0"], ["pod/app-0", "--yaml"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-m", "analyzer", "show", str(made / "report"), *words, "-n", "shop"],
            stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
        os.close(writer)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_sample_tells_its_story(run: Run, tmp_path: Path) -> None:
    text = run(SAMPLES / "gpu-cluster", "pod/llama-server-5ec30eef7-t4r6j").stdout
    assert "Pending" in text
    assert "Explained by node/NotReady" in text
    assert "11 Insufficient nvidia.com/gpu" in text
    assert "Kept out by: Node lark-gpu-07 (Unknown)" in " ".join(text.split())


def test_a_database_of_another_version_is_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bundle.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE meta AS SELECT 'schema' AS key, 'triage.db/v1' AS value")
        con.execute("CREATE TABLE objects (object_id BIGINT, api_group VARCHAR, kind VARCHAR, json JSON)")
    assert "another version of triage" in run(path, "pod/a", code=3).stderr
