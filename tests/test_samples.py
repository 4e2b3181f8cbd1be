"""The samples: each report must say what its story says, and the folders must be what make.py writes."""

from __future__ import annotations

import filecmp
import fnmatch
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.program import said

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
NAMES = sorted(path.name.removesuffix(".expect.yaml") for path in SAMPLES.glob("*.expect.yaml"))


@pytest.fixture(scope="module", params=NAMES)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any], Path]:
    """A sample's name, its report.json and the report's folder."""
    out = tmp_path_factory.mktemp("sample") / "out"
    done = said("analyze", SAMPLES / request.param, "-o", out)
    assert done.returncode == 0, done.stderr
    return request.param, json.loads((out / "report.json").read_bytes()), out


def _label(obj: dict[str, str]) -> str:
    return f"{obj['kind']} {obj['namespace']}/{obj['name']}" if obj["namespace"] else f"{obj['kind']} {obj['name']}"


def test_the_report_says_what_the_story_says(sample: tuple[str, dict[str, Any], Path]) -> None:
    name, report, _ = sample
    expect = yaml.safe_load((SAMPLES / f"{name}.expect.yaml").read_text(encoding="utf-8"))
    assert report["summary"]["health"] == expect["health"]
    assert report["bundle"]["cluster"]["nodes"] == expect["nodes"]
    by_id = {finding["id"]: finding for finding in report["findings"]}
    for want in expect["roots"]:
        found = [
            incident
            for incident in report["incidents"]
            if by_id[incident["root"]]["code"] == want["code"]
            and fnmatch.fnmatchcase(_label(by_id[incident["root"]]["object"]), want["object"])
        ]
        assert len(found) == 1, f"{want} is the root of {len(found)} incidents"
        root = by_id[found[0]["root"]]
        text = json.dumps(root, ensure_ascii=False)
        assert [part for part in want.get("contains", []) if part not in text] == []
        assert root["severity"] == want.get("severity", "error")
        codes = {by_id[member]["code"] for member in found[0]["findings"]}
        assert set(want.get("effects", [])) <= codes
    roots = {by_id[incident["root"]]["code"] for incident in report["incidents"]}
    severe = {code for code in roots if any(f["code"] == code and f["severity"] == "error" for f in report["findings"])}
    assert severe <= {want["code"] for want in expect["roots"]}
    assert {finding["code"] for finding in report["findings"]} & set(expect["never"]) == set()
    for severity, most in expect["most"].items():
        assert report["summary"][severity] <= most


def test_the_first_line_of_each_report_is_the_verdict(sample: tuple[str, dict[str, Any], Path]) -> None:
    name, report, out = sample
    verdict = report["summary"]["verdict"]
    if name == "healthy":
        assert verdict.startswith("No fault found")
    first = next(line for line in (out / "report.md").read_text(encoding="utf-8").splitlines() if line.strip())
    assert verdict.split(":")[0].split(";")[0][:20] in first
    assert (out / "report.html").stat().st_size > 10_000
    assert (out / "bundle.duckdb").is_file()


def test_the_folders_are_what_make_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(SAMPLES / "make.py"), str(tmp_path)], check=True, timeout=120)
    for name in NAMES:
        made, kept = tmp_path / name, SAMPLES / name
        files = {path.relative_to(made) for path in made.rglob("*") if path.is_file()}
        assert files == {path.relative_to(kept) for path in kept.rglob("*") if path.is_file()}
        differing = [str(path) for path in files if not filecmp.cmp(made / path, kept / path, shallow=False)]
        assert differing == []
