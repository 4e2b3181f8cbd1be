"""Pods that lie in a list and again in a file of their own: parsed once, told of twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from analyzer.bundle.formats.base import Assignment
from analyzer.bundle.task import Task
from analyzer.bundle.twins import Twins
from analyzer.bundle.types import Hint

from . import pipeline_trees as trees

ROOT = "inspect.local.1/namespaces/teahouse"
LONG = "a note that is long enough to be folded where the line has reached the width that the printer was told to keep to"


def _pod(**meta: Any) -> dict[str, Any]:
    return trees.pod("kettle", metadata=trees.meta("kettle", "teahouse", **meta))


def _rows(tmp_path: Path, own: str, listed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    files: trees.Files = {
        "inspect.local.1/timestamp": "2026-08-18 13:06:00 +0000 UTC m=+1\n",
        f"{ROOT}/teahouse.yaml": trees.to_yaml(trees.namespace("teahouse")),
        f"{ROOT}/core/pods.yaml": trees.to_yaml(trees.listed("Pod", [listed])),
        f"{ROOT}/pods/kettle/kettle.yaml": own,
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "bundle", files))
    names = trees.paths(parts)
    return {names[row["file_id"]].rpartition("/")[2]: row for row in trees.table(parts, "part_objects") if row["kind"] == "Pod"}


def test_the_same_pod_folded_elsewhere_is_one_parse_and_two_rows(tmp_path: Path) -> None:
    pod = _pod(annotations={"note": LONG})
    own = "---\n" + yaml.safe_dump(pod, width=60)
    rows = _rows(tmp_path, own, pod)
    assert set(rows) == {"pods.yaml", "kettle.yaml"}
    assert rows["kettle.yaml"]["json"] == rows["pods.yaml"]["json"]
    assert rows["kettle.yaml"]["json"]["metadata"]["annotations"]["note"] == LONG
    again = rows["kettle.yaml"]
    assert (again["line"], again["idx"], again["byte_offset"]) == (2, 0, 4)
    assert yaml.safe_load(own.encode()[again["byte_offset"] :][: again["byte_length"]])["metadata"]["name"] == "kettle"


def test_a_newer_copy_is_read_for_itself(tmp_path: Path) -> None:
    old, new = _pod(), _pod() | {"metadata": _pod()["metadata"] | {"resourceVersion": "8"}}
    rows = _rows(tmp_path, trees.to_yaml(new), old)
    assert rows["pods.yaml"]["resource_version"] == "7"
    assert rows["kettle.yaml"]["resource_version"] == "8"


def test_a_cut_copy_is_still_said_to_be_cut(tmp_path: Path) -> None:
    pod = _pod(annotations={"note": LONG})
    own = trees.to_yaml(pod)
    cut = own[: own.index("long enough") + 6]
    files: trees.Files = {
        f"{ROOT}/teahouse.yaml": trees.to_yaml(trees.namespace("teahouse")),
        f"{ROOT}/core/pods.yaml": trees.to_yaml(trees.listed("Pod", [pod])),
        f"{ROOT}/pods/kettle/kettle.yaml": cut.replace("note: ", "note: '"),
    }
    parts = trees.read(tmp_path, trees.write(tmp_path / "bundle", files))
    assert trees.file(parts, "kettle/kettle.yaml")["status"] in ("partial", "unread")


def test_a_match_needs_every_word() -> None:
    assignment = Assignment("objects", "objects", Hint("Pod", "", "v1", "teahouse"))
    task = Task(5, 5, f"{ROOT}/pods/kettle/kettle.yaml", 30, "inspect", assignment)
    row = {"file_id": 1, "idx": 3, "line": 9, "byte_offset": 70, "byte_length": 40, "name": "kettle"}
    same = b"---\nkind: Pod\nname:\n  kettle\n"
    for text, found in ((same, True), (same.replace(b"kettle", b"kettles"), False), (b"", False), (same + b"x: 1\n", False)):
        twins = Twins()
        twins.begin(ROOT)
        twins.keep("kettle", b"- kind: Pod\n  name: kettle\n", row)
        assert (twins.row(task, text) is not None) is found
    twins.begin("another folder")
    assert twins.row(task, same) is None
