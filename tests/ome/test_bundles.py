"""The command over bundles: what is read of them, what absence means there, exit codes, and the same as findings."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analyzer.bundle.kinds import plural_of
from analyzer.bundle.read import read_bundle
from analyzer.cli import app
from analyzer.ome.source import narrowed
from analyzer.ome.world import Thing
from tests.ome.pond import chosen, model, revision, runtime, service, thing
from tests.program import said

IMAGE = "quay-io-pond-sha256-0123456789abcdef"
CLASSED = service(acceleratorSelector={"acceleratorClass": "marsh-100"})


def written(folder: Path, things: Sequence[Thing], empty: Sequence[str] = ("ServingRuntime", "BaseModel")) -> Path:
    """A must-gather with these objects, empty lists of further kinds in the namespace, a log and a Pod that is no YAML."""
    image = folder / IMAGE
    files: dict[str, list[dict[str, Any]]] = {}
    for one in things:
        group = "apps" if one.kind == "ControllerRevision" else "ome.io"
        version = "apps/v1" if group == "apps" else "ome.io/v1beta1"
        where = f"namespaces/{one.namespace}" if one.namespace else "cluster-scoped-resources"
        path = f"{where}/{group}/{plural_of(one.kind)}.yaml"
        files.setdefault(path, []).append({"apiVersion": version, "kind": one.kind, **one.value})
    for kind in empty:
        files.setdefault(f"namespaces/pond/ome.io/{plural_of(kind)}.yaml", [])
    for path, held in files.items():
        kind = held[0]["kind"] if held else next(kind for kind in empty if plural_of(kind) in path)
        version = held[0]["apiVersion"] if held else "ome.io/v1beta1"
        put(image / path, json.dumps({"apiVersion": version, "kind": f"{kind}List", "items": held}))
    put(
        image / "namespaces/pond/pond.yaml",
        json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pond", "uid": "u"}}),
    )
    put(image / "namespaces/pond/pods/p/p.yaml", "{ this is: [no YAML")
    put(image / "namespaces/pond/pods/p/c/c/logs/current.log", "2026-11-01T12:00:00Z a line\n" * 50)
    put(image / "version", "must-gather\n4.20\n")
    for place in (folder, image):
        put(place / "timestamp", "2026-11-01 11:50:00 +0000 UTC\n2026-11-01 12:00:00 +0000 UTC\n")
    return folder


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def triage(*args: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    done = said(*args)
    return done.returncode, done.stdout, done.stderr


def explain(bundle: Path, *args: str, name: str = "heron", namespace: str = "pond") -> tuple[int, str, str]:
    return triage("ome", "accelerator", "explain", bundle, name, "-n", namespace, *args)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    classes = [thing("AcceleratorClass", "marsh-100", spec={"discovery": {"nodeSelector": {"pond.example/pool": "x"}}})]
    return written(tmp_path_factory.mktemp("bundle"), [CLASSED, model(), runtime(), *classes])


def test_the_report_of_a_bundle(bundle: Path) -> None:
    code, out, err = explain(bundle)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["engine", "Explicit", "marsh-100", "Missing", "base:cpu=2", "1"]
    assert json.loads(explain(bundle, "-o", "json")[1])["collectedAt"] == "2026-11-01T12:00:00Z"


def test_only_files_that_may_hold_what_counts_are_read(bundle: Path, tmp_path: Path) -> None:
    parts = read_bundle([bundle], tmp_path, 1, narrow=lambda layout: narrowed(layout, "ome"))
    status = {str(row["path"]).removeprefix(f"{IMAGE}/"): row["status"] for row in parts.files}
    assert status["namespaces/pond/pods/p/p.yaml"] == "skipped"
    assert status["namespaces/pond/pods/p/c/c/logs/current.log"] == "skipped"
    assert status["namespaces/pond/ome.io/inferenceservices.yaml"] == "read"
    assert parts.log_lines == 0


def test_an_archive_and_a_report_folder_say_the_same(bundle: Path, tmp_path: Path) -> None:
    archive = tmp_path / "b.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(bundle, "b")
    out = tmp_path / "out"
    assert triage("analyze", archive, "-o", out, "--format", "json")[0] == 0
    wanted = explain(bundle, "-o", "wide")
    assert wanted[0] == 0
    assert explain(archive, "-o", "wide") == explain(out, "-o", "wide") == wanted


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("b", "He_ron"), 'error: InferenceService name "He_ron" is invalid'),
        (("b", "heron", "-n", "a.b"), 'error: namespace "a.b" is invalid'),
        (("b", "heron", "-o", "xml"), 'error: unsupported output format "xml" (supported: table, wide, json, yaml)'),
        (("b", "heron", "--ome-namespace", "A"), 'error: OME namespace "A" is invalid'),
        (("b", "heron", "--bogus"), "error: No such option"),
        (("b",), "error: Missing argument"),
        (("/none/such", "heron"), "error: /none/such: no such file or folder"),
        ((), "error: "),
    ],
)
def test_what_is_refused_ends_with_one(args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["ome", "accelerator", "explain", *args], standalone_mode=False)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (1, "")
    assert err.startswith(message)


def test_a_service_that_is_not_there_and_an_input_that_is_no_bundle(bundle: Path, tmp_path: Path) -> None:
    assert explain(bundle, name="swan") == (1, "", 'error: read InferenceService "pond/swan": not found\n')
    code, out, err = explain(bundle, namespace="lake")
    assert (code, out) == (1, "")
    assert "(there is one in namespace pond)" in err
    put(tmp_path / "notes.txt", "no bundle")
    assert explain(tmp_path)[:2] == (1, "")


def test_runtimes_that_were_not_collected_are_told_apart_from_missing_ones(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [CLASSED, model()])
    code, out, err = explain(folder)
    assert (code, out.splitlines()[1].split()[3:]) == (0, ["Unavail", "base:Unknown", "1"])
    assert "note: ClusterServingRuntime skiff was not collected" in err
    report = analyzed(folder, tmp_path / "out")
    assert not [finding for finding in report["findings"] if finding["code"] == "ome/ActiveConfigurationUnavailable"]
    assert any("skiff was not collected" in str(entry) for entry in report["notEvaluated"])


def analyzed(folder: Path, out: Path) -> dict[str, Any]:
    assert triage("analyze", folder, "-o", out, "--format", "json")[0] == 0
    found: dict[str, Any] = json.loads((out / "report.json").read_text())
    return found


def test_a_pin_is_read_from_the_namespace_of_ome(tmp_path: Path) -> None:
    pinned = service(
        runtime={"name": "skiff", "kind": "ClusterServingRuntime", "autoSync": False},
        status={"pinnedRevisionName": "cr-skiff-0a1b2c3d"},
    )
    folder = written(tmp_path, [pinned, model(), runtime(), revision()])
    code, out, err = explain(folder)
    assert (code, "base:cpu=7" in out) == (0, True)
    assert "its hash cannot be computed" in err
    code, out, err = explain(folder, "--ome-namespace", "other")
    assert (code, "base:Unknown" in out, err) == (0, True, "")


def test_nothing_hostile_reaches_a_report(tmp_path: Path) -> None:
    status = chosen(acceleratorClass="ghp_secretsecret", reason="password=hunter22", nodeSelector={"a/b": "to!ken"})
    hostile = service(acceleratorSelector={"acceleratorClass": "ghp_OTHER secret"}, status=status)
    folder = written(tmp_path / "b", [hostile, model(), runtime()])
    analyzed(folder, tmp_path / "out")
    told = (tmp_path / "out" / "report.json").read_text() + explain(folder, "-o", "wide")[1] + explain(folder, "-o", "json")[1]
    assert not any(word in told for word in ("ghp_secretsecret", "hunter22", "to!ken", "ghp_OTHER"))
