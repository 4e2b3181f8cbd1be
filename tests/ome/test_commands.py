"""The commands about status and runtimes over bundles: what is read, what they print and refuse; all inputs say the same."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from analyzer.bundle.read import read_bundle
from analyzer.cli import app
from analyzer.ome.source import narrowed
from tests.ome.lake import event, pod
from tests.ome.pond import model, runtime, service, thing
from tests.ome.test_bundles import IMAGE, put, triage, written

FORMAT = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
READY = {"conditions": [{"type": "Ready", "status": "False", "reason": "Waits", "message": "no pods"}]}


def listed(kind: str, *things: Any) -> str:
    """A list of core objects, as a must-gather writes it."""
    return json.dumps(
        {"apiVersion": "v1", "kind": f"{kind}List", "items": [{"apiVersion": "v1", "kind": kind, **one.value} for one in things]}
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = service(runtime=None, status=READY)
    folder = written(tmp_path_factory.mktemp("lake"), [own, model(), runtime(supportedModelFormats=[FORMAT]), runtime("hull")])
    core = folder / IMAGE / "namespaces/pond/core"
    put(core / "pods.yaml", listed("Pod", pod("heron-0", ready="False"), pod("heron-1")))
    put(core / "events.yaml", listed("Event", event("e", pod("heron-0"))))
    put(folder / IMAGE / "namespaces/lake/core/pods.yaml", "{ no YAML")
    return folder


@pytest.fixture(scope="module")
def report(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return analyzed(bundle, tmp_path_factory.mktemp("report") / "out")


def analyzed(folder: Path, out: Path) -> Path:
    assert triage("analyze", folder, "-o", out, "--format", "json")[0] == 0
    return out


def asked(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, in this process."""
    code = 0
    try:
        app(["ome", *map(str, args)], standalone_mode=False)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_the_status_of_a_bundle(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = asked(capsys, "status", report, "heron", "-n", "pond")
    assert (code, err) == (0, "")
    assert out.splitlines()[3:5] == ["Ready                False / Valid", "Ready reason         Waits"]
    assert "engine               NotRecorded / Unavailable; Ready pods=1/2 restarts=0" in out
    assert "Warning Pod          heron-0 BackOff" in out
    assert json.loads(asked(capsys, "status", report, "heron", "-n", "pond", "-o", "json")[1])["kind"] == "StatusReport"


def test_only_pods_and_events_of_the_namespace_are_read(bundle: Path, tmp_path: Path) -> None:
    def states(around: str) -> dict[str, str]:
        folder = tmp_path / (around or "none")
        folder.mkdir()
        parts = read_bundle([bundle], folder, 1, narrow=lambda layout: narrowed(layout, "ome", around))
        return {str(row["path"]).removeprefix(f"{IMAGE}/namespaces/"): str(row["status"]) for row in parts.files}

    near, none = states("pond"), states("")
    assert near["pond/core/pods.yaml"] == near["pond/core/events.yaml"] == "read"
    assert near["lake/core/pods.yaml"] == near["pond/pods/p/c/c/logs/current.log"] == "skipped"
    assert none["pond/core/pods.yaml"] == none["pond/core/events.yaml"] == "skipped"


def test_runtimes_of_a_bundle(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for args in (("--isvc", "heron"), ("--model", "reed")):
        code, out, err = asked(capsys, "runtime", "explain", report, *args, "-n", "pond")
        assert (code, err) == (0, "")
        assert [line.split()[:4] for line in out.splitlines()] == [
            ["RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY"],
            ["skiff", "Cluster", "Yes", "1"],
            ["hull", "Cluster", "No", "-"],
        ]
    assert asked(capsys, "runtime", "explain", report, "--model", "reed", "-o", "json")[0] == 0


def test_the_effective_runtime_and_the_tree_of_a_bundle(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = asked(capsys, "runtime", "effective", report, "heron", "-n", "pond")
    assert (code, err) == (0, "")
    assert "Live      RUNTIME         CSR/skiff" in out
    code, out, err = asked(capsys, "runtime", "tree", report, "skiff", "-n", "pond")
    assert code == 0
    assert out.startswith("RUNTIME TREE\nTarget: ClusterServingRuntime/skiff\n")
    assert "note: 1 InferenceService names no runtime that can be told from the spec" in err
    code, out, err = asked(capsys, "runtime", "tree", report)
    assert "  state=Unresolved reason=AutomaticSelection" in out


def test_an_archive_a_report_folder_and_its_database_say_the_same(
    bundle: Path, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "b.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(bundle, "b")
    commands = (("status", archive, "heron"), ("runtime", "effective", bundle, "heron"), ("runtime", "tree", archive, "skiff"))
    for command in commands:
        answer = triage("ome", *command, "-n", "pond", "-o", "wide")
        assert answer[0] == 0
        for stored in (report, report / "bundle.duckdb"):
            assert asked(capsys, *command[:-2], stored, command[-1], "-n", "pond", "-o", "wide") == answer


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("status", "b", "He_ron"), 'error: InferenceService name "He_ron" is invalid'),
        (("status", "b", "heron", "-o", "xml"), 'error: unsupported output format "xml" (supported: table, wide, json, yaml)'),
        (("status", "b"), "error: Missing argument"),
        (("runtime",), "error: a command is missing"),
        (("runtime", "explain", "b"), "error: exactly one of --model or --isvc is required"),
        (("runtime", "explain", "b", "--model", "a", "--isvc", "b"), "error: exactly one of --model or --isvc is required"),
        (("runtime", "explain", "b", "--model", "A_B"), 'error: model name "A_B" is invalid'),
        (("runtime", "explain", "b", "--model", "a", "-n", "a.b"), 'error: namespace "a.b" is invalid'),
        (("runtime", "effective", "b", "heron", "--ome-namespace", "A"), 'error: OME namespace "A" is invalid'),
        (("runtime", "tree", "b", "A_B"), 'error: runtime name "A_B" is invalid'),
        (("runtime", "tree", "b", "a", "--kind", "Boat"), 'error: unsupported runtime kind "Boat" (supported: ServingRuntime, C'),
        (("runtime", "tree", "b", "a", "--bogus"), "error: No such option"),
        (("runtime", "tree", "/none/such"), "error: /none/such: no such file or folder"),
    ],
)
def test_what_is_refused_ends_with_one(args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = asked(capsys, *args)
    assert code == 1
    assert err.startswith(message) or message in err.splitlines()
    assert len(err.splitlines()) == 1 or args == ("runtime",)


def test_what_a_bundle_lacks(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "status", report, "swan", "-n", "pond") == (
        1,
        "",
        'error: read InferenceService "pond/swan": not found\n',
    )
    code, _, err = asked(capsys, "runtime", "explain", report, "--model", "fern", "-n", "pond")
    assert (code, err) == (1, 'error: clusterbasemodels.ome.io "fern" not found\n')
    code, _, err = asked(capsys, "runtime", "tree", report, "swan", "-n", "pond")
    assert (code, err) == (1, 'error: project runtime inheritance tree: runtime target was not found: "swan"\n')
    bare = thing("InferenceService", "bare", "pond", spec={"engine": {}})
    poor = analyzed(written(tmp_path / "poor", [service(runtime=None), bare], empty=()), tmp_path / "out")
    code, _, err = asked(capsys, "runtime", "explain", poor, "--isvc", "bare", "-n", "pond")
    assert (code, err) == (1, 'error: InferenceService "bare" has no spec.model; pass --model instead\n')
    code, _, err = asked(capsys, "runtime", "explain", poor, "--isvc", "heron", "-n", "pond")
    assert (code, err) == (
        1,
        'error: basemodels.ome.io "reed" unreadable (not collected in this bundle)\n',
    ) or "not collected" in err
    code, out, err = asked(capsys, "status", poor, "heron", "-n", "pond")
    assert code == 0
    assert "Pod observation      Unavailable count=0 truncated=false Unreadable" in out
    assert "note: the list of Pods of namespace pond was not collected" in err
    code, out, err = asked(capsys, "runtime", "tree", poor)
    assert (code, "Snapshot: Partial" in out) == (0, True)
    assert "note: the list of ClusterServingRuntimes was not collected" in err
