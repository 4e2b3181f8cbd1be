"""Oddities of real bundles, each through the whole program: the rest is read, and what is lost is told."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from . import pipeline_trees as trees
from .pipeline_runs import Case, run

PODS = "namespaces/teahouse/core/pods.yaml"
LOGS = "namespaces/teahouse/pods/kettle-0/brew/brew/logs"


def named(case: Case, kind: str, group: str = "") -> list[str]:
    return [
        name for (name,) in case.sql(f"SELECT name FROM objects WHERE kind = '{kind}' AND api_group = '{group}' ORDER BY name")
    ]


def unread(case: Case) -> set[str]:
    return {one["path"] for one in case.report["files"]}


@pytest.mark.parametrize("ending", ["tar.zst", "tar.xz"])
def test_a_must_gather_in_any_compression(tmp_path: Path, ending: str) -> None:
    plain = tmp_path / "a.tar"
    with tarfile.open(plain, "w") as archive:
        for name, text in trees.must_gather().items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path = tmp_path / f"case.{ending}"
    path.write_bytes(_packed(plain.read_bytes(), ending))
    done = run(tmp_path, path.name)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert report["bundle"]["inputs"][0]["format"] == "must-gather"
    assert {one["kind"]: one["objects"] for one in report["coverage"]["kinds"]}["Pod"] == 3


def _packed(data: bytes, ending: str) -> bytes:
    if ending == "tar.zst":
        return zstandard.ZstdCompressor().compress(data)
    return lzma.compress(data)


def test_a_kind_of_another_group_is_another_kind(tmp_path: Path) -> None:
    other: dict[str, Any] = {
        "apiVersion": "longhorn.io/v1beta1",
        "kind": "Node",
        "metadata": trees.meta("shelf-1", "storage"),
        "status": {"conditions": {"Ready": {"type": "Ready", "status": "False"}, "Full": "True"}},
    }
    case = Case(
        tmp_path, trees.inspected() | {"namespaces/storage/longhorn.io/nodes.yaml": trees.to_yaml(trees.listed("Node", [other]))}
    )
    assert named(case, "Node") == ["shelf-1", "shelf-2"]
    assert named(case, "Node", "longhorn.io") == ["shelf-1"]
    assert case.report["bundle"]["cluster"]["nodes"] == 2


def test_conditions_that_are_none(tmp_path: Path) -> None:
    odd: list[Any] = ["True", 3, ["Ready"], [{"type": 5, "status": True}], [None], {"a": [1]}]
    text = ""
    for number, conditions in enumerate(odd):
        for one in (
            trees.node(f"shelf-{number}"),
            trees.pod(f"kettle-{number}"),
            trees.crd(f"cups{number}", "tea.example", "Cup"),
        ):
            text += trees.to_yaml(one | {"status": {"conditions": conditions}})
    case = Case(tmp_path, {"all.yaml": text})
    assert len(named(case, "Pod")) == len(named(case, "Node")) == len(odd)


def test_a_file_that_a_redactor_broke_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    broken = (
        "- apiVersion: tea.example/v1\n  kind: Leaf\n  metadata:\n    name: oolong\n  spec:\n    ip: ***HIDDEN***\n    x: [\n"
    )
    files = trees.support_bundle("") | {"cluster-resources/custom-resources/cups.tea.example/teahouse.yaml": broken}
    case = Case(tmp_path, files)
    assert named(case, "Pod") == ["kettle-0"]
    assert "cluster-resources/custom-resources/cups.tea.example/teahouse.yaml" in unread(case)


def test_nul_bytes_colours_windows_line_ends_and_other_scripts_in_a_log(tmp_path: Path) -> None:
    text = "один чайник\r\n\x1b[31mred\x1b[0m\r\nbefore\x00\x00after\r\n4月 28 no zone\n".encode()
    case = Case(tmp_path, trees.inspected() | {f"{LOGS}/current.log": text})
    ((tail, lines),) = case.sql("SELECT tail, lines FROM logs")
    assert lines == 4
    assert "один чайник" in tail
    assert "\x00" not in tail
    assert "\x1b" not in tail
    assert "\r" not in tail


def test_huge_lines(tmp_path: Path) -> None:
    pod = trees.pod("kettle-0")
    pod["metadata"]["annotations"] = {"examples": "x" * 300_000}
    files: trees.Files = {"pods.json": json.dumps(trees.listed("Pod", [pod, trees.pod("kettle-1")]))}
    files["brew.log"] = "2026-08-18T13:05:00Z " + "y" * 3_000_000 + "\n2026-08-18T13:06:00Z end\n"
    case = Case(tmp_path, files)
    assert named(case, "Pod") == ["kettle-0", "kettle-1"]
    assert case.sql("SELECT lines, last_at::VARCHAR FROM logs") == [(2, "2026-08-18 13:06:00")]


def test_long_paths(tmp_path: Path) -> None:
    folder = "-".join(["registry-example-release-dev-must-gather"] * 3)[:110]
    name = "plate-" * 24
    files = trees.must_gather(f"{'case-' * 20}/must-gather.local.7/", f"{folder}-sha256-0a1b2c3d")
    files[f"{'case-' * 20}/must-gather.local.7/{folder}-sha256-0a1b2c3d/namespaces/teahouse/pods/{name}/{name}.yaml"] = (
        trees.to_yaml(trees.pod(name))
    )
    assert max(map(len, files)) > 500
    trees.tar(tmp_path / "in0.tar.gz", files)
    assert run(tmp_path, "in0.tar.gz").returncode == 0
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert {one["kind"]: one["objects"] for one in report["coverage"]["kinds"]}["Pod"] == 4
    assert report["files"] == []


NO_OBJECTS = (
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "null",
    "{{ range .Values.cups }}\nkind: Cup\n{{ end }}\n",
    "NapiVersion: v1\nkind\n  name: x\n",
    "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n",
    "apiVersion: v1\nkind: [...]\nmetadata: [...]\n",
    "name: e2e\nstatus: passed\nitems:\n- name: junit_01.xml\n  status: passed\n",
    "status:\n  conditions: []\n",
    "2018\n",
    "<html><body>502</body></html>\n",
)


def test_what_is_no_object_under_the_name_of_one(tmp_path: Path) -> None:
    files: trees.Files = {"pods.yaml": trees.to_yaml(trees.listed("Pod", [trees.pod("kettle-0")]))}
    for number, text in enumerate(NO_OBJECTS):
        files |= {f"odd-{number}.json": text, f"odd-{number}.tmpl.yaml": text}
    case = Case(tmp_path, files)
    assert case.sql("SELECT kind, name FROM objects") == [("Pod", "kettle-0")]
    assert unread(case) >= {"odd-3.json", "odd-3.tmpl.yaml", "odd-4.json", "odd-4.tmpl.yaml"}


def test_utf_16_with_a_byte_order_mark(tmp_path: Path) -> None:
    text = trees.to_yaml(trees.listed("Pod", [trees.pod("kettle-0")]), marker=False)
    assert named(Case(tmp_path, {"pods.yaml": text.encode("utf-16")}), "Pod") == ["kettle-0"]


def test_dates_without_quotes_stay_what_they_are(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: kettle-0\n  namespace: teahouse\n"
        "  creationTimestamp: 2026-08-18T13:05:00Z\n  annotations:\n    day: 2026-08-18\n    year: 2018\n"
        "status:\n  phase: Running\n"
    )
    case = Case(tmp_path, {"pod.yaml": text})
    assert case.sql("SELECT created_at::VARCHAR, json_extract_string(json, '$.metadata.annotations.day') FROM objects") == [
        ("2026-08-18 13:05:00", "2026-08-18")
    ]


def test_managed_fields_are_dropped(tmp_path: Path) -> None:
    pod = trees.pod("kettle-0")
    pod["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]
    case = Case(tmp_path, {"pod.yaml": trees.to_yaml(pod)})
    assert case.sql("SELECT contains(json::VARCHAR, 'managedFields') FROM objects") == [(False,)]


def test_conditions_whose_true_is_good_are_no_findings(tmp_path: Path) -> None:
    node = trees.node("shelf-1")
    good = [{"type": name, "status": "True", "lastTransitionTime": "2026-08-18T10:00:00Z"} for name in ("Ready", "EtcdIsVoter")]
    node["status"]["conditions"] = [*good, {"type": "MountPropagation", "status": "True"}]
    case = Case(tmp_path, trees.inspected() | {"cluster-scoped-resources/core/nodes/shelf-1.yaml": trees.to_yaml(node)})
    assert not [one for one in case.report["findings"] if one["object"]["name"] == "shelf-1"]
